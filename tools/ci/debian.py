# SPDX-License-Identifier: GPL-2.0
"""Debian's own kernels, in QEMU."""

import re

from ci.common import (DEBIAN_6_1, DEBIAN_6_12, DEBIAN_NEWEST, DEBIAN_RT, STRESS_FOLDER, UNLOAD,
                       Case, claim_cases, clean_guest, guest_report, run_case, stock_kernel,
                       unload_case)
from ci.kernel_table import runs_on
from ci.survival import COMPARATORS, MIXED, alike, disturbed_plan, stress_plan, told_plan
from testbed.disturbed import (ALL_INTERRUPTS, above_own_cpu, in_contexts, interrupted, lacks,
                               left_behind, legitimate, reclaims)
from testbed.guest import QemuMachine, TwoSockets
from testbed.guest_cli import loaded
from testbed.kernels import NEWEST, REAL_TIME
from testbed.shapes import stock_runs
from testbed.driver import OURS, Run, grows, listed
from testbed.stress import (Unseen, problem_with, read_runs, reloaded, run_stress,
                            stress_until_seen, until_seen)
from testbed.tracing import cost_claims, traced_claims

LIST_LOCKS = f"""
echo @locks
cat {STRESS_FOLDER}/locks
echo @listed
"""

# It came with Linux 6.15.
NEW_LOCKS = ("rqspinlock",)
# Of ours. (name, ms)
STOCK_RUNS = (("usual", 1500), ("small", 1000))
STOCK_LOCKS = tuple(lock for lock in (*OURS, *COMPARATORS) if lock not in NEW_LOCKS)
# Those in which abandoned nodes are left to others.
QUEUES_TO_ABANDON = (*OURS, "clh_try", "mcs_try", "clh_nb_paper", "mcs_nb_paper")
# ((name of a patience, settings), ms, lock types)
BRIEF_RUNS = ((alike(1000), 250, STOCK_LOCKS), (MIXED, 200, QUEUES_TO_ABANDON))


def brief_runs(new_locks):
    for (how, settings), duration, locks in BRIEF_RUNS:
        for lock in (*locks, *(new_locks if locks is STOCK_LOCKS else ())):
            yield Run(f"{lock}-patience-{how}", lock=lock, threads=2, cpus="0-1",
                      **settings, cs_ns=2000, ncs_ns=200, duration_ms=duration)


def run_counted(machine, runs, cpus, modules, counter, **options):
    """run_stress(); each run has what a counter of nbqlock was after it, as run.counted."""
    outcome = run_stress(machine, runs, cpus, modules, after_each=f"""
echo "@counted %s $(grep {counter} /sys/kernel/debug/nbqlock/total)"
""", **options)
    for run in runs:
        found = re.search(rf"^@counted {run.name} {counter} +(\d+)", outcome.output, re.MULTILINE)
        run.counted = int(found[1]) if found else 0
    return outcome


def run_small(machine, runs, modules):
    """Make runs, each with modules whose pools have one node; count how they grow."""
    return run_counted(machine, runs, 2, modules, "growths", before=reloaded("pool_nodes=1"),
                       after=UNLOAD)


def lacks_growth(run):
    if grows(run.settings["lock"]):
        return problem_with(run, lambda run: not run.counted and Unseen("no pool has grown"))
    return problem_with(run, lambda run: run.counted and "a pool has grown without need")


def locks_in(output):
    """The lock types that LIST_LOCKS has printed."""
    found = re.search(r"^@locks\n(.*)^@listed$", output, re.MULTILINE | re.DOTALL)
    return [lock.name for lock in listed(found[1])] if found else []


