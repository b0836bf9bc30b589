# SPDX-License-Identifier: GPL-2.0
"""Locks in BPF arenas: what is read from a run."""

import unittest

from studies.arena.build import OURS, THEIRS
from studies.arena.study import after_timeout, load, speed, speed_rows

SERVED = "".join(f"served_after.{timeouts} 3\n" for timeouts in (1, 2, 3))


def complaint(made, output, status=0):
    made.output, made.status = output, status
    return made.complaint


class AfterATimeout(unittest.TestCase):
    def test_ours_is_to_serve_and_theirs_is_not(self):
        lost = SERVED.replace(" 3", " 0")
        self.assertEqual(complaint(after_timeout(OURS), SERVED), "")
        self.assertTrue(complaint(after_timeout(THEIRS), SERVED))
        self.assertTrue(complaint(after_timeout(OURS), lost))
        self.assertEqual(complaint(after_timeout(THEIRS), lost), "")

    def test_one_attempt_that_is_not_served_is_found(self):
        self.assertTrue(complaint(after_timeout(OURS), SERVED.replace("after.2 3", "after.2 2")))

    def test_no_result_is_no_success(self):
        self.assertTrue(complaint(after_timeout(OURS), ""))
        self.assertTrue(complaint(after_timeout(OURS), SERVED, None))


class Parts(unittest.TestCase):
    def test_the_last_line_says_what_is_wrong(self):
        self.assertIn("wrong: the counters", complaint(
            load(OURS, "counter"), "begun\nwrong: the counters\n", 1))

    def test_speed_is_read(self):
        self.assertEqual(complaint(speed(OURS, 1), "ns.1 259.5\nns.2 634.2\n"), "")
        self.assertTrue(complaint(speed(OURS, 1), "ns.1 259.5\n"))

    def test_speed_is_a_ratio_of_each_round(self):
        found = {OURS: [(10, 20), (10, 40), (10, 20)], THEIRS: [(20, 40), (10, 40), (5, 80)]}
        alone, two = speed_rows("x", lambda lock, threads: [
            each[threads - 1] for each in found[lock]])
        self.assertEqual(alone, ("x", "alone", "10.0", "10.0", "1.00 (0.50 to 2.00)"))
        self.assertEqual(two[-1], "2.00 (1.00 to 4.00)")
