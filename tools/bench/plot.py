# SPDX-License-Identifier: GPL-2.0
"""Figures of a result folder, drawn by gnuplot as SVG and PNG.

A lock has the same colour, mark and dash in every figure. Lines join medians,
bars reach from the least to the greatest of the rounds. A point that has no
data is a gap. The locks stand a little beside one another at each value of
the x axis, so that their bars can be told apart.
"""

from collections import namedtuple
from itertools import product
import os
from pathlib import Path
import re
import subprocess
from textwrap import wrap

from bed.common import Trouble
from bench.metrics import (FIGURE5, METRICS, context_of, locks_of, matching, summary, values_of)
from bench.results import open_folder

FIGURES = "figures"		# in a result folder
FORMATS = ("svg", "png")
NEEDED = (5, 4)			# of gnuplot

# Colours that the colour-blind can tell apart (Okabe and Ito). A family has a
# colour; marks and dashes tell all of them apart in grey. Ours are thicker and
# solid, printed forms have the same mark, hollow. The hybrids, which are
# test-and-set locks with a queue, have letters: gnuplot has no other marks left.
Style = namedtuple("Style", "colour mark dash width")
SOLID, DASHED, DOTTED, MIXED, LONG = "solid", "(8,4)", "(2,3)", "(9,3,2,3)", "(14,5)"
BLUE, RED, GREEN = "#0072B2", "#D55E00", "#009E73"
SKY, ORANGE, PURPLE, BLACK, GREY = "#56B4E9", "#E69F00", "#CC79A7", "#000000", "#777777"
STYLES = {
    "clh_nb": Style(BLUE, 7, SOLID, 3), "mcs_nb": Style(RED, 5, SOLID, 3),
    "swap_nb": Style(GREEN, 9, SOLID, 3),
    "nbq_spin": Style(PURPLE, '"H"', SOLID, 3), "nbq_spin_fifo": Style(GREY, '"F"', SOLID, 3),
    "raw_spinlock": Style(BLACK, 11, SOLID, 1.5), "raw_trylock": Style(GREY, 10, DASHED, 1.5),
    "rqspinlock": Style(BLACK, 13, LONG, 1.5),
    "tas_b": Style(PURPLE, 14, DOTTED, 1.5), "tas_b_try": Style(PURPLE, 15, DASHED, 1.5),
    "clh": Style(SKY, 3, DOTTED, 1.5), "mcs": Style(ORANGE, 12, DOTTED, 1.5),
    "clh_try": Style(SKY, 1, MIXED, 1.5), "mcs_try": Style(ORANGE, 2, MIXED, 1.5),
    "clh_nb_paper": Style(BLUE, 6, DASHED, 1.5), "mcs_nb_paper": Style(RED, 4, DASHED, 1.5),
}
OTHER = Style("#555555", 8, MIXED, 1.5)		# whatever the driver has besides

# Sizes in pixels of the SVG; everything is placed by them.
PANEL = (520, 345)		# with its axes
SMALL_PANEL = (430, 330)	# where there are several
KEY_WIDTH = 165
HEAD = 64			# title and subtitle
FOOT_LINE = 17
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
            return place * self.nearest() ** (0.18 * step)
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

    def tics(self):
        return ", ".join(f'"{axis_word(self.name, value)}" {self.place(value):g}'
                         for value in self.values)


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
        runs = result.runs
        self.axis = Axis(plot.x, values_of(runs, plot.x), plot.log in ("x", "xy"))
        self.panels = [self.panel(runs, point, context)
                       for point in panel_points(runs, plot)]
        self.locks = [lock for lock in STYLES if self.has(lock)]
        self.locks += [lock for lock in locks_of(runs)
                       if lock not in STYLES and self.has(lock)]

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


