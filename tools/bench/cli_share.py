# SPDX-License-Identifier: GPL-2.0
"""tools/nbq share: a folder of results as one file for other people."""

from pathlib import Path

from bench import share
from bench.cli import add
from bench.results import as_json
from testbed.common import say

EXAMPLES = """The file has every run, the loads, and of the machine: processors, caches, sockets,
memory, hypervisor, clock, the versions of kernels, compiler and distribution, the load
average. It has no name of a machine or user, no folder, no address, no command line.
What it says of the machine is printed, to be read before the file is sent. Titles and
texts of scenarios of your own are in it.

example:
  tools/nbq share results/20261121T120000Z-0123456789ab my-machine.json
  tools/nbq compare --relative-to raw_spinlock their-machine.json my-machine.json"""


def new_parser(verbs):
    parser = add(verbs, "share", "write a folder of results to one file for other people",
                 EXAMPLES, run)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="one that bench has made")
    parser.add_argument("file", type=Path, metavar="FILE", help="a new file")


def write(folder, file):
    data = share.share(folder, file)
    print(as_json(data["machine"]), end="")
    say(f"{file} has the above of this machine, and {len(data['scenarios'])} scenarios")


def run(options):
    write(options.folder, options.file)
    return 0
