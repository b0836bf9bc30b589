# SPDX-License-Identifier: GPL-2.0
"""The judgement of a KUnit run: reports that cases provoke."""

import unittest

from testbed.kunit import INTERRUPTED, OURS, without_provoked

IN_USE = "destroy of a lock that is in use"
NOT_HELD = "unlock of a lock that is not held"


def report(what, lock, holder=", held by CPU#0 (task)"):
    return f"nbqlock: BUG: {what}: {lock}{holder}, on CPU#1 (task), kunit/1, at f+0x1/0x2"


def log_of(*lines):
    return "\n".join(lines)


class Interrupted(unittest.TestCase):
    BEGIN = "[    0.52]         KTAP version 1\r\n"
    REST = "[    0.54]         # Subtest: a\r\n[    0.55]         ok 1 b\r\n"

    def test_lines_of_others_are_left_out(self):
        text = self.BEGIN + "[    0.53] Freeing initrd memory: 1180K\r\n" + self.REST
        self.assertEqual(INTERRUPTED.sub(r"\1", text), self.BEGIN + self.REST)

    def test_a_report_without_them_stays(self):
        for text in (self.BEGIN + self.REST, "KTAP version 1\n1..2\n    KTAP version 1\n"
                     "    # Subtest: a\n    1..1\n    ok 1 b\nok 1 a\n"):
            self.assertEqual(INTERRUPTED.sub(r"\1", text), text)


class EarlyDeath(unittest.TestCase):
    PANIC = "[    0.11] Kernel panic - not syncing: Segfault with no mm\n"
    CALL = "[    0.11]  [<6082>] ? nbq_pool_create+0x5c/0x60\n"

    def test_panic_before_the_suites_is_early_without_a_part_of_ours(self):
        for log, early in (
                ("Linux version 7.2.12 (nbqlock@guest) (gcc (Debian 12.2.0-14) 12.2.0)\n"
                 f"Kernel command line: kunit.filter_glob=nbq_pool\n{self.PANIC}", True),
                (self.PANIC + self.CALL, False),
                (self.PANIC + self.CALL.replace("nbq_pool_create", "do_one_initcall"), False),
                (f"KTAP version 1\n{self.PANIC}", False)):
            self.assertEqual(not OURS.search(log), early, log)


class WithoutProvoked(unittest.TestCase):
    def test_announced_report_is_taken_away(self):
        log, problems = without_provoked(log_of(
            f"    # destroy: provokes a report: {IN_USE}", report(IN_USE, "0x1"),
            "    ok 1 destroy"))
        self.assertNotIn("BUG", log)
        self.assertIn("ok 1 destroy", log)
        self.assertEqual(problems, [])

    def test_report_of_another_kind_stays(self):
        log, _ = without_provoked(log_of(
            f"    # destroy: provokes a report: {IN_USE}", report(NOT_HELD, "0x1", ""),
            "    ok 1 destroy"))
        self.assertIn(NOT_HELD, log.splitlines()[1])

    def test_report_after_the_end_of_the_case_stays(self):
        for end in "    ok 1 destroy", "[    1.5]     not ok 12 destroy":
            log, _ = without_provoked(log_of(
                f"    # destroy: provokes a report: {IN_USE}", end, report(IN_USE, "0x1")))
            self.assertIn("BUG", log)

    def test_report_that_nothing_announces_stays(self):
        log, _ = without_provoked(report(IN_USE, "0x1"))
        self.assertIn("BUG", log)

    def test_number_of_reports_is_exact_where_it_is_announced(self):
        for locks, bad in ("12", False), ("1", True), ("123", True), ("11", True):
            _, problems = without_provoked(log_of(
                f"    # all: provokes 2 reports of different locks: {IN_USE}",
                *(report(IN_USE, f"0x{lock}") for lock in locks), "    ok 1 all"))
            self.assertEqual(bool(problems), bad, locks)

    def test_number_is_judged_when_the_log_ends_in_the_case(self):
        _, problems = without_provoked(
            f"    # all: provokes 2 reports of different locks: {IN_USE}")
        self.assertTrue(problems)
