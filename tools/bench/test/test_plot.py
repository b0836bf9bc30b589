# SPDX-License-Identifier: GPL-2.0
"""figure.py, gnuplot.py: what gnuplot is told, and that it draws it."""

from itertools import product
from pathlib import Path
import re
import shutil
import unittest
from unittest import mock
from xml.etree import ElementTree

from bench import gnuplot, plot
from bench.figure import GREY, IN_COLOUR, OTHER, SOLID, STYLES, Axis, Figure
from bench.metrics import METRICS, Context
from bench.results import open_folder
from bench.scenario import Plot, Scenario
from bench.test.samples import Folders
from bench.test.synthetic import LOCKS, folder_of, result_of, run
from testbed.common import PROJECT, Trouble
from testbed.driver import OURS


def scenario_of(plots, sweep=None, **load):
    scenario = Scenario("trial")
    scenario.title, scenario.source = "A trial", "nowhere"
    scenario.rounds = 3
    scenario.load = {"duration_ms": 100, "cs_ns": 100, "ncs_ns": 0, "patience_ns": 1000, **load}
    scenario.sweep = sweep or {"cpus": [1, 2, 4]}
    scenario.plots = plots
    return scenario


def figure_of(runs, context=None, **wanted):
    """A figure of these runs alone."""
    scenario = scenario_of([])
    result = mock.Mock(runs=runs, plan=scenario)
    result.name = "trial"
    words = {"title": "A title", "x": "cpus", "y": "success_rate", **wanted}
    return Figure(result, Plot("one", **words), context or Context(2))


def won(lock, percent, number=0, **point):
    return run(lock, number, point or {"cpus": 1}, attempts=100, acquisitions=percent)


def script(figure, kind="svg"):
    return gnuplot.script(figure, "the machine", kind, Path("out.svg"))


def block(text, lock, panel=0):
    """The rows of a lock in a panel, as words."""
    found = re.search(rf"^\$panel{panel}_{lock} << END\n(.*?)^END$", text, re.M | re.S)
    return [line.split() for line in found[1].splitlines()] if found else None


class Styles(unittest.TestCase):
    def test_every_lock_type_of_the_driver_has_one(self):
        sources = "".join(path.read_text() for path in
                          (PROJECT / "nbqlock/stress").glob("ops*.c"))
        there = set(re.findall(r"&stress_(\w+),", sources))
        self.assertGreaterEqual(len(there), 15)
        self.assertEqual(there - set(STYLES), set())

    def test_no_two_locks_look_the_same_and_ours_are_thicker_and_solid(self):
        marks = [style.mark for style in [*STYLES.values(), OTHER]]
        self.assertEqual(len(set(marks)), len(marks))
        looks = [(style.colour, style.dash, style.width) for style in STYLES.values()]
        self.assertEqual(len(set(looks)), len(looks))
        for lock, style in STYLES.items():
            self.assertEqual(style.width > 2, lock in OURS)
            self.assertTrue(lock not in OURS or style.dash == SOLID)
        # But the stand-in, in colour by default; the hybrid's is of nothing else.
        colours = [STYLES[lock].colour for lock in IN_COLOUR if lock != "qspinlock"]
        self.assertEqual(len(set(colours)), len(colours))
        self.assertEqual([lock for lock, style in STYLES.items()
                          if style.colour == STYLES["nbq_spin"].colour], ["nbq_spin"])

    def test_a_lock_has_its_own_style_whatever_else_is_drawn(self):
        for others in ((), ("raw_spinlock",), LOCKS):
            figure = figure_of([won(lock, 50) for lock in {"mcs_nb", "tas_b", *others}])
            text = script(figure)
            for lock in figure.locks:
                number = figure.locks.index(lock) + 1
                style = STYLES[lock]
                colour, width = (style.colour, style.width) if lock in figure.coloured else (
                    GREY, 1)
                self.assertRegex(text, rf'set style line {number} lc rgb "{colour}" '
                                       rf"pt {style.mark} dt {re.escape(style.dash)} "
                                       rf"lw {width} ")
                self.assertRegex(text, rf"\$panel0_{lock} using 1:2 with linespoints "
                                       rf"ls {number} ")

    def test_a_few_locks_are_all_in_colour_and_of_many_those_that_matter(self):
        few = figure_of([won(lock, 50) for lock in ("mcs_nb", "tas_b", "clh")])
        self.assertEqual(set(few.coloured), {"mcs_nb", "tas_b", "clh"})
        many = figure_of([won(lock, 50) for lock in LOCKS])
        self.assertEqual(set(many.coloured), set(IN_COLOUR) & set(LOCKS))
        said = figure_of([won(lock, 50) for lock in LOCKS], colour=["tas_b", "mcs"])
        self.assertEqual(set(said.coloured), {"tas_b", "mcs"})

    def test_grey_lines_are_behind_and_have_no_bars(self):
        text = script(figure_of([won(lock, 50) for lock in LOCKS]))
        self.assertNotIn("$panel0_tas_b using 1:2:3:4", text)
        self.assertIn("$panel0_nbq_spin using 1:2:3:4 with yerrorbars", text)
        self.assertLess(text.index("$panel0_mcs_nb_paper using"),
                        text.index("$panel0_clh_nb using"))

    def test_locks_stand_in_one_order_and_those_that_are_not_known_last(self):
        figure = figure_of([won(lock, 50) for lock in ("new_lock", *reversed(LOCKS))])
        self.assertEqual(figure.locks, [*(lock for lock in STYLES if lock in LOCKS), "new_lock"])
        self.assertIn('"new_lock" at screen', script(figure))


