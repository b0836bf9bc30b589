# SPDX-License-Identifier: GPL-2.0
"""The figures of histograms: what gnuplot is told, and that it draws it."""

from pathlib import Path
import re
import shutil
import unittest
from unittest import mock

from base.driver import HISTOGRAMS
from measure.bench import plot
from measure.bench.distribution import LABELS, Distribution, shares, title_of
from measure.bench.figure import STYLES
from measure.bench.readable import faults
from measure.bench.test.synthetic import folder_of, result_of, run, scenario_of
from measure.scenario import MOST_DRAWN, Plot
from measure.test.samples import Folders


def found(lock, number=0, verdict="PASS", histogram="handoff", buckets=((256, 263, 4),), **point):
    one = run(lock, number, point or {"cpus": 2}, verdict)
    one.histograms = {histogram: [list(bucket) for bucket in buckets]}
    return one


def drawn(runs, histogram="handoff", **words):
    result = mock.Mock(runs=runs)
    result.name = "trial"
    return Distribution(result, Plot("late", "Late", histogram=histogram, **words))


def script_of(figure):
    """What gnuplot is told."""
    with mock.patch("measure.bench.exceeding.run_gnuplot") as run_gnuplot:
        figure.draw("here", Path("x.svg"))
    return run_gnuplot.call_args.args[0]


class Shares(unittest.TestCase):
    def test_each_value_has_the_share_of_those_that_are_not_smaller(self):
        self.assertEqual(shares([[[1000, 1023, 2], [4000, 4095, 1], [9000, 9215, 1]]], 1000),
                         [(1, 1), (4, 0.5), (9, 0.25)])

    def test_rounds_are_added_whatever_buckets_they_have(self):
        self.assertEqual(shares([[[1, 1, 1]], [[1, 1, 1], [7, 7, 2]], []], 1), [(1, 1), (7, 0.5)])

    def test_a_0_counts_and_has_no_place(self):
        self.assertEqual(shares([[[0, 0, 3], [2, 2, 1]]], 1), [(2, 0.25)])
        self.assertEqual(shares([[[0, 0, 3]]], 1), [])
        self.assertEqual(shares([], 1), [])


class Figures(unittest.TestCase):
    def test_rounds_that_did_not_pass_are_left_out(self):
        figure = drawn([found("clh_nb"), found("clh_nb", 1, "FAIL x", buckets=[(512, 527, 9)]),
                        found("clh_nb", 2, buckets=[(1024, 1055, 4)])])
        self.assertEqual(figure.panels[0].lines, {"clh_nb": [(0.256, 1), (1.024, 0.5)]})

    def test_a_panel_for_each_point_that_is_asked_for(self):
        runs = [found("clh_nb", cpus=cpus, patience_ns=1000) for cpus in (2, 8, 16)]
        self.assertEqual([panel.title for panel in drawn(runs).panels],
                         ["2 CPUs", "8 CPUs", "16 CPUs"])
        self.assertEqual([panel.title for panel in drawn(runs, where={"cpus": [2, 8]}).panels],
                         ["2 CPUs", "8 CPUs"])

    def test_a_lock_without_values_is_named(self):
        figure = drawn([found("clh_nb"), found("raw_spinlock", buckets=[(0, 0, 4)]), run("mcs")])
        self.assertEqual(figure.locks, ["clh_nb"])
        self.assertIn("No values: raw_spinlock, mcs.", script_of(figure))
        self.assertTrue(drawn([run("mcs")]).empty)
        self.assertFalse(figure.empty)

    def test_axes_reach_from_a_power_of_ten_to_another(self):
        text = script_of(drawn([found("clh_nb", buckets=[(256, 263, 99), (70000, 71679, 1)])]))
        self.assertIn("set xrange [1e-1:1e2]", text)
        self.assertIn("set yrange [1e-3:1]", text)
        self.assertIn('set xlabel "handoff"', text)
        self.assertIn('set xtics ("100 ns" 1e-1, "1 us" 1e0, "10 us" 1e1, "100 us" 1e2)', text)
        # A single value has axes, too.
        text = script_of(drawn([found("clh_nb", "skipped", buckets=[(1, 1, 5)])], "handoff"))
        self.assertIn("set xrange [1e-3:1e-2]", text)
        self.assertIn("set yrange [1e-1:1]", text)
        # Where powers of ten are many, every other one has a name.
        text = script_of(drawn([found("clh_nb", histogram="passed",
                                      buckets=[(1, 1, 5), (70000, 71679, 1)])], "passed"))
        self.assertIn('set xtics ("1" 1e0, "" 1e1, "100" 1e2, "" 1e3, "10000" 1e4, "" 1e5)', text)

    def test_times_are_in_us_and_numbers_as_they_are(self):
        for histogram, value, style in (("handoff", "0.004", "fsteps"),
                                        ("passed", "4", "linespoints"),
                                        ("skipped", "4", "linespoints")):
            text = script_of(drawn([found("clh_nb", histogram=histogram, buckets=[(4, 4, 1)])],
                                   histogram))
            self.assertIn(f"<< END\n{value} 1\nEND", text)
            self.assertIn(f"with {style} ", text)

    def test_each_histogram_of_the_driver_has_a_label(self):
        self.assertEqual(set(HISTOGRAMS) - set(LABELS), set())
        self.assertEqual(title_of("handoff"), "Handoff: how often it is longer")

    def test_locks_look_as_in_other_figures_and_those_of_other_modules_differ(self):
        figure = drawn([found(lock) for lock in ("my_lock", "nbq_spin", "your_lock")])
        text = script_of(figure)
        colours = re.findall(r'^set label 1\d\d "(\w+)" .* tc rgb "(#\w+)"', text, re.M)
        self.assertEqual({lock for lock, _ in colours}, {"my_lock", "nbq_spin", "your_lock"})
        self.assertEqual(len({colour for _, colour in colours}), 3)
        self.assertIn(("nbq_spin", STYLES["nbq_spin"].colour), colours)

    def test_five_locks_are_drawn_those_that_are_named(self):
        runs = [found(lock) for lock in STYLES]
        self.assertEqual(len(drawn(runs).locks), MOST_DRAWN)
        self.assertEqual(drawn(runs, locks=["mcs", "clh"]).locks, ["clh", "mcs"])


@unittest.skipUnless(shutil.which("gnuplot") and shutil.which("scour"), "no gnuplot or scour")
class Drawn(Folders, unittest.TestCase):
    def test_each_histogram_is_drawn_and_an_empty_one_is_not(self):
        scenario = scenario_of([Plot(name.replace("_", "-"), title_of(name), histogram=name)
                                for name in HISTOGRAMS], {"cpus": [1, 2]})
        result = result_of(scenario)
        for one in result.runs:
            one.histograms = {name: [[1, 1, 2 + one.round], [64, 65, 1]]
                              for name in HISTOGRAMS if name != "away"}
        folder_of(self.folder / "results", result)
        paths = plot.draw(self.folder / "results")
        self.assertEqual([path.name for path in paths if path.suffix == ".svg"],
                         [f"trial-{name.replace('_', '-')}.svg" for name in HISTOGRAMS
                          if name != "away"])
        text = paths[0].read_text()
        self.assertIn("3 rounds together", text)
        self.assertEqual(text.count(">clh_nb<"), 2)
        for path in paths:
            if path.suffix == ".svg":
                self.assertEqual(faults(path.read_text()), [], path.name)
