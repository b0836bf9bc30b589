# SPDX-License-Identifier: GPL-2.0
"""Fault injection: what each kernel's detectors must report, the harness sees.

tools/module/faults is the module that makes the mistakes. Each is made in a boot of its own:
after a report of one kind a kernel may have switched off the detector of another.
"""

from concurrent.futures import ThreadPoolExecutor
import re

from base.case import LOAD, ONLY_ALL, Case, On, runs_on, step
from base.common import BUILD, Unavailable, cores
from guest.cases import (ARM64, DEBIAN_6_12, DEBIAN_NEWEST, DEBIAN_RT, DEBIANS, DEBUG, I386, KCSAN,
                         RISCV64, RT, USER_MODE, guest_report)
from guest.complaints import complaints
from guest.guest import LEAK_SCAN, run_guest
from guest.modules import FAULTS, build_modules

# What the harness must find among the complaints, for each kind.
KINDS = {
    "warn": r"WARNING: .*\bmain\.c:\d+",
    "oops": r"Oops: |Oops \[#|Internal error: Oops|Kernel mode fault at addr 0x0",
    "schedule_in_atomic": r"BUG: scheduling while atomic: insmod/",
    "sleep_in_atomic": r"BUG: sleeping function called from invalid context",
    "rt_lock_in_atomic": r"BUG: (sleeping function called from invalid"
                         r"|Invalid wait context)",
    "preempt_leak": r"faults_init.* returned with preemption imbalance",
    "kasan_uaf": r"BUG: KASAN: slab-use-after-free in use_after_free",
    "kmemleak": r"new suspected memory leaks",
    "ubsan_bounds": r"UBSAN: array-index-out-of-bounds",
    "refcount": r"refcount_t: underflow",
    "list": r"list_add corruption",
    "rcu_stall": r"INFO: rcu_\w+ (self-)?detected stall",
    "soft_lockup": r"BUG: soft lockup - CPU#\d+ stuck for .*faults_spin",
    "hung_task": r"INFO: task faults_sleep:\d+ blocked for more than",
    "lockdep_no_class": r"INFO: trying to register non-static key",
    "spinlock_magic": r"BUG: spinlock bad magic",
    # With our own locks.
    "nbq_abba": r"possible circular locking dependency",
    "nbq_abba_raw": r"possible circular locking dependency",
    "nbq_aa_class": r"possible recursive locking",
    "nbq_aa": r"possible recursive locking",
    "nbq_irq": r"inconsistent lock state",
    "nbq_not_held": r"WARNING: .*nbqlock\.c",
    "nbq_unlock": r"nbqlock: BUG: unlock of a lock that is not held: .* at not_held",
    "nbq_spin_abba": r"possible circular locking dependency",
    "nbq_spin_unlock": r"nbqlock: BUG: unlock of a lock that is not held: .* at hybrid_not_held",
    "nbq_spin_unlock_above": r"nbqlock: BUG: unlock of a lock that another context holds: "
                             r".*, held by CPU#\d+ \(task\), on CPU#\d+ \(hardirq\)",
    "nbq_left_by_init": r"faults_init.* returned with preemption imbalance",
    "nbq_left_by_thread": r"BUG: sleeping function called from invalid context",
    "nbq_left_by_work": r"BUG: workqueue leaked atomic, lock or RCU",
    "nbq_left_by_timer": r"timer: leave_in_timer.* preempt leak",
    "nbq_left_by_interrupt": r"inconsistent lock state",
    "nbq_misuse": r"nbqlock: BUG: destroy of a lock that is in use: ",
    "nbq_deadlock": r"nbqlock: BUG: deadlock, ",
    "kcsan": r"BUG: KCSAN: data-race in race",
}
# Of a lock that stays held, lockdep also names the lock, and where it was acquired.
HELD = re.compile(r" held by .*\n(?:.* #\d+: .*\n)*?.* #\d+: .*\(left\)\{.*, at: leave_held\b")
STALLS = ("rcu_stall", "soft_lockup", "hung_task")
NONE = "no_such_kind"
# A kernel that is as attentive as it can be.
ATTENTIVE = ("rcupdate.rcu_cpu_stall_timeout=3",)
SCRIPT = """
for setting in hung_task_timeout_secs=1 watchdog_thresh=1; do
	file=/proc/sys/kernel/${setting%%=*}
	[ ! -e $file ] || echo ${setting#*=} >$file
done
insmod /lib/modules/nbq_faults.ko kind=%s
status=$?
"""
# How many seconds to wait for a report that comes later; again, in another boot, if it has
# not come: a busy host runs the CPUs less that are to notice.
SETTLE = (1, 5, 25)
TIMEOUT = 1800			# for a guest that checks each access, on a busy machine


