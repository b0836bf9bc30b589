# SPDX-License-Identifier: GPL-2.0
"""Debian's own kernels, in QEMU."""

import re

from base.case import LOAD, ONLY_ALL, Case, claim_cases, runs_on, step
from base.driver import NEW_LOCKS, OURS, STOCK_LOCKS, Run, grows, listed
from base.testbeds import DEBIAN
from guest.cases import (DEBIAN_6_12, DEBIAN_NEWEST, DEBIAN_OLDEST, DEBIAN_RT, DEBIANS,
                         STRESS_FOLDER, UNLOAD, clean_guest, guest_report, unload_case)
from guest.guest_cli import loaded
from guest.machines import QemuMachine
from measure.stress import Unseen, made_cases, read_runs, reloaded, run_case, run_stress, until_seen
from module.disturbed import (ALL_INTERRUPTS, above_own_cpu, at_once, has_nodes, in_contexts,
                              interrupted, left_behind, legitimate, needs)
from module.shapes import stock_runs
from module.stress import MIXED, alike, survives
from module.tracing import cost_claims, traced_claims

LIST_LOCKS = f"""
echo @locks
cat {STRESS_FOLDER}/locks
echo @listed
"""


def has_grown(run):
    """That a pool has grown, under a lock that has use for that."""
    if grows(run.settings["lock"]):
        return not run.counted and Unseen("no pool has grown")
    return run.counted and "a pool has grown without need"


# Of ours. (name, ms, judge)
STOCK_RUNS = (("usual", 1500, needs("acquisitions")), ("small", 1000, has_grown))
# Those in which abandoned nodes are left to others.
QUEUES_TO_ABANDON = (*OURS, "clh_try", "mcs_try", "clh_nb_paper", "mcs_nb_paper")
# ((name of a patience, settings), ms, lock types)
BRIEF_RUNS = ((alike(1000), 250, STOCK_LOCKS), (MIXED, 200, QUEUES_TO_ABANDON))


