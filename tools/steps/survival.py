# SPDX-License-Identifier: GPL-2.0
"""Locks under load: the stress driver in the daily kernel."""

from bed.common import guest_cpus
from bed.disturbed import (GUESTS as DISTURBED_GUESTS, INTERRUPTS, above_own_cpu,
                           guest_runs, lacks, told_at_once)
from bed.shapes import (CPUS as SHAPE_CPUS, FREEABLE, broken_run, logged_knobs,
                        shape_runs)
from bed.soak import CPUS as SOAK_CPUS, soak_runs
from bed.stress import BROKEN, OURS, Run, lock_types, read_runs, run_stress
from steps.common import USER_MODE, Case, clean_guest, guest_modules, machine
from steps.kernel_table import runs_on

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
                  # twenty times the work: who times out has drawn less than that
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
                      **settings, cs_ns=cs, ncs_ns=200, duration_ms=duration), floor


# What ours are compared with, in a kernel that has all of them.
COMPARATORS = ("raw_spinlock", "raw_trylock", "rqspinlock", "tas_b", "tas_b_try",
               "clh", "mcs", "clh_try", "mcs_try", "clh_nb_paper", "mcs_nb_paper")

# Stepping over leavers keeps the nodes in use to about 5 a thread; without it
# they are 30 to 140.
NODES_A_THREAD = 16


def stress_case(cpus, run, floor, step="stress"):
    """The case that a run passed, and that it tested timeouts."""
    verdict = run.verdict
    if verdict == "PASS" and run.settings["lock"] in OURS and \
            run.number("nodes_max") > NODES_A_THREAD * cpus:
        verdict = f"{run.value('nodes_max')} nodes were in use"
    if verdict == "PASS" and floor and not run.number("timeouts"):
        verdict = "no wait timed out: timeouts were not tested"
    if verdict == "PASS" and not run.number("acquisitions"):
        verdict = "the lock was never acquired"
    name = f"{step}: {run.name}, {cpus} CPUs"
    return Case(name, verdict == "PASS", f"{verdict}\n{run.text}")


@runs_on(USER_MODE, "stress")
def stress():
    """every lock under contention, with one and with four CPUs a core"""
    locks = lock_types(machine(), guest_modules())
    missing = {*OURS, *COMPARATORS} - {lock.name for lock in locks}
    yield Case("stress: the driver has every lock type", not missing, f"no {missing}")
    for cpus in (max(2, guest_cpus()), max(8, guest_cpus(4))):
        plans = list(stress_runs(cpus, locks))
        outcome = run_stress(machine(), [run for run, _ in plans], cpus,
                             guest_modules())
        for run, floor in plans:
            yield stress_case(cpus, run, floor)
        yield clean_guest(f"stress, {cpus} CPUs", outcome)


LAST_RUN_LOGGED = """
echo @log
dmesg | sed -n '/lock broken/,$p'
"""


@runs_on(USER_MODE, "stress")
def shapes():
    """load shapes: chains of locks, retries, stalls, pauses, locks that are freed"""
    locks = lock_types(machine(), guest_modules())
    missing = FREEABLE - {lock.name for lock in locks}
    yield Case("shapes: every lock type that may be freed is there", not missing,
               f"no {missing}")
    plans = list(shape_runs(locks))
    broken = broken_run()
    outcome = run_stress(machine(), [*(run for run, _ in plans), broken], SHAPE_CPUS,
                         guest_modules(), after=LAST_RUN_LOGGED)
    for run, judge in plans:
        complaint = run.verdict if run.verdict != "PASS" else judge(run)
        yield Case(f"shapes: {run.name}", not complaint, f"{complaint}\n{run.text}")
    yield Case("shapes: a freed lock that does not exclude is found out",
               broken.verdict.startswith("FAIL"), f"{broken.verdict}\n{broken.text}")
    said = outcome.output.partition("@log\n")[2]
    for what, words in (("what is run", logged_knobs(broken)),
                        ("how far a run is", "running: elapsed_ms"),
                        ("why a run failed", "run failed: two owners were seen"),
                        ("that freed memory was written to",
                         "run failed: the memory of a freed lock was written to")):
        yield Case(f"shapes: the kernel log says {what}", words in said,
                   f"no \"{words}\" in\n{said}")
    yield clean_guest("shapes", outcome)


def disturbed_case(name, run, figures):
    """The case that a run passed, and that none of these figures is 0."""
    complaint = lacks(run, figures)
    return Case(f"{name}: {run.name}", not complaint, f"{complaint}\n{run.text}")


NO_CHECKS = "echo N >/sys/module/nbqlock/parameters/deadlock_checks\n"


def told_case(name, run, interrupts):
    """The case that interrupts were told at once that their own CPU has the lock."""
    complaint = told_at_once(run, interrupts)
    return Case(f"{name}: {run.name}", not complaint, f"{complaint}\n{run.text}")


@runs_on(USER_MODE, "stress")
def contexts():
    """threads against softirqs and hardirqs, and threads that move"""
    for cpus, interval in DISTURBED_GUESTS:
        plans = list(guest_runs(cpus, interval))
        outcome = run_stress(machine(), [run for run, _ in plans], cpus, guest_modules())
        for run, figures in plans:
            yield disturbed_case(f"contexts, {cpus} CPUs", run, figures)
        yield clean_guest(f"contexts, {cpus} CPUs", outcome)
    alone = [above_own_cpu(lock, INTERRUPTS, 300) for lock in OURS]
    # Who is not told uses up its patience, and with it the time of the thread that is
    # to release: more than from one interrupt to the next, and nothing ever gets on.
    unchecked = above_own_cpu(OURS[0], INTERRUPTS, 300, patience_ns=10000)
    unchecked.name = "unchecked"
    outcome = run_stress(machine(), alone, 1, guest_modules(),
                         after=f"{NO_CHECKS}{unchecked.command}\n")
    read_runs(outcome.output, [unchecked])
    for run in alone:
        yield told_case("contexts, 1 CPU", run, INTERRUPTS)
    yield Case("contexts, 1 CPU: deadlock_checks switches the checks off",
               unchecked.verdict == "PASS" and unchecked.number("timeouts") and
               not unchecked.number("deadlocks"), f"{unchecked.verdict}\n{unchecked.text}")
    yield clean_guest("contexts, 1 CPU", outcome)


@runs_on(USER_MODE, "stress")
def soak():
    """locks nested as deep as they may be: no deadlock is reported"""
    plans = list(soak_runs())
    outcome = run_stress(machine(), [run for run, _ in plans], SOAK_CPUS, guest_modules())
    for run, figures in plans:
        yield disturbed_case("soak", run, figures)
    yield clean_guest("soak", outcome)


@runs_on(USER_MODE, "stress")
def broken():
    """the stress driver finds a lock that does not exclude"""
    cpus = max(2, guest_cpus())
    run = Run("broken", lock=BROKEN, threads=cpus, cpus=f"0-{cpus - 1}",
              patience_ns=100000, cs_ns=1000, ncs_ns=100, duration_ms=1000)
    run_stress(machine(), [run], cpus, guest_modules())
    yield Case("broken: a lock that does not exclude is found out",
               run.verdict.startswith("FAIL"), f"{run.verdict}\n{run.text}")
