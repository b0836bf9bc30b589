// SPDX-License-Identifier: GPL-2.0
/*
 * clh_try: the CLH lock with timeout by handshake, to compare with.
 *
 * Michael L. Scott and William N. Scherer III, "Scalable Queue-Based Spin Locks with Timeout",
 * PPoPP 2001; pseudocode of 16 May 2001.
 *
 * As in every CLH lock, a waiter spins on its predecessor's node. To abandon its place, it first
 * stops its predecessor, then publishes that node for its successor, and lets the predecessor go
 * on once the successor has acknowledged. So it waits for both neighbours, and gets its node back.
 *
 * Assumptions
 *	Task context only. An interrupt that waits in the same queue behind the holder or waiter
 *	of its own CPU would deadlock with it.
 *	Preemption is off from the enqueue to the end of the release or of the handshake.
 *	A thread has one node at a time. At its release it exchanges it for its predecessor's.
 *	The lock begins with a node of its own.
 *
 * States of a node, by status, and the transitions
 *
 *	 enqueue          release
 *	------> WAITING -----------> AVAILABLE: the lock is free. The successor
 *	        |  ^  |              acquires it, and the node at its release.
 *	        |  |  | timeout
 *	        |  |  +------> LEAVING -----------> RECYCLED: the thread has its
 *	        |  |             |      a successor           node back.
 *	        |  |             |      skips it
 *	        v  |             +-- as the tail: the same
 *	     TRANSIENT: the successor times out; this thread may neither
 *	     time out nor release.
 *
 * Correct as published: mutual exclusion, and each thread gets its node back.
 *
 * Reconstructed, since a copy of the pseudocode as text had lost these lines
 *	The closing braces, and so the loop that a "break" ends.
 *	The "continue" of a waiter that has timed out, has found that its predecessor has timed
 *	out as well, and has skipped it: stop_pred() begins again with the next one. Without
 *	that line the waiter goes on as if it had stopped the next one. That one can release or
 *	abandon meanwhile, and be set to WAITING after that: the lock is lost (25 steps).
 *
 * Departures
 *	A waiter polls its predecessor first and reads the clock last, and the clock only if it
 *	must wait, as the other locks under test do.
 */
#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/preempt.h>
#include <linux/processor.h>
#include <linux/slab.h>

#include <nbqlock/stress/ops.h>

#include "own_node.h"

enum {
	WAITING,
	AVAILABLE,
	LEAVING,
	TRANSIENT,
	RECYCLED,
};

/**
 * struct clh_try_node - a queue node
 * @status: one of the above
 * @prev: the predecessor: in a holder, for its release; in a LEAVING node, for its successor
 */
struct clh_try_node {
	int status;
	struct clh_try_node *prev;
} ____cacheline_aligned_in_smp;

/* Return: the predecessor. */
static struct clh_try_node *enqueue(struct stress_queue *queue, struct clh_try_node *node)
{
	WRITE_ONCE(node->status, WAITING);
	/*
	 * Fully ordered: the successor, which gets the node from here, sees it WAITING, not as in
	 * its last life; this waiter sees the predecessor likewise.
	 */
	return xchg(&queue->tail, node);
}

/*
 * Skip a predecessor that is LEAVING. Return: the next one, perhaps still TRANSIENT: the aborted
 * waiter has stopped it and will let it go on.
 */
static struct clh_try_node *skip(struct clh_try_node *pred)
{
	struct clh_try_node *prev = pred->prev;

	/* RELEASE: the read of prev comes before. The node belongs to its thread from now on. */
	smp_store_release(&pred->status, RECYCLED);
	return prev;
}

/*
 * Wait for the lock. Return: true: granted; false: the patience is over. @pred is the predecessor
 * then.
 */
static bool await_lock(struct clh_try_node **pred, struct stress_timer *timer)
{
	for (;;) {
		/*
		 * ACQUIRE: with AVAILABLE, the last critical section is over; with LEAVING, prev
		 * is valid.
		 */
		int status = smp_load_acquire(&(*pred)->status);

		if (status == AVAILABLE)
			return true;
		if (status == LEAVING) {
			*pred = skip(*pred);
			continue;
		}
		if (stress_timer_is_over(timer))
			return false;
		cpu_relax();
	}
}

/* Wait until the successor of a node has gone, if it has timed out. */
static void await_settled(struct clh_try_node *node)
{
	/* ACQUIRE: the accesses of the successor to the node are over. */
	while (smp_load_acquire(&node->status) == TRANSIENT)
		cpu_relax();
}

