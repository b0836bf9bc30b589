# SPDX-License-Identifier: GPL-2.0
"""A figure of how often a value is exceeded: for each line, the share of values above x.

Both axes are logarithmic, so that one time in a thousand is seen as well as half of them.
"""

from collections import namedtuple
import math

from measure.bench import svg
from measure.bench.gnuplot import TEXT, Sheet, font_size, name_script, page, quoted, run_gnuplot

# lines: {name: points}; marks: {what it is: a value}
Panel = namedtuple("Panel", "title lines marks", defaults=({},))
LEAST_US = 1			# shorter ones are drawn as that
MOST_NAMES = 4			# powers of ten on the x axis that all have a name
ROOM = 4			# above a share of 1, for the names of marks
UNITS = ("ns", "us", "ms", "s")
# What the y axis is; times are in us.
OF_TIMES = "share of times that are longer (%)"
OF_NUMBERS = "share that are as many or more (%)"


def points(times):
    """(time, share of the times that are as long or longer), from the least to the longest."""
    ordered = sorted(max(time, LEAST_US) for time in times)
    shares = [(time, (len(ordered) - number) / len(ordered))
              for number, time in enumerate(ordered)]
    return thinned(shares)


def thinned(shares):
    """Of points that would lie on top of one another, one."""
    kept = []
    for place, (time, share) in enumerate(shares):
        if not kept or place == len(shares) - 1 or time > 1.04 * kept[-1][0] or \
                share < 0.96 * kept[-1][1]:
            kept.append((time, share))
    return kept


def block_name(number, line):
    return f"$panel{number}_{line}"


def data_block(name, line):
    return [f"{name} << END", *(f"{value:.6g} {share:.6g}" for value, share in line), "END"]


def ranges(panels):
    """The powers of ten that the axes begin and end with: of x, and the least of y."""
    lines = [line for panel in panels for line in panel.lines.values() if line]
    return (math.floor(math.log10(min(line[0][0] for line in lines))),
            math.floor(math.log10(max(line[-1][0] for line in lines))) + 1,
            math.ceil(math.log10(min(line[-1][1] for line in lines))) - 1)


def x_tics(first, last, is_time):
    """Powers of ten; every other one has a name where they are many."""
    step = 1 if last - first <= MOST_NAMES else 2
    words = {power: f"{10 ** (power % 3)} {UNITS[power // 3 + 1]}" if is_time else f"{10 ** power}"
             for power in range(first, last + 1, step)}
    return ", ".join(f'"{words.get(power, "")}" 1e{power}' for power in range(first, last + 1))


def panel_script(sheet, number, panel, axes, styles, curve, kind):
    """A pair of axes with the lines, their names right of it, and the marks. axes: see ranges()."""
    first, last, lowest = axes
    top = math.log10(ROOM) if panel.marks else 0
    ends = []		# those farther left have their names lower, below the others' ends
    for name, line in sorted(panel.lines.items(), key=lambda named: named[1][-1:]):
        height = (math.log10(line[-1][1]) - lowest) / (top - lowest) if line else 0
        ends += [(max([height, *(end[0] for end in ends)]), name, line[-1], False)] if line else []
    lines = [*sheet.margins(number), f"set title {quoted(panel.title)} offset 0,-0.6",
             f"set yrange [1e{lowest}:{10 ** top:g}]", "unset arrow",
             *name_script(sheet, number, ends, styles, kind)]
    for at, (words, value) in enumerate(panel.marks.items(), 200):
        # Left of its line, where there is room: right of the axes are the names.
        side = "right" if (math.log10(value) - first) / (last - first) > 0.3 else "left"
        lines += [f"set arrow {at} from {value},graph 0 to {value},1.2 nohead "
                  f'lc rgb "{svg.FAINT}" dt (3,3) lw 1 back',
                  f"set label {at} {quoted(words)} at {value},2 {side} "
                  f'font ",{font_size(kind, TEXT)}" tc rgb "{svg.DIM}"']
    plots = [f'{block_name(number, line)} with {curve} lc rgb "{style.colour}" dt {style.dash} '
             f"lw {style.width} notitle" for line, style in enumerate(styles.values())]
    return [*lines, "plot " + ", ".join(plots)]


def script(path, title, subtitle, notes, panels, styles, numbers=False, label="time"):
    """All that gnuplot has to be told.

    styles: {name of a line: its Style}. numbers: whether the values are, and not times in us.
    label: what they are, for the x axis.
    """
    sheet, kind = Sheet(len(panels), (title, subtitle, notes)), path.suffix[1:]
    first, last, lowest = ranges(panels)
    before = []
    for number, panel in enumerate(panels):
        for line, name in enumerate(styles):
            before += data_block(block_name(number, line), panel.lines[name])
    shares = ", ".join(f'"{10 ** (2 - power):.{max(0, power - 2)}f}" 1e-{power}'
                       for power in range(-lowest + 1))
    return page(path, kind, sheet, before, [
        "set logscale xy", f"set xrange [1e{first}:1e{last}]", f"set ytics ({shares})",
        f"set xtics ({x_tics(first, last, not numbers)})",
        f"set xlabel {quoted(label)} offset 0,0.5",
        f"set ylabel {quoted(OF_NUMBERS if numbers else OF_TIMES)}"],
        [panel_script(sheet, number, panel, (first, last, lowest), styles,
                      "linespoints pt 7 ps 0.7" if numbers else "fsteps", kind)
         for number, panel in enumerate(panels)])


def draw(path, title, subtitle, notes, panels, styles, numbers=False, label="time"):
    """Draw it; words as for script()."""
    marks = list(dict.fromkeys(words for panel in panels for words in panel.marks))
    titles = [panel.title for panel in panels if panel.title]
    words = [f"{OF_NUMBERS if numbers else OF_TIMES}, by {label}.".capitalize(),
             f"Lines: {', '.join(styles)}.", *([f"Panels: {'; '.join(titles)}."] if titles else []),
             *([f"Marked: {', '.join(marks)}."] if marks else []), *notes, subtitle]
    run_gnuplot(script(path, title, subtitle, notes, panels, styles, numbers, label), path, title,
                " ".join(words))
