// SPDX-License-Identifier: GPL-2.0
/*
 * rqspinlock's operations, thin over the bare hybrid lock.
 *
 * Assumptions
 *	Preemption is off, or the context is an interrupt.
 *	Only these operations access the lock.
 */
#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/time64.h>
#include <asm/rqspinlock.h>
#include <nbqlock/bare_spin.h>

#define PATIENCE_NS	(NSEC_PER_SEC / 4)

/*
 * A lock of zeroes becomes NBQ_SPIN_FIFO before its first acquisition. Each operation comes by
 * here first, and the flag stays: so no other store is made to the state before this one, and
 * a failed swap has found the flag.
 */
static __always_inline void make_fifo(rqspinlock_t *lock)
{
	union nbq_spin_state fifo = { .turn = NBQ_SPIN_FIFO };

	/* Relaxed: the flag orders nothing, and later accesses are to the same word. */
	if (unlikely(READ_ONCE(lock->state.turn) != NBQ_SPIN_FIFO))
		cmpxchg_relaxed(&lock->state.all, 0, fifo.all);
}

int nbq_res_spin_lock(rqspinlock_t *lock)
{
	int ret;

	make_fifo(lock);
	ret = nbq_bare_spin_lock_timeout(lock, PATIENCE_NS);
	/* All nodes of this CPU are in use: the attempt has polled until its patience was over. */
	return unlikely(ret == -ENOMEM) ? -ETIMEDOUT : ret;
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