def debian(kernel, above=ALL_INTERRUPTS, new_locks=()):
    """Load, stress, unload the modules in one of Debian's kernels.

    above: what interrupts a holder; new_locks: those which the driver has there besides.
    """
    modules = loaded(kernel)
    usual, small = ([Run(f"{lock}-{name}", lock=lock, threads=2, cpus="0-1",
                         patience_ns=10000, cs_ns=500, ncs_ns=500, duration_ms=duration)
                     for lock in OURS] for name, duration in STOCK_RUNS)
    # Last, since settings stay.
    brief = [*brief_runs(new_locks), *stock_runs(OURS)]
    nested = [interrupted(lock, 2, 200000, 300, ALL_INTERRUPTS) for lock in OURS]
    own = [legitimate(lock, 2, 200000, 400, ALL_INTERRUPTS, "own") for lock in OURS]
    alone = [above_own_cpu(lock, ALL_INTERRUPTS, 400) for lock in OURS]
    unmaskable = interrupted(OURS[0], 2, 200000, 100, ALL_INTERRUPTS, nesting="masked")
    unmaskable.name = "unmaskable"
    plans = [*(disturbed_plan(run, ["acquisitions"]) for run in usual),
             *(stress_plan(2, run, False) for run in brief),
             *(disturbed_plan(run, in_contexts(ALL_INTERRUPTS)) for run in nested + own),
             *(told_plan(run, above) for run in alone)]
    machine = QemuMachine(kernel)
    outcomes = stress_until_seen(machine, plans, 2, modules, after=
                                 f"{LIST_LOCKS}{unmaskable.command}\n{UNLOAD}")
    read_runs(outcomes[0].output, [unmaskable])
    small_outcomes = until_seen(small, lambda runs: run_small(machine, runs, modules),
                                lacks_growth)
    name = f"debian {kernel.version}"
    there = locks_in(outcomes[0].output)
    yield Case(f"{name}: every lock type of the driver is run",
               sorted(there) == sorted((*STOCK_LOCKS, *new_locks)), f"{there}, not "
               f"{STOCK_LOCKS} and {new_locks}")
    for run, complaint in plans:
        yield run_case(f"{name}: {run.name}", run, complaint(run))
    yield Case(f"{name}: NMIs cannot be masked, and are refused there",
               "(nesting: masked" in unmaskable.verdict, unmaskable.verdict)
    for run in small:
        lock = run.settings["lock"]
        yield run_case(f"{name}: pools of one node {'grow' if grows(lock) else 'stay so'} "
                       f"under {lock}", run, lacks_growth(run))
    outcomes += small_outcomes
    yield unload_case(name, outcomes)
    yield clean_guest(name, *outcomes)


@runs_on(DEBIAN_6_12, "stress")
def debian_6_12():
    """stock Debian kernel 6.12 in QEMU: load, stress, unload"""
    yield from debian(stock_kernel("6.12"))


@runs_on(DEBIAN_6_1, "stress")
def debian_6_1():
    """stock Debian kernel 6.1 in QEMU, the oldest supported: load, stress, unload"""
    yield from debian(stock_kernel("6.1"))


@runs_on(DEBIAN_NEWEST, "stress")
def debian_newest():
    """the newest stock Debian kernel in QEMU: load, stress, unload"""
    yield from debian(stock_kernel(NEWEST), new_locks=NEW_LOCKS)


@runs_on(DEBIAN_RT, "stress")
def real_time():
    """stock Debian kernel 6.12 with PREEMPT_RT in QEMU: load, stress, unload"""
    # A softirq is a task there, and interrupts none.
    yield from debian(stock_kernel("6.12", REAL_TIME), ("hardirq", "nmi"))


# Takes the second CPU away, if it is there, and brings it back.
COME_AND_GO = """
cpu=/sys/devices/system/cpu/cpu1/online
[ $(cat $cpu) = 0 ] || echo 0 >$cpu
echo 1 >$cpu
"""


ONLINE = """
echo "@online $(cat /sys/devices/system/cpu/online)"
"""
# Waits until the driver has taken the CPU away, for three seconds; as long as it takes,
# but for a limit. What is reported is what was seen then.
STOP_IN_HOTPLUG = f"""
echo 600000 >{STRESS_FOLDER}/load/duration_ms
echo 6000 >{STRESS_FOLDER}/interference/hotplug_ms
echo 1 >{STRESS_FOLDER}/run &
for i in $(seq 3000); do
	online=$(cat /sys/devices/system/cpu/online)
	[ "$online" = 0 ] && break
	sleep 0.1
done
echo "@online $online"
"""


def has_nodes(run):
    """What keeps a thread on a CPU that came from having acquired, with nodes there."""
    if run.verdict == "PASS" and run.number("no_node"):
        return "an attempt got no queue node"
    return lacks(run, ["thread_min"])


