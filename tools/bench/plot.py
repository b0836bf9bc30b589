# SPDX-License-Identifier: GPL-2.0
"""Figures of a result folder, drawn by gnuplot as SVG and PNG.

Lines join medians. A few locks, those that a figure is about, have a colour, each the
same in every figure, and bars from the least to the greatest of their rounds; they stand
a little beside one another at each value of the x axis, so that these can be told apart.
The others are grey. Each line has its name at its end, and the same mark and dash in
every figure. A point that has no data is a gap.
"""

from collections import namedtuple
from itertools import product
import math
import os
from pathlib import Path
import re
import subprocess
from textwrap import wrap

from bench import svg
from bench.kernels import OWN
from bench.testbeds import KERNELS, SIMULATED, WHOLE_KERNELS
from bench.parameters import A_CPU, MACHINE
from bench.metrics import (FIGURE5, METRICS, context_of, context_of_kernels, locks_of, matching,
                           same, summary, values_of)
from bench.results import open_folder
from testbed.common import Trouble

FIGURES = "figures"		# in a result folder
FORMATS = ("svg", "png")
NEEDED = (5, 4)			# of gnuplot

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
    "virt_spin_lock": Style(BROWN, '"V"', SOLID, 1.5),
    "cna": Style(OLIVE, '"C"', SOLID, 1.5), "hmcs": Style(OLIVE, '"M"', DASHED, 1.5),
    "qspinlock_again": Style(SKY, '"A"', LONG, 1.5),
    "virt_spin_lock": Style(BROWN, '"V"', MIXED, 1.5),
    "tas_b": Style(BROWN, 14, DOTTED, 1.5), "tas_b_try": Style(BROWN, 15, DASHED, 1.5),
    "clh": Style(SKY, 3, DOTTED, 1.5), "mcs": Style(ORANGE, 12, DOTTED, 1.5),
    "clh_try": Style(SKY, 1, MIXED, 1.5), "mcs_try": Style(ORANGE, 2, MIXED, 1.5),
    "clh_nb_paper": Style(BLUE, 6, DASHED, 1.5), "mcs_nb_paper": Style(RED, 4, DASHED, 1.5),
}
OTHER = Style("#555555", 8, MIXED, 1.5)		# whatever the driver has besides
# In colour, unless the figure says which; all, if there are no more than a few.
IN_COLOUR = ("clh_nb", "mcs_nb", "nbq_spin", "raw_spinlock", "qspinlock", "tas_b_try")
FEW = 6
GREY, GREY_WORDS = "#BBBBBB", "#888888"

# Sizes in pixels of the SVG; everything is placed by them.
PANEL = (520, 345)		# with its axes
SMALL_PANEL = (430, 330)	# where there are several
LABELS = 104		# right of a panel, for the names of the lines
LABEL_LINE = 11.5
HEAD = 64			# title and subtitle
FOOT_LINE = 17
MOST_LETTERS = 48		# of all names of tics, in a line
LEFT, RIGHT, TOP, BOTTOM = 78, 14, 26, 60	# in a panel, around the axes
PNG_SCALE = 1.5


def style_of(lock):
    return STYLES.get(lock, OTHER)


# What is in a figure

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


class Panel:
    """One pair of axes: points is {lock: {value of x: Summary}}."""

    def __init__(self, title, points):
        self.title = title
        self.points = points


class Figure:
    """All that is drawn for a [plot] section of a scenario."""

    def __init__(self, result, plot, context):
        self.name = f"{result.name}-{plot.name}"
        self.plot = plot
        self.metric = METRICS[plot.y]
        self.cores = context.cores
        self.log_y = "y" in plot.log and plot.log != "none"
        runs = drawn_runs(result.runs, plot.where)
        values = values_of(runs, plot.x)
        self.axis = Axis(plot.x, values, plot.log in ("x", "xy") or wide(plot.x, values))
        self.panels = [self.panel(runs, point, context)
                       for point in panel_points(runs, plot)]
        self.locks = [lock for lock in STYLES if self.has(lock)]
        self.locks += [lock for lock in locks_of(runs)
                       if lock not in STYLES and self.has(lock)]
        self.coloured = self.locks if len(self.locks) <= FEW else [
            lock for lock in self.locks if lock in (plot.colour or IN_COLOUR)]

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


