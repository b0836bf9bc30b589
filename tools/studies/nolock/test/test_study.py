# SPDX-License-Identifier: GPL-2.0
"""What a load of allocations has printed, and the table of it."""

from types import SimpleNamespace
import unittest

from studies.frame import Made
from studies.nolock.study import (HYBRID, OBJECTS, PAGES, STOCK, Allocations, Held, NolockBoot,
                                  boot, rows)

LOG = """\
[   12.3] nolock_load: task.attempts 2000
[   12.3] nolock_load: task.failed 20
[   12.3] nolock_load: task.scarce 0
[   12.3] nolock_load: task.p999_ns 1250
[   12.3] nolock_load: task.longest_ns 90000
[   12.3] nolock_load: above.attempts 10
[   12.3] nolock_load: above.failed 10
[   12.3] nolock_load: above.p999_ns 750
[   12.3] nolock_load: above.longest_ns 700
[   12.3] nolock_load: ordinary.operations 5000
[   12.3] nolock_load: ordinary.in_ns 2000000000
"""


def read(run, log=LOG, status=0):
    run.log, run.status = log, status
    return run


class Results(unittest.TestCase):
    def test_a_load_is_judged_by_status_usual_allocations_and_memory(self):
        for log, status, complaint in (
                (LOG, 0, ""), (LOG, 1, "exit status 1"), ("", 0, "all CPUs allocate as usual"),
                (LOG.replace("operations 5000", "operations 0"), 0, "all CPUs allocate as usual"),
                (LOG.replace("scarce 0", "scarce 3", 1), 0, "memory is there")):
            found = read(Allocations(PAGES, 20, 10), log, status).complaint
            self.assertEqual(bool(found), bool(complaint))
            self.assertIn(complaint, found)

    def test_a_held_lock_is_judged_by_its_result(self):
        run = Held(20, 0)
        self.assertIn("has a result", read(run, "").complaint)
        self.assertEqual(read(run, "nolock_load: held.served 1\nnolock_load: held.failed 0\n")
                         .complaint, "")
        self.assertEqual(run.values["held.served"], 1)


class Guests(unittest.TestCase):
    def test_a_patience_is_set_where_there_is_one(self):
        def command(patience_us):
            return Allocations(PAGES, patience_us, 10).command
        self.assertTrue(command(20).startswith("echo 20 >/proc/sys/vm/nolock_patience_us &&\n"))
        self.assertTrue(command(0).startswith("echo 0 >"))
        self.assertNotIn("patience_us", command(None))

    def test_objects_come_of_caches_that_are_checked(self):
        for what, words in ((PAGES, []), (OBJECTS, ["slab_debug=F"])):
            self.assertEqual(NolockBoot(None, HYBRID, [Allocations(what, 20, 10)], 2).words, words)


class Table(unittest.TestCase):
    def test_a_row_has_failures_of_all_rounds_and_times(self):
        made, options = Made(), SimpleNamespace(milliseconds=10, cpus=2)
        for figure in ("4950", "5050"):
            for side in (STOCK, HYBRID):
                guest = boot(PAGES, side, None, options)
                for load in guest.parts:
                    read(load)
                made.add(PAGES, side, guest)
            read(guest.parts[1], LOG.replace("failed 20", "failed 0").replace("5000", figure))
        (head, *found), = rows(made, options)
        self.assertEqual(head[0], PAGES)
        self.assertEqual(found, [
            (STOCK, "task", "4000", "10000", "1.2 us", "90.0 us", "1.00 (1.00 to 1.00)"),
            ("", "above", "20", "1000000", "0.8 us", "0.7 us", ""),
            (f"{HYBRID}, 0 us", "task", "4000", "10000", "1.2 us", "90.0 us",
             "1.00 (1.00 to 1.00)"),
            ("", "above", "20", "1000000", "0.8 us", "0.7 us", ""),
            (f"{HYBRID}, 20 us", "task", "4000", "0", "1.2 us", "90.0 us",
             "1.00 (0.99 to 1.01)"),
            ("", "above", "20", "1000000", "0.8 us", "0.7 us", "")])
