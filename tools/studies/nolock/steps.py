# SPDX-License-Identifier: GPL-2.0
"""Allocations that may not wait, on a kernel whose locks let them."""

from base.case import LOAD, ONLY_ALL, Case, On, once, runs_on, step
from guest.cases import guest_report
from guest.hybrid import HYBRID, QEMU, STOCK, UML
from guest.kernel_table import TestBed
from studies.nolock.runs import (CONTEXTS, OBJECTS, PAGES, PATIENCE_US, Held, Load, NolockBoot,
                                 SlubSuite, machine)

NAME = "nolock"
CPUS = 4
MILLISECONDS = 2000
LONG_US = 1000			# what the parameter has at most
STARTS = 10			# of what a busy host may keep from coming up


@once
def found(side, testbed=UML):
    return machine(side, testbed)


USER_MODE = TestBed("user-mode, nolock", lambda: found(HYBRID).kernel)
OWN = TestBed("user-mode, nolock, qspinlock", lambda: found(STOCK).kernel)
X86_64 = TestBed("x86-64, nolock", lambda: found(HYBRID, QEMU).kernel)


def load_cases(name, machine_, side, what):
    """Attempts are made in each context, and come back; nothing complains, no node is lost."""
    load = Load(what, PATIENCE_US if side == HYBRID else None, MILLISECONDS)
    boot = NolockBoot(machine_, side, [load], CPUS).run()
    missing = [context for context in CONTEXTS if not load.results.get(context) and
               not (context == "nmi" and "x86-64" not in name)]
    yield Case(f"{name}: {what}: attempts in every context", not load.complaint and not missing,
               f"{load.complaint}; none in {missing}\n{guest_report(boot.outcome)}")
    yield Case(f"{name}: {what}: kernel log, counters", not boot.complaint,
               f"{boot.complaint}\n{guest_report(boot.outcome)}")


def held_cases(name, machine_, side, patience_us, is_served):
    """An attempt that finds zone->lock held is served, or fails."""
    tries = [Held(patience_us) for _ in range(STARTS)]
    # Parts have names of their own.
    for number, each in enumerate(tries):
        each.name += f", {number}"
    boot = NolockBoot(machine_, side, tries, CPUS).run()
    wrong = next((each.complaint for each in tries if each.complaint), "")
    verdict = "waits and is served" if is_served else "fails"
    yield Case(f"{name}: an attempt that finds zone->lock held {verdict}",
               not wrong and any(each.served == is_served for each in tries),
               f"{wrong}\n{guest_report(boot.outcome)}")


def suite_case(name, machine_):
    """A case that kmalloc_nolock()'s case of the kernel's suite passes, and the others."""
    suite = SlubSuite()
    boot = NolockBoot(machine_, HYBRID, [suite], CPUS).run()
    return Case(f"{name}: slub_kunit", not suite.complaint and not boot.complaint,
                f"{suite.complaint} {boot.complaint}\n{guest_report(boot.outcome)}")


@step("nolock", ONLY_ALL, LOAD)
@runs_on(USER_MODE, NAME)
def nolock():
    """allocations that may not wait: with a patience, and on qspinlock; contexts, NMIs in QEMU"""
    for what in (PAGES, OBJECTS):
        yield from load_cases("nolock", found(HYBRID), HYBRID, what)
    yield from held_cases("nolock, 1 ms", found(HYBRID), HYBRID, LONG_US, True)
    yield from held_cases("nolock, no patience", found(HYBRID), HYBRID, 0, False)
    yield On(OWN, NAME)
    yield from held_cases("nolock, qspinlock", found(STOCK), STOCK, None, False)
    yield On(X86_64, NAME)
    for what in (PAGES, OBJECTS):
        yield from load_cases("nolock, x86-64", found(HYBRID, QEMU), HYBRID, what)
    yield suite_case("nolock, x86-64", found(HYBRID, QEMU))