class Fault:
    """What came of a kind in a boot."""

    def __init__(self, kind, outcome):
        self.kind = kind
        self.outcome = outcome

    @property
    def seen(self):
        """Whether a complaint of this kind came after the mistake."""
        parts = re.split(rf"nbq_faults: provoking {self.kind}\b", self.outcome.log)
        return any(re.search(KINDS[self.kind], line) for line in complaints(parts[-1])) \
            and len(parts) == 2 and \
            (not self.kind.startswith("nbq_left") or bool(HELD.search(parts[-1])))


def script_for(kind, seconds):
    """Make the mistake; its report may come from elsewhere and a little later."""
    script = SCRIPT % kind
    if kind == "kmemleak":
        script += LEAK_SCAN
    return f"{script}sleep {seconds}\nexit $status\n"


def provoke(machine, modules, kind):
    """Boot and make a mistake until it is seen, but for the times in SETTLE only: a Fault."""
    for seconds in SETTLE:
        fault = Fault(kind, run_guest(
            machine, script_for(kind, seconds), cpus=2, modules=modules, quiet=True,
            append=ATTENTIVE if kind in STALLS else (), timeout=TIMEOUT,
            log=BUILD / "log" / f"faults-{machine.kernel.name}-{kind}.log"))
        if kind == NONE or fault.seen:
            break
    return fault


def provoke_all(machine, kinds):
    """The same for many kinds, as many at a time as there are cores here."""
    modules = {"files": build_modules(machine.kernel, FAULTS), "load": ["nbqlock.ko"]}
    with ThreadPoolExecutor(cores()) as pool:
        yield from pool.map(lambda kind: provoke(machine, modules, kind), kinds)


def listed_kinds(outcome):
    """The kinds that the module has, of what it says when it does not know one."""
    return set(re.findall(r"nbq_faults: there is (\w+)", outcome.log))


# What every kernel minds, if only by its last word.
ALWAYS = ("warn", "oops")
# (testbed, kinds). What needs no detector is made where it is quick; how a warning
# and a fault are reported differs from kernel to kernel.
PLACES = (
    (USER_MODE, (*ALWAYS, "schedule_in_atomic", "refcount", "rcu_stall")),
    (DEBIAN_6_12, (*ALWAYS, "list", "soft_lockup", "hung_task")),
    *((testbed, ALWAYS) for testbed in DEBIANS[1:]),
    (DEBIAN_NEWEST, ALWAYS),
    (DEBIAN_RT, (*ALWAYS, "schedule_in_atomic", "preempt_leak")),
    (DEBUG, ("kasan_uaf", "ubsan_bounds", "kmemleak", "list", "sleep_in_atomic",
             "rt_lock_in_atomic", "preempt_leak", "lockdep_no_class", "spinlock_magic",
             *(kind for kind in KINDS if kind.startswith("nbq_")))),
    (RT, ("sleep_in_atomic", "rt_lock_in_atomic")),
    (KCSAN, (*ALWAYS, "kcsan")),
    (ARM64, ALWAYS),
    (RISCV64, ALWAYS),
    (I386, ALWAYS),
)


def faults_on(testbed, kinds):
    """The cases of one kernel; the first is that a boot without a mistake is clean."""
    results = provoke_all(testbed.machine(), (NONE, *kinds))
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


@step("faults", ONLY_ALL, LOAD)
@runs_on(USER_MODE, "faults")
def faults():
    """fault injection: each kernel's detectors report each kind of mistake"""
    for testbed, kinds in PLACES:
        yield On(testbed, "faults")
        try:
            yield from faults_on(testbed, kinds)
        except Unavailable as reason:
            yield Case(f"faults: {testbed.name}", False, str(reason), skipped=True)
    never = set(KINDS) - {kind for _, kinds in PLACES for kind in kinds}
    yield Case("faults: every kind is made somewhere", not never, f"not {never}")
