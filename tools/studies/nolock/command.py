# SPDX-License-Identifier: GPL-2.0
"""Shows how often an allocation that may not wait fails although memory is there.

alloc_pages_nolock() and kmalloc_nolock() try the locks of the allocators once,
since nothing else is safe in any context. Two kernels are booted in turn, one
on qspinlock and one all of whose spinlocks are the hybrid (nbq_spin), where
they wait for vm.nolock_patience_us at most. Meanwhile all CPUs allocate and
free "as usual":

  pages    alloc_pages_nolock() of single pages; as usual: blocks of 16 pages
  objects  kmalloc_nolock() of 64 bytes; as usual: kmalloc() of 64 bytes;
           slab_debug=F, so that each takes the list's lock

Attempts are made in tasks, in hard interrupts, on x86-64 in NMIs, and "above"
the holder of zone->lock, by a probe of an event. Those above must fail, at
once.
"""

import argparse
from statistics import median

from base.common import MOST_CPUS, guest_cpus, positive, print_columns, say
from base.setup import setup
from guest.hybrid import CHANGES, QEMU, UML, recipe_of
from guest.logs import log_excerpt
from studies.nolock.runs import CONTEXTS, MORE, OBJECTS, PAGES, SIDES, Load, NolockBoot, machine

VERBS = {"nolock": "count failures of allocations that may not wait, on two kernels"}
HEAD = ("", "attempts in", "attempts", "failed, of a million", "99.9 % within", "longest",
        "as usual")


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="""The exit status is 1 if a load does not come to its end or a kernel complains.
The first build of each kernel takes about 5 CPU-minutes.""")
    parser.add_argument("--testbed", choices=(UML, QEMU), default=UML,
                        help="uml, user-mode Linux; qemu, x86-64 in QEMU (default: %(default)s)")
    parser.add_argument("--cpus", type=positive, default=guest_cpus(), metavar="N",
                        help="CPUs of the guest (default: one for each core, %(default)s)")
    parser.add_argument("--rounds", type=positive, default=5, metavar="N",
                        help="boots of each kernel (default: %(default)s)")
    parser.add_argument("--milliseconds", type=positive, default=2000, metavar="N",
                        help="length of each load (default: %(default)s)")
    parser.add_argument("loads", nargs="*", metavar="LOAD", help="pages or objects (default: both)")
    options = parser.parse_args()
    unknown = set(options.loads) - {PAGES, OBJECTS}
    if unknown:
        parser.error(f"no such load: {' '.join(sorted(unknown))}; there are {PAGES}, {OBJECTS}")
    if options.cpus > MOST_CPUS:
        parser.error(f"--cpus {options.cpus}: {MOST_CPUS} at most")
    return options


def name_of(side, patience_us):
    return side if patience_us is None else f"{side}, {patience_us} us"


def made_rounds(options, what):
    """{side: its loads, one of each round}, or None if something is wrong with one."""
    made = {each: [] for each in SIDES}
    for number in range(options.rounds):
        say(f"{what}: round {number + 1} of {options.rounds}")
        for side in dict.fromkeys(side for side, _ in SIDES):
            patiences = [patience for each, patience in SIDES if each == side]
            loads = [Load(what, patience, options.milliseconds) for patience in patiences]
            boot = NolockBoot(machine(side, options.testbed), side, loads, options.cpus).run()
            wrong = boot.complaint or next((load.complaint for load in loads if load.complaint), "")
            if wrong:
                say(f"{side}: {wrong}\n{log_excerpt(boot.outcome)}")
                return None
            for patience, load in zip(patiences, loads):
                made[side, patience].append(load)
    return made


def shown_ns(nanoseconds):
    return f"{nanoseconds / 1000:.1f} us"


def usual(loads):
    """Operations a second as usual, of each round."""
    found = [load.results["ordinary"] for load in loads]
    return [each["operations"] * 1e9 / each["in_ns"] for each in found]


def rows(made):
    """The table: attempts of all rounds together, of times the median and the longest."""
    base = usual(made[SIDES[0]])
    for side, loads in made.items():
        ratios = sorted(mine / own for mine, own in zip(usual(loads), base))
        as_usual = f"{median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
        first = True
        for context in CONTEXTS:
            found = [load.results[context] for load in loads if context in load.results]
            if not found:
                continue
            attempts, failed = (sum(each[word] for each in found)
                                for word in ("attempts", "failed"))
            yield (name_of(*side) * first, context, str(attempts),
                   f"{failed * 1e6 / attempts:.0f}",
                   shown_ns(median(each["p999_ns"] for each in found)),
                   shown_ns(max(each["longest_ns"] for each in found)), as_usual * first)
            first = False


def body():
    options = parse_arguments()
    setup("run", *["debian-guest"] * (options.testbed == QEMU), makes=[
        "source", *(recipe_of(side, options.testbed, more=MORE).row_of_copy(*CHANGES)
                    for side in dict.fromkeys(side for side, _ in SIDES))])
    for what in options.loads or (PAGES, OBJECTS):
        made = made_rounds(options, what)
        if not made:
            return 1
        print_columns([(what, *HEAD[1:]), *rows(made)])
    return 0