class Data(unittest.TestCase):
    def test_a_row_is_x_median_least_and_greatest_and_missing_data_a_gap(self):
        runs = [won("clh_nb", percent, number) for number, percent in enumerate((30, 10, 20))]
        runs += [won("clh_nb", 60, cpus=4),
                 run("clh_nb", point={"cpus": 2}, verdict="FAIL two holders were seen",
                     attempts=100, acquisitions=99)]
        rows = block(script(figure_of(runs)), "clh_nb")
        self.assertEqual(rows[0][1:], ["20.0", "10.0", "30.0"])
        self.assertEqual([row[1:] for row in rows[1:]], [["NaN"] * 3, ["60.0"] * 3])

    def test_a_lock_without_data_has_no_name_in_the_figure(self):
        figure = figure_of([won("clh_nb", 50), run("mcs_nb")])
        self.assertEqual(figure.locks, ["clh_nb"])
        self.assertNotIn("mcs_nb", script(figure))
        self.assertTrue(figure_of([run("mcs_nb")]).empty)

    def test_a_0_has_no_place_on_a_logarithmic_axis_and_is_said_to_have_none(self):
        runs = [won("clh_nb", 0, cpus=1), won("clh_nb", 60, cpus=2), won("mcs_nb", 5, cpus=1)]
        figure = figure_of(runs, log="y")
        self.assertEqual(block(script(figure), "clh_nb")[0][1:], ["NaN"] * 3)
        self.assertEqual(figure.off_the_axis(), {"clh_nb": 1})
        self.assertIn("no place on this axis: clh_nb (1).", script(figure))
        linear = figure_of(runs)
        self.assertEqual(block(script(linear), "clh_nb")[0][1:], ["0.0"] * 3)
        self.assertEqual(linear.off_the_axis(), {})

    def test_locks_in_colour_stand_beside_one_another(self):
        runs = [won(lock, 50, cpus=cpus) for lock in LOCKS for cpus in (1, 2, 4)]
        figure = figure_of(runs)
        text = script(figure)
        places = [[float(row[0]) for row in block(text, lock)] for lock in figure.coloured]
        self.assertEqual(len(set(place[0] for place in places)), len(figure.coloured))
        self.assertEqual([float(row[0]) for row in block(text, "tas_b")], [1, 2, 4])
        for place in places:
            for there, value in zip(place, (1, 2, 4)):
                self.assertLess(abs(there - value), 0.25)