def panel_points(runs, plot):
    """A point for each panel: the panel's axis, and all that no axis shows."""
    axes = [plot.panel] if plot.panel else []
    axes += [axis for axis in (runs[0].point if runs else {})
             if axis not in (plot.x, plot.panel) and len(values_of(runs, axis)) > 1]
    return [dict(zip(axes, values))
            for values in product(*(values_of(runs, axis) for axis in axes))]


AXES = {"cpus": "CPUs", "retry": "after a timeout", "suspend_ns": "suspension (us)"}
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
    if axis == "cpus":
        return f"{value} CPUs" if value != 1 else "1 CPU"
    if axis.endswith("_ns") and value == "max":
        return f"{axis[:-3].replace('_', ' ')} without end"
    if axis.endswith("_ns") and isinstance(value, (int, float)):
        size, unit = next(((value / size, unit) for size, unit in UNITS if value >= size),
                          (value, "ns"))
        return f"{axis[:-3].replace('_', ' ')} {size:g}" + (f" {unit}" if value else "")
    return VALUES.get(value, f"{axis.replace('_', ' ')} {value}")


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
        self.width = self.columns * self.panel[0] + KEY_WIDTH
        self.height = HEAD + self.rows * self.panel[1] + FOOT_LINE * notes + 6

    def x(self, pixels):
        return f"{pixels / self.width:.5f}"

    def y(self, pixels):
        """From the top."""
        return f"{1 - pixels / self.height:.5f}"

    def margins(self, number):
        left = number % self.columns * self.panel[0]
        top = HEAD + number // self.columns * self.panel[1]
        return [f"set lmargin at screen {self.x(left + LEFT)}",
                f"set rmargin at screen {self.x(left + self.panel[0] - RIGHT)}",
                f"set tmargin at screen {self.y(top + TOP)}",
                f"set bmargin at screen {self.y(top + self.panel[1] - BOTTOM)}"]


def block_name(number, lock):
    return f"$panel{number}_{lock}"


def data_block(figure, number, panel, lock):
    """x, median, least, greatest; NaN where there is nothing, for a gap."""
    count = len(figure.locks)
    step = 2 * figure.locks.index(lock) / (count - 1) - 1 if count > 1 else 0
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


def line_style(number, lock):
    style = style_of(lock)
    return (f'set style line {number} lc rgb "{style.colour}" pt {style.mark} '
            f"dt {style.dash} lw {style.width} ps {1.1 if style.width > 2 else 0.9}")


def drawn(figure, number, lock):
    """The bars and the line of a lock in a panel."""
    index = figure.locks.index(lock) + 1
    block = block_name(number, lock)
    return [f"{block} using 1:2:3:4 with yerrorbars ls {index} lw 0.8 dt solid notitle",
            f"{block} using 1:2 with linespoints ls {index} notitle"]


def y_range(figure, panel):
    """One for all panels, as a rule, so that they can be compared."""
    if figure.metric.unit == "%" and figure.metric.name.endswith("rate"):
        return "set yrange [0:104]"	# room for the marks at 100
    ends = figure.values(panel)
    if figure.log_y:
        ends = [end for end in ends if end > 0] or [1]
        low, high = min(ends) / 1.4, max(ends) * 1.4
        # Less than a decade would have no second number at the axis.
        return f"set yrange [{min(low, high / 12):.6g}:{high:.6g}]"
    low, high = min(0, *ends, 0), max(0, *ends, 0)
    room = 0.05 * (high - low) or 1
    return f"set yrange [{low - room if low else 0:.6g}:{high + room:.6g}]"


