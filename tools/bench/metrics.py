# SPDX-License-Identifier: GPL-2.0
"""What the rounds of one lock at one point come to: named figures with a unit.

Runs are those of results.py, of one experiment. A metric is computed for each
run by itself; of the rounds of a lock at a point the median and the range are
kept. What cannot be computed, because a name is
not in the result, because nothing was sampled, or because the run's verdict is
not PASS, is missing: None, never a guess.
"""

from dataclasses import dataclass, field
import math
from statistics import median
from typing import Callable, NamedTuple, Optional

FIGURE5 = "figure5"		# the experiment that the passing time Ta is taken from


# Reading a run

def figure(run, name):
    """A number of a run's result, or of its settings; None if there is none."""
    for place in (run.result, run.settings):
        found = place.get(name)
        if found is None or isinstance(found, bool):
            continue
        try:
            return float(found)
        except (TypeError, ValueError):
            return None		# "max", or a range of patience
    return None


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


# Figures that are computed. Each takes a run and a Context; times in ns.

def ratio(over, under, factor=1):
    if over is None or not under:
        return None
    return factor * over / under


def acquisitions_per_second(run, _context):
    return ratio(figure(run, "acquisitions"), figure(run, "elapsed_ns"), 1e9)


def attempts_per_second(run, _context):
    return ratio(figure(run, "attempts"), figure(run, "elapsed_ns"), 1e9)


def success_rate(run, _context):
    return ratio(figure(run, "acquisitions"), figure(run, "attempts"), 100)


def handoff_rate(run, _context):
    return ratio(figure(run, "handoffs"), figure(run, "acquisitions"), 100)


def iteration_time_ns(run, _context):
    """Ts/(t i): wall-clock time by the attempts of all threads together."""
    return ratio(figure(run, "elapsed_ns"), figure(run, "attempts"))


def passing_time_ns(run, _context):
    """Wall-clock time for an acquisition, without the work inside the lock.

    As in the paper nothing else is taken off: whatever a waiter does before
    it gets the lock overlaps with the critical sections of others.
    """
    each = ratio(figure(run, "elapsed_ns"), figure(run, "acquisitions"))
    inside = figure(run, "cs_ns")
    return None if each is None or inside is None else each - inside


def overburdened(run, context):
    """Whether the CPUs are more than the cores: the only place for Tx and Th."""
    cpus = run.point.get("cpus")
    return bool(cpus and context and context.cores and cpus > context.cores)


def alone_ns(run, _context):
    """A pass of the driver's loop, less one without a lock; in table 1's scenarios."""
    each = ratio(figure(run, "elapsed_ns"), figure(run, "acquisitions"))
    loop = figure(run, "empty_loop_ps")
    return None if None in (each, loop) else each - loop / 1000


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
    return ((context.cores - 1) * elapsed / failed
            - (outside + patience) * attempts / failed)


def spread(run, _context):
    """Standard deviation of the threads' acquisitions, of their mean."""
    deviation, threads = figure(run, "thread_stddev"), figure(run, "threads")
    return None if None in (deviation, threads) else ratio(
        deviation * threads, figure(run, "acquisitions"), 100)


def nodes_per_thread(run, _context):
    return ratio(used_nodes(run, None), figure(run, "threads"))


def used_nodes(run, _context):
    """The most queue nodes in use; None of a lock that has none."""
    return figure(run, "nodes_max") or None


def misses_each(what):
    """Misses within the attempts that ended so, for each of them."""
    def compute(run, _context):
        return ratio(figure(run, f"{what}_misses"), figure(run, f"{what}_misses_of"))
    return compute


def a_pair(name, factor=1):
    """A figure of the whole run, for each acquisition."""
    def compute(run, _context):
        return ratio(figure(run, name), figure(run, "acquisitions"), factor)
    return compute


def operations_per_second(run, _context):
    """Of a whole kernel. What was to be done by the limit is more than what was done."""
    done = figure(run, "planned")
    return ratio(figure(run, "operations") if done is None else done, figure(run, "elapsed_ns"),
                 1e9)


def times_own(run, context):
    own = context.own.get((run.round, place_of(run))) if context else None
    return ratio(operations_per_second(run, None), own)


