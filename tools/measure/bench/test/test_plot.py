# SPDX-License-Identifier: GPL-2.0
"""figure.py, gnuplot.py: what gnuplot is told, and that it draws it."""

from itertools import product
from pathlib import Path
import re
import shutil
import unittest
from unittest import mock
from xml.etree import ElementTree

from base.common import PROJECT, Failure
from base.lock_types import KERNEL, OURS, PAPERS
from measure.bench import gnuplot, plot, svg
from measure.bench.figure import OTHERS, SOLID, STYLES, USUAL, Axis, Figure
from measure.bench.metrics import METRICS, Context
from measure.bench.readable import faults
from measure.bench.test.synthetic import LOCKS, folder_of, result_of, run, scenario_of
from measure.results import open_folder
from measure.scenario import MOST_DRAWN, Plot
from measure.test.samples import Folders


def figure_of(runs, context=None, **wanted):
    """A figure of these runs alone."""
    result = mock.Mock(runs=runs, plan=scenario_of())
    result.name = "trial"
    words = {"title": "A title", "x": "cpus", "y": "success_rate", **wanted}
    return Figure(result, Plot("one", **words), context or Context(2))


def won(lock, percent, number=0, **point):
    return run(lock, number, point or {"cpus": 1}, attempts=100, acquisitions=percent)


def all_won(locks=LOCKS, *cpus):
    return [won(lock, 50, cpus=each) for lock in locks for each in cpus or (1,)]


def script(figure):
    return gnuplot.script(figure, "the machine", "svg", Path("out.svg"))


def axis_of(figure):
    """Of the first panel: what gnuplot is told."""
    return re.search(r"^set yrange .*\nset ytics .*$", script(figure), re.M)[0].splitlines()


def block(text, lock, panel=0):
    """The rows of a lock in a panel, as words."""
    found = re.search(rf"^\$panel{panel}_{lock} << END\n(.*?)^END$", text, re.M | re.S)
    return [line.split() for line in found[1].splitlines()] if found else None


def retried(**results):
    """A run with each of these results after a timeout that is answered so."""
    return [run("clh_nb", point={"cpus": 2, "retry": retry}, acquisitions=10, cs_ns=10_000, **found)
            for retry, found in results.items()]


