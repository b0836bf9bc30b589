# SPDX-License-Identifier: GPL-2.0
"""A kernel all of whose spinlocks are the hybrid."""

from ci.common import Case, guest_report, once
from whole_kernel.loads import load_cases, path_cases
from ci.kernel_table import On, TestBed, runs_on
from testbed.common import PROJECT
from testbed.kernel_copy import patched
from whole_kernel.refusals import CHOICES, configured, wrong_with
from whole_kernel.runs import (BANGS, BUSTED, CPUS, HYBRID, QEMU, UML, Boot, Clocksource,
                               LockTorture, machine_of, parts_of)

NAME = "hybrid kernel"
SHORT, LONG = 1, 9
# Of these the lock is in a module, where the broken one does not exclude.
EXCLUSIVE = ("spin_lock", "raw_spin_lock")
SHORT_CPUS = 4
BROKEN = PROJECT / "tools/whole_kernel/no-exclusion.patch"


@once
def hybrid(testbed=UML, lockdep=False):
    return machine_of(HYBRID, testbed, lockdep)


USER_MODE = TestBed("user-mode, on the hybrid", lambda: hybrid().kernel)
LOCKDEP = TestBed("user-mode, on the hybrid, lockdep", lambda: hybrid(UML, True).kernel)
X86_64 = TestBed("x86-64, on the hybrid", lambda: hybrid(QEMU).kernel)


def boot_cases(name, machine, cpus, seconds, clock=None):
    """A case for each part of a boot, and for its log and counters.

    clock: the clocksource, where it is not that of the kernel's choice.
    """
    parts, words = parts_of(cpus, seconds), ()
    if clock:
        parts, words = [Clocksource(clock), *parts], (f"clocksource={clock}",)
    boot = Boot(machine, cpus, parts, words=words).run()
    for number, part, wrong, _ in boot.rows():
        yield Case(f"{name}: {number} CPUs: {part}", not wrong,
                   f"{wrong}\n{guest_report(boot.outcome)}")


def choice_cases():
    """A case for each configuration that Kconfig has to refuse, with a reason, or to decide."""
    for choice in CHOICES:
        wrong = wrong_with(choice, configured(choice))
        verdict = "is refused with a reason" if choice.reason else "gives the hybrid alone"
        yield Case(f"Kconfig: the hybrid and {choice.name} {verdict}", not wrong, wrong)


def broken_cases(name):
    """Cases that a boot sees a lock of the kernel's that does not exclude, and one of ours."""
    busted = Boot(hybrid(), SHORT_CPUS, [LockTorture(BUSTED, SHORT)]).run()
    yield Case(f"{name}: {BUSTED} fails", busted.parts[0].result[0] == BANGS,
               guest_report(busted.outcome))
    sources = {}
    patched(PROJECT, BROKEN, sources)
    broken = Boot(machine_of(HYBRID, replaced=sources), SHORT_CPUS,
                  [LockTorture(operations, SHORT) for operations in EXCLUSIVE]).run()
    for part in broken.parts:
        yield Case(f"{name}: {part.name} on a hybrid that does not exclude fails",
                   part.result[0] == BANGS, guest_report(broken.outcome))


@runs_on(USER_MODE, "all spinlocks are the hybrid")
def whole_kernel():
    """user-mode Linux all of whose spinlocks are the hybrid: torture tests, suites, a load"""
    yield from boot_cases(NAME, hybrid(), SHORT_CPUS, SHORT)
    yield from load_cases(NAME)
    yield from broken_cases(NAME)
    yield from choice_cases()


@runs_on(USER_MODE, "all spinlocks are the hybrid")
def whole_kernels():
    """the same with 1, 2, 4, 8 CPUs, with lockdep, and x86-64 in QEMU beside qspinlock"""
    for cpus in CPUS[UML]:
        yield from boot_cases(NAME, hybrid(), cpus, LONG)
    yield On(LOCKDEP, "all spinlocks are the hybrid")
    yield from boot_cases(f"{NAME}, lockdep", hybrid(UML, True), SHORT_CPUS, LONG)
    yield On(X86_64, "all spinlocks are the hybrid")
    for cpus in CPUS[QEMU]:
        yield from boot_cases(f"{NAME}, x86-64", hybrid(QEMU), cpus, LONG)
    # A read of this clock, which waiters read, tries one of the kernel's locks.
    yield from boot_cases(f"{NAME}, x86-64, HPET", hybrid(QEMU), SHORT_CPUS, SHORT, "hpet")
    yield from path_cases(f"{NAME}, x86-64")