class Axes(unittest.TestCase):
    def test_numbers_stand_where_they_belong_words_side_by_side(self):
        for name, values, log, tics, is_log in (
                ("cpus", [1, 2, 8], False, '"1" 1, "2" 2, "8" 8', False),
                ("patience_ns", [10, 1000], True, '"0.01" 10, "1" 1000', True),
                # So does a 0 on a logarithmic axis.
                ("patience_ns", [0, 1000, 1000000], True, '"0" 0, "1" 1, "1000" 2', False),
                ("retry", ["at_once", "back_off"], False,
                 '"retry at once" 0, "back off, then retry" 1', False)):
            axis = Axis(name, values, log)
            self.assertEqual((axis.tics(), axis.log), (tics, is_log))
            self.assertLess(axis.ends()[0], axis.place(values[0]))
            self.assertGreater(axis.ends()[1], axis.place(values[-1]))
            self.assertGreater(axis.beside(values[-1], 1), axis.place(values[-1]))

    def test_axes_are_named_with_units_and_logarithmic_where_asked(self):
        runs = [won("clh_nb", 50, patience_ns=value, cpus=2) for value in (1000, 2000)]
        for log, wanted in (("none", None), ("x", "x"), ("y", "y"), ("xy", "xy")):
            text = script(figure_of(runs, x="patience_ns", log=log))
            self.assertIn('set xlabel "patience (us)" ', text)
            self.assertIn('set ylabel "success rate (%)"', text)
            found = re.search(r"^set logscale (\w+)$", text, re.M)
            self.assertEqual(found and found[1], wanted)

    def test_panels_of_a_figure_share_their_y_axis(self):
        runs = [run("clh_nb", point={"cpus": 1, "retry": retry}, longest_gap_ns=gap)
                for retry, gap in (("at_once", 10**6), ("back_off", 9 * 10**6))]
        text = script(figure_of(runs, y="longest_gap_ms", panel="retry"))
        self.assertEqual(len(set(re.findall(r"set yrange \[.*?:9.*?\]", text))), 1)

    def test_panels_of_a_figure_that_may_be_below_0_have_their_own(self):
        context = Context(1, {"clh_nb": 0})
        runs = [run("clh_nb", point={"cpus": 2, "retry": retry}, elapsed_ns=elapsed,
                    acquisitions=10, cs_ns=10_000)
                for retry, elapsed in (("at_once", 200_000), ("back_off", 50_000))]
        text = script(figure_of(runs, context, y="tx_us", panel="retry"))
        # 10 us and -5 us, with a twentieth of room beyond
        self.assertEqual(re.findall(r"set yrange \[(.*?)\]", text)[:2],
                         ["0:10.5", "-5.25:0.25"])

    def test_a_median_near_0_is_on_a_logarithmic_axis_though_a_round_is_below(self):
        context = Context(1, {"clh_nb": 0})
        runs = [run("clh_nb", number, elapsed_ns=elapsed, acquisitions=10, cs_ns=10_000)
                for number, elapsed in enumerate((50_000, 101_000, 300_000))]
        text = script(figure_of(runs, context, y="tx_us", log="y"))
        lowest = float(re.search(r"set yrange \[(.*?):", text)[1])
        self.assertLess(lowest, 0.1)
        self.assertEqual(block(text, "clh_nb")[0][1], "0.1")

    def test_where_cpus_outnumber_the_cores_is_marked(self):
        runs = [won("clh_nb", 50, cpus=cpus) for cpus in (1, 2, 4)]
        self.assertIn("set arrow from 2,graph 0 to 2,graph 1", script(figure_of(runs)))
        for cores in (3, 4):	# none of the values; nothing is right of it
            self.assertNotIn("set arrow from", script(figure_of(runs, Context(cores))))

    def test_many_numbers_of_cpus_are_on_a_logarithmic_axis(self):
        for most, wanted in ((16, False), (64, True)):
            runs = [won("clh_nb", 50, cpus=cpus) for cpus in (1, 2, most)]
            self.assertEqual("set logscale x" in script(figure_of(runs)), wanted)