PATIENCES = [won("clh_nb", 50, patience_ns=value, cpus=2) for value in (1000, 2000)]
CPUS = all_won(["clh_nb"], 1, 2, 4)
GAPS = retried(at_once={"longest_gap_ns": 10**6}, back_off={"longest_gap_ns": 9 * 10**6})
TX = retried(at_once={"elapsed_ns": 200_000}, back_off={"elapsed_ns": 50_000})
AT_CORES = r"^set arrow from \d"
# What a figure is of, its other words, the context; what is in its script, and what is not.
SCRIPTS = (
    # Axes are named with units, and logarithmic where asked; many CPUs always.
    *((PATIENCES, {"x": "patience_ns", "log": log}, None,
       ['set xlabel "patience \\(us\\)" ', 'set ylabel "attempts that succeed \\(%\\)"',
        *[f"^set logscale {log}$"] * (log != "none")], ["^set logscale"] * (log == "none"))
      for log in ("none", "x", "y", "xy")),
    (all_won(["clh_nb"], 1, 2, 8), {}, None, ["^set logscale x$"], []),
    (all_won(["clh_nb"], 1, 2, 7), {}, None, [], ["^set logscale"]),
    ([won("clh_nb", 50, sockets=each) for each in (1, 2, 8)], {"x": "sockets"}, None,
     ["^set logscale x$"], []),
    # Panels share their y axis, but where they differ too much: 10 and -5 us, and a twentieth.
    (GAPS, {"y": "longest_gap_ms", "panel": "retry"}, None,
     [r"(?s)set yrange \[(0:9.45)\].*set yrange \[\1\]"], []),
    (TX, {"y": "tx_us", "panel": "retry"}, Context(1, {"clh_nb": 0}),
     [r"(?s)set yrange \[0:10.5\].*set yrange \[-5.25:0.25\]"], []),
    # Where CPUs outnumber the cores; none of the values are the cores, nothing is right of them.
    (CPUS, {}, None, ["^set arrow from 2,graph 0 to 2,graph 1"], []),
    (CPUS, {}, Context(3), [], [AT_CORES]), (CPUS, {}, Context(4), [], [AT_CORES]),
    # Of the simulated machine that is drawn, where there are several.
    (all_won(["clh_nb"], 1, 2, 4) + [won("clh_nb", 50, cpus=each, cores=2) for each in (2, 4)],
     {"where": {"cores": [2]}}, Context(4), ["^set arrow from 2,graph 0 to 2,graph 1"], []),
    # A bar for each point; what is not drawn is not there; loads have no order.
    (all_won(), {}, None, [r"\$panel0_nbq_spin using 1:2:3:4 with yerrorbars"], ["mcs_nb_paper"]),
    ([won("mcs", 50, load=load) for load in ("dup", "open")], {"x": "load"}, None,
     [r"\$panel0_mcs using 1:2 with points "], []),
    # A line that ends early is named where it ends.
    ([won("clh_nb", 90, cpus=1), won("mcs_nb", 10, cpus=1), won("mcs_nb", 50, cpus=8)], {}, None,
     [r"set arrow \d+ from first 0\.\d+,90 to screen .* dt \(4,4\)",
      r"set arrow \d+ from first 8\.\d+,50 to screen .* dt solid"], []),
    # A panel without data stays empty, a lock without data has no name.
    ([won("clh_nb", 50, cpus=1, retry="at_once"), run("clh_nb", point={"cpus": 1, "retry": "x"})],
     {"panel": "retry"}, None, ["plot 1/0 notitle", 'set label 99 "no data" at graph 0.5,0.5'], []),
    ([won("clh_nb", 50), run("mcs_nb")], {}, None, [], ["mcs_nb"]),
    # Titles cannot break out of their quotes.
    (CPUS, {"title": 'a "b" \\ c'}, None, ["\"a 'b' / c\""], []),
)


class Scripts(unittest.TestCase):
    def test_what_gnuplot_is_told(self):
        for runs, words, context, there, not_there in SCRIPTS:
            text = script(figure_of(runs, context, **words))
            with self.subTest(there=there, not_there=not_there, **words):
                for part in there:
                    self.assertRegex(text, re.compile(part, re.M))
                for part in not_there:
                    self.assertNotRegex(text, re.compile(part, re.M))


