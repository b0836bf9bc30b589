# SPDX-License-Identifier: GPL-2.0
"""The figure of how often a time is exceeded."""

from pathlib import Path
import re
import shutil
import tempfile
import unittest

from measure.bench.exceeding import Panel, draw, points, script, thinned
from measure.bench.figure import STYLES
from measure.bench.readable import faults


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

    def test_the_script_has_each_line_its_name_and_each_mark_in_each_panel(self):
        panels = [Panel("one", {"a": [(1, 1), (50, 0.5)], "b": [(2, 1)]}, {"patience": 250}),
                  Panel("two", {"a": [(3, 1)], "b": []}, {"patience": 250})]
        text = script(Path("x.svg"), "t", "s", ["n"], panels,
                      {"a": STYLES["nbq_spin"], "b": STYLES["qspinlock"]})
        for number in range(2):
            for line in range(2):
                self.assertIn(f"$panel{number}_{line} << END", text)
        self.assertEqual(text.count("\nplot "), 2)
        self.assertEqual(text.count(' "patience" at 250,2 right '), 2)
        # Names lead to the ends; that of the line that is farther right stands higher.
        self.assertEqual(re.findall(r"^set arrow 1\d\d from first (\S+) to", text, re.M),
                         ["2,1", "50,0.5", "3,1"])
        self.assertEqual(re.findall(r'^set label 1\d\d "(\w)"', text, re.M), ["b", "a", "a"])
        self.assertIn("set yrange [1e-1:4]", text)

    @unittest.skipUnless(shutil.which("gnuplot") and shutil.which("scour"), "no gnuplot or scour")
    def test_what_is_drawn_can_be_read(self):
        marks = {"patience 250 us": 250, "stall 200 ms": 200_000}
        lines = [{"spinlock_t": range(1, 400_000, 99), "nbq_spin": range(1, 300)},
                 {"spinlock_t": [90], "nbq_spin": [80, 9000]}]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "x.svg"
            draw(path, "How long it takes", "2 kernels.", [], [
                Panel(title, {name: points(times) for name, times in each.items()}, marks)
                for title, each in zip(("all", "late"), lines)],
                 {"spinlock_t": STYLES["qspinlock"], "nbq_spin": STYLES["nbq_spin"]})
            self.assertEqual(faults(path.read_text()), [])
