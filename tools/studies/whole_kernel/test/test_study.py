# SPDX-License-Identifier: GPL-2.0
"""A kernel on the hybrid: what Kconfig chooses, what stress-ng finds, the patch that breaks it."""

import unittest

from studies.whole_kernel.others import StressClass, lost
from studies.whole_kernel.refusals import Choice, wrong_with
from studies.whole_kernel.study import BROKEN, changed_by


class Choices(unittest.TestCase):
    REASON = "# No spinlocks by nbqlock: it has to be built in (NBQLOCK=y)"

    def test_a_refusal_has_a_reason_and_the_other_lock(self):
        refused = Choice("x", ("CONFIG_NBQLOCK=m",), "built in")
        lines = ["CONFIG_NBQLOCK=m", "CONFIG_QUEUED_SPINLOCKS=y", self.REASON]
        self.assertEqual(wrong_with(refused, lines), "")
        for number in range(len(lines)):
            self.assertTrue(wrong_with(refused, lines[:number] + lines[number + 1:]))
        self.assertTrue(wrong_with(refused, [*lines, "CONFIG_NBQ_SPINLOCKS=y"]))

    def test_one_lock_is_built(self):
        decided = Choice("x", ("CONFIG_QUEUED_SPINLOCKS=y",))
        self.assertEqual(wrong_with(decided, ["CONFIG_NBQ_SPINLOCKS=y"]), "")
        for lines in ([], ["CONFIG_QUEUED_SPINLOCKS=y"],
                      ["CONFIG_NBQ_SPINLOCKS=y", "CONFIG_PARAVIRT_SPINLOCKS=y"]):
            self.assertTrue(wrong_with(decided, lines))


class Classes(unittest.TestCase):
    SAID = ("stress-ng: info:  [5] skipped: 1: netlink-proc (4)\n"
            "stress-ng: info:  [5] passed: 2: fork (4) sem-sysv (4)\n"
            "stress-ng: info:  [5] failed: 0\n")

    def part(self, said):
        part = StressClass("scheduler", 4)
        part.output = said
        return part

    def test_what_failed_here_alone_is_named(self):
        own = self.part(self.SAID)
        self.assertEqual(own.figure, "2 passed, 0 failed, 1 skipped")
        self.assertEqual(lost(own, own), "")
        here = self.part("stress-ng: info:  [7] passed: 1: fork (4)\n"
                         "stress-ng: info:  [7] failed: 2: sem-sysv (4) msg (4)\n")
        self.assertEqual(lost(here, own), "sem-sysv: passed on the other kernel")
        unnamed = self.part("stress-ng: info:  [7] passed: 1: fork (4)\n")
        self.assertEqual(lost(unnamed, own), "sem-sysv: passed on the other kernel")
        self.assertEqual(lost(here, here), "")
        partly = self.part("stress-ng: info:  [7] passed: 2: fork (1) sem-sysv (4)\n"
                           "stress-ng: info:  [7] failed: 1: fork (3)\n")
        self.assertEqual(lost(partly, own), "fork: passed on the other kernel")
        self.assertEqual(lost(own, partly), "")

    def test_one_that_passed_and_is_not_named_at_all_counts(self):
        self.assertTrue(lost(self.part(""), self.part(self.SAID)))


class Broken(unittest.TestCase):
    def test_patch_that_breaks_the_lock_fits(self):
        self.assertIn("is_module_address", changed_by(BROKEN)["nbqlock/bare_spin.c"])
