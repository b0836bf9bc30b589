# SPDX-License-Identifier: GPL-2.0
"""Locks under load: the stress driver in the daily kernel."""

from functools import partial

from ci.common import (USER_MODE, Case, clean_guest, extent, guest_modules, machine,
                       run_case)
from ci.kernel_table import runs_on
from testbed.common import guest_cpus
from testbed.disturbed import (GUESTS as DISTURBED_GUESTS, INTERRUPTS, above_own_cpu,
                               guest_runs, lacks, told_at_once)
from testbed.shapes import (CPUS as SHAPE_CPUS, FREEABLE, FREED_WRITTEN, TWO_HOLDERS, broken_run,
                            is_found_out, is_found_out_in_both_ways, logged_parameters, shape_runs)
from testbed.soak import (CPUS as SOAK_CPUS, LONG as SOAK_LONG, SHORT as SOAK_SHORT,
                          soak_runs)
from testbed.driver import BROKEN, OURS, Run
from testbed.stress import Unseen, lock_types, problem_with, stress_until_seen

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
    """(run, whether some waits must have timed out) for one guest."""
    for lock in locks:
        plans = SHORT_PATIENCE if lock.heeds_patience else NO_PATIENCE
        if lock.name in OURS:
            plans += MANY_PATIENCES
        for (how, settings), cs, floor, duration in plans:
            name = f"{lock.name}-cs-{cs}"
            if lock.heeds_patience:
                name = f"{lock.name}-patience-{how}-cs-{cs}"
            yield Run(name, lock=lock.name, threads=cpus, cpus=f"0-{cpus - 1}",
                      **settings, cs_ns=cs, ncs_ns=200,
                      duration_ms=duration if extent.is_long else duration // 2), floor


# What ours are compared with, in a kernel that has all of them.
COMPARATORS = ("raw_spinlock", "raw_trylock", "rqspinlock", "tas_b", "tas_b_try",
               "clh", "mcs", "clh_try", "mcs_try", "clh_nb_paper", "mcs_nb_paper")

# Skipping abandoned nodes keeps those in use to about 5 a thread; without it they are
# 30 to 140.
NODES_A_THREAD = 16


def lacks_stress(cpus, run, floor):
    """What keeps a run from having passed, and tested timeouts; or nothing."""
    if run.verdict != "PASS":
        return run.verdict
    if run.settings["lock"] in OURS and run.number("nodes_max") > NODES_A_THREAD * cpus:
        return f"{run.number('nodes_max'):.0f} nodes were in use"
    if floor and not run.number("timeouts"):
        return Unseen("no wait timed out: timeouts were not tested")
    return not run.number("acquisitions") and Unseen("the lock was never acquired")


def stress_plan(cpus, run, floor):
    """(run, what is wrong with it) for stress_until_seen()."""
    return run, lambda run: lacks_stress(cpus, run, floor)


@runs_on(USER_MODE, "stress")
def stress():
    """every lock type under contention, with one and with four CPUs a core"""
    locks = lock_types(machine(), guest_modules())
    missing = {*OURS, *COMPARATORS} - {lock.name for lock in locks}
    yield Case("stress: the driver has every lock type", not missing, f"no {missing}")
    for cpus in (max(2, guest_cpus()), max(8, guest_cpus(4))):
        plans = [stress_plan(cpus, run, floor) for run, floor in stress_runs(cpus, locks)]
        outcomes = stress_until_seen(machine(), plans, cpus, guest_modules())
        for run, lacks_what in plans:
            yield run_case(f"stress: {run.name}, {cpus} CPUs", run, lacks_what(run))
        yield clean_guest(f"stress, {cpus} CPUs", *outcomes)


LAST_RUN_LOGGED = """
echo @log
dmesg | sed -n '/lock broken/,$p'
"""


@runs_on(USER_MODE, "stress")
def shapes():
    """nested locks, retries, stalled holders, pauses, locks that are freed"""
    locks = lock_types(machine(), guest_modules())
    missing = FREEABLE - {lock.name for lock in locks}
    yield Case("shapes: every lock type that may be freed is there", not missing,
               f"no {missing}")
    plans = [(run, partial(problem_with, complaint=complaint))
             for run, complaint in shape_runs(locks)]
    outcomes = stress_until_seen(machine(), plans, SHAPE_CPUS, guest_modules())
    for run, complaint in plans:
        yield run_case(f"shapes: {run.name}", run, complaint(run))
    broken = broken_run()
    outcomes += stress_until_seen(machine(), [(broken, is_found_out_in_both_ways)],
                                  SHAPE_CPUS, guest_modules(), after=LAST_RUN_LOGGED)
    yield run_case("shapes: a freed lock that does not exclude is found out", broken,
                   is_found_out(broken))
    said = outcomes[-1].output.partition("@log\n")[2]
    for what, words in (("what is run", logged_parameters(broken)),
                        ("how far a run is", "running: elapsed_ms"),
                        ("why a run failed", f"run failed: {TWO_HOLDERS}"),
                        ("that freed memory was written to",
                         f"run failed: {FREED_WRITTEN}")):
        yield Case(f"shapes: the kernel log says {what}", words in said,
                   f"no \"{words}\" in\n{said}")
    yield clean_guest("shapes", *outcomes)


def disturbed_plan(run, figures):
    """(run, which of these figures are 0, if it passed) for stress_until_seen()."""
    return run, lambda run: lacks(run, figures)


def plan_cases(name, plans, cpus):
    """A case for each run of some plans, and that the guests are clean."""
    outcomes = stress_until_seen(machine(), plans, cpus, guest_modules())
    for run, complaint in plans:
        yield run_case(f"{name}: {run.name}", run, complaint(run))
    yield clean_guest(name, *outcomes)


NO_CHECKS = "echo N >/sys/module/nbqlock/parameters/deadlock_checks"


def told_plan(run, interrupts):
    """The same: whether interrupts were told at once that their own CPU has the lock."""
    return run, lambda run: told_at_once(run, interrupts)


def goes_unnoticed(run):
    """What keeps a run from having passed with its deadlocks unnoticed, or nothing."""
    if run.verdict == "PASS" and run.number("deadlocks"):
        return "a deadlock was reported"
    return lacks(run, ["timeouts"])


@runs_on(USER_MODE, "stress")
def contexts():
    """softirqs and hardirqs contend with threads; threads that migrate"""
    for cpus, interval in DISTURBED_GUESTS:
        yield from plan_cases(f"contexts, {cpus} CPUs", [
            disturbed_plan(*plan) for plan in guest_runs(cpus, interval)], cpus)
    plans = [told_plan(above_own_cpu(lock, INTERRUPTS, 300), INTERRUPTS) for lock in OURS]
    outcomes = stress_until_seen(machine(), plans, 1, guest_modules())
    # Without the check each interrupt uses up its patience. Were that longer than the
    # interval between interrupts, the thread that is to release would never run.
    unchecked = above_own_cpu(OURS[0], INTERRUPTS, 300, patience_ns=10000)
    outcomes += stress_until_seen(machine(), [(unchecked, goes_unnoticed)], 1,
                                  guest_modules(), before=NO_CHECKS)
    for run, complaint in plans:
        yield run_case(f"contexts, 1 CPU: {run.name}", run, complaint(run))
    yield run_case("contexts, 1 CPU: deadlock_checks switches the checks off", unchecked,
                   goes_unnoticed(unchecked))
    yield clean_guest("contexts, 1 CPU", *outcomes)


@runs_on(USER_MODE, "stress")
def soak():
    """deeply nested locks: no false deadlock report"""
    yield from plan_cases("soak", [
        disturbed_plan(*plan) for plan in
        soak_runs(SOAK_LONG if extent.is_long else SOAK_SHORT)], SOAK_CPUS)


@runs_on(USER_MODE, "stress")
def broken():
    """the stress driver fails a lock that does not exclude"""
    cpus = max(2, guest_cpus())
    run = Run("broken", lock=BROKEN, threads=cpus, cpus=f"0-{cpus - 1}",
              patience_ns=100000, cs_ns=1000, ncs_ns=100, duration_ms=1000)
    stress_until_seen(machine(), [(run, is_found_out)], cpus, guest_modules())
    yield run_case("broken: a lock that does not exclude is found out", run,
                   is_found_out(run))
