# SPDX-License-Identifier: GPL-2.0
"""Progress: times, rates, and where the words go."""

import io
import unittest

from base.progress import Progress, clock, counted, spaced


class Screen(io.StringIO):
    def isatty(self):
        return True


class Hand:
    """A clock that a test moves."""

    def __init__(self):
        self.time = 100.0

    def __call__(self):
        return self.time


class Words(unittest.TestCase):

    def test_times_and_numbers_are_for_people(self):
        self.assertEqual([clock(7), clock(61), clock(3725.4)], ["0:07", "1:01", "1:02:05"])
        self.assertEqual(spaced(1234567.8), "1 234 568")
        self.assertEqual([counted(1, "run"), counted(2, "run")], ["1 run", "2 runs"])


class Counting(unittest.TestCase):

    def setUp(self):
        self.clock = Hand()
        self.out = io.StringIO()
        self.progress = Progress(self.out, self.clock)
        self.progress.plan(10, 5)

    def run_for(self, seconds):
        self.progress.begin("clh, cpus 2", 2)
        self.clock.time += seconds
        self.progress.end()

    def test_the_time_left_is_the_plan_at_the_pace_so_far(self):
        # What the runs take, and the seconds that are left then.
        for taken, left in ((4, 16), (2, 9), (1.5, 5)):
            self.run_for(taken)
            self.assertAlmostEqual(self.progress.left(), left)
        # Of the run that goes on its share is taken off, no more if it hangs.
        self.progress.begin("clh", 2)
        for passed, left in ((1, 4), (100, 2.5)):
            self.clock.time += passed
            self.assertAlmostEqual(self.progress.left(), left)

    def test_nothing_is_left_at_the_end(self):
        for _ in range(5):
            self.run_for(3)
        self.assertEqual(self.progress.left(), 0)
        self.assertIn("5 of 5 runs, 0:15 gone, 0:00 left", self.progress.text())

    def test_the_rate_is_of_the_time_between_two_looks_or_of_the_last_run(self):
        self.progress.begin("clh, cpus 2", 2)
        self.progress.going(1000, 5000)
        self.progress.going(1500, 9000)
        self.assertIn("8 000 acq./s (clh, cpus 2)", self.progress.text())
        self.progress.end(4321)
        self.progress.begin("mcs", 2)
        self.assertIn("4 321 acq./s (clh, cpus 2)", self.progress.text())

    def test_a_file_gets_a_line_every_ten_seconds(self):
        for _ in range(25):
            self.progress.show()
            self.clock.time += 1
        self.assertEqual(len(self.out.getvalue().splitlines()), 2)
        self.assertNotIn("\r", self.out.getvalue())


class Terminal(unittest.TestCase):

    def test_the_line_is_rewritten_and_cleared(self):
        screen = Screen()
        progress = Progress(screen, Hand())
        progress.plan(2, 2)
        progress.begin("x" * 500, 1)
        progress.end(12)
        progress.clear()
        lines = screen.getvalue().split("\r\x1b[K")
        self.assertEqual(len(lines), 4)
        self.assertIn("1 of 2 runs", lines[2])
        self.assertEqual(lines[3], "")
        self.assertNotIn("\n", screen.getvalue())
        self.assertLess(max(map(len, lines)), 500)
