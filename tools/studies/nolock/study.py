# SPDX-License-Identifier: GPL-2.0
"""Shows how often an allocation that may not wait fails although memory is there.

alloc_pages_nolock() and kmalloc_nolock() try the locks of the allocators once,
since nothing else is safe in any context. Two kernels are booted by turns, one
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

from statistics import median

from base.case import LOAD, ONLY_ALL, On, once, runs_on, step
from base.common import PROJECT
from guest.hybrid import CHANGES, HYBRID, QEMU, STOCK, UML, machine_of, recipe_of
from guest.kernel_table import TestBed
from guest.kernel_tests import Boot, Suites
from guest.kunit import ENABLED
from guest.machines import QemuMachine, UserModeMachine
from guest.modules import build_apart, user_sources
from studies.frame import CPUS, Load, judged, number, option, ratios, rounds, study

VERBS = {"nolock": "count failures of allocations that may not wait, on two kernels"}
EPILOG = """The exit status is 1 if a load does not come to its end or a kernel complains.
The first build of each kernel takes about 5 CPU-minutes."""
OPTIONS = (
    option("--testbed", choices=(UML, QEMU), default=UML,
           help="uml, user-mode Linux; qemu, x86-64 in QEMU (default: %(default)s)"),
    CPUS, rounds(5), number("--milliseconds", 2000, "length of each load"))
CHOSEN = "load"

NAME = "nolock"
FOLDER = PROJECT / "tools/studies/nolock/load"
MORE = (NAME,)			# of configurations
PAGES, OBJECTS = "pages", "objects"
PATIENCE_US, LONG_US = 20, 1000	# the default of the parameter, and its most
CONTEXTS = ("task", "hardirq", "nmi", "above")
# The per-CPU lists get no longer than they have to be, so that a batch empties them.
SHORT_LISTS = "echo 1000000 >/proc/sys/vm/percpu_pagelist_high_fraction &&\n"
HEAD = ("", "attempts in", "attempts", "failed, of a million", "99.9 % within", "longest",
        "as usual")


# Kernels

def needs(options):
    return (["run", *["debian-guest"] * (options.testbed == QEMU)],
            ["source", *(recipe_of(side, options.testbed, more=MORE).row_of_copy(*CHANGES)
                         for side in (STOCK, HYBRID))])


@once
def kernel(side, testbed=UML):
    return machine_of(side, testbed, more=MORE).kernel


USER_MODE = TestBed("user-mode, nolock", lambda: kernel(HYBRID))
OWN = TestBed("user-mode, nolock, qspinlock", lambda: kernel(STOCK))
X86_64 = TestBed("x86-64, nolock", lambda: kernel(HYBRID, QEMU), QemuMachine)


def sides(options):
    boots = QemuMachine if options.testbed == QEMU else UserModeMachine
    return {side: TestBed(side, lambda side=side: kernel(side, options.testbed), boots)
            for side in (STOCK, HYBRID)}


# Loads

class Run(Load):
    """One run of nolock_load.ko. patience_us: None where there is none."""

    def __init__(self, name, patience_us, parameters):
        patience = "" if patience_us is None else \
            f"echo {patience_us} >/proc/sys/vm/nolock_patience_us &&\n"
        super().__init__(name, f"{patience}{SHORT_LISTS}"
                         f"insmod /lib/modules/nolock_load.ko {parameters} && rmmod nolock_load")


class Allocations(Run):
    """Attempts in each context, while all CPUs allocate and free as usual."""

    claims = {"all CPUs allocate as usual": lambda values: values["ordinary.operations"],
              "memory is there": lambda values: not any(
                  number for name, number in values.items() if name.endswith(".scarce"))}

    def __init__(self, what, patience_us, milliseconds):
        super().__init__(what if patience_us is None else f"{what}, {patience_us} us", patience_us,
                         f"milliseconds={milliseconds} objects={int(what == OBJECTS)}")


class Held(Run):
    """An attempt at a lock that another CPU holds until one waits or fails."""

    claims = {"it has a result": lambda values: values["held.served"] + values["held.failed"]}

    def __init__(self, patience_us, place):
        super().__init__(f"held {place}", patience_us, "held=1")


class SlubSuite(Suites):
    """The suite of the slab allocator, at boot. One of its cases is kmalloc_nolock()'s."""

    CASE = "test_kmalloc_kfree_nolock"
    words = (*ENABLED, "kunit.filter_glob=slub_test")

    @property
    def complaint(self):
        passed = [case.name for case in self.cases if case.status == "PASS"]
        return super().complaint or \
            ("" if any(name.endswith(self.CASE) for name in passed) else f"no {self.CASE}")


