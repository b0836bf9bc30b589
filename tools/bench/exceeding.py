# SPDX-License-Identifier: GPL-2.0
"""A figure of how often a value is exceeded: for each line, the share of values above x.

Both axes are logarithmic, so that one time in a thousand is seen as well as half of them.
"""

from collections import namedtuple

from bench.gnuplot import RIGHT, TOP, Sheet, font_size, page, quoted, run_gnuplot

Panel = namedtuple("Panel", "title lines")	# lines: {name: points}
LEAST_US = 1			# shorter ones are drawn as that
TIMES = ", ".join(f'"{10 ** (power % 3)} {("ns", "us", "ms", "s")[power // 3]}" 1e{power - 3}'
                  for power in range(11))
SHARES = ", ".join(f'"{10 ** (2 - power):.{max(0, power - 2)}f}" 1e-{power}' for power in range(7))


# What the axes are like, for gnuplot; times are in us.
OF_TIMES = (f"set xtics ({TIMES})", 'set ylabel "share of times that are longer (%)" offset 1')
OF_NUMBERS = ('set format x "%g"', 'set ylabel "share that are as many or more (%)" offset 1')


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
        if not kept or place == len(shares) - 1 or time > 1.02 * kept[-1][0] or \
                share < 0.98 * kept[-1][1]:
            kept.append((time, share))
    return kept


def block_name(number, line):
    return f"$panel{number}_{line}"


def data_block(name, line):
    return [f"{name} << END", *(f"{value:.6g} {share:.6g}" for value, share in line), "END"]


def panel_script(sheet, number, panel, styles, curve, kind):
    """A pair of axes with the lines, and their names right of it."""
    plots = [f'{block_name(number, line)} with {curve} lc rgb "{style.colour}" dt {style.dash} '
             f"lw {style.width} title {quoted(name)}"
             for line, (name, style) in enumerate(styles.items())]
    place = (sheet.x(sheet.left(number) + sheet.panel[0] - RIGHT),
             sheet.y(sheet.top(number) + TOP))
    return [*sheet.margins(number), f"set title {quoted(panel.title)} offset 0,-0.6",
            f"set key at screen {place[0]},{place[1]} left top Left reverse samplen 1.5 "
            f'font ",{font_size(kind, 10)}"',
            "plot " + ", ".join(plots)]


def script(path, title, subtitle, notes, panels, styles, curve="fsteps",
           axes=(f"set xrange [{LEAST_US}:*]", "set yrange [*:1]", *OF_TIMES)):
    """All that gnuplot has to be told. styles: {name of a line: its Style}"""
    sheet, kind = Sheet(len(panels), len(notes)), path.suffix[1:]
    before = []
    for number, panel in enumerate(panels):
        for line, name in enumerate(styles):
            before += data_block(block_name(number, line), panel.lines[name])
    return page(path, kind, sheet, (title, subtitle, notes), before, [
        "set logscale xy", f"set ytics ({SHARES})", *axes],
        [panel_script(sheet, number, panel, styles, curve, kind)
         for number, panel in enumerate(panels)])


def draw(path, *words):
    """Draw it; words as for script()."""
    run_gnuplot(script(path, *words), path)
