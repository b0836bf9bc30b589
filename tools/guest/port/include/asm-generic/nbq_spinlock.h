/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Spinlocks of an architecture by the bare layer of nbqlock.
 *
 * As with qspinlock, a release and an acquisition are RCsc where atomics are: the acquisition is
 * a compare-and-swap.
 */
#ifndef __ASM_GENERIC_NBQ_SPINLOCK_H
#define __ASM_GENERIC_NBQ_SPINLOCK_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/preempt.h>
#include <linux/smp.h>

#include <asm-generic/nbq_spinlock_types.h>
#include <nbqlock/bare_spin.h>

/*
 * Take a lock in which nothing stands, as a task: its number is that of its CPU, from 1. To find
 * out the level of another context takes as long as a function call.
 */
static __always_inline bool nbq_spinlock_take(arch_spinlock_t *lock)
{
	u32 nothing = 0;

	if (unlikely(preempt_count() & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET)))
		return false;
	/*
	 * ACQUIRE, pairs with the RELEASE in nbq_bare_spin_unlock(): the critical section before is
	 * over for the context that finds the lock free.
	 */
	return likely(try_cmpxchg_acquire(&lock->all, &nothing, raw_smp_processor_id() + 1));
}

static __always_inline void arch_spin_lock(arch_spinlock_t *lock)
{
	if (!nbq_spinlock_take(lock))
		nbq_bare_spin_lock(lock);
}

static __always_inline int arch_spin_trylock(arch_spinlock_t *lock)
{
	/* Read first: an attempt that fails leaves the line shared. */
	if (likely(!READ_ONCE(lock->all)) && nbq_spinlock_take(lock))
		return true;
	return nbq_bare_spin_trylock(lock);
}

static __always_inline void arch_spin_unlock(arch_spinlock_t *lock)
{
	nbq_bare_spin_unlock(lock);
}

static __always_inline int arch_spin_is_locked(arch_spinlock_t *lock)
{
	return nbq_bare_spin_is_locked(lock);
}

static __always_inline int arch_spin_is_contended(arch_spinlock_t *lock)
{
	return nbq_bare_spin_is_contended(lock);
}

#define arch_spin_is_contended arch_spin_is_contended

/* A free lock in which a request for a handoff stands counts as locked: lockref acquires it. */
static __always_inline int arch_spin_value_unlocked(arch_spinlock_t lock)
{
	return !lock.all;
}

#endif
