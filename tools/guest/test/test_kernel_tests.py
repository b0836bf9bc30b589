# SPDX-License-Identifier: GPL-2.0
"""The kernel's own tests in a boot, by its log, and the counters of one on the hybrid."""

import unittest

from guest.complaints import complaints
from guest.kernel_tests import BANGS, PROVOKED, Boot, KernelLock, Rhashtable, Suites
from guest.parts import BEGIN, END

WRITES = "spin_lock-torture: Writes:  Total: {}  Max/Min: 9/3   Fail: 0 \n"
SUCCESS = "spin_lock-torture:--- End of test: SUCCESS: acq_writer_lim=0 \n"
COUNTERS = {"nodes_allocated": 90, "nodes_freed": 40, "nodes_reclaimed": 50, "deadlocks": 0,
            "acquired_handoff": 90, "pool_high_water": 3, "exhaustions": 0}


class Outcome:
    problem = None

    def __init__(self, log="", output=""):
        self.log = log
        self.output = output

    @property
    def complaints(self):
        return complaints(self.log)


def read(part, *lines, status=0):
    """What is wrong with a part that has said this, and its figure."""
    marks = [f"{BEGIN}{part.name}\n", f"{END}{part.name} {status}\n"]
    part.take(Outcome(marks[0] + "".join(lines) + marks[1], "".join(marks)))
    return part.complaint, part.figure


class Parts(unittest.TestCase):
    def test_torture_test_fails_by_what_it_says(self):
        part = KernelLock("spin_lock", 1)
        debug = SUCCESS.replace("SUCCESS:", "SUCCESS [debug]:")
        self.assertEqual(read(part, WRITES.format(42), debug)[0], "")
        for lines in ((), (WRITES.format(42),), (WRITES.format(0), SUCCESS), (SUCCESS,)):
            self.assertTrue(read(part, *lines)[0], lines)
        self.assertEqual(read(part, WRITES.format(42), "Fail: 3 !!!\n", SUCCESS)[0], BANGS)
        self.assertIn("exit", read(part, WRITES.format(42), SUCCESS, status=1)[0])

    def test_torture_figure_has_reads_where_there_are_some(self):
        reads = "rw_lock-torture: Reads :  Total: 7  Max/Min: 4/3   Fail: 0 \n"
        part = KernelLock("rw_lock", 1)
        self.assertEqual(read(part, WRITES.format(42), reads, SUCCESS),
                         ("", "42 writes, 3 to 9 a thread; 7 reads"))

    def test_torture_figure_has_the_time_that_the_run_took(self):
        start = "[ 4.50] spin_lock-torture:--- Start of test: acq_writer_lim=0\n"
        self.assertEqual(read(KernelLock("spin_lock", 1), start, WRITES.format(42),
                              f"[ 9.75] {SUCCESS}")[1], "42 writes in 5.2 s, 3 to 9 a thread")

    def test_rhashtable_fails_by_threads_and_by_lines(self):
        done = "Started 8 threads, {} failed, rhltable test returns 0\n"
        part = Rhashtable(8, 1000)
        self.assertEqual(read(part, done.format(0)), ("", "8 threads"))
        for lines in ((), (done.format(1),), ("Test failed: Total\n", done.format(0)),
                      ("Testing rhashtable_next_key: FAIL\n", done.format(0))):
            self.assertTrue(read(part, *lines)[0], lines)

    def test_a_traversal_that_met_a_resize_may_see_objects_twice_and_miss_none(self):
        lines = ("[ 7.1]  Traversal complete: counted={}, nelems={}, entries=9, table-jumps={}\n"
                 "[ 7.2] Test failed: Total count mismatch ^^^\n"
                 "Started 8 threads, 0 failed, rhltable test returns 0\n")
        for counted, nelems, jumps, passes in ((12, 9, 1, True), (12, 9, 10, True),
                                               (12, 9, 0, False), (8, 9, 1, False),
                                               (12, 10, 1, False)):
            complaint = read(Rhashtable(8, 9), lines.format(counted, nelems, jumps))[0]
            self.assertEqual(not complaint, passes, (counted, nelems, jumps))


class Counters(unittest.TestCase):
    def boot(self, log="", is_hybrid=True, freed=(40,), **counters):
        boot = Boot(None, 4, [], is_hybrid)
        boot.outcome = Outcome(log)
        boot.swept = "@swept" if is_hybrid else ""
        boot.readings = [{**COUNTERS, **counters, "nodes_freed": each} for each in freed] \
            if is_hybrid else []
        return boot

    def test_nodes_of_contexts_that_wait_may_be_in_some_readings(self):
        boot = self.boot(freed=(38, 40, 41, 39))
        self.assertEqual((boot.complaint, boot.left), ("", [2, 0, -1, 1]))
        self.assertIn("-1 queue nodes left", boot.summary)

    def test_a_node_that_is_lost_or_freed_twice_fails(self):
        for freed in ((39, 38, 39), (41, 42, 41)):
            self.assertIn("nodes are left", self.boot(freed=freed).complaint)

    def test_each_reading_has_to_be_swept(self):
        reading = "@sweep\n{}\n@counters\nnodes_freed {}\n@end\n"
        for first, second, swept in (("@swept", "@swept", "@swept"),
                                     ("@swept", "insmod: no\n@swept", "insmod: no\n@swept")):
            boot = Boot(None, 4, [])
            boot.outcome = Outcome("")
            boot.outcome.output = reading.format(first, 1) + reading.format(second, 2)
            boot.take_counters()
            self.assertEqual(boot.swept, swept)
            self.assertEqual([each["nodes_freed"] for each in boot.readings], [1, 2])

    def test_queues_that_were_not_swept_fail(self):
        boot = self.boot()
        boot.swept = "insmod: ERROR: could not insert module"
        self.assertIn("swept: insmod", boot.complaint)

    def test_deadlocks_exhaustions_and_complaints_fail(self):
        for wrong in (self.boot(deadlocks=1), self.boot(exhaustions=1),
                      self.boot("WARNING: CPU: 1 PID: 2 at kernel/x.c\n")):
            self.assertTrue(wrong.complaint)

    def test_deadlocks_that_a_suite_provokes_are_those_that_are_counted(self):
        for counted, passes in ((10, True), (9, False), (11, False)):
            boot = self.boot(deadlocks=counted)
            boot.parts = [Suites()]
            boot.parts[0].deadlocks = 10
            self.assertEqual(not boot.complaint, passes, counted)

    def test_failed_tests_of_locks_at_boot_fail(self):
        for end, bad in (" Good, all 359 testcases passed! |\n", False), ("", True):
            log = f"[ 0.0] | Locking API testsuite:\n[ 0.1] ...\n{end}"
            self.assertEqual(bool(self.boot(log).complaint), bad)

    def test_missing_counters_fail_with_the_hybrid_only(self):
        boot = self.boot(is_hybrid=False)
        self.assertEqual(boot.complaint, "")
        boot.is_hybrid = True
        self.assertTrue(boot.complaint)


class Provoked(unittest.TestCase):
    def test_counts_are_those_of_the_cases(self):
        log = "[ 0.2]     # a: provokes 6 deadlocks\n[ 0.3]     # b: provokes 4 deadlocks\n"
        self.assertEqual(PROVOKED.findall(log), ["6", "4"])
