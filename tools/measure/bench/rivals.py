# SPDX-License-Identifier: GPL-2.0
"""Where ours lose to other locks, by how much, and what ours cost more when alone."""

from statistics import median

from base.driver import OURS
from measure import compare
from measure.bench import table1
from measure.bench.metrics import matching, points_of, summary
from measure.metrics import shown

RIVALS = ("raw_spinlock", "rqspinlock", "tas_b", "tas_b_try",
          # These are simulated.
          "qspinlock", "pv_qspinlock", "virt_spin_lock", "cna", "hmcs")
RATE = "acquisitions_per_second"


class Duel:
    """A lock of ours against another at a point: the ratio of their medians.

    It is clear if the rounds do not overlap, and are so many that this would
    seldom happen by chance, as for tools/nbq compare.
    """

    def __init__(self, runs, point, ours, rival, context):
        self.point = point
        mine, its = (summary(RATE, matching(runs, lock, **point), context)
                     for lock in (ours, rival))
        self.ratio = mine.median / its.median if mine and its and its.median else None
        self.clear = bool(self.ratio is not None and
                          compare.chance(mine.rounds, its.rounds) <= compare.CHANCE and
                          (mine.high < its.low or mine.low > its.high))

    @property
    def lost(self):
        return self.clear and self.ratio < 1

    @property
    def won(self):
        return self.clear and self.ratio > 1

    def cell(self):
        if self.ratio is None:
            return "-"
        text = quotient(self.ratio)
        text = text if self.clear else f"{text} ~"
        return f"**{text}**" if self.lost else text


class Score:
    """Several duels of two locks."""

    def __init__(self, fought):
        self.ratios = [duel.ratio for duel in fought]
        self.lost = sum(duel.lost for duel in fought)
        self.won = sum(duel.won for duel in fought)

    def cell(self):
        """Median, range, and how many of the duels are lost and won."""
        if not self.ratios:
            return "-"
        middle = quotient(median(self.ratios))
        if len(self.ratios) > 1:
            middle += f" ({quotient(min(self.ratios))} to {quotient(max(self.ratios))})"
        return f"{middle}; {self.lost} lost, {self.won} won of {len(self.ratios)}"


def quotient(number):
    return f"{number:.2f}" if number >= 0.01 else f"{number:.4f}"


def duels(result, context):
    """{(lock of ours, rival): [Duel]} of an experiment, one for each of its points."""
    return {(lock, rival): [Duel(result.runs, point, lock, rival, context)
                            for point in points_of(result.runs)]
            for lock in OURS if lock in result.locks
            for rival in RIVALS if rival in result.locks}


def known(fought):
    return [duel for duel in fought if duel.ratio is not None]


def scores(fought):
    """(headings, rows): a row for each rival, a column for each of ours."""
    ours = [lock for lock in OURS if any(lock == pair[0] for pair in fought)]
    rows = [[rival, *(Score(known(fought.get((lock, rival), []))).cell() for lock in ours)]
            for rival in RIVALS if any(rival == pair[1] for pair in fought)]
    return ["against", *ours], rows


def together(all_fought):
    """The duels of several experiments as those of one."""
    merged = {}
    for fought in all_fought:
        for pair, each in fought.items():
            merged.setdefault(pair, []).extend(each)
    return merged


def sentence(fought):
    """All of it in words; empty if there were no duels."""
    every = [duel for each in fought.values() for duel in known(each)]
    if not every:
        return ""
    score = Score(every)
    parts = []
    for rival in RIVALS:
        ratios = [duel.ratio for pair, each in fought.items() if pair[1] == rival
                  for duel in known(each)]
        if ratios:
            parts.append(f"{rival} {quotient(median(ratios))}")
    return (f"Of {len(every)} comparisons ours lose {score.lost} clearly and win {score.won}; "
            f"the other {len(every) - score.lost - score.won} are not clear. Acquisitions of "
            f"ours by those of another lock, at the median of all points: {', '.join(parts)}.")


# Alone, from Table 1

ALONE = ("lock", "against", "ns more", "times as long", "instructions more",
         "atomic operations more")


def more(mine, its):
    """A difference, with its sign."""
    if mine is None or its is None:
        return "-"
    return f"{'+' if mine > its else ''}{shown(mine - its)}"


def alone(folder):
    """Rows for ALONE: what a pair of ours costs more than that of another lock."""
    lines = {line.lock: line for line in table1.lines_of(folder)}
    rows = []
    for mine, its in ((lines[lock], lines[rival]) for lock in OURS for rival in RIVALS
                      if lock in lines and rival in lines):
        times, instructions, atomics = (
            [value(line) for line in (mine, its)] for value in (
                lambda line: middle(line.times), lambda line: middle(line.instructions),
                lambda line: line.counts.get("atomics")))
        ratio = quotient(times[0] / times[1]) if times[0] and times[1] else "-"
        rows.append([mine.lock, its.lock, more(*times), ratio, more(*instructions),
                     more(*atomics)])
    return rows


def middle(values):
    return median(values) if values else None
