# SPDX-License-Identifier: GPL-2.0
"""Comparing two results: ratios, spread, and what must not be compared in silence."""

import json
import unittest

from base.common import Failure
from measure import cli_compare, compare, results
from measure.bench.test.synthetic import MACHINE, folder_of
from measure.test.samples import Folders, captured, options_of, scenario_result


class Files(Folders, unittest.TestCase):

    def side(self, name, rates, load=None, **machine):
        return compare.Side(folder_of(self.folder / name, scenario_result(rates, load=load),
                                      **machine))

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


# (rounds of A, of B, ratio, lowest, highest, word)
LINES = (
    ([90, 100, 110], [180, 200, 240], 2, 180 / 110, 240 / 90, "too few rounds"),
    ([1, 2, 3], [7, 8, 9], 4, 7 / 3, 9, "too few rounds"),
    ([1, 2, 3, 4], [5, 6, 7, 8], 2.6, 1.25, 8, "more"),
    ([5, 6, 7, 8], [1, 2, 3, 4], 2.5 / 6.5, 0.125, 0.8, "less"),
    ([1, 2, 3, 4], [4, 5, 6, 7], 2.2, 1, 7, "within the spread"),
    # What was never there has no ratio but is not left out.
    ([0, 1, 2], [1, 2, 3], 2, 0.5, None, "too few rounds"),
    ([0] * 4, [5, 6, 7, 8], None, None, None, "more"),
    ([0] * 4, [0] * 4, None, None, None, "within the spread"),
)


class Arithmetic(Files):

    def test_ratio_is_of_medians_the_range_of_extremes_the_word_of_rounds_that_overlap(self):
        lines = self.lines({str(number): case[0] for number, case in enumerate(LINES)},
                           {str(number): case[1] for number, case in enumerate(LINES)})
        for number, (before, after, *wanted, word) in enumerate(LINES):
            line = lines[str(number)]
            with self.subTest(before=before, after=after):
                for found, each in zip((line.ratio, line.lowest, line.highest), wanted):
                    self.assertEqual(found is None, each is None)
                    self.assertAlmostEqual(found or 0, each or 0)
                self.assertEqual(line.word, word)

    def test_chance_is_that_of_two_orders_out_of_all(self):
        self.assertAlmostEqual(compare.chance(5, 5), 2 / 252)
        self.assertAlmostEqual(compare.chance(4, 4), 2 / 70)
        self.assertEqual(compare.chance(1, 1), 1)

    def test_rounds_that_failed_do_not_count(self):
        a, b = self.side("a", {"clh": [1, 2]}), self.side("b", {"clh": [2, 4]})
        b.scenarios["sample"].runs[1].verdict = "FAIL two holders were seen"
        found, _ = compare.compare(a, b)
        self.assertEqual(found[0].after, [2])

    def test_another_metric_may_be_asked_for(self):
        a, b = self.side("a", {"clh": [1]}), self.side("b", {"clh": [2]})
        found, _ = compare.compare(a, b, "attempts")
        self.assertEqual(found[0].ratio, 1)
        with self.assertRaisesRegex(Failure, '"speed"; there are acq.*attempts'):
            compare.compare(a, b, "speed")

    def test_what_only_one_has_is_said(self):
        a, b = self.side("a", {"clh": [1], "mcs": [1]}), self.side("b", {"clh": [1]})
        _, alone = compare.compare(a, b)
        self.assertEqual(alone, ["sample, cpus 1, mcs: only in A"])
        b.scenarios["other"] = b.scenarios.pop("sample")
        with self.assertRaisesRegex(Failure, "in common"):
            compare.compare(a, b)


