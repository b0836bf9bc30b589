# SPDX-License-Identifier: GPL-2.0
"""The results of the tests of rqspinlock, of several kernels side by side."""

from statistics import median

from base.common import columns, terminal_columns
from studies.rqspinlock.runs import BOUNDS, Cycle, Deadlocks, MapLoad, Selftest

KINDS = ("ok", "EDEADLK", "ETIMEDOUT", "other")
WAITS = (*(f"to {bound} ms" for bound in BOUNDS), f"over {BOUNDS[-1]} ms")


def deadlocks_rows(runs):
    """{row: text} of the rounds of one mode: sums of those that ended."""
    ended = [run for run in runs if not run.hung and len(run.results) == 2]
    rows = {"rounds that hang": hangs(runs)}
    for who in ("task", "irq"):
        for kind in KINDS:
            rows[f"{who}, {kind}"] = str(sum(run.results[who][kind] for run in ended)) \
                if ended else "-"
    for place, name in enumerate(WAITS):
        rows[f"waits {name}"] = str(sum(run.waits[place] for run in ended)) if ended else "-"
    return rows


def cycle_rows(runs):
    failed = [line.split(": ")[1].split()[0] for run in runs for line in run.attempts
              if " after " in line]
    deadlocks, timeouts = failed.count("-35"), failed.count("-110")
    return {"rounds that hang": hangs(runs), "attempts, EDEADLK": str(deadlocks),
            "attempts, ETIMEDOUT": str(timeouts)}


def map_rows(runs):
    rates = sorted(run.updates_a_second for run in runs if run.counts)
    counts = [run.counts for run in runs if run.counts]
    failed = sum(each["deadlocks"] + each["timeouts"] for each in counts)
    return {"rounds that hang": hangs(runs),
            "updates a second, median": f"{median(rates):.0f}" if rates else "-",
            "of rounds": " ".join(f"{rate:.0f}" for rate in rates) or "-",
            "bytes of a lock": " ".join(str(size) for size in runs[0].lock_sizes) or "-",
            "failed operations": str(failed), "wrong": str(sum(each["wrong"]
                                                               for each in counts))}


def selftest_rows(runs):
    return {"rounds that hang": hangs(runs),
            "checks": " ".join(str(sum(run.checks.values())) for run in runs),
            "failed checks": "; ".join(dict.fromkeys(check for run in runs
                                                     for check in run.failed)) or "none"}


def hangs(runs):
    return f"{sum(run.hung for run in runs)} of {len(runs)}"


ROWS = {Deadlocks: deadlocks_rows, Cycle: cycle_rows, MapLoad: map_rows,
        Selftest: selftest_rows}


def table(made):
    """The lines of a table. made: {kernel: [Run, ...]}"""
    names = list(dict.fromkeys(run.name for runs in made.values() for run in runs))
    lines = [("test", "", *made)]
    for name in names:
        sides = []
        for runs in made.values():
            own = [run for run in runs if run.name == name]
            sides.append(ROWS[type(own[0])](own) if own else {})
        rows = max(sides, key=len)
        for number, row in enumerate(rows):
            lines.append((name if not number else "", row,
                          *(side.get(row, "-") for side in sides)))
    return columns(lines, width=terminal_columns())
