/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The bare layer: the hybrid for locks of the kernel itself, such as an architecture's spinlock.
 * The operations of spin.h use it, too.
 *
 * The caller has preemption off, or is an interrupt, until the unlock. The layer does not call
 * lockdep, prints nothing, and does not order writes to devices (mmiowb). It is not exported, but
 * for code that is built in. A lock works from the first instruction of the boot CPU on, in each
 * context that spin.h allows. A task takes part in deadlock checks while it has preemption off
 * more than once, as while it holds two of the kernel's spinlocks.
 *
 * Zeroed memory is a free lock. It may become anything else when no context uses the lock: nodes
 * that attempts have abandoned are in tables, and name the lock only by its address.
 */
#ifndef _NBQLOCK_BARE_SPIN_H
#define _NBQLOCK_BARE_SPIN_H

#include <asm/barrier.h>
#include <linux/compiler.h>
#include <linux/types.h>

#include "bare_spin_types.h"

/**
 * nbq_bare_spin_lock_timeout() - Acquire a bare lock, or give up.
 * @lock: the lock
 * @patience_ns: how long to wait, in ns; 0 or less: do not
 *
 * Context: Any, preemption off.
 * Return: 0, or the errors of nbq_spin_lock_timeout().
 */
int __must_check nbq_bare_spin_lock_timeout(union nbq_bare_spin *lock, s64 patience_ns);

/**
 * typedef nbq_stop_t - A condition that ends a wait.
 * @arg: as given with it
 *
 * It is short, does not sleep, and acquires no lock.
 *
 * Context: Of the waiter, NMI included, preemption off.
 * Return: true if it holds.
 */
typedef bool (*nbq_stop_t)(void *arg);

/**
 * nbq_bare_spin_lock_unless() - Acquire a bare lock, unless a condition comes true.
 * @lock: the lock
 * @patience_ns: how long to wait, in ns; 0 or less: do not; %KTIME_MAX: without end
 * @stop: the condition
 * @arg: for @stop
 *
 * Context: Any, preemption off.
 * Return: 0, or the errors of nbq_spin_lock_unless().
 */
int __must_check nbq_bare_spin_lock_unless(union nbq_bare_spin *lock, s64 patience_ns,
					   nbq_stop_t stop, void *arg);

/**
 * nbq_bare_spin_trylock() - Acquire a bare lock, or fail at once.
 * @lock: the lock
 *
 * Context: Any, preemption off.
 * Return: true if the lock was acquired.
 */
bool __must_check nbq_bare_spin_trylock(union nbq_bare_spin *lock);

/**
 * nbq_bare_spin_lock() - Acquire a bare lock.
 * @lock: the lock
 *
 * A deadlock does not end the wait; it is counted.
 *
 * Context: Any, preemption off.
 */
void nbq_bare_spin_lock(union nbq_bare_spin *lock);

/**
 * nbq_bare_spin_unlock() - Release a bare lock.
 * @lock: the lock; held by this context
 *
 * Context: That which acquired it.
 */
static __always_inline void nbq_bare_spin_unlock(union nbq_bare_spin *lock)
{
	/*
	 * RELEASE, pairs with the ACQUIREs that take the lock: the critical section is over
	 * for the context that finds the lock free.
	 */
	smp_store_release(&lock->state.holder, 0);
}

/**
 * nbq_bare_spin_takeover() - Take a bare lock from a holder that has stopped for good.
 * @lock: the lock
 * @cpu: the holder's CPU
 * @level: the holder's context level, an enum nbq_level
 *
 * The contract is that of nbq_spin_takeover().
 *
 * Context: Any, preemption off.
 * Return: true if the lock was taken; false if that context does not hold it.
 */
bool __must_check nbq_bare_spin_takeover(union nbq_bare_spin *lock, unsigned int cpu,
					 unsigned int level);

/**
 * nbq_bare_spin_is_locked() - Is a bare lock held?
 * @lock: the lock
 *
 * Context: Any.
 * Return: true if it was held at some moment of the call.
 */
static inline bool nbq_bare_spin_is_locked(const union nbq_bare_spin *lock)
{
	return READ_ONCE(lock->state.holder);
}

/**
 * nbq_bare_spin_is_contended() - Does a context wait for a bare lock?
 * @lock: the lock
 *
 * A hint, as nbq_spin_is_contended().
 *
 * Context: Any.
 * Return: true if the lock is held, and a waiter for it is at the end of a queue.
 */
bool nbq_bare_spin_is_contended(const union nbq_bare_spin *lock);

#endif
