# SPDX-License-Identifier: GPL-2.0
"""Runs that are made in one guest after the other, as a guest can be lost."""

from base.common import say
from base.lines import Lines
from base.testbeds import TESTBEDS
from guest.logs import log_excerpt
from measure.stress import read_runs

LOST_GUESTS = 3			# then the other runs are given up


class GuestsPlace:
    """A testbed whose runs are made in guests."""

    def __init__(self, name):
        self.name = name
        self.testbed = TESTBEDS[name]
        self.most_cpus = self.testbed.most_cpus
        self.meaning = self.testbed.meaning

    def cpu_list(self, cpus):
        return f"0-{cpus - 1}"

    def make(self, runs, cpus, progress):
        """Make runs in guests with so many CPUs. Returns what went wrong, in sentences.

        A guest that is lost takes only the run that it was lost in with it.
        """
        problems = []
        left = runs
        lost = 0
        while left and lost < LOST_GUESTS:
            found = self.make_in_one_guest(left, cpus, progress)
            still = [run for run in left if not run.settled]
            if not found and len(still) == len(left):
                found = ["the guest made no run"]
            lost += bool(found)
            problems += found
            left = still
        lose(left, f"not made, after {LOST_GUESTS} guests were lost", progress)
        return problems

    def make_in_one_guest(self, runs, cpus, progress):
        """Make runs in one guest, as far as it comes. Returns what went wrong."""
        raise NotImplementedError


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


def lose(runs, problem, progress):
    for run in runs:
        run.lost = problem
        progress.skip(run.seconds)


def lose_current(runs, listener, problem, progress):
    """Blame the run in which a guest was lost; all, if it did not get to the first."""
    guilty = [listener.run] if listener.run else []
    if not guilty and not any(run.settled for run in runs):
        guilty = runs
    lose(guilty, problem, progress)


def complaints(outcome):
    return [f"the kernel complained: {line}" for line in outcome.complaints[:3]]


def show_log(outcome, progress):
    progress.clear()
    say(log_excerpt(outcome))
