# SPDX-License-Identifier: GPL-2.0
"""Compares two results: the ratio of a figure, and whether it is beyond the spread.

Rounds of the same lock at the same point differ by themselves. Two sets of
rounds count as different only if they do not overlap at all, and only if there
are so many rounds that this would seldom happen by chance: sets of n and m out
of the same stay apart in 2 of (n + m over n) cases.
"""

from math import comb
from pathlib import Path
from statistics import median
from typing import NamedTuple

from base import hardware
from base.common import Failure
from measure import host_load, results
from measure.metrics import METRICS, ratios

CHANCE = 0.05			# of a word where there is nothing
METRIC = "acquisitions_per_second"
# What two results should have in common, so that a ratio means the change. A simulated
# machine is the same on every other.
HOST_KEYS = ("cpu_model", "cores", "host_kernel")
MACHINE_KEYS = (*HOST_KEYS, "compiler", "quick")


class Side:
    """One of the two: what was measured, and on which machine."""

    def __init__(self, path):
        self.path = Path(path)
        if self.path.is_dir():
            folder = results.open_folder(self.path)
            self.machine, self.scenarios = folder.machine, folder.scenarios
            return
        data = results.read_json(self.path)
        parts = data.get("scenarios", [data])
        found = [results.from_data(part, self.path) for part in parts]
        self.scenarios = {result.name: result for result in found}
        self.machine = data.get("machine") or self.machine_beside()

    @property
    def is_simulated(self):
        """Whether all of it is."""
        return all(result.plan.is_simulated for result in self.scenarios.values())

    def machine_beside(self):
        beside = self.path.with_name(results.MACHINE)
        return results.read_json(beside) if beside.exists() else {}


class Line(NamedTuple):
    """One lock at one point of a scenario: the rounds of A and of B."""
    scenario: str
    point: dict
    lock: str
    before: list
    after: list

    @property
    def ratio(self):
        return median(self.after) / median(self.before) if median(self.before) else None

    @property
    def lowest(self):
        return min(self.after) / max(self.before) if max(self.before) else None

    @property
    def highest(self):
        return max(self.after) / min(self.before) if min(self.before) else None

    @property
    def word(self):
        if chance(len(self.before), len(self.after)) > CHANCE:
            return "too few rounds"
        if min(self.after) > max(self.before):
            return "more"
        if max(self.after) < min(self.before):
            return "less"
        return "within the spread"

    def as_data(self):
        return {"scenario": self.scenario, "point": self.point, "lock": self.lock,
                "a": self.before, "b": self.after, "ratio": self.ratio,
                "lowest": self.lowest, "highest": self.highest, "word": self.word}


def doubts(a, b):
    """Sentences on passes that did not come to their end, and on hosts that were busy."""
    found = []
    for letter, side in (("A", a), ("B", b)):
        found += [f"{name} of {letter} is incomplete: not all of its runs came to their end"
                  for name, result in side.scenarios.items() if not result.complete]
        busy = host_load.warning(*(result.host for result in side.scenarios.values()))
        found += [f"{letter}: {busy}"] if busy else []
    return found


def chance(some, others):
    """How likely rounds of the same thing do not overlap."""
    return 2 / comb(some + others, some)


def differences(a, b, hosts=True):
    """Sentences on what A and B do not have in common besides what changed.

    hosts: whether the machines are meant to be the same.
    """
    found = []
    simulated = a.is_simulated and b.is_simulated
    for key in MACHINE_KEYS:
        if simulated and key in HOST_KEYS or not hosts and key != "quick":
            continue
        ours, theirs = (side.machine.get(key) for side in (a, b))
        if key == "host_kernel":
            ours, theirs = (hardware.released(each) or None for each in (ours, theirs))
        if ours != theirs:
            found.append(f"{key}: {ours} in A, {theirs} in B")
    for name in a.scenarios.keys() & b.scenarios.keys():
        found += plan_differences(name, a.scenarios[name], b.scenarios[name])
    return found


def plan_differences(name, a, b):
    """Where it ran, and parameters whose values differ at a point that both have."""
    found = [f"{name}: {what} is {ours} in A, {theirs} in B" for what, ours, theirs in
             (("testbed", a.plan.testbed, b.plan.testbed), ("kernel", a.kernel, b.kernel))
             if ours != theirs]
    for point in a.points:
        if point in b.points:
            ours, theirs = (side.plan.settings("", point) for side in (a, b))
            found += [f"{name}: {key} is {ours.get(key)} in A, {theirs.get(key)} in B"
                      for key in {**ours, **theirs} if ours.get(key) != theirs.get(key)]
    return list(dict.fromkeys(found))


def by_round(result, lock, point, metric):
    """The figure of each round that passed: of the result, or a metric of the plots'."""
    runs = [run for run in result.runs_of(lock, **point) if run.passed]
    found = {run.round: METRICS[metric].of(run)
             if metric in METRICS and metric not in run.result
             else run.result.get(metric) for run in runs}
    return {number: value for number, value in found.items()
            if isinstance(value, (int, float))}


def values(result, lock, point, metric, relative_to=None):
    """The figures of a lock's rounds, or their ratios to another lock's of the same round."""
    found = by_round(result, lock, point, metric)
    if relative_to is None:
        return list(found.values())
    return ratios(found, by_round(result, relative_to, point, metric))


def lines(a, b, metric, relative_to=None):
    """(a Line for everything that both have, sentences on what only one has)"""
    found, alone = [], []
    for name in {**a.scenarios, **b.scenarios}:
        if name not in a.scenarios or name not in b.scenarios:
            alone.append(f"scenario {name}: only in {'A' if name in a.scenarios else 'B'}")
            continue
        some, more = scenario_lines(name, a.scenarios[name], b.scenarios[name], metric,
                                    relative_to)
        found += some
        alone += more
    return found, alone


def scenario_lines(name, a, b, metric, relative_to=None):
    found, alone = [], []
    for point in [*a.points, *(point for point in b.points if point not in a.points)]:
        for lock in dict.fromkeys([*a.locks, *b.locks]):
            if lock == relative_to:
                continue
            before, after = (values(side, lock, point, metric, relative_to)
                             for side in (a, b))
            if before and after:
                found.append(Line(name, point, lock, before, after))
            elif bool(before) != bool(after):
                alone.append(f"{name}, {point_words(point)}, {lock}: only in "
                             f"{'A' if before else 'B'}")
    return found, alone


def point_words(point):
    return ", ".join(f"{axis} {value}" for axis, value in point.items())


def must_have(side, lock):
    """Refuse ratios to a lock that nothing was measured of."""
    locks = {run.lock for result in side.scenarios.values() for run in result.runs}
    if lock not in locks:
        raise Failure(f"{side.path} has no runs of \"{lock}\"; it has "
                      f"{', '.join(sorted(locks)) or 'none'}")


def compare(a, b, metric=METRIC, relative_to=None):
    """Lines and remarks; Failure if there is nothing to compare."""
    if relative_to is not None:
        must_have(a, relative_to)
        must_have(b, relative_to)
    found, alone = lines(a, b, metric, relative_to)
    if not found:
        names = sorted({name for side in (a, b) for result in side.scenarios.values()
                        for run in result.runs for name, value in run.result.items()
                        if isinstance(value, (int, float))})
        if names and metric not in names and metric not in METRICS:
            raise Failure(f"no result has a number \"{metric}\"; there are "
                          f"{', '.join(dict.fromkeys([*names, *METRICS]))}")
        raise Failure(f"{a.path} and {b.path} have no scenario, point and lock with "
                      f"{metric} in common")
    return found, alone
