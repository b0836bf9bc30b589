# SPDX-License-Identifier: GPL-2.0
"""The list of survivors, the shipped text's mutants, and what is chosen of them."""

from pathlib import Path
import tempfile
import unittest

from base.common import PROJECT, Failure
from host.mutate.changes import lines_of
from host.mutate.edits import write_copy
from host.mutate.known import known_mistakes
from host.mutate.mutant import all_mutants, mutants_of
from host.mutate.rules import RULES
from host.mutate.survivors import parse, stale, survivors

LIST = "# The same: nothing\n# reads it.\nf.c f store x++;\nf.c f store x++; #2\n"
TEXT = "static void f(void)\n{\n\tx++;\n\tg();\n\tx++;\n}\n"


class ListTest(unittest.TestCase):
    def test_a_reason_is_of_all_below_it(self):
        reason = "The same: nothing reads it."
        self.assertEqual(parse(LIST + "\n# Another.\nf.c f call g();\n"),
                         {"f.c f store x++;": reason, "f.c f store x++; #2": reason,
                          "f.c f call g();": "Another."})

    def test_a_survivor_without_a_reason_is_refused(self):
        with self.assertRaisesRegex(Failure, "no reason: f.c f call"):
            parse(LIST + "\nf.c f call g();\n")

    def test_a_survivor_that_stands_twice_is_refused(self):
        with self.assertRaisesRegex(Failure, "twice"):
            parse(LIST + "\n# Another.\nf.c f store x++;\n")

    def test_what_no_rule_makes_any_more_is_stale(self):
        reasons = parse(LIST)
        self.assertEqual(stale(reasons, mutants_of("f.c", TEXT)), [])
        self.assertEqual(stale(reasons, mutants_of("f.c", TEXT.replace("\tx++;\n}", "}"))),
                         ["f.c f store x++; #2"])

    def test_the_shipped_list_can_be_read(self):
        self.assertTrue(all(survivors().values()))


class ShippedTest(unittest.TestCase):
    MUTANTS = [*all_mutants(PROJECT), *known_mistakes()]

    def test_each_rule_makes_some(self):
        self.assertLessEqual(set(RULES), {mutant.rule for mutant in self.MUTANTS})

    def test_each_is_known_by_its_name(self):
        names = [mutant.name for mutant in self.MUTANTS]
        self.assertEqual(len(names), len(set(names)))

    def test_each_changes_the_text(self):
        for mutant in self.MUTANTS:
            text = (PROJECT / "nbqlock" / mutant.file).read_text()
            self.assertNotEqual(mutant.applied(text), text, mutant.name)


class ChangeTest(unittest.TestCase):
    def test_changed_lines_and_the_edges_of_a_cut(self):
        self.assertEqual(lines_of("+++ b/nbqlock/f.c\n@@ -3 +3,2 @@ int f(void)\n-a\n+b\n+c\n"
                                  "@@ -9,2 +10,0 @@\n-d\n-e\n+++ b/nbqlock/bpf/g.h\n@@ -1 +1 @@\n"),
                         {"f.c": {3, 4, 10, 11}, "bpf/g.h": {1}})

    def test_a_copy_has_the_change_and_the_next_one_has_not(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "nbqlock/node.c"
            write_copy(Path(folder), {"node.c": lambda text: text + "x"})
            self.assertTrue(copy.read_text().endswith("x"))
            write_copy(Path(folder), {})
            self.assertEqual(copy.read_text(), (PROJECT / "nbqlock/node.c").read_text())