class Panels(unittest.TestCase):
    def test_a_panel_for_each_value_of_its_axis_at_the_points_that_are_asked_for(self):
        values = (0, 500, 15000, 1000000, "200*cpus", "max")
        runs = [won("clh_nb", 50, cpus=1, patience_ns=value) for value in values]
        for where, titles in (
                ({"patience_ns": values[:4]},
                 ["patience 0", "patience 500 ns", "patience 15 us", "patience 1 ms"]),
                ({"patience_ns": ["max", "200*cpus"]},
                 ["patience 200 ns times CPUs", "patience without end"])):
            figure = figure_of(runs, panel="patience_ns", where=where)
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

    def test_a_panel_without_data_stays_empty(self):
        runs = [won("clh_nb", 50, cpus=1, retry="at_once"),
                run("clh_nb", point={"cpus": 1, "retry": "back_off"})]
        self.assertIn("plot 1/0 notitle", script(figure_of(runs, panel="retry")))


class Names(unittest.TestCase):
    def places(self, text):
        """{lock: how far down the figure its name is}"""
        found = re.findall(r'^set label \d+ "(\w+)" at screen [\d.]+,([\d.]+) ', text, re.M)
        return {lock: 1 - float(place) for lock, place in found}

    def test_each_line_has_its_name_beside_its_end(self):
        runs = [won(lock, percent, cpus=cpus) for lock, percent in
                (("clh_nb", 90), ("mcs_nb", 50), ("tas_b", 10)) for cpus in (1, 2)]
        places = self.places(script(figure_of(runs)))
        self.assertEqual(sorted(places, key=places.get), ["clh_nb", "mcs_nb", "tas_b"])
        # 0 to 104 % over the height of the axis
        height = gnuplot.PANEL[1] - gnuplot.TOP - gnuplot.BOTTOM
        whole = gnuplot.Sheet(1, 0).height
        self.assertAlmostEqual((places["tas_b"] - places["clh_nb"]) * whole, 80 / 104 * height,
                               delta=1)

    def test_a_line_that_ends_early_is_named_where_it_ends(self):
        runs = [won("clh_nb", 90, cpus=1), won("mcs_nb", 10, cpus=1), won("mcs_nb", 50, cpus=8)]
        text = script(figure_of(runs))
        self.assertRegex(text, r"set arrow \d+ from first -0\.\d+,90 to screen .* dt \(1,4\)")
        self.assertRegex(text, r"set arrow \d+ from first 9\.\d+,50 to screen .* dt solid")

    def test_names_do_not_stand_on_one_another(self):
        runs = [won(lock, 50, cpus=cpus) for lock in LOCKS for cpus in (1, 2)]
        places = sorted(self.places(script(figure_of(runs))).values())
        self.assertEqual(len(places), len(LOCKS))
        gap = gnuplot.LABEL_LINE / gnuplot.Sheet(1, 0).height
        for above, below in zip(places, places[1:]):
            self.assertGreater(below - above, 0.99 * gap)

    def test_places_are_near_what_is_wanted_and_inside(self):
        self.assertEqual(gnuplot.spread_out([5, 50], 10, 100), [5, 50])
        self.assertEqual(gnuplot.spread_out([50, 50, 50], 10, 100), [40, 50, 60])
        self.assertEqual(gnuplot.spread_out([0, 0], 10, 100), [0, 10])
        self.assertEqual(gnuplot.spread_out([100, 100], 10, 100), [90, 100])
        self.assertEqual(gnuplot.spread_out([1, 2, 3], 90, 100), [0, 50, 100])
        self.assertEqual(gnuplot.spread_out([], 10, 100), [])

    def test_where_there_is_no_room_for_all_the_grey_ones_are_in_a_note(self):
        names = [f"lock{number}" for number in range(30)]
        text = script(figure_of([won(lock, 50) for lock in ("clh_nb", *names)]))
        self.assertEqual(list(self.places(text)), ["clh_nb"])
        self.assertIn("Grey, without a name: lock0, lock1,", text)