class Styles(unittest.TestCase):
    def test_every_lock_type_of_the_driver_and_the_simulation_has_one(self):
        models = (PROJECT / "tools/host/simulate/locks.c").read_text()
        there = {*OURS, *KERNEL, *PAPERS, *re.findall(r"^\t&(?:model_)?(\w+),$", models, re.M)}
        self.assertGreaterEqual(len(there), 24)
        self.assertEqual(there - set(STYLES) - {"broken"}, set())

    def test_no_two_locks_look_the_same_and_ours_are_thicker_and_solid(self):
        # qspinlock is the name of raw_spinlock where the kernel's own lock is simulated.
        styles = [style for lock, style in STYLES.items() if lock != "qspinlock"]
        for looks in ([(style.colour, style.mark) for style in [*styles, *OTHERS]],
                      [(style.colour, style.dash, style.width) for style in [*styles, *OTHERS]],
                      [STYLES[lock].colour for lock in USUAL if lock != "qspinlock"]):
            self.assertEqual(len(set(looks)), len(looks))
        for lock, style in STYLES.items():
            self.assertEqual(style.width > 2, lock in OURS)
            self.assertTrue(lock not in OURS or style.dash == SOLID)
            self.assertEqual(style.colour == STYLES["nbq_spin"].colour, lock == "nbq_spin")

    def test_each_colour_has_another_one_on_a_dark_page(self):
        self.assertEqual({style.colour for style in [*STYLES.values(), *OTHERS]} - set(svg.DARK),
                         set())
        self.assertEqual(len(set(svg.DARK.values())), len(svg.DARK))

    def test_a_lock_has_its_own_style_whatever_else_is_drawn(self):
        for others in ((), ("raw_spinlock",), LOCKS):
            figure = figure_of(all_won({"mcs_nb", "tas_b", *others}), locks=["mcs_nb", "tas_b"])
            text = script(figure)
            for number, lock in enumerate(figure.locks, 1):
                style = STYLES[lock]
                self.assertRegex(text, rf'set style line {number} lc rgb "{style.colour}" '
                                       rf"pt {style.mark} dt {re.escape(style.dash)} "
                                       rf"lw {style.width} ")
                self.assertRegex(text, rf"\$panel0_{lock} using 1:2 with linespoints "
                                       rf"ls {number} ")

    def test_a_few_locks_are_drawn_those_that_are_named_or_the_usual_ones(self):
        few = ("mcs_nb", "tas_b", "clh")
        usual = set(USUAL) & set(LOCKS)
        self.assertEqual(len(usual), MOST_DRAWN - 1)
        for locks, said, wanted in (
                (few, [], few), (LOCKS, [], usual | {"mcs_nb"}), (LOCKS, few[1:], few[1:]),
                (LOCKS, [*few, "hmcs"], few),		# one that was not measured
                # One of the user's own is always there.
                ((*LOCKS, "new_lock"), [], usual | {"new_lock"}),
                (("new_lock", *LOCKS), few, {*few, "new_lock"})):
            self.assertEqual(set(figure_of(all_won(locks), locks=said).locks), set(wanted))
        # They stand in one order, those that are not known last.
        figure = figure_of(all_won(("new_lock", *reversed(LOCKS))))
        self.assertEqual(figure.locks[:-1], [lock for lock in STYLES if lock in figure.locks])
        self.assertEqual(figure.locks[-1], "new_lock")
        self.assertIn('"new_lock" at screen', script(figure))


    def test_locks_of_other_modules_look_different_and_each_the_same(self):
        mine = ["a_lock", "b_lock", "c_lock"]
        figure = figure_of(all_won((*LOCKS, *mine)), locks=["clh_nb"])
        self.assertEqual(figure.locks, ["clh_nb", *mine])
        self.assertEqual(len({figure.styles[lock] for lock in mine}), 3)
        # Whichever of them are drawn, each looks the same.
        runs = [*all_won(mine[:1], 1), *all_won(mine[1:], 2)]
        self.assertEqual(figure_of(runs, where={"cpus": [2]}).styles["b_lock"],
                         figure.styles["b_lock"])


