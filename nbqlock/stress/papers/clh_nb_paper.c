// SPDX-License-Identifier: GPL-2.0
/*
 * CLH-NB as printed, to compare nbqlock's form with.
 *
 * Scott, "Non-Blocking Timeout in Scalable Queue-Based Spin Locks", PODC 2002, appendix;
 * University of Rochester TR 773.
 *
 * Correct as published: mutual exclusion, and no lost node. Its limits:
 *	The clock ends the skipping of abandoned nodes. Behind two of them (behind one, without
 *	patience) a free lock may never be acquired, if each attempt's patience ends before it
 *	has reached the front.
 *	The nodes in use are not bounded (paper_pool.c says what happens when they run out).
 * No waiter waits for an aborted one, so it is safe in interrupts with a pool of their own.
 *
 * Unlike in print, the clock is read at the first poll and at every eighth after it, as in all the
 * locks here; so each clock read is followed by up to eight steps.
 *
 * A node's prev: NULL "waiting or holding", PAPER_AVAILABLE "granted", a node "abandoned, and this
 * is its predecessor".
 */
#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/preempt.h>
#include <linux/processor.h>

#include <nbqlock/stress/ops.h>

#include "own_node.h"
#include "paper_pool.h"

static struct paper_node *poll(const struct paper_node *pred)
{
	/*
	 * ACQUIRE: what came before the store of prev. Pairs with the RELEASE stores in abandon()
	 * and clh_nb_paper_unlock().
	 */
	return smp_load_acquire(&pred->prev);
}

/* Timed out: take the own node off the tail, or abandon it. */
static void abandon(struct stress_queue *queue, struct paper_node *node, struct paper_node *pred)
{
	/* RELEASE: accesses to pred come before. Pairs with the swap in acquire(). */
	if (cmpxchg_release(&queue->tail, node, pred) == node)
		paper_pool_free(node);
	else
		/* RELEASE: all before it. Pairs with the ACQUIRE in poll(). */
		smp_store_release(&node->prev, pred);
}

/* Wait behind pred; when the patience is over, abandon the place. */
static int wait_behind(struct stress_queue *queue, struct stress_waiter *me,
		       struct paper_node *node, struct paper_node *pred, ktime_t patience)
{
	struct stress_timer timer = { .patience = patience };
	struct paper_node *prev = poll(pred);
	unsigned long skipped = 0;
	int ret = 0;

	while (prev != PAPER_AVAILABLE) {
		if (stress_timer_is_over(&timer)) {
			abandon(queue, node, pred);
			ret = -ETIMEDOUT;
			break;
		}
		prev = poll(pred);
		if (!prev) {
			cpu_relax();
		} else if (prev != PAPER_AVAILABLE) {
			paper_pool_reclaim(me->own, pred);
			pred = prev;
			skipped++;
		}
	}
	if (!ret)
		paper_pool_reclaim(me->own, pred);
	stress_count_skipped(me, skipped);
	return ret;
}

static int acquire(struct stress_queue *queue, struct stress_waiter *me, ktime_t patience)
{
	struct paper_node *node = paper_pool_alloc(me->own);
	struct paper_node *pred;
	int ret = 0;

	if (!node)
		return -ENOMEM;
	/* Marked: a waiter behind its last life may still poll it. */
	WRITE_ONCE(node->prev, NULL);
	/*
	 * Fully ordered. ACQUIRE: with NULL, the last critical section is over; pairs with the
	 * RELEASE swap in clh_nb_paper_unlock(). RELEASE: the successor sees the NULL above, or
	 * later; pairs with the ACQUIRE in poll().
	 */
	pred = xchg(&queue->tail, node);
	if (pred)
		ret = wait_behind(queue, me, node, pred, patience);
	else
		stress_count_skipped(me, 0);
	if (!ret)
		WRITE_ONCE(queue->holder, node);
	return ret;
}

static int clh_nb_paper_lock(struct stress_lock *lock, struct stress_waiter *me, ktime_t patience)
{
	int ret;

	preempt_disable();
	ret = acquire(&lock->queue, me, patience);
	if (ret)
		preempt_enable();
	return ret;
}

static void clh_nb_paper_unlock(struct stress_lock *lock, struct stress_waiter *me)
{
	struct stress_queue *queue = &lock->queue;
	struct paper_node *node = READ_ONCE(queue->holder);

	/* RELEASE: the critical section is over. Pairs with the swap in acquire(). */
	if (cmpxchg_release(&queue->tail, node, NULL) == node)
		paper_pool_free(node);
	else
		/* RELEASE: all before it. Pairs with the ACQUIRE in poll(). */
		smp_store_release(&node->prev, PAPER_AVAILABLE);
	preempt_enable();
}

/*
 * An idle lock has abandoned nodes, and in front of them one that is available. The paper does
 * not destroy locks.
 */
static int clh_nb_paper_destroy(struct stress_lock *lock)
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

const struct stress_ops stress_clh_nb_paper = {
	.name = "clh_nb_paper",
	.meaning = "CLH-NB as printed: the clock ends the skipping of abandoned nodes",
	.size = sizeof(struct stress_lock),
	.highest = STRESS_NMI,
	.init = null_tail_init,
	.enter = paper_pool_enter,
	.lock = clh_nb_paper_lock,
	.unlock = clh_nb_paper_unlock,
	.destroy = clh_nb_paper_destroy,
	.exit = paper_pool_exit,
};
