# SPDX-License-Identifier: GPL-2.0
"""tools/nbq plot and report: figures and pages of a folder of results."""

from pathlib import Path

from bench.cli import add

PLOT_EXAMPLES = """Figures are drawn anew from the folder's results; gnuplot makes them.

example:
  tools/nbq plot results/20261121T120000Z-0123456789ab"""

REPORT_EXAMPLES = """Figures that are missing are drawn first.

example:
  tools/nbq report results/20261121T120000Z-0123456789ab"""


def new_parsers(verbs):
    plot = add(verbs, "plot", "draw the figures of a folder of results", PLOT_EXAMPLES,
               draw)
    report = add(verbs, "report", "write the report of a folder of results",
                 REPORT_EXAMPLES, write)
    for parser in (plot, report):
        parser.add_argument("folder", type=Path, metavar="FOLDER",
                            help="one that bench has made")


def draw(options):
    from bench import plot
    for path in plot.draw(options.folder):
        print(path)
    return 0


def write(options):
    from bench import report
    print(report.write(options.folder))
    return 0