class Data(unittest.TestCase):
    def test_a_row_is_x_median_least_and_greatest_and_missing_data_a_gap(self):
        runs = [won("clh_nb", percent, number) for number, percent in enumerate((30, 10, 20))]
        runs += [won("clh_nb", 60, cpus=4),
                 run("clh_nb", point={"cpus": 2}, verdict="FAIL two holders were seen",
                     attempts=100, acquisitions=99)]
        rows = block(script(figure_of(runs)), "clh_nb")
        self.assertEqual([row[1:] for row in rows],
                         [["20.0", "10.0", "30.0"], ["NaN"] * 3, ["60.0"] * 3])
        self.assertTrue(figure_of([run("mcs_nb")]).empty)

    def test_a_0_has_no_place_on_a_logarithmic_axis_and_is_said_to_have_none(self):
        runs = [won("clh_nb", 0, cpus=1), won("clh_nb", 60, cpus=2), won("mcs_nb", 5, cpus=1)]
        for log, row, off in (("y", ["NaN"] * 3, {"clh_nb": 1}), ("none", ["0.0"] * 3, {})):
            figure = figure_of(runs, log=log)
            self.assertEqual(block(script(figure), "clh_nb")[0][1:], row)
            self.assertEqual(figure.off_the_axis(), off)
            self.assertEqual("no place on this axis: clh_nb (1)." in script(figure), bool(off))
        # One of whose rounds only one is below has a place.
        runs = [run("clh_nb", number, elapsed_ns=elapsed, acquisitions=10, cs_ns=10_000)
                for number, elapsed in enumerate((50_000, 101_000, 300_000))]
        text = script(figure_of(runs, Context(1, {"clh_nb": 0}), y="tx_us", log="y"))
        self.assertLess(float(re.search(r"set yrange \[(.*?):", text)[1]), 0.1)
        self.assertEqual(block(text, "clh_nb")[0][1], "0.1")

    def test_locks_stand_beside_one_another(self):
        figure = figure_of(all_won(LOCKS, 1, 2, 4))
        text = script(figure)
        places = [[float(row[0]) for row in block(text, lock)] for lock in figure.locks]
        self.assertEqual(len(set(place[0] for place in places)), len(figure.locks))
        for place in places:
            for there, value in zip(place, (1, 2, 4)):
                self.assertLess(abs(there - value), 0.15)


class Axes(unittest.TestCase):
    def test_numbers_stand_where_they_belong_words_side_by_side(self):
        for name, values, log, tics, is_log in (
                ("cpus", [1, 2, 8], False, '"1" 1, "2" 2, "8" 8', False),
                ("patience_ns", [10, 1000], True, '"0.01" 10, "1" 1000', True),
                # So does a 0 on a logarithmic axis.
                ("patience_ns", [0, 1000, 1000000], True, '"0" 0, "1" 1, "1000" 2', False),
                ("retry", ["at_once", "back_off"], False,
                 '"retry at once" 0, "back off, then retry" 1', False),
                ("load", ["hackbench" * 3, "shell" * 9], False,
                 f'"{"hackbench" * 3}" 0, "{"shell" * 9}" 1', False),
                # Every other number has a name where all have no room.
                ("cpus", [10000, 20000, 40000, 80000], True,
                 '"10000" 10000, "" 20000, "40000" 40000, "" 80000', True)):
            axis = Axis(name, values, log)
            self.assertEqual((axis.tics(), axis.log), (tics, is_log))
            self.assertLess(axis.ends()[0], axis.place(values[0]))
            self.assertGreater(axis.ends()[1], axis.place(values[-1]))
            self.assertGreater(axis.beside(values[-1], 1), axis.place(values[-1]))

    def test_words_that_are_too_long_for_half_of_a_figure_have_all_of_it(self):
        for loads, sizes in ((("dup", "open"), (440, 440)), (("dup" * 9, "open"), (880, 880))):
            figure = figure_of([won("mcs", 50, load=load, cpus=cpus) for load in loads
                                for cpus in (1, 2)], x="load", panel="cpus")
            ends = re.findall(r"set rmargin at screen ([\d.]+)", script(figure))
            self.assertEqual(len(set(ends)), {440: 2, 880: 1}[sizes[0]])

    def test_a_logarithmic_axis_has_two_numbers_at_least(self):
        for values, tics in (((50, 50), "(20, 50)"), ((1, 3), "(1, 2)"),
                             ((3, 60), "(5, 10, 20, 50)"),
                             ((3, 90), '("" 5 1, 10, "" 20 1, "" 50 1, 100)')):
            runs = [won("clh_nb", value, cpus=cpus) for cpus, value in enumerate(values, 1)]
            self.assertEqual(axis_of(figure_of(runs, log="y"))[1], f"set ytics {tics}")

    def test_a_panel_for_each_value_of_its_axis_at_the_points_that_are_asked_for(self):
        values = (0, 500, 15000, 1000000, "200*cpus", "max")
        runs = [won("clh_nb", 50, cpus=1, patience_ns=value) for value in values]
        for where, titles in (
                (values[:4], ["patience 0", "patience 500 ns", "patience 15 us", "patience 1 ms"]),
                (["max", "200*cpus"], ["patience 200 ns for each CPU", "patience without end"])):
            figure = figure_of(runs, panel="patience_ns", where={"patience_ns": where})
            self.assertEqual([panel.title for panel in figure.panels], titles)

    def test_an_axis_that_nothing_shows_gets_panels_and_is_not_mixed(self):
        runs = [won("clh_nb", percent, cpus=1, retry=retry, patience_ns=patience)
                for (retry, patience), percent in zip(
                    product(("at_once", "back_off"), (0, 1000)), (1, 2, 3, 4))]
        figure = figure_of(runs, panel="patience_ns")
        self.assertEqual(len(figure.panels), 4)
        text = script(figure)
        self.assertEqual([block(text, "clh_nb", panel)[0][1] for panel in range(4)],
                         ["1.0", "3.0", "2.0", "4.0"])


