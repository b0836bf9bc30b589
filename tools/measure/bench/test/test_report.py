# SPDX-License-Identifier: GPL-2.0
"""report.py: all of the report comes from the folder, and a browser can read it."""

import importlib.util
from pathlib import Path
import re
import unittest
from unittest import mock

from base.common import Failure
from measure.bench import aims, findings, metrics, plot, report, scenario_file
from measure.bench.test.synthetic import changed_by, folder_of, rated, result_of, scenario_of
from measure.results import COUNTS, as_json, open_folder, write_new
from measure.scenario import Finding, Plot
from measure.test.samples import Folders

RATES = [Plot("rates", "Rates", "cpus", "acquisitions_per_second")]
PAIR = {"sweep": {"cpus": [2]}, "locks": ["tas_b", "mcs"]}


def experiment(name):
    path = scenario_file.SCENARIOS / f"{name}.ini"
    return scenario_file.read(path, metrics.METRICS, findings.check)


def experiments():
    """All that are shipped, and on the simulated testbed those that are for it as well."""
    for path in sorted(scenario_file.SCENARIOS.glob("*.ini")):
        plan = experiment(path.stem)
        yield plan
        if plan.simulated is not None:
            yield plan.on("simulated")


class Reports(Folders, unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.path = self.folder / "results"

    def text(self, *found):
        """The report of a new folder."""
        self.path = self.path.with_name(f"{self.path.name}-again")
        return report.text_of(open_folder(folder_of(self.path, *found)))


class Shipped(unittest.TestCase):
    def test_a_pass_takes_as_long_as_one_waits_and_its_rounds_are_enough(self):
        seconds = {"uml": 0, "simulated": 0}
        quick = dict(seconds)
        for plan in experiments():
            # Four are enough to tell a change, and no machine disturbs seeds.
            self.assertGreaterEqual(plan.rounds, 4 if plan.is_simulated else 5, plan.name)
            self.assertLess(plan.quickened().seconds(2), 180, plan.name)
            if plan.testbed in seconds:
                seconds[plan.testbed] += plan.seconds(2)
                quick[plan.testbed] += plan.quickened().seconds(2)
        self.assertLess(seconds["uml"], 32 * 60)
        self.assertLess(seconds["simulated"], 20 * 60)
        self.assertLess(quick["simulated"], 60)

    def test_every_finding_and_every_aim_has_data_in_a_quick_pass_but_of_what_is_not_there(self):
        results = {plan.name: result_of(plan.quickened()) for plan in experiments()}
        folder = mock.Mock(machine={"cores": 2}, scenarios=results)
        for simulated in (False, True):
            found = [each.evaluation for each in report.evaluations(folder, simulated)]
            self.assertGreater(len(found), 20)
            missing = {name for each in found for name in each.missing}
            self.assertEqual([name for name in missing
                              if not simulated or "rqspinlock" not in name], [])
            self.assertEqual([each.aim.name for each in aims.verdicts(folder, simulated)
                              if each.word == aims.UNKNOWN], [])


class Contents(Reports):
    def test_every_figure_is_there_once_and_the_host_where_it_was_asked_for(self):
        results = [result_of(plan.quickened()) for plan in experiments() if plan.testbed == "uml"]
        with mock.patch.object(Path, "exists", return_value=True), \
                mock.patch.object(report.table1, "counts_in", return_value={}):
            text = self.text(*results)
        for result in results:
            for wanted in result.plan.plots:
                line = f".. figure:: figures/{result.name}-{wanted.name}.svg\n"
                self.assertEqual(text.count(line), 1, line)
        self.assertLess(text.index("Table 1"), text.index("Passing time and success rate"))
        self.assertEqual(text.count("The host:"), 1)
        self.assertIn("The host: no busy processes on 2 cores; 2 busy processes on 2 cores, which "
                      "had 50 % of them; 4 busy processes on 2 cores, which had 67 % of them.",
                      text)
        self.assertIn("Acquisitions per second, busy processes for each core: 2: median", text)

    def test_the_machine_the_command_and_medians_with_their_range(self):
        scenario = scenario_of([Plot("s", "S", "cpus", "success_rate"),
                                Plot("w", "Walks", "cpus", "skipped_max")], **PAIR)
        result = result_of(scenario, changed_by(lambda lock, number, point: {
            "attempts": 1000, "acquisitions": (100, 900, 500)[number]}))
        text = self.text(result)
        for part in ("7.2.12 (uml)", "A processor", ":Cores: 2", "0123456789ab",
                     "2026-01-02T03:04:05Z", "nbq bench figure5", ":Rounds: 3",
                     ":Kernel of the host: 6.1.0\n", "*S*: not drawn.", "*Walks*: no data.",
                     '"lock","2 CPUs"\n   "tas_b","50 (10 to 90)"'):
            self.assertIn(part, text)
        self.assertNotIn(".. figure::", text)
        self.assertNotIn("Incomplete", text)
        result.complete = False
        self.assertIn("**Incomplete**", self.text(result))
        self.assertNotIn("busy", self.text(result))
        result.host = {"load_average": 2.5, "cores": 2, "others_permille": 0}
        text = self.text(result)
        self.assertIn("**The host was busy", text)
        self.assertIn(":Other work: load average 2.5", text)

    def test_a_metric_gets_a_table_for_each_value_of_other_axes(self):
        text = self.text(result_of(scenario_of(
            [Plot("s", "S", "cpus", "success_rate", "none", "retry")],
            {"cpus": [2, 4], "retry": ["at_once", "back_off"]})))
        for words in ("retry at once", "back off, then retry"):
            self.assertIn(f"Attempts that succeed (%), {words}: median", text)

    def test_loads_of_whole_kernels_have_tables_without_a_figure(self):
        text = self.text(result_of(experiment("kernel-others").quickened()))
        self.assertIn("Beside the kernel's own lock\n---", text)
        self.assertIn("Operations per second, load make: median", text)

    def test_failed_runs_are_listed_and_not_counted(self):
        scenario = scenario_of([Plot("s", "S", "cpus", "success_rate")], {"cpus": [2]},
                               ["mcs", "clh"])
        text = self.text(result_of(scenario, verdict=lambda run: "FAIL two holders were seen"
                                   if run.lock == "mcs" else "PASS"))
        self.assertEqual(text.count('"FAIL two holders were seen"'), 3)
        self.assertIn('"trial","mcs","2 CPUs","2","FAIL', text)
        self.assertNotIn('"mcs","100', text)
        self.assertRegex(self.text(result_of(scenario)), "Runs that failed\n=+\n\nNone.")

    def test_the_most_nodes_of_all_runs_and_for_each_thread(self):
        text = self.text(result_of(scenario_of(RATES), changed_by(
            lambda lock, number, point: {"nodes_max": {1: 5, 2: 6, 4: 8}[point["cpus"]]
                                         if lock == "clh_nb" else 0})))
        part = text[text.index("Space\n====="):text.index("Where ours lose")]
        self.assertIn('"clh_nb","8 (5)"', part)
        self.assertNotIn("raw_spinlock", part)


class Evaluated(Reports):
    def text_with(self, rate, *holds):
        scenario = scenario_of(**PAIR)
        scenario.findings = [Finding("f", "Test-and-set is faster.", each, f"A claim {number}",
                                     f"A reason {number}.") for number, each in enumerate(holds)]
        return self.text(result_of(scenario, rated(rate)))

    def test_a_finding_stands_beside_the_paper_with_its_numbers_and_a_reason_if_it_fails(self):
        tas, mcs = "acquisitions_per_second(tas_b)", "acquisitions_per_second(mcs)"
        for holds, parts, has_reason in (
                (f"{tas} > 2 * {mcs}",
                 (":Paper: Test-and-set is faster.", '"A claim 0","trial","**holds**"',
                  f":Here: **Holds**: 3 000 > 2 \\* 1 000, as {tas} = 3 000 1/s (3 000 to 3 000)",
                  "Of 1 findings 1 hold here."), False),
                (f"{tas} < {mcs}", (":Here: **Does not hold**: 3 000 < 1 000",), True),
                ("skipped_max(tas_b) < 1",
                 (":Here: **Cannot be said**: no data for skipped_max(tas_b).",), False)):
            text = self.text_with(lambda lock, *_: {"tas_b": 3000}.get(lock), holds)
            for part in parts:
                self.assertIn(part, text)
            self.assertEqual(":Why: A reason" in text, has_reason)
        # It is also for what the medians deny.
        text = self.text_with(lambda lock, number, _: (100, 900, 500)[number] - (lock == "mcs"),
                              f"{mcs} < {tas}", f"{mcs} > {tas}")
        self.assertEqual(text.count(":Here: **Not clear"), 2)
        self.assertIn(":Why: A reason 1.", text)
        self.assertNotIn("A reason 0", text)


class ManyProcessors(Reports):
    def plan(self, name, sweep, holds, other="qspinlock"):
        scenario = scenario_of(RATES, sweep, ["clh_nb", other], name, 4)
        if other == "qspinlock":
            scenario.testbed = "simulated"
            del scenario.load["duration_ms"]
        scenario.findings = [Finding("f", "It is.", holds, "A claim", "A reason.")]
        return scenario

    def test_a_finding_is_judged_for_each_machine_beside_what_it_is_here(self):
        holds = "acquisitions_per_second(raw_spinlock, cpus=max) > 400"
        here = result_of(self.plan("trial", {"cpus": [2]}, holds, "raw_spinlock"),
                         rated(lambda lock, number, point: (300, 500, 300, 500)[number]))
        # With a loss on 8 sockets only.
        there = result_of(self.plan("trial-simulated", {"cpus": [8, 64], "sockets": [1, 8]}, holds),
                          rated(lambda lock, number, point: 500 if point["sockets"] == 1 else 100))
        with mock.patch.object(Path, "exists", return_value=True), \
                mock.patch.object(report.table1, "counts_in", return_value={}):
            text = self.text(here, there)
        at = text.index("Many processors (simulated)\n===")
        measured, text = text[:at], text[at:]
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

    def test_the_cores_and_the_passing_time_for_tx_are_those_of_the_simulated_machine(self):
        plan = self.plan("s", {"cpus": [8, 64]}, "")
        result = result_of(plan)
        folder = mock.Mock(machine={"cores": 2}, scenarios={"s": result})
        self.assertEqual(plot.context_for(folder, result).cores, 64)
        plan.load["cores"] = 8
        self.assertEqual(plot.context_for(folder, result).cores, 8)
        for run in result.runs[:1]:
            run.result["costs"] = "B"
            run.point = {**run.point, "costs": "b"}
        for where, tables in (({}, "tables A and B"), ({"costs": ["b"]}, "table B")):
            self.assertEqual(
                plot.subtitle_of(folder, result, Plot("one", "A title", where=where)),
                f"Simulated, cost {tables}, 8 cores, 4 seeds (mark: median; bar: least to "
                "greatest)")
        folder.scenarios["figure5-simulated"] = result_of(
            experiment("figure5").on("simulated"), changed_by(lambda lock, number, point: {
                "elapsed_ns": 1000 * point["sockets"] + 229, "acquisitions": 1}))
        figure6 = result_of(experiment("figure6").on("simulated"))
        for where, wanted in (({}, 1000), ({"sockets": 8}, 8000)):
            self.assertEqual(plot.context_for(folder, figure6, where).passing_ns["clh_nb"], wanted)

    def test_a_folder_of_nothing_else_has_a_title(self):
        opened = open_folder(folder_of(self.path, result_of(
            self.plan("s", {"cpus": [8]}, "jain(clh_nb) > 1"))))
        opened.machine["kernel"] = ""
        self.assertIn("\nQueue locks with timeout, simulated\n", report.text_of(opened))


class Lost(Reports):
    def result(self, rate, name="trial", rounds=4, cpus=(2,)):
        return result_of(scenario_of(RATES, {"cpus": list(cpus)}, name=name, rounds=rounds),
                         rated(rate))

    def test_ratios_of_ours_to_each_rival_are_clear_by_four_rounds_that_do_not_meet(self):
        def rate(lock, *_):
            return {"clh_nb": 250, "rqspinlock": 100, "tas_b": 100000, "tas_b_try": 250}.get(lock)
        self.assertIn('"2 CPUs","clh_nb","**0.25**","2.50","**0.0025**","1.00 ~"',
                      self.text(self.result(rate)))
        self.assertIn('"2 CPUs","clh_nb","0.25 ~"', self.text(self.result(rate, rounds=3)))
        text = self.text(self.result(lambda lock, number, _: (500, 900, 900, 1100)[number]
                                     if lock == "clh_nb" else None))
        self.assertIn('"raw_spinlock","0.90; 0 lost, 0 won of 1"', text)
        self.assertIn('"2 CPUs","clh_nb","0.90 ~"', text)

    def test_a_rival_has_a_median_a_range_and_a_score(self):
        text = self.text(self.result(
            lambda lock, _, point: {1: 2000, 2: 500, 4: 250}[point["cpus"]]
            if lock == "clh_nb" else None, cpus=(1, 2, 4)))
        self.assertIn('"against","clh_nb","mcs_nb","swap_nb","nbq_spin"\n'
                      '   "raw_spinlock",'
                      '"0.50 (0.25 to 2.00); 2 lost, 1 won of 3","1.00 (1.00 to 1.00); '
                      '0 lost, 0 won of 3"', text)
        self.assertIn("Of 48 comparisons ours lose 8 clearly and win 4; the other 36 are not "
                      "clear. Acquisitions of ours by those of another lock, at the median of "
                      "all points: raw_spinlock 1.00,", text)

    def test_experiments_are_put_together(self):
        one, other = (self.result(lambda lock, *_, rate=rate: rate if lock == "clh_nb" else None,
                                  name) for name, rate in (("trial", 500), ("other", 3000)))
        text = self.text(one, other)
        part = text[text.index("All experiments\n---"):]
        self.assertIn('"raw_spinlock","1.75 (0.50 to 3.00); 1 lost, 1 won of 2"', part)
        self.assertEqual(text.count('"raw_spinlock","0.50; 1 lost, 0 won of 1"'), 1)
        self.assertNotIn("All experiments", self.text(one))

    def test_what_ours_cost_more_alone_is_said_in_time_and_instructions(self):
        def result(name, **ns):
            scenario = scenario_file.read(scenario_file.SCENARIOS / f"{name}.ini")
            scenario.locks = list(ns)
            return result_of(scenario, lambda scenario, lock, number, point: {
                "elapsed_ns": 1000, "acquisitions": 1, "pair_ps": 1000 * ns[lock]})
        folder = folder_of(self.path, result("table1", clh_nb=60, raw_spinlock=20),
                           result("table1-instructions", clh_nb=100, raw_spinlock=15, tas_b=195))
        write_new(folder / COUNTS, as_json({"format": 1, "locks": {
            lock: {"atomics": number, "reads": 1, "writes": 1, "min": 1, "max": 1,
                   "tally_writes": 3} for lock, number in (("clh_nb", 2), ("tas_b", 1))}}))
        text = report.text_of(open_folder(folder))
        self.assertIn('"clh_nb","raw_spinlock","+40","3.00","+85","\\-"', text)
        self.assertIn('"clh_nb","tas_b","\\-","\\-","-95","+1"', text)
        self.assertIn('"clh_nb","60.0","60.0","60.0","3.00","\\-","100.0","\\-","\\-","2"', text)


class Pages(Reports):
    def test_markup_in_text_is_harmless(self):
        for text, safe in (("a*b*", "a\\*b\\*"), ("clh_nb", "clh_nb"), ("x_ y", "x\\_ y"),
                           ("`a` |b|", "\\`a\\` \\|b\\|"), ("a\\b", "a\\\\b")):
            self.assertEqual(report.escaped(text), safe)

    @unittest.skipUnless(importlib.util.find_spec("docutils"), "docutils is not installed")
    def test_both_forms_are_written_and_docutils_has_nothing_to_say(self):
        results = [result_of(plan.quickened()) for plan in experiments() if plan.testbed == "uml"]
        results[0].runs[0].verdict = "FAIL `x` *y* z_"
        folder_of(self.path, *results)
        names = [figure.name for found in plot.figures_of(open_folder(self.path)).values()
                 for figure in found if not figure.empty]

        def draw(folder):
            (folder / "figures").mkdir()
            for name in names:
                (folder / f"figures/{name}.svg").write_text("<svg/>")
        with mock.patch.object(plot, "draw", side_effect=draw), \
                mock.patch("sys.stderr") as errors:
            path = report.write(self.path)
        self.assertEqual(errors.write.call_args_list, [])
        self.assertEqual(path.name, "report.html")
        page = path.read_text()
        self.assertNotIn('class="system-message', page)
        self.assertNotIn("<td><ul", page)	# a dash by itself begins a list
        self.assertIn('<meta charset="utf-8"', page)
        self.assertEqual(sorted(re.findall(r'src="figures/([\w.-]+)\.svg"', page)), sorted(names))
        self.assertEqual((self.path / "report.rst").read_text(),
                         report.text_of(open_folder(self.path)))

    def test_what_cannot_be_written_or_drawn_is_named(self):
        folder_of(self.path, result_of(scenario_of([Plot("s", "S", "cpus", "jain")])))
        with mock.patch("os.access", return_value=False), \
                self.assertRaisesRegex(Failure, "cannot write to .*figures"):
            plot.draw(self.path)
        with mock.patch.object(plot, "draw", side_effect=Failure("no gnuplot")), \
                mock.patch.object(report, "as_html", return_value=None), \
                mock.patch.object(report, "say") as said:
            with mock.patch.object(Path, "write_text", side_effect=PermissionError(13, "no")), \
                    self.assertRaisesRegex(Failure, "cannot write .*report.rst: no"):
                report.write(self.path)
            said.reset_mock()
            path = report.write(self.path)
        self.assertEqual(path.name, "report.rst")
        self.assertIn("*S*: not drawn.", path.read_text())
        self.assertEqual(said.call_count, 2)
