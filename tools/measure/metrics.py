# SPDX-License-Identifier: GPL-2.0
"""Metrics: what a run comes to, named figures with a unit.

What cannot be computed, because a name is not in the result, because nothing was sampled, or
because the run's verdict is not PASS, is missing: None, never a guess.
"""

from typing import Callable, NamedTuple

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


# Figures that are computed. Each takes a run and the context of bench/metrics.py; times in ns.

def ratio(over, under, factor=1):
    if over is None or not under:
        return None
    return factor * over / under


def by(over, under, factor=1):
    """One figure of the result by another."""
    def compute(run, _context):
        return ratio(figure(run, over), figure(run, under), factor)
    return compute


def passing_time_ns(run, _context):
    """Wall-clock time for an acquisition, without the work inside the lock.

    As in the paper nothing else is taken off: whatever a waiter does before
    it gets the lock overlaps with the critical sections of others.
    """
    each = ratio(figure(run, "elapsed_ns"), figure(run, "acquisitions"))
    inside = figure(run, "cs_ns")
    return None if each is None or inside is None else each - inside


def failed_try_ns(run, _context):
    """An attempt without patience at a held lock; None of a lock that waits."""
    failed = figure(run, "failed_try_ps")
    return failed / 1000 if failed else None


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


def operations_per_second(run, _context):
    """Of a whole kernel. What was to be done by the limit is more than what was done."""
    done = figure(run, "planned")
    return ratio(figure(run, "operations") if done is None else done, figure(run, "elapsed_ns"),
                 1e9)


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
    """A named figure of a run.

    apart: the panels of a figure differ so much that each has its own axis.
    """

    name: str
    label: str
    unit: str
    compute: Callable
    apart: bool = False

    @property
    def axis(self):
        """What an axis of a figure is called."""
        if self.unit == "1/s":
            return f"{self.label} per second"
        return f"{self.label} ({self.unit})" if self.unit else self.label

    def of(self, run, context=None):
        return self.compute(run, context) if run.passed else None


HISTOGRAMS = (("wait", "wait of a success"), ("failed_wait", "wait of a failure"),
              ("overshoot", "overshoot"),
              ("own_overshoot", "own overshoot"),
              ("away", "own CPU preempted"), ("handoff", "handoff"),
              ("own_wait", "own wait"),
              ("passed_after", "overtaken after"))
PERCENTILES = (("mean", "mean"), ("p50", "median"), ("p90", "90 %"), ("p99", "99 %"),
               ("p999", "99.9 %"), ("max", "longest"))
COUNTS = (("skipped", "abandoned nodes skipped"), ("passed", "overtaken by attempts"),
          ("passed_late", "overtaken by late ones"))
# In the metric, in words, in the result, by what.
OF_COUNTS = (("mean", "mean", "mean_permille", 1000), ("p99", "99 %", "p99", 1),
             ("p999", "99.9 %", "p999", 1), ("max", "most", "max", 1))
# Of the simulation: all misses of a run, those of failed attempts among them, by its acquisitions.
MISSES = (("lock", "on locks"), ("node", "on nodes"), ("pool", "on pools"),
          ("other", "on other lines"), ("same_socket", "within the socket"),
          ("other_socket", "between sockets"), ("memory", "from memory"))

METRICS = {metric.name: metric for metric in [
    Metric("acquisitions_per_second", "acquisitions", "1/s", by("acquisitions", "elapsed_ns", 1e9)),
    Metric("attempts_per_second", "attempts", "1/s", by("attempts", "elapsed_ns", 1e9)),
    Metric("success_rate", "attempts that succeed", "%", by("acquisitions", "attempts", 100)),
    Metric("handoff_rate", "next holder on another CPU", "%", by("handoffs", "acquisitions", 100)),
    # Ts/(t i): wall-clock time by the attempts of all threads together.
    Metric("iteration_time_us", "iteration time", "us",
           in_microseconds(by("elapsed_ns", "attempts"))),
    Metric("passing_time_us", "passing time", "us", in_microseconds(passing_time_ns)),
    *(Metric(f"{name}_{short}_us", f"{words}, {long}", "us",
             sampled(f"{name}_samples", f"{name}_ns_{short}", 1000))
      for name, words in HISTOGRAMS for short, long in PERCENTILES),
    *(Metric(f"{name}_{short}", f"{words}, {long}", "",
             sampled(f"{name}_samples", f"{name}_{figure_name}", divisor))
      for name, words in COUNTS for short, long, figure_name, divisor in OF_COUNTS),
    # Within the attempts that ended so, with the release, for each of them.
    Metric("acquisition_misses", "cache misses of an acquisition", "",
           by("success_misses", "success_misses_of")),
    Metric("failed_misses", "misses of a failed attempt", "",
           by("failure_misses", "failure_misses_of")),
    Metric("all_misses", "all cache misses by acquisitions", "", by("misses", "acquisitions")),
    *(Metric(f"{name}_misses", f"misses {words}", "", by(f"misses_{name}", "acquisitions"))
      for name, words in MISSES),
    Metric("same_socket_rate", "next holder on same socket", "%",
           by("socket_handoffs", "acquisitions", 100)),
    Metric("nodes_max", "most nodes in use", "", used_nodes),
    Metric("nodes_per_thread", "most nodes for each thread", "", nodes_per_thread),
    # 1: all threads got the same; 1/n: one got all.
    Metric("jain", "Jain's index of fairness", "", named("jain_permille", 1000)),
    Metric("longest_gap_ms", "longest without the lock", "ms", named("longest_gap_ns", 1e6)),
    # By an interrupt in the middle of an attempt.
    Metric("suspension_mean_ms", "time suspended, mean", "ms",
           sampled("suspensions", "suspension_ns_mean", 1e6)),
    # By the processes that keep the host busy, while the guest was there.
    Metric("host_busy_rate", "cores' time that others had", "%", named("host_busy_permille", 10)),
    Metric("alone_ns", "acquire and release alone", "ns", named("pair_ps", 1000)),
    Metric("failed_try_ns", "a try that fails, alone", "ns", failed_try_ns),
    # Of a load that did not finish: as if it had at its limit.
    Metric("operations_per_second", "operations", "1/s", operations_per_second),
    Metric("finished_rate", "workers that finished", "%", by("finished", "workers", 100)),
    Metric("least_rate", "slowest worker", "%", least_rate),
    Metric("spread", "spread over the threads", "%", spread),
]}


# Rounds, and formatted numbers

def ratios(mine, its):
    """Round by round, as the two of a round ran right after one another."""
    return [value / its[number] for number, value in mine.items() if its.get(number, 0) > 0]


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


