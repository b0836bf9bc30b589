# SPDX-License-Identifier: GPL-2.0
"""Builds a kernel all of whose spinlocks are the hybrid, boots it, puts it to the test.

In each boot: the kernel's KUnit suites, locktorture of its spin, raw, rw, mutex and rwsem locks,
rcutorture, rhashtable's test, shells that find, tar, dd, sort and pipe in parallel. Prints a
table.
"""

import argparse
import sys

from testbed.common import MOST_CPUS, columns, say, setup
from testbed.guest import log_excerpt
from whole_kernel.runs import CPUS, HYBRID, STOCK, UML, Boot, machine_of, parts_of

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
        epilog="""The exit status is 1 if a part fails, the kernel complains, finds a deadlock or
loses queue nodes. Kernels are kept in the cache; the first build of each takes
about 5 CPU-minutes. Ctrl-C ends the guest, too.""")
    parser.add_argument("--cpus", type=numbers, metavar="N,N...",
                        help="a boot for each number (default: 1,2,4,8; in QEMU 1,2,4)")
    parser.add_argument("--testbed", choices=CPUS, default=UML,
                        help="user-mode Linux, or x86-64 in QEMU (default: %(default)s)")
    parser.add_argument("--stock", action="store_true",
                        help="the same kernel with its own spinlock, qspinlock")
    parser.add_argument("--lockdep", action="store_true", help="with CONFIG_PROVE_LOCKING")
    parser.add_argument("--seconds", type=int, default=4, metavar="S",
                        help="of each torture test; other parts follow (default: %(default)s)")
    parser.add_argument("--part", action="append", metavar="PART",
                        help="run only this part; repeatable")
    return parser.parse_args()


def chosen(parts, names):
    unknown = set(names or ()) - {part.name for part in parts}
    if unknown:
        sys.exit(f"no such part: {', '.join(unknown)}; there are "
                 f"{', '.join(part.name for part in parts)}")
    return [part for part in parts if not names or part.name in names]


def print_rows(rows):
    table = [HEAD, *((str(cpus), name, f"FAIL: {wrong}" if wrong else "ok", figure)
                     for cpus, name, wrong, figure in rows)]
    print("\n".join(columns(table)))


def body():
    options = arguments()
    setup("run" if options.testbed == UML else "debian-guest")
    machine = machine_of(STOCK if options.stock else HYBRID, options.testbed, options.lockdep)
    rows = []
    for cpus in options.cpus or CPUS[options.testbed]:
        say(f"{machine.kernel.name}, {cpus} CPUs")
        boot = Boot(machine, cpus, chosen(parts_of(cpus, options.seconds), options.part),
                    not options.stock).run()
        rows += boot.rows()
        if boot.complaint:
            print(log_excerpt(boot.outcome), file=sys.stderr)
    print_rows(rows)
    return 1 if any(wrong for _, _, wrong, _ in rows) else 0
