# SPDX-License-Identifier: GPL-2.0
"""The table of kernels: what it says of cases."""

import unittest

from base.case import Case
from guest.kernel_table import KernelTable

OLD, NEW, NOWHERE = "old", "new", "nowhere"


def table_of(*parts):
    """A table of (kernel, how, cases), a second for each case."""
    table = KernelTable()
    table.versions = {OLD: "6.1", NEW: "7.2"}
    for kernel, how, cases in parts:
        for case in cases:
            table.add((kernel, how), case, 1)
    return table.lines()[1:]


def case(passed=True, name="it works", **others):
    return Case(name, passed, **others)


class KernelTableTest(unittest.TestCase):
    def test_steps_of_one_kernel_and_way_share_a_row_those_of_a_kernel_stand_together(self):
        rows = table_of((NEW, "stress", [case()]), (OLD, "stress", [case()]),
                        (NEW, "kunit", [case()]), (NEW, "stress", [case(), case()]))
        self.assertEqual([row.split() for row in rows],
                         [["new", "7.2", "stress", "3", "3", "pass"],
                          ["new", "7.2", "kunit", "1", "1", "pass"],
                          ["old", "6.1", "stress", "1", "1", "pass"]])

    def test_the_worst_of_a_row_is_its_result(self):
        skipped = case(False, "a", detail="no NMI\nmore", skipped=True)
        for kernel, cases, end in (
                (NEW, [case(), case(False, "it breaks"), case(), skipped], "FAIL: it breaks"),
                (NOWHERE, [skipped], "nowhere - stress 1 1 skip: no NMI"),
                (NEW, [case(), skipped], "pass, 1 skipped: no NMI")):
            rows = table_of((kernel, "stress", cases))
            self.assertTrue(" ".join(rows[0].split()).endswith(end), rows)

    def test_cases_of_steps_without_a_kernel_are_left_out(self):
        table = KernelTable()
        table.add(None, case(), 1)
        self.assertEqual(len(table.lines()), 1)