/*
 * Step 1 of the handshake: stop the predecessor, so that it neither times out nor releases.
 * Return: true: stopped; false: it has released before, the lock is granted. @pred is the
 * predecessor then.
 */
static bool stop_pred(struct clh_try_node **pred)
{
	for (;;) {
		int status;

		/* The successor that it had before may be about to let it go on. */
		await_settled(*pred);
		/*
		 * Fully ordered, as the poll in await_lock(). No other context swaps this: the
		 * result is WAITING or one of those two.
		 */
		status = xchg(&(*pred)->status, TRANSIENT);
		if (status != LEAVING)
			return status == WAITING;
		*pred = skip(*pred);
	}
}

/*
 * Step 2: publish the timeout and the predecessor. The successor may have been first: then it
 * goes first.
 */
static void publish(struct clh_try_node *node, struct clh_try_node *pred)
{
	node->prev = pred;
	/* Fully ordered: prev is valid once LEAVING is seen. */
	while (cmpxchg(&node->status, WAITING, LEAVING) != WAITING)
		await_settled(node);
}

/*
 * Step 3: remove the last pointer to the node: from the tail, or by the successor. Then the
 * predecessor may go on.
 */
static void unlink(struct stress_queue *queue, struct clh_try_node *node,
		   struct clh_try_node *pred)
{
	/* Fully ordered: a waiter that enqueues behind pred sees what this one saw of it. */
	if (cmpxchg(&queue->tail, node, pred) != node) {
		/* ACQUIRE: the successor has read prev, the node is unused. */
		while (smp_load_acquire(&node->status) != RECYCLED)
			cpu_relax();
	}
	/* RELEASE, the last access to pred. Pairs with the ACQUIRE in await_settled(). */
	smp_store_release(&pred->status, WAITING);
}

static void release(struct clh_try_node *node)
{
	/* Fully ordered: the critical section is over once this is seen. */
	while (cmpxchg(&node->status, WAITING, AVAILABLE) != WAITING)
		await_settled(node);
}

static int clh_try_lock(struct stress_lock *lock, struct stress_waiter *me, ktime_t patience)
{
	struct stress_timer timer = { .patience = patience };
	struct clh_try_node *node = me->own;
	struct clh_try_node *pred;

	preempt_disable();
	pred = enqueue(&lock->queue, node);
	if (!await_lock(&pred, &timer) && stop_pred(&pred)) {
		publish(node, pred);
		unlink(&lock->queue, node, pred);
		preempt_enable();
		return -ETIMEDOUT;
	}
	node->prev = pred;
	return 0;
}

static void clh_try_unlock(struct stress_lock *lock, struct stress_waiter *me)
{
	struct clh_try_node *node = me->own;

	/*
	 * Only this thread refers to the predecessor; the own node belongs to the successor now.
	 */
	me->own = node->prev;
	release(node);
	preempt_enable();
}

static int clh_try_init(struct stress_lock *lock, unsigned int index)
{
	struct clh_try_node *node = kzalloc(sizeof(*node), GFP_KERNEL);

	if (!node)
		return -ENOMEM;
	node->status = AVAILABLE;
	lock->queue.tail = node;
	return 0;
}

static int clh_try_enter(struct stress_lock *lock, struct stress_waiter *me)
{
	return own_node_enter(me, sizeof(struct clh_try_node));
}

/* All nodes are distinct: each thread has one, and this is the last. */
static int clh_try_destroy(struct stress_lock *lock)
{
	struct clh_try_node *node = lock->queue.tail;

	if (node->status == WAITING) {
		/* Held: the holder keeps its own node, and would get this one. */
		kfree(node->prev);
		return -EBUSY;
	}
	if (node->status != AVAILABLE)
		return -EBUSY;
	kfree(node);
	return 0;
}

const struct stress_ops stress_clh_try = {
	.name = "clh_try",
	.meaning = "CLH with timeout by handshake, Scott and Scherer 2001",
	.size = sizeof(struct stress_lock),
	.free_after_unlock = true,
	.init = clh_try_init,
	.enter = clh_try_enter,
	.lock = clh_try_lock,
	.unlock = clh_try_unlock,
	.destroy = clh_try_destroy,
	.exit = own_node_exit,
	.count_nodes = first_node_count,
};
