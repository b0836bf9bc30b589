# SPDX-License-Identifier: GPL-2.0
"""report.py: all of the report comes from the folder, and a browser can read it."""

import importlib.util
from pathlib import Path
import re
import unittest
from unittest import mock

from bench import findings, metrics, plot, report
from bench import scenario_file
from bench.results import COUNTS, as_json, open_folder, write_new
from bench.scenario import Finding, Plot
from bench.test.samples import Folders
from bench.test.synthetic import folder_of, made_up, result_of
from bench.test.test_plot import scenario_of
from testbed.common import Trouble

RATES = [Plot("rates", "Rates", "cpus", "acquisitions_per_second")]
EXPERIMENTS = ("busy-host", "figure5", "figure6", "hybrid", "passing", "preempted",
               "short-patience", "stalled-neighbours")
# Those that are simulated, too, and those that are nothing else.
COUNTERPARTS = ("figure5", "figure6", "hybrid", "preempted", "short-patience")
SIMULATED = ("bypass", "mixed-patience", "overcommit", "scale", "table1-contended", "turns")


def experiment(name):
    path = scenario_file.SCENARIOS / f"{name}.ini"
    return scenario_file.read(path, metrics.METRICS, findings.check)


def simulated_experiments():
    return [experiment(name).on("simulated") for name in (*COUNTERPARTS, *SIMULATED)]


def rated(rates):
    """For result_of(): {lock: acquisitions per second}, in every round and point."""
    def made(scenario, lock, number, point):
        whole = made_up(scenario, lock, number, point)
        seconds = whole["elapsed_ns"] / 1e9
        won = round(rates.get(lock, 1000) * seconds)
        return {**whole, "attempts": won, "acquisitions": won}
    return made


