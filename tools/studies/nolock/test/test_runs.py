# SPDX-License-Identifier: GPL-2.0
"""What a load of allocations has printed, and the table of it."""

import unittest

from studies.nolock.command import rows
from studies.nolock.runs import HYBRID, OBJECTS, SIDES, STOCK, Held, Load, NolockBoot

LOG = """\
[   12.3] nolock_load: task attempts 2000 failed 20 scarce 0 p99_ns 500 p999_ns 1250 longest_ns 90000
[   12.3] nolock_load: above attempts 10 failed 10 scarce 0 p99_ns 750 p999_ns 750 longest_ns 700
[   12.3] nolock_load: ordinary operations 5000 in_ns 2000000000
"""


def load(patience_us, log=LOG, status=0):
    made = Load("pages", patience_us, 10)
    made.log, made.status = log, status
    return made


class Results(unittest.TestCase):
    def test_each_context_has_its_numbers(self):
        results = load(20).results
        self.assertEqual(results["task"], {
            "attempts": 2000, "failed": 20, "scarce": 0, "p99_ns": 500, "p999_ns": 1250,
            "longest_ns": 90000})
        self.assertEqual(list(results), ["task", "above", "ordinary"])

    def test_a_load_is_judged_by_status_usual_allocations_and_memory(self):
        for log, status, complaint in (
                (LOG, 0, ""), (LOG, 1, "exit status 1"), ("", 0, "nothing was allocated as usual"),
                (LOG.replace("scarce 0", "scarce 3", 1), 0, "3 attempts found no memory")):
            self.assertEqual(load(20, log, status).complaint, complaint)

    def test_a_held_lock_is_judged_by_its_result(self):
        run = Held(20)
        run.status = 0
        self.assertEqual(run.complaint, "it has no result")
        run.log = "nolock_load: held served 1 failed 0\n"
        self.assertEqual((run.complaint, run.served), ("", True))


class Guests(unittest.TestCase):
    def test_a_patience_is_set_where_there_is_one(self):
        self.assertTrue(load(20).command.startswith(
            "echo 20 >/proc/sys/vm/nolock_patience_us &&\n"))
        self.assertTrue(load(0).command.startswith("echo 0 >"))
        self.assertNotIn("patience_us", load(None).command)

    def test_objects_come_of_caches_that_are_checked(self):
        for what, words in (("pages", []), (OBJECTS, ["slab_debug=F"])):
            self.assertEqual(NolockBoot(None, HYBRID, [Load(what, 20, 10)], 2).words, words)


class Table(unittest.TestCase):
    def test_a_row_has_failures_of_all_rounds_and_times(self):
        made = {side: [load(side[1]), load(side[1])] for side in SIDES}
        made[SIDES[2]] = [load(20, LOG.replace("failed 20", "failed 0").replace("5000", each))
                          for each in ("4950", "5050")]
        self.assertEqual(list(rows(made)), [
            (STOCK, "task", "4000", "10000", "1.2 us", "90.0 us", "1.00 (1.00 to 1.00)"),
            ("", "above", "20", "1000000", "0.8 us", "0.7 us", ""),
            (f"{HYBRID}, 0 us", "task", "4000", "10000", "1.2 us", "90.0 us",
             "1.00 (1.00 to 1.00)"),
            ("", "above", "20", "1000000", "0.8 us", "0.7 us", ""),
            (f"{HYBRID}, 20 us", "task", "4000", "0", "1.2 us", "90.0 us",
             "1.00 (0.99 to 1.01)"),
            ("", "above", "20", "1000000", "0.8 us", "0.7 us", "")])


if __name__ == "__main__":
    unittest.main()
