# SPDX-License-Identifier: GPL-2.0
"""Which kernels the tests were run on, how, and what came of it: a table."""

from testbed.common import Trouble, columns


class TestBed:
    """A kernel of the table.

    find() returns it, with its version.
    """

    def __init__(self, name, find):
        self.name = name
        self.find = find

    @property
    def version(self):
        try:
            return self.find().version
        except Trouble:
            return "-"


class On:
    """From a step, between its cases: those that follow are of this row."""

    def __init__(self, testbed, how):
        self.testbed = testbed
        self.how = how


def runs_on(testbed, how):
    """Mark a step: its cases are of this row, until it yields another On."""
    def mark(step):
        step.on = On(testbed, how)
        return step
    return mark


class Row:
    """A kernel and a way to run it: several steps may share one."""

    def __init__(self, name, how):
        self.name = name
        self.how = how
        self.version = None
        self.seconds = 0
        self.counts = {"ok": 0, "FAIL": 0, "skip": 0}
        self.reasons = {"ok": [], "FAIL": [], "skip": []}

    def add(self, case, seconds):
        self.seconds += seconds
        self.counts[case.status] += 1
        reason = case.detail.partition("\n")[0] if case.status == "skip" else case.name
        self.reasons[case.status].append(reason)

    def merge(self, other):
        self.version = self.version or other.version
        self.seconds += other.seconds
        for status in self.counts:
            self.counts[status] += other.counts[status]
            self.reasons[status] += other.reasons[status]

    @property
    def result(self):
        """The worst first."""
        skipped = next(iter(self.reasons["skip"]), "")
        if self.counts["FAIL"]:
            return f"FAIL: {self.reasons['FAIL'][0]}"
        if not self.counts["ok"]:
            return f"skip: {skipped}"
        return f"pass, {self.counts['skip']} skipped: {skipped}" if self.counts["skip"] \
            else "pass"

    def texts(self):
        return (self.name, self.version, self.how,
                str(sum(self.counts.values())), f"{self.seconds:.0f}", self.result)


class KernelTable:
    """Collects cases under kernels."""

    HEAD = ("kernel", "version", "how", "cases", "seconds", "result")
    NUMBERS = (3, 4)

    def __init__(self):
        self.rows = {}
        self.testbeds = {}
        self.on = None

    def begin(self, step):
        """The step's cases come next."""
        self.on = getattr(step, "on", None)

    def add(self, case, seconds):
        if self.on:
            key = (self.on.testbed.name, self.on.how)
            self.testbeds[self.on.testbed.name] = self.on.testbed
            self.rows.setdefault(key, Row(*key)).add(case, seconds)

    def finished(self):
        """Its rows, with the kernels' versions."""
        for row in self.rows.values():
            row.version = row.version or self.testbeds[row.name].version
        return list(self.rows.values())

    def merge(self, rows):
        """Add the finished rows of another table."""
        for row in rows:
            own = self.rows.setdefault((row.name, row.how), row)
            if own is not row:
                own.merge(row)

    def lines(self):
        """The table, the rows of a kernel together, kernels in order of appearance."""
        testbeds = list(dict.fromkeys(testbed for testbed, _ in self.rows))
        rows = sorted(self.finished(), key=lambda row: testbeds.index(row.name))
        return columns([self.HEAD, *(row.texts() for row in rows)], self.NUMBERS)
