# SPDX-License-Identifier: GPL-2.0
"""What the subcommands of tools/nbq share."""

import argparse
import contextlib
from pathlib import Path
import signal

from base.common import ENDING, INSTALLED, positive
from measure.scenario import MOST_ROUNDS

__all__ = ["add", "add_modules", "positive", "rounds", "seconds", "undisturbed"]

COMMAND = "nbq" if INSTALLED else "tools/nbq"
STOPPED = 130			# exit status after Ctrl-C


def add(verbs, name, text, example, run):
    """A subcommand's parser."""
    parser = verbs.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.",
                              formatter_class=argparse.RawDescriptionHelpFormatter,
                              epilog=example.replace("tools/nbq", COMMAND))
    parser.set_defaults(run=run)
    return parser


def add_modules(parser):
    """Lock types of one's own, in guests."""
    parser.add_argument("--module", type=Path, action="append", default=[], metavar="FOLDER",
                        help="build the modules of FOLDER, which register lock types of their own "
                        "(Documentation/stress.rst), and load them into the guest; repeatable")


def rounds(text):
    number = positive(text)
    if number > MOST_ROUNDS:
        raise argparse.ArgumentTypeError(f"{text} are more than {MOST_ROUNDS}")
    return number


rounds.__name__ = "number"


def seconds(text):
    number = float(text)
    if not 0.001 <= number <= 3600:
        raise argparse.ArgumentTypeError(f"{text} is not from 0.001 to 3600")
    return number


@contextlib.contextmanager
def undisturbed():
    """No signal ends the writing of what took long to measure."""
    before = [signal.signal(number, signal.SIG_IGN) for number in ENDING]
    try:
        yield
    finally:
        for number, handler in zip(ENDING, before):
            signal.signal(number, handler)
