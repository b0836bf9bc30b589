# SPDX-License-Identifier: GPL-2.0
"""tools/nbq plot, report and share: what is made of a folder of results."""

from pathlib import Path

from base.common import say
from measure.bench import plot, report, share
from measure.cli import add
from measure.results import as_json

PLOT_EXAMPLES = """gnuplot draws all figures again from the folder's results.

example:
  tools/nbq plot results/20261121T120000Z-0123456789ab"""

REPORT_EXAMPLES = """Missing figures are drawn first.

example:
  tools/nbq report results/20261121T120000Z-0123456789ab"""

SHARE_EXAMPLES = """\
The file has every run and the loads. Of the machine it has the processors,
caches, sockets, memory, hypervisor, clock, load average, and the versions of
kernels, compiler and distribution, but no name of a machine or user, no folder,
no address, no command line. This part is printed: read it before you send the
file. Titles and texts of your own scenarios are in the file.

example:
  tools/nbq share results/20261121T120000Z-0123456789ab my-machine.json
  tools/nbq compare --relative-to raw_spinlock theirs.json my-machine.json"""


HELP = {"plot": "draw the figures of a folder of results",
         "report": "write the report of a folder of results",
         "share": "write a folder of results to one file for other people"}


def new_parser(verbs):
    for name, examples, run in (("plot", PLOT_EXAMPLES, draw), ("report", REPORT_EXAMPLES, write),
                                ("share", SHARE_EXAMPLES, write_shared)):
        parser = add(verbs, name, HELP[name], examples, run)
        parser.add_argument("folder", type=Path, metavar="FOLDER",
                            help="a folder that bench has made")
        if run is write_shared:
            parser.add_argument("file", type=Path, metavar="FILE", help="a new file")


def draw(options):
    for path in plot.draw(options.folder):
        print(path)
    return 0


def write(options):
    print(report.write(options.folder))
    return 0


def write_shared(options):
    data = share.share(options.folder, options.file)
    print(as_json(data["machine"]), end="")
    say(f"{options.file} has the above of this machine, and {len(data['scenarios'])} scenarios")
    return 0
