# SPDX-License-Identifier: GPL-2.0
"""What the layers have said, and what is made of it."""

from pathlib import Path
import tempfile
import unittest

from verification.mutate.mutant import Mutant
from verification.mutate.verdicts import (EXPLAINED, KILLED, UNEXPLAINED, Verdict, all_right,
                                          read_json, summary, write_json)

NO = "steps.queue_is_whole: line 7: node"


def verdict(killers, unseen=None):
    mutant = Mutant("a mistake", "node.c", "old", "new", dict.fromkeys(killers), unseen or {})
    return Verdict(mutant, killers, "0123456789ab")


class VerdictTest(unittest.TestCase):
    def test_a_mutant_that_every_layer_sees_is_killed(self):
        seen = verdict({"host": NO, "explorer": NO})
        self.assertEqual(seen.status, KILLED)
        self.assertTrue(all_right([seen]))

    def test_a_layer_that_lets_it_pass_must_say_why(self):
        passed = verdict({"host": NO, "explorer": None})
        self.assertEqual(passed.status, UNEXPLAINED)
        self.assertFalse(all_right([passed]))
        self.assertEqual(passed.cell("explorer"), "SURVIVES")

    def test_one_killer_suffices_if_the_other_layer_says_why(self):
        killed = verdict({"host": NO, "explorer": None}, {"explorer": "sees no order"})
        self.assertEqual(killed.status, KILLED)
        self.assertTrue(all_right([killed]))

    def test_a_reason_of_one_layer_does_not_excuse_another(self):
        passed = verdict({"host": None, "explorer": None}, {"explorer": "sees no order"})
        self.assertEqual(passed.unexplained, ["host"])

    def test_a_mutant_that_nobody_sees_is_explained(self):
        same = verdict({"host": None, "explorer": None}, {Mutant.ANY: "the same"})
        self.assertEqual(same.status, EXPLAINED)
        self.assertTrue(all_right([same]))

    def test_a_reason_that_a_layer_refutes_is_wrong(self):
        refuted = verdict({"host": NO}, {"host": "cannot be seen"})
        self.assertFalse(all_right([refuted]))
        self.assertIn("although", refuted.line(["host"]))

    def test_a_layer_that_has_not_looked_has_no_say(self):
        self.assertEqual(verdict({"host": NO}).cell("litmus"), "-")

    def test_the_killer_is_named(self):
        self.assertIn("steps.queue_is_whole", verdict({"host": NO}).line(["host"]))

    def test_the_summary_counts_each_once(self):
        rows = [verdict({"host": NO}), verdict({"host": None}),
                verdict({"host": None}, {"host": "cannot be seen"})]
        self.assertEqual(summary(rows),
                         "3 mutants: 1 killed, 1 explained, 1 survived unexplained")

    def test_verdicts_are_kept_while_the_edit_is_the_same(self):
        row = verdict({"host": NO, "explorer": None})
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch) / "verdicts.json"
            self.assertEqual(read_json(path, [row.mutant]), {})
            write_json(path, [row], ["host", "explorer"], 1)
            kept = read_json(path, [row.mutant])
            self.assertEqual(kept["a mistake"].killers, row.killers)
            self.assertEqual(kept["a mistake"].commit, row.commit)
            row.mutant.new = "newer"
            self.assertEqual(read_json(path, [row.mutant]), {})


if __name__ == "__main__":
    unittest.main()
