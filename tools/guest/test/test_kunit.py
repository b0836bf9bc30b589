# SPDX-License-Identifier: GPL-2.0
"""The judgement of a KUnit run: reports that cases provoke."""

import re
import unittest

from base.common import PROJECT
from guest.kunit import BUILT_IN_SUITES, HOTPLUG_SUITES, INTERRUPTED, OURS, SUITES, without_provoked

IN_USE = "destroy of a lock that is in use"
NOT_HELD = "unlock of a lock that is not held"


def report(what, lock, holder=", held by CPU#0 (task)"):
    return f"nbqlock: BUG: {what}: {lock}{holder}, on CPU#1 (task), kunit/1, at f+0x1/0x2"


class Named(unittest.TestCase):
    def test_suites_are_found_in_the_sources(self):
        sources = "".join(path.read_text() for path in (PROJECT / "kunit").glob("*.c"))
        self.assertEqual(len({*SUITES, *BUILT_IN_SUITES, *HOTPLUG_SUITES}),
                         len(re.findall(r"^kunit_test_suites?\(", sources, re.MULTILINE)))


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
    def test_only_the_announced_report_is_taken_away_until_the_case_ends(self):
        announced, end = f"    # destroy: provokes a report: {IN_USE}", "    ok 1 destroy"
        for lines, left in (([announced, report(IN_USE, "0x1"), end], 0),
                            ([announced, report(NOT_HELD, "0x1", ""), end], 1),
                            ([announced, end, report(IN_USE, "0x1")], 1),
                            ([announced, "[    1.5]     not ok 12 destroy",
                              report(IN_USE, "0x1")], 1),
                            ([report(IN_USE, "0x1")], 1)):
            log, problems = without_provoked("\n".join(lines))
            self.assertEqual((log.count("BUG"), problems), (left, []), lines)
            self.assertEqual(len(log.splitlines()), len(lines) - 1 + left)

    def test_number_of_reports_is_exact_where_it_is_announced(self):
        for locks, bad in ("12", False), ("1", True), ("123", True), ("11", True), ("", True):
            for end in ("    ok 1 all", ""):		# the log may end in the case
                _, problems = without_provoked("\n".join((
                    f"    # all: provokes 2 reports of different locks: {IN_USE}",
                    *(report(IN_USE, f"0x{lock}") for lock in locks), end)))
                self.assertEqual(bool(problems), bad, locks)
