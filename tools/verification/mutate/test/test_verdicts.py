# SPDX-License-Identifier: GPL-2.0
"""What the layers have said, what is made of it, and how far a run is."""

from pathlib import Path
import tempfile
import unittest

from verification.mutate.progress import Progress
from verification.mutate.verdicts import (EXPLAINED, KILLED, NONE, UNEXPLAINED, Verdict, all_right,
                                          layer_rows, read_json, row_of, summary, write_json)

NO = "steps.queue_is_whole: line 7: node"


def verdict(killers, listed=None, **more):
    return Verdict("f.c f store x++;", "id", killers, dict.fromkeys(killers, 2.0), "0123",
                   listed=listed, **more)


class VerdictTest(unittest.TestCase):
    def test_one_layer_that_notices_it_suffices(self):
        seen = verdict({"host": None, "kunit": NO})
        self.assertEqual(seen.status, KILLED)
        self.assertTrue(all_right([seen]))
        self.assertIn("kunit: steps.queue_is_whole", seen.line())

    def test_a_survivor_needs_a_reason(self):
        self.assertEqual(verdict({"host": None}).status, UNEXPLAINED)
        self.assertFalse(all_right([verdict({"host": None})]))
        self.assertEqual(verdict({"host": None}, "the same").status, EXPLAINED)
        self.assertTrue(all_right([verdict({"host": None}, "the same")]))

    def test_a_layer_may_know_the_reason(self):
        self.assertTrue(all_right([verdict({"litmus": None}, excuse="spare")]))
        self.assertTrue(all_right([verdict({"litmus": NO}, excuse="spare")]))

    def test_a_reason_that_a_test_refutes_is_wrong(self):
        refuted = verdict({"host": NO}, "the same")
        self.assertFalse(all_right([refuted]))
        self.assertIn('although "the same"', refuted.line())

    def test_what_does_not_compile_is_none_and_is_counted(self):
        rows = [verdict({}, compiles=False), verdict({"host": NO}), verdict({"host": None}),
                verdict({"host": None}, "the same")]
        self.assertEqual(rows[0].status, NONE)
        self.assertEqual(summary(rows), "3 mutants: 1 killed, 1 explained, 1 survived; "
                         "1 more do not compile")

    def test_a_layer_s_work_is_counted(self):
        rows = [verdict({"host": NO}), verdict({"host": None, "kunit": NO}),
                verdict({"host": NO, "kunit": NO})]
        self.assertEqual(list(layer_rows(rows, ["host", "kunit"])),
                         [("host", 3, 2, 1, 6), ("kunit", 2, 2, 1, 4)])

    def test_verdicts_are_kept_with_the_reasons_of_now(self):
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch) / "verdicts.json"
            self.assertEqual(read_json(path, {}), {})
            row = verdict({"host": None})
            write_json(path, [row], ["host"])
            self.assertEqual(read_json(path, {}), {"id": row})
            self.assertEqual(read_json(path, {row.name: "the same"})["id"].status, EXPLAINED)

    def test_what_is_kept_is_what_cannot_be_known_without_it(self):
        self.assertEqual(row_of(verdict({"host": NO}, "the same")), {
            "name": "f.c f store x++;", "identity": "id", "commit": "0123",
            "killers": {"host": "steps.queue_is_whole"}, "seconds": {"host": 2.0}})
        rest = verdict({}, compiles=False, excuse="spare")
        self.assertLessEqual({"compiles": False, "excuse": "spare"}.items(), row_of(rest).items())


class ProgressTest(unittest.TestCase):
    def setUp(self):
        self.now = 0

    def progress(self, seconds):
        return Progress(10, 2, seconds, lambda: self.now)

    def test_the_first_estimate_is_that_of_an_earlier_run(self):
        self.assertEqual(self.progress(60).first_line(),
                         "10 mutants, 2 at a time, about 5 min")
        self.assertIn("shows after the first", self.progress(None).first_line())

    def test_it_is_renewed_by_what_was_seen(self):
        for earlier in (None, 40):
            progress = self.progress(earlier)
            self.now = 20
            self.assertEqual(progress.next_line(), "1 of 10, 3 min left")
            self.now = 0
