# SPDX-License-Identifier: GPL-2.0
"""Table 1: what a lock costs alone, in time, instructions and accesses to memory.

As in section 3.1 of Scott 2002: one thread, an uncontended lock, no work inside or outside, no loop
around it. The paper took the least of 8 runs, to leave out what else the machine did; so
do the ratios to TAS-B. Instructions say how much code a pair is, not how long that takes: an atomic
operation is one instruction, and the dearest of all. notes() says where each part is from.
"""

from pathlib import Path
from statistics import median
import subprocess
from typing import NamedTuple, Optional, Tuple

from base.common import PROJECT, Failure
from measure.bench.metrics import by_round
from measure.metrics import ratios
from measure.results import COUNTS, read_json

TIME = "table1"
INSTRUCTIONS = "table1-instructions"
KERNELS_LOCK = "raw_spinlock"	# what the others are compared with ...
PAPERS_LOCK = "tas_b"		# ... and what the paper compares with
COUNT_SECONDS = 3600

MISSING = "-"
HEADINGS = ("lock", "ns", "min", "max", f"of {KERNELS_LOCK}", f"min of {PAPERS_LOCK}'s",
            "instructions", "failed try: ns", "failed try: instructions",
            "atomic", "reads", "writes", "in print: cycles", "of TAS-B", "atomic / reads / writes")


# Cycles, atomic operations, reads and writes of Scott 2002, table 1: a Sun Enterprise 10000,
# 466 MHz UltraSPARC 2.
PRINTED = {
    "tas_b": (19, 1, 0, 1), "tas_b_try": (19, 1, 0, 1), "clh": (35, 1, 3, 4),
    "clh_try": (67, 2, 3, 3), "clh_nb_paper": (75, 2, 3, 4), "mcs": (59, 2, 2, 1),
    "mcs_try": (59, 2, 2, 1), "mcs_nb_paper": (91, 3, 3, 4),
}


# Time and instructions

def times_of(result, lock, metric="alone_ns"):
    """{round: ns} of a lock."""
    return by_round(metric, result.runs_of(lock) if result else [])


def least_ratio(mine, its):
    """As the paper compares: the least of all rounds by the other's least."""
    least = min(its.values(), default=0)
    return min(mine.values()) / least if mine and least > 0 else None


# Accesses

def measure_counts(folder):
    """Count the accesses of each lock, to counts.json in a folder of results."""
    path = Path(folder) / COUNTS
    if path.exists():
        return
    try:
        done = subprocess.run([PROJECT / "tools/host/programs/count", "--json", path],
                              text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False, timeout=COUNT_SECONDS)
    except subprocess.TimeoutExpired:
        raise Failure("tools/host/programs/count was not done after "
                      f"{COUNT_SECONDS} s") from None
    if done.returncode or not path.exists():
        raise Failure("tools/host/programs/count has counted no accesses: "
                      f"{done.stdout.strip()}")


def counts_in(folder):
    """{lock: {number's name: value}}; empty if nothing was counted."""
    path = folder.path / COUNTS
    return read_json(path)["locks"] if path.exists() else {}


# The table

class Line(NamedTuple):
    """A lock's part of the table, in numbers."""
    lock: str
    times: Tuple[float, ...]
    of_kernels: Tuple[float, ...]
    of_papers: Optional[float]
    instructions: Tuple[float, ...]
    failed: Tuple[float, ...]
    failed_instructions: Tuple[float, ...]
    counts: dict
    printed: Optional[Tuple[int, ...]]

    def cells(self):
        return (self.lock, *(word(self.times, "{:.1f}", of) for of in (median, min, max)),
                word(self.of_kernels, "{:.2f}"), word(self.of_papers, "{:.2f}"),
                *(word(each, "{:.1f}") for each in (
                    self.instructions, self.failed, self.failed_instructions)),
                *(word(self.counts.get(name), "{:g}") for name in ("atomics", "reads", "writes")),
                *self.printed_cells())

    def printed_cells(self):
        if not self.printed:
            return (MISSING,) * 3
        cycles, *accesses = self.printed
        return (str(cycles), f"{cycles / PRINTED[PAPERS_LOCK][0]:.2f}",
                "/".join(str(each) for each in accesses))


