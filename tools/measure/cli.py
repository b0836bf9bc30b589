# SPDX-License-Identifier: GPL-2.0
"""What the subcommands of tools/nbq share."""

import argparse
import contextlib
import signal

from measure.scenario import MOST_ROUNDS
from testbed.common import INSTALLED, positive

__all__ = ["add", "positive", "rounds", "seconds", "undisturbed"]

COMMAND = "nbq" if INSTALLED else "tools/nbq"
STOPPED = 130			# exit status after Ctrl-C


def add(verbs, name, text, example, run):
    """A subcommand's parser."""
    parser = verbs.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.",
                              formatter_class=argparse.RawDescriptionHelpFormatter,
                              epilog=example.replace("tools/nbq", COMMAND))
    parser.set_defaults(run=run)
    return parser


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
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, signal.SIG_IGN) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before):
            signal.signal(number, handler)
