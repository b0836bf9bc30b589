# SPDX-License-Identifier: GPL-2.0
"""Figures of histograms: for each lock, the share of the values that are above x."""

from collections import Counter
from dataclasses import replace

from measure.bench import exceeding
from measure.bench.exceeding import Panel, thinned
from measure.bench.figure import drawn_locks, drawn_runs, panel_points, panel_title, styles_of
from measure.bench.metrics import locks_of, matching
from measure.metrics import COUNTS, HISTOGRAMS

LABELS = dict((*HISTOGRAMS, *COUNTS))
NUMBERS = dict(COUNTS)		# the others are times


def title_of(histogram):
    """A title, for a figure that has none of its own."""
    label = LABELS[histogram]
    return f"{label[0].upper()}{label[1:]}: how often " + (
        "there are so many" if histogram in NUMBERS else "it is longer")


def shares(histograms, unit):
    """[(value in units, share of all that are as large or larger)], without 0."""
    counts = Counter()
    for buckets in histograms:
        for low, _, count in buckets:
            counts[low] += count
    left = total = sum(counts.values())
    found = []
    for low, count in sorted(counts.items()):
        found += [(low / unit, left / total)] if low else []
        left -= count
    return thinned(found)


class Distribution:
    """All that is drawn for a [plot] section with a histogram: the rounds that passed, together."""

    def __init__(self, result, plot):
        self.name = f"{result.name}-{plot.name}"
        self.plot = plot
        runs = [run for run in drawn_runs(result.runs, plot.where) if run.passed]
        panels = [Panel(panel_title(point), {lock: self.line(matching(runs, lock, **point))
                                             for lock in locks_of(runs)})
                  for point in panel_points(runs, replace(plot, x=None))]
        there = [lock for lock in locks_of(runs) if any(each.lines[lock] for each in panels)]
        self.without = [lock for lock in locks_of(runs) if lock not in there]
        self.locks = drawn_locks(there, plot.locks)
        self.panels = [Panel(title, {lock: lines[lock] for lock in self.locks})
                       for title, lines, _ in panels]
        styles = styles_of(locks_of(result.runs))
        self.styles = {lock: styles[lock] for lock in self.locks}

    def line(self, runs):
        histograms = [run.histograms.get(self.plot.histogram, []) for run in runs]
        return shares(histograms, 1 if self.plot.histogram in NUMBERS else 1000)

    @property
    def empty(self):
        return not self.locks

    def draw(self, subtitle, path):
        notes = [f"No values: {', '.join(self.without)}."] if self.without else []
        exceeding.draw(path, self.plot.title, subtitle, notes, self.panels, self.styles,
                       self.plot.histogram in NUMBERS, LABELS[self.plot.histogram])
