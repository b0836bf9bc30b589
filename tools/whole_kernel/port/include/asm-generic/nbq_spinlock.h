/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Spinlocks of an architecture by the bare layer of nbqlock.
 *
 * As with qspinlock, a release and an acquisition are RCsc where atomics are: the acquisition is
 * a compare-and-swap.
 */
#ifndef __ASM_GENERIC_NBQ_SPINLOCK_H
#define __ASM_GENERIC_NBQ_SPINLOCK_H

#include <asm-generic/nbq_spinlock_types.h>
#include <nbqlock/bare_spin.h>

static __always_inline void arch_spin_lock(arch_spinlock_t *lock)
{
	nbq_bare_spin_lock(lock);
}

static __always_inline int arch_spin_trylock(arch_spinlock_t *lock)
{
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

/* A free lock in which a request for a handoff stands counts as locked. */
static __always_inline int arch_spin_value_unlocked(arch_spinlock_t lock)
{
	return !lock.all;
}

#endif
