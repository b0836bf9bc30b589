# SPDX-License-Identifier: GPL-2.0
"""Figures as gnuplot is told to draw them.

Lines join medians. Locks that have a colour have bars from the least to the greatest of their
rounds; they stand a little beside one another at each value of the x axis, so that these can be
told apart. Each line has its name at its end. A point that has no data is a gap.
"""

import math
import re
import subprocess
from textwrap import wrap

from bench import svg
from bench.figure import GREY, GREY_WORDS, SOLID, axis_name
from testbed.common import Failure

NEEDED = (5, 4)			# of gnuplot
# Sizes in pixels of the SVG; everything is placed by them.
PANEL = (520, 345)		# with its axes
SMALL_PANEL = (430, 330)	# where there are several
LABELS = 104		# right of a panel, for the names of the lines
LABEL_LINE = 11.5
HEAD = 64			# title and subtitle
FOOT_LINE = 17
LEFT, RIGHT, TOP, BOTTOM = 78, 14, 26, 60	# in a panel, around the axes
SECOND_LINE = 16		# of the x axis: so much higher is a panel
PNG_SCALE = 1.5


def quoted(text):
    """A string of gnuplot's; there is no backslash in ours."""
    return '"' + str(text).replace("\\", "/").replace('"', "'") + '"'


class Sheet:
    """The size of a figure and where its parts are, as shares of it."""

    def __init__(self, panels, notes, in_two_lines=False):
        self.columns = 1 if panels == 1 else 2
        self.rows = -(-panels // self.columns)
        width, height = PANEL if panels == 1 else SMALL_PANEL
        self.bottom = BOTTOM + SECOND_LINE * in_two_lines
        self.panel = width, height - BOTTOM + self.bottom
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
        return self.panel[1] - TOP - self.bottom

    def margins(self, number):
        left, top = self.left(number), self.top(number)
        return [f"set lmargin at screen {self.x(left + LEFT)}",
                f"set rmargin at screen {self.x(left + self.panel[0] - RIGHT)}",
                f"set tmargin at screen {self.y(top + TOP)}",
                f"set bmargin at screen {self.y(top + self.panel[1] - self.bottom)}"]


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


def line_style(number, style, coloured):
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
    # Type -1: the mark is the line's; that of the bars has a white disc behind it.
    return [f"{block} using 1:2:3:4 with yerrorbars ls {index} lw 0.8 dt solid pt -1 notitle", line]


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
    bottom = sheet.top(number) + sheet.panel[1] - sheet.bottom
    script_lines = []
    for at, ((_, lock, point), place) in enumerate(zip(lines, places), 10):
        coloured = lock in figure.coloured
        colour = figure.styles[lock].colour if coloured else GREY_WORDS
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


def page(path, kind, sheet, words, before, settings, panels):
    """A script: words above and below the panels, what comes before these, and what all have.

    words: title, subtitle, [notes]. before, settings: lines. panels: the lines of each.
    """
    title, subtitle, notes = words
    grey = "#555555"
    lines = [terminal(kind, sheet), "set encoding utf8", f"set output {quoted(path)}",
             label(1, title, kind, 14, (sheet.x(12), sheet.y(20))),
             label(2, subtitle, kind, 10, (sheet.x(12), sheet.y(44)), grey)]
    for number, note in enumerate(notes):
        place = sheet.height - FOOT_LINE * (len(notes) - number) + 4
        lines.append(label(3 + number, note, kind, 10, (sheet.x(12), sheet.y(place)), grey))
    lines += [*before, "set multiplot", "set tics nomirror out", "set border 3",
              'set grid ytics lc rgb "#dddddd" lw 1', *settings]
    for panel in panels:
        lines += [*panel, "unset label"]	# once is enough
    return "\n".join([*lines, "unset multiplot", ""])


def script(figure, subtitle, kind, path):
    """All that gnuplot has to be told to draw a figure."""
    notes = notes_of(figure)
    sheet = Sheet(len(figure.panels), len(notes), figure.axis.in_two_lines)
    before = [line_style(number, figure.styles[lock], lock in figure.coloured)
              for number, lock in enumerate(figure.locks, 1)]
    for number, panel in enumerate(figure.panels):
        for lock in figure.locks:
            before += data_block(figure, number, panel, lock)
    return page(path, kind, sheet, (figure.plot.title, subtitle, notes), before, [
        "unset key",
        f'set format y "{"%.0s%c" if figure.metric.unit == "1/s" else "%.10g"}"'],
        [panel_script(figure, sheet, number, panel, kind)
         for number, panel in enumerate(figure.panels)])


# Drawing

def gnuplot():
    """The program, if it can draw what is wanted."""
    try:
        done = subprocess.run(["gnuplot", "--version"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, check=False)
    except OSError:
        raise Failure("gnuplot is not installed; tools/setup bench installs it "
                      "(Debian: gnuplot-nox)") from None
    found = re.match(r"gnuplot (\d+)\.(\d+)", done.stdout)
    if not found or (int(found[1]), int(found[2])) < NEEDED:
        raise Failure(f"gnuplot {'.'.join(map(str, NEEDED))} or later is needed; "
                      f"this is {done.stdout.strip() or 'something else'}")
    return "gnuplot"


def run_gnuplot(text, path):
    done = subprocess.run([gnuplot(), "-"], input=text, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    problems = [line for line in done.stdout.splitlines() if line.strip()
                and "undefined" not in line and "no valid points" not in line]
    if done.returncode or not path.exists() or not path.stat().st_size:
        raise Failure(f"gnuplot could not draw {path.name}: {' '.join(problems)[:500]}")
    if path.suffix == ".svg":
        path.write_text(svg.smaller(path.read_text(encoding="utf-8")), encoding="utf-8")