class NolockBoot(Boot):
    """A boot with such runs. Attempts above the holder are deadlocks, so many as there come."""

    wrong_deadlocks = ""

    def __init__(self, machine, side, runs, cpus):
        # Without a compare-and-swap of 16 bytes only caches that are checked have
        # kmalloc_nolock().
        words = ["slab_debug=F"] * any(run.name.startswith(OBJECTS) for run in runs)
        super().__init__(machine, cpus, runs, side == HYBRID, words)

    @property
    def modules(self):
        return build_apart(self.machine.kernel, NAME, user_sources(FOLDER)) | super().modules


def boot(what, side, machine, options):
    patiences = (0, PATIENCE_US) if side == HYBRID else (None,)
    return NolockBoot(machine, side, [Allocations(what, patience, options.milliseconds)
                                      for patience in patiences], options.cpus)


PARTS = {PAGES: boot, OBJECTS: boot}


# Tables

def usual(loads):
    """Operations as usual in a ns, of each round."""
    return [load.values["ordinary.operations"] / load.values["ordinary.in_ns"] for load in loads]


def shown_ns(nanoseconds):
    return f"{nanoseconds / 1000:.1f} us"


def rows(made, _options):
    """For each load attempts of all rounds together, of times the median and the longest."""
    for what, by_side in made.items():
        base = usual(guest.parts[0] for guest in by_side[STOCK])
        table = [(what, *HEAD[1:])]
        for side, guests in by_side.items():
            for loads in zip(*(guest.parts for guest in guests)):
                table += load_rows(loads[0].name.replace(what, side), loads,
                                   ratios(usual(loads), base))
        yield table


def load_rows(name, loads, as_usual):
    for context in CONTEXTS:
        found = [load.values.below(context) for load in loads]
        attempts, failed = (sum(each.get(word, 0) for each in found)
                            for word in ("attempts", "failed"))
        if attempts:
            yield (name, context, str(attempts), f"{failed * 1e6 / attempts:.0f}",
                   shown_ns(median(each["p999_ns"] for each in found if each)),
                   shown_ns(max(each["longest_ns"] for each in found if each)), as_usual)
            name = as_usual = ""


# Cases

CASE_CPUS, CASE_MS = 4, 2000
TRIES = 10			# of what a busy host may keep from coming up


def load_cases(name, testbed, what):
    """Attempts are made in each context, and come back; nothing complains, no node is lost."""
    load = Allocations(what, PATIENCE_US, CASE_MS)
    made = NolockBoot(testbed.machine(), HYBRID, [load], CASE_CPUS).run()
    missing = [context for context in CONTEXTS if f"{context}.attempts" not in load.values and
               (context != "nmi" or testbed is X86_64)]
    yield judged(f"{name}: {what}: attempts in every context",
                 load.complaint or missing and f"none in {missing}", made)
    yield judged(f"{name}: {what}: kernel log, counters", made.complaint, made)


def held_case(name, testbed, side, patience_us, is_served):
    """An attempt that finds zone->lock held is served, or fails."""
    tries = [Held(patience_us, place) for place in range(TRIES)]
    made = NolockBoot(testbed.machine(), side, tries, CASE_CPUS).run()
    wrong = next((each.complaint for each in tries if each.complaint), "") or \
        all(each.values["held.served"] != is_served for each in tries) and "none does"
    verdict = "waits and is served" if is_served else "fails"
    return judged(f"{name}: an attempt that finds zone->lock held {verdict}", wrong, made)


def suite_case(name, testbed):
    """A case that kmalloc_nolock()'s case of the kernel's suite passes, and the others."""
    suite = SlubSuite()
    made = NolockBoot(testbed.machine(), HYBRID, [suite], CASE_CPUS).run()
    return judged(f"{name}: slub_kunit", suite.complaint or made.complaint, made)


@step("nolock", ONLY_ALL, LOAD)
@runs_on(USER_MODE, NAME)
def nolock():
    """allocations that may not wait: with a patience, and on qspinlock; contexts, NMIs in QEMU"""
    for what in PARTS:
        yield from load_cases("nolock", USER_MODE, what)
    yield held_case("nolock, 1 ms", USER_MODE, HYBRID, LONG_US, True)
    yield held_case("nolock, no patience", USER_MODE, HYBRID, 0, False)
    yield On(OWN, NAME)
    yield held_case("nolock, qspinlock", OWN, STOCK, None, False)
    yield On(X86_64, NAME)
    for what in PARTS:
        yield from load_cases("nolock, x86-64", X86_64, what)
    yield suite_case("nolock, x86-64", X86_64)


body = study(__name__)