def panel_script(figure, sheet, number, panel):
    """A pair of axes with the locks."""
    left, right = figure.axis.ends()
    lines = [*sheet.margins(number), f"set title {quoted(panel.title)} offset 0,-0.6",
             f"set xlabel {quoted(axis_name(figure.axis.name))} offset 0,0.4",
             f"set ylabel {quoted(figure.metric.axis)}",
             f"set xrange [{left:.6g}:{right:.6g}]", f"set xtics ({figure.axis.tics()})",
             y_range(figure, panel), "unset logscale", "unset arrow"]
    logs = ("x" if figure.axis.log else "") + ("y" if figure.log_y else "")
    if logs:
        lines.append(f"set logscale {logs}")
    if figure.axis.name == "cpus" and figure.cores in figure.axis.values:
        place = figure.axis.place(figure.cores)
        lines.append(f"set arrow from {place},graph 0 to {place},graph 1 nohead "
                     'lc rgb "#999999" dt (3,3) lw 1 back')
    curves = [curve for lock in figure.locks if panel.points.get(lock)
              for curve in drawn(figure, number, lock)]
    if not curves:
        curves = ["1/0 notitle"]
    return [*lines, "plot " + ", \\\n    ".join(curves)]


def key_script(figure, sheet):
    """The legend, right of all panels."""
    left = sheet.columns * sheet.panel[0]
    curves = [f"1/0 with linespoints ls {number} title {quoted(lock)}"
              for number, lock in enumerate(figure.locks, 1)]
    return ["unset border", "unset tics", "unset xlabel", "unset ylabel", "unset title",
            "unset logscale", "unset arrow", "unset label",
            f"set lmargin at screen {sheet.x(left)}",
            f"set rmargin at screen {sheet.x(sheet.width - 5)}",
            f"set tmargin at screen {sheet.y(HEAD)}",
            f"set bmargin at screen {sheet.y(sheet.height - 2)}",
            "set key inside left top Left reverse samplen 3.5 spacing 1.2",
            "set xrange [0:1]", "set yrange [0:1]", "plot " + ", \\\n    ".join(curves)]


def notes_of(figure):
    notes = []
    if figure.axis.name == "cpus" and figure.cores in figure.axis.values:
        notes.append("Upright line: a core for each CPU; right of it CPUs are preempted.")
    off = [f"{lock} ({number})" for lock, number in figure.off_the_axis().items()]
    if off:
        notes.append(f"Points at 0 or below, which have no place on this axis: "
                     f"{', '.join(off)}.")
    return [line for note in notes for line in wrap(note, 75 * min(len(figure.panels), 2))]


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
             *(line_style(number, lock) for number, lock in enumerate(figure.locks, 1)),
             *labels(figure, sheet, subtitle, notes, kind)]
    for number, panel in enumerate(figure.panels):
        for lock in figure.locks:
            lines += data_block(figure, number, panel, lock)
    lines += ["set multiplot", "unset key", "set tics nomirror out", "set border 3",
              'set grid ytics lc rgb "#dddddd" lw 1',
              f'set format y "{"%.0s%c" if figure.metric.unit == "1/s" else "%.10g"}"']
    for number, panel in enumerate(figure.panels):
        lines += panel_script(figure, sheet, number, panel)
        lines.append("unset label")		# once is enough
    return "\n".join([*lines, *key_script(figure, sheet), "unset multiplot", ""])


# Drawing

def subtitle_of(folder, result):
    """The machine, in a line."""
    machine = folder.machine
    rounds = max((run.round for run in result.runs), default=-1) + 1
    kind = "user-mode Linux" if result.plan.bed == "uml" else result.plan.bed
    words = [f"{kind} {result.kernel}".strip(), f"{machine.get('cores', '?')} cores",
             f"{rounds} round{'' if rounds == 1 else 's'}: median, least and greatest"]
    return ", ".join([*words, "a quick pass"] if result.plan.is_quick else words)


def context_for(folder):
    """What the metrics of a folder need."""
    figure5 = folder.scenarios.get(FIGURE5)
    return context_of(folder.machine.get("cores"), figure5.runs if figure5 else [])


def figures_of(folder):
    """{scenario's name: [Figure]}; empty figures too, which draw() leaves out."""
    context = context_for(folder)
    return {name: [Figure(result, plot, context) for plot in result.plan.plots]
            for name, result in folder.scenarios.items()}


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