def least_rate(run, _context):
    """The worker with the fewest operations, of the mean of all."""
    least, workers = figure(run, "least"), figure(run, "workers")
    return None if None in (least, workers) else ratio(least * workers, figure(run, "operations"),
                                                       100)


def in_microseconds(compute):
    def computed(run, context):
        found = compute(run, context)
        return None if found is None else found / 1000
    return computed


def named(name, divisor=1):
    """A figure that the result has as it is."""
    def read(run, _context):
        found = figure(run, name)
        return None if found is None else found / divisor
    return read


def sampled(samples, name, divisor):
    """A percentile; without samples there is none."""
    def read(run, _context):
        found = figure(run, name)
        return found / divisor if figure(run, samples) and found is not None else None
    return read


# The table

class Metric(NamedTuple):
    """needs: the names that a result must have. meaning: what the label leaves out.

    signed: it may be below 0, and its panels differ so much that each has its own axis.
    """

    name: str
    label: str
    unit: str
    needs: tuple
    compute: Callable
    meaning: str = ""
    signed: bool = False

    @property
    def axis(self):
        """What an axis of a figure is called."""
        return f"{self.label} ({self.unit})" if self.unit else self.label

    def of(self, run, context=None):
        return self.compute(run, context) if run.passed else None


HISTOGRAMS = (("wait", "wait of a success"), ("failed_wait", "wait of a failure"),
              ("overshoot", "past the deadline"),
              ("own_overshoot", "late by own clock"),
              ("away", "own CPU away"), ("handoff", "hand-off"),
              ("own_wait", "wait by own clock"),
              ("passed_after", "passed after"))
COUNTS = (("skipped", "abandoned nodes skipped"), ("passed", "passed while it ran, by"),
          ("passed_late", "passed late, by"))
PERCENTILES = (("mean", "mean"), ("p50", "median"), ("p90", "90 %"), ("p99", "99 %"),
               ("p999", "99.9 %"), ("max", "longest"))


def time_metrics():
    return [Metric(f"{name}_{short}_us", f"{words}, {long}", "us",
                   (f"{name}_samples", f"{name}_ns_{short}"),
                   sampled(f"{name}_samples", f"{name}_ns_{short}", 1000))
            for name, words in HISTOGRAMS for short, long in PERCENTILES]


MISSES = (("lock", "on locks"), ("node", "on nodes"), ("pool", "on pools"),
          ("other", "on other lines"), ("same_socket", "within the socket"),
          ("other_socket", "between sockets"), ("memory", "from memory"))


def miss_metrics():
    """Of the simulation: all misses of a run by its acquisitions, by what and where from."""
    return [Metric(f"{name}_misses", f"misses {words}", "",
                   (f"misses_{name}", "acquisitions"), a_pair(f"misses_{name}"),
                   "those of failed attempts are among them")
            for name, words in MISSES]


def count_metrics():
    return [Metric(f"{name}_{short}", f"{words}, {long}", "",
                   (f"{name}_samples", f"{name}_{figure_name}"),
                   sampled(f"{name}_samples", f"{name}_{figure_name}", divisor))
            for name, words in COUNTS for short, long, figure_name, divisor in
            (("mean", "mean", "mean_permille", 1000), ("p99", "99 %", "p99", 1),
             ("p999", "99.9 %", "p999", 1), ("max", "most", "max", 1))]


