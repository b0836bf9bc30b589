# SPDX-License-Identifier: GPL-2.0
"""What the layers have said, and what is made of it."""

from pathlib import Path
import tempfile
import unittest

from host.mutate.verdicts import (EXPLAINED, KILLED, NONE, UNEXPLAINED, Verdict, all_right,
                                  layer_rows, read_json, row_of, summary, write_json)

NO = "steps.queue_is_whole: line 7: node"


def verdict(killers, listed=None, **more):
    return Verdict("f.c f store x++;", "id", killers, dict.fromkeys(killers, 2.0), "0123",
                   listed=listed, **more)


class VerdictTest(unittest.TestCase):
    def test_a_mutant_is_noticed_or_has_a_reason(self):
        for row, status in ((verdict({"host": None, "kunit": NO}), KILLED),
                            (verdict({"host": None}, "the same"), EXPLAINED),
                            (verdict({"litmus": None}, excuse="spare"), EXPLAINED),
                            (verdict({"litmus": NO}, excuse="spare"), KILLED),
                            (verdict({"host": None}), UNEXPLAINED)):
            with self.subTest(row.line()):
                self.assertEqual(row.status, status)
                self.assertEqual(all_right([row]), status != UNEXPLAINED)
        self.assertIn("kunit: steps.queue_is_whole", verdict({"kunit": NO}).line())

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
