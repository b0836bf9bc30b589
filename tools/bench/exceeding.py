# SPDX-License-Identifier: GPL-2.0
"""A figure of how often a time is exceeded: for each kernel, the share of times above x.

Both axes are logarithmic, so that one time in a thousand is seen as well as half of them.
"""

from collections import namedtuple

from bench.figure import STYLES
from bench.gnuplot import Sheet, page, quoted, run_gnuplot

Panel = namedtuple("Panel", "title times")	# times: {name of a line: times in us}
LEAST_US = 1			# shorter ones are drawn as that
TIMES = ", ".join(f'"{10 ** (power % 3)} {("us", "ms", "s")[power // 3]}" 1e{power}'
                  for power in range(8))
SHARES = ", ".join(f'"{10 ** (2 - power):g} %%" 1e-{power}' for power in range(7))


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


def data_block(name, times):
    return [f"{name} << END", *(f"{time:.6g} {share:.6g}" for time, share in points(times)),
            "END"]


def panel_script(sheet, number, panel, styles):
    """A pair of axes with the lines."""
    plots = []
    for line, (name, lock) in enumerate(styles.items()):
        style = STYLES[lock]
        plots.append(f'{block_name(number, line)} with steps lc rgb "{style.colour}" '
                     f"lw {style.width} title {quoted(name)}")
    return [*sheet.margins(number), f"set title {quoted(panel.title)} offset 0,-0.6",
            "plot " + ", ".join(plots)]


def script(path, title, subtitle, note, panels, styles):
    """All that gnuplot has to be told. styles: {name of a line: a lock of STYLES}"""
    sheet = Sheet(len(panels), 1)
    before = []
    for number, panel in enumerate(panels):
        for line, name in enumerate(styles):
            before += data_block(block_name(number, line), panel.times[name])
    return page(path, path.suffix[1:], sheet, (title, subtitle, [note]), before, [
        "set key top right", "set logscale xy", f"set xrange [{LEAST_US}:*]", "set yrange [*:1]",
        f"set xtics ({TIMES})", f"set ytics ({SHARES})",
        'set ylabel "share of times that are longer"'],
        [panel_script(sheet, number, panel, styles) for number, panel in enumerate(panels)])


def draw(path, *words):
    """Draw it; words as for script()."""
    run_gnuplot(script(path, *words), path)
