# SPDX-License-Identifier: GPL-2.0
"""Builds a kernel all of whose spinlocks are the hybrid (nbq_spin), and tests it.

Each boot runs the kernel's KUnit suites, locktorture of its spin, raw, rw,
mutex and rwsem locks, rcutorture, rhashtable's test, and shells that find, tar,
dd, sort and pipe in parallel. A table has the results.

With Debian's own configuration (--testbed debian) a Debian 13 boots to its
login. The parts are its services, a package, locktorture and rcutorture while
CPUs go offline, suspend, kexec, and power off. Documentation/kernel.rst has
more.
"""

import argparse
import sys

from base.common import MOST_CPUS, positive, print_columns, say
from base.setup import setup
from guest.hybrid import CHANGES, HYBRID, QEMU, STOCK, UML, machine_of, recipe_of
from guest.kernel_tests import Boot
from guest.logs import log_excerpt
from studies.whole_kernel.debian import DebianRecipe, debian_kernel
from studies.whole_kernel.debian_boot import DebianBoot
from studies.whole_kernel.runs import CPUS, LEFT_THE_WAIT, STAYED, nmi_machine, nmi_wait, parts_of

VERBS = {"whole-kernel": "test a kernel all of whose spinlocks are the hybrid"}
DEBIAN, DEBIAN_CPUS = "debian", (4,)
HEAD = ("CPUs", "part", "result", "")


def numbers(text):
    """A list of numbers of CPUs."""
    found = [int(word) for word in text.split(",")]
    if not all(1 <= number <= MOST_CPUS for number in found):
        raise argparse.ArgumentTypeError(f"{text}: 1 to {MOST_CPUS} CPUs")
    return found


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="""The exit status is 1 if a part fails, or if the kernel complains, finds a
deadlock or loses queue nodes. The first build of each kernel takes about 5
CPU-minutes, of Debian's 50; kernels are kept in the cache. Ctrl-C also ends the
guest.""")
    parser.add_argument("--cpus", type=numbers, metavar="N,N...",
                        help="numbers of CPUs, a boot for each (default: 1,2,4,8; in QEMU "
                        "1,2,4; for Debian 4)")
    parser.add_argument("--testbed", choices=[*CPUS, DEBIAN], default=UML,
                        help="uml, user-mode Linux; qemu, x86-64 in QEMU; debian, the same with "
                        "Debian's configuration (default: %(default)s)")
    parser.add_argument("--stock", action="store_true",
                        help="test the same kernel with its own spinlock, qspinlock")
    parser.add_argument("--lockdep", action="store_true", help="build with CONFIG_PROVE_LOCKING")
    parser.add_argument("--nmi", action="store_true",
                        help="instead, in QEMU: an NMI waits for a lock that is not released, and "
                        "a crash IPI must end the wait; once with the IPI as the wait's "
                        "condition, once without")
    parser.add_argument("--seconds", type=positive, default=4, metavar="S",
                        help="length of each torture test; that of other parts is derived from it "
                        "(default: %(default)s)")
    parser.add_argument("--part", action="append", metavar="PART",
                        help="run only this part; repeatable")
    options = parser.parse_args()
    if options.testbed == DEBIAN and (options.lockdep or options.part):
        parser.error("--lockdep and --part are not for --testbed debian")
    if options.nmi and options.testbed != QEMU:
        parser.error("--nmi is for --testbed qemu")
    if options.nmi and (options.cpus or options.part or options.stock or options.lockdep):
        parser.error("--nmi takes no other option than --testbed")
    names = [part.name for part in parts_of(1, options.seconds)]
    unknown = sorted(set(options.part or ()) - set(names))
    if unknown:
        parser.error(f"no such part: {', '.join(unknown)}; there are {', '.join(names)}")
    return options


def chosen(parts, names):
    return [part for part in parts if not names or part.name in names]


def print_rows(rows):
    table = [HEAD, *((str(cpus), name, f"FAIL: {wrong}" if wrong else "ok", figure)
                     for cpus, name, wrong, figure in rows)]
    print_columns(table)


def boots(options):
    side = STOCK if options.stock else HYBRID
    if options.testbed == DEBIAN:
        kernel = debian_kernel(side)
        for cpus in options.cpus or DEBIAN_CPUS:
            say(f"{kernel.name}, {cpus} CPUs")
            yield DebianBoot(kernel, side == HYBRID, cpus, options.seconds)
        return
    machine = machine_of(side, options.testbed, options.lockdep)
    for cpus in options.cpus or CPUS[options.testbed]:
        say(f"{machine.kernel.name}, {cpus} CPUs")
        yield Boot(machine, cpus, chosen(parts_of(cpus, options.seconds), options.part),
                   not options.stock)


def nmi_waits():
    """Prints what the test says of both waits. Return: an exit status."""
    status = 0
    for what, has_condition, wanted in (("without a condition", False, STAYED),
                                        ("until the crash IPI", True, LEFT_THE_WAIT)):
        said, outcome = nmi_wait(nmi_machine(has_condition))
        print(f"a wait {what}: {said}")
        if not said.startswith(wanted):
            print(log_excerpt(outcome), file=sys.stderr)
            status = 1
    return status


def install(options):
    side = STOCK if options.stock else HYBRID
    if options.testbed == DEBIAN:
        setup("whole-kernel", makes=["source", "whole-kernel",
                                     DebianRecipe(side).row_of_copy(*CHANGES)])
    else:
        recipe = recipe_of(side, options.testbed, options.lockdep)
        setup("run", *["debian-guest"] * (options.testbed == QEMU),
              makes=["source", recipe.row_of_copy(*CHANGES)])


def body():
    options = arguments()
    install(options)
    if options.nmi:
        return nmi_waits()
    rows = []
    for boot in boots(options):
        boot.run()
        rows += boot.rows()
        if boot.complaint:
            print(log_excerpt(boot.outcome), file=sys.stderr)
    print_rows(rows)
    return 1 if any(wrong for _, _, wrong, _ in rows) else 0
