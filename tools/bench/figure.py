# SPDX-License-Identifier: GPL-2.0
"""What is in a figure: locks and their looks, axes, panels, the words for points.

A few locks, those that a figure is about, have a colour, each the same in every figure. The
others are grey. Each has the same mark and dash in every figure.
"""

from collections import namedtuple
from itertools import product
import re

from bench.metrics import METRICS, locks_of, matching, same, summary, values_of
from measure.parameters import A_CPU

# Colours that the colour-blind can tell apart (Okabe and Ito; Tol). A family has a
# colour, the hybrid one of its own; marks and dashes tell all of them apart in grey. Ours
# are thicker and solid, printed forms have the same mark, hollow. Some have letters:
# gnuplot has no other marks left.
Style = namedtuple("Style", "colour mark dash width")
SOLID, DASHED, DOTTED, MIXED, LONG = "solid", "(8,4)", "(2,3)", "(9,3,2,3)", "(14,5)"
BLUE, RED, GREEN, MAGENTA, VIOLET = "#0072B2", "#D55E00", "#009E73", "#CC0088", "#6F4FBF"
SKY, ORANGE, BROWN, OLIVE, BLACK = "#56B4E9", "#E69F00", "#8C510A", "#808000", "#000000"
STYLES = {
    "clh_nb": Style(BLUE, 7, SOLID, 3), "mcs_nb": Style(RED, 5, SOLID, 3),
    "swap_nb": Style(GREEN, 9, SOLID, 3),
    "nbq_spin": Style(MAGENTA, 13, SOLID, 3),
    "nbq_spin_sockets": Style(VIOLET, '"S"', LONG, 1.5),
    "nbq_spin_pv": Style(VIOLET, '"H"', DASHED, 1.5),
    "raw_spinlock": Style(BLACK, 11, SOLID, 1.5), "raw_trylock": Style(BLACK, 10, DASHED, 1.5),
    "rqspinlock": Style(BLACK, '"R"', LONG, 1.5),
    "qspinlock": Style(BLACK, '"Q"', SOLID, 2), "pv_qspinlock": Style(BLACK, '"P"', MIXED, 1.5),
    "virt_spin_lock": Style(BROWN, '"V"', MIXED, 1.5),
    "cna": Style(OLIVE, '"C"', SOLID, 1.5), "hmcs": Style(OLIVE, '"M"', DASHED, 1.5),
    "qspinlock_again": Style(SKY, '"A"', LONG, 1.5),
    "tas_b": Style(BROWN, 14, DOTTED, 1.5), "tas_b_try": Style(BROWN, 15, DASHED, 1.5),
    "clh": Style(SKY, 3, DOTTED, 1.5), "mcs": Style(ORANGE, 12, DOTTED, 1.5),
    "clh_try": Style(SKY, 1, MIXED, 1.5), "mcs_try": Style(ORANGE, 2, MIXED, 1.5),
    "clh_nb_paper": Style(BLUE, 6, DASHED, 1.5), "mcs_nb_paper": Style(RED, 4, DASHED, 1.5),
}
# In turn, of lock types that other modules have brought.
OTHERS = (Style("#8B0000", '"1"', LONG, 3), Style("#2F4F4F", '"2"', LONG, 3),
          Style("#6A5ACD", '"3"', LONG, 3))
# In colour, unless the figure says which; all, if there are no more than a few.
IN_COLOUR = ("clh_nb", "mcs_nb", "nbq_spin", "raw_spinlock", "qspinlock", "tas_b_try")
FEW = 6
GREY, GREY_WORDS = "#BBBBBB", "#888888"
MOST_LETTERS = 48		# of all names of tics, in a line


def styles_of(locks):
    """{lock: its Style}; those that are not known here take turns."""
    others = [lock for lock in locks if lock not in STYLES]
    return {lock: STYLES.get(lock) or OTHERS[others.index(lock) % len(OTHERS)] for lock in locks}


class Axis:
    """Where the values of the x axis stand.

    Numbers stand where they belong. Words, and a 0 where the axis is
    logarithmic, have no place: all values then stand side by side.
    """

    def __init__(self, name, values, log):
        self.name = name
        self.values = values
        self.log = log
        self.side_by_side = not all(
            isinstance(value, (int, float)) and (value > 0 or not log) for value in values)
        if self.side_by_side:
            self.log = False

    def place(self, value):
        return self.values.index(value) if self.side_by_side else value

    def beside(self, value, step):
        """A little right of a value, or left; step is from -1 to 1."""
        place = self.place(value)
        if self.log:
            return place * min(self.nearest(), 2) ** (0.18 * step)
        return place + 0.18 * step * self.nearest()

    def nearest(self):
        """How far, or how many times, two neighbours are apart."""
        places = [self.place(value) for value in self.values]
        if self.log:
            return min((b / a for a, b in zip(places, places[1:])), default=2)
        return min((b - a for a, b in zip(places, places[1:])), default=1)

    def ends(self):
        first, last = self.place(self.values[0]), self.place(self.values[-1])
        room = self.nearest()
        if self.log:
            return first / room ** 0.4, last * room ** 0.4
        return first - 0.4 * room, last + 0.4 * room

    @property
    def in_two_lines(self):
        """Whether names stand so close together that every other one is on a second line."""
        return len(" ".join(axis_word(self.name, value)
                            for value in self.values)) > MOST_LETTERS

    def tics(self):
        words = [axis_word(self.name, value) for value in self.values]
        lower = "\\n" if self.in_two_lines else ""
        return ", ".join(f'"{lower * (number % 2)}{word}" {self.place(value):g}'
                         for number, (word, value) in enumerate(zip(words, self.values)))