@runs_on(DEBIAN_6_12, "hotplug")
def hotplug():
    """CPU hotplug: a CPU that comes online after the modules, goes offline, returns"""
    kernel = stock_kernel("6.12")
    # The CPU goes and comes before each run, but is new for the first one only.
    runs = [Run(f"{lock}-{state}", lock=lock, threads=2, cpus="0-1", patience_ns=10000,
                cs_ns=500, ncs_ns=500, duration_ms=1000)
            for lock, state in ((OURS[0], "new"), *((lock, "again") for lock in OURS))]
    during = [interrupted(lock, 2, 200000, 1000, ALL_INTERRUPTS, hotplug_ms=300,
                          shuffle_ms=50) for lock in OURS]
    left = [left_behind(lock, 2) for lock in OURS]
    plans = [*((run, has_nodes) for run in runs),
             *(disturbed_plan(run, in_contexts(ALL_INTERRUPTS, "hotplugs", "shuffles",
                                               "thread_min")) for run in during),
             *((run, reclaims) for run in left)]
    outcomes = stress_until_seen(QemuMachine(kernel), plans, 2,
                                 loaded(kernel), before=COME_AND_GO, append=["maxcpus=1"],
                                 after=STOP_IN_HOTPLUG + UNLOAD + ONLINE)
    for run, complaint in plans:
        yield run_case(f"hotplug: {run.name}", run, complaint(run))
    # One CPU was offline during the run, none after it.
    yield Case("hotplug: unloading during a run brings the CPU back", all(re.search(
        r"^@online 0\n.*@unloaded\n\n?@online 0-1$", outcome.output,
        re.MULTILINE | re.DOTALL) for outcome in outcomes),
               "\n".join(map(guest_report, outcomes)))
    yield clean_guest("hotplug", *outcomes)


NODES = """
echo "@nodes $(cat /sys/devices/system/node/online)"
echo "@possible $(cat /sys/devices/system/cpu/possible)"
"""


def lacks_turns(run):
    return problem_with(run, lambda run: not run.counted and
                        Unseen("no socket has passed its turn"))


@runs_on(DEBIAN_6_12, "sockets")
def sockets():
    """nbq_spin on two emulated sockets: the turn is passed"""
    machine = TwoSockets(stock_kernel("6.12"))
    modules = loaded(machine.kernel)
    # Retries keep all of them in the queues; little patience, and enough.
    runs = [Run(f"nbq_spin-patience-{patience}", lock="nbq_spin", threads=4, cpus="0-1,10-11",
                patience_ns=patience, cs_ns=2000, ncs_ns=200, duration_ms=2000)
            for patience in (5000000, 20000)]
    first, other = runs
    usual = Run("nbq_spin-one-queue", lock="nbq_spin", threads=4, cpus="0-1,10-11",
                patience_ns=5000000, cs_ns=2000, ncs_ns=200, duration_ms=1000)
    by_socket = reloaded("sockets=1")
    outcomes = until_seen([first], lambda runs: run_counted(
        machine, runs, 20, modules, "turns_passed", before=by_socket, after=NODES), lacks_turns)
    outcomes.append(run_stress(machine, [other], 20, modules, before=by_socket,
                               after=UNLOAD))
    outcomes.append(run_counted(machine, [usual], 20, modules, "turns_passed", after=UNLOAD))
    yield Case("sockets: the guest has two nodes",
               "@nodes 0-1\n" in outcomes[0].output, guest_report(outcomes[0]))
    # More than four queues for each make of those that the machine has at boot.
    yield Case("sockets: the machine has more queues than at boot",
               "@possible 0-19\n" in outcomes[0].output, guest_report(outcomes[0]))
    yield run_case(f"sockets: {first.name}: the turn is passed", first, lacks_turns(first))
    yield run_case(f"sockets: {other.name}", other, problem_with(other, lambda run: None))
    yield run_case("sockets: without the parameter there are no turns", usual,
                   problem_with(usual, lambda run: run.counted and f"{run.counted} turns"))
    yield clean_guest("sockets", *outcomes)


@runs_on(DEBIAN_6_12, "stress")
def tracing():
    """tracepoints: they agree with the counters; disabled, they are no-ops"""
    yield from claim_cases("tracing", cost_claims())
    yield from claim_cases("tracing", traced_claims())
