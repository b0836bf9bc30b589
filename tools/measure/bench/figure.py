# SPDX-License-Identifier: GPL-2.0
"""What is in a figure: locks and their looks, axes, panels, the words for points.

A few locks are drawn, so that they can be told apart: those that the figure names, or the usual
ones. Each has the same colour, mark and dash in every figure.
"""

from collections import namedtuple
from itertools import product
import re

from base.parameters import A_CPU
from measure.bench.metrics import METRICS, locks_of, matching, same, summary, values_of
from measure.scenario import MOST_DRAWN

# Colours that the colour-blind can tell apart (after Okabe and Ito; Tol), dark enough to be read
# as text on white. A family has a colour, the hybrid one of its own; marks and dashes tell its
# members apart. Ours are thicker and solid, printed forms have the same mark, hollow.
Style = namedtuple("Style", "colour mark dash width")
SOLID, DASHED, DOTTED, MIXED, LONG = "solid", "(8,4)", "(2,3)", "(9,3,2,3)", "(14,5)"
BLUE, RED, GREEN, MAGENTA, VIOLET = "#0072b2", "#c24e00", "#00805c", "#cc0188", "#6f4fbf"
TEAL, ORANGE, BROWN, OLIVE, BLACK = "#0a7e8c", "#a87400", "#7f4a10", "#6b6b00", "#000000"
STYLES = {
    "clh_nb": Style(BLUE, 7, SOLID, 3), "mcs_nb": Style(RED, 5, SOLID, 3),
    "swap_nb": Style(GREEN, 9, SOLID, 3),
    "nbq_spin": Style(MAGENTA, 13, SOLID, 3),
    "nbq_spin_sockets": Style(VIOLET, 9, LONG, 1.5),
    "nbq_spin_pv": Style(VIOLET, 12, DASHED, 1.5), "nbq_arena": Style(VIOLET, 5, DOTTED, 1.5),
    "raw_spinlock": Style(BLACK, 11, SOLID, 2), "raw_trylock": Style(BLACK, 10, DASHED, 1.5),
    "rqspinlock": Style(BLACK, 4, LONG, 1.5),
    # The same lock as raw_spinlock, where a kernel or the simulation has it by that name.
    "qspinlock": Style(BLACK, 11, SOLID, 2), "pv_qspinlock": Style(BLACK, 6, MIXED, 1.5),
    "virt_spin_lock": Style(BROWN, 9, MIXED, 1.5),
    "cna": Style(OLIVE, 5, SOLID, 1.5), "hmcs": Style(OLIVE, 8, DASHED, 1.5),
    "qspinlock_again": Style(TEAL, 10, LONG, 1.5),
    "tas_b": Style(BROWN, 14, DOTTED, 1.5), "tas_b_try": Style(BROWN, 15, DASHED, 1.5),
    "clh": Style(TEAL, 3, DOTTED, 1.5), "mcs": Style(ORANGE, 12, DOTTED, 1.5),
    "clh_try": Style(TEAL, 1, MIXED, 1.5), "mcs_try": Style(ORANGE, 2, MIXED, 1.5),
    "clh_nb_paper": Style(BLUE, 6, DASHED, 1.5), "mcs_nb_paper": Style(RED, 4, DASHED, 1.5),
}
# In turn, of lock types that other modules have brought.
OTHERS = (Style("#a5123c", 14, LONG, 3), Style("#3d5a73", 5, LONG, 3),
          Style("#4b3fc0", 7, LONG, 3))
MOST_LETTERS = 22		# of all names of tics, side by side in half of a figure
USUAL = ("nbq_spin", "raw_spinlock", "qspinlock", "clh_nb", "tas_b_try")


def styles_of(locks):
    """{lock: its Style}; those that are not known here take turns."""
    others = [lock for lock in locks if lock not in STYLES]
    return {lock: STYLES.get(lock) or OTHERS[others.index(lock) % len(OTHERS)] for lock in locks}


def drawn_locks(there, wanted):
    """At most MOST_DRAWN of those that are there; one that is not known here always, it is new."""
    own = [lock for lock in there if lock not in STYLES]
    named = [lock for lock in dict.fromkeys(wanted or [*USUAL, *STYLES]) if lock in there]
    chosen = [*own, *named][:MOST_DRAWN]
    return [*(lock for lock in STYLES if lock in chosen),
            *(lock for lock in own if lock in chosen)]


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
            return place * min(self.nearest(), 2) ** (0.1 * step)
        return place + (0.25 if self.needs_all else 0.1) * step * self.nearest()

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
    def words(self):
        return [axis_word(self.name, value) for value in self.values]

    @property
    def is_wide(self):
        """Whether its words have no room side by side in half of a figure."""
        return len(" ".join(self.words)) > MOST_LETTERS

    @property
    def needs_all(self):
        """Whether a panel has all of the width, for its words."""
        return self.is_wide and self.side_by_side

    def tics(self):
        """Of numbers that stand too close together, every other one has no name."""
        named = 2 if self.is_wide and not self.needs_all else 1
        return ", ".join(f'"{word if number % named == 0 else ""}" {self.place(value):g}'
                         for number, (word, value) in enumerate(zip(self.words, self.values)))


