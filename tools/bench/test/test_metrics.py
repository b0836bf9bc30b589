# SPDX-License-Identifier: GPL-2.0
"""metrics.py: each figure as computed by hand, and what is missing stays missing."""

import unittest

from bench.metrics import (METRICS, Context, context_of, figure, matching, place_of,
                           points_of, shown, summary, values_of)
from bench.test.synthetic import run

CROWDED = {"cpus": 4}		# on two cores
COUNTS = {"elapsed_ns": 1_000_000_000, "attempts": 50_000, "acquisitions": 10_000,
          "cs_ns": 305, "ncs_ns": 100, "patience_ns": 15_000, "empty_loop_ps": 2_500,
          "overshoot_samples": 40_000, "threads": 4}


def of(name, context=None, point=None, **result):
    return METRICS[name].of(run(point=point or CROWDED, **{**COUNTS, **result}), context)


class Figures(unittest.TestCase):
    def test_rates_are_by_wall_clock_and_by_attempts(self):
        self.assertEqual(of("acquisitions_per_second"), 10_000)
        self.assertEqual(of("attempts_per_second"), 50_000)
        self.assertEqual(of("success_rate"), 20)
        self.assertEqual(of("handoff_rate", handoffs=2_500), 25)

    def test_iteration_time_is_by_the_attempts_of_all_threads(self):
        self.assertEqual(of("iteration_time_us"), 20)

    def test_cost_alone_leaves_out_the_loop(self):
        self.assertAlmostEqual(of("alone_ns"), 100_000 - 2.5)

    def test_passing_time_leaves_out_the_work_inside_and_nothing_else(self):
        self.assertAlmostEqual(of("passing_time_us"), 100 - 0.305)

    def test_tx_is_what_an_acquisition_takes_beyond_passing_and_work(self):
        # 1 s / 10000 = 100 us; Ta = 0.4 us, Tc = 0.305 us
        self.assertAlmostEqual(of("tx_us", Context(2, {"clh_nb": 400})), 100 - 0.4 - 0.305)

    def test_th_is_the_bound_of_the_paper(self):
        # (m-1) 1 s / 40000 - (Tl + Tp) 50000 / 40000, Tl = 0.0025 + 0.1 us, Tp = 15 us
        self.assertAlmostEqual(of("th_us", Context(2)), 25 - 15.1025 * 1.25)
        self.assertAlmostEqual(of("th_us", Context(3)), 2 * 25 - 15.1025 * 1.25)

    def test_tx_and_th_are_of_more_cpus_than_cores_only(self):
        for name in ("tx_us", "th_us"):
            for cores in (4, 8, None):
                with self.subTest(name=name, cores=cores):
                    self.assertIsNone(of(name, Context(cores, {"clh_nb": 400})))
            self.assertIsNone(of(name, None))

    def test_th_needs_failures_of_a_lock_that_heeds_its_patience(self):
        self.assertIsNone(of("th_us", Context(2), acquisitions=50_000))
        self.assertIsNone(of("th_us", Context(2), overshoot_samples=0))
        self.assertIsNone(of("th_us", Context(2), patience_ns="max"))
        self.assertIsNone(of("th_us", Context(2), patience_ns="0-1000"))

    def test_tx_needs_the_passing_time_of_the_same_lock(self):
        self.assertIsNone(of("tx_us", Context(2, {"mcs_nb": 400})))

    def test_times_are_in_microseconds_and_need_samples(self):
        self.assertEqual(of("overshoot_p999_us", overshoot_ns_p999=1_500), 1.5)
        self.assertEqual(of("wait_mean_us", wait_samples=1, wait_ns_mean=250), 0.25)
        self.assertIsNone(of("wait_p50_us", wait_samples=0, wait_ns_p50=0))
        self.assertIsNone(of("handoff_max_us", handoff_ns_max=4))

    def test_nodes_are_by_thread_and_none_is_no_figure(self):
        self.assertEqual(of("nodes_max", nodes_max=10), 10)
        self.assertEqual(of("nodes_per_thread", nodes_max=10), 2.5)
        self.assertIsNone(of("nodes_max", nodes_max=0))
        self.assertIsNone(of("nodes_per_thread", nodes_max=0))

    def test_fairness(self):
        self.assertEqual(of("jain", jain_permille=250), 0.25)
        self.assertEqual(of("longest_gap_ms", longest_gap_ns=12_000_000), 12)
        # mean 2500 for each of 4 threads
        self.assertEqual(of("spread", thread_stddev=500), 20)

    def test_misses_are_by_the_attempts_that_they_are_of(self):
        self.assertEqual(of("acquisition_misses", success_misses=60, success_misses_of=10), 6)
        self.assertEqual(of("failed_misses", failure_misses=60, failure_misses_of=5), 12)
        self.assertIsNone(of("failed_misses", failure_misses=0, failure_misses_of=0))

    def test_misses_by_kind_are_by_the_acquisitions(self):
        self.assertEqual(of("all_misses", misses=50000), 5)
        self.assertEqual(of("lock_misses", misses_lock=20000), 2)
        self.assertEqual(of("other_socket_misses", misses_other_socket=5000), 0.5)
        self.assertEqual(of("same_socket_rate", socket_handoffs=2500), 25)

    def test_walks_are_of_attempts_that_were_sampled(self):
        self.assertEqual(of("skipped_mean", skipped_samples=1, skipped_mean_permille=1250), 1.25)
        self.assertEqual(of("skipped_max", skipped_samples=1, skipped_max=7), 7)
        self.assertIsNone(of("skipped_p99", skipped_samples=0, skipped_p99=0))


class Missing(unittest.TestCase):
    def test_every_metric_of_an_empty_result_is_missing(self):
        for metric in METRICS.values():
            with self.subTest(metric=metric.name):
                self.assertIsNone(metric.of(run(), Context(2, {"clh_nb": 1})))

    def test_every_metric_misses_each_name_that_it_needs(self):
        times = {name: 5 for metric in METRICS.values() for name in metric.needs}
        whole = {**times, **COUNTS}
        crowded = run(point=CROWDED)
        context = Context(2, {"clh_nb": 1}, own={(crowded.round, place_of(crowded)): 1})
        for metric in METRICS.values():
            self.assertIsNotNone(metric.of(run(point=CROWDED, **whole), context), metric.name)
            for name in metric.needs:
                with self.subTest(metric=metric.name, without=name):
                    less = {key: value for key, value in whole.items() if key != name}
                    self.assertIsNone(metric.of(run(point=CROWDED, **less), context))

    def test_a_run_that_failed_has_no_figures(self):
        failed = run(verdict="FAIL two holders were seen", **COUNTS)
        self.assertIsNone(METRICS["success_rate"].of(failed))
        self.assertIsNone(summary("success_rate", [failed]))

    def test_nothing_is_divided_by_0(self):
        self.assertIsNone(of("success_rate", attempts=0))
        self.assertIsNone(of("passing_time_us", acquisitions=0))
        self.assertIsNone(of("spread", thread_stddev=1, acquisitions=0))

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


if __name__ == "__main__":
    unittest.main()
