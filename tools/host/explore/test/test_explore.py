# SPDX-License-Identifier: GPL-2.0
"""The explorer: what it says of the shipped text, of a defect, and of nonsense."""

import os
from pathlib import Path
import signal
import subprocess
import tempfile
import time
import unittest

from base.common import BUILD, PROJECT
from host.explore.configurations import CONFIGURATIONS, OF_SOME
from host.explore.program import arguments, build
from host.mutate.edits import write_copy
from host.mutate.mutant import all_mutants

EXPLORE = PROJECT / "tools/host/explore/explore"
NAMES = [configuration.name for configuration in CONFIGURATIONS]
# A node that is not freed.
DEFECT = next(mutant for mutant in all_mutants() if mutant.name.startswith(
    "clh_nb.c nbq_clh_granted call nbq_node_reclaim"))


def catches(pid, number):
    """Whether a process has a handler for a signal."""
    status = Path(f"/proc/{pid}/status").read_text()
    mask = next(line for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(int(mask.split()[1], 16) >> (number - 1) & 1)


def run(source, built, *options):
    """(exit status, what was printed) of the explorer on the files in a folder."""
    done = subprocess.run([EXPLORE, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False,
                          env={**os.environ, "SRC": str(source), "O": str(built)})
    return done.returncode, done.stdout


class ExploreTest(unittest.TestCase):
    def test_failure_has_a_schedule_that_can_be_replayed(self):
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as built:
            write_copy(Path(folder), {DEFECT.file: DEFECT.applied})
            options = ("--type", "clh", "--config", "two_twice")
            status, text = run(folder, built, *options)
            self.assertEqual(status, 1)
            self.assertIn("not ok clh.two_twice: 1 nodes are lost", text)
            schedule = text.split("the shortest schedule that fails: ")[1].split()[0]
            status, table = run(folder, built, *options, "--replay", schedule)
            refused, reason = run(folder, built, *options, "--replay", "Z")
        self.assertEqual(status, 0, table)
        self.assertIn("1 nodes are lost", table.splitlines()[-1])
        self.assertIn("acquires A", table)
        self.assertNotEqual(refused, 0)
        self.assertIn("has no schedule Z", reason)

    def test_resumed_run_keeps_what_was_explored_of_the_same_text(self):
        options = ("--type", "clh", "--config", "three_once", "--resume")
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as built:
            write_copy(Path(folder), {})
            explored = run(folder, built, *options)
            kept, = (Path(built) / "kept").iterdir()
            kept.write_text(kept.read_text().replace("states ", "states 9", 1))
            again = run(folder, built, *options)
            without = run(folder, built, *options[:-1])
            write_copy(Path(folder), {DEFECT.file: DEFECT.applied})
            changed = run(folder, built, *options)
        self.assertEqual([status for status, _ in (explored, again, without, changed)],
                         [0, 0, 0, 1])
        states = explored[1].split()[2]
        self.assertIn(f"three_once: 9{states}".replace(",", ""), again[1].replace(",", ""))
        self.assertIn(f"three_once: {states}", without[1])

    def test_unknown_configuration_lists_the_known_ones(self):
        status, text = run(PROJECT, os.devnull, "--config", "nothing")
        self.assertEqual(status, 2)
        self.assertIn("two_twice", text)

    def test_interrupted_run_says_how_far_it_got(self):
        largest = next(configuration for configuration in CONFIGURATIONS
                       if configuration.name == "three_twice")
        program = build(PROJECT, BUILD / "explore")
        with subprocess.Popen(arguments(program, "mcs", largest), stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True) as process:
            # However long it takes until it would heed that.
            while not catches(process.pid, signal.SIGINT) and process.poll() is None:
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            _, text = process.communicate()
        self.assertEqual(process.returncode, 128 + signal.SIGINT)
        self.assertRegex(text, r"explore: \d+ states, \d+ transitions so far")


class ListsTest(unittest.TestCase):
    def test_names_are_unique(self):
        self.assertEqual(len(NAMES), len(set(NAMES)))

    def test_lists_of_a_type_have_known_names(self):
        for lock, names in OF_SOME.items():
            self.assertLessEqual(set(names), set(NAMES), lock)
