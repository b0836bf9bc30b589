# SPDX-License-Identifier: GPL-2.0
"""tools/nbq stress --here, against a folder that plays the driver."""

import csv
import errno
import json
import os
from pathlib import Path
import signal
import subprocess
import sys
import threading
import unittest
from unittest import mock

from base.common import Failure
from base.progress import Progress
from base.test import HANGS
from measure import here, stress_command
from measure.bench import cli_stress
from measure.here import HerePlace, cpu_numbers
from measure.test.samples import Folders, captured, options_of

NBQ = Path(__file__).resolve().parents[2] / "nbq"
LOCKS = ("clh_nb: ours\nraw_spinlock: the kernel's (no timeout)\n"
         "broken: excludes nobody\n")
PARAMETERS = {"lock": "clh_nb", "cpus": "0", "threads": "7", "patience_ns": "5", "cs_ns": "3",
              "ncs_ns": "3", "sample_every": "1", "duration_ms": "9", "seed": "0"}
RESULT = """lock {lock}
cpus {cpus}
threads {threads}
attempts 10
acquisitions 10
timeouts 0
no_node 0
acquisitions_per_second {rate}
thread_stddev 0
stopped {stopped}
verdict {verdict}
"""


class Driver:
    """Plays the driver: files in a folder, and what a write to "run" does.

    A write of 1 returns when the run is over: after `seconds`, or a write of 0.
    """

    def __init__(self, folder, seconds=0.0, verdict="PASS"):
        self.folder = folder
        self.seconds = seconds
        self.verdict = verdict
        self.locked_down = False
        self.runs = []
        self.stopped = threading.Event()
        for name, text in {"locks": LOCKS, "status": "idle\n", "run": "",
                           "result/summary": "no run yet\n",
                           "result/histograms": "no run yet\n"}.items():
            self.put(name, text)
        for parameter, value in PARAMETERS.items():
            self.put(f"load/{parameter}", value + "\n")

    def put(self, name, text):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def write(self, path, value):
        if path.name != "run":
            if value == "refuse me":
                raise OSError(errno.EINVAL, "Invalid argument")
            if self.locked_down:
                raise OSError(errno.EPERM, "Operation not permitted")
            path.write_text(f"{value}\n")
        elif value == 1:
            self.make_run()
        else:
            self.stopped.set()

    def parameter(self, name):
        return (self.folder / "load" / name).read_text().strip()

    def make_run(self):
        (self.folder / "status").write_text("running elapsed_ms 500 of 1000 acquisitions 9\n")
        stopped = self.stopped.wait(self.seconds)
        self.runs.append({parameter: self.parameter(parameter) for parameter in PARAMETERS})
        (self.folder / "status").write_text("idle\n")
        (self.folder / "result/summary").write_text(RESULT.format(
            **{name: self.parameter(name) for name in ("lock", "cpus", "threads")},
            rate=1000 * len(self.runs), stopped=int(stopped), verdict=self.verdict))
        self.put("result/histograms", "histogram from to count\nwait 0 0 9\nwait 64 65 "
                 f"{len(self.runs)}\nskipped 0 0 9\n")


