# SPDX-License-Identifier: GPL-2.0
"""Whole kernels under loads: the program, the guests' order, what counts as finished."""

import io
from pathlib import Path
import subprocess
import tempfile
from types import SimpleNamespace
import unittest
from unittest import mock

from base import parameters
from base.driver import read_figures
from base.progress import Progress
from base.testbeds import KERNELS, KERNELS_X86_64, TESTBEDS
from guest.guest import HUNG
from measure import runner
from measure.bench import aims, guests, kernel_report, kernels, metrics, scenario_file
from measure.bench.test.synthetic import changed_by, result_of
from measure.bench.test.test_report import Reports

KERNEL = scenario_file.SCENARIOS / "kernel.ini"


def plan(**changes):
    found = scenario_file.read(KERNEL, metrics.METRICS)
    for name, value in changes.items():
        setattr(found, name, value)
    return found


class Program(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.path = Path(holder.name) / "loads"
        cls.path.write_bytes(kernels.build_loads())
        cls.path.chmod(0o755)

    def run_with(self, *words):
        return subprocess.run([self.path, *words], stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)

    def test_its_loads_are_those_that_a_scenario_can_name(self):
        self.assertEqual(tuple(self.run_with("--list").stdout.split()), parameters.LOADS)

    def test_every_load_counts_and_finishes(self):
        for load in parameters.LOADS:
            with self.subTest(load=load):
                done = self.run_with("--workers", "3", "--seconds", "0.1", "--limit", "600", load)
                found = read_figures(done.stdout)
                self.assertEqual((done.returncode, found["verdict"], found["finished"]),
                                 (0, "PASS", 3), done.stdout + done.stderr)
                self.assertLessEqual(found["least"], found["most"])
                self.assertLessEqual(3 * found["least"], found["operations"])
                self.assertLessEqual(found["operations"], 3 * found["most"])
                self.assertGreaterEqual(found["elapsed_ns"], 1)

    def test_work_that_is_not_done_by_the_limit_is_reported(self):
        done = self.run_with("--workers", "2", "--passes", "1000000", "--limit", "0.1", "shell")
        found = read_figures(done.stdout)
        self.assertEqual((done.returncode, found["finished"], found["planned"]),
                         (kernels.UNFINISHED, 0, 2000000))
        self.assertEqual(found["limit_ms"], 100)

    def test_what_is_wrong_with_a_command_is_said(self):
        for words, said in ((("fork", "open"), "takes one load"),
                            (("spoon",), "no load \"spoon\""),
                            (("--workers", "0", "fork"), "--workers takes a number from 1"),
                            (("--seconds", "5", "--limit", "2", "fork"), "is not more than")):
            done = self.run_with(*words)
            self.assertEqual(done.returncode, 2)
            self.assertIn(said, done.stderr)


def place(bed=KERNELS):
    """One whose kernels are names."""
    made = kernels.KernelsPlace.__new__(kernels.KernelsPlace)
    made.types = [SimpleNamespace(name=name) for name in kernels.SIDES]
    guests.GuestsPlace.__init__(made, bed)
    made.sides, made.words = kernels.BEDS[bed], []
    made.loads, made.version = b"", "7.2"
    made.machines = {name: name for name in kernels.SIDES}
    return made


RESULT = """@run {run.name}
nbq_deadlocks 0
elapsed_ns 1000000000
operations 500
workers 4
finished {finished}
least 100
most 150
verdict PASS
@end
"""


SILENT, LOST = "", "the guest is lost"


class Guest:
    """For run_guest(): which guests were started, and which load does not end in them."""

    def __init__(self, ends=None):
        self.ends = ends or {}		# (kernel, load): finished workers, or HUNG
        self.started = []

    def run(self, machine, script, cpus, sink, **_):
        runs = [run for run in sink.runs.values() if f"@run {run.name}'" in script]
        self.started.append((machine, cpus, [run.settings["load"] for run in runs]))
        for run in runs:
            finished = self.ends.get((machine, run.settings["load"]), 4)
            if finished in (SILENT, LOST):
                return self.outcome(0 if finished == SILENT else 1, finished)
            if finished == HUNG:
                sink.write(f"@run {run.name}\n".encode())
                return self.outcome(HUNG, "the guest hung")
            sink.write(RESULT.format(run=run, finished=finished).encode())
            if finished < 4:
                return self.outcome(kernels.UNFINISHED)
        return self.outcome(0)

    def outcome(self, status, problem=None):
        return SimpleNamespace(status=status, problem=problem, complaints=[], log="",
                               log_path="log")


class Guests(unittest.TestCase):

    def made(self, ends=None, **changes):
        guest = Guest(ends)
        changes = {"rounds": 2, "locks": ["qspinlock", "nbq_spin"],
                   "sweep": {"cpus": [4], "load": ["fork", "open", "shell"]}, **changes}
        job = runner.Job(plan(**changes), place())
        with mock.patch.object(kernels, "run_guest", guest.run), \
                mock.patch.object(guests, "say"):
            return guest.started, job.make(Progress(io.StringIO()))

    def test_kernels_take_turns_and_every_other_round_is_backwards(self):
        started, result = self.made()
        loads = ["fork", "open", "shell"]
        self.assertEqual([(machine, sorted(each)) for machine, _, each in started], [
            ("qspinlock", loads), ("nbq_spin", loads), ("nbq_spin", loads),
            ("qspinlock", loads)])
        self.assertTrue(runner.well(result))
        self.assertEqual(result.runs[0].result["nbq_deadlocks"], 0)

    def test_a_load_that_does_not_end_is_a_result_and_the_others_go_on(self):
        started, result = self.made({("qspinlock", "open"): 1}, rounds=1)
        self.assertEqual([each for machine, _, each in started if machine == "qspinlock"],
                         [["fork", "open", "shell"], ["shell"]])
        self.assertTrue(runner.well(result))
        self.assertEqual([run.result["finished"] for run in result.runs
                          if run.lock == "qspinlock"], [4, 1, 4])
        # So is one in which the guest hangs.
        started, result = self.made({("qspinlock", "shell"): HUNG}, rounds=1)
        self.assertEqual(len(started), 2)
        hung, = [run for run in result.runs if not run.result["finished"]]
        self.assertEqual((hung.verdict, hung.result["planned"], hung.result["elapsed_ns"]),
                         ("PASS", 8, 30 * 10**9))
        self.assertAlmostEqual(metrics.METRICS["operations_per_second"].of(hung), 8 / 30)
        self.assertTrue(runner.well(result))
        # But the hybrid's kernel must finish.
        for ends in (2, HUNG):
            _, result = self.made({("nbq_spin", "open"): ends}, rounds=1)
            self.assertFalse(runner.well(result))
            self.assertIn("workers finished within", result.problems[0])

    def test_guests_that_make_no_run_are_given_up_one_that_is_lost_keeps_its_results(self):
        started, result = self.made({("qspinlock", load): SILENT for load in (
            "fork", "open", "shell")}, rounds=1)
        self.assertEqual([machine for machine, _, _ in started].count("qspinlock"), 3)
        self.assertIn("the guest made no run", result.problems)
        _, result = self.made({("qspinlock", "shell"): LOST}, rounds=1)
        self.assertEqual([run.verdict for run in result.runs if run.lock == "qspinlock"][:2],
                         ["PASS", "PASS"])
        self.assertIn(f"qspinlock: {LOST}", result.problems)

    def test_every_kernel_of_a_scenario_is_built_and_no_other(self):
        self.assertEqual(list(kernels.named_sides(["qspinlock", "nbq_spin"])),
                         ["nbq_spin", "qspinlock"])
        self.assertEqual(list(kernels.named_sides(["all", "-virt_spin_lock"])),
                         ["nbq_spin", "qspinlock", "qspinlock_again"])


def twice(lock, number, point):
    """The hybrid makes two to four times as many operations, by load."""
    loads = parameters.LOADS.index(point["load"]) / (len(parameters.LOADS) - 1)
    factor = {"nbq_spin": 2 + 2 * loads, "virt_spin_lock": 0.5}.get(lock, 1)
    return {"operations": 1000 * factor, "elapsed_ns": 10**9,
            "nbq_nodes_allocated": 7, "nbq_deadlocks": 0}


class Names(unittest.TestCase):
    def test_the_tools_know_the_kernels(self):
        for name, sides in kernels.BEDS.items():
            self.assertEqual(TESTBEDS[name].locks, tuple(sides))


class Paths(unittest.TestCase):
    """In QEMU the guest says which path the waiters of the kernel's own lock take."""

    def wrong(self, lock, **found):
        run = runner.PlannedRun("run-0", lock, 0, {"cpus": 2, "load": "dup"}, {}, 1)
        run.text = "".join(f"{name} {value}\n" for name, value in
                           {"finished": 2, **found}.items())
        side = kernels.BEDS[KERNELS_X86_64][lock]
        return kernels.other_path(run, side.has_queue)

    def test_waiters_on_the_other_path_are_a_problem(self):
        for lock, queued, seen, said in (
                ("qspinlock", 3, 0, None), ("virt_spin_lock", 0, 2, None),
                # Without contention nothing is proved of the queue.
                ("qspinlock", 0, 0, None),
                ("qspinlock", 0, 2, "names a hypervisor"),
                ("virt_spin_lock", 0, 0, "names no hypervisor"),
                ("virt_spin_lock", 4, 2, "4 waiters were not")):
            sentences = self.wrong(lock, own_queued=queued, own_pending=0, sees_hypervisor=seen)
            self.assertEqual(len(sentences), said is not None)
            self.assertIn(said or "", "".join(sentences))

    def test_only_the_kernels_own_lock_is_asked_and_must_answer(self):
        self.assertEqual([], self.wrong("nbq_spin"))
        self.assertIn("does not say", self.wrong("qspinlock")[0])
        self.assertEqual([], self.wrong("qspinlock", finished=0))

    def test_a_guest_in_qemu_is_told_the_frequency_of_its_clock(self):
        word, = kernels.clock_words(KERNELS_X86_64)
        self.assertRegex(word, r"^tsc_early_khz=\d{5,8}$")
        self.assertEqual(kernels.clock_words(KERNELS), [])

    def test_only_the_machine_differs_between_queue_and_test_and_set(self):
        sides = kernels.BEDS[KERNELS_X86_64]
        own, fallback = sides["qspinlock"], sides["virt_spin_lock"]
        self.assertEqual((own.recipe.folder, own.recipe.settings),
                         (fallback.recipe.folder, fallback.recipe.settings))
        unseen, seen = (side.machine(None).hardware[1] for side in (own, fallback))
        self.assertEqual(unseen, seen + ",-hypervisor")


class Tables(Reports):

    def text_of(self, change, name="kernel.ini"):
        scenario = scenario_file.read(KERNEL.with_name(name), metrics.METRICS)
        return self.text(result_of(scenario, changed_by(lambda *words: {
            **twice(*words), **change(*words)})))

    def test_each_load_is_beside_the_kernels_own_lock(self):
        def change(lock, number, point):
            lost = lock == "qspinlock" and point["load"] == "dup" and number < 3
            return {"finished": 0, "planned": 8, "elapsed_ns": 60 * 10**9} if lost else {}
        text = self.text_of(change)
        self.assertIn('"fork","2 (2 to 2)","0.50 (0.50 to 0.50)","1 (1 to 1)"', text)
        self.assertIn('"median load","**3** (3 to 3.22)"', text)
        self.assertIn("finished all, own 4 of 7", text)
        self.assertIn("8 CPUs on 2 cores", text)
        self.assertIn(kernel_report.LIMITS["kernels"].format(cores=2), text)
        self.assertIn("pool_high_water", text)
        self.assertNotIn("Where ours lose", text)

    def test_the_paths_of_waiters_in_qemu_are_in_a_table(self):
        def change(lock, number, point):
            hypervisor = 2 * (lock == "virt_spin_lock")
            return {"own_pending": 8 - 4 * hypervisor, "own_queued": 0,
                    "sees_hypervisor": hypervisor} if lock != "nbq_spin" else {}
        text = self.text_of(change, "kernel-x86_64.ini")
        for part in ('"dup, 2 CPUs","qspinlock","no","8","0"',
                     '"dup, 2 CPUs","virt_spin_lock","yes","0","0"',
                     "the hybrid; ", "pause-loop exiting"):
            self.assertIn(part, text)

    def test_an_aim_can_be_of_the_median_load(self):
        result = result_of(plan(), changed_by(twice))
        aim, = [each for each in result.plan.aims if each.name == "preempted"]
        found = aims.Verdict(aim, result, metrics.Context(2))
        self.assertEqual((found.word, len(found.standings)), ("met", 2))
        self.assertAlmostEqual(found.worst.ratio.median, 3)
