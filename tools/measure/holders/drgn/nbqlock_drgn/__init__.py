# SPDX-License-Identifier: GPL-2.0
"""drgn helpers for nbqlock: who holds a lock, who waits for it, and which waits cannot end.

    >>> from nbqlock_drgn import *
    >>> print_nbq_lock(prog["my_lock"])
    >>> print_nbq_locks(prog)

A lock that makes no sense, or memory that a dump lacks, is an NbqLockError.
"""

import functools
from typing import Any, NamedTuple, Optional

import drgn
from drgn import Object

from .dump import Dump, reading
from .locks import LEVELS, QUEUE, SPIN, TYPES, Locks, NbqLockError, times

__all__ = ("NbqDeadlock", "NbqHolder", "NbqLockError", "NbqUse", "NbqWaiter", "nbq_deadlocks",
           "nbq_lock_holder", "nbq_lock_waiters", "nbq_locks", "print_nbq_lock",
           "print_nbq_locks", "spin_lock_holder")

BARE = ("nbq_bare_spin", "spinlock", "raw_spinlock")


class NbqHolder(NamedTuple):
    """task: a struct task_struct *: it runs on that CPU, below an interrupt that holds."""
    cpu: int
    level: str
    task: Any


class NbqWaiter(NamedTuple):
    """position: from 1, in its queue; None: it is in none, or it is not known. abandoned: places
    directly in front of it that attempts have given up. waited_ns: since it enqueued, where that is
    known. patience_ns: what is left; None: without end. polls: so many were in vain; it wraps.
    """
    cpu: int
    level: str
    task: Any
    position: Optional[int]
    abandoned: int
    waited_ns: Optional[int]
    patience_ns: Optional[int]
    polls: int


class NbqUse(NamedTuple):
    """A context that holds a lock, or waits for it. lock: a pointer."""
    cpu: int
    level: str
    task: Any
    holds: bool
    type: str
    lock: Any
    name: str


class NbqDeadlock(NamedTuple):
    """A cycle: each waits for a lock that keeps the next one's CPU, the last for the first's."""
    waits: tuple

    def __str__(self):
        return "; ".join(f"CPU {use.cpu} ({use.level}) waits for {use.name}" for use in self.waits)


def locks_of(prog):
    return Locks(Dump(prog or drgn.get_default_prog()))


def typed(lock, only=None):
    """(address, type) of a lock, or of a pointer to one."""
    with reading("the lock"):
        kind = stripped(lock.type_)
        if kind.kind == drgn.TypeKind.POINTER:
            lock = lock[0]
            kind = stripped(lock.type_)
        tag = getattr(kind, "tag", None)
        if tag in (only or (*TYPES, *BARE)):
            if tag == "spinlock":
                # With PREEMPT_RT it has an owner, and no such member.
                lock = lock.rlock.raw_lock if hasattr(lock, "rlock") else lock
            elif tag == "raw_spinlock":
                lock = lock.raw_lock
            found = tag if tag in TYPES else SPIN
            if found != SPIN or stripped(lock.type_).tag in ("nbq_spin", "nbq_bare_spin"):
                if lock.address_ is None:
                    raise NbqLockError("this is the value of a lock: its address is needed")
                return lock.address_, found
            raise NbqLockError("the spinlocks of this kernel are not those of nbqlock")
    raise NbqLockError(f"{lock.type_.type_name()} is no lock of nbqlock")


def stripped(kind):
    while kind.kind == drgn.TypeKind.TYPEDEF:
        kind = kind.type
    return kind


def nbq_lock_holder(lock):
    """The context that holds a lock, as an NbqHolder; None: it is free, or about to be taken."""
    address, kind = typed(lock)
    locks = locks_of(lock.prog_)
    context = locks.holder(address, kind == SPIN)
    return context and NbqHolder(context.cpu, LEVELS[context.level], locks.dump.task(context.cpu))