class Reports(Folders, unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.path = self.folder / "results"

    def text(self, *found):
        """The report of a new folder."""
        self.path = self.path.with_name(f"{self.path.name}-again")
        return report.text_of(open_folder(folder_of(self.path, *found)))


class Scenarios(unittest.TestCase):
    def test_every_file_is_one_and_can_be_quickened(self):
        names = sorted(path.stem for path in scenario_file.SCENARIOS.glob("*.ini"))
        self.assertLessEqual(set(EXPERIMENTS), set(names))
        for name in names:
            with self.subTest(name=name):
                scenario = experiment(name)
                self.assertLess(scenario.quickened().seconds(2), 60)
                # Four are enough to tell a change, and no machine disturbs seeds.
                self.assertGreaterEqual(scenario.rounds, 4 if scenario.is_simulated else 5)

    def test_all_take_half_an_hour_at_most_on_two_cores(self):
        seconds = sum(experiment(name).seconds(2) for name in EXPERIMENTS)
        self.assertLess(seconds, 30 * 60)

    def test_what_is_simulated_takes_twenty_minutes_at_most_on_two_cores(self):
        self.assertEqual(set(COUNTERPARTS), {
            path.stem for path in scenario_file.SCENARIOS.glob("*.ini")
            if experiment(path.stem).simulated is not None})
        plans = simulated_experiments()
        self.assertLess(sum(plan.seconds(2) for plan in plans), 20 * 60)
        self.assertLess(sum(plan.quickened().seconds(2) for plan in plans), 60)
        for plan in plans:
            self.assertGreaterEqual(plan.rounds, 4)

    def test_every_simulated_finding_has_data_in_a_quick_pass_but_of_what_is_not_there(self):
        results = {plan.name: result_of(plan.quickened())
                   for plan in simulated_experiments()}
        folder = mock.Mock(machine={"cores": 2}, scenarios=results)
        unknown = {}
        for each in report.evaluations(folder, True):
            if each.evaluation.word == findings.UNKNOWN:
                unknown[each.result.name, each.finding.name] = each.evaluation.missing
        self.assertEqual({name for missing in unknown.values() for name in missing
                          if "rqspinlock" not in name}, set())

    def test_every_finding_has_data_in_a_quick_pass(self):
        folder = mock.Mock(
            machine={"cores": 2}, scenarios={"figure5": result_of(experiment("figure5"))})
        context = plot.context_for(folder, folder.scenarios["figure5"])
        for name in EXPERIMENTS:
            scenario = experiment(name).quickened()
            result = result_of(scenario)
            for finding in scenario.findings:
                with self.subTest(experiment=name, finding=finding.name):
                    word = findings.evaluated(finding.holds, result.runs, context).word
                    self.assertNotEqual(word, findings.UNKNOWN)


class Contents(Reports):
    def test_every_figure_is_there_once(self):
        results = [result_of(experiment(name).quickened()) for name in EXPERIMENTS]
        with mock.patch.object(Path, "exists", return_value=True):
            text = self.text(*results)
        for result in results:
            for wanted in result.plan.plots:
                line = f".. figure:: figures/{result.name}-{wanted.name}.svg\n"
                self.assertEqual(text.count(line), 1, line)

    def test_the_machine_the_command_and_medians_with_their_range(self):
        scenario = scenario_of([Plot("s", "S", "cpus", "success_rate"),
                                Plot("w", "Walks", "cpus", "skipped_max")], {"cpus": [2]})
        scenario.locks = ["tas_b"]

        def made(scenario, lock, number, point):
            return {**made_up(scenario, lock, number, point), "attempts": 1000,
                    "acquisitions": (100, 900, 500)[number]}
        text = self.text(result_of(scenario, made))
        for part in ("7.2.12 (uml)", "A processor", ":Cores: 2", "0123456789ab",
                     "2026-01-02T03:04:05Z", "nbq bench figure5", ":Rounds: 3",
                     ":Kernel of the host: 6.1.0\n", "*S*: not drawn.", "*Walks*: no data.",
                     '"lock","2 CPUs"\n   "tas_b","50 (10 to 90)"'):
            self.assertIn(part, text)
        self.assertNotIn(".. figure::", text)

    def test_a_metric_gets_a_table_for_each_value_of_other_axes(self):
        scenario = scenario_of([Plot("s", "S", "cpus", "success_rate", "none", "retry")],
                               {"cpus": [2, 4], "retry": ["at_once", "back_off"]})
        text = self.text(result_of(scenario))
        for words in ("retry at once", "back off, then retry"):
            self.assertIn(f"Success rate (%), {words}: median", text)

    def test_how_busy_the_host_was_is_said_where_it_was_asked_for(self):
        text = self.text(result_of(experiment("busy-host").quickened()))
        self.assertIn("The host: no busy processes on 2 cores; 2 busy processes on 2 cores, which "
                      "had 50 % of them; 4 busy processes on 2 cores, which had 67 % of them.",
                      text)
        self.assertIn("Acquisitions (1/s), busy processes a core 2: median", text)
        self.assertNotIn("The host:", self.text(result_of(experiment("preempted").quickened())))

    def test_a_result_that_was_stopped_says_so(self):
        result = result_of(scenario_of([Plot("s", "S", "cpus", "success_rate")]))
        self.assertNotIn("Incomplete", self.text(result))
        result.complete = False
        self.assertIn("**Incomplete**", self.text(result))

    def test_failed_runs_are_listed_and_not_counted(self):
        scenario = scenario_of([Plot("s", "S", "cpus", "success_rate")], {"cpus": [2]})
        scenario.locks = ["mcs", "clh"]
        result = result_of(scenario, verdict=lambda run: "FAIL two holders were seen"
                           if run.lock == "mcs" else "PASS")
        text = self.text(result)
        self.assertEqual(text.count('"FAIL two holders were seen"'), 3)
        self.assertIn('"trial","mcs","2 CPUs","2","FAIL', text)
        self.assertNotIn('"mcs","100', text)
        self.assertRegex(self.text(result_of(scenario)), "Runs that failed\n=+\n\nNone.")

    def test_table_1_comes_first_where_there_is_one(self):
        made = ["lock", "ns"], [["tas_b", 19]], ["A note_."]
        with mock.patch.object(report.table1, "table", return_value=made):
            text = self.text(result_of(experiment("figure5").quickened()))
        self.assertIn('"lock","ns"\n   "tas_b","19"\n\nA note\\_.', text)
        self.assertLess(text.index("Table 1"), text.index("Passing time and success rate"))


class Evaluated(Reports):
    def finding(self, holds, why=None):
        scenario = scenario_of([], {"cpus": [2]})
        scenario.locks = ["tas_b", "mcs"]
        scenario.findings = [Finding("f", "Test-and-set is faster.", holds, "A claim", why)]
        return self.text(result_of(scenario, rated({"tas_b": 3000, "mcs": 1000})))

    def test_a_finding_stands_beside_the_paper_with_its_numbers_and_a_reason_if_it_fails(self):
        for holds, parts, has_reason in (
                ("acquisitions_per_second(tas_b) > 2 * acquisitions_per_second(mcs)",
                 (":Paper: Test-and-set is faster.", '"A claim","trial","**holds**"',
                  ":Here: **Holds**: 3 000 > 2 \\* 1 000, as acquisitions_per_second(tas_b)"
                  " = 3 000 1/s (3 000 to 3 000)", "Of 1 findings 1 hold here."), False),
                ("acquisitions_per_second(tas_b) < acquisitions_per_second(mcs)",
                 (":Here: **Does not hold**: 3 000 < 1 000",), True),
                ("skipped_max(tas_b) < 1",
                 (":Here: **Cannot be said**: no data for skipped_max(tas_b).",), False)):
            text = self.finding(holds, "A reason.")
            for part in parts:
                self.assertIn(part, text)
            self.assertEqual(":Why: A reason." in text, has_reason)

    def test_the_reason_is_also_for_what_the_medians_deny(self):
        scenario = scenario_of([], {"cpus": [2]})
        scenario.locks = ["tas_b", "mcs"]
        scenario.findings = [
            Finding("f", "A finding.", f"acquisitions_per_second(mcs) {sign} "
                    "acquisitions_per_second(tas_b)", f"A claim {sign}", f"A reason {sign}.")
            for sign in "<>"]

        def made(scenario, lock, number, point):
            return {**made_up(scenario, lock, number, point), "acquisitions":
                    (100, 900, 500)[number] - (lock == "mcs")}
        text = self.text(result_of(scenario, made))
        self.assertEqual(text.count(":Here: **Not clear"), 2)
        self.assertIn(":Why: A reason >.", text)
        self.assertNotIn("A reason <", text)


class ManyProcessors(Reports):
    def plan(self, testbed, name, sweep, holds):
        scenario = scenario_of(RATES, sweep)
        scenario.name, scenario.testbed, scenario.rounds = name, testbed, 4
        scenario.locks = ["clh_nb", "qspinlock"] if testbed == "simulated" else [
            "clh_nb", "raw_spinlock"]
        if testbed == "simulated":
            del scenario.load["duration_ms"]
        scenario.findings = [Finding("f", "It is.", holds, "A claim", "A reason.")]
        return scenario

    def texts(self):
        """The report's two halves; simulated with a loss on 8 sockets only."""
        holds = "acquisitions_per_second(raw_spinlock, cpus=max) > 400"
        here = self.plan("uml", "trial", {"cpus": [2]}, holds)
        there = self.plan("simulated", "trial-simulated", {"cpus": [8, 64], "sockets": [1, 8]},
                          holds)

        def measured(scenario, lock, number, point):
            return rated({lock: (300, 500, 300, 500)[number]})(scenario, lock, number, point)

        def simulated(scenario, lock, number, point):
            rate = 500 if point["sockets"] == 1 else 100
            whole = made_up(scenario, lock, number, point)
            return {**whole, "elapsed_ns": 10**9, "attempts": rate, "acquisitions": rate}
        text = self.text(result_of(here, measured), result_of(there, simulated))
        at = text.index("Many processors (simulated)\n===")
        return text[:at], text[at:]

    def test_a_finding_is_judged_for_each_machine_beside_what_it_is_here(self):
        with mock.patch.object(Path, "exists", return_value=True):
            measured, text = self.texts()
        self.assertIn("Of 1 findings 1 are not clear", measured)
        self.assertNotIn("trial-simulated", measured)
        self.assertNotIn("qspinlock", measured)
        for part in ('"A claim","trial-simulated","1 socket","is not clear","**holds**"',
                     '"A claim","trial-simulated","8 sockets","is not clear","**does not hold**"',
                     ":Simulated 8 sockets: **Does not hold**: 100 > 400",
                     "Not clear on 2 cores, and hold on the simulated machine: A claim (1 socket)",
                     "and do not hold on the simulated machine: A claim (8 sockets).",
                     "Cost table: A."):
            self.assertIn(part, text)
        titles = re.findall(r"^   :alt: (.*)$", text, re.M) + re.findall(
            r"^.*: median \(least to greatest\)$", text, re.M)
        self.assertGreaterEqual(len(titles), 5)
        for title in titles:
            self.assertIn("simulated, cost table A", title)

    def test_the_cores_are_the_simulated_machines_also_in_a_figure(self):
        plan = self.plan("simulated", "s", {"cpus": [8, 64]}, "")
        result = result_of(plan, made_up)
        folder = mock.Mock(machine={"cores": 2}, scenarios={"s": result})
        self.assertEqual(plot.context_for(folder, result).cores, 64)
        plan.load["cores"] = 8
        self.assertEqual(plot.context_for(folder, result).cores, 8)
        self.assertEqual(plot.subtitle_of(folder, result),
                         "Simulated, cost table A, 8 cores, 4 seeds: median, least and greatest")

    def test_the_passing_time_for_tx_is_that_of_the_same_machine(self):
        figure5 = experiment("figure5").on("simulated")

        def made(scenario, lock, number, point):
            whole = made_up(scenario, lock, number, point)
            return {**whole, "elapsed_ns": 1000 * point["sockets"] + 229, "acquisitions": 1}
        measured = result_of(figure5, made)
        figure6 = result_of(experiment("figure6").on("simulated"), made_up)
        folder = mock.Mock(machine={"cores": 2}, scenarios={"figure5-simulated": measured})
        self.assertEqual(plot.context_for(folder, figure6).passing_ns["clh_nb"], 1000)
        self.assertEqual(plot.context_for(folder, figure6, {"sockets": 8})
                         .passing_ns["clh_nb"], 8000)

    def test_a_folder_of_nothing_else_has_a_title(self):
        plan = self.plan("simulated", "s", {"cpus": [8]}, "jain(clh_nb) > 1")
        folder = folder_of(self.path, result_of(plan, made_up))
        opened = open_folder(folder)
        opened.machine["kernel"] = ""
        self.assertIn("\nQueue locks with timeout, simulated\n", report.text_of(opened))


class Lost(Reports):
    def text_with(self, made, rounds=4, name="trial", **sweep):
        scenario = scenario_of(RATES, sweep or {"cpus": [2]})
        scenario.name, scenario.rounds = name, rounds
        return self.text(result_of(scenario, made))

    def test_ratios_of_ours_to_each_rival_are_clear_by_four_rounds_that_do_not_meet(self):
        rates = rated({"clh_nb": 250, "raw_spinlock": 1000, "rqspinlock": 100, "tas_b": 100000,
                       "tas_b_try": 250})
        self.assertIn('"2 CPUs","clh_nb","**0.25**","2.50","**0.0025**","1.00 ~"',
                      self.text_with(rates))
        self.assertIn('"2 CPUs","clh_nb","0.25 ~"', self.text_with(rates, rounds=3))

        def made(scenario, lock, number, point):
            rate = 1000 if lock != "clh_nb" else (500, 900, 900, 1100)[number]
            return rated({lock: rate})(scenario, lock, number, point)
        text = self.text_with(made)
        self.assertIn('"raw_spinlock","0.90; 0 lost, 0 won of 1"', text)
        self.assertIn('"2 CPUs","clh_nb","0.90 ~"', text)

    def test_a_rival_has_a_median_a_range_and_a_score(self):
        def made(scenario, lock, number, point):
            rate = 1000 if lock != "clh_nb" else {1: 2000, 2: 500, 4: 250}[point["cpus"]]
            return rated({lock: rate})(scenario, lock, number, point)
        text = self.text_with(made, cpus=[1, 2, 4])
        self.assertIn('"against","clh_nb","mcs_nb","swap_nb","nbq_spin"\n'
                      '   "raw_spinlock",'
                      '"0.50 (0.25 to 2.00); 2 lost, 1 won of 3","1.00 (1.00 to 1.00); '
                      '0 lost, 0 won of 3"', text)
        self.assertIn("Of 48 comparisons ours lose 8 clearly and win 4; the other 36 are not "
                      "clear. Acquisitions of ours by those of another lock, at the median of "
                      "all points: raw_spinlock 1.00,", text)

    def test_experiments_are_put_together(self):
        def made(scenario, lock, number, point):
            rate = 1000 if lock != "clh_nb" else {"trial": 500, "other": 3000}[scenario.name]
            return rated({lock: rate})(scenario, lock, number, point)
        one, other = scenario_of(RATES, {"cpus": [2]}), scenario_of(RATES, {"cpus": [2]})
        other.name, one.rounds, other.rounds = "other", 4, 4
        text = self.text(result_of(one, made), result_of(other, made))
        part = text[text.index("All experiments\n---"):]
        self.assertIn('"raw_spinlock","1.75 (0.50 to 3.00); 1 lost, 1 won of 2"', part)
        self.assertEqual(text.count('"raw_spinlock","0.50; 1 lost, 0 won of 1"'), 1)
        self.assertNotIn("All experiments", self.text(result_of(one, made)))


class Alone(Reports):
    def result(self, name, times):
        def made(_scenario, lock, _number, _point):
            return {"elapsed_ns": 1000 * times[lock], "acquisitions": 1000,
                    "empty_loop_ps": 5000}
        scenario = scenario_file.read(scenario_file.SCENARIOS / f"{name}.ini")
        scenario.locks = list(times)
        return result_of(scenario, made)

    def test_what_ours_cost_more_is_said_in_time_and_instructions(self):
        folder = folder_of(self.path,
                           self.result("table1", {"clh_nb": 65, "raw_spinlock": 25}),
                           self.result("table1-instructions",
                                       {"clh_nb": 105, "raw_spinlock": 20, "tas_b": 200}))
        write_new(folder / COUNTS, as_json({"format": 1, "locks": {
            lock: {"atomics": number, "reads": 1, "writes": 1, "min": 1, "max": 1,
                   "tally_writes": 3} for lock, number in (("clh_nb", 2), ("tas_b", 1))}}))
        text = report.text_of(open_folder(folder))
        self.assertIn('"clh_nb","raw_spinlock","+40","3.00","+85","\\-"', text)
        self.assertIn('"clh_nb","tas_b","\\-","\\-","-95","+1"', text)


class Space(Reports):
    def test_the_most_nodes_of_all_runs_and_for_each_thread(self):
        def made(scenario, lock, number, point):
            nodes = {1: 5, 2: 6, 4: 8}[point["cpus"]] if lock == "clh_nb" else 0
            return {**made_up(scenario, lock, number, point), "nodes_max": nodes}
        text = self.text(result_of(scenario_of(RATES, {"cpus": [1, 2, 4]}), made))
        part = text[text.index("Space\n====="):text.index("Where ours lose")]
        self.assertIn('"clh_nb","8 (5)"', part)
        self.assertNotIn("raw_spinlock", part)


class Pages(Reports):
    def test_markup_in_text_is_harmless(self):
        for text, safe in (("a*b*", "a\\*b\\*"), ("clh_nb", "clh_nb"), ("x_ y", "x\\_ y"),
                           ("`a` |b|", "\\`a\\` \\|b\\|"), ("a\\b", "a\\\\b")):
            self.assertEqual(report.escaped(text), safe)

    def test_both_forms_are_written_and_docutils_has_nothing_to_say(self):
        if not importlib.util.find_spec("docutils"):
            self.skipTest("docutils is not installed")
        results = [result_of(experiment(name).quickened()) for name in EXPERIMENTS]
        results[0].runs[0].verdict = "FAIL `x` *y* z_"
        folder_of(self.path, *results)

        def draw(folder):
            for figures in plot.figures_of(open_folder(folder)).values():
                for figure in figures:
                    (folder / "figures").mkdir(exist_ok=True)
                    (folder / f"figures/{figure.name}.svg").write_text("<svg/>")
        with mock.patch.object(plot, "draw", side_effect=draw), \
                mock.patch("sys.stderr") as errors:
            path = report.write(self.path)
        self.assertEqual(errors.write.call_args_list, [])
        self.assertEqual(path.name, "report.html")
        page = path.read_text()
        self.assertNotIn('class="system-message', page)
        self.assertNotIn("<td><ul", page)	# a dash by itself begins a list
        self.assertIn('<meta charset="utf-8"', page)
        figures = re.findall(r'src="(figures/[\w.-]+)"', page)
        drawable = [figure for found in plot.figures_of(open_folder(self.path)).values()
                    for figure in found if not figure.empty]
        self.assertEqual(len(figures), len(drawable))
        for name in figures:
            self.assertTrue((self.path / name).exists())
        self.assertEqual((self.path / "report.rst").read_text(),
                         report.text_of(open_folder(self.path)))

    def test_a_folder_that_cannot_be_written_is_named(self):
        folder_of(self.path, result_of(scenario_of([])))
        with mock.patch.object(Path, "write_text", side_effect=PermissionError(13, "no")), \
                self.assertRaisesRegex(Trouble, "cannot write .*report.rst: no"):
            report.write(self.path)
        with mock.patch("os.access", return_value=False), \
                self.assertRaisesRegex(Trouble, "cannot write to .*figures"):
            plot.draw(self.path)

    def test_without_figures_or_docutils_the_text_is_written(self):
        folder_of(self.path, result_of(scenario_of([Plot("s", "S", "cpus", "jain")])))
        with mock.patch.object(plot, "draw", side_effect=Trouble("no gnuplot")), \
                mock.patch.object(report, "as_html", return_value=None), \
                mock.patch.object(report, "say") as said:
            path = report.write(self.path)
        self.assertEqual(path.name, "report.rst")
        self.assertIn("*S*: not drawn.", path.read_text())
        self.assertEqual(said.call_count, 2)
