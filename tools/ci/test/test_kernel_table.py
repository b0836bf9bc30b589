# SPDX-License-Identifier: GPL-2.0
"""The table of kernels: what it says of cases."""

import unittest

from ci.common import Case
from ci.kernel_table import TestBed, KernelTable, On, runs_on
from testbed.common import Unavailable


class Kernel:
    def __init__(self, version):
        self.version = version


def nowhere():
    raise Unavailable("no network")


OLD = TestBed("old", lambda: Kernel("6.1"))
NEW = TestBed("new", lambda: Kernel("7.2"))
NOWHERE = TestBed("nowhere", nowhere)


def step_on(testbed, how):
    @runs_on(testbed, how)
    def step():
        pass
    return step


def table_of(*parts):
    """A table of (testbed, how, cases), a second for each case."""
    table = KernelTable()
    for testbed, how, cases in parts:
        table.begin(step_on(testbed, how))
        for case in cases:
            table.add(case, 1)
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
        table.begin(step_on(NEW, "stress"))
        table.begin(lambda: None)
        table.add(case(), 1)
        self.assertEqual(len(table.lines()), 1)

    def test_a_step_may_go_on_to_another_kernel(self):
        table = KernelTable()
        table.begin(step_on(NEW, "stress"))
        table.add(case(), 1)
        table.on = On(OLD, "kunit")
        table.add(case(False), 1)
        self.assertEqual([row.split()[0] for row in table.lines()[1:]], ["new", "old"])
