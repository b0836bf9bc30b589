# SPDX-License-Identifier: GPL-2.0
"""Interrupts that contend, threads that move, CPUs that go: what to run, what must
come of it. And the soak: locks nested as deep as they may be, for a while, in which no deadlock
is reported."""

import os

from base.common import Failure
from base.driver import OURS
from measure.stress import Unseen
from module.shapes import MS, shaped

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
    ("patience_ns", {"lock": "clh_nb", "suspend_every_ns": 10000, "patience_ns": "max"}),
    *(("stall_ns", {"lock": "raw_trylock", "stall_every": 9, "stall_ns": 10000001,
                    "patience_ns": 1000, **other})
      for other in ({"contexts": "task,softirq"}, {"contexts": "task,hardirq", "nesting": "masked"},
                    {"suspend_every_ns": 10000})),
    ("free_lock", {"lock": "clh_nb", "contexts": "task,hardirq", "free_lock": 1}),
    ("contexts", {"lock": "raw_spinlock", "contexts": "task,hardirq",
                  "nesting": "shared"}),
    ("shuffle_ms", {"lock": "clh_nb", "cpus": 0, "shuffle_ms": 10}),
    *(("suspend_every_ns", {"lock": "clh_nb", "suspend_every_ns": 10000, **other})
      for other in ({"contexts": "task,softirq"}, {"shuffle_ms": 10}, {"free_lock": 1})))


# What must come of a run that has passed, as in shapes.py.

def needs(*figures):
    """That none of these figures is 0."""
    def lacks(run):
        missing = ", ".join(f"no {figure}" for figure in figures if not run.number(figure))
        return missing and Unseen(missing)
    return lacks


def in_contexts(interrupts, *figures, acquires=True):
    """That these interrupts have contended, and other figures."""
    whats = ("attempts", "acquisitions") if acquires else ("attempts",)
    return needs(*(f"{what}_{context}" for context in interrupts for what in whats), *figures)


def at_once(interrupts):
    """That each attempt above its own CPU's was refused at once."""
    def lacks(run):
        if run.number("timeouts"):
            return "an attempt timed out that could only wait for its own CPU"
        complaint = needs(*(f"deadlocks_{context}" for context in interrupts))(run)
        if complaint:
            return complaint
        if run.number("failed_wait_samples") < ENOUGH:
            return Unseen(f"fewer than {ENOUGH} attempts were above their own CPU's")
        # The host takes the CPU away in some attempts, but not in one of ten.
        late = run.number("failed_wait_ns_p90")
        return late > MS and f"one of ten was told after {late / MS:g} ms only"
    return lacks


def goes_unnoticed(run):
    """That its deadlocks were not reported."""
    return "a deadlock was reported" if run.number("deadlocks") else needs("timeouts")(run)


def reclaims(run):
    """That the nodes of CPUs that went were there, and given back."""
    if run.number("nodes_kept"):
        return "queue nodes of a CPU that was away were not given back by others"
    # Other lock types leave one only if two leave at the same moment.
    left = ("nodes_left",) if run.settings["lock"] == "swap_nb" else ()
    return needs("hotplugs", "timeouts", "thread_min", *left)(run)


def has_nodes(run):
    """That a thread on a CPU that came has acquired, with nodes there."""
    return "an attempt got no queue node" if run.number("no_node") else needs("thread_min")(run)


# The runs

def disturbed(name, lock, cpus, duration_ms, judge, **disturbance):
    return shaped(name, lock, judge, duration_ms, cpus, **{"patience_ns": 20000, **disturbance})


def interrupted(lock, cpus, interval_ns, duration_ms, interrupts, judge=None, name=None,
                **others):
    """A run in which these interrupts contend with the threads."""
    return disturbed(f"{lock}-{name or '-'.join(interrupts)}", lock, cpus, duration_ms,
                     judge or in_contexts(interrupts), contexts=",".join(("task", *interrupts)),
                     interval_ns=interval_ns, **others)


