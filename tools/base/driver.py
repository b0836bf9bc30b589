# SPDX-License-Identifier: GPL-2.0
"""What the stress driver says: its lock types, the result of a run."""

import re
import shlex

from base.common import Failure
from base.lock_types import KERNEL, NEW_LOCKS, OURS, PAPERS

# What ours are compared with: the kernel's own, and the locks of papers.
COMPARATORS = (*KERNEL, *PAPERS)
STOCK_LOCKS = tuple(lock for lock in (*OURS, *COMPARATORS) if lock not in NEW_LOCKS)
BROKEN = "broken"		# the lock type that must fail
# In result/histograms, as far as they are not empty.
HISTOGRAMS = ("wait", "failed_wait", "overshoot", "own_overshoot", "away", "handoff", "own_wait",
              "passed", "skipped")
# Figures that stay text, whatever they look like.
TEXTS = {"lock", "cpus", "costs", "verdict"}


def value_of(name, text):
    if name not in TEXTS and re.fullmatch(r"-?\d+", text):
        return int(text)
    if name not in TEXTS and re.fullmatch(r"-?\d+\.\d+", text):
        return float(text)
    return text


def read_figures(text):
    """The "name value" lines of a result, or of nbqlock's counters; numbers as numbers."""
    pairs = (line.split(" ", 1) for line in text.splitlines()
             if " " in line and not line.startswith("@"))
    return {name: value_of(name, value.strip()) for name, value in pairs}


def marked_histograms(text):
    """What result/histograms says, as part of the text of a Run."""
    return "".join(f"@histogram {row}\n" for row in text.splitlines()[1:])


def grows(lock):
    """Whether a lock type of ours has use for more nodes than its pool began with."""
    return not lock.startswith("nbq_spin")


class LockType:
    """A lock type of the driver, or of another module, from its line in "locks"."""

    is_own = True		# of the driver

    def __init__(self, line):
        match = re.fullmatch(r"(\w+): .*?(?: \((no timeout|its own timeout)\))?", line)
        if not match:
            raise Failure(f"\"locks\" has a line that names no lock type: {line}")
        self.name = match[1]
        self.heeds_patience = not match[2]


def listed(text):
    """The same, of what "locks" says."""
    types = [LockType(line) for line in text.splitlines()]
    # The last of the driver's own; those of other modules come behind.
    last = next((place for place, lock in enumerate(types) if lock.name == BROKEN), len(types))
    for lock in types[last + 1:]:
        lock.is_own = False
    return [lock for lock in types if lock.name != BROKEN]


class Run:
    """One run of the stress driver: what was asked for, what came of it.

    judge(run): what is wrong with one that has passed, if anything. wanted: the names of
    the histograms that are to come of it.
    """

    wanted = ()

    def __init__(self, name, judge=None, **settings):
        self.name = name
        self.judge = judge
        self.settings = settings
        self.forget()

    def forget(self):
        """What came of it before."""
        self.text = ""
        self.complete = False

    @property
    def command(self):
        words = " ".join(shlex.quote(f"{key}={value}")
                         for key, value in self.settings.items())
        # It stays for the runs that follow in the same guest, which want the same.
        histograms = f"histograms='{'|'.join(self.wanted)}'\n" if self.wanted else ""
        return f"{histograms}stress_run {self.name} {words}"

    @property
    def figures(self):
        return read_figures(self.text)

    @property
    def histograms(self):
        """{name: [[from, to, count]]} of those that are wanted and not empty."""
        found = {}
        for name, *bucket in re.findall(r"^@histogram (\w+) (\d+) (\d+) (\d+)$", self.text,
                                        re.MULTILINE):
            if name in self.wanted:
                found.setdefault(name, []).append([int(number) for number in bucket])
        return found

    @property
    def complaint(self):
        """What is wrong with it; or nothing."""
        if self.verdict != "PASS":
            return self.verdict
        return self.judge and self.judge(self) or ""

    def number(self, name):
        """A figure of the result; None if it is not there, or no number."""
        value = self.figures.get(name)
        return float(value) if isinstance(value, (int, float)) else None

    def marked(self, word):
        """The rest of the first line that the guest has marked with a word."""
        match = re.search(rf"^@{word} (.*)$", self.text, re.MULTILINE)
        return match[1].strip() if match else None

    @property
    def verdict(self):
        """PASS, "FAIL reason", or what stands in the way of a verdict."""
        reason = self.marked("because")
        reason = f" ({reason})" if reason else ""
        if self.marked("refused"):
            return f"the driver refused {self.marked('refused')}{reason}"
        if not self.complete:
            return "no verdict: the run did not end"
        if self.marked("status") not in (None, "0"):
            return f"no verdict: the run did not start{reason}"
        results = [line for line in self.text.strip().splitlines()
                   if not line.startswith("@")]
        if not results or not re.match(r"verdict (PASS$|FAIL)", results[-1]):
            return "no verdict in the result"
        return results[-1].partition(" ")[2]
