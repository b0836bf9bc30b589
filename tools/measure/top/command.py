# SPDX-License-Identifier: GPL-2.0
"""tools/nbq top: the locks of this machine, or of a guest, at work.

guest: what guest.py has, where guests can be built.
"""

import argparse
import contextlib
import time

from measure.cli import COMMAND, add, positive
from measure.top.counts import counter_for
from measure.top.instance import Instance
from measure.top.screen import Quit, new_screen
from measure.top.view import SORTS, View

MANY = 1000000			# intervals: until it is stopped

EXAMPLES = f"""In a terminal the view is redrawn in place: s sorts by the next column, q quits.
Elsewhere each interval is a block of text. Documentation/top.rst explains the
columns, and what the view costs.

examples:
  sudo {COMMAND} top                     this machine, where nbqlock is loaded
  sudo {COMMAND} top --interval 5 --count 3 --sort timeouts >top.txt"""
GUEST_EXAMPLES = """
  tools/nbq top --try                    a guest with the stress driver
  tools/nbq top --try --overhead         what it costs there"""


def interval(text):
    number = float(text)
    if not 0.1 <= number <= 3600:
        raise argparse.ArgumentTypeError(f"{text} is not from 0.1 to 3600")
    return number


interval.__name__ = "seconds"


def new_parser(verbs, guest=None):
    parser = add(verbs, "top", "show the locks of a running system at work",
                 EXAMPLES + (GUEST_EXAMPLES if guest else ''), run)
    parser.add_argument("--interval", type=interval, default=2.0, metavar="S",
                        help="seconds from one view to the next (default: %(default)g)")
    parser.add_argument("--count", type=positive, default=MANY, metavar="N",
                        help="end after N views (default: Ctrl-C ends it)")
    parser.add_argument("--sort", choices=SORTS, default="waits",
                        help="which locks come first (default: %(default)s)")
    parser.add_argument("--lock", metavar="TEXT",
                        help="only locks whose name or address contains TEXT")
    parser.set_defaults(guest=guest)
    if guest:
        guest.add_guest(parser)


class Watch:
    """Takes samples, and shows each but the first."""

    def __init__(self, options, screen):
        self.screen = screen
        self.view = View(options.sort, options.lock)
        self.counter = None
        self.before = self.now = None

    def take(self, parts):
        self.counter = self.counter or counter_for(parts)
        self.before, self.now = self.now, self.counter.sample(parts)
        self.draw()

    def draw(self):
        if self.before:
            self.screen.show(list(self.view.lines(self.before, self.now, self.screen.rows,
                                                  self.screen.columns)))

    def keys(self, until):
        for key in self.screen.keys(until):
            if key == "s":
                self.view.next_sort()
                self.draw()

    def hear(self, parts):
        """A sample of a guest, which has its own pace."""
        self.take(parts)
        self.keys(time.monotonic() + 0.01)


def watch_here(options):
    with Instance() as instance, new_screen() as screen:
        watch = Watch(options, screen)
        watch.take(instance.parts())
        due = time.monotonic()
        for _ in range(options.count):
            due = max(due + options.interval, time.monotonic())
            watch.keys(due)
            watch.take(instance.parts())


def run(options):
    if options.guest and options.guest.is_asked_for(options):
        return options.guest.run(options, lambda screen: Watch(options, screen).hear)
    with contextlib.suppress(Quit):
        watch_here(options)
    return 0
