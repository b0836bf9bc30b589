# SPDX-License-Identifier: GPL-2.0
"""Figures as gnuplot is told to draw them.

Lines join medians, bars go from the least to the greatest of the rounds. Locks stand a little
beside one another at each value of the x axis, so that these can be told apart. Each line has its
name at its end. A point that has no data is a gap.
"""

import math
import re
import subprocess
from textwrap import wrap

from base.common import Failure
from measure.bench import svg
from measure.bench.figure import SOLID, axis_name
from measure.bench.svg import FONT, TEXT

NEEDED = (5, 4)			# of gnuplot
# Sizes in pixels of the SVG; everything is placed by them. Pages show it in this width or less.
WIDTH = 880
TITLE = 17
LETTER = 0.55			# how wide one is, of its size
# Heights of a panel that is alone, in one of two columns, in the only one.
WIDE_PANEL, PANEL, LOW_PANEL = 420, 330, 280
NAMES = 124			# right of a panel, for the names of the lines
NAME_LINE = 15
LINE = 18			# of a title, subtitle or note
TITLE_LINE = 24
LEFT, RIGHT, BOTTOM = 102, 10, 54	# in a panel, around the axes
TOP, UNTITLED_TOP = 32, 12
PNG_SCALE = 1.5


def letters(width, size=TEXT):
    """How many letters have room in so many pixels."""
    return int(width / (LETTER * size))


def quoted(text):
    """A string of gnuplot's; there is no backslash in ours."""
    return '"' + str(text).replace("\\", "/").replace('"', "'") + '"'


