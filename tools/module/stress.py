# SPDX-License-Identifier: GPL-2.0
"""Locks under load: the stress driver in the daily kernel."""

from base.case import LOAD, MORE, Case, extent, runs_on, step
from base.common import guest_cpus
from base.driver import BROKEN, COMPARATORS, OURS, Run
from guest.cases import USER_MODE, clean_guest, guest_modules, machine
from measure.stress import Unseen, lock_types, made_cases
from module.disturbed import (INTERRUPTS, LONG, SHORT, SOAK_CPUS, above_own_cpu, at_once,
                              goes_unnoticed, guest_runs, soak_runs)
from module.disturbed import GUESTS as DISTURBED_GUESTS
from module.shapes import (FREEABLE, FREED_WRITTEN, TWO_HOLDERS, BrokenRun, broken_run,
                           logged_parameters, shape_runs)
from module.shapes import CPUS as SHAPE_CPUS


# What files take for every kind of patience: all alike, drawn, and a mix in which
# half of the attempts do not wait and the others wait for ever.
def patience(value, mixed=0):
    return {"patience_ns": value, "impatient_permille": mixed, "impatient_ns": 0}


MIXED = ("mixed", patience("max", mixed=500))


def alike(nanoseconds):
    return f"{nanoseconds}", patience(nanoseconds)


def drawn(most):
    return f"0-{most}", patience(f"0-{most}")


# ((name of a patience, settings), work inside the lock in ns; whether some waits must
# time out then; ms)
SHORT_PATIENCE = ((alike(1000), 2000, True, 400), (drawn(2000), 2000, True, 400),
                  (MIXED, 2000, True, 400))
# Ours besides: patience between none and plenty.
MANY_PATIENCES = ((alike(0), 500, True, 500), (alike(10000), 20000, True, 500),
                  (alike(10000), 200, False, 500), (drawn(200000), 500, False, 500),
                  # twenty times the work: attempts with less patience time out
                  (drawn(2000000), 100000, True, 400))
NO_PATIENCE = ((alike(0), 500, False, 600),)


def stress_runs(cpus, locks):
    """For one guest."""
    for lock in locks:
        plans = SHORT_PATIENCE if lock.heeds_patience else NO_PATIENCE
        if lock.name in OURS:
            plans += MANY_PATIENCES
        for (how, settings), cs, floor, duration in plans:
            name = f"{lock.name}-cs-{cs}"
            if lock.heeds_patience:
                name = f"{lock.name}-patience-{how}-cs-{cs}"
            yield Run(name, survives(cpus, floor), lock=lock.name, threads=cpus,
                      cpus=f"0-{cpus - 1}", **settings, cs_ns=cs, ncs_ns=200,
                      duration_ms=duration if extent.is_long else duration // 2)


# Skipping abandoned nodes keeps those in use to about 5 a thread; without it they are
# 30 to 140.
NODES_A_THREAD = 16


def survives(cpus, floor=False):
    """That a run has tested the lock, timeouts too if there must be some, with few nodes."""
    def lacks(run):
        if run.settings["lock"] in OURS and run.number("nodes_max") > NODES_A_THREAD * cpus:
            return f"{run.number('nodes_max'):.0f} nodes were in use"
        if floor and not run.number("timeouts"):
            return Unseen("no wait timed out: timeouts were not tested")
        return not run.number("acquisitions") and Unseen("the lock was never acquired")
    return lacks


def stressed(name, runs, cpus, **options):
    """A case for each run in the daily kernel. Returns the Outcomes."""
    return (yield from made_cases(name, machine(), runs, cpus, guest_modules(), **options))


def clean_runs(name, runs, cpus):
    """The same, and that the guests are clean."""
    yield clean_guest(name, *(yield from stressed(name, list(runs), cpus)))


@step("stress", MORE, LOAD)
@runs_on(USER_MODE, "stress")
def stress():
    """every lock type under contention, with one and with four CPUs a core"""
    locks = lock_types(machine(), guest_modules())
    names = sorted(lock.name for lock in locks)
    yield Case("stress: the driver has every lock type, and the tools know each",
               names == sorted((*OURS, *COMPARATORS)), f"{names}")
    for cpus in (max(2, guest_cpus()), max(8, guest_cpus(4))):
        yield from clean_runs(f"stress, {cpus} CPUs", stress_runs(cpus, locks), cpus)


LAST_RUN_LOGGED = """
echo @log
dmesg | sed -n '/lock broken/,$p'
"""


@step("shapes", LOAD)
@runs_on(USER_MODE, "stress")
def shapes():
    """nested locks, retries, stalled holders, pauses, locks that are freed"""
    locks = lock_types(machine(), guest_modules())
    missing = FREEABLE - {lock.name for lock in locks}
    yield Case("shapes: every lock type that may be freed is there", not missing,
               f"no {missing}")
    outcomes = yield from stressed("shapes", list(shape_runs(locks)), SHAPE_CPUS)
    broken = broken_run()
    outcomes += yield from stressed("shapes, found out", [broken], SHAPE_CPUS,
                                    after=LAST_RUN_LOGGED)
    said = outcomes[-1].output.partition("@log\n")[2]
    for what, words in (("what is run", logged_parameters(broken)),
                        ("how far a run is", "running: elapsed_ms"),
                        ("why a run failed", f"run failed: {TWO_HOLDERS}"),
                        ("that freed memory was written to",
                         f"run failed: {FREED_WRITTEN}")):
        yield Case(f"shapes: the kernel log says {what}", words in said,
                   f"no \"{words}\" in\n{said}")
    yield clean_guest("shapes", *outcomes)


NO_CHECKS = "echo N >/sys/module/nbqlock/parameters/deadlock_checks"


@step("contexts", LOAD)
@runs_on(USER_MODE, "stress")
def contexts():
    """softirqs and hardirqs contend with threads; threads that migrate"""
    for cpus, interval in DISTURBED_GUESTS:
        yield from clean_runs(f"contexts, {cpus} CPUs", guest_runs(cpus, interval), cpus)
    outcomes = yield from stressed("contexts, 1 CPU", [
        above_own_cpu(lock, INTERRUPTS, 300, at_once(INTERRUPTS)) for lock in OURS], 1)
    # Without the check each interrupt uses up its patience. Were that longer than the
    # interval between interrupts, the thread that is to release would never run.
    unchecked = above_own_cpu(OURS[0], INTERRUPTS, 300, goes_unnoticed, patience_ns=10000)
    outcomes += yield from stressed("contexts, 1 CPU, deadlock_checks off", [unchecked], 1,
                                    before=NO_CHECKS)
    yield clean_guest("contexts, 1 CPU", *outcomes)


@step("soak", MORE, LOAD)
@runs_on(USER_MODE, "stress")
def soak():
    """deeply nested locks: no false deadlock report"""
    yield from clean_runs("soak", soak_runs(LONG if extent.is_long else SHORT), SOAK_CPUS)


@step("broken", LOAD)
@runs_on(USER_MODE, "stress")
def broken():
    """the stress driver fails a lock that does not exclude"""
    cpus = max(2, guest_cpus())
    run = BrokenRun("broken", lock=BROKEN, threads=cpus, cpus=f"0-{cpus - 1}",
                    patience_ns=100000, cs_ns=1000, ncs_ns=100, duration_ms=1000)
    yield from stressed("broken: a lock that does not exclude is found out", [run], cpus)
