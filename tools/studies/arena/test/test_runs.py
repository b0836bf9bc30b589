# SPDX-License-Identifier: GPL-2.0
"""Locks in BPF arenas: what is read from a run."""

import unittest

from studies.arena.build import OURS, THEIRS
from studies.arena.command import speed_rows
from studies.arena.runs import AfterTimeout, ArenaPart, Speed

SERVED = "".join(f"x: after {n} timeouts, once the holder has released: 3 of 3 attempts acquired\n"
                 for n in (1, 2, 3))
SPEED = "x: ns an acquisition: alone 259.5, 2 CPUs 634.2\n"


def made(part, output, status=0):
    part.output, part.status = output, status
    return part


class AfterATimeout(unittest.TestCase):
    def test_ours_is_to_serve_and_theirs_is_not(self):
        self.assertEqual(made(AfterTimeout(OURS), SERVED).complaint, "")
        self.assertIn("3 of 3", made(AfterTimeout(THEIRS), SERVED).complaint)
        lost = SERVED.replace("3 of 3", "0 of 3")
        self.assertIn("after 1 timeouts 0 of 3", made(AfterTimeout(OURS), lost).complaint)
        self.assertEqual(made(AfterTimeout(THEIRS), lost).complaint, "")

    def test_one_attempt_that_is_not_served_is_found(self):
        one = SERVED.replace("after 2 timeouts, once the holder has released: 3",
                             "after 2 timeouts, once the holder has released: 2")
        self.assertIn("after 2 timeouts 2 of 3", made(AfterTimeout(OURS), one).complaint)

    def test_no_result_is_no_success(self):
        self.assertTrue(made(AfterTimeout(OURS), "").complaint)
        self.assertTrue(made(AfterTimeout(OURS), SERVED, None).complaint)


class Parts(unittest.TestCase):
    def test_the_last_line_says_what_is_wrong(self):
        part = made(ArenaPart(OURS, "counter"), "begun\nwrong: the counters\n", 1)
        self.assertEqual(part.complaint, "wrong: the counters")

    def test_speed_is_read(self):
        self.assertEqual(made(Speed(OURS), SPEED).ns, (259.5, 634.2))
        self.assertTrue(made(Speed(OURS), "").complaint)

    def test_speed_is_a_ratio_of_each_round(self):
        found = {OURS: [(10, 20), (10, 40), (10, 20)], THEIRS: [(20, 40), (10, 40), (5, 80)]}
        alone, two = speed_rows("x", found)
        self.assertEqual(alone, ("x", "alone", "10.0", "10.0", "1.00 (0.50 to 2.00)"))
        self.assertEqual(two[-1], "2.00 (1.00 to 4.00)")


if __name__ == "__main__":
    unittest.main()
