# SPDX-License-Identifier: GPL-2.0
"""The figure of how often a time is exceeded."""

from pathlib import Path
import unittest

from bench.exceeding import Panel, points, script, thinned
from bench.figure import STYLES


class ExceedingTest(unittest.TestCase):
    def test_each_time_has_the_share_of_those_that_are_not_shorter(self):
        self.assertEqual(points([40, 10, 30, 20]), [(10, 1), (20, 0.75), (30, 0.5), (40, 0.25)])

    def test_short_times_are_drawn_at_the_edge(self):
        self.assertEqual(points([0.1, 5]), [(1, 1), (5, 0.5)])

    def test_points_on_top_of_one_another_are_left_out(self):
        shares = [(100, 1), (100.1, 0.999), (100.2, 0.998), (200, 0.997)]
        self.assertEqual(thinned(shares), [(100, 1), (200, 0.997)])

    def test_the_longest_time_stays(self):
        self.assertEqual(thinned([(100, 1), (100.1, 0.999)])[-1], (100.1, 0.999))

    def test_the_script_has_each_line_in_each_panel(self):
        panels = [Panel("one", {"a": [(1, 1)], "b": [(2, 1)]}),
                  Panel("two", {"a": [(3, 1)], "b": [(4, 1)]})]
        text = script(Path("x.svg"), "t", "s", ["n"], panels,
                      {"a": STYLES["nbq_spin"], "b": STYLES["qspinlock"]})
        for number in range(2):
            for line in range(2):
                self.assertIn(f"$panel{number}_{line} << END", text)
        self.assertEqual(text.count("\nplot "), 2)