class Command(Folders, unittest.TestCase):

    def driver(self, **options):
        driver = Driver(self.folder, **options)
        patch = mock.patch.object(here, "write", driver.write)
        patch.start()
        self.addCleanup(patch.stop)
        return driver

    def stress(self, *options, status=0):
        chosen = options_of(cli_stress, "--here", "--folder", self.folder, "--cpus", 1, *options)
        with captured() as (out, said):
            self.assertEqual(chosen.run(chosen), status)
        return out.getvalue(), said.getvalue()

    def test_runs_print_a_table_and_fill_files_and_parameters_are_put_back(self):
        driver = self.driver()
        out, _ = self.stress("--rounds", "2", "--set", "cs_ns=77", "--patience", "max",
                             "--json", str(self.folder / "x.json"),
                             "--csv", str(self.folder / "x.csv"))
        self.assertRegex(out, r"clh_nb +2 500 +1 000 +4 000 ")
        self.assertIn("Alone", out)
        data = json.loads((self.folder / "x.json").read_text())
        self.assertEqual([part["scenario"] for part in data["scenarios"]],
                         ["contended", "alone"])
        self.assertEqual([run["lock"] for run in data["scenarios"][0]["runs"]],
                         ["clh_nb", "raw_spinlock", "raw_spinlock", "clh_nb"])
        rows = list(csv.DictReader((self.folder / "x.csv").read_text().splitlines()))
        self.assertEqual(len(rows), 8)
        self.assertEqual(data["scenarios"][0]["runs"][1]["histograms"],
                         {"wait": [[0, 0, 9], [64, 65, 2]], "skipped": [[0, 0, 9]]})
        self.assertEqual((rows[1]["histogram_wait"], rows[7]["histogram_wait"]),
                         ("0-0:9 64-65:2", ""))
        self.assertEqual([driver.runs[0][name] for name in ("cs_ns", "patience_ns", "threads")],
                         ["77", "max", "1"])
        self.assertEqual({name: driver.parameter(name) for name in PARAMETERS}, PARAMETERS)

    def test_progress_comes_from_status(self):
        driver = self.driver(seconds=HANGS)
        # However late it is looked at, the run goes on until then.
        with mock.patch.object(Progress, "going",
                               side_effect=lambda *_: driver.stopped.set()) as going:
            self.stress("--rounds", "1", "--no-alone", "--locks", "clh_nb")
        going.assert_called_with(500, 9)

    def test_a_failing_verdict_a_refusal_and_a_kernel_that_is_locked_down_are_named(self):
        driver = self.driver(verdict="FAIL two holders were seen")
        once = ("--rounds", "1", "--no-alone")
        out, _ = self.stress(*once, status=1)
        self.assertIn("FAIL two holders were seen", out)
        driver.runs = []
        with mock.patch.object(stress_command, "WORK", {"cs_ns": "refuse me"}):
            out, _ = self.stress(*once, status=1)
        self.assertIn("the driver refused cs_ns=refuse me (Invalid argument", out)
        with self.assertRaisesRegex(Failure, '"rqspinlock"; there are clh_nb, raw_spinlock'):
            self.stress("--locks", "rqspinlock")
        driver.locked_down = True
        with self.assertRaisesRegex(Failure, "the kernel is locked down"):
            self.stress(*once)
        self.assertEqual(driver.runs, [])

    def test_a_stop_ends_the_run_and_keeps_what_there_is(self):
        driver = self.driver(seconds=HANGS)
        # In the middle of a run, whenever that is.
        with mock.patch.object(Progress, "going",
                               side_effect=lambda *_: os.kill(os.getpid(), signal.SIGINT)):
            out, said = self.stress("--rounds", "3", "--no-alone", "--json",
                                    str(self.folder / "x.json"), status=130)
        part = json.loads((self.folder / "x.json").read_text())["scenarios"][0]
        self.assertFalse(part["complete"])
        self.assertEqual(part["runs"][0]["verdict"], "PASS")
        self.assertEqual([run["result"]["stopped"] for run in part["runs"]], [1])
        self.assertEqual(len(driver.runs), 1)
        self.assertIn("stopped", said)
        self.assertIn("clh_nb", out)
        self.assertEqual({name: driver.parameter(name) for name in PARAMETERS}, PARAMETERS)


class Arguments(Folders, unittest.TestCase):

    def nbq(self, *options):
        return subprocess.run([sys.executable, str(NBQ), *options], text=True, timeout=HANGS,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)

    def test_help_is_everywhere(self):
        for verb in ((), ("stress",), ("bench",), ("plot",), ("report",), ("compare",)):
            done = self.nbq(*verb, "--help")
            self.assertEqual(done.returncode, 0, verb)
            self.assertIn("example", done.stdout, verb)

    def test_bad_arguments_get_a_sentence(self):
        for options, words in (
                (["--set", "lock=x"], "lock is set by --locks"),
                (["--set", "speed=1"], "no file speed to set"),
                (["--set", "cs_ns"], "not FILE=VALUE"),
                (["--set", "cs_ns=x"], 'cs_ns does not take "x"'),
                (["--patience", "9-8"], "9-8 is no number"),
                (["--seconds", "0"], "0 is not from 0.001"),
                (["--cpus", "0"], "0 is not a number from 1"),
                (["--rounds", "x"], "invalid number value: 'x'"),
                (["--locks", "a,,b"], "takes names with commas"),
                (["--json", "x", "--csv", "x"], "the same file"),
                (["--json", "/nowhere/x"], "no folder to write to"),
                ([], "is no folder of the stress driver")):
            with self.subTest(options):
                done = self.nbq("stress", "--here", "--folder", str(self.folder), *options)
                self.assertEqual(done.returncode, 2)
                self.assertIn(words, done.stderr)
                self.assertNotIn("Traceback", done.stderr)


class Files(Folders, unittest.TestCase):

    def test_the_first_cpus_that_are_online_are_used(self):
        self.assertEqual(cpu_numbers("0-3,8\n"), [0, 1, 2, 3, 8])
        self.file("locks", LOCKS)
        place = HerePlace(self.folder, self.file("online", "0,2-5\n"))
        self.assertEqual((place.most_cpus, place.cpu_list(3)), (5, "0,2,3"))
