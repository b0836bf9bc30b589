// SPDX-License-Identifier: GPL-2.0
/*
 * CLH-NB as printed, to measure nbqlock's form of it against.
 *
 * Scott, "Non-Blocking Timeout in Scalable Queue-Based Spin Locks", PODC 2002,
 * appendix; University of Rochester TR 773.
 *
 * Correct as published: it excludes, and loses no node. What it does not do:
 *	The clock ends the walk over nodes that others have left. Behind two
 *	of them (behind one, for those without patience) a lock can be free
 *	and yet not taken, for ever, if every attempt's patience ends before
 *	it has walked to the front.
 *	The nodes in use are not bounded (see paper_pool.c for what happens
 *	when they run out).
 * Nobody waits for a leaver, so it is safe in interrupts that have a pool of
 * their own (see there).
 *
 * Other than in print, the clock is read at the first look at a predecessor
 * that does not hand the lock over and at every eighth after it, as in all the
 * locks here; so each look at the clock is followed by up to eight steps.
 *
 * A node's prev: NULL "I wait or hold", PAPER_AVAILABLE "the lock is yours", a
 * node "I have left, this one stood in front of me".
 */
#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/preempt.h>
#include <linux/processor.h>

#include "ops.h"
#include "paper_pool.h"
#include "patience.h"

static int clh_nb_paper_init(union stress_lock *lock, unsigned int index)
{
	lock->queue.tail = NULL;
	lock->queue.holder = NULL;
	return 0;
}

static int clh_nb_paper_enter(union stress_lock *lock, struct stress_waiter *me)
{
	return paper_pool_enter(me);
}

static struct paper_node *poll(const struct paper_node *pred)
{
	/*
	 * ACQUIRE, pairs with the RELEASE stores of prev in abandon() and
	 * clh_nb_paper_unlock().
	 */
	return smp_load_acquire(&pred->prev);
}

/* Timed out; reclaim or abandon own node. */
static void abandon(struct stress_queue *queue, struct paper_node *node,
		  struct paper_node *pred)
{
	/* RELEASE, pairs with the swap in acquire(): pred is as I saw it. */
	if (cmpxchg_release(&queue->tail, node, pred) == node)
		paper_pool_free(node);
	else
		/* RELEASE, pairs with the ACQUIRE in poll(). */
		smp_store_release(&node->prev, pred);
}

static int acquire(struct stress_queue *queue, struct stress_waiter *me,
		   ktime_t patience)
{
	struct stress_timer timer = { .patience = patience };
	struct paper_pool *pool = me->own;
	struct paper_node *node = paper_pool_alloc(pool);
	struct paper_node *pred, *prev;
	unsigned long skipped = 0;

	if (!node)
		return -ENOMEM;
	/* Marked: one that waited behind its last life may still be looking. */
	WRITE_ONCE(node->prev, NULL);
	/*
	 * Fully ordered. ACQUIRE, pairs with the RELEASE swap in
	 * clh_nb_paper_unlock() when it reads NULL. RELEASE, pairs with the
	 * ACQUIRE in poll(): my successor sees the NULL above, or later.
	 */
	pred = xchg(&queue->tail, node);
	if (!pred)
		goto acquired;

	prev = poll(pred);
	while (prev != PAPER_AVAILABLE) {
		if (stress_timer_is_over(&timer)) {
			abandon(queue, node, pred);
			stress_count_skipped(me, skipped);
			return -ETIMEDOUT;
		}
		prev = poll(pred);
		if (!prev) {
			cpu_relax();
		} else if (prev != PAPER_AVAILABLE) {
			paper_pool_reclaim(pool, pred);
			pred = prev;
			skipped++;
		}
	}
	paper_pool_reclaim(pool, pred);
acquired:
	WRITE_ONCE(queue->holder, node);
	stress_count_skipped(me, skipped);
	return 0;
}

static int clh_nb_paper_lock(union stress_lock *lock, struct stress_waiter *me,
			     ktime_t patience)
{
	int ret;

	preempt_disable();
	ret = acquire(&lock->queue, me, patience);
	if (ret)
		preempt_enable();
	return ret;
}

static void clh_nb_paper_unlock(union stress_lock *lock,
				struct stress_waiter *me)
{
	struct stress_queue *queue = &lock->queue;
	struct paper_node *node = READ_ONCE(queue->holder);

	/* RELEASE, pairs with the swap in acquire() that reads the NULL. */
	if (cmpxchg_release(&queue->tail, node, NULL) == node)
		paper_pool_free(node);
	else
		/* RELEASE, pairs with the ACQUIRE in poll(). */
		smp_store_release(&node->prev, PAPER_AVAILABLE);
	preempt_enable();
}

/*
 * What stands in an idle lock: leavers, and in front of them one that is
 * available. The paper does not destroy locks.
 */
static int clh_nb_paper_destroy(union stress_lock *lock)
{
	struct paper_node *node = lock->queue.tail;

	while (node && node != PAPER_AVAILABLE) {
		struct paper_node *prev = node->prev;

		if (!prev)
			return -EBUSY;
		paper_pool_reclaim(node->pool, node);
		node = prev;
	}
	return 0;
}

static void clh_nb_paper_exit(union stress_lock *lock, struct stress_waiter *me)
{
	paper_pool_exit(me);
}

const struct stress_ops stress_clh_nb_paper = {
	.name = "clh_nb_paper",
	.meaning = "CLH-NB as printed: the clock ends the skipping of abandoned nodes",
	.highest = CONTEXT_NMI,
	.init = clh_nb_paper_init,
	.enter = clh_nb_paper_enter,
	.lock = clh_nb_paper_lock,
	.unlock = clh_nb_paper_unlock,
	.destroy = clh_nb_paper_destroy,
	.exit = clh_nb_paper_exit,
};
