# SPDX-License-Identifier: GPL-2.0
"""The table of kernels: what it says of cases."""

import unittest

from ci.common import Case
from ci.kernel_table import KernelTable

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
    def test_steps_of_one_kernel_and_way_share_a_row(self):
        rows = table_of((NEW, "stress", [case()]), (OLD, "stress", [case()]),
                        (NEW, "stress", [case(), case()]))
        self.assertEqual([row.split() for row in rows],
                         [["new", "7.2", "stress", "3", "3", "pass"],
                          ["old", "6.1", "stress", "1", "1", "pass"]])

    def test_rows_of_a_kernel_stand_together(self):
        rows = table_of((NEW, "stress", [case()]), (OLD, "stress", [case()]),
                        (NEW, "kunit", [case()]))
        self.assertEqual([row.split()[0] for row in rows], ["new", "new", "old"])

    def test_one_failure_is_the_row_s(self):
        rows = table_of((NEW, "stress", [case(), case(False, "it breaks"), case(),
                                         case(False, "a", detail="gone", skipped=True)]))
        self.assertTrue(rows[0].endswith("FAIL: it breaks"), rows)

    def test_a_kernel_that_cannot_be_had_is_no_pass(self):
        rows = table_of((NOWHERE, "stress",
                         [case(False, detail="no network\nmore", skipped=True)]))
        self.assertEqual(rows[0].split(), ["nowhere", "-", "stress", "1", "1", "skip:",
                                           "no", "network"])

    def test_a_pass_tells_of_skipped_cases(self):
        rows = table_of((NEW, "stress", [case(), case(False, detail="no NMI",
                                                      skipped=True)]))
        self.assertTrue(rows[0].endswith("pass, 1 skipped: no NMI"), rows)

    def test_cases_of_steps_without_a_kernel_are_left_out(self):
        table = KernelTable()
        table.add(None, case(), 1)
        self.assertEqual(len(table.lines()), 1)
