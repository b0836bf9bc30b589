# SPDX-License-Identifier: GPL-2.0
"""Interrupts that contend, threads that move, CPUs that go: what to run, what must
come of it."""

from testbed.shapes import MS, PLAIN
from testbed.driver import OURS, Run
from testbed.stress import Unseen

# Those that an interrupt may contend for, above their holder and waiters.
LOCKS = (*OURS, "raw_trylock", "rqspinlock", "tas_b_try", "clh_nb_paper", "mcs_nb_paper")
INTERRUPTS = ("softirq", "hardirq")
# User-mode Linux has no NMI.
ALL_INTERRUPTS = (*INTERRUPTS, "nmi")
# (CPUs, ns between attempts in an interrupt)
GUESTS = ((2, 100000), (8, 1000000))

# Combinations that a run refuses: the file that its message names, what was written.
REFUSED = (
    ("contexts", {"lock": "raw_spinlock", "contexts": "task,softirq"}),
    ("contexts", {"lock": "clh_try", "contexts": "task,hardirq"}),
    ("contexts", {"lock": "mcs_try", "contexts": "softirq,task"}),
    ("patience_ns", {"lock": "clh_nb", "contexts": "task,softirq", "patience_ns": "max"}),
    ("patience_ns", {"lock": "clh_nb", "contexts": "task,hardirq",
                     "patience_ns": "0-10000001"}),
    ("impatient_ns", {"lock": "clh_nb", "contexts": "task,hardirq",
                      "impatient_permille": 1, "impatient_ns": 10000001}),
    ("free_lock", {"lock": "clh_nb", "contexts": "task,hardirq", "free_lock": 1}),
    ("contexts", {"lock": "raw_spinlock", "contexts": "task,hardirq",
                  "nesting": "shared"}),
    ("shuffle_ms", {"lock": "clh_nb", "cpus": 0, "shuffle_ms": 10}),
    *(("suspend_every_ns", {"lock": "clh_nb", "suspend_every_ns": 10000, **other})
      for other in ({"contexts": "task,softirq"}, {"shuffle_ms": 10}, {"free_lock": 1})))


def disturbed(name, lock, cpus, duration_ms, **disturbance):
    settings = {**PLAIN, "cs_ns": 500, "ncs_ns": 500, "patience_ns": 20000, **disturbance}
    return Run(name, lock=lock, threads=cpus, cpus=f"0-{cpus - 1}",
               duration_ms=duration_ms, **settings)


def interrupted(lock, cpus, interval_ns, duration_ms, interrupts, **others):
    """A run in which these interrupts contend with the threads."""
    return disturbed(f"{lock}-{'-'.join(interrupts)}", lock, cpus, duration_ms,
                     contexts=",".join(("task", *interrupts)), interval_ns=interval_ns,
                     **others)


# How the contexts of a CPU can meet without ever being in each other's way.
LEGITIMATE = ("masked", "own")
CHAIN = 8
ENOUGH = 200			# samples, for what holds for nine of ten


def legitimate(lock, cpus, interval_ns, duration_ms, interrupts, nesting):
    """A run in which no attempt can wait for itself, however deep they nest.

    With locks of their own all contexts of a CPU shall wait at a time, so all wait for
    the first of the chain; else they shall wait with locks in their hands.
    """
    order = "fixed" if nesting == "own" else "ascending"
    if nesting == "masked":		# NMIs cannot be
        interrupts = [context for context in interrupts if context != "nmi"]
    run = interrupted(lock, cpus, interval_ns, duration_ms, interrupts, chain=CHAIN,
                      chain_order=order, nesting=nesting, patience_ns=f"0-{2 * MS}")
    run.name = f"{lock}-{nesting}"
    return run


def above_own_cpu(lock, interrupts, duration_ms, patience_ns=10 * MS):
    """One CPU: its interrupts find the lock held by itself alone."""
    run = interrupted(lock, 1, 100000, duration_ms, interrupts, cs_ns=300000,
                      patience_ns=patience_ns)
    run.name = f"{lock}-above-own-cpu"
    return run


def left_behind(lock, cpus):
    """A run in which CPUs go while their queue nodes stand in queues."""
    run = disturbed(f"{lock}-left-behind", lock, cpus, 2000, hotplug_ms=200,
                    chain=4, patience_ns="0-20000")
    run.settings["threads"] = 2 * cpus
    return run


def reclaims(run):
    """What keeps the nodes of CPUs that went from having been there, and given back."""
    if run.verdict == "PASS" and run.number("nodes_kept"):
        return "queue nodes of a CPU that was away were not given back by others"
    figures = ["hotplugs", "timeouts", "thread_min"]
    # The others leave one only if two leave at the same moment.
    if run.settings["lock"] == "swap_nb":
        figures.append("nodes_left")
    return lacks(run, figures)


def told_at_once(run, interrupts):
    """What keeps each attempt above its own CPU's from having been refused at once."""
    if run.verdict == "PASS" and run.number("timeouts"):
        return "an attempt timed out that could only wait for its own CPU"
    complaint = lacks(run, [f"deadlocks_{context}" for context in interrupts])
    if complaint:
        return complaint
    if run.number("failed_wait_samples") < ENOUGH:
        return Unseen(f"fewer than {ENOUGH} attempts were above their own CPU's")
    # The host takes the CPU away in some attempts, but not in one of ten.
    late = run.number("failed_wait_ns_p90")
    return late > MS and f"one of ten was told after {late / MS:g} ms only"


def moved(cpus):
    """A run in which threads move."""
    return disturbed(f"{OURS[0]}-moved", OURS[0], cpus, 300, shuffle_ms=20)


def moved_alone(cpus):
    """The same with one thread: only its moves bring the lock to another CPU."""
    run = moved(cpus)
    run.name += "-alone"
    run.settings["threads"] = 1
    return run


def lacks(run, figures):
    """What keeps a run from having passed with none of these figures 0, or nothing."""
    if run.verdict != "PASS":
        return run.verdict
    missing = ", ".join(f"no {figure}" for figure in figures if not run.number(figure))
    return missing and Unseen(missing)


def in_contexts(interrupts, *figures, acquires=True):
    """The figures that say that these interrupts have contended, and others."""
    whats = ("attempts", "acquisitions") if acquires else ("attempts",)
    return [*(f"{what}_{context}" for context in interrupts for what in whats), *figures]


def guest_runs(cpus, interval_ns):
    """(run, the figures that must not be 0) for one guest."""
    # With four CPUs a core, an interrupt's patience may end behind CPUs that do not
    # run. Where it has none, a run takes many times as long as it should.
    alone = cpus <= 2
    for lock in LOCKS:
        if alone or lock != "rqspinlock":
            yield (interrupted(lock, cpus, interval_ns, 200 if alone else 100, INTERRUPTS),
                   in_contexts(INTERRUPTS, acquires=alone))
    for lock in OURS:
        for nesting in LEGITIMATE:
            run = legitimate(lock, cpus, interval_ns, 200, INTERRUPTS, nesting)
            yield run, in_contexts(INTERRUPTS, acquires=nesting == "own")
    # There, a thread may also be without the lock for as long as the run takes.
    yield moved(cpus), ("shuffles", "thread_min") if alone else ("shuffles",)
    yield moved_alone(cpus), ("shuffles", "handoffs")
