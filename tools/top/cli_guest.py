# SPDX-License-Identifier: GPL-2.0
"""tools/nbq top --try: the same in a guest, with the stress driver's load."""

from bench.cli import positive
from bench.cli_stress import setting
from bench.testbeds import TESTBEDS
from testbed.common import Trouble, guest_cpus, say, setup
from testbed.guest import QemuMachine, UserModeMachine
from testbed.kernels import TRACE, built_kernel, debian_kernel
from top import guest
from top.screen import Quit, new_screen

BEDS = {"debian-6.12": lambda: QemuMachine(debian_kernel("6.12")),
        "debian-6.1": lambda: QemuMachine(debian_kernel("6.1")),
        "uml": lambda: UserModeMachine(built_kernel(TRACE))}
TRIED = "debian-6.12"
MANY = 1000000			# intervals: until it is stopped
ROUNDS, ROUND_SECONDS = 5, 2


def add_guest(parser):
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


def is_asked_for(options):
    return options.testbed or options.set or options.overhead


def watch(options, new_listener):
    with new_screen() as screen:
        guest.watch(BEDS[options.testbed](), options.cpus, dict(options.set),
                    options.interval, options.count or MANY, new_listener(screen))


def run(options, new_listener):
    """new_listener(screen): what takes the samples of a guest."""
    if not options.testbed:
        raise Trouble("--set and --overhead are for a guest: --try, or --testbed NAME")
    setup("run" if options.testbed == "uml" else "debian-guest")
    if options.overhead:
        say(f"{ROUNDS} runs of {ROUND_SECONDS} s without nbq top and as many with it")
        pairs = guest.overhead(BEDS[options.testbed](), options.cpus, dict(options.set),
                               ROUNDS, ROUND_SECONDS)
        print("\n".join(guest.overhead_lines(pairs)))
        return 0
    try:
        watch(options, new_listener)
    except Quit:
        pass
    return 0
