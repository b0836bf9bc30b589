// SPDX-License-Identifier: GPL-2.0
/*
 * MCS-NB in the order of the report, to compare nbqlock's form with.
 *
 * Scott, "Non-Blocking Timeout in Scalable Queue-Based Spin Locks", University of Rochester TR
 * 773, 2002: the code in its appendix, whose page is damaged, and there the prose of its section
 * 2.2.
 *
 * As published, unlike nbqlock's form:
 *	A release and an abandoning waiter publish first (swap AVAILABLE, LEAVING or TRANSIENT
 *	into next) and then try to take their node off the tail. A release thus touches the
 *	lock after the grant: the lock's memory must outlive the holder, and here it outlives
 *	the run.
 *	The clock ends the skipping of abandoned nodes (timeout2). Behind two of them (behind
 *	one, without patience) a free lock may never be acquired, if each attempt's patience
 *	ends before it has reached the front. Each such attempt adds a node.
 *	The nodes in use are not bounded (paper_pool.c says what happens when they run out).
 * That swap of the tail for a node that others may free meanwhile is safe only because a node comes
 * from its own thread's pool, and the thread is busy with the swap. An interrupt on the same pool
 * would break it: interrupts have their own.
 *
 * Not as printed, because print cannot run:
 *	Restored from the prose: the release, which is missing; the reset of the status to
 *	waiting before linking to a new predecessor; the branch for predecessors found LEAVING
 *	or TRANSIENT, with its clock read; the swap of recycled before a TRANSIENT predecessor
 *	is freed.
 *	Left out: a piece of the missing release at the end of timeout2, which swaps the tail
 *	from the aborted waiter to NULL and so lets in a second holder.
 *	Tokens: the tail is the lock's, not the node's; what is tested is succ, not what it
 *	points to.
 *	The clock is read at the first poll and every eighth after it, as in all the locks here.
 *
 * Correct in that form, as far as is known: a model of it, which is not part of this tree, kept
 * mutual exclusion and lost or freed twice no node in all interleavings of three threads with two
 * attempts and two nodes each, whose patience may end at any poll. With the piece that is left
 * out, there were two holders.
 *
 * A node's next: NULL, the successor, or AVAILABLE, LEAVING "no next refers to this node",
 * TRANSIENT "the predecessor's next still refers to this node". Its status is what the predecessor
 * stored, or RECYCLED: the predecessor frees it instead of storing.
 */
#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/preempt.h>
#include <linux/processor.h>

#include <nbqlock/stress/ops.h>

#include "own_node.h"
#include "paper_pool.h"

#define LEAVING		((struct paper_node *)2)
#define TRANSIENT	((struct paper_node *)3)

enum {
	STATUS_WAITING,
	STATUS_AVAILABLE,
	STATUS_LEAVING,
	STATUS_TRANSIENT,
	STATUS_RECYCLED,
};

/*
 * Every swap below is fully ordered: accesses before it, to a node or in the critical section,
 * are seen by the context that finds the value, in another swap or by an ACQUIRE read of the
 * status.
 */

/* Notify the successor; if its node was abandoned and skipped, free it. */
static void notify(struct paper_node *succ, unsigned int status)
{
	if (xchg(&succ->status, status) == STATUS_RECYCLED)
		paper_pool_free(succ);
}

/* Skip an abandoned predecessor. Return: the predecessor in front of it. */
static struct paper_node *skip(struct paper_pool *pool, struct paper_node *pred, bool transient)
{
	struct paper_node *prev = READ_ONCE(pred->prev);

	/* One without a notification yet is freed by its predecessor. */
	if (!transient || xchg(&pred->status, STATUS_RECYCLED) != STATUS_WAITING)
		paper_pool_reclaim(pool, pred);
	return prev;
}

/* Timed out while linked: the paper's timeout1. */
static void abandon(struct stress_queue *queue, struct paper_node *node, struct paper_node *pred)
{
	struct paper_node *succ;

	WRITE_ONCE(node->prev, pred);
	if (cmpxchg(&pred->next, node, NULL) == node) {
		/* The predecessor never saw this node. */
		succ = xchg(&node->next, LEAVING);
		if (succ)
			notify(succ, STATUS_LEAVING);
		else if (cmpxchg(&queue->tail, node, pred) == node)
			paper_pool_free(node);
	} else {
		/* The predecessor is about to notify, so the node must stay. */
		succ = xchg(&node->next, TRANSIENT);
		if (succ)
			notify(succ, STATUS_TRANSIENT);
	}
}

/*
 * Timed out at an abandoned predecessor: the paper's timeout2. Restores the state of a timeout
 * while linked.
 */
static void abandon_unlinked(struct paper_node *node, struct paper_node *pred,
			     struct paper_node *pred_next)
{
	struct paper_node *succ;