METRICS = {metric.name: metric for metric in [
    Metric("acquisitions_per_second", "acquisitions", "1/s",
           ("acquisitions", "elapsed_ns"), acquisitions_per_second),
    Metric("attempts_per_second", "attempts", "1/s", ("attempts", "elapsed_ns"),
           attempts_per_second),
    Metric("success_rate", "success rate", "%", ("acquisitions", "attempts"), success_rate,
           "acquisitions by attempts"),
    Metric("handoff_rate", "holder on another CPU", "%",
           ("handoffs", "acquisitions"), handoff_rate),
    Metric("iteration_time_us", "iteration time", "us", ("elapsed_ns", "attempts"),
           in_microseconds(iteration_time_ns),
           "wall-clock time by the attempts of all threads"),
    Metric("passing_time_us", "passing time", "us", ("elapsed_ns", "acquisitions", "cs_ns"),
           in_microseconds(passing_time_ns),
           "wall-clock time for an acquisition, less the work inside"),
    Metric("tx_us", "Tx", "us",
           ("elapsed_ns", "acquisitions", "cs_ns"), in_microseconds(preempted_inside_ns),
           "time preempted inside the lock, for each acquisition", signed=True),
    Metric("th_us", "Th, at least", "us",
           ("elapsed_ns", "attempts", "acquisitions", "patience_ns", "ncs_ns",
            "empty_loop_ps", "overshoot_samples"),
           in_microseconds(leaving_ns), "time to leave after the patience", signed=True),
    *time_metrics(),
    *count_metrics(),
    Metric("acquisition_misses", "cache misses, an acquisition", "",
           ("success_misses", "success_misses_of"), misses_each("success"),
           "of an attempt that acquires, with its release"),
    Metric("failed_misses", "cache misses, a failed attempt", "",
           ("failure_misses", "failure_misses_of"), misses_each("failure")),
    Metric("all_misses", "cache misses, all by acquisitions", "", ("misses", "acquisitions"),
           a_pair("misses"), "those of failed attempts are among them"),
    *miss_metrics(),
    Metric("same_socket_rate", "hand-off within the socket", "%",
           ("socket_handoffs", "acquisitions"), a_pair("socket_handoffs", 100)),
    Metric("nodes_max", "most nodes in use", "", ("nodes_max",), used_nodes),
    Metric("nodes_per_thread", "most nodes in use, a thread", "",
           ("nodes_max", "threads"), nodes_per_thread),
    Metric("jain", "Jain's index of fairness", "", ("jain_permille",),
           named("jain_permille", 1000), "1: all threads got the same; 1/n: one got all"),
    Metric("longest_gap_ms", "longest without the lock", "ms",
           ("longest_gap_ns",), named("longest_gap_ns", 1e6)),
    Metric("suspension_mean_ms", "suspended, mean", "ms",
           ("suspensions", "suspension_ns_mean"),
           sampled("suspensions", "suspension_ns_mean", 1e6),
           "an interrupt in the middle of an attempt"),
    Metric("host_busy_rate", "cores, had by others", "%",
           ("host_busy_permille",), named("host_busy_permille", 10),
           "by the processes that keep the host busy, while the guest was there"),
    Metric("alone_ns", "acquire and release alone", "ns",
           ("elapsed_ns", "acquisitions", "empty_loop_ps"), alone_ns,
           "without the cost of the driver's loop"),
    Metric("operations_per_second", "operations", "1/s", ("operations", "elapsed_ns"),
           operations_per_second,
           "of a load that did not finish: as if it had at its limit"),
    Metric("times_qspinlock", "operations, times qspinlock's", "",
           ("operations", "elapsed_ns"), times_own,
           "of the same round; of loads that did not finish as if they had at their limit"),
    Metric("finished_rate", "workers that finished", "%", ("finished", "workers"),
           lambda run, _context: ratio(figure(run, "finished"), figure(run, "workers"), 100)),
    Metric("least_rate", "least worker, of the mean", "%",
           ("least", "operations", "workers"), least_rate),
    Metric("spread", "spread over the threads", "%",
           ("thread_stddev", "threads", "acquisitions"), spread,
           "standard deviation of the mean"),
]}


# Rounds

class Summary:
    """The rounds of one lock at one point: median, least and most."""

    def __init__(self, values):
        self.median = median(values)
        self.low = min(values)
        self.high = max(values)
        self.rounds = len(values)


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


# Formatted numbers

def shown(number):
    """A figure in three digits or so, never as a power of ten."""
    if number is None:
        return "-"
    size = abs(number)
    if size >= 100000:
        number = float(f"{number:.3g}")
    if size >= 1000:
        return f"{number:,.0f}".replace(",", " ")
    if size >= 100 or number == int(number):
        return f"{number:.0f}"
    if size >= 10:
        return f"{number:.1f}"
    return f"{number:.2f}" if size >= 0.1 else f"{number:.4f}"


def quantity(number, unit):
    return f"{shown(number)} {unit}" if unit else shown(number)
