# SPDX-License-Identifier: GPL-2.0
"""The testbed "simulated": its processes, their results, and runs of the real thing."""

import io
import os
from pathlib import Path
import signal
import threading
import time
import unittest
from unittest import mock

from base import parameters
from base.common import Unavailable
from base.progress import Progress
from base.testbeds import SIMULATED, TESTBEDS
from measure.bench import simulated
from measure.bench.places import place_on
from measure.bench.simulated import SimulatedPlace
from measure.runner import Job, well
from measure.scenario import Scenario
from measure.test.samples import Folders, planned

SAID = """verdict FAIL two holders were seen
lock clh
acquisitions_per_second 1000
place 0x401000 lock misses 7 same_socket 7 other_socket 0 memory 0
"""
LONG = 600			# seconds that nobody waits for


class Processes(Folders, unittest.TestCase):
    """With a shell script in the place of the simulation."""

    def setUp(self):
        super().setUp()
        self.progress = Progress(io.StringIO())
        self.progress.plan(1, 8)

    def place(self, script, at_a_time=2):
        place = SimulatedPlace.__new__(SimulatedPlace)
        place.at_a_time = at_a_time
        place.testbed = TESTBEDS[SIMULATED]
        place.command = lambda run: ["sh", "-c", script, "sh", run.name, str(self.folder)]
        return place

    def make(self, script, count=4, **options):
        runs = planned(count)
        return runs, self.place(script, **options).make(runs, 2, self.progress)

    def test_each_run_has_what_its_process_said_and_its_round_for_a_seed(self):
        runs, problems = self.make("echo acquisitions_per_second ${1#run-}00; echo verdict PASS")
        self.assertEqual(problems, [])
        self.assertEqual([run.record().result["acquisitions_per_second"] for run in runs],
                         [0, 100, 200, 300])
        self.assertEqual({run.verdict for run in runs}, {"PASS"})
        self.assertEqual([run.settings["seed"] for run in runs], [1, 2, 3, 4])
        self.assertEqual(self.progress.ended, 4)

    def test_as_many_run_at_a_time_as_there_are_cores_and_no_more(self):
        # Each waits until another is there, and says how many it has seen.
        script = """touch $2/$1
		while [ $(ls $2 | wc -l) -lt 2 ]; do sleep 0.01; done
		echo seen $(ls $2 | wc -l); echo verdict PASS"""
        runs, _ = self.make(script, count=2)
        self.assertEqual([run.figures["seen"] for run in runs], [2, 2])
        for run in runs:
            (self.folder / run.name).unlink()
        runs, _ = self.make("touch $2/$1; sleep 0.05; echo seen $(ls $2 | wc -l); rm $2/$1; "
                            "echo verdict PASS", count=6)
        self.assertLessEqual(max(run.figures["seen"] for run in runs), 2)

    def test_a_fail_is_a_result_and_a_refusal_is_none(self):
        runs, problems = self.make("echo lock clh; echo verdict FAIL x; exit 1", count=1)
        self.assertEqual((problems, runs[0].record().verdict), ([], "FAIL x"))
        runs, problems = self.make("echo 'simulate: cpus=0: takes a number' >&2; exit 2",
                                   count=1)
        self.assertIn("refused this: simulate: cpus=0: takes a number", problems[0])
        self.assertIn("no verdict: the simulation refused", runs[0].record().verdict)
        self.assertEqual(runs[0].record().result, {})

    def test_a_crash_takes_one_run_with_it_and_many_are_told_in_few_words(self):
        runs, problems = self.make("[ $1 = run-1 ] && kill -SEGV $$; echo verdict PASS")
        self.assertEqual([run.verdict for run in runs if not run.lost], ["PASS"] * 3)
        self.assertIn("ended with status -11", runs[1].lost)
        self.assertEqual(len(problems), 1)
        self.assertEqual(self.progress.ended, 4)
        _, problems = self.make("exit 3", count=7)
        self.assertEqual(len(problems), simulated.MOST_PROBLEMS + 1)
        self.assertEqual(problems[-1], "and 4 more like these")

    def test_one_that_hangs_is_ended(self):
        place = self.place(f"[ $1 = run-0 ] && exec sleep {LONG}; echo verdict PASS")
        place.testbed = TESTBEDS[SIMULATED]._replace(slowness=0)
        runs = planned(2)
        with mock.patch.object(simulated, "SPARE_SECONDS", 0.5):
            problems = place.make(runs, 2, self.progress)
        self.assertIn("was not done after", problems[0])
        self.assertEqual(runs[1].verdict, "PASS")

    def test_an_interruption_ends_the_processes_and_keeps_what_was_made(self):
        runs = planned(3)
        place = self.place("[ $1 = run-0 ] && { echo verdict PASS; exit; }; "
                           f"echo $$ >$2/$1; exec sleep {LONG}")
        started = [self.folder / name for name in ("run-1", "run-2")]

        def interrupt():
            while not all(path.exists() and path.read_text() for path in started):
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGINT)
        thread = threading.Thread(target=interrupt)
        thread.start()
        with self.assertRaises(KeyboardInterrupt):
            place.make(runs, 2, self.progress)
        thread.join()
        self.assertEqual([run.settled for run in runs], [True, False, False])
        for path in started:
            self.assertFalse(Path(f"/proc/{path.read_text().strip()}").exists())

    def test_the_verdict_of_a_result_is_last_and_places_are_left_out(self):
        self.assertEqual(simulated.result_of(SAID), "".join(SAID.splitlines(True)[1:3] +
                                                            SAID.splitlines(True)[:1]))

    def test_a_process_is_not_started_after_the_end(self):
        with simulated.Processes(1) as processes:
            pass
        self.assertEqual(processes.await_one(["false"], LONG), (None, ""))