class Text(unittest.TestCase):
    def test_titles_cannot_break_out_of_their_quotes_and_the_machine_stands_below(self):
        text = script(figure_of([won("clh_nb", 1)], title='a "b" \\ c'))
        self.assertIn("\"a 'b' / c\"", text)
        folder = mock.Mock(machine={"cores": 2})
        self.assertEqual(plot.subtitle_of(folder, result_of(scenario_of([]))), "user-mode Linux "
                         "7.2.12, 2 cores, 3 rounds: median, least and greatest")


@unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
class Drawn(Folders, unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.path = self.folder / "results"

    def test_svg_and_png_of_each_figure_that_has_data(self):
        plots = [Plot("rate", "Rate", "cpus", "acquisitions_per_second", "y"),
                 Plot("none", "No data", "cpus", "skipped_max"),
                 Plot("late", "Overshoot", "patience_ns", "overshoot_mean_us", "xy", "cpus")]
        scenario = scenario_of(plots, {"cpus": [1, 2, 4], "patience_ns": [0, 1000]})
        del scenario.load["patience_ns"]
        folder_of(self.path, result_of(scenario))
        paths = plot.draw(self.path)
        self.assertEqual([path.name for path in paths],
                         ["trial-rate.svg", "trial-rate.png", "trial-late.svg",
                          "trial-late.png"])
        for path in paths:
            if path.suffix == ".png":
                self.assertEqual(path.read_bytes()[:4], b"\x89PNG")
            else:	# librsvg draws nothing of a picture with such a matrix
                self.assertNotIn("scale(0)", re.sub(r"scale\(0\.00\)", "scale(0)",
                                                    path.read_text()))
                self.assertNotIn("<title>", path.read_text())	# gnuplot's, as it writes it
        locks = {"rate": LOCKS, "late": (*OURS, "raw_trylock", "tas_b_try", "clh_try",
                                         "mcs_try", "clh_nb_paper", "mcs_nb_paper")}
        for name, wanted in locks.items():
            root = ElementTree.parse(self.path / f"figures/trial-{name}.svg").getroot()
            words = [text.strip() for text in root.itertext()]
            there = [word for word in words if word in LOCKS]
            self.assertEqual(set(there), set(wanted))
            # A name in each panel that has a line: nobody is late with a core for each CPU.
            panels = {"rate": 2, "late": 1}[name]
            self.assertEqual(len(there), panels * len(set(wanted)))
        self.assertEqual(plot.draw(self.path), paths)	# again, over the old ones

    def test_gnuplot_draws_every_metric(self):
        plots = [Plot(f"{name.replace('_', '-')}-{log}", name, "cpus", name, log)
                 for name in METRICS for log in ("none", "xy")]
        folder_of(self.path, result_of(scenario_of(plots)))
        figures = plot.figures_of(open_folder(self.path))["trial"]
        drawable = [figure for figure in figures if not figure.empty]
        self.assertGreater(len(drawable), 50)
        with mock.patch.object(plot, "FORMATS", ("svg",)):
            self.assertEqual(len(plot.draw(self.path)), len(drawable))

    def test_what_gnuplot_does_not_understand_is_a_sentence(self):
        with self.assertRaisesRegex(Trouble, "could not draw x.svg"):
            gnuplot.run_gnuplot("set nonsense\n", Path("x.svg"))


class Gnuplot(unittest.TestCase):
    def test_an_old_one_or_none_is_a_sentence(self):
        for answer, refused in (("gnuplot 5.2 patchlevel 8", "5.4 or later"),
                                ("nonsense", "5.4 or later"), (FileNotFoundError, "not installed"),
                                ("gnuplot 5.4 patchlevel 4", ""), ("gnuplot 6.0 patchlevel 0", "")):
            done = {"return_value": mock.Mock(stdout=answer)} if isinstance(answer, str) else {
                "side_effect": answer}
            with mock.patch("subprocess.run", **done):
                if refused:
                    self.assertRaisesRegex(Trouble, refused, gnuplot.gnuplot)
                else:
                    self.assertEqual(gnuplot.gnuplot(), "gnuplot")