# One pair of axes; points: {lock: {value of x: Summary}}.
Panel = namedtuple("Panel", "title points")


class Figure:
    """All that is drawn for a [plot] section of a scenario."""

    def __init__(self, result, plot, context):
        self.name = f"{result.name}-{plot.name}"
        self.plot = plot
        self.metric = METRICS[plot.y]
        machines = plot.where.get("cores", [])		# of the simulation, if it has several
        self.cores = machines[0] if len(machines) == 1 else context.cores
        self.log_y = "y" in plot.log and plot.log != "none"
        self.styles = styles_of(locks_of(result.runs))
        runs = drawn_runs(result.runs, plot.where)
        values = values_of(runs, plot.x)
        self.axis = Axis(plot.x, values, plot.log in ("x", "xy") or wide(plot.x, values))
        self.panels = [self.panel(runs, point, context)
                       for point in panel_points(runs, plot)]
        self.locks = drawn_locks([lock for lock in locks_of(runs) if self.has(lock)], plot.locks)

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
        panels = [panel] if self.metric.apart else self.panels
        return [end for panel in panels for lock in self.locks
                for found in panel.points[lock].values()
                for end in (found.low, found.median, found.high)]

    def off_the_axis(self):
        """What a logarithmic axis cannot show: {lock: how many points}"""
        if not self.log_y:
            return {}
        count = {lock: sum(found.median <= 0 for panel in self.panels
                           for found in panel.points[lock].values())
                 for lock in self.locks}
        return {lock: number for lock, number in count.items() if number}


def drawn_runs(runs, where):
    """Those at the points that a figure is of."""
    return [run for run in runs if all(
        any(same(value, run.point.get(axis)) for value in values)
        for axis, values in where.items())]


def wide(axis, values):
    """Whether so many CPUs or sockets are on an axis that doubling is a step."""
    return axis in COUNTED and len(values) > 2 and values[-1] >= 8 * values[0]


def panel_points(runs, plot):
    """A point for each panel: the panel's axis, and all that no axis shows."""
    axes = [plot.panel] if plot.panel else []
    axes += [axis for axis in (runs[0].point if runs else {})
             if axis not in (plot.x, plot.panel) and len(values_of(runs, axis)) > 1]
    return [dict(zip(axes, values))
            for values in product(*(values_of(runs, axis) for axis in axes))]


AXES = {"cpus": "CPUs", "retry": "after a timeout", "suspend_ns": "length of a suspension (us)",
        "host_busy": "other busy processes for each core", "costs": "cost table",
        "impatient_permille": "attempts with little patience, of 1000",
        "stop_us": "a socket stops after (us; 0: never)"}
COUNTED = {"cpus": "CPU", "sockets": "socket", "cores": "core"}
UNITS = ((1e6, "ms"), (1e3, "us"), (1, "ns"))
VALUES = {"at_once": "retry at once", "back_off": "back off, then retry",
          "give_up": "give up", ("stop_waiters", 0): "its CPUs stop between attempts",
          ("stop_waiters", 1): "those that wait stop, too"}
# A point in words, where that is not "patience 15 us", the parameter and its value.
PHRASES = {"cs_ns": "{} inside the lock", "ncs_ns": "{} outside the lock",
           "suspend_ns": "suspensions of {}", "stop_us": "a socket stops after {} us",
           "host_busy": "busy processes for each core: {}",
           "impatient_permille": "{} of 1000 attempts have little patience"}


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


def time_words(value):
    """"15 us", "200 ns for each CPU", "0", "without end"."""
    if value == "max":
        return "without end"
    if isinstance(value, str) and re.fullmatch(A_CPU, value):
        return f"{value.split('*')[0]} ns for each CPU"
    if isinstance(value, str) or not value:
        return str(value)
    size, unit = next((value / size, unit) for size, unit in UNITS if value >= size)
    return f"{size:g} {unit}"


def point_words(axis, value):
    """"patience 15 us", "8 CPUs"."""
    if axis in COUNTED:
        return f"{value} {COUNTED[axis]}{'' if value == 1 else 's'}"
    words = PHRASES.get(axis, axis.removesuffix("_ns").replace("_", " ") + " {}")
    if axis.endswith("_ns"):
        return words.format(time_words(value))
    return VALUES.get((axis, value)) or VALUES.get(value, words.format(value))