def word(found, form, of=median):
    """A number, or what the numbers of the rounds come to."""
    if found is None or found == ():
        return MISSING
    return form.format(of(found) if isinstance(found, tuple) else found)


def lines(time, instructions, counts):
    """[Line], in the driver's order as far as that is known.

    time, instructions: ScenarioResults or None; counts: as counts_in().
    """
    kernels, papers = times_of(time, KERNELS_LOCK), times_of(time, PAPERS_LOCK)
    names = [name for result in (time, instructions) if result for name in result.locks]
    found = []
    for lock in dict.fromkeys([*names, *counts]):
        mine = times_of(time, lock)
        found.append(Line(lock, tuple(mine.values()), tuple(ratios(mine, kernels)),
                          least_ratio(mine, papers),
                          tuple(times_of(instructions, lock).values()),
                          *(tuple(times_of(each, lock, "failed_try_ns").values())
                            for each in (time, instructions)),
                          counts.get(lock, {}), PRINTED.get(lock)))
    return found


def sources(folder):
    """What lines() takes, of an opened folder."""
    time, instructions = (folder.scenarios.get(name) for name in (TIME, INSTRUCTIONS))
    return time, instructions, counts_in(folder) if time or instructions else {}


def lines_of(folder):
    """[Line] of an opened folder; none if it has neither of the two scenarios."""
    found = sources(folder)
    return lines(*found) if any(found[:2]) else []


def table(folder):
    """(headings, rows of words, sentences) of an opened folder."""
    rows = [line.cells() for line in lines_of(folder)]
    return HEADINGS, rows, notes(*sources(folder)) if rows else []


# What has to be said with it

DIRECTLY = ("Acquisitions and releases follow one another directly, with interrupts disabled; what "
            "two calls take that do nothing is taken off.")


def notes(time, instructions, counts):
    return [*time_notes(time), *instruction_notes(instructions, time), *count_notes(counts),
            "In print: Scott 2002, table 1, cycles of a 466 MHz UltraSPARC 2, the least of 8 "
            "runs. A cycle there and a nanosecond here are not comparable; the ratios to "
            "TAS-B are.",
            "Cache misses are not measured: neither user-mode Linux nor QEMU's emulation has "
            "hardware counters. All of this is in the cache, as in print."]


def time_notes(result):
    if not result:
        return []
    return [f"Time: user-mode Linux {result.kernel}, one thread on one CPU, ns for an "
            f"acquisition and its release; median, least and most of {result.plan.rounds} "
            f"rounds. Ratios to {KERNELS_LOCK} are medians of those of each round, ratios to "
            f"{PAPERS_LOCK} are of the least times, as in print. {DIRECTLY}"]


def instruction_notes(result, time):
    if not result:
        return []
    missing = [lock for lock in (time.locks if time else []) if lock not in result.locks]
    absent = f" That kernel has no {', '.join(missing)}." if missing else ""
    return [f"Instructions: x86-64, Linux {result.kernel} in QEMU, whose clock counts them; "
            f"median. {DIRECTLY}{absent}"]


def count_notes(counts):
    if not counts:
        return ["The accesses to memory were not counted."]
    said = ["Atomic operations, reads and writes: counted in the shipped files as compiled "
            "on the host; of locks, queue nodes, and what a thread or CPU keeps for itself. "
            "The kernel's own locks cannot be compiled there. Not among them are "
            "nbqlock's counters of events, "
            f"{max(found['tally_writes'] for found in counts.values()):g} increments a pair, "
            "which the printed locks do not have."]
    uneven = [lock for lock, found in counts.items() if found["min"] != found["max"]]
    if uneven:
        said.append(f"Of {', '.join(uneven)} not every pair costs the same; the mean is "
                    "shown.")
    return said