class Names(unittest.TestCase):
    def places(self, text):
        """{lock: how far down the figure its name is, in pixels}, from the top."""
        found = re.findall(r'^set label \d+ "(\w+)" at screen [\d.]+,([\d.]+) ', text, re.M)
        height = gnuplot.Sheet(1, ("A title", "the machine", []), titled=False).height
        return dict(sorted(((lock, (1 - float(place)) * height) for lock, place in found),
                           key=lambda pair: pair[1]))

    def test_each_line_has_its_name_beside_its_end(self):
        runs = [won(lock, percent, cpus=cpus) for lock, percent in
                (("clh_nb", 90), ("mcs_nb", 50), ("tas_b", 10)) for cpus in (1, 2)]
        places = self.places(script(figure_of(runs)))
        self.assertEqual(list(places), ["clh_nb", "mcs_nb", "tas_b"])
        # 0 to 104 % over the height of the axis
        height = gnuplot.WIDE_PANEL - gnuplot.UNTITLED_TOP - gnuplot.BOTTOM
        self.assertAlmostEqual(places["tas_b"] - places["clh_nb"], 80 / 104 * height, delta=1)

    def test_names_do_not_stand_on_one_another(self):
        places = list(self.places(script(figure_of(all_won(LOCKS, 1, 2)))).values())
        self.assertEqual(len(places), MOST_DRAWN)
        for above, below in zip(places, places[1:]):
            self.assertGreater(below - above, 0.99 * gnuplot.NAME_LINE)
        for wanted, gap, found in (
                ([5, 50], 10, [5, 50]), ([50, 50, 50], 10, [40, 50, 60]), ([0, 0], 10, [0, 10]),
                ([100, 100], 10, [90, 100]), ([1, 2, 3], 90, [0, 50, 100]), ([], 10, [])):
            self.assertEqual(gnuplot.spread_out(wanted, gap, 100), found)


