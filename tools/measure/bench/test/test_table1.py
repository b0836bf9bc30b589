# SPDX-License-Identifier: GPL-2.0
"""Table 1 from made-up results: its arithmetic, what is missing, its files."""

import unittest

from base.common import Failure
from base.testbeds import TESTBEDS
from measure import results
from measure.bench import result_folder, scenario_file, table1
from measure.results import RunRecord, ScenarioResult
from measure.test.samples import Folders

MACHINE = {"format": results.FORMAT}
COUNTED = {"atomics": 2, "reads": 9.5, "writes": 5, "own_reads": 2, "own_writes": 0,
           "tally_reads": 3, "tally_writes": 3, "caller_reads": 0, "caller_writes": 0,
           "min": {"reads": 9}, "max": {"reads": 9}}


def run(lock, number, ns, verdict="PASS"):
    """A run in which an acquisition and its release have taken so long."""
    return RunRecord(lock, number, {"cpus": 1}, {}, {"pair_ps": ns * 1000}, verdict)


def result(name, runs):
    plan = scenario_file.read(scenario_file.SCENARIOS / f"{name}.ini")
    made = ScenarioResult(plan, list(dict.fromkeys(run.lock for run in runs)),
                          [{"cpus": 1}], "7.2")
    made.runs = runs
    return made


def rows_of(time, instructions, counts):
    lines = table1.lines(time, instructions, counts)
    return {line.lock: dict(zip(table1.HEADINGS, line.cells())) for line in lines}


# (times as (lock, round, ns), a heading, what the row of clh has there)
CELLS = (
    ((("clh", 0, 30), ("clh", 1, 70), ("clh", 2, 40)), "ns", "40.0"),
    ((("clh", 0, 30), ("clh", 1, 70), ("clh", 2, 40)), "min", "30.0"),
    ((("clh", 0, 30), ("clh", 1, 70), ("clh", 2, 40)), "max", "70.0"),
    # Of the same round: in round 1 everything took twice as long.
    ((("raw_spinlock", 0, 10), ("raw_spinlock", 1, 20), ("clh", 0, 30), ("clh", 1, 60)),
     "of raw_spinlock", "3.00"),
    # Of the least times.
    ((("tas_b", 0, 70), ("tas_b", 1, 20), ("clh", 0, 30), ("clh", 1, 79)),
     "min of tas_b's", "1.50"),
    # Without the other lock there is none.
    ((("raw_spinlock", 1, 20), ("clh", 0, 30)), "of raw_spinlock", "-"),
    ((("clh", 0, 30),), "min of tas_b's", "-"),
)


class Table(unittest.TestCase):
    def test_times_are_medians_and_ratios_are_round_by_round_or_of_the_least(self):
        for times, head, cell in CELLS:
            with self.subTest(head=head, times=times):
                found = rows_of(result("table1", [run(*time) for time in times]), None, {})
                self.assertEqual(found["clh"][head], cell)

    def test_three_sources_come_together_by_lock(self):
        time = result("table1", [run("raw_spinlock", 0, 10), run("clh_nb", 0, 30)])
        instructions = result("table1-instructions", [run("clh_nb", 0, 30)])
        rows = rows_of(time, instructions, {"clh_nb": COUNTED, "clh": COUNTED})
        self.assertEqual(list(rows), ["raw_spinlock", "clh_nb", "clh"])
        for lock, cells in (("clh_nb", ["30.0", "30.0", "2", "9.5", "5"]),
                            ("raw_spinlock", ["10.0", "-", "-", "-", "-"])):
            self.assertEqual([rows[lock][head] for head in (
                "ns", "instructions", "atomic", "reads", "writes")], cells)
        # Print stands beside the printed locks only.
        self.assertEqual(list(rows["clh"].values())[-3:], ["35", "1.84", "1/3/4"])
        self.assertEqual(list(rows["clh_nb"].values())[-3:], ["-", "-", "-"])
        for line in table1.lines(None, None, {lock: COUNTED for lock in table1.PRINTED}):
            self.assertEqual(len(line.cells()), len(table1.HEADINGS))

    def test_what_is_missing_or_uneven_is_noted(self):
        absent, instructions = "That kernel has no", [run("clh", 0, 120)]
        for time, other, counts, note, there in (
                ([run("clh", 0, 50), run("rqspinlock", 0, 50)], instructions, {},
                 f"{absent} rqspinlock.", True),
                (None, instructions, {}, absent, False),
                (None, None, {"clh_nb": COUNTED, "swap_nb": {**COUNTED, "max": {"reads": 10}}},
                 "Of swap_nb not every pair", True)):
            said = table1.notes(time and result("table1", time),
                                other and result("table1-instructions", other), counts)
            self.assertEqual(note in " ".join(said), there, note)


class Files(Folders, unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.path = self.folder
        results.write_new(self.path / results.MACHINE, results.as_json(MACHINE))

    def test_folder_is_read_with_and_without_scenarios_and_counts(self):
        self.assertEqual(table1.table(results.open_folder(self.path))[1:], ([], []))
        result_folder.write_scenario(self.path, result("table1", [run("clh", 0, 50)]))
        headings, rows, notes = table1.table(results.open_folder(self.path))
        self.assertEqual((headings, len(rows)), (table1.HEADINGS, 1))
        self.assertIn("The accesses to memory were not counted.", notes)
        counts = {"format": results.FORMAT, "locks": {"clh": COUNTED}}
        results.write_new(self.path / results.COUNTS, results.as_json(counts))
        _, rows, notes = table1.table(results.open_folder(self.path))
        self.assertEqual(rows[0][table1.HEADINGS.index("reads")], "9.5")
        self.assertNotIn("The accesses to memory were not counted.", notes)

    def test_accesses_are_counted_once_a_folder(self):
        table1.measure_counts(self.path)
        first = (self.path / results.COUNTS).read_bytes()
        table1.measure_counts(self.path)
        self.assertEqual((self.path / results.COUNTS).read_bytes(), first)
        counts = table1.counts_in(results.open_folder(self.path))
        self.assertEqual(set(table1.PRINTED) - set(counts), set())
        for lock in ("clh_nb_paper", "mcs_nb_paper", "mcs_try"):
            self.assertEqual(tuple(counts[lock][name] for name in ("atomics", "reads", "writes")),
                             table1.PRINTED[lock][1:], lock)
        with self.assertRaises(Failure):
            table1.measure_counts(self.path / "nowhere")

    def test_both_scenarios_are_of_one_thread_on_one_cpu_without_work(self):
        self.assertEqual(TESTBEDS["icount"].most_cpus, 1)
        for name in (table1.TIME, table1.INSTRUCTIONS):
            plan = scenario_file.read(scenario_file.SCENARIOS / f"{name}.ini")
            self.assertEqual(plan.points(cores=4), [{"cpus": 1}])
            self.assertEqual([plan.load[parameter] for parameter in (
                "cs_ns", "ncs_ns", "sample_every")], [0, 0, 0])
