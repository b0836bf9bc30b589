# SPDX-License-Identifier: GPL-2.0
"""Fault injection: what each kernel's detectors must report, the harness sees."""

from ci.common import (ARM64, DEBIAN_6_1, DEBIAN_6_12, DEBIAN_NEWEST, DEBIAN_RT, DEBUG,
                       I386, KCSAN, RISCV64, RT, USER_MODE, Case, guest_report)
from ci.kernel_table import On, runs_on
from testbed.common import Unavailable
from testbed.faults import KINDS, NONE, listed_kinds, provoke_all
from testbed.guest import (ArmMachine, I386Machine, QemuMachine, RiscvMachine,
                           UserModeMachine)

# What every kernel minds, if only by its last word.
ALWAYS = ("warn", "oops")
# (testbed, machine, kinds). What needs no detector is made where it is quick; how a warning
# and a fault are reported differs from kernel to kernel.
PLACES = (
    (USER_MODE, UserModeMachine, (*ALWAYS, "schedule_in_atomic", "irqs_leak", "refcount",
                                  "rcu_stall")),
    (DEBIAN_6_12, QemuMachine, (*ALWAYS, "list", "soft_lockup", "hung_task")),
    (DEBIAN_6_1, QemuMachine, ALWAYS),
    (DEBIAN_NEWEST, QemuMachine, ALWAYS),
    (DEBIAN_RT, QemuMachine, (*ALWAYS, "schedule_in_atomic", "preempt_leak")),
    (DEBUG, UserModeMachine, ("kasan_uaf", "kasan_oob", "ubsan_bounds", "ubsan_shift",
                              "kmemleak", "list", "sleep_in_atomic", "rt_lock_in_atomic",
                              "processor_id", "preempt_leak", "spinlock_magic",
                              *(kind for kind in KINDS
                                if kind.startswith(("lockdep_", "nbq_"))))),
    (RT, QemuMachine, ("sleep_in_atomic", "rt_lock_in_atomic")),
    (KCSAN, QemuMachine, (*ALWAYS, "kcsan")),
    (ARM64, ArmMachine, ALWAYS),
    (RISCV64, RiscvMachine, ALWAYS),
    (I386, I386Machine, ALWAYS),
)


def faults_on(testbed, machine_for, kinds):
    """The cases of one kernel; the first is that a boot without a mistake is clean."""
    machine = machine_for(testbed.find())
    results = provoke_all(machine, (NONE, *kinds))
    clean = next(results)
    there = listed_kinds(clean.outcome)
    yield Case(f"faults: {testbed.name}: an unknown kind is refused, the log stays clean",
               clean.outcome.status not in (0, None) and clean.outcome.ended_well and
               not clean.outcome.complaints and there == set(KINDS),
               f"in the module only: {there - set(KINDS)}; here only: "
               f"{set(KINDS) - there}\n{guest_report(clean.outcome)}")
    for fault in results:
        yield Case(f"faults: {testbed.name}: {fault.kind} is seen", fault.seen,
                   guest_report(fault.outcome))


@runs_on(USER_MODE, "faults")
def faults():
    """fault injection: each kernel's detectors report each kind of mistake"""
    for testbed, machine_for, kinds in PLACES:
        yield On(testbed, "faults")
        try:
            yield from faults_on(testbed, machine_for, kinds)
        except Unavailable as reason:
            yield Case(f"faults: {testbed.name}", False, str(reason), skipped=True)
    never = set(KINDS) - {kind for _, _, kinds in PLACES for kind in kinds}
    yield Case("faults: every kind is made somewhere", not never, f"not {never}")
