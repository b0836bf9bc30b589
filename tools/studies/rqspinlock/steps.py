# SPDX-License-Identifier: GPL-2.0
"""The bare hybrid as rqspinlock: BPF's locks on it."""

import re

from base.case import LOAD, MORE, ONLY_ALL, Case, On, extent, once, runs_on, step
from guest.cases import RQSPINLOCK, clean_guest
from guest.kernel_table import TestBed
from guest.machines import QemuMachine
from studies.rqspinlock.runs import LOCKS, Cycle, Selftest, all_runs, kernels, run_all

REPLACED = TestBed("user-mode, the hybrid as rqspinlock", once(lambda: kernels("nbqlock")))
REPLACED_X86_64 = TestBed("x86-64, the hybrid as rqspinlock",
                          once(lambda: kernels("nbqlock", True)), QemuMachine)
SHORT, LONG = 500, 5000		# ms of each part of the test of the map
# Of what a busy machine may keep from coming up.
STARTS = 3
# In the cycle of queues, an interrupt above a waiter that got its lock.
HEAD = re.compile(r"cpu[12] irq lock [ab]: 0 ")


def interrupts_ended_right(runs):
    """AA: one above the holder got -EDEADLK. Cycle: both above a waiter acquired, as head."""
    return [run.results.get("irq", {}).get("EDEADLK") if run.name == "AA" else
            sum(bool(HEAD.match(line)) for line in run.attempts) == 2
            for run in runs if run.name == "AA" or isinstance(run, Cycle)]


def bpf_cases(name, machine, milliseconds):
    runs = all_runs(milliseconds)
    outcomes = [run_all(machine, runs)]
    for run in runs:
        yield Case(f"{name}: {run.name}", not run.complaint,
                   f"{run.complaint}\n{run.output}\n{run.log[-2000:]}")
    yield Case(f"{name}: struct bpf_res_spin_lock has the lock's size for BTF",
               runs[-1].lock_sizes == [4], runs[-1].output)
    again = [run for run in all_runs() if run.name in ("AA", "cycle")]
    found = interrupts_ended_right(runs)
    while not all(found) and len(outcomes) < STARTS and not any(run.hung for run in runs):
        outcomes.append(run_all(machine, again))
        found = [a or b for a, b in zip(found, interrupts_ended_right(again))]
    yield Case(f"{name}: interrupts get -EDEADLK above the holder, the lock in a cycle of queues",
               len(found) == 2 and all(found), "".join(run.output for run in runs))
    yield clean_guest(name, *outcomes)


def selftest_cases(lock, testbed):
    """The kernel's selftests: the checks that fail are those that are expected to."""
    name = f"rqspinlock, x86-64, {lock}"
    machine = testbed.machine()
    for _ in range(STARTS):
        run = Selftest(lock)
        outcome = run_all(machine, [run])
        if run.status is not None:
            break
    yield Case(f"{name}: the kernel's selftests of res_spin_lock", not run.complaint,
               f"{run.complaint}\n{run.output}\n{run.log[-2000:]}")
    yield clean_guest(name, outcome)


@step("rqspinlock", MORE, LOAD)
@runs_on(REPLACED, "the hybrid as rqspinlock")
def rqspinlock():
    """BPF's locks on the bare hybrid: AA, ABBA, ABBCCA, a cycle of queues, a contended map"""
    yield from bpf_cases("rqspinlock", REPLACED.machine(),
                          LONG if extent.is_long else SHORT)


@step("rqspinlock-all", ONLY_ALL, LOAD)
@runs_on(REPLACED_X86_64, "the hybrid as rqspinlock")
def rqspinlock_kernels():
    """as rqspinlock, on x86-64 in QEMU, and the kernel's selftests, there and on its own lock"""
    yield from bpf_cases("rqspinlock, x86-64", REPLACED_X86_64.machine(), LONG)
    yield from selftest_cases(LOCKS[1], REPLACED_X86_64)
    yield On(RQSPINLOCK, "its own selftests")
    yield from selftest_cases(LOCKS[0], RQSPINLOCK)
