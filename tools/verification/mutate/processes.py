# SPDX-License-Identifier: GPL-2.0
"""Tests as processes, none of which outlives the run."""

import os
import subprocess
import threading

from testbed.building import kill_group


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

    def output_of(self, command, environment, time_limit):
        """(exit status, standard output); status None if it came to no end in so many seconds."""
        with self.lock:
            if self.stopped:
                raise Stopped
            process = subprocess.Popen(command, env={**os.environ, **environment},
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, text=True, errors="replace",
                                       start_new_session=True)
            self.running.add(process)
        try:
            output, _ = process.communicate(timeout=time_limit)
        except subprocess.TimeoutExpired:
            kill_group(process)
            return None, process.communicate()[0]
        finally:
            with self.lock:
                self.running.discard(process)
            kill_group(process)
        if self.stopped:
            raise Stopped
        return process.returncode, output