# How the contexts of a CPU can meet without ever being in each other's way.
LEGITIMATE = ("masked", "own")
CHAIN = 8
ENOUGH = 200			# samples, for what holds for nine of ten


def legitimate(lock, cpus, interval_ns, duration_ms, interrupts, nesting, judge):
    """A run in which no attempt can wait for itself, however deep they nest.

    With locks of their own all contexts of a CPU shall wait at a time, so all wait for
    the first of the chain; else they shall wait with locks in their hands.
    """
    order = "fixed" if nesting == "own" else "ascending"
    if nesting == "masked":		# NMIs cannot be
        interrupts = [context for context in interrupts if context != "nmi"]
    return interrupted(lock, cpus, interval_ns, duration_ms, interrupts, judge, nesting,
                       chain=CHAIN, chain_order=order, nesting=nesting,
                       patience_ns=f"0-{2 * MS}")


def above_own_cpu(lock, interrupts, duration_ms, judge, patience_ns=10 * MS):
    """One CPU: its interrupts find the lock held by itself alone."""
    return interrupted(lock, 1, 100000, duration_ms, interrupts, judge, "above-own-cpu",
                       cs_ns=300000, patience_ns=patience_ns)


def left_behind(lock, cpus):
    """A run in which CPUs go while their queue nodes stand in queues."""
    return disturbed(f"{lock}-left-behind", lock, cpus, 2000, reclaims, hotplug_ms=200,
                     chain=4, patience_ns="0-20000", threads=2 * cpus)


def moved(cpus, *figures, name="moved", **others):
    """A run in which threads move."""
    return disturbed(f"{OURS[0]}-{name}", OURS[0], cpus, 300, needs("shuffles", *figures),
                     shuffle_ms=20, **others)


def guest_runs(cpus, interval_ns):
    """For one guest."""
    # With four CPUs a core, an interrupt's patience may end behind CPUs that do not
    # run. Where it has none, a run takes many times as long as it should.
    alone = cpus <= 2
    for lock in LOCKS:
        if alone or lock != "rqspinlock":
            yield interrupted(lock, cpus, interval_ns, 200 if alone else 100, INTERRUPTS,
                              in_contexts(INTERRUPTS, acquires=alone))
    for lock in OURS:
        for nesting in LEGITIMATE:
            yield legitimate(lock, cpus, interval_ns, 200, INTERRUPTS, nesting,
                             in_contexts(INTERRUPTS, acquires=nesting == "own"))
    # There, a thread may also be without the lock for as long as the run takes.
    yield moved(cpus, *(("thread_min",) if alone else ()))
    # With one thread only its moves bring the lock to another CPU.
    yield moved(cpus, "handoffs", name="moved-alone", threads=1)


# The soak

SHORT, LONG = 6, 20		# seconds for all runs together
VARIABLE = "NBQ_SOAK_SECONDS"	# another number of them
SOAK_CPUS = 4


def seconds(default):
    text = os.environ.get(VARIABLE, str(default))
    if not text.isdigit():
        raise Failure(f"{VARIABLE}={text} is not a number of seconds")
    return int(text)


def soak_runs(default):
    """For a guest of SOAK_CPUS CPUs, in so many seconds."""
    duration_ms = max(200, seconds(default) * 1000 // (len(OURS) * (1 + len(LEGITIMATE))))
    for lock in OURS:
        # Two threads to a CPU that take some of many locks in the same order.
        yield disturbed(f"{lock}-ordered", lock, SOAK_CPUS, duration_ms,
                        needs("acquisitions", "timeouts", "shuffles"), threads=2 * SOAK_CPUS,
                        chain=CHAIN, chain_order="ascending", patience_ns=f"0-{20 * MS}",
                        retry="back_off", shuffle_ms=50)
        for nesting in LEGITIMATE:
            yield legitimate(lock, SOAK_CPUS, 300000, duration_ms, INTERRUPTS, nesting,
                             in_contexts(INTERRUPTS, "timeouts"))
