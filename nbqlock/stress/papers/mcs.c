// SPDX-License-Identifier: GPL-2.0
/*
 * MCS: the queue lock that MCS-NB is based on.
 *
 * Mellor-Crummey and Scott, "Algorithms for Scalable Synchronization on Shared-Memory
 * Multiprocessors", ACM TOCS 9 (1), 1991.
 *
 * Correct as published. A waiter links itself behind its predecessor and spins on its own node.
 * A release without a successor, whose node is not the tail, waits for the link.
 *
 * The tail is the newest node, NULL while the lock is free; holder is not used. A thread keeps
 * its node.
 */
#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/preempt.h>
#include <linux/processor.h>

#include <nbqlock/stress/ops.h>

#include "own_node.h"

struct mcs_node {
	struct mcs_node *next;
	bool must_wait;
} ____cacheline_aligned_in_smp;

static int mcs_enter(struct stress_lock *lock, struct stress_waiter *me)
{
	return own_node_enter(me, sizeof(struct mcs_node));
}

static int mcs_lock(struct stress_lock *lock, struct stress_waiter *me, ktime_t patience)
{
	struct mcs_node *node = me->own;
	struct mcs_node *pred;

	preempt_disable();
	WRITE_ONCE(node->next, NULL);
	/*
	 * Fully ordered. ACQUIRE: with NULL, the last critical section is over; pairs with the
	 * RELEASE swap in mcs_unlock(). RELEASE: the successor stores next after the NULL above.
	 */
	pred = xchg(&lock->queue.tail, node);
	if (!pred)
		return 0;

	WRITE_ONCE(node->must_wait, true);
	/*
	 * RELEASE: the store of false to must_wait comes after that of true. Pairs with the
	 * ACQUIREs of next in mcs_unlock().
	 */
	smp_store_release(&pred->next, node);
	/*
	 * ACQUIRE: the last critical section is over. Pairs with the RELEASE store in
	 * mcs_unlock().
	 */
	while (smp_load_acquire(&node->must_wait))
		cpu_relax();
	return 0;
}

static void mcs_unlock(struct stress_lock *lock, struct stress_waiter *me)
{
	struct mcs_node *node = me->own;
	/*
	 * ACQUIRE, here and below: must_wait of the successor is true. Pairs with the RELEASE in
	 * mcs_lock().
	 */
	struct mcs_node *succ = smp_load_acquire(&node->next);

	if (!succ) {
		/* RELEASE: the critical section is over. Pairs with the swap in mcs_lock(). */
		if (cmpxchg_release(&lock->queue.tail, node, NULL) == node)
			goto out;
		/* ACQUIRE, as above. */
		while (!(succ = smp_load_acquire(&node->next)))
			cpu_relax();
	}
	/*
	 * RELEASE: the critical section is over. Pairs with the ACQUIRE of must_wait in
	 * mcs_lock().
	 */
	smp_store_release(&succ->must_wait, false);
out:
	preempt_enable();
}

const struct stress_ops stress_mcs = {
	.name = "mcs",
	.meaning = "MCS, the queue lock of Mellor-Crummey and Scott",
	.size = sizeof(struct stress_lock),
	.patience = STRESS_WAITS_FOR_EVER,
	.free_after_unlock = true,
	.init = null_tail_init,
	.enter = mcs_enter,
	.lock = mcs_lock,
	.unlock = mcs_unlock,
	.destroy = null_tail_destroy,
	.exit = own_node_exit,
};