def spin_lock_holder(lock):
    """The same of a spinlock_t or raw_spinlock_t, where those are the hybrid."""
    typed(lock, BARE)
    return nbq_lock_holder(lock)


def nbq_lock_waiters(lock):
    """The contexts that wait for a lock, as NbqWaiters, by position."""
    address, kind = typed(lock)
    locks = locks_of(lock.prog_)
    found = []
    for context, position, abandoned in locks.waiters(address, kind):
        wait = locks.waits.get(context)
        if wait and wait.lock != address:
            wait = None		# a nested one, which has published nothing
        waited, patience = times(wait, locks.now) if wait else (None, None)
        found.append(NbqWaiter(context.cpu, LEVELS[context.level], locks.dump.task(context.cpu),
                               position, abandoned, waited, patience, wait.polls if wait else 0))
    return found


def used(locks, context, holds, lock, kind):
    prog = locks.dump.prog
    with reading("the type of a lock"):
        name = {SPIN: "union nbq_bare_spin *", QUEUE: "struct nbq_queue_lock *"}.get(
            kind, f"struct {kind} *")
        return NbqUse(context.cpu, LEVELS[context.level], locks.dump.task(context.cpu), holds,
                      kind, Object(prog, name, value=lock), locks.dump.name(lock))


def nbq_locks(prog=None):
    """The locks that any context holds or waits for, as NbqUses by CPU.

    A hybrid that is held and not waited for is not among them: no other place than itself names it.
    """
    locks = locks_of(prog)
    return [used(locks, *use) for use in locks.uses()]


def nbq_deadlocks(prog=None):
    """The cycles of contexts that wait for one another, as NbqDeadlocks."""
    locks = locks_of(prog)
    return [NbqDeadlock(tuple(used(locks, wait.context, False, wait.lock, locks.kind_of(wait))
                              for wait in cycle)) for cycle in locks.deadlocks()]


def prints_errors(function):
    @functools.wraps(function)
    def call(*arguments):
        try:
            function(*arguments)
        except NbqLockError as error:
            print(f"nbqlock: {error}")
    return call


def task_text(task):
    with reading("a task"):
        return f"{task.comm.string_().decode(errors='replace')} [{task.pid.value_()}]"


def is_idle(holder):
    """Is the CPU of a task that holds idle?"""
    with reading("a task"):
        return holder.level == LEVELS[0] and not holder.task.pid.value_()


def waiter_text(waiter):
    place = "-" if waiter.position is None else str(waiter.position)
    waited = "?" if waiter.waited_ns is None else f"{waiter.waited_ns / 1e9:.3f} s"
    left = "without end" if waiter.patience_ns is None else f"{waiter.patience_ns / 1e9:.3f} s left"
    behind = f", {waiter.abandoned} abandoned" if waiter.abandoned else ""
    return (f"  {place:>3}  CPU {waiter.cpu} ({waiter.level}), {task_text(waiter.task)}: waited "
            f"{waited}, {waiter.polls} polls, {left}{behind}")


@prints_errors
def print_nbq_lock(lock):
    """Print who holds a lock, and who waits for it."""
    address, kind = typed(lock)
    holder, waiters = nbq_lock_holder(lock), nbq_lock_waiters(lock)
    print(f"{kind} {address:#x} {Dump(lock.prog_).name(address)}")
    if holder:
        asleep = ": the holder sleeps, or is the idle task" if is_idle(holder) else ""
        print(f"  held by CPU {holder.cpu} ({holder.level}), {task_text(holder.task)}{asleep}")
    else:
        print("  not held")
    for waiter in waiters:
        print(waiter_text(waiter))


@prints_errors
def print_nbq_locks(prog=None):
    """Print all locks that are held or waited for, by CPU; and the deadlocks."""
    for use in nbq_locks(prog):
        print(f"CPU {use.cpu} ({use.level}), {task_text(use.task)}: "
              f"{'holds' if use.holds else 'waits for'} {use.type} {use.name}")
    for deadlock in nbq_deadlocks(prog):
        print(f"deadlock: {deadlock}")
