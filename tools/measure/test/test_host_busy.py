# SPDX-License-Identifier: GPL-2.0
"""A host kept busy: as many processes as asked for, and none that outlives the runs."""

import os
from pathlib import Path
import signal
import subprocess
import sys
import time
import unittest
from unittest import mock

from base.common import cores
from base.test import HANGS
from measure import host_busy
from measure.host_busy import BusyHost
from measure.table import host_words
from measure.test.samples import record

TOOLS = Path(__file__).resolve().parents[2]
# A tool that keeps the host busy, says so, and waits.
TOOL = """
from measure.host_busy import BusyHost
from base.common import main

def body():
    with BusyHost(1) as host:
        print(*(process.pid for process in host.processes), flush=True)
        input()

main(body)
"""


def is_there(pid):
    """Whether a process runs; one that has ended and is not waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(pids, seconds=10):
    """Whether all of them end within so long."""
    end = time.monotonic() + seconds
    while any(map(is_there, pids)) and time.monotonic() < end:
        time.sleep(0.01)
    return not any(map(is_there, pids))


class Processes(unittest.TestCase):

    def test_so_many_for_each_core_are_there_as_long_as_the_block_lasts(self):
        with BusyHost(2) as host:
            pids = [process.pid for process in host.processes]
            self.assertEqual(len(set(pids)), 2 * cores())
            self.assertTrue(all(map(is_there, pids)))
            self.assertEqual(host.problems(), [])
        self.assertFalse(any(map(is_there, pids)))

    def test_those_that_have_started_end_if_another_cannot_be(self):
        whole, started = subprocess.Popen, []

        def popen(*arguments, **options):
            if started:
                raise OSError("no more processes")
            started.append(whole(*arguments, **options))
            return started[0]
        with mock.patch.object(subprocess, "Popen", popen), \
                mock.patch.object(host_busy, "cores", return_value=2), \
                self.assertRaises(OSError), BusyHost(1):
            self.fail("it has begun")
        self.assertFalse(is_there(started[0].pid))

    def test_they_are_busy_and_it_is_said_how_busy(self):
        end = time.monotonic() + HANGS
        with BusyHost(1) as host:
            while not (figures := host.figures())["host_busy_permille"]:
                self.assertLess(time.monotonic(), end)
                time.sleep(0.05)
        self.assertEqual(figures["host_busy_processes"], cores())
        self.assertEqual(figures["host_busy_cores"], cores())
        self.assertTrue(0 < figures["host_busy_permille"] <= 1100, figures)
        with BusyHost(0) as host:
            self.assertEqual((host.processes, host.figures()["host_busy_permille"]), ([], 0))

    def test_one_that_ends_early_is_a_problem(self):
        with BusyHost(1) as host:
            host.processes[0].kill()
            host.processes[0].wait()
            self.assertEqual(host.problems(), [f"1 of {cores()} processes that were to keep the "
                                               "host busy have ended early"])
            host.figures()


class Tools(unittest.TestCase):

    def test_none_outlives_the_tool_however_that_ends(self):
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 130),
                               (signal.SIGKILL, -signal.SIGKILL)):
            with subprocess.Popen([sys.executable, "-c", TOOL], cwd=TOOLS, text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, start_new_session=True) as tool:
                pids = [int(word) for word in tool.stdout.readline().split()]
                self.assertEqual(len(pids), cores())
                os.kill(tool.pid, number)
                self.assertEqual(tool.wait(), status)
            self.assertTrue(gone(pids))


class Words(unittest.TestCase):

    def test_they_name_processes_cores_and_the_share_of_these(self):
        for processes, there, shares, words in (
                (4, 2, (600, 700, 690), "4 busy processes on 2 cores, which had 69 % of them"),
                (1, 1, (500,), "1 busy process on 1 core, which had 50 % of it"),
                (0, 2, (0,), "no busy processes on 2 cores")):
            self.assertEqual(words, host_words([
                record(host_busy_processes=processes, host_busy_cores=there,
                       host_busy_permille=share) for share in shares]))
        self.assertEqual(host_words([record(), record(verdict="no verdict: x")]), "")
