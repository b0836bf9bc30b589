# SPDX-License-Identifier: GPL-2.0
"""tools/nbq top: the locks of this machine, or of a guest, at work."""

import argparse
import time

from bench.cli import COMMAND, add, positive
from bench.cli_stress import setting
from bench.testbeds import TESTBEDS
from testbed.common import INSTALLED, Trouble, guest_cpus, say, setup
from testbed.guest import QemuMachine, UserModeMachine
from testbed.kernels import TRACE, built_kernel, debian_kernel
from top import guest
from top.counts import counter_for
from top.instance import Instance
from top.screen import Quit, new_screen
from top.view import SORTS, View

BEDS = {"debian-6.12": lambda: QemuMachine(debian_kernel("6.12")),
        "debian-6.1": lambda: QemuMachine(debian_kernel("6.1")),
        "uml": lambda: UserModeMachine(built_kernel(TRACE))}
TRIED = "debian-6.12"
MANY = 1000000			# intervals: until it is stopped
ROUNDS, ROUND_SECONDS = 5, 2

EXAMPLES = f"""In a terminal the view is drawn anew in place: s sorts by the next column, q quits.
Elsewhere each interval is a block of text. Documentation/top.rst explains the columns, and
what the view costs.

examples:
  sudo {COMMAND} top                          this machine, where nbqlock is loaded
  sudo {COMMAND} top --interval 5 --count 3 --sort timeouts >top.txt"""
GUEST_EXAMPLES = """
  tools/nbq top --try                         a guest with the stress driver
  tools/nbq top --try --overhead              what it costs there"""


def interval(text):
    number = float(text)
    if not 0.1 <= number <= 3600:
        raise argparse.ArgumentTypeError(f"{text} is not from 0.1 to 3600")
    return number


interval.__name__ = "seconds"


def new_parser(verbs):
    parser = add(verbs, "top", "show the locks of a running system at work",
                 EXAMPLES + ('' if INSTALLED else GUEST_EXAMPLES), run)
    parser.add_argument("--interval", type=interval, default=2.0, metavar="S",
                        help="seconds from one view to the next (default: %(default)g)")
    parser.add_argument("--count", type=positive, metavar="N",
                        help="end after so many (default: Ctrl-C ends it)")
    parser.add_argument("--sort", choices=SORTS, default="waits",
                        help="what locks come first (default: %(default)s)")
    parser.add_argument("--lock", metavar="TEXT",
                        help="only locks whose name or address has this in it")
    parser.set_defaults(testbed=None, set=[], overhead=False)
    if not INSTALLED:
        add_guest(parser)


def add_guest(parser):
    """Guests are built of the project's sources, which an installed nbq lacks."""
    parser.add_argument("--try", dest="testbed", action="store_const", const=TRIED,
                        help=f"the same as --testbed {TRIED}")
    parser.add_argument("--testbed", choices=BEDS, help="boot a guest of this kernel, put "
                        "the stress driver's load on it, and show that: " + "; ".join(
                            f"{name}, {TESTBEDS[name].meaning}" for name in BEDS))
    parser.add_argument("--cpus", type=positive, default=guest_cpus(2), metavar="N",
                        help="CPUs of the guest (default: %(default)s)")
    parser.add_argument("--set", type=setting, action="append", default=[],
                        metavar="FILE=VALUE", help="a file of the driver in the guest, as "
                        "Documentation/stress.rst has them; repeatable")
    parser.add_argument("--overhead", action="store_true", help="in a guest: compare the "
                        "driver's rates with nbq top on and off")


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
            self.screen.show(list(self.view.lines(self.before, self.now, self.screen.rows)))

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
        for _ in range(options.count or MANY):
            due = max(due + options.interval, time.monotonic())
            watch.keys(due)
            watch.take(instance.parts())


def watch_guest(options):
    with new_screen() as screen:
        guest.watch(BEDS[options.testbed](), options.cpus, dict(options.set),
                    options.interval, options.count or MANY, Watch(options, screen).hear)


def check(options):
    if (options.set or options.overhead) and not options.testbed:
        raise Trouble("--set and --overhead are for a guest: --try, or --testbed NAME")


def run(options):
    check(options)
    if options.testbed:
        setup("run" if options.testbed == "uml" else "debian-guest")
    if options.overhead:
        say(f"{ROUNDS} runs of {ROUND_SECONDS} s without nbq top and as many with it")
        pairs = guest.overhead(BEDS[options.testbed](), options.cpus, dict(options.set),
                               ROUNDS, ROUND_SECONDS)
        print("\n".join(guest.overhead_lines(pairs)))
        return 0
    try:
        (watch_guest if options.testbed else watch_here)(options)
    except Quit:
        pass
    return 0
