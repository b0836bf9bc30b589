# SPDX-License-Identifier: GPL-2.0
"""rqspinlock: lines of ours in the kernel's test, what is read from a run, and the table."""

import unittest

from base.common import Failure
from base.test import InFolder
from guest.kernel_tests import edited
from studies.rqspinlock.runs import EDITS, KERNEL_TEST, Cycle, Deadlocks, MapLoad
from studies.rqspinlock.table import table

SOURCE = """\
#include <linux/slab.h>

static void rqsl_record_lock_result(u64 delta_ns, enum rqsl_context ctx, int ret)
{
	struct rqsl_cpu_hist *hist = this_cpu_ptr(&rqsl_cpu_hists);
"""
RESULTS = """\
task ok 10 EDEADLK 0 ETIMEDOUT 0 other 0
irq ok 1 EDEADLK 0 ETIMEDOUT 0 other 0
task ok 449 EDEADLK 0 ETIMEDOUT 2 other 0
irq ok 3 EDEADLK 2348 ETIMEDOUT 1 other 0
"""
HISTOGRAM = """\
[ 12.4]  cpu1: total 5 (normal 3, nmi 2) | success 5 (normal 3, nmi 2) | \
failure 0 (normal 0, nmi 0), all within 0-10ms
[ 12.4]  cpu2: total 811 (normal 74, nmi 737) | success 76 (normal 74, nmi 2) | \
failure 735 (normal 0, nmi 735)
[ 12.4]    0-1ms: total 735 (normal 0, nmi 735)
[ 12.4]    26-30ms: total 10 (normal 9, nmi 1)
[ 12.4]    201-250ms: total 1 (normal 0, nmi 1)
[ 12.4]    >= 251ms: total 13 (normal 3, nmi 10)
"""
CYCLE = """\
ended
[ 1.0] rqspinlock_cycle: cpu1 task lock a: 0 after 57866 us
[ 1.0] rqspinlock_cycle: cpu1 irq lock b: -35 after 73 us
[ 1.0] rqspinlock_cycle: a 00 00 00 00, b 00 00 00 00: ended
"""
MAP = ("lock4=0 lock8=1\nmilliseconds=2000 updates=26016 least=1488 creations=8247 "
       "refused=734 deadlocks=0 timeouts=0 other=0 wrong=0\n")


def made(run, output, log="", status=0, hung=False):
    run.output, run.log, run.status, run.hung = output, log, status, hung
    return run


class Edited(InFolder):
    def edit(self, text):
        self.write(KERNEL_TEST, text)
        return edited(self.folder, KERNEL_TEST, EDITS, "tools/studies/rqspinlock/runs.py")

    def test_results_are_counted_first(self):
        text = self.edit(SOURCE)
        self.assertLess(text.index("irq_event.h"), text.index("rqsl_record_lock_result"))
        self.assertLess(text.index("count_result"), text.index("struct rqsl_cpu_hist"))

    def test_kernel_without_the_place_is_refused(self):
        with self.assertRaisesRegex(Failure, "adapt tools/studies/rqspinlock/runs.py"):
            self.edit(SOURCE.replace("*hist", "*histogram"))


class Read(unittest.TestCase):
    def test_last_results_count(self):
        run = made(Deadlocks("AA"), RESULTS)
        self.assertEqual(run.results["task"]["ok"], 449)
        self.assertEqual(run.results["irq"],
                         {"ok": 3, "EDEADLK": 2348, "ETIMEDOUT": 1, "other": 0})
        self.assertEqual(run.complaint, "")

    def test_unknown_errors_are_complained_about(self):
        run = made(Deadlocks("AA"), RESULTS.replace("other 0", "other 2"))
        self.assertIn("4 attempts failed", run.complaint)

    def test_run_without_an_end_is_complained_about(self):
        self.assertIn("did not come", made(Deadlocks("AA"), RESULTS, status=None).complaint)
        self.assertEqual(made(Deadlocks("AA"), "", status=None, hung=True).complaint,
                         "attempts never end")

    def test_kernel_log_is_read(self):
        run = made(MapLoad(), MAP, log="[ 1.0] WARNING: CPU: 1 PID: 1 at kernel/x.c:1\n")
        self.assertIn("WARNING", run.complaint)

    def test_waits_of_all_cpus_are_added(self):
        self.assertEqual(made(Deadlocks("AA"), RESULTS, HISTOGRAM).waits, [740, 10, 1, 13])

    def test_cycle_has_a_verdict(self):
        run = made(Cycle(), CYCLE)
        self.assertEqual((run.verdict, len(run.attempts), run.complaint), ("ended", 3, ""))
        self.assertEqual(made(Cycle(), "").complaint, "it has no verdict")

    def test_map_has_a_rate(self):
        run = made(MapLoad(), MAP)
        self.assertEqual((run.updates_a_second, run.complaint), (13008, ""))
        self.assertEqual(run.lock_sizes, [8])
        self.assertIn("two threads", made(MapLoad(), "wrong: two threads\n" + MAP).complaint)
        self.assertIn("no update", made(MapLoad(),
                                        MAP.replace("updates=26016", "updates=0")).complaint)


class Table(unittest.TestCase):
    def test_kernels_are_side_by_side(self):
        lines = table({
            "stock": [made(Deadlocks("ABBA"), "", status=None, hung=True),
                      made(MapLoad(), MAP)],
            "nbqlock": [made(Deadlocks("ABBA"), RESULTS, HISTOGRAM), made(MapLoad(), MAP)],
        })
        self.assertRegex(lines[0], r"^test +stock +nbqlock$")
        self.assertRegex(lines[1], r"^ABBA +rounds that hang +1 of 1 +0 of 1$")
        self.assertIn("13008", "".join(lines))
        self.assertTrue(any(line.split() == ["irq,", "EDEADLK", "-", "2348"]
                            for line in lines))
