# SPDX-License-Identifier: GPL-2.0
"""Which kernels the tests were run on, how, and what came of it: a table."""

from base.common import Failure, columns, terminal_columns
from guest.machines import UserModeMachine


class TestBed:
    """A kernel of the table.

    find() returns it, with its version; boots(kernel) is a machine of it.
    """

    def __init__(self, name, find, boots=UserModeMachine):
        self.name = name
        self.find = find
        self.boots = boots

    def machine(self):
        return self.boots(self.find())

    @property
    def version(self):
        try:
            return self.find().version
        except Failure:
            return "-"


class Row:
    """A kernel and a way to run it: several steps may share one."""

    def __init__(self):
        self.seconds = 0
        self.reasons = {"ok": [], "FAIL": [], "skip": []}

    def add(self, case, seconds):
        self.seconds += seconds
        reason = case.detail.partition("\n")[0] if case.status == "skip" else case.name
        self.reasons[case.status].append(reason)

    @property
    def result(self):
        """The worst first."""
        failed, skipped = self.reasons["FAIL"], self.reasons["skip"]
        if failed:
            return f"FAIL: {failed[0]}"
        if not self.reasons["ok"]:
            return f"skip: {skipped[0]}"
        return f"pass, {len(skipped)} skipped: {skipped[0]}" if skipped else "pass"

    def texts(self):
        return (str(sum(map(len, self.reasons.values()))), f"{self.seconds:.0f}", self.result)


class KernelTable:
    """Collects cases under kernels."""

    HEAD = ("kernel", "version", "how", "cases", "seconds", "result")
    NUMBERS = (3, 4)

    def __init__(self):
        self.rows = {}
        self.versions = {}	# {name of a kernel: version}

    def add(self, place, case, seconds):
        """place: (name of a kernel, how), or nothing."""
        if place:
            self.rows.setdefault(place, Row()).add(case, seconds)

    def lines(self):
        """The table, the rows of a kernel together, kernels in order of appearance."""
        names = list(dict.fromkeys(name for name, _ in self.rows))
        places = sorted(self.rows, key=lambda place: names.index(place[0]))
        return columns([self.HEAD, *(
            (name, self.versions.get(name, "-"), how, *self.rows[name, how].texts())
            for name, how in places)], self.NUMBERS, terminal_columns())
