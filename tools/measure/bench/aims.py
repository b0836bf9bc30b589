# SPDX-License-Identifier: GPL-2.0
"""Whether the aims of a lock of ours are reached: a row of a table for each [aim].

An aim is for every point that it names. It is evaluated round by round: the locks of a
round ran right after one another, so that a ratio of the two has in it what the
machine did to both. What is shown is the point that is farthest from the aim.
"""

from statistics import geometric_mean, median

from base.rst import escaped
from base.testbeds import stand_in
from measure.bench import plot
from measure.bench.figure import point_words
from measure.bench.findings import PER_CORE
from measure.bench.metrics import (METRICS, Summary, by_round, matching, points_of, quantity, same,
                                   values_of)
from measure.metrics import shown

MET = "met"
MISSED = "missed"
BY_MEDIANS = "by the medians"	# after one of these: some rounds say otherwise
UNKNOWN = "not measured"

HEADINGS = ("aim", "wanted", "here", "of what", "ratio", "at", "verdict")
WIDTHS = (22, 14, 16, 16, 10, 14, 8)


class Standing:
    """What an aim has come to at a point.

    ratio: the figure, or that of the other lock times so much, a Summary of the rounds.
    """

    def __init__(self, aim, runs, point, context):
        self.aim = aim
        self.point = point
        self.mine = figures_of(aim, aim.lock, runs, point, context)
        self.its = figures_of(aim, aim.against, runs, point, context) if aim.against else {}
        self.values = values_at(aim, runs, point, context)
        self.ratio = Summary(self.values) if self.values else None

    def reached(self, value):
        return value >= self.aim.limit if self.aim.is_least else value <= self.aim.limit

    @property
    def is_met(self):
        """By the medians."""
        return self.reached(self.ratio.median)

    @property
    def is_clear(self):
        """Whether all rounds say the same."""
        return len({self.reached(value) for value in self.values}) == 1

    @property
    def distance(self):
        """For ordering: the smaller, the farther from the aim, or the worse."""
        return self.ratio.median if self.aim.is_least else -self.ratio.median


def values_at(aim, runs, point, context):
    """[a round's figure or ratio]; of an aim that names an axis that of all its values."""
    axes = [{aim.over: value} for value in values_of(runs, aim.over)] if aim.over else [{}]
    found = {}
    for axis in axes:
        mine, its = (figures_of(aim, lock, runs, {**point, **axis}, context) if lock else None
                     for lock in (aim.lock, aim.against))
        for number, figure in mine.items():
            if its is None or its.get(number):
                found.setdefault(number, []).append(figure / its[number] if its else figure)
    middle = geometric_mean if aim.mean_of else median
    return [middle(values) for values in found.values()]


def figures_of(aim, lock, runs, point, context):
    """{round: figure} of a lock at a point."""
    return by_round(aim.metric, matching(runs, stand_in(lock, context.testbed), **point), context)


def is_at(aim, point, cores):
    """Whether an aim is for this point."""
    def named(axis, value):
        if axis == PER_CORE:
            return same(max(1, round(value * (cores or 1))), point["cpus"])
        return same(value, point[axis])
    return all(any(named(axis, value) for value in values)
               for axis, values in aim.where.items())


class Verdict:
    """What an aim has come to at all of its points."""

    def __init__(self, aim, result, context):
        self.aim = aim
        points = [{axis: value for axis, value in point.items() if axis != aim.over}
                  for point in points_of(result.runs) if is_at(aim, point, context.cores)]
        points = [point for number, point in enumerate(points) if point not in points[:number]]
        self.standings = [Standing(aim, result.runs, point, context) for point in points]
        self.known = bool(self.standings) and all(each.ratio for each in self.standings)
        self.worst = min(self.standings, key=lambda each: each.distance) if self.known else None

    @property
    def word(self):
        if not self.known:
            return UNKNOWN
        missed = [each for each in self.standings if not each.is_met]
        word = MISSED if missed else MET
        # A single point at which it is clearly missed is enough.
        clear = any(each.is_clear for each in missed) if missed else \
            all(each.is_clear for each in self.standings)
        return word if clear else f"{word} {BY_MEDIANS}"

    def wanted(self):
        of = f" of {self.aim.against}" if self.aim.against else self.units()
        return f"{self.aim.aim}{of}"

    def units(self):
        unit = self.aim.unit or METRICS[self.aim.metric].unit
        return f" {unit}" if unit else ""

    def cells(self):
        """A row for HEADINGS."""
        title, wanted = escaped(self.aim.title), escaped(self.wanted())
        if not self.known:
            return [title, wanted, "-", "-", "-", "-", f"**{UNKNOWN}**"]
        worst = self.worst
        of_each, against = not self.aim.over, bool(self.aim.against)
        return [title, wanted, self.figure(worst.mine) if of_each else "-",
                self.figure(worst.its) if of_each and against else "-",
                ranged(worst.ratio) if against or not of_each else "-", self.place(),
                f"**{self.word}**"]

    def figure(self, by_number):
        """The median of the rounds; without the other lock, the range as well."""
        found = Summary(by_number.values())
        if not self.aim.against:
            return ranged(found) + self.units()
        return quantity(found.median, self.units().strip())

    def place(self):
        words = ", ".join(point_words(axis, value)
                          for axis, value in self.worst.point.items())
        if len(self.standings) > 1:
            words += f"; the worst of {len(self.standings)} points"
        return escaped(words)


def ranged(found):
    return shown(found.median) if found.low == found.high else str(found)


def verdicts(folder, simulated=False):
    """[Verdict] of all aims of an opened folder, in the order of its experiments."""
    return [Verdict(aim, result, plot.context_for(folder, result))
            for _, result in sorted(folder.scenarios.items())
            if result.plan.is_simulated == simulated for aim in result.plan.aims]
