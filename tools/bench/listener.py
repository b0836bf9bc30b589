# SPDX-License-Identifier: GPL-2.0
"""Hears a guest's output as it comes."""

from testbed.lines import Lines
from testbed.stress import read_runs


class Listener(Lines):
    """A sink for run_guest(): the runs and the progress are told what the guest says."""

    def __init__(self, runs, progress):
        self.runs = {run.name: run for run in runs}
        self.progress = progress
        self.run = None
        self.text = ""

    def hear(self, line):
        if line.startswith("@run "):
            self.run = self.runs.get(line[5:].strip())
            self.text = ""
            if self.run:
                self.progress.begin(self.run.label, self.run.seconds)
        self.text += line + "\n"
        words = line.split()
        if line == "@end" and self.run:
            read_runs(self.text, [self.run])
            self.progress.end(self.run.number("acquisitions_per_second"))
            self.run = None
        elif self.run and words[:2] == ["@progress", "running"] and len(words) == 8:
            # running elapsed_ms N of N acquisitions N
            self.progress.going(int(words[3]), int(words[7]))
