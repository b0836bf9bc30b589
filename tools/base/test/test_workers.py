# SPDX-License-Identifier: GPL-2.0
"""Steps in worker processes: their order, their failure, their end."""

import os
from pathlib import Path
import signal
import subprocess
import sys
import tempfile
import threading
import time
from types import SimpleNamespace
import unittest

from base.case import Case, On, runs_on
from base.common import Failure, say
from base.test import HANGS
from base.workers import CASE, MESSAGE, Workers, next_step


class Shown:
    """What is shown: names and statuses of cases, their kernels."""

    def __init__(self):
        self.cases = []
        self.places = []
        self.messages = ""
        self.steps = []
        self.versions = {}

    def show(self, what, rest):
        if what == CASE:
            self.cases.append((rest[0].name, rest[0].status))
            self.places.append(rest[2])
        elif what == MESSAGE:
            self.messages += rest
        else:
            self.steps.append(rest[:3])
            self.versions.update(rest[3])


def shown(steps, jobs, loads=()):
    seen = Shown()
    Workers(steps, loads, jobs).run(list(steps), seen.show)
    return seen


def step_of(*names, seconds=0):
    def step():
        """a step"""
        time.sleep(seconds)
        for name in names:
            yield Case(name, True)
    return step


def failure():
    """a step in failure"""
    yield Case("before", True)
    raise Failure("no kernel")


def death():
    """a step whose process dies"""
    yield Case("before", True)
    os._exit(3)


def talk():
    """a step that says something"""
    say("half-way")
    yield Case(f"a terminal: {sys.stderr.isatty()}", True)


class WorkersTest(unittest.TestCase):
    def test_cases_are_shown_in_the_order_of_the_steps(self):
        steps = {"slow": step_of("1", "2", seconds=0.3), "fast": step_of("3"),
                 "last": step_of("4")}
        for jobs in (1, 2, 3):
            self.assertEqual([name for name, _ in shown(steps, jobs).cases],
                             ["1", "2", "3", "4"])

    def test_steps_run_side_by_side(self):
        steps = {str(number): step_of(str(number), seconds=1) for number in range(3)}
        started = time.monotonic()
        shown(steps, 3)
        self.assertLess(time.monotonic() - started, 2.5)

    def test_each_case_has_the_kernel_of_its_step_or_the_one_that_the_step_has_gone_to(self):
        old, new = (SimpleNamespace(name=name, version=version)
                    for name, version in (("old", "6.1"), ("new", "7.2")))

        @runs_on(old, "stress")
        def step():
            """a step on two kernels"""
            yield Case("1", True)
            yield On(new, "kunit")
            yield Case("2", True)

        seen = shown({"step": step, "other": step_of("3")}, 1)
        self.assertEqual(seen.places, [("old", "stress"), ("new", "kunit"), None])
        self.assertEqual(seen.versions, {"old": "6.1", "new": "7.2"})

    def test_trouble_or_a_worker_that_dies_is_a_case_and_the_next_step_runs(self):
        for bad in (failure, death):
            self.assertEqual(shown({"bad": bad, "next": step_of("next")}, 1).cases,
                             [("before", "ok"), ("bad", "FAIL"), ("next", "ok")])

    def test_messages_are_shown_with_their_step_and_go_to_no_terminal(self):
        seen = shown({"talk": talk}, 1)
        self.assertIn("talk: a step that says something", seen.messages)
        self.assertIn("half-way", seen.messages)
        self.assertEqual(seen.cases, [("a terminal: False", "ok")])

    def test_a_step_tells_its_time_and_that_of_the_processes_that_it_started(self):
        def busy():
            """a step that starts a process"""
            subprocess.run([sys.executable, "-c", "import os\nwhile os.times()[0] < 0.3: 0"],
                           check=True)
            yield Case("done", True)

        steps = {"busy": busy, "idle": step_of()}
        (name, seconds, cpu), (_, _, idle) = shown(steps, 1).steps
        self.assertEqual(name, "busy")
        self.assertGreater(seconds, 0.2)
        self.assertGreater(cpu, 0.25)
        self.assertLess(idle, 0.2)

    def test_interruption_ends_what_a_step_has_started(self):
        with tempfile.TemporaryDirectory() as folder:
            mark = Path(folder) / "cleaned-up"

            def endless():
                """a step without end"""
                try:
                    yield Case("started", True)
                    # In parts: a signal just before a sleep is handled after it.
                    for _ in range(10 * HANGS):
                        time.sleep(0.1)
                finally:
                    mark.touch()

            def interrupt(what, _):
                if what == CASE:
                    raise KeyboardInterrupt

            before = signal.getsignal(signal.SIGINT)
            signal.signal(signal.SIGTERM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
            try:
                with self.assertRaises(KeyboardInterrupt):
                    Workers({"endless": endless}, (), 1).run(["endless"], interrupt)
                self.assertTrue(mark.exists())
            finally:
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                signal.signal(signal.SIGINT, before)
            self.assertEqual(threading.active_count(), 1)


class ScheduleTest(unittest.TestCase):
    def test_half_of_the_jobs_is_for_loads(self):
        waiting = ["build", "stress", "soak", "tools"]
        loads = ("stress", "soak")
        self.assertEqual(next_step(waiting, [], loads, 2), "stress")
        self.assertEqual(next_step(waiting, ["stress"], loads, 2), "build")
        self.assertEqual(next_step(["soak"], ["stress"], loads, 2), "soak")

    def test_one_job_takes_them_in_order(self):
        self.assertEqual(next_step(["build", "stress"], [], ("stress",), 1), "build")
