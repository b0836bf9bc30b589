# SPDX-License-Identifier: GPL-2.0
"""aims.py: an aim is evaluated round by round, and by the worst of its points."""

import unittest

from bench import aims, metrics
from bench import scenario_file
from bench.metrics import Context
from bench.scenario import Aim
from bench.kernels import SIDES
from bench.test.synthetic import CORES, LOCKS, EveryFigure, SIMULATED_LOCKS, result_of
from bench.test.test_plot import scenario_of
from bench.test.test_report import Reports

RATE = "acquisitions_per_second"


def result_with(aim, rates, verdict=lambda run: "PASS", **sweep):
    """A result in which rates(lock, point) are the acquisitions a second of the rounds."""
    scenario = scenario_of([], sweep or {"cpus": [2]})
    scenario.aims = [aim]

    def made(scenario, lock, number, point):
        return {"elapsed_ns": 10**9, "acquisitions": rates(lock, point)[number]}
    return result_of(scenario, made, verdict)


def evaluated(aim, rates, **options):
    return aims.Verdict(aim, result_with(aim, rates, **options), Context(CORES))


def half(aim="at least 0.5", against="mcs", **where):
    return Aim("a", "A half", RATE, "clh", aim, against, where)


def fixed(clh, mcs=(1000, 1000, 1000)):
    return lambda lock, point: {"clh": clh, "mcs": mcs}.get(lock, (1, 1, 1))


class Verdicts(unittest.TestCase):
    def test_at_least_and_at_most_of_a_figure_and_of_a_ratio(self):
        for aim, against, rates, word in (
                ("at least 0.5", "mcs", (500,) * 3, aims.MET),
                ("at least 0.5", "mcs", (499,) * 3, aims.MISSED),
                ("at most 0.5", "mcs", (500,) * 3, aims.MET),
                ("at most 0.5", "mcs", (501,) * 3, aims.MISSED),
                ("at most 500", None, (500,) * 3, aims.MET),
                ("at most 499", None, (500,) * 3, aims.MISSED),
                # Rounds that differ are told by their median.
                ("at least 0.5", "mcs", (400, 600, 700), "met by the medians"),
                ("at least 0.5", "mcs", (400, 450, 700), "missed by the medians")):
            with self.subTest(aim=aim, rates=rates):
                self.assertEqual(evaluated(half(aim, against), fixed(rates)).word, word)

    def test_ratios_are_those_of_a_round(self):
        # The medians of the two come to 1; what ran side by side does not.
        found = evaluated(half("at least 1"), fixed((100, 200, 300), (300, 100, 200)))
        self.assertEqual(found.worst.values, [100 / 300, 2, 1.5])
        self.assertEqual(found.worst.ratio.median, 1.5)

    def test_the_worst_point_decides(self):
        def rates(lock, point):
            return (1000, 1000, 1000) if lock != "clh" else \
                {1: (900, 900, 900), 2: (100, 100, 100), 4: (700, 700, 700)}[point["cpus"]]
        found = evaluated(half(), rates, cpus=[1, 2, 4])
        self.assertEqual((found.word, found.worst.point), (aims.MISSED, {"cpus": 2}))
        found = evaluated(half("at most 0.8"), rates, cpus=[1, 2, 4])
        self.assertEqual((found.word, found.worst.point), (aims.MISSED, {"cpus": 1}))

    def test_other_points_do_not_matter(self):
        def rates(lock, point):
            return (1000, 1000, 1000) if lock != "clh" or point["cpus"] == 4 else (1, 1, 1)
        self.assertEqual(evaluated(half(cpus=[4]), rates, cpus=[1, 2, 4]).word, aims.MET)
        self.assertEqual(evaluated(half(cpus_per_core=[2.0]), rates, cpus=[1, 2, 4]).word, aims.MET)
        self.assertEqual(evaluated(half(cpus=[2, 4]), rates, cpus=[1, 2, 4]).word, aims.MISSED)

    def test_what_is_missing_is_not_met(self):
        for lost in ("clh", "mcs"):
            found = evaluated(half(), fixed((900, 900, 900)),
                           verdict=lambda run, lost=lost: "FAIL" if run.lock == lost else "PASS")
            self.assertEqual(found.word, aims.UNKNOWN)
        self.assertEqual(evaluated(half(cpus=[3]), fixed((900, 900, 900))).word, aims.UNKNOWN)

    def test_a_round_that_failed_is_left_out(self):
        found = evaluated(half(), fixed((1, 900, 900)),
                       verdict=lambda run: "FAIL" if run.round == 0 else "PASS")
        self.assertEqual((found.word, found.worst.values), (aims.MET, [0.9, 0.9]))


class Tables(Reports):
    def test_a_row_has_figures_ratio_the_worst_point_and_the_verdict(self):
        alone = half("at most 600", None)
        alone.unit = "turns"
        for aim, rates, options, parts in (
                (half(), fixed((900, 700, 800)), {}, (
                    "Of 1 aims 1 are met.",
                    '"A half","at least 0.5 of mcs","800 1/s","1 000 1/s",'
                    '"0.80 (0.70 to 0.90)","2 CPUs","**met**"')),
                (half(), fixed((100, 100, 100)), {"cpus": [2, 4]}, (
                    "Of 1 aims 0 are met.",
                    '"0.10","2 CPUs; the worst of 2 points","**missed**"')),
                (alone, fixed((500, 400, 600)), {}, (
                    '"A half","at most 600 turns","500 (400 to 600) turns","\\-","\\-",'
                    '"2 CPUs","**met**"',)),
                (half(), fixed((1, 1, 1)), {"verdict": lambda run: "FAIL"}, (
                    '"**not measured**"',))):
            text = self.text(result_with(aim, rates, **options))
            text = text[text.index("Aims\n===="):text.index("Runs that failed")]
            for part in parts:
                self.assertIn(part, text)


class Shipped(unittest.TestCase):
    def test_every_aim_can_be_measured_also_in_a_quick_pass(self):
        seen = 0
        for path in sorted(scenario_file.SCENARIOS.glob("*.ini")):
            scenario = scenario_file.read(path, metrics.METRICS)
            plans = [scenario]
            if scenario.simulated is not None:
                plans.append(scenario.on("simulated"))
            for plan in [*plans, *(plan.quickened() for plan in plans)]:
                result = result_of(plan, made=every_figure)
                for aim in plan.aims:
                    with self.subTest(scenario=path.stem, aim=aim.name, quick=plan.is_quick):
                        context = Context(plan.cores(CORES), testbed=plan.testbed)
                        found = aims.Verdict(aim, result, context)
                        self.assertNotEqual(found.word, aims.UNKNOWN)
                        seen += 1
        self.assertGreaterEqual(seen, 2 * 10)


def every_figure(scenario, lock, number, point):
    """A result in which no figure is missing."""
    loop = [*LOCKS, *SIMULATED_LOCKS, *SIDES].index(lock)
    return EveryFigure(1000 + number, {**scenario.settings(lock, point),
                                       "threads": point["cpus"], "empty_loop_ps": loop})