def brief_runs(new_locks):
    for (how, settings), duration, locks in BRIEF_RUNS:
        for lock in (*locks, *(new_locks if locks is STOCK_LOCKS else ())):
            yield Run(f"{lock}-patience-{how}", survives(2), lock=lock, threads=2, cpus="0-1",
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


def locks_in(output):
    """The lock types that LIST_LOCKS has printed."""
    found = re.search(r"^@locks\n(.*)^@listed$", output, re.MULTILINE | re.DOTALL)
    return [lock.name for lock in listed(found[1])] if found else []


def debian(kernel, above=ALL_INTERRUPTS, new_locks=()):
    """Load, stress, unload the modules in one of Debian's kernels.

    above: what interrupts a holder; new_locks: those which the driver has there besides.
    """
    modules = loaded(kernel)
    usual, small = ([Run(f"{lock}-{name}", judge, lock=lock, threads=2, cpus="0-1",
                         patience_ns=10000, cs_ns=500, ncs_ns=500, duration_ms=duration)
                     for lock in OURS] for name, duration, judge in STOCK_RUNS)
    # Last but for interrupts, since settings stay.
    runs = [*usual, *brief_runs(new_locks), *stock_runs(OURS, survives(2)),
            *(interrupted(lock, 2, 200000, 300, ALL_INTERRUPTS) for lock in OURS),
            *(legitimate(lock, 2, 200000, 400, ALL_INTERRUPTS, "own",
                         in_contexts(ALL_INTERRUPTS)) for lock in OURS),
            *(above_own_cpu(lock, ALL_INTERRUPTS, 400, at_once(above)) for lock in OURS)]
    unmaskable = interrupted(OURS[0], 2, 200000, 100, ALL_INTERRUPTS, nesting="masked")
    unmaskable.name = "unmaskable"
    machine = QemuMachine(kernel)
    name = f"debian {kernel.version}"
    outcomes = yield from made_cases(name, machine, runs, 2, modules, after=
                                     f"{LIST_LOCKS}{unmaskable.command}\n{UNLOAD}")
    read_runs(outcomes[0].output, [unmaskable])
    there = locks_in(outcomes[0].output)
    yield Case(f"{name}: every lock type of the driver is run",
               sorted(there) == sorted((*STOCK_LOCKS, *new_locks)), f"{there}, not "
               f"{STOCK_LOCKS} and {new_locks}")
    yield Case(f"{name}: NMIs cannot be masked, and are refused there",
               "(nesting: masked" in unmaskable.verdict, unmaskable.verdict)
    small_outcomes = until_seen(small, lambda some: run_small(machine, some, modules))
    for run in small:
        yield run_case(f"{name}: pools of one node", run)
    outcomes += small_outcomes
    yield unload_case(name, outcomes)
    yield clean_guest(name, *outcomes)


def new_step(series, testbed):
    """The step of one of Debian's kernels; only that of the usual one is not for --all alone."""
    @runs_on(testbed, "stress")
    def of_series():
        yield from debian(testbed.find())

    oldest = ", the oldest supported" * (testbed is DEBIAN_OLDEST)
    of_series.__doc__ = f"stock Debian kernel {series} in QEMU{oldest}: load, stress, unload"
    step(f"debian-{series}", *[ONLY_ALL] * (testbed is not DEBIANS[0]), LOAD)(of_series)


for each in zip(DEBIAN, DEBIANS):
    new_step(*each)


@step("debian-newest", ONLY_ALL, LOAD)
@runs_on(DEBIAN_NEWEST, "stress")
def debian_newest():
    """the newest stock Debian kernel in QEMU: load, stress, unload"""
    yield from debian(DEBIAN_NEWEST.find(), new_locks=NEW_LOCKS)


@step("rt", ONLY_ALL, LOAD)
@runs_on(DEBIAN_RT, "stress")
def real_time():
    """Debian's usual kernel with PREEMPT_RT in QEMU: load, stress, unload"""
    # A softirq is a task there, and interrupts none.
    yield from debian(DEBIAN_RT.find(), ("hardirq", "nmi"))


# Takes the second CPU away, if it is there, and brings it back.
# The second CPU is new; the third is there, so that two contend while one is away.
COME_AND_GO = """
cpus=/sys/devices/system/cpu
[ $(cat $cpus/cpu1/online) = 0 ] || echo 0 >$cpus/cpu1/online
echo 1 >$cpus/cpu1/online
[ $(cat $cpus/cpu2/online) = 1 ] || echo 1 >$cpus/cpu2/online
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
	[ "$online" != 0-2 ] && break
	sleep 0.1
done
echo "@online $online"
"""


@step("hotplug", LOAD)
@runs_on(DEBIAN_6_12, "hotplug")
def hotplug():
    """CPU hotplug: a CPU that comes online after the modules, goes offline, returns"""
    kernel = DEBIAN_6_12.find()
    # The CPU goes and comes before each run, but is new for the first one only.
    runs = [*(Run(f"{lock}-{state}", has_nodes, lock=lock, threads=2, cpus="0-1",
                  patience_ns=10000, cs_ns=500, ncs_ns=500, duration_ms=1000)
              for lock, state in ((OURS[0], "new"), *((lock, "again") for lock in OURS))),
            *(interrupted(lock, 3, 200000, 1000, ALL_INTERRUPTS, in_contexts(
                ALL_INTERRUPTS, "hotplugs", "shuffles", "thread_min"), hotplug_ms=300,
                          shuffle_ms=50) for lock in OURS),
            *(left_behind(lock, 3) for lock in OURS)]
    outcomes = yield from made_cases(
        "hotplug", QemuMachine(kernel), runs, 3, loaded(kernel), before=COME_AND_GO,
        append=["maxcpus=1"], after=STOP_IN_HOTPLUG + UNLOAD + ONLINE)
    # One CPU was offline during the run, none after it.
    yield Case("hotplug: unloading during a run brings the CPU back", all(re.search(
        r"^@online 0(,2|-1)?\n.*@unloaded\n\n?@online 0-2$", outcome.output,
        re.MULTILINE | re.DOTALL) for outcome in outcomes),
               "\n".join(map(guest_report, outcomes)))
    yield clean_guest("hotplug", *outcomes)


NODES = """
echo "@nodes $(cat /sys/devices/system/node/online)"
echo "@possible $(cat /sys/devices/system/cpu/possible)"
"""


def has_turns(run):
    return not run.counted and Unseen("no socket has passed its turn")


def has_no_turns(run):
    return run.counted and f"{run.counted} turns"


@step("sockets", ONLY_ALL, LOAD)
@runs_on(DEBIAN_6_12, "sockets")
def sockets():
    """nbq_spin on two emulated sockets: the turn is passed"""
    machine = QemuMachine(DEBIAN_6_12.find(), kind="pc, 2 nodes of 10 CPUs")
    modules = loaded(machine.kernel)
    first, other, usual = (
        Run(f"nbq_spin-{name}", judge, lock="nbq_spin", threads=4, cpus="0-1,10-11",
            patience_ns=patience, cs_ns=2000, ncs_ns=200, duration_ms=ms)
        # Retries keep all of them in the queues; little patience, and enough.
        for name, judge, patience, ms in (("the-turn-is-passed", has_turns, 5000000, 2000),
                                          ("little-patience", None, 20000, 2000),
                                          ("one-queue-has-no-turns", has_no_turns, 5000000, 1000)))
    by_socket = reloaded("sockets=1")
    outcomes = until_seen([first], lambda runs: run_counted(
        machine, runs, 20, modules, "turns_passed", before=by_socket, after=NODES))
    outcomes.append(run_stress(machine, [other], 20, modules, before=by_socket,
                               after=UNLOAD))
    outcomes.append(run_counted(machine, [usual], 20, modules, "turns_passed", after=UNLOAD))
    yield Case("sockets: the guest has two nodes",
               "@nodes 0-1\n" in outcomes[0].output, guest_report(outcomes[0]))
    # More than four queues for each make of those that the machine has at boot.
    yield Case("sockets: the machine has more queues than at boot",
               "@possible 0-19\n" in outcomes[0].output, guest_report(outcomes[0]))
    for run in (first, other, usual):
        yield run_case("sockets", run)
    yield clean_guest("sockets", *outcomes)


@step("tracing", LOAD)
@runs_on(DEBIAN_6_12, "stress")
def tracing():
    """tracepoints: they agree with the counters; disabled, they are no-ops"""
    yield from claim_cases("tracing", cost_claims())
    yield from claim_cases("tracing", traced_claims())