# One pair of axes; points: {lock: {value of x: Summary}}.
Panel = namedtuple("Panel", "title points")


class Figure:
    """All that is drawn for a [plot] section of a scenario."""

    def __init__(self, result, plot, context):
        self.name = f"{result.name}-{plot.name}"
        self.plot = plot
        self.metric = METRICS[plot.y]
        self.cores = context.cores
        self.log_y = "y" in plot.log and plot.log != "none"
        self.styles = styles_of(locks_of(result.runs))
        runs = drawn_runs(result.runs, plot.where)
        values = values_of(runs, plot.x)
        self.axis = Axis(plot.x, values, plot.log in ("x", "xy") or wide(plot.x, values))
        self.panels = [self.panel(runs, point, context)
                       for point in panel_points(runs, plot)]
        self.locks = [lock for lock in STYLES if self.has(lock)]
        self.locks += [lock for lock in locks_of(runs)
                       if lock not in STYLES and self.has(lock)]
        others = [lock for lock in self.locks if lock not in STYLES][:len(OTHERS)]
        self.coloured = self.locks if len(self.locks) <= FEW else [
            lock for lock in self.locks if lock in (*(plot.colour or IN_COLOUR), *others)]

    @property
    def marks_cores(self):
        """Whether CPUs outnumber the cores in a part of it."""
        return (self.axis.name == "cpus" and self.cores in self.axis.values
                and self.axis.values[-1] > self.cores)

    def panel(self, runs, point, context):
        points = {}
        for lock in locks_of(runs):
            found = {value: summary(self.plot.y, matching(runs, lock, **point,
                                                          **{self.plot.x: value}), context)
                     for value in self.axis.values}
            points[lock] = {value: one for value, one in found.items() if one}
        return Panel(panel_title(point), points)

    def has(self, lock):
        return any(panel.points.get(lock) for panel in self.panels)

    @property
    def empty(self):
        return not self.locks

    def values(self, panel):
        """Everything that the y axis of a panel has to have room for."""
        panels = [panel] if self.metric.signed else self.panels
        return [end for panel in panels for points in panel.points.values()
                for found in points.values()
                for end in (found.low, found.median, found.high)]

    def off_the_axis(self):
        """What a logarithmic axis cannot show: {lock: how many points}"""
        if not self.log_y:
            return {}
        count = {lock: sum(found.median <= 0 for panel in self.panels
                           for found in panel.points.get(lock, {}).values())
                 for lock in self.locks}
        return {lock: number for lock, number in count.items() if number}


def drawn_runs(runs, where):
    """Those at the points that a figure is of."""
    return [run for run in runs if all(
        any(same(value, run.point.get(axis)) for value in values)
        for axis, values in where.items())]


def wide(axis, values):
    """Whether so many numbers of CPUs are on an axis that doubling is a step."""
    return axis == "cpus" and len(values) > 2 and values[-1] >= 32 * values[0]


def panel_points(runs, plot):
    """A point for each panel: the panel's axis, and all that no axis shows."""
    axes = [plot.panel] if plot.panel else []
    axes += [axis for axis in (runs[0].point if runs else {})
             if axis not in (plot.x, plot.panel) and len(values_of(runs, axis)) > 1]
    return [dict(zip(axes, values))
            for values in product(*(values_of(runs, axis) for axis in axes))]


AXES = {"cpus": "CPUs", "retry": "after a timeout", "suspend_ns": "suspension (us)",
        "host_busy": "busy processes a core", "costs": "cost table"}
COUNTED = {"cpus": "CPU", "sockets": "socket", "cores": "core"}
UNITS = ((1e6, "ms"), (1e3, "us"))
VALUES = {"at_once": "retry at once", "back_off": "back off, then retry",
          "give_up": "give up"}


def axis_word(axis, value):
    """A value of an axis, for a tic; times in microseconds."""
    if isinstance(value, (int, float)):
        return f"{value / 1000 if axis.endswith('_ns') else value:.10g}"
    return VALUES.get(value, str(value))


def axis_name(axis):
    if axis in AXES:
        return AXES[axis]
    return re.sub("_ms$", " (ms)", re.sub("_ns$", " (us)", axis)).replace("_", " ")


def panel_title(point):
    return ", ".join(point_words(axis, value) for axis, value in point.items())


def point_words(axis, value):
    """"patience 15 us", "8 CPUs"."""
    if axis in COUNTED:
        return f"{value} {COUNTED[axis]}{'' if value == 1 else 's'}"
    if isinstance(value, str) and re.fullmatch(A_CPU, value):
        return f"{axis[:-3].replace('_', ' ')} {value.split('*')[0]} ns times CPUs"
    if axis.endswith("_ns") and value == "max":
        return f"{axis[:-3].replace('_', ' ')} without end"
    if axis.endswith("_ns") and isinstance(value, (int, float)):
        size, unit = next(((value / size, unit) for size, unit in UNITS if value >= size),
                          (value, "ns"))
        return f"{axis[:-3].replace('_', ' ')} {size:g}" + (f" {unit}" if value else "")
    return VALUES.get(value, f"{AXES.get(axis, axis.replace('_', ' '))} {value}")
