# SPDX-License-Identifier: GPL-2.0
"""Tests as processes, none of which outlives the run."""

import os
import re
import subprocess
import threading

from base.building import kill_group
from base.common import ends_with_us

# The time of a core, whatever else the machine does: that of the shell, and of what it has run.
TIMED = 'prlimit --cpu="$0" "$@"; status=$?; times; exit $status'
TIMES = re.compile(r"\S+ \S+\n(\d+)m([\d.]+)s (\d+)m([\d.]+)s\n\Z")


class Stopped(Exception):
    """The run is being ended."""


class Processes:
    """Those that are running now, to be ended all at once."""

    def __init__(self):
        self.running = set()
        self.stopped = False
        self.lock = threading.Lock()

    def stop(self):
        with self.lock:
            self.stopped = True
            for process in self.running:
                kill_group(process)

    def output_of(self, command, environment=None, seconds=None):
        """(exit status, standard output, seconds of a core that it took). seconds: of a core, after
        which each of its processes is ended; None: to the end.
        """
        with self.lock:
            if self.stopped:
                raise Stopped
            limit = "unlimited" if seconds is None else str(seconds)
            process = subprocess.Popen(
                ends_with_us(["sh", "-c", TIMED, limit, *command], group=True),
                env={**os.environ, **(environment or {})}, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace",
                start_new_session=True)
            self.running.add(process)
        try:
            output, _ = process.communicate()
        finally:
            with self.lock:
                self.running.discard(process)
            kill_group(process)
        if self.stopped:
            raise Stopped
        minutes, seconds, more_minutes, more_seconds = TIMES.search(output).groups()
        return process.returncode, TIMES.sub("", output), \
            60 * (int(minutes) + int(more_minutes)) + float(seconds) + float(more_seconds)
