# SPDX-License-Identifier: GPL-2.0
"""Tables: what the cells say, and that names which are missing leave a dash."""

import unittest

from base.test.test_columns import on_terminal
from measure.table import (COLUMNS, SIMULATED_COLUMNS, alone_columns, columns_of, groups_of,
                           heading, laid_out, print_table)
from measure.test.samples import record, scenario_result

RATES = [record(rate=rate) for rate in (3000, 1000, 20000)]
LOST = [record(verdict="no verdict: the guest hung")]
# (column, rounds, its cell)
CELLS = (
    ("acq./s", RATES, "3 000"), ("min", RATES, "1 000"), ("max", RATES, "20 000"),
    ("timeouts", [record(timeouts=1, attempts=4), record(timeouts=0, attempts=4)], "12.5 %"),
    # In microseconds, of rounds with samples.
    ("wait p50", [record(wait_samples=9, wait_ns_p50=1500),
                  record(wait_samples=0, wait_ns_p50=0)], "1.50"),
    ("spread", [record(cpus=4, thread_stddev=5, acquisitions=40)], "50 %"),
    ("jain", [record(jain_permille=987)], "0.99"),
    # Names that are missing leave a dash.
    *((head, [record()], "-") for head in ("jain", "failed p99", "wait p99", "nodes max",
                                           "violations")),
    *((head, LOST, "-") for head, _ in COLUMNS[1:-1]),
    ("verdict", LOST, "no verdict: the guest hung"),
    ("verdict", [record(), record(verdict="FAIL x")], "FAIL x"),
)


class Cells(unittest.TestCase):

    def test_each_column_is_of_all_rounds(self):
        for head, rounds, cell in CELLS:
            with self.subTest(head=head, cell=cell):
                self.assertEqual(dict(COLUMNS)[head](rounds), cell)


class Alone(unittest.TestCase):

    def test_ratios_are_round_by_round(self):
        rounds = [record("clh_nb", number, rate) for number, rate in
                  enumerate((10e6, 5e6, 4e6))]
        reference = [record("raw_spinlock", number, rate) for number, rate in
                     enumerate((20e6, 20e6, 20e6))]
        row = [cell(rounds) for _, cell in alone_columns(reference)]
        self.assertEqual(row, ["clh_nb", "200.0", "100.0", "250.0", "4.00", "2.00", "5.00",
                               "PASS"])

    def test_without_a_reference_there_is_no_ratio(self):
        row = [cell([record()]) for _, cell in alone_columns([])]
        self.assertEqual(row[4:7], ["-", "-", "-"])


class Layout(unittest.TestCase):

    def test_columns_are_aligned_under_headings(self):
        result = scenario_result({"clh_nb": [5], "raw_spinlock": [123456]}, cpus=2)
        columns = COLUMNS[:2] + COLUMNS[-1:]
        self.assertEqual(laid_out(columns, groups_of(result)), [
            "lock           acq./s  verdict",
            "-- 2 CPUs, 2 threads",
            "clh_nb              5  PASS",
            "raw_spinlock  123 456  PASS"])

    def test_what_is_simulated_has_columns_of_misses(self):
        result = scenario_result({"mcs": [5]})
        result.runs[0].result.update(success_misses=60, success_misses_of=10, misses_lock=20,
                                     failure_misses=0, failure_misses_of=0)
        self.assertNotIn("misses",
                         laid_out(columns_of(result.plan, True), groups_of(result))[0])
        result.plan.testbed = "simulated"
        result.plan.load = {}
        lines = laid_out(columns_of(result.plan, True), groups_of(result))
        self.assertRegex(lines[0], "misses  on locks  failed misses  verdict$")
        self.assertEqual(lines[1], "-- 1 CPU")
        self.assertEqual(lines[2].split()[-4:], ["6.0", "2.0", "-", "PASS"])

    def test_at_most_eight_columns_unless_wide(self):
        plan = scenario_result({"mcs": [5]}).plan
        for testbed in (plan.testbed, "simulated"):
            plan.testbed = testbed
            few, every = columns_of(plan, False), columns_of(plan, True)
            self.assertEqual((len(few), few[0], few[-1]), (8, every[0], every[-1]))
            self.assertLess(set(few), set(every))

    def test_a_heading_says_how_busy_the_host_was(self):
        result = scenario_result({"clh": [1, 2]})
        for run, permille in zip(result.runs, (400, 500)):
            run.result.update(host_busy_processes=2, host_busy_cores=2,
                              host_busy_permille=permille)
        self.assertEqual(groups_of(result)[0][0], "1 CPU, 1 thread; 2 busy processes on 2 cores, "
                         "which had 45 % of them")

    def test_headings_name_the_points_that_have_runs(self):
        result = scenario_result({"clh": [1]}, load={"threads": 9})
        self.assertEqual(heading(result.plan, {"cpus": 1, "cs_ns": 5}),
                         "1 CPU, 9 threads, cs_ns 5")
        result.points.append({"cpus": 7})
        self.assertEqual([title for title, _ in groups_of(result)], ["1 CPU, 9 threads"])


class Narrow(unittest.TestCase):
    def test_the_widest_table_fits_80_columns_and_lacks_nothing(self):
        result = scenario_result({"clh_nb": [5000000], "raw_spinlock": [123456]}, cpus=2)
        wide = laid_out(SIMULATED_COLUMNS, groups_of(result))
        with on_terminal(80) as out:
            print_table(SIMULATED_COLUMNS, groups_of(result))
        narrow = out.getvalue().splitlines()
        self.assertGreater(len(wide[0]), 150)
        self.assertLessEqual(max(map(len, narrow)), 80)
        for lock in ("clh_nb", "raw_spinlock"):
            cells = [word for line in narrow if line.startswith(lock)
                     for word in line.split()[1:]]
            self.assertEqual(cells, next(line for line in wide if
                                         line.startswith(lock)).split()[1:])
        parts = narrow.count("") + 1
        self.assertEqual(narrow.count("-- 2 CPUs, 2 threads"), parts)