OTHER = {"cores": 9, "cpu_model": "z"}
RAW = {"clh": [1], "raw": [1]}
# What is compared: A's rates and more, B's, the command's options; words of what it prints, of
# what it says, and of its Failure, if it refuses.
COMMANDS = {
    "another machine": (({}, {"cpu_model": "z"}), [], "", "cpu_model: A processor in A, z in B",
                        "--anyway"),
    "other parameters": (({"load": {"cs_ns": 5}}, {}), [], "", "sample: cs_ns is 5 in A, None in B",
                         "--anyway"),
    "another kernel of the host": (({}, {"host_kernel": "6.9"}), [], "",
                                   "host_kernel: 6.1.0 in A, 6.9 in B", "--anyway"),
    "anyway": (({}, OTHER), ["--anyway"], "1.000", "cores: 2 in A, 9 in B", None),
    # No reason to refuse.
    "another commit": (({}, {"commit": "4567"}), [], "0123456789ab; B: ", "", None),
    "another machine by ratios": (({"rates": RAW}, {"rates": RAW, **OTHER}), ["--relative-to=raw"],
                                  "times that of raw", "cores: 2 in A, 9 in B", None),
    "ratios to a lock that one lacks": (({"rates": RAW}, OTHER), ["--relative-to=raw"], "",
                                        "cores: 2", "no runs of \"raw\"; it has clh"),
    "ratios under another load": (({"rates": RAW}, {"rates": RAW, "load": {"cs_ns": 5}}),
                                  ["--relative-to=raw"], "", "cs_ns is None in A", "--anyway"),
}


class Refusals(Files):

    def command(self, a, b, *more):
        options = options_of(cli_compare, a.path, b.path, *more)
        with captured() as (out, said):
            try:
                cli_compare.run(options)
            except Failure as failure:
                return out.getvalue(), said.getvalue(), str(failure)
        return out.getvalue(), said.getvalue(), None

    def test_what_must_not_be_compared_in_silence_is_refused_and_named(self):
        for what, (sides, options, printed, told, refused) in COMMANDS.items():
            with self.subTest(what):
                a, b = (self.side(f"{name} of {what}", **{"rates": {"clh": [1]}, **side})
                        for name, side in zip("ab", sides))
                out, said, failure = self.command(a, b, *options)
                self.assertIn(printed, out)
                self.assertIn(told, said)
                self.assertEqual(bool(said), bool(told))
                self.assertEqual((failure is None, bool(out)), (refused is None, refused is None))
                self.assertIn(refused or "", failure or "")

    def test_ratios_to_a_lock_are_of_the_same_round(self):
        a = self.side("a", {"clh": [1, 2, 3, 4], "raw": [1, 1, 1, 1]})
        b = self.side("b", {"clh": [100, 50, 200, 800], "raw": [10, 5, 10, 20]})
        found, _ = compare.compare(a, b, relative_to="raw")
        self.assertEqual([(line.lock, line.before, line.after) for line in found],
                         [("clh", [1, 2, 3, 4], [10, 10, 20, 40])])

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

    def test_a_pass_that_was_stopped_is_named(self):
        a, b = self.side("a", {"clh": [1]}), self.side("b", {"clh": [1]})
        self.assertEqual(compare.doubts(a, b), [])
        path = b.path / "sample.json"
        path.write_text(path.read_text().replace('"complete": true', '"complete": false'))
        _, said, failure = self.command(a, b)
        self.assertIsNone(failure)
        self.assertIn("sample of B is incomplete", said)

    def test_json_has_every_line(self):
        a, b = self.side("a", {"clh": [1, 2], "mcs": [1]}), self.side("b", {"clh": [2, 4],
                                                                         "mcs": [1]})
        out, _, _ = self.command(a, b, "--json")
        data = json.loads(out)
        self.assertEqual([line["lock"] for line in data["lines"]], ["clh", "mcs"])
        self.assertEqual(data["lines"][0]["ratio"], 2)

    def test_files_of_stress_and_of_scenarios_are_read_too(self):
        a = self.side("a", {"clh": [1]})
        data = {"format": 1, "machine": MACHINE,
                "scenarios": [scenario_result({"clh": [4]}).as_data()]}
        b = compare.Side(self.file("b.json", results.as_json(data)))
        out, _, failure = self.command(compare.Side(a.path / "sample.json"), b)
        self.assertIsNone(failure)
        self.assertIn("4.000", out)
