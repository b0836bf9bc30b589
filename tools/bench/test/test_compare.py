# SPDX-License-Identifier: GPL-2.0
"""Comparing two results: ratios, spread, and what must not be compared in silence."""

import contextlib
import io
import json
from types import SimpleNamespace
import unittest

from bench import cli_compare, compare, results
from bench.test.samples import Folders, scenario_result
from testbed.common import Trouble

MACHINE = {"format": 1, "cpu_model": "a", "cores": 2, "kernel": "7.2", "testbed": "uml",
           "compiler": "gcc", "quick": False, "commit": "0123"}


class Files(Folders, unittest.TestCase):

    def side(self, name, rates, load=None, **machine):
        path = self.folder / name
        path.mkdir()
        results.write_new(path / "machine.json", results.as_json({**MACHINE, **machine}))
        results.write_scenario(path, scenario_result(rates, load=load))
        return compare.Side(path)

    def lines(self, before, after):
        found, _ = compare.compare(self.side("a", before), self.side("b", after))
        return {line.lock: line for line in found}


class Simulated(Files):

    def test_a_simulated_machine_is_the_same_on_another_host(self):
        a, b = self.side("a", {"clh": [1]}), self.side("b", {"clh": [1]}, cores=64,
                                                       cpu_model="b", host_kernel="5")
        self.assertEqual(len(compare.differences(a, b)), 3)
        for side in (a, b):
            side.scenarios["sample"].plan.testbed = "simulated"
        self.assertEqual(compare.differences(a, b), [])
        b.machine["compiler"] = "another"
        b.scenarios["sample"].kernel = "another cost table"
        self.assertEqual(len(compare.differences(a, b)), 2)

    def test_a_metric_of_the_figures_can_be_compared(self):
        sides = [self.side(name, {"clh_nb": [1, 1, 1, 1]}) for name in "ab"]
        for side, misses in zip(sides, (60, 70)):
            for run in side.scenarios["sample"].runs:
                run.result.update(success_misses=misses + run.round, success_misses_of=10)
        found, _ = compare.compare(*sides, "acquisition_misses")
        self.assertEqual(found[0].before, [6, 6.1, 6.2, 6.3])
        self.assertEqual(found[0].word, "more")


class Arithmetic(Files):

    def test_ratio_is_of_medians_and_the_range_of_extremes(self):
        line = self.lines({"clh": [90, 100, 110]}, {"clh": [180, 200, 240]})["clh"]
        self.assertAlmostEqual(line.ratio, 2)
        self.assertAlmostEqual(line.lowest, 180 / 110)
        self.assertAlmostEqual(line.highest, 240 / 90)

    def test_rounds_that_do_not_overlap_differ(self):
        lines = self.lines({"up": [1, 2, 3, 4], "down": [5, 6, 7, 8], "same": [1, 2, 3, 4]},
                           {"up": [5, 6, 7, 8], "down": [1, 2, 3, 4], "same": [4, 5, 6, 7]})
        self.assertEqual({lock: line.word for lock, line in lines.items()},
                         {"up": "more", "down": "less", "same": "within the spread"})

    def test_few_rounds_say_nothing(self):
        line = self.lines({"clh": [1, 2, 3]}, {"clh": [7, 8, 9]})["clh"]
        self.assertEqual(line.word, "too few rounds")

    def test_chance_is_that_of_two_orders_out_of_all(self):
        self.assertAlmostEqual(compare.chance(5, 5), 2 / 252)
        self.assertAlmostEqual(compare.chance(4, 4), 2 / 70)
        self.assertEqual(compare.chance(1, 1), 1)

    def test_rounds_that_failed_do_not_count(self):
        a, b = self.side("a", {"clh": [1, 2]}), self.side("b", {"clh": [2, 4]})
        b.scenarios["sample"].runs[1].verdict = "FAIL two holders were seen"
        found, _ = compare.compare(a, b)
        self.assertEqual(found[0].after, [2])

    def test_a_low_of_zero_has_no_highest_ratio(self):
        line = self.lines({"clh": [0, 1, 2]}, {"clh": [1, 2, 3]})["clh"]
        self.assertIsNone(line.highest)

    def test_what_was_never_there_has_no_ratio_but_is_not_left_out(self):
        lines = self.lines({"clh": [0, 0, 0, 0], "mcs": [0] * 4}, {"clh": [5, 6, 7, 8],
                                                                   "mcs": [0] * 4})
        self.assertEqual([(line.ratio, line.lowest, line.word) for line in lines.values()],
                         [(None, None, "more"), (None, None, "within the spread")])

    def test_another_metric_may_be_asked_for(self):
        a, b = self.side("a", {"clh": [1]}), self.side("b", {"clh": [2]})
        found, _ = compare.compare(a, b, "attempts")
        self.assertEqual(found[0].ratio, 1)
        with self.assertRaisesRegex(Trouble, '"speed"; there are acq.*attempts'):
            compare.compare(a, b, "speed")

    def test_what_only_one_has_is_said(self):
        a, b = self.side("a", {"clh": [1], "mcs": [1]}), self.side("b", {"clh": [1]})
        _, alone = compare.compare(a, b)
        self.assertEqual(alone, ["sample, cpus 1, mcs: only in A"])
        b.scenarios["other"] = b.scenarios.pop("sample")
        with self.assertRaisesRegex(Trouble, "in common"):
            compare.compare(a, b)