@unittest.skipUnless(shutil.which("gnuplot") and shutil.which("scour"), "no gnuplot or scour")
class Drawn(Folders, unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.path = self.folder / "results"

    def test_svg_and_png_of_each_figure_that_has_data(self):
        plots = [Plot("rate", "How often they <acquire>", "cpus", "acquisitions_per_second", "y"),
                 Plot("none", "No data", "cpus", "skipped_max"),
                 Plot("late", "How late they return", "patience_ns", "overshoot_mean_us", "xy",
                      "cpus")]
        scenario = scenario_of(plots, {"cpus": [1, 2, 4], "patience_ns": [0, 1000]})
        del scenario.load["patience_ns"]
        folder_of(self.path, result_of(scenario))
        paths = plot.draw(self.path)
        self.assertEqual([path.name for path in paths],
                         ["trial-rate.svg", "trial-rate.png", "trial-late.svg",
                          "trial-late.png"])
        # A name in each panel that has a line: nobody is late with a core for each CPU.
        for path, panels, locks, title, words in (
                (paths[0], 2, ("clh_nb", "mcs_nb", "nbq_spin", "raw_spinlock", "tas_b_try"),
                 "How often they <acquire>", "Acquisitions per second, by CPUs (1, 2, 4). Lines: "
                 "clh_nb, mcs_nb, nbq_spin, raw_spinlock, tas_b_try. Panels: patience 0; patience "
                 "1 us. User-mode Linux 7.2.12, 2 cores, 3 rounds (mark: median; bar: least to "
                 "greatest)."),
                (paths[2], 1, ("clh_nb", "mcs_nb", "swap_nb", "nbq_spin", "tas_b_try"),
                 "How late they return", "Overshoot, mean (us), by patience (us) (0, 1). Lines: "
                 "clh_nb, mcs_nb, swap_nb, nbq_spin, tas_b_try. Panels: 1 CPU; 2 CPUs; 4 CPUs. "
                 "User-mode Linux 7.2.12, 2 cores, 3 rounds (mark: median; bar: least to "
                 "greatest).")):
            self.assertEqual(path.with_suffix(".png").read_bytes()[:4], b"\x89PNG")
            text = path.read_text()
            self.assertNotIn("scale(0.00)", text)	# of which librsvg draws nothing
            self.assertEqual(faults(text), [])
            root = ElementTree.fromstring(text)
            self.assertEqual([each.text for each in root if each.text][:2], [title, words])
            drawn = [word.strip() for word in root.itertext()]
            self.assertEqual(sorted(word for word in drawn if word in LOCKS),
                             sorted([*locks] * panels))
        self.assertEqual(plot.draw(self.path), paths)	# again, over the old ones

    def test_gnuplot_draws_every_metric(self):
        plots = [Plot(f"{name.replace('_', '-')}-{log}", name, "cpus", name, log)
                 for name in METRICS for log in ("none", "xy")]
        folder_of(self.path, result_of(scenario_of(plots)))
        figures = plot.figures_of(open_folder(self.path))["trial"]
        drawable = [figure for figure in figures if not figure.empty]
        self.assertGreater(len(drawable), 50)
        with mock.patch.object(plot, "FORMATS", ("svg",)), \
                mock.patch.object(svg, "scoured", lambda text: text):
            self.assertEqual(len(plot.draw(self.path)), len(drawable))

    def test_what_gnuplot_does_not_understand_is_a_sentence(self):
        with self.assertRaisesRegex(Failure, "could not draw x.svg"):
            gnuplot.run_gnuplot("set nonsense\n", Path("x.svg"), "", "")

    def test_the_machine_stands_below_the_title(self):
        folder = mock.Mock(machine={"cores": 2})
        self.assertEqual(plot.subtitle_of(folder, result_of(scenario_of()), Plot("one", "A title")),
                         "User-mode Linux 7.2.12, 2 cores, 3 rounds (mark: median; bar: least to "
                         "greatest)")


class Gnuplot(unittest.TestCase):
    def test_an_old_one_or_none_is_a_sentence(self):
        for answer, refused in (("gnuplot 5.2 patchlevel 8", "5.4 or later"),
                                ("nonsense", "5.4 or later"), (FileNotFoundError, "not installed"),
                                ("gnuplot 5.4 patchlevel 4", ""), ("gnuplot 6.0 patchlevel 0", "")):
            done = {"return_value": mock.Mock(stdout=answer)} if isinstance(answer, str) else {
                "side_effect": answer}
            with mock.patch("subprocess.run", **done):
                if refused:
                    self.assertRaisesRegex(Failure, refused, gnuplot.gnuplot)
                else:
                    self.assertEqual(gnuplot.gnuplot(), "gnuplot")