class Sheet:
    """The size of a figure and where its parts are, as shares of it."""

    def __init__(self, panels, words, in_a_column=False, titled=True):
        """words: (title, subtitle, [notes]). titled: whether the panels have titles."""
        self.above = TOP if titled else UNTITLED_TOP
        title, subtitle, notes = words
        self.title = wrap(title, letters(WIDTH - 24, TITLE), break_on_hyphens=False)
        self.subtitle = wrap(subtitle, letters(WIDTH - 24))
        self.notes = [line for note in notes for line in wrap(note, letters(WIDTH - 24))]
        self.columns = 1 if panels == 1 or in_a_column else 2
        self.panel = (WIDTH / self.columns - NAMES,
                      WIDE_PANEL if panels == 1 else LOW_PANEL if in_a_column else PANEL)
        self.head = 14 + TITLE_LINE * len(self.title) + LINE * len(self.subtitle)
        self.width = WIDTH
        self.height = (self.head + -(-panels // self.columns) * self.panel[1] +
                       LINE * len(self.notes) + 10)

    def texts(self):
        """(text, size, colour, place) of all that is above and below the panels."""
        down = 4
        for lines, size, height, colour in ((self.title, TITLE, TITLE_LINE, svg.INK),
                                            (self.subtitle, TEXT, LINE, svg.DIM)):
            for line in lines:
                down += height
                yield line, size, colour, (self.x(12), self.y(down - height / 2 + 4))
        for number, line in enumerate(self.notes):
            down = self.height - LINE * (len(self.notes) - number) + 4
            yield line, TEXT, svg.DIM, (self.x(12), self.y(down))

    def x(self, pixels):
        return f"{pixels / self.width:.5f}"

    def y(self, pixels):
        """From the top."""
        return f"{1 - pixels / self.height:.5f}"

    def left(self, number):
        return number % self.columns * (self.panel[0] + NAMES)

    def top(self, number):
        return self.head + number // self.columns * self.panel[1]

    @property
    def room(self):
        """Pixels between the x axis and the top of a panel."""
        return self.panel[1] - self.above - BOTTOM

    def margins(self, number):
        left, top = self.left(number), self.top(number)
        return [f"set lmargin at screen {self.x(left + LEFT)}",
                f"set rmargin at screen {self.x(left + self.panel[0] - RIGHT)}",
                f"set tmargin at screen {self.y(top + self.above)}",
                f"set bmargin at screen {self.y(top + self.panel[1] - BOTTOM)}"]


def block_name(number, lock):
    return f"$panel{number}_{lock}"


def step_of(figure, lock):
    """Where a lock stands beside the value of x, from -1 to 1."""
    count = len(figure.locks)
    return 2 * figure.locks.index(lock) / (count - 1) - 1 if count > 1 else 0


def data_block(figure, number, panel, lock):
    """x, median, least, greatest; NaN where there is nothing, for a gap."""
    step = step_of(figure, lock)
    lines = [f"{block_name(number, lock)} << END"]
    for value in figure.axis.values:
        found = panel.points[lock].get(value)
        numbers = [found.median, found.low, found.high] if found else []
        if not found or (figure.log_y and found.median <= 0):
            numbers = ["NaN"] * 3
        elif figure.log_y and found.low <= 0:
            numbers[1] = found.median	# a bar cannot reach down to 0
        lines.append(" ".join(str(each) for each in
                              [f"{figure.axis.beside(value, step):.6g}", *numbers]))
    return [*lines, "END"]


def line_style(number, style):
    return (f'set style line {number} lc rgb "{style.colour}" pt {style.mark} dt {style.dash} '
            f"lw {style.width} ps {1.1 if style.width > 2 else 0.9}")


def drawn(figure, number, lock):
    """The line of a lock in a panel, and its bars."""
    index = figure.locks.index(lock) + 1
    block = block_name(number, lock)
    # Loads have no order: nothing lies between two of them.
    kind = "points" if figure.axis.name == "load" else "linespoints"
    # Type -1: the mark is the line's.
    return [f"{block} using 1:2:3:4 with yerrorbars ls {index} lw 0.8 dt solid pt -1 notitle",
            f"{block} using 1:2 with {kind} ls {index} notitle"]


def y_range(figure, panel):
    """One for all panels, as a rule, so that they can be compared."""
    if figure.metric.unit == "%" and figure.metric.name.endswith("rate") and not figure.log_y:
        return 0, 104		# room for the marks at 100
    ends = figure.values(panel)
    if figure.log_y:
        ends = [end for end in ends if end > 0] or [1]
        low, high = min(ends) / 1.4, max(ends) * 1.4
        return min(low, high / 5), high		# for two numbers at the axis
    low, high = min(0, *ends, 0), max(0, *ends, 0)
    room = 0.05 * (high - low) or 1
    return low - room if low else 0, high + room


def y_tics(figure, low, high):
    """Where it is logarithmic: powers of ten; also 2 and 5 times one that is alone on the axis.

    Each is said: gnuplot 6 counts by tens where there is a power or two.
    """
    if not figure.log_y:
        return "set ytics autofreq"
    first, last = (math.floor(math.log10(end)) for end in (low, high))
    tics = [(step * 10.0 ** power, step == 1 or last - first < 2)
            for power in range(first, last + 1) for step in (1, 2, 5)]
    words = [f"{tic:g}" if named else f'"" {tic:g} 1' for tic, named in tics if low <= tic <= high]
    return f"set ytics ({', '.join(words)})"


# Names at the ends of the lines

def last_point(figure, panel, lock):
    """(x, y) of the end of a line; None if nothing of it is drawn."""
    found = panel.points[lock]
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


def name_script(sheet, number, ends, styles, kind):
    """Names right of a panel, and a thin line to each from where its curve ends.

    ends: [(how far up the axis, from 0 to 1; name; x and y of the end; whether that is at the
    panel's, too)]
    """
    ends = sorted(ends, key=lambda end: end[0])
    places = spread_out([end[0] * sheet.room for end in ends], NAME_LINE, sheet.room)
    left = sheet.left(number) + sheet.panel[0]
    bottom = sheet.top(number) + sheet.panel[1] - BOTTOM
    script_lines = []
    for at, ((_, name, point, is_last), place) in enumerate(zip(ends, places), 100):
        colour = styles[name].colour
        where = (sheet.x(left + 6), sheet.y(bottom - place))
        # Dotted across the panel, where it could be taken for data.
        script_lines += [
            label(at, name, kind, TEXT, where, colour),
            f"set arrow {at} from first {point[0]:.6g},{point[1]:.6g} to screen "
            f'{sheet.x(left + 3)},{where[1]} nohead lw 0.6 dt {SOLID if is_last else "(4,4)"} '
            f'lc rgb "{colour}" back']
    return script_lines


def ends_of(figure, panel):
    """For name_script(): of the lines of a panel."""
    ends, last = y_range(figure, panel), figure.axis.beside(figure.axis.values[-1], -1.1)
    points = {lock: last_point(figure, panel, lock) for lock in figure.locks}
    return [(height_of(figure, ends, point[1]), lock, point, point[0] > last)
            for lock, point in points.items() if point]


def panel_script(figure, sheet, number, panel, kind):
    """A pair of axes with the locks."""
    left, right = figure.axis.ends()
    low, high = y_range(figure, panel)
    lines = [*sheet.margins(number), f"set title {quoted(panel.title)} offset 0,-0.6",
             f"set xlabel {quoted(axis_name(figure.axis.name))} offset 0,0.5",
             f"set ylabel {quoted(figure.metric.axis)}",
             f"set xrange [{left:.6g}:{right:.6g}]", f"set xtics ({figure.axis.tics()})",
             f"set yrange [{low:.6g}:{high:.6g}]", y_tics(figure, low, high),
             "unset logscale", "unset arrow"]
    logs = ("x" if figure.axis.log else "") + ("y" if figure.log_y else "")
    if logs:
        lines.append(f"set logscale {logs}")
    if figure.marks_cores:
        place = figure.axis.place(figure.cores)
        lines.append(f"set arrow from {place},graph 0 to {place},graph 1 nohead "
                     f'lc rgb "{svg.FAINT}" dt (3,3) lw 1 back')
    lines += name_script(sheet, number, ends_of(figure, panel), figure.styles, kind)
    curves = [curve for lock in figure.locks if panel.points[lock]
              for curve in drawn(figure, number, lock)]
    if not curves:
        lines.append(f'set label 99 "no data" at graph 0.5,0.5 center tc rgb "{svg.DIM}"')
    return [*lines, "plot " + ", \\\n    ".join(curves or ["1/0 notitle"])]


def notes_of(figure):
    notes = []
    if figure.marks_cores:
        notes.append("Dotted upright line: a core for each CPU. To its right the CPUs are more "
                     "than the cores, and some are preempted.")
    off = [f"{lock} ({number})" for lock, number in figure.off_the_axis().items()]
    if off:
        notes.append(f"Points at 0 or below, which have no place on this axis: "
                     f"{', '.join(off)}.")
    return notes


def description(figure, subtitle):
    """For those who do not see the figure: what it is made of."""
    panels = [panel.title for panel in figure.panels if panel.title]
    words = figure.axis.words
    return " ".join([
        f"{figure.metric.axis[:1].upper()}{figure.metric.axis[1:]}, by "
        f"{axis_name(figure.axis.name)} ({', '.join(words)}).",
        f"{'Lines' if len(figure.locks) > 1 else 'Line'}: {', '.join(figure.locks)}.",
        *([f"Panels: {'; '.join(panels)}."] if panels else []), f"{subtitle}."])


def font_size(kind, pixels):
    """SVG's sizes are pixels, those of PNG are points of 96 to the inch."""
    return f"{pixels if kind == 'svg' else 0.75 * pixels * PNG_SCALE:g}"


def terminal(kind, sheet):
    font = f'font "{FONT},{font_size(kind, TEXT)}"'
    if kind == "svg":
        return (f"set terminal svg noenhanced size {sheet.width},{sheet.height} {font} "
                f'background "{svg.PAPER}"')
    return (f"set terminal pngcairo noenhanced size {round(sheet.width * PNG_SCALE)},"
            f"{round(sheet.height * PNG_SCALE)} {font} "
            f"linewidth {PNG_SCALE} pointscale {PNG_SCALE}")


def label(number, text, kind, pixels, place, colour=svg.INK):
    return (f"set label {number} {quoted(text)} at screen {place[0]},{place[1]} left "
            f'font ",{font_size(kind, pixels)}" tc rgb "{colour}"')


def page(path, kind, sheet, before, settings, panels):
    """A script: texts above and below the panels, what comes before these, and what all have.

    before, settings: lines. panels: the lines of each.
    """
    lines = [terminal(kind, sheet), "set encoding utf8", f"set output {quoted(path)}"]
    for number, (text, size, colour, place) in enumerate(sheet.texts(), 1):
        lines.append(label(number, text, kind, size, place, colour))
    lines += [*before, "set multiplot", "set tics nomirror out scale 0.6,0.4", "set border 3",
              "unset key", "set errorbars 0",
              f'set grid ytics lc rgb "{svg.RULED}" lw 1', *settings]
    for panel in panels:
        lines += [*panel, "unset label"]	# once is enough
    return "\n".join([*lines, "unset multiplot", ""])


def script(figure, subtitle, kind, path):
    """All that gnuplot has to be told to draw a figure."""
    sheet = Sheet(len(figure.panels), (figure.plot.title, subtitle, notes_of(figure)),
                  figure.axis.needs_all, any(panel.title for panel in figure.panels))
    before = [line_style(number, figure.styles[lock])
              for number, lock in enumerate(figure.locks, 1)]
    for number, panel in enumerate(figure.panels):
        for lock in figure.locks:
            before += data_block(figure, number, panel, lock)
    return page(path, kind, sheet, before, [
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


def run_gnuplot(text, path, title, words):
    """title, words: of an SVG, for those who do not see it."""
    done = subprocess.run([gnuplot(), "-"], input=text, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    problems = [line for line in done.stdout.splitlines() if line.strip()
                and "undefined" not in line and "no valid points" not in line]
    if done.returncode or not path.exists() or not path.stat().st_size:
        raise Failure(f"gnuplot could not draw {path.name}: {' '.join(problems)[:500]}")
    if path.suffix == ".svg":
        path.write_text(svg.finished(path.read_text(encoding="utf-8"), title, words),
                        encoding="utf-8")
