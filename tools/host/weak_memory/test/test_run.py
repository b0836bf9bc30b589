# SPDX-License-Identifier: GPL-2.0
"""Whole acquisitions under weak memory: what is run, what is read from GenMC's words."""

import json
import os
from pathlib import Path
import re
import signal
import subprocess
import tempfile
import time
import unittest

from base.common import PROJECT, Unavailable
from base.test import HANGS
from host.mutate.mutant import all_mutants
from host.mutate.processes import Processes
from host.weak_memory.configurations import CONFIGURATIONS, MODELS, TYPES, WEAKENINGS, Configuration
from host.weak_memory.program import GenMC, error_in, find_genmc
from host.weak_memory.program import run as run_program
from host.weak_memory.program import shipped_files, steps_of, with_whole_words

RUN = PROJECT / "tools/host/weak_memory/run"
KNOWN = {configuration.name: configuration for configuration in CONFIGURATIONS}
RACE = """Error detected: Non-Atomic race!
Event (2, 2) conflicts with event (1, 2) in graph:
\t(1, 2): Wna (counter, 1) L7: client.c

Trace to (2, 2):
[thread_2] client.c: 7: counter++;
[thread_2] client.c: 7: counter++;
[thread_2] client.c: 8: mine++;
Number of complete executions explored: 4
"""
LOST = 'Error detected: Safety violation!\n...\nAssertion violation: counter == mine\n'


def has_genmc():
    try:
        find_genmc()
    except Unavailable:
        return False
    return True


def is_alive(pid):
    status = Path("/proc", pid, "status")
    return status.exists() and "State:\tZ" not in status.read_text()


def run(*options, **environment):
    with tempfile.TemporaryDirectory() as built:
        done = subprocess.run([RUN, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False, env={**os.environ, "O": built, **environment})
    return done.returncode, done.stdout


class Lists(unittest.TestCase):
    def test_names_are_unique(self):
        self.assertEqual(len(KNOWN), len(CONFIGURATIONS))

    def test_each_lock_is_run_under_each_model(self):
        self.assertEqual({(lock, model) for configuration in CONFIGURATIONS
                          for lock in configuration.locks for model in configuration.models},
                         {(lock, model) for lock in TYPES for model in MODELS})

    def test_each_weakening_is_one_mistake_and_has_its_configuration(self):
        mutants = list(all_mutants())
        for weakening in WEAKENINGS:
            self.assertIn(weakening.lock, KNOWN[weakening.configuration].locks)
            self.assertTrue(weakening.mutant(mutants))

    def test_files_are_those_of_the_kernel_module(self):
        for file in ("nbqlock/clh_nb.c", "nbqlock/bare_spin.c", "nbqlock/node.c"):
            self.assertIn(file, shipped_files())
        for file in shipped_files():
            self.assertTrue((PROJECT / file).exists())

    def test_headers_of_the_files_are_there(self):
        done = subprocess.run(["gcc", "-M", "-Itools/host/shim", "-I.", *shipped_files()],
                              cwd=PROJECT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                              check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Words(unittest.TestCase):
    def test_error_is_one_line(self):
        self.assertEqual(error_in(RACE), "Non-Atomic race!")
        self.assertEqual(error_in(LOST), "Safety violation! counter == mine")
        self.assertEqual(error_in("No errors were detected.\n"), "")

    def test_trace_has_each_step_once(self):
        self.assertEqual(steps_of(RACE)[1:3], ["[thread_2] client.c: 7: counter++;",
                                               "[thread_2] client.c: 8: mine++;"])

    def test_deadline_has_no_parts_of_words(self):
        text = with_whole_words((PROJECT / "nbqlock/deadline.h").read_text())
        struct = text[text.index("struct nbq_deadline {"):]
        struct = struct[:struct.index("};")]
        self.assertNotRegex(struct, r"u8|u32|bool|u64 \w+;")
        # A run of flags that does not fill a word is accessed as less than one.
        self.assertEqual(sum(int(bits) for bits in re.findall(r"u64 \w+:(\d+);", struct)), 64)


class Missing(unittest.TestCase):
    def test_one_sentence_says_how_to_get_it(self):
        with tempfile.NamedTemporaryFile("r") as results:
            status, text = run("--json", results.name, GENMC="/nowhere/genmc")
            found = json.load(results)
        self.assertEqual(status, 77)
        self.assertEqual(len(text.splitlines()), 1)
        self.assertIn("v0.9", text)
        self.assertIn("--with-llvm=/usr/lib/llvm-14", found["missing"])
        self.assertEqual(found["runs"], [])


class Limits(unittest.TestCase):
    """GenMC is a program here that says what it may take."""

    def limit_of(self, seconds):
        with tempfile.TemporaryDirectory() as folder:
            fake = Path(folder, "genmc")
            fake.write_text("#!/bin/sh\necho limit $(ulimit -t)\n")
            fake.chmod(0o755)
            genmc = GenMC(fake, Path(folder), "0.9")
            found = run_program(genmc, Processes(), fake, "rc11", seconds)
        self.assertTrue(found.ended)
        return re.search(r"limit (\S+)", found.output)[1]

    def test_configuration_that_has_an_end_comes_to_it(self):
        self.assertEqual(self.limit_of(Configuration("any", ()).seconds), "unlimited")

    def test_one_that_has_none_is_ended(self):
        self.assertEqual(self.limit_of(60), "60")


class WithGenMC(unittest.TestCase):
    """Where there is one, see load_tests()."""

    def test_shipped_text_is_right(self):
        status, text = run("--shipped", "--type", "clh", "--model", "rc11", "--config", "resumed")
        self.assertEqual(status, 0, text)
        self.assertRegex(text, r"ok clh\.resumed rc11: \d+ executions")

    def test_weakenings_are_noticed(self):
        status, text = run("--type", "spin", "--model", "rc11", "--config", "newcomers")
        self.assertEqual(status, 0, text)
        self.assertIn("notices bare_spin.h nbq_bare_spin_unlock order smp_store_release", text)

    def test_nothing_outlives_an_interrupted_run(self):
        with tempfile.TemporaryDirectory() as folder:
            fake, started = Path(folder, "genmc"), Path(folder, "started")
            fake.write_text('#!/bin/sh\n[ "$1" != --version ] || exec '
                            f'"{find_genmc().command}" --version\necho $$ >{started}\n'
                            "exec sleep 1000\n")
            fake.chmod(0o755)
            with subprocess.Popen([RUN, "--shipped", "--jobs", "1"], stderr=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL,
                                  env={**os.environ, "GENMC": str(fake), "O": folder}) as process:
                while not started.exists() or not started.read_text():
                    self.assertIsNone(process.poll())
                    time.sleep(0.05)
                process.send_signal(signal.SIGINT)
                self.assertEqual(process.wait(timeout=HANGS), 130)
            self.assertFalse(is_alive(started.read_text().strip()))


def load_tests(loader, tests, pattern):
    """Without GenMC the cases that need it are none, rather than skipped."""
    del pattern
    if has_genmc():
        return tests
    return unittest.TestSuite(loader.loadTestsFromTestCase(case)
                              for case in (Lists, Words, Missing, Limits))