class Commands(unittest.TestCase):

    def test_a_command_has_the_settings_and_the_cost_tables_file(self):
        place = SimulatedPlace.__new__(SimulatedPlace)
        place.program = "simulate"
        run, = planned(1, cpus=4)
        run.settings.update(sockets=8, cores=64, costs="b", patience_ns="200*cpus")
        words = place.command(run)
        self.assertEqual(words[0], "simulate")
        self.assertIn("patience_ns=200*cpus", words)
        self.assertIn(f"costs={parameters.COSTS / 'b.ini'}", words)
        # One CPU a socket is all that four of them can have of eight.
        self.assertLessEqual({"sockets=4", "cores=4"}, set(words))
        self.assertEqual(run.settings["sockets"], 8)
        del run.settings["costs"]
        self.assertIn(f"costs={parameters.COSTS / 'a.ini'}", place.command(run))


class TheRealThing(Folders, unittest.TestCase):
    """The simulation itself, for some microseconds of its time."""

    @classmethod
    def setUpClass(cls):
        try:
            cls.place = place_on(SIMULATED)
        except Unavailable as reason:
            raise unittest.SkipTest(str(reason)) from None

    def job(self, lock_types, **load):
        plan = Scenario("trial")
        plan.testbed, plan.locks, plan.rounds = SIMULATED, lock_types, 2
        plan.load = {"duration_us": 100, "warmup_us": 10, **load}
        plan.sweep = {"cpus": [2, 4]}
        return Job(plan, self.place)

    def made(self, *lock_types, **load):
        progress = Progress(io.StringIO())
        job = self.job(list(lock_types), **load)
        job.announce(progress)
        return job.make(progress)

    def test_a_scenario_runs_and_its_rounds_are_seeds(self):
        result = self.made("clh_nb", "mcs")
        self.assertTrue(well(result))
        self.assertEqual(len(result.runs), 8)
        self.assertEqual({run.round + 1 for run in result.runs},
                         {run.result["seed"] for run in result.runs})
        again = self.made("clh_nb", "mcs")
        self.assertEqual([run.result for run in result.runs],
                         [run.result for run in again.runs])

    def test_every_parameter_is_one_of_the_programs(self):
        load = {"sockets": 1, "cores": 2, "slice_ns": 50000, "migrate": 1, "wake_preempts": 1,
                "ple_window_ns": 2000, "away_every_ns": 100000,
                "away_ns": 10000, "paravirt": 1, "seed": 7, "cs_ns": "10*cpus", "ncs_ns": 100,
                "patience_ns": "1000-2000", "impatient_permille": 100, "impatient_ns": 50,
                "retry": "back_off", "backoff_ns": 100, "backoff_max_ns": 1000,
                "deadlock_checks": 0, "passed_late_ns": 5000, "costs": "b", "stop_us": 50,
                "stop_waiters": 1, "locks": 2, "shared_queue": 1, "alternate_us": 20,
                "duration_us": 100, "warmup_us": 10}
        self.assertEqual(set(load), set(parameters.SIMULATION))
        result = self.made("clh_nb", **load)
        self.assertTrue(well(result), result.problems)
        self.assertEqual([run.result["seed"] for run in result.runs[:2]], [7, 8])
        self.assertEqual(result.runs[0].result["cs_ns"], 20)

    def test_the_last_stores_of_a_cpu_arrive_before_the_lock_is_judged(self):
        # No work outside: the release is the last that a CPU does.
        self.assertTrue(well(self.made("qspinlock", "clh_nb_paper", cs_ns=0, ncs_ns=0)))

    def test_its_lock_types_are_known_with_their_patience(self):
        types = {lock.name: lock.heeds_patience for lock in self.place.types}
        self.assertTrue(types["clh_nb"])
        self.assertFalse(types["qspinlock"])
        self.assertNotIn("broken", types)
