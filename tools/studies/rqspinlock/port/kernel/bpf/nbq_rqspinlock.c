// SPDX-License-Identifier: GPL-2.0
/*
 * rqspinlock's operations, thin over the bare hybrid lock.
 *
 * Assumptions
 *	Preemption is off, or the context is an interrupt.
 *	Only these operations access the lock.
 */
#include <linux/export.h>
#include <linux/time64.h>
#include <asm/rqspinlock.h>
#include <nbqlock/bare_spin.h>

/*
 * Of a waiter wherever it stands. rqspinlock gives each head of a queue half a second, whatever is
 * in front of it before, and its test-and-set form, for virtual CPUs, a second.
 */
#define PATIENCE_NS	NSEC_PER_SEC

int nbq_res_spin_lock(rqspinlock_t *lock)
{
	return nbq_bare_spin_lock_timeout(lock, PATIENCE_NS);
}
EXPORT_SYMBOL_GPL(nbq_res_spin_lock);

void nbq_res_spin_unlock(rqspinlock_t *lock)
{
	nbq_bare_spin_unlock(lock);
}
EXPORT_SYMBOL_GPL(nbq_res_spin_unlock);

/* Return: the CPU of the holder; -1: none. */
int nbq_res_spin_holder(const rqspinlock_t *lock)
{
	u16 holder = READ_ONCE(lock->state.holder);

	return holder ? (holder & ((1U << NBQ_CONTEXT_CPU_BITS) - 1)) - 1 : -1;
}
