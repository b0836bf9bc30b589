# SPDX-License-Identifier: GPL-2.0
"""rqspinlock: lines of ours in the kernel's test, what is read from a run, and the table."""

from types import SimpleNamespace
import unittest

from base.common import Failure
from base.test import InFolder
from guest.kernel_tests import edited
from studies.frame import Made, side_by_side
from studies.rqspinlock.study import (EDITS, KERNEL_TEST, OURS, ROWS, STOCK, Cycle, Deadlocks,
                                      MapLoad, attempts, interrupts_ended_right)

SOURCE = """\
#include <linux/slab.h>

static void rqsl_record_lock_result(u64 delta_ns, enum rqsl_context ctx, int ret)
{
	struct rqsl_cpu_hist *hist = this_cpu_ptr(&rqsl_cpu_hists);
"""
RESULTS = "".join(f"{who}.{kind} {count}\n" for who, counts in (
    ("task", (10, 0, 0, 0)), ("irq", (1, 0, 0, 0)),
    ("task", (449, 0, 2, 0)), ("irq", (3, 2348, 1, 0)))
    for kind, count in zip(("ok", "EDEADLK", "ETIMEDOUT", "other"), counts))
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
[ 1.0] rqspinlock_cycle: cpu1.task.a 0
[ 1.0] rqspinlock_cycle: us.cpu1.task.a 57866
[ 1.0] rqspinlock_cycle: cpu1.irq.b -35
[ 1.0] rqspinlock_cycle: cpu2.irq.a 0
[ 1.0] rqspinlock_cycle: lock.a 0x00000000
"""
MAP = ("lock4 0\nlock8 1\nmilliseconds 2000\nupdates 26016\nleast 1488\ncreations 8247\n"
       "refused 734\ndeadlocks 0\ntimeouts 0\nother 0\nwrong 0\n")


def made(run, output, log="", status=0, hung=False):
    run.output, run.log, run.status, run.hung = output, log, status, hung
    return run


class Edited(InFolder):
    def edit(self, text):
        self.write(KERNEL_TEST, text)
        return edited(self.folder, KERNEL_TEST, EDITS, "tools/studies/rqspinlock/study.py")

    def test_results_are_counted_first(self):
        text = self.edit(SOURCE)
        self.assertLess(text.index("irq_event.h"), text.index("rqsl_record_lock_result"))
        self.assertLess(text.index("count_result"), text.index("struct rqsl_cpu_hist"))

    def test_kernel_without_the_place_is_refused(self):
        with self.assertRaisesRegex(Failure, "adapt tools/studies/rqspinlock/study.py"):
            self.edit(SOURCE.replace("*hist", "*histogram"))


class Read(unittest.TestCase):
    def test_last_results_count(self):
        run = made(Deadlocks("AA"), RESULTS)
        self.assertEqual(run.values["task.ok"], 449)
        self.assertEqual(run.values.below("irq"),
                         {"ok": 3, "EDEADLK": 2348, "ETIMEDOUT": 1, "other": 0})
        self.assertEqual(run.complaint, "")

    def test_unknown_errors_and_workers_without_success_are_complained_about(self):
        self.assertIn("known errors", made(
            Deadlocks("AA"), RESULTS.replace("other 0", "other 2")).complaint)
        self.assertIn("acquire", made(Deadlocks("AA"), RESULTS.replace("449", "0")).complaint)
        self.assertIn("was not printed", made(Deadlocks("AA"), "").complaint)

    def test_run_without_an_end_is_complained_about(self):
        self.assertTrue(made(Deadlocks("AA"), RESULTS, status=None).complaint)
        self.assertEqual(made(Deadlocks("AA"), "", status=None, hung=True).complaint,
                         "attempts never end")

    def test_kernel_log_is_read(self):
        run = made(MapLoad(), MAP, log="[ 1.0] WARNING: CPU: 1 PID: 1 at kernel/x.c:1\n")
        self.assertIn("WARNING", run.complaint)

    def test_waits_of_all_cpus_are_added(self):
        self.assertEqual(made(Deadlocks("AA"), RESULTS, HISTOGRAM).waits, [740, 10, 1, 13])

    def test_cycle_has_a_verdict(self):
        self.assertEqual(made(Cycle(), "verdict ended\n", CYCLE).complaint, "")
        for output in ("verdict hung\n", "verdict running\n", ""):
            self.assertTrue(made(Cycle(), output).complaint)

    def test_interrupts_are_to_get_the_lock_in_a_cycle_and_a_deadlock_above_the_holder(self):
        right = CYCLE.replace("-35", "0")
        for results, log, found in ((RESULTS, right, [True, True]), (RESULTS, CYCLE, [True, False]),
                                    (RESULTS.replace("2348", "0"), right, [False, True])):
            self.assertEqual(interrupts_ended_right(
                made(Deadlocks("AA"), results), made(Cycle(), "", log)), found)
        self.assertEqual(attempts(made(Cycle(), "", CYCLE)),
                         {"cpu1.task.a": 0, "cpu1.irq.b": -35, "cpu2.irq.a": 0})

    def test_map_is_to_be_updated_and_right(self):
        run = made(MapLoad(), MAP)
        self.assertEqual((ROWS["bytes of a lock"]([run]), run.complaint), ("8", ""))
        for old, new in (("wrong 0", "wrong 1"), ("other 0", "other 1"),
                         ("updates 26016", "updates 0")):
            self.assertTrue(made(MapLoad(), MAP.replace(old, new)).complaint)


class Table(unittest.TestCase):
    def test_kernels_are_side_by_side(self):
        runs = Made()
        for name, side, run in (
                ("ABBA", STOCK, made(Deadlocks("ABBA"), "", status=None, hung=True)),
                ("ABBA", OURS, made(Deadlocks("ABBA"), RESULTS, HISTOGRAM)),
                ("map", STOCK, made(MapLoad(), MAP)), ("map", OURS, made(MapLoad(), MAP))):
            runs.add(name, side, SimpleNamespace(parts=[run]))
        table = side_by_side(runs, ROWS)
        self.assertEqual(table[1], ("ABBA", "rounds that hang", "1 of 1", "0 of 1"))
        self.assertIn(("", "irq, EDEADLK", "-", "2348"), table)
        self.assertIn(("", "updates a second, median", "13008", "13008"), table)
