# SPDX-License-Identifier: GPL-2.0
"""metrics.py: each figure as computed by hand, and what is missing stays missing."""

import unittest

from measure.bench.metrics import (METRICS, Context, context_of, matching, place_of, points_of,
                                   summary, values_of)
from measure.bench.test.synthetic import EveryFigure, run
from measure.metrics import figure, shown

CROWDED = {"cpus": 4}		# on two cores
COUNTS = {"elapsed_ns": 1_000_000_000, "attempts": 50_000, "acquisitions": 10_000,
          "cs_ns": 305, "ncs_ns": 100, "patience_ns": 15_000, "empty_loop_ps": 2_500,
          "pair_ps": 15_500, "overshoot_samples": 40_000, "threads": 4}


TX = Context(2, {"clh_nb": 400})
# Operations of the kernel's own lock: in the rounds there, and elsewhere.
HERE, ELSEWHERE = (tuple(sorted(point.items())) for point in (CROWDED, {"cpus": 2}))
OWN = Context(2, own={(0, HERE): 50_000, (1, HERE): 2_000, (2, HERE): 10_000, (0, ELSEWHERE): 1})
# (metric, what else the result has, its context, its figure).
FIGURES = (
    # By wall-clock time and by attempts.
    ("acquisitions_per_second", {}, None, 10_000), ("attempts_per_second", {}, None, 50_000),
    ("success_rate", {}, None, 20), ("handoff_rate", {"handoffs": 2_500}, None, 25),
    ("iteration_time_us", {}, None, 20),
    # Without the work inside and nothing else.
    ("alone_ns", {}, None, 15.5), ("failed_try_ns", {"failed_try_ps": 2_500}, None, 2.5),
    ("failed_try_ns", {"failed_try_ps": 0}, None, None),
    ("passing_time_us", {}, None, 100 - 0.305),
    # What an acquisition takes, 1 s / 10000 = 100 us, beyond Ta = 0.4 us and Tc = 0.305 us.
    ("tx_us", {}, TX, 100 - 0.4 - 0.305),
    ("tx_us", {}, Context(2, {"mcs_nb": 400}), None),
    # (m-1) 1 s / 40000 - (Tl + Tp) 50000 / 40000, Tl = 0.0025 + 0.1 us, Tp = 15 us
    ("th_us", {}, Context(2), 25 - 15.1025 * 1.25), ("th_us", {}, Context(3), 50 - 15.1025 * 1.25),
    # A bound below 0 is none: 25 us, and 30 us of patience.
    ("th_us", {"patience_ns": 30_000}, Context(2), 0),
    # Of failures of a lock that heeds its patience.
    ("th_us", {"acquisitions": 50_000}, Context(2), None),
    ("th_us", {"overshoot_samples": 0}, Context(2), None),
    ("th_us", {"patience_ns": "max"}, Context(2), None),
    ("th_us", {"patience_ns": "0-1000"}, Context(2), None),
    # Where CPUs are more than cores.
    *((name, {}, context, None) for name in ("tx_us", "th_us") for context in (
        None, *(Context(cores, {"clh_nb": 400}) for cores in (4, 8, None)))),
    # Times need samples.
    ("overshoot_p999_us", {"overshoot_ns_p999": 1_500}, None, 1.5),
    ("wait_mean_us", {"wait_samples": 1, "wait_ns_mean": 250}, None, 0.25),
    ("wait_p50_us", {"wait_samples": 0, "wait_ns_p50": 0}, None, None),
    ("handoff_max_us", {"handoff_ns_max": 4}, None, None),
    ("skipped_mean", {"skipped_samples": 1, "skipped_mean_permille": 1250}, None, 1.25),
    ("skipped_max", {"skipped_samples": 1, "skipped_max": 7}, None, 7),
    ("skipped_p99", {"skipped_samples": 0, "skipped_p99": 0}, None, None),
    # No nodes are no figure.
    ("nodes_max", {"nodes_max": 10}, None, 10), ("nodes_per_thread", {"nodes_max": 10}, None, 2.5),
    ("nodes_max", {"nodes_max": 0}, None, None), ("nodes_per_thread", {"nodes_max": 0}, None, None),
    ("jain", {"jain_permille": 250}, None, 0.25),
    ("longest_gap_ms", {"longest_gap_ns": 12_000_000}, None, 12),
    ("spread", {"thread_stddev": 500}, None, 20),	# mean 2500 for each of 4 threads
    # By the attempts that they are of; by the acquisitions.
    ("acquisition_misses", {"success_misses": 60, "success_misses_of": 10}, None, 6),
    ("failed_misses", {"failure_misses": 60, "failure_misses_of": 5}, None, 12),
    ("failed_misses", {"failure_misses": 0, "failure_misses_of": 0}, None, None),
    ("all_misses", {"misses": 50000}, None, 5), ("lock_misses", {"misses_lock": 20000}, None, 2),
    ("other_socket_misses", {"misses_other_socket": 5000}, None, 0.5),
    ("same_socket_rate", {"socket_handoffs": 2500}, None, 25),
    # By the kernel's own lock in this round, and by the median of its rounds.
    ("times_qspinlock", {"operations": 20_000}, OWN, 0.4),
    ("times_median", {"operations": 20_000}, OWN, 2),
    ("times_median", {"operations": 20_000}, Context(2, own={(0, ELSEWHERE): 1}), None),
    ("times_median", {"operations": 20_000}, Context(2, own={(0, HERE): None}), None),
    # Nothing is divided by 0.
    ("success_rate", {"attempts": 0}, None, None),
    ("passing_time_us", {"acquisitions": 0}, None, None),
    ("spread", {"thread_stddev": 1, "acquisitions": 0}, None, None),
)


