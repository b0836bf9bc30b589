# SPDX-License-Identifier: GPL-2.0
"""A builder that is killed: what it has started ends, and holds the lock until then."""

import fcntl
import os
import select
import signal
import subprocess
import sys

from base.common import PROJECT
from base.test import HANGS, InFolder

# Builds a cache entry by a command whose own child (a compiler, to make) writes to a pipe.
BUILDER = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from base.building import cached, run_logged
entry = Path(sys.argv[2])

def make(folder):
    run_logged(["sh", "-c", sys.argv[3]], entry.with_suffix(".log"), "building")
    return []

cached(entry, make)
"""
# As recursive makes: a child of a child, in the same group, or in one of its own.
WRITER = "sh -c 'echo writes >{pipe}; read -r _ <{go}; echo done >{pipe}'; :"
APART = f"setsid {WRITER}"


class KilledBuilder(InFolder):
    def setUp(self):
        super().setUp()
        self.pipe, self.go = map(self.fifo, ("pipe", "go"))
        self.addCleanup(os.write, self.go, b"\n")

    def fifo(self, name):
        os.mkfifo(self.folder / name)
        descriptor = os.open(self.folder / name, os.O_RDWR)
        self.addCleanup(os.close, descriptor)
        return descriptor

    def killed(self, script, begun):
        """Start a builder, kill it once begun() has returned."""
        script = script.format(pipe=self.folder / "pipe", go=self.folder / "go")
        with subprocess.Popen([sys.executable, "-c", BUILDER, str(PROJECT / "tools"),
                               str(self.folder / "entry"), script],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as builder:
            begun()
            builder.send_signal(signal.SIGKILL)

    def heard(self):
        self.assertTrue(select.select([self.pipe], [], [], HANGS)[0])
        return os.read(self.pipe, 100).decode()

    def may_lock(self, how=fcntl.LOCK_NB):
        with open(self.folder / "entry.lock") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | how)
            except BlockingIOError:
                return False
            return True

    def test_all_that_it_has_started_ends(self):
        self.killed(WRITER, self.heard)
        self.assertTrue(self.may_lock(0))	# waits

    def test_what_writes_on_holds_the_lock_until_it_has_ended(self):
        self.killed(APART, self.heard)
        self.assertFalse(self.may_lock())
        os.write(self.go, b"\n")
        self.assertEqual(self.heard(), "done\n")
        self.assertTrue(self.may_lock(0))
        self.assertFalse((self.folder / "entry/.sealed").exists())
