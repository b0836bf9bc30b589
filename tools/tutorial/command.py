# SPDX-License-Identifier: GPL-2.0
"""Runs the commands of Documentation/tutorial.rst and prints what they print."""

import argparse

from testbed.common import setup
from tutorial.page import PAGE, commands


def parse_arguments(known):
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=f"The commands are {', '.join(known)}.")
    parser.add_argument("--write", action="store_true",
                        help="keep the outputs as those that the page shows")
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help="only these (default: all)")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in known]
    if unknown:
        parser.error(f"no such command: {' '.join(unknown)}; there are {' '.join(known)}")
    return options


def body():
    known = {typed.name: typed for typed in commands(PAGE.read_text())}
    options = parse_arguments(known)
    setup("--packages", "debian-guest", "run")
    for name in options.names or known:
        typed = known[name]
        print(f"$ {typed.command}", flush=True)
        output, _ = typed.run()
        print(output, flush=True)
        if options.write:
            typed.path.write_text(output)
    return 0