# The script

def quoted(text):
    """A string of gnuplot's; there is no backslash in ours."""
    return '"' + str(text).replace("\\", "/").replace('"', "'") + '"'


class Sheet:
    """The size of a figure and where its parts are, as shares of it."""

    def __init__(self, panels, notes):
        self.columns = 1 if panels == 1 else 2
        self.rows = -(-panels // self.columns)
        self.panel = PANEL if panels == 1 else SMALL_PANEL
        self.width = self.columns * (self.panel[0] + LABELS)
        self.height = HEAD + self.rows * self.panel[1] + FOOT_LINE * notes + 6

    def x(self, pixels):
        return f"{pixels / self.width:.5f}"

    def y(self, pixels):
        """From the top."""
        return f"{1 - pixels / self.height:.5f}"

    def left(self, number):
        return number % self.columns * (self.panel[0] + LABELS)

    def top(self, number):
        return HEAD + number // self.columns * self.panel[1]

    @property
    def room(self):
        """Pixels between the x axis and the top of a panel."""
        return self.panel[1] - TOP - BOTTOM

    def margins(self, number):
        left, top = self.left(number), self.top(number)
        return [f"set lmargin at screen {self.x(left + LEFT)}",
                f"set rmargin at screen {self.x(left + self.panel[0] - RIGHT)}",
                f"set tmargin at screen {self.y(top + TOP)}",
                f"set bmargin at screen {self.y(top + self.panel[1] - BOTTOM)}"]


def block_name(number, lock):
    return f"$panel{number}_{lock}"


def step_of(figure, lock):
    """Where a lock stands beside the value of x, from -1 to 1; a grey one at it."""
    count = len(figure.coloured)
    if lock not in figure.coloured or count == 1:
        return 0
    return 2 * figure.coloured.index(lock) / (count - 1) - 1


def data_block(figure, number, panel, lock):
    """x, median, least, greatest; NaN where there is nothing, for a gap."""
    step = step_of(figure, lock)
    lines = [f"{block_name(number, lock)} << END"]
    for value in figure.axis.values:
        found = panel.points.get(lock, {}).get(value)
        numbers = [found.median, found.low, found.high] if found else []
        if not found or (figure.log_y and found.median <= 0):
            numbers = ["NaN"] * 3
        elif figure.log_y and found.low <= 0:
            numbers[1] = found.median	# a bar cannot reach down to 0
        lines.append(" ".join(str(each) for each in
                              [f"{figure.axis.beside(value, step):.6g}", *numbers]))
    return [*lines, "END"]


def line_style(number, lock, coloured):
    style = style_of(lock)
    colour, width, size = (style.colour, style.width, 1.1 if style.width > 2 else 0.9) \
        if coloured else (GREY, 1, 0.6)
    return (f'set style line {number} lc rgb "{colour}" pt {style.mark} '
            f"dt {style.dash} lw {width} ps {size}")


def drawn(figure, number, lock):
    """The line of a lock in a panel, and the bars of one that has a colour."""
    index = figure.locks.index(lock) + 1
    block = block_name(number, lock)
    # Loads have no order: nothing lies between two of them.
    kind = "points" if figure.axis.name == "load" else "linespoints"
    line = f"{block} using 1:2 with {kind} ls {index} notitle"
    if lock not in figure.coloured:
        return [line]
    return [f"{block} using 1:2:3:4 with yerrorbars ls {index} lw 0.8 dt solid notitle", line]


def y_range(figure, panel):
    """One for all panels, as a rule, so that they can be compared."""
    if figure.metric.unit == "%" and figure.metric.name.endswith("rate") and not figure.log_y:
        return 0, 104		# room for the marks at 100
    ends = figure.values(panel)
    if figure.log_y:
        ends = [end for end in ends if end > 0] or [1]
        low, high = min(ends) / 1.4, max(ends) * 1.4
        # Less than a decade would have no second number at the axis.
        return min(low, high / 12), high
    low, high = min(0, *ends, 0), max(0, *ends, 0)
    room = 0.05 * (high - low) or 1
    return low - room if low else 0, high + room


# Names at the ends of the lines

def last_point(figure, panel, lock):
    """(x, y) of the end of a line; None if nothing of it is drawn."""
    found = panel.points.get(lock, {})
    there = [value for value in figure.axis.values
             if value in found and not (figure.log_y and found[value].median <= 0)]
    if not there:
        return None
    return (figure.axis.beside(there[-1], step_of(figure, lock)), found[there[-1]].median)


def height_of(figure, ends, value):
    """How far up an axis from its first to its second end a value is, from 0 to 1."""
    low, high = (math.log(end) for end in ends) if figure.log_y else ends
    return ((math.log(value) if figure.log_y else value) - low) / (high - low)


def spread_out(wanted, gap, room):
    """Places from 0 to room near the wanted ones, which ascend, so far apart at least.

    As wide apart as they fit, if they do not: each group that would overlap is
    centred on the mean of what it wants.
    """
    gap = min(gap, room / max(1, len(wanted) - 1))
    groups = []		# [sum of the places of their first, how many]
    for number, place in enumerate(wanted):
        groups.append([place - number * gap, 1])
        while len(groups) > 1 and groups[-2][0] / groups[-2][1] > groups[-1][0] / groups[-1][1]:
            last = groups.pop()
            groups[-1] = [groups[-1][0] + last[0], groups[-1][1] + last[1]]
    firsts = [total / count for total, count in groups for _ in range(count)]
    last = room - (len(wanted) - 1) * gap
    return [min(max(first, 0), last) + number * gap for number, first in enumerate(firsts)]


def named_locks(figure, sheet):
    """The locks whose names stand at their lines: those in colour, if all are too many."""
    fits = len(figure.locks) <= sheet.room // LABEL_LINE + 1
    return figure.locks if fits else figure.coloured


def name_script(figure, sheet, number, panel, kind):
    """Names right of a panel, and a thin line to each from where its curve ends."""
    ends = y_range(figure, panel)
    lines = {lock: last_point(figure, panel, lock) for lock in named_locks(figure, sheet)}
    lines = sorted(((height_of(figure, ends, point[1]) * sheet.room, lock, point)
                    for lock, point in lines.items() if point), key=lambda line: line[0])
    places = spread_out([line[0] for line in lines], LABEL_LINE, sheet.room)
    left = sheet.left(number) + sheet.panel[0]
    bottom = sheet.top(number) + sheet.panel[1] - BOTTOM
    script_lines = []
    for at, ((_, lock, point), place) in enumerate(zip(lines, places), 10):
        coloured = lock in figure.coloured
        colour = style_of(lock).colour if coloured else GREY_WORDS
        where = (sheet.x(left + 6), sheet.y(bottom - place))
        # Dotted across the panel, where it could be taken for data.
        at_end = point[0] > figure.axis.beside(figure.axis.values[-1], -1.1)
        dash = SOLID if at_end else "(1,4)"
        script_lines += [
            label(at, lock, kind, 10, where, colour),
            f"set arrow {at} from first {point[0]:.6g},{point[1]:.6g} to screen "
            f"{sheet.x(left + 3)},{where[1]} nohead lw 0.6 dt {dash} "
            f'lc rgb "{colour if coloured else GREY}" back']
    return script_lines


def panel_script(figure, sheet, number, panel, kind):
    """A pair of axes with the locks, the grey ones behind."""
    left, right = figure.axis.ends()
    low, high = y_range(figure, panel)
    lines = [*sheet.margins(number), f"set title {quoted(panel.title)} offset 0,-0.6",
             f"set xlabel {quoted(axis_name(figure.axis.name))} "
             f"offset 0,{-0.8 if figure.axis.in_two_lines else 0.4}",
             f"set ylabel {quoted(figure.metric.axis)}",
             f"set xrange [{left:.6g}:{right:.6g}]", f"set xtics ({figure.axis.tics()})",
             f"set yrange [{low:.6g}:{high:.6g}]", "unset logscale", "unset arrow"]
    logs = ("x" if figure.axis.log else "") + ("y" if figure.log_y else "")
    if logs:
        lines.append(f"set logscale {logs}")
    if figure.marks_cores:
        place = figure.axis.place(figure.cores)
        lines.append(f"set arrow from {place},graph 0 to {place},graph 1 nohead "
                     'lc rgb "#999999" dt (3,3) lw 1 back')
    lines += name_script(figure, sheet, number, panel, kind)
    behind = [lock for lock in figure.locks if lock not in figure.coloured]
    curves = [curve for lock in [*behind, *figure.coloured] if panel.points.get(lock)
              for curve in drawn(figure, number, lock)]
    if not curves:
        curves = ["1/0 notitle"]
    return [*lines, "plot " + ", \\\n    ".join(curves)]


def notes_of(figure):
    notes = []
    unnamed = [lock for lock in figure.locks
               if lock not in named_locks(figure, Sheet(len(figure.panels), 0))]
    if unnamed:
        notes.append(f"Grey, without a name: {', '.join(unnamed)}.")
    if figure.marks_cores:
        notes.append("Upright line: a core for each CPU; right of it CPUs are preempted.")
    off = [f"{lock} ({number})" for lock, number in figure.off_the_axis().items()]
    if off:
        notes.append(f"Points at 0 or below, which have no place on this axis: "
                     f"{', '.join(off)}.")
    return [line for note in notes for line in wrap(note, 90 * min(len(figure.panels), 2))]


def font_size(kind, pixels):
    """SVG's sizes are pixels, those of PNG are points of 96 to the inch."""
    return f"{pixels if kind == 'svg' else 0.75 * pixels * PNG_SCALE:g}"


def terminal(kind, sheet):
    font = f'font "DejaVu Sans,{font_size(kind, 11.5)}"'
    if kind == "svg":
        return (f"set terminal svg noenhanced size {sheet.width},{sheet.height} {font} "
                'background "#ffffff"')
    return (f"set terminal pngcairo noenhanced size {round(sheet.width * PNG_SCALE)},"
            f"{round(sheet.height * PNG_SCALE)} {font} "
            f"linewidth {PNG_SCALE} pointscale {PNG_SCALE}")


def label(number, text, kind, pixels, place, colour="#000000"):
    return (f"set label {number} {quoted(text)} at screen {place[0]},{place[1]} left "
            f'font ",{font_size(kind, pixels)}" tc rgb "{colour}"')


def labels(figure, sheet, subtitle, notes, kind):
    """What stands above and below the panels."""
    grey = "#555555"
    lines = [label(1, figure.plot.title, kind, 14, (sheet.x(12), sheet.y(20))),
             label(2, subtitle, kind, 10, (sheet.x(12), sheet.y(44)), grey)]
    for number, note in enumerate(notes):
        place = sheet.height - FOOT_LINE * (len(notes) - number) + 4
        lines.append(label(3 + number, note, kind, 10, (sheet.x(12), sheet.y(place)), grey))
    return lines


def script(figure, subtitle, kind, path):
    """All that gnuplot has to be told to draw a figure."""
    notes = notes_of(figure)
    sheet = Sheet(len(figure.panels), len(notes))
    lines = [terminal(kind, sheet), "set encoding utf8", f"set output {quoted(path)}",
             *(line_style(number, lock, lock in figure.coloured)
               for number, lock in enumerate(figure.locks, 1)),
             *labels(figure, sheet, subtitle, notes, kind)]
    for number, panel in enumerate(figure.panels):
        for lock in figure.locks:
            lines += data_block(figure, number, panel, lock)
    lines += ["set multiplot", "unset key", "set tics nomirror out", "set border 3",
              'set grid ytics lc rgb "#dddddd" lw 1',
              f'set format y "{"%.0s%c" if figure.metric.unit == "1/s" else "%.10g"}"']
    for number, panel in enumerate(figure.panels):
        lines += panel_script(figure, sheet, number, panel, kind)
        lines.append("unset label")		# once is enough
    return "\n".join([*lines, "unset multiplot", ""])


# Drawing

def tables_of(result):
    """The names of the cost tables that a result is simulated by; none of other testbeds."""
    if not result.plan.is_simulated:
        return []
    return sorted({run.result["costs"] for run in result.runs if "costs" in run.result})


def simulated_words(result):
    """"simulated, cost table A": for all that shows simulated figures."""
    tables = tables_of(result)
    return f"simulated, cost table{'' if len(tables) == 1 else 's'} {' and '.join(tables)}"


def subtitle_of(folder, result):
    """The machine, in a line."""
    machine = folder.machine
    rounds = max((run.round for run in result.runs), default=-1) + 1
    if result.plan.is_simulated:
        words = [f"S{simulated_words(result)[1:]}",
                 *(point_words(parameter, value) for parameter, value in result.plan.load.items()
                   if parameter in ("sockets", "cores")),
                 f"{rounds} seed{'' if rounds == 1 else 's'}: median, least and greatest"]
    else:
        kind = "user-mode Linux" if result.plan.testbed in ("uml", KERNELS) else \
            result.plan.testbed
        words = [f"{kind} {result.kernel}".strip(), f"{machine.get('cores', '?')} cores",
                 f"{rounds} round{'' if rounds == 1 else 's'}: median, least and greatest"]
    return ", ".join([*words, "a quick pass"] if result.plan.is_quick else words)


def context_for(folder, result, where=None):
    """What the metrics of a folder's result need.

    where: {axis: value}, the simulated machine, if the result has several.
    """
    plan = result.plan
    if plan.testbed in WHOLE_KERNELS:
        return context_of_kernels(folder.machine.get("cores"), result.runs, OWN)
    if not plan.is_simulated:
        figure5 = folder.scenarios.get(FIGURE5)
        return context_of(folder.machine.get("cores"), figure5.runs if figure5 else [])
    figure5 = folder.scenarios.get(f"{FIGURE5}-{SIMULATED}")
    machine = {**plan.load, **(where or {})}
    runs = [run for run in figure5.runs if all(
        same(run.settings.get(axis, default), machine.get(axis, default))
        for axis, default in MACHINE.items())] if figure5 else []
    return context_of(plan.cores(None), runs, plan.testbed)


def figures_of(folder):
    """{scenario's name: [Figure]}; empty figures too, which draw() leaves out."""
    return {name: figures_of_result(folder, result)
            for name, result in folder.scenarios.items()}


def figures_of_result(folder, result):
    context = context_for(folder, result)
    return [Figure(result, plot, context) for plot in result.plan.plots]


def gnuplot():
    """The program, if it can draw what is wanted."""
    try:
        done = subprocess.run(["gnuplot", "--version"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, check=False)
    except OSError:
        raise Trouble("gnuplot is not installed; tools/setup bench installs it "
                      "(Debian: gnuplot-nox)") from None
    found = re.match(r"gnuplot (\d+)\.(\d+)", done.stdout)
    if not found or (int(found[1]), int(found[2])) < NEEDED:
        raise Trouble(f"gnuplot {'.'.join(map(str, NEEDED))} or later is needed; "
                      f"this is {done.stdout.strip() or 'something else'}")
    return "gnuplot"


def run_gnuplot(text, path):
    done = subprocess.run([gnuplot(), "-"], input=text, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    problems = [line for line in done.stdout.splitlines() if line.strip()
                and "undefined" not in line and "no valid points" not in line]
    if done.returncode or not path.exists() or not path.stat().st_size:
        raise Trouble(f"gnuplot could not draw {path.name}: {' '.join(problems)[:500]}")
    if path.suffix == ".svg":
        path.write_text(svg.smaller(path.read_text(encoding="utf-8")), encoding="utf-8")


def draw(folder):
    """Draw all figures of a result folder, anew if they are there. Returns their paths."""
    opened = open_folder(folder)
    target = Path(folder) / FIGURES
    try:
        target.mkdir(exist_ok=True)
    except OSError as error:
        raise Trouble(f"cannot make {target}: {error.strerror}") from None
    if not os.access(target, os.W_OK | os.X_OK):
        raise Trouble(f"cannot write to {target}")
    paths = []
    for name, figures in figures_of(opened).items():
        subtitle = subtitle_of(opened, opened.scenarios[name])
        for figure in figures:
            if figure.empty:
                continue
            for kind in FORMATS:
                path = target / f"{figure.name}.{kind}"
                run_gnuplot(script(figure, subtitle, kind, path), path)
                paths.append(path)
    return paths
