# SPDX-License-Identifier: GPL-2.0
"""A host that others use, too: processes that keep its cores busy while runs are made."""

import os
from pathlib import Path
import subprocess
import sys
import time

from base.building import kill_group
from base.common import cores

# Until its parent has ended, however that ended.
SPIN = """
import os, sys
while os.getppid() == int(sys.argv[1]):
    for _ in range(100000):
        pass
"""
NAME = "nbqlock-host-busy"	# in a list of processes


def cpu_seconds(process):
    """The time of a CPU that a process has had; 0 if it has ended."""
    try:
        text = Path(f"/proc/{process.pid}/stat").read_text()
    except OSError:
        return 0.0
    user, system = text.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


class BusyHost:
    """So many busy processes for each core of this machine, as long as the block lasts.

    They have the priority of this process, and so of a guest. Each has a session of its own,
    as a guest has: a kernel may share out its CPUs to sessions, so that all processes of one
    had what a single one has.
    """

    def __init__(self, a_core):
        self.cores = cores()
        self.number = a_core * self.cores
        self.processes = []
        self.begun = 0.0

    def __enter__(self):
        self.begun = time.monotonic()
        try:
            for _ in range(self.number):
                self.processes.append(subprocess.Popen(
                    [sys.executable, "-I", "-S", "-c", SPIN, str(os.getpid()), NAME],
                    stdin=subprocess.DEVNULL, start_new_session=True))
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        for process in self.processes:
            kill_group(process)

    def figures(self):
        """How busy they have kept it so far, for the results of the runs."""
        had = sum(map(cpu_seconds, self.processes))
        there = (time.monotonic() - self.begun) * self.cores
        return {"host_busy_processes": self.number, "host_busy_cores": self.cores,
                "host_busy_permille": round(1000 * had / there)}

    def problems(self):
        """What was not as it was meant to be, in sentences."""
        ended = sum(process.poll() is not None for process in self.processes)
        return [f"{ended} of {self.number} processes that were to keep the host busy have "
                "ended early"] if ended else []
