# SPDX-License-Identifier: GPL-2.0
"""locktorture: lines of ours in the kernel's source, and the judgement of a run."""

import unittest

from base.common import Failure
from base.test import InFolder
from guest.kernel_tests import edited
from studies.locktorture.steps import ADAPT, NO_TIMEOUT, OPERATIONS, Torture, locktorture_edits

SOURCE = """\
static int lock_torture_writer(void *arg)
{
	static struct lock_torture_ops *torture_ops[] = {
		&lock_busted_ops,
"""
GOOD = """\
Writes:  Total: 20341  Max/Min: 5518/7 ???  Fail: 0
clh_nb_timed-torture:--- End of test: SUCCESS: acq_writer_lim=0
nbqlock: 3 attempts failed, 0 nodes in use
"""
HOTPLUG = "nbqlock: 4 of 4 CPUs online, onoff: 2/2:3/3 1,5:1,7 9:9 (HZ=250) \n"


def run_of(log, operations="clh_nb_timed", **parameters):
    run = Torture(operations, 1, **parameters)
    run.log, run.status = log, 0
    return run


class Edited(InFolder):
    def edit(self, text):
        if text is not None:
            self.write("locktorture.c", text)
        return edited(self.folder, "locktorture.c", locktorture_edits(), ADAPT)

    def test_operations_are_in_front_of_those_of_the_kernel(self):
        text = self.edit(SOURCE)
        for name in OPERATIONS:
            self.assertLess(text.index(f"torture_{name}_ops = {{"),
                            text.index("lock_torture_writer"))
        self.assertIn("nbq_swap_lock_timeout(&torture_swap_nb_lock", text)
        self.assertIn("nbq_clh_destroy(&torture_clh_nb_nested[i])", text)
        self.assertNotIn("nbq_spin_destroy", text)
        self.assertLess(text.index("torture_nbq_spin_ops"), text.index("lock_busted_ops"))

    def test_kernel_without_the_place_is_refused(self):
        with self.assertRaisesRegex(Failure, "has 0 places, not 1"):
            self.edit(SOURCE.replace("torture_ops[]", "torture_operations[]"))

    def test_kernel_without_the_file_is_refused(self):
        with self.assertRaisesRegex(Failure, "no torture test of this kernel"):
            self.edit(None)


class Complaint(unittest.TestCase):
    def complaint(self, log, operations="clh_nb_timed", **parameters):
        return run_of(log, operations, **parameters).complaint

    def test_good_run(self):
        self.assertEqual(self.complaint(GOOD), "")

    def test_each_sign_of_a_failure(self):
        for log in ("", GOOD + "nbqlock: !!! destroy\n", GOOD.replace("SUCCESS", "FAILURE"),
                    GOOD.replace("20341", "0"), GOOD.replace("nbqlock: 3", "3")):
            self.assertNotEqual(self.complaint(log), "")

    def test_timed_run_needs_a_timeout(self):
        log = GOOD.replace("nbqlock: 3", "nbqlock: 0")
        self.assertEqual(self.complaint(log), NO_TIMEOUT)
        self.assertEqual(self.complaint(log, "clh_nb"), "")

    def test_run_with_hotplug_reports_it(self):
        self.assertNotEqual(self.complaint(GOOD, onoff_interval=1), "")
        self.assertEqual(self.complaint(GOOD + HOTPLUG, onoff_interval=1), "")
        self.assertNotEqual(self.complaint(GOOD + HOTPLUG.replace("4 of 4", "3 of 4"),
                                           onoff_interval=1), "")
        self.assertEqual(run_of(GOOD + HOTPLUG).offlines, 3)
        self.assertIsNone(run_of(GOOD).offlines)