class Figures(unittest.TestCase):
    def test_each_is_as_computed_by_hand(self):
        for name, result, context, wanted in FIGURES:
            with self.subTest(name=name, result=result, context=context):
                found = METRICS[name].of(run(point=CROWDED, **{**COUNTS, **result}), context)
                if wanted is None:
                    self.assertIsNone(found)
                else:
                    self.assertAlmostEqual(found, wanted)


class Missing(unittest.TestCase):
    def test_every_metric_of_an_empty_result_is_missing(self):
        for metric in METRICS.values():
            with self.subTest(metric=metric.name):
                self.assertIsNone(metric.of(run(), Context(2, {"clh_nb": 1})))

    def test_every_metric_misses_each_name_that_it_asks_for(self):
        crowded = run(point=CROWDED)
        context = Context(2, {"clh_nb": 1}, own={(crowded.round, place_of(crowded)): 1})
        for metric in METRICS.values():
            crowded.result = EveryFigure(5, COUNTS)
            self.assertIsNotNone(metric.of(crowded, context), metric.name)
            names = crowded.result.asked
            for name in names:
                with self.subTest(metric=metric.name, without=name):
                    crowded.result = {**dict.fromkeys(names, 5), **COUNTS}
                    del crowded.result[name]
                    self.assertIsNone(metric.of(crowded, context))

    def test_a_run_that_failed_has_no_figures(self):
        failed = run(verdict="FAIL two holders were seen", **COUNTS)
        self.assertIsNone(METRICS["success_rate"].of(failed))
        self.assertIsNone(summary("success_rate", [failed]))

    def test_a_word_is_no_figure(self):
        self.assertIsNone(figure(run(patience_ns="max"), "patience_ns"))
        self.assertEqual(figure(run(settings={"cs_ns": 7}), "cs_ns"), 7)


class Rounds(unittest.TestCase):
    def test_a_summary_is_median_and_range_of_the_rounds_that_count(self):
        rounds = [run(round=number, attempts=100, acquisitions=won)
                  for number, won in enumerate((90, 10, 20))]
        rounds.append(run(round=3, verdict="no verdict: lost"))
        found = summary("success_rate", rounds)
        self.assertEqual((found.median, found.low, found.high, found.rounds), (20, 10, 90, 3))

    def test_passing_time_for_tx_is_the_median_at_a_core_for_each_cpu(self):
        def passing(cpus, acquisitions, verdict="PASS"):
            return run(point={"cpus": cpus}, elapsed_ns=1_000_000, cs_ns=200,
                       acquisitions=acquisitions, verdict=verdict)
        runs = [passing(2, 1000), passing(2, 500), passing(2, 2000), passing(1, 10),
                passing(4, 10), passing(2, 1, "FAIL")]
        self.assertEqual(context_of(2, runs).passing_ns, {"clh_nb": 800})
        self.assertEqual(context_of(2, []).passing_ns, {})

    def test_runs_are_found_by_lock_and_by_the_axes_that_are_named(self):
        runs = [run("clh_nb", point={"cpus": 2, "patience_ns": "max"}),
                run("clh_nb", point={"cpus": 10, "patience_ns": 5}),
                run("mcs_nb", point={"cpus": 10, "patience_ns": 5})]
        self.assertEqual(matching(runs, "clh_nb", cpus=10.0), [runs[1]])
        self.assertEqual(matching(runs, cpus=10), runs[1:])
        self.assertEqual(matching(runs, "clh_nb", patience_ns="max"), [runs[0]])
        self.assertEqual(matching(runs, "clh_nb", retry="at_once"), [])
        self.assertEqual(values_of(runs, "cpus"), [2, 10])
        self.assertEqual(values_of(runs, "patience_ns"), [5, "max"])
        self.assertEqual(len(points_of(runs)), 2)


class Words(unittest.TestCase):
    def test_numbers_are_short_and_never_powers_of_ten(self):
        for number, text in ((None, "-"), (0, "0"), (2.5, "2.50"), (0.25, "0.25"),
                             (0.00012, "0.0001"), (25.25, "25.2"), (100, "100"),
                             (1234.4, "1 234"), (1234567, "1 230 000"), (-1500, "-1 500")):
            with self.subTest(number=number):
                self.assertEqual(shown(number), text)

    def test_an_axis_label_fits_beside_a_small_panel(self):
        for metric in METRICS.values():
            self.assertLessEqual(len(metric.axis), 33, metric.axis)