	WRITE_ONCE(pred->next, pred_next);
	WRITE_ONCE(node->status, pred_next == LEAVING ? STATUS_LEAVING : STATUS_TRANSIENT);
	WRITE_ONCE(node->prev, pred);
	succ = xchg(&node->next, TRANSIENT);
	if (succ)
		notify(succ, STATUS_TRANSIENT);
}

/*
 * Linked behind a predecessor that waited or held the lock. Return: the status it stored;
 * STATUS_WAITING: the patience is over.
 */
static unsigned int await(struct paper_node *node, struct stress_timer *timer)
{
	unsigned int status;

	while (!stress_timer_is_over(timer)) {
		/* ACQUIRE: what the predecessor did before. Pairs with the swap in notify(). */
		status = smp_load_acquire(&node->status);
		if (status != STATUS_WAITING)
			return status;
		cpu_relax();
	}
	return STATUS_WAITING;
}

/* Wait behind pred, until the grant or the timeout. *skipped counts skipped nodes. */
static int wait_in_queue(struct stress_queue *queue, struct paper_pool *pool,
			 struct paper_node *node, struct paper_node *pred,
			 ktime_t patience, unsigned long *skipped)
{
	struct stress_timer timer = { .patience = patience };
	struct paper_node *pred_next;
	unsigned int status;

	WRITE_ONCE(node->status, STATUS_WAITING);
	while ((pred_next = xchg(&pred->next, node)) != PAPER_AVAILABLE) {
		if (pred_next) {
			if (stress_timer_is_over(&timer)) {
				abandon_unlinked(node, pred, pred_next);
				return -ETIMEDOUT;
			}
			pred = skip(pool, pred, pred_next == TRANSIENT);
			++*skipped;
			continue;
		}
		status = await(node, &timer);
		if (status == STATUS_WAITING) {
			abandon(queue, node, pred);
			return -ETIMEDOUT;
		}
		if (status == STATUS_AVAILABLE)
			break;
		WRITE_ONCE(node->status, STATUS_WAITING);
		pred = skip(pool, pred, status == STATUS_TRANSIENT);
		++*skipped;
	}
	paper_pool_reclaim(pool, pred);
	return 0;
}

static int acquire(struct stress_queue *queue, struct stress_waiter *me, ktime_t patience)
{
	struct paper_pool *pool = me->own;
	struct paper_node *node = paper_pool_alloc(pool);
	struct paper_node *pred;
	unsigned long skipped = 0;
	int ret = 0;

	if (!node)
		return -ENOMEM;
	WRITE_ONCE(node->next, NULL);
	pred = xchg(&queue->tail, node);
	if (pred)
		ret = wait_in_queue(queue, pool, node, pred, patience, &skipped);
	if (!ret)
		WRITE_ONCE(queue->holder, node);
	stress_count_skipped(me, skipped);
	return ret;
}

static int mcs_nb_paper_lock(struct stress_lock *lock, struct stress_waiter *me, ktime_t patience)
{
	int ret;

	preempt_disable();
	ret = acquire(&lock->queue, me, patience);
	if (ret)
		preempt_enable();
	return ret;
}

static void mcs_nb_paper_unlock(struct stress_lock *lock, struct stress_waiter *me)
{
	struct stress_queue *queue = &lock->queue;
	struct paper_node *node = READ_ONCE(queue->holder);
	struct paper_node *succ = xchg(&node->next, PAPER_AVAILABLE);

	if (succ)
		notify(succ, STATUS_AVAILABLE);
	else if (cmpxchg(&queue->tail, node, NULL) == node)
		paper_pool_free(node);
	preempt_enable();
}

/*
 * An idle lock has abandoned nodes, and in front of them one that is available. The paper does
 * not destroy locks.
 */
static int mcs_nb_paper_destroy(struct stress_lock *lock)
{
	struct paper_node *node = lock->queue.tail;

	while (node) {
		struct paper_node *next = node->next;
		struct paper_node *prev = node->prev;

		if (next != PAPER_AVAILABLE && next != LEAVING && next != TRANSIENT)
			return -EBUSY;
		paper_pool_reclaim(node->pool, node);
		node = next == PAPER_AVAILABLE ? NULL : prev;
	}
	return 0;
}

const struct stress_ops stress_mcs_nb_paper = {
	.name = "mcs_nb_paper",
	.meaning = "MCS-NB in the order of TR 773: publish first, then swap the tail",
	.size = sizeof(struct stress_lock),
	.highest = STRESS_NMI,
	.init = null_tail_init,
	.enter = paper_pool_enter,
	.lock = mcs_nb_paper_lock,
	.unlock = mcs_nb_paper_unlock,
	.destroy = mcs_nb_paper_destroy,
	.exit = paper_pool_exit,
};
