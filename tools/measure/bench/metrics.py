# SPDX-License-Identifier: GPL-2.0
"""Metrics that need more than the run, and the rounds of a lock at a point.

Of the rounds the median and the range are kept. A metric that cannot be computed is None.
"""

from dataclasses import dataclass, field
import math
from statistics import median
from typing import Optional

from measure.metrics import (Metric, figure, in_microseconds, operations_per_second,
                             passing_time_ns, ratio, shown)
from measure.metrics import METRICS as OF_A_RUN

FIGURE5 = "figure5"		# the experiment that the passing time Ta is taken from


@dataclass
class Context:
    """What metrics need besides the run: the machine, and another experiment.

    cores: of the host, or of the simulated machine, which are the paper's processors.
    passing_ns: {lock: Ta}, the time to pass a lock on with ample patience and a
        core for each CPU.
    testbed: where the runs were made.
    own: {(round, point): operations per second} of the kernel's own lock, of whole kernels.
    """

    cores: Optional[int] = None
    passing_ns: dict = field(default_factory=dict)
    testbed: Optional[str] = None
    own: dict = field(default_factory=dict)


def context_of(cores, figure5_runs, testbed=None):
    """A Context, with Ta from the runs of figure 5 that had a core for each CPU."""
    by_lock = {}
    for run in figure5_runs or []:
        if run.passed and run.point.get("cpus") == cores:
            found = passing_time_ns(run, None)
            if found is not None:
                by_lock.setdefault(run.lock, []).append(found)
    return Context(cores, {lock: median(times) for lock, times in by_lock.items()}, testbed)


def context_of_kernels(cores, runs, own):
    """A Context for whole kernels. own: the lock that is the kernel's own."""
    mine = [run for run in runs if run.lock == own and run.passed]
    return Context(cores, own={(run.round, place_of(run)): operations_per_second(run, None)
                               for run in mine})


def place_of(run):
    return tuple(sorted(run.point.items()))


def overburdened(run, context):
    """Whether the CPUs are more than the cores: the only place for Tx and Th."""
    cpus = run.point.get("cpus")
    return bool(cpus and context and context.cores and cpus > context.cores)


def preempted_inside_ns(run, context):
    """Tx, the time that a critical section is preempted, on average.

    Critical sections exclude one another, so together they take the run:
        Ts = s t i (Ta + Tc + Tx),  hence  Tx = Ts/(s t i) - (Ta + Tc)
    Ts: elapsed_ns. s t i: the acquisitions. Tc: cs_ns. Ta: see Context. It is
    below 0 where passing the lock on takes less time than Ta, for example
    because a preempted waiter leaves the lock to others.
    """
    if not overburdened(run, context):
        return None
    each = ratio(figure(run, "elapsed_ns"), figure(run, "acquisitions"))
    passing = context.passing_ns.get(run.lock)
    inside = figure(run, "cs_ns")
    if None in (each, passing, inside):
        return None
    return each - (passing + inside)


def loop_ns(run):
    """Tl, an iteration but for the lock: the driver's loop, the work outside."""
    loop, outside = figure(run, "empty_loop_ps"), figure(run, "ncs_ns")
    return None if None in (loop, outside) else loop / 1000 + outside


def leaving_ns(run, context):
    """Th, the time that a waiter takes to leave after its patience, at least.

    All but one of the m processors are free for what is not a critical
    section: failed attempts (loop, patience and leaving) and the waits of
    those that succeed, Tw each:
        Ts = t i / (m - 1) (Tl + (1 - s)(Tp + Th) + s Tw)
    A wait that succeeds ends within the patience, Tw <= Tp, so that
        Th >= (m - 1) Ts / ((1 - s) t i) - (Tl + Tp) / (1 - s)
    m: the host's cores, as it is they that do the work; t i: the attempts, all
    CPUs together; (1 - s) t i: the attempts that failed; Tp: patience_ns.
    Where waits are much shorter than the patience that is below 0 and says nothing: 0.
    A lock that does not heed the patience has no Th; the driver takes no
    overshoot of it.
    """
    attempts, won = figure(run, "attempts"), figure(run, "acquisitions")
    elapsed, patience = figure(run, "elapsed_ns"), figure(run, "patience_ns")
    outside = loop_ns(run)
    if (not overburdened(run, context) or None in (attempts, won, elapsed, patience, outside)
            or attempts <= won or not figure(run, "overshoot_samples")):
        return None
    failed = attempts - won
    return max(0, (context.cores - 1) * elapsed / failed
               - (outside + patience) * attempts / failed)


def times_own(run, context):
    own = context.own.get((run.round, place_of(run))) if context else None
    return ratio(operations_per_second(run, None), own)


def times_own_median(run, context):
    """Beside the median of the kernel's own rounds, so that these have a spread as well."""
    own = [rate for (_, place), rate in (context.own if context else {}).items()
           if place == place_of(run) and rate is not None]
    return ratio(operations_per_second(run, None), median(own) if own else None)


METRICS = {**OF_A_RUN, **{metric.name: metric for metric in [
    Metric("tx_us", "Tx", "us", in_microseconds(preempted_inside_ns), apart=True),
    Metric("th_us", "Th, at least", "us", in_microseconds(leaving_ns), apart=True),
    Metric("times_qspinlock", "operations, times qspinlock's", "", times_own),
    Metric("times_median", "times qspinlock's median", "", times_own_median),
]}}


# Rounds

class Summary:
    """The rounds of one lock at one point: median, least and most."""

    def __init__(self, values):
        self.median = median(values)
        self.low = min(values)
        self.high = max(values)
        self.rounds = len(values)

    def __str__(self):
        return f"{shown(self.median)} ({shown(self.low)} to {shown(self.high)})"


def by_round(name, runs, context=None):
    """{round: figure} of those runs, of one lock at one point, that have it."""
    figures = {run.round: METRICS[name].of(run, context) for run in runs}
    return {number: value for number, value in figures.items() if value is not None}


def summary(name, runs, context=None):
    """Of all runs given; None if not one of them has the figure."""
    values = [METRICS[name].of(run, context) for run in runs]
    values = [value for value in values if value is not None]
    return Summary(values) if values else None


def same(asked, there):
    """Whether two values of an axis are one: 10000, "10000" and 10000.0 are."""
    try:
        return float(asked) == float(there)
    except (TypeError, ValueError):
        return str(asked) == str(there)


def matching(runs, lock=None, **point):
    """The runs of a lock at a point; axes that are not named do not matter."""
    return [run for run in runs if lock in (None, run.lock)
            and all(axis in run.point and same(value, run.point[axis])
                    for axis, value in point.items())]


def locks_of(runs):
    """The locks, in the order of their first run."""
    return list(dict.fromkeys(run.lock for run in runs))


def size_of(value):
    """For ordering the values of an axis; that of a word is a ValueError."""
    return math.inf if value == "max" else float(value)


def values_of(runs, axis):
    """The values of an axis, numbers in order, words as they come."""
    found = list(dict.fromkeys(run.point[axis] for run in runs if axis in run.point))
    try:
        return sorted(found, key=size_of)
    except (TypeError, ValueError):
        return found


def points_of(runs):
    """Every point that was run, in the order of the runs."""
    seen = {}
    for run in runs:
        seen.setdefault(tuple(sorted(run.point.items(), key=lambda item: item[0])),
                        run.point)
    return list(seen.values())


def quantity(number, unit):
    return f"{shown(number)} {unit}" if unit else shown(number)