class Refusals(Files):

    def command(self, a, b, **options):
        options = SimpleNamespace(a=a.path, b=b.path, anyway=False, json=False,
                                  metric=compare.METRIC, relative_to=None, **options)
        for name, value in options.__dict__.pop("more", {}).items():
            setattr(options, name, value)
        out, said = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
            try:
                cli_compare.run(options)
            except Trouble as trouble:
                return out.getvalue(), said.getvalue(), str(trouble)
        return out.getvalue(), said.getvalue(), None

    def test_other_machines_are_refused_and_named(self):
        a, b = self.side("a", {"clh": [1]}), self.side("b", {"clh": [1]}, cpu_model="z")
        out, said, trouble = self.command(a, b)
        self.assertEqual(out, "")
        self.assertIn("cpu_model: a in A, z in B", said)
        self.assertIn("--anyway", trouble)

    def test_other_parameters_are_refused_and_named(self):
        a = self.side("a", {"clh": [1]}, load={"cs_ns": 5})
        b = self.side("b", {"clh": [1]})
        _, said, trouble = self.command(a, b)
        self.assertIn("sample: cs_ns is 5 in A, None in B", said)
        self.assertTrue(trouble)

    def test_anyway_compares_but_says_so(self):
        a, b = self.side("a", {"clh": [1]}), self.side("b", {"clh": [3]}, cores=9)
        out, said, trouble = self.command(a, b, more={"anyway": True})
        self.assertIsNone(trouble)
        self.assertIn("cores: 2 in A, 9 in B", said)
        self.assertIn("3.000", out)

    def test_ratios_to_a_lock_of_the_same_round_compare_two_machines(self):
        a = self.side("a", {"clh": [1, 2, 3, 4], "raw": [1, 1, 1, 1]})
        b = self.side("b", {"clh": [100, 50, 200, 800], "raw": [10, 5, 10, 20]}, cores=64,
                      cpu_model="b", host_kernel="5", compiler="clang")
        out, said, trouble = self.command(a, b, more={"relative_to": "raw"})
        self.assertIsNone(trouble)
        self.assertIn("cores: 2 in A, 64 in B", said)
        self.assertIn("times that of raw", out)
        self.assertIn("1 compared: 1 more", out)
        found, _ = compare.compare(a, b, relative_to="raw")
        self.assertEqual([(line.lock, line.before, line.after) for line in found],
                         [("clh", [1, 2, 3, 4], [10, 10, 20, 40])])

    def test_ratios_need_the_lock_on_both_sides_and_the_same_load(self):
        a, b = self.side("a", {"clh": [1], "raw": [1]}), self.side("b", {"clh": [1]}, cores=3)
        _, _, trouble = self.command(a, b, more={"relative_to": "raw"})
        self.assertIn('no runs of "raw"; it has clh', trouble)
        c = self.side("c", {"clh": [1], "raw": [1]}, load={"cs_ns": 5}, cores=3)
        _, _, trouble = self.command(a, c, more={"relative_to": "raw"})
        self.assertIn("--anyway", trouble)

    def test_a_round_without_the_other_lock_does_not_count(self):
        a = self.side("a", {"clh": [1, 2], "raw": [1, 1]})
        b = self.side("b", {"clh": [1, 2], "raw": [0, 2]})
        found, _ = compare.compare(a, b, relative_to="raw")
        self.assertEqual(found[0].after, [1])

    def test_another_kernel_or_bed_is_refused_only_where_both_ran(self):
        a, b = self.side("a", {"clh": [1]}), self.side("b", {"clh": [1]}, kernel="7.2, 6.1",
                                                       testbed="uml, icount")
        self.assertEqual(compare.differences(a, b), [])
        b.scenarios["sample"].kernel = "6.1"
        b.scenarios["sample"].plan.testbed = "icount"
        self.assertEqual(compare.differences(a, b), ["sample: testbed is uml in A, icount in B",
                                                     "sample: kernel is 7.2 in A, 6.1 in B"])

    def test_another_kernel_of_the_host_is_named(self):
        a = self.side("a", {"clh": [1]})
        b = self.side("b", {"clh": [1]}, host_kernel="6.9")
        self.assertEqual(compare.differences(a, b), ["host_kernel: None in A, 6.9 in B"])

    def test_a_pass_that_was_stopped_is_named(self):
        a, b = self.side("a", {"clh": [1]}), self.side("b", {"clh": [1]})
        self.assertEqual(compare.incomplete(a, b), [])
        path = b.path / "sample.json"
        path.write_text(path.read_text().replace('"complete": true', '"complete": false'))
        _, said, trouble = self.command(a, b)
        self.assertIsNone(trouble)
        self.assertIn("sample of B is incomplete", said)

    def test_another_commit_is_no_reason(self):
        a, b = self.side("a", {"clh": [1]}), self.side("b", {"clh": [1]}, commit="4567")
        out, said, trouble = self.command(a, b)
        self.assertEqual((said, trouble), ("", None))
        self.assertIn("0123", out)
        self.assertIn("4567", out)

    def test_json_has_every_line(self):
        a, b = self.side("a", {"clh": [1, 2], "mcs": [1]}), self.side("b", {"clh": [2, 4],
                                                                         "mcs": [1]})
        out, _, _ = self.command(a, b, more={"json": True})
        data = json.loads(out)
        self.assertEqual([line["lock"] for line in data["lines"]], ["clh", "mcs"])
        self.assertEqual(data["lines"][0]["ratio"], 2)

    def test_files_of_stress_and_of_scenarios_are_read_too(self):
        a = self.side("a", {"clh": [1]})
        data = {"format": 1, "machine": MACHINE,
                "scenarios": [scenario_result({"clh": [4]}).as_data()]}
        b = compare.Side(self.file("b.json", results.as_json(data)))
        out, _, trouble = self.command(compare.Side(a.path / "sample.json"), b)
        self.assertIsNone(trouble)
        self.assertIn("4.000", out)
