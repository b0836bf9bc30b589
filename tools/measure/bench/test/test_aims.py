# SPDX-License-Identifier: GPL-2.0
"""aims.py: an aim is evaluated round by round, and by the worst of its points."""

from dataclasses import replace

from measure.bench import aims
from measure.bench.metrics import Context
from measure.bench.test.synthetic import CORES, result_of, scenario_of
from measure.bench.test.test_report import Reports
from measure.scenario import Aim

BY_CPUS = {1: (900,) * 3, 2: (100,) * 3, 4: (700,) * 3}
FEW, ONE = {"cpus": 2}, {"cpus": 1}


def half(aim="at least 0.5", against="mcs", **where):
    return Aim("a", "A half", "acquisitions_per_second", "clh", aim, against, where)


def result_with(aim, clh, mcs=(1000,) * 3, cpus=(2,), lost=()):
    """A result with these rounds of acquisitions a second, clh's for all CPUs or {CPUs: rounds}.

    lost: locks or rounds whose runs have failed.
    """
    scenario = scenario_of(sweep={"cpus": list(clh) if isinstance(clh, dict) else list(cpus)})
    scenario.aims = [aim]

    def made(scenario, lock, number, point):
        mine = clh[point["cpus"]] if isinstance(clh, dict) else clh
        return {"elapsed_ns": 10**9, "acquisitions": {"clh": mine, "mcs": mcs}.get(
            lock, (1,) * 3)[number]}
    return result_of(scenario, made,
                     lambda run: "FAIL" if {run.lock, run.round} & set(lost) else "PASS")


# An aim, the rounds, other words for result_with(); its word, the worst point, the values there.
VERDICTS = (
    (half(), (500,) * 3, {}, aims.MET, FEW, [0.5] * 3),
    (half(), (499,) * 3, {}, aims.MISSED, FEW, None),
    (half("at most 0.5"), (500,) * 3, {}, aims.MET, FEW, None),
    (half("at most 0.5"), (501,) * 3, {}, aims.MISSED, FEW, None),
    (half("at most 500", None), (500,) * 3, {}, aims.MET, FEW, [500] * 3),
    (half("at most 499", None), (500,) * 3, {}, aims.MISSED, FEW, None),
    # Rounds that differ are told by their median.
    (half(), (400, 600, 700), {}, "met by the medians", FEW, None),
    (half(), (400, 450, 700), {}, "missed by the medians", FEW, None),
    # Ratios are those of a round: the medians of the two come to 1.
    (half("at least 1"), (100, 200, 300), {"mcs": (300, 100, 200)}, "met by the medians", FEW,
     [100 / 300, 2, 1.5]),
    # The worst point decides, of those that are meant.
    (half(), BY_CPUS, {}, aims.MISSED, FEW, None),
    (half("at most 0.8"), BY_CPUS, {}, aims.MISSED, ONE, None),
    (half(cpus=[4]), BY_CPUS, {}, aims.MET, {"cpus": 4}, None),
    (half(cpus_per_core=[2.0]), BY_CPUS, {}, aims.MET, {"cpus": 4}, None),
    (half(cpus=[2, 4]), BY_CPUS, {}, aims.MISSED, FEW, None),
    # What is missing is not met; a round that failed is left out.
    *((half(), (900,) * 3, {"lost": [lock]}, aims.UNKNOWN, None, None) for lock in ("clh", "mcs")),
    (half(cpus=[3]), (900,) * 3, {}, aims.UNKNOWN, None, None),
    (half(), (1, 900, 900), {"lost": [0]}, aims.MET, FEW, [0.9, 0.9]),
)
# Over all CPUs: the median is 0.7, the geometric mean 0.398.
TOGETHER = ((aims.MET, {"median_of": "cpus"}, 0.7), (aims.MISSED, {"mean_of": "cpus"}, 0.398))
ALONE = half("at most 600", None)
ALONE.unit = "turns"
# The same; parts of the report.
ROWS = (
    (half(), (900, 700, 800), {}, "Of 1 aims 1 are met."),
    (half(), (900, 700, 800), {}, '"A half","at least 0.5 of mcs","800 1/s","1 000 1/s",'
                                  '"0.80 (0.70 to 0.90)","2 CPUs","**met**"'),
    (half(), (100,) * 3, {"cpus": [2, 4]}, "Of 1 aims 0 are met."),
    (half(), (100,) * 3, {"cpus": [2, 4]}, '"0.10","2 CPUs; the worst of 2 points","**missed**"'),
    (ALONE, (500, 400, 600), {}, '"A half","at most 600 turns","500 (400 to 600) turns","\\-",'
                                 '"\\-","2 CPUs","**met**"'),
    (half(), (1,) * 3, {"lost": ["clh"]}, '"**not measured**"'),
)


class Verdicts(Reports):
    def test_an_aim_is_met_by_its_rounds_at_its_worst_point(self):
        for aim, rounds, options, word, point, values in VERDICTS:
            with self.subTest(aim=aim, rounds=rounds, **options):
                found = aims.Verdict(aim, result_with(aim, rounds, **options), Context(CORES))
                self.assertEqual(found.word, word)
                self.assertEqual(found.worst and found.worst.point, point)
                if values:
                    self.assertEqual(found.worst.values, values)

    def test_the_values_of_an_axis_are_taken_together(self):
        for word, axis, value in TOGETHER:
            aim = replace(half(), **axis)
            found = aims.Verdict(aim, result_with(aim, BY_CPUS), Context(CORES))
            self.assertEqual((found.word, found.worst.point), (word, {}))
            for each in found.worst.values:
                self.assertAlmostEqual(each, value, 3)

    def test_a_row_has_figures_ratio_the_worst_point_and_the_verdict(self):
        for aim, rounds, options, part in ROWS:
            text = self.text(result_with(aim, rounds, **options))
            self.assertIn(part, text[text.index("Aims\n===="):text.index("Runs that failed")])
