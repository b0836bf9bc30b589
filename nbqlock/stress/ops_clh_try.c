// SPDX-License-Identifier: GPL-2.0
/*
 * clh_try: the CLH lock with timeout by handshake, to compare with.
 *
 * Michael L. Scott and William N. Scherer III, "Scalable Queue-Based Spin Locks
 * with Timeout", PPoPP 2001; pseudocode of 16 May 2001.
 *
 * As in every CLH lock, a waiter spins on the node in front of it. Who gives up
 * first stops its predecessor, then tells its successor who that is, and lets
 * the predecessor go once the successor has understood. So leaving waits for
 * both neighbours, and a node comes back to the one who left.
 *
 * Assumptions
 *	Task context only. With an interrupt on the CPU of a holder or waiter,
 *	in the same queue behind it, each would wait for the other.
 *	Preemption is off from the join to the end of the release or the leave.
 *	A thread has one node at a time. It gets its predecessor's in exchange
 *	for its own when it releases. The lock begins with one of its own.
 *
 * States of a node, by status, and who moves it
 *
 *	 join             release
 *	------> WAITING -----------> AVAILABLE: the lock is free. The successor
 *	        |  ^  |              takes it, and the node when it releases.
 *	        |  |  | leave
 *	        |  |  +------> LEAVING -----------> RECYCLED: the owner has its
 *	        |  |             |      a successor           node back.
 *	        |  |             |      steps over it
 *	        v  |             +-- as the tail: the same
 *	     TRANSIENT: the successor is leaving; the owner may do neither.
 *
 * Where the printed code is not correct
 *	Once its patience is over, a waiter stops its predecessor, may find
 *	that this one is leaving, and steps over it. Then it has to stop the
 *	next one; the print lacks that "continue" and goes on as if that had
 *	been done. The next one can then release or leave meanwhile, and be
 *	set to WAITING after that: the lock is lost (25 steps). stop_pred()
 *	begins again. With that the algorithm is correct.
 *
 * Reconstructed
 *	The closing braces, and so which loop a "break" ends.
 *
 * Departures
 *	A waiter looks at its predecessor first and at the clock last, and at
 *	the clock only if it has to wait, as the other locks under test do.
 */
#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/preempt.h>
#include <linux/processor.h>
#include <linux/slab.h>

#include "ops.h"
#include "own_node.h"
#include "patience.h"

enum {
	WAITING,
	AVAILABLE,
	LEAVING,
	TRANSIENT,
	RECYCLED,
};

/**
 * struct clh_try_node - a place in the queue
 * @status: one of the above
 * @prev: who stood in front, once the owner holds the lock (for its release)
 *	or is leaving (for its successor)
 */
struct clh_try_node {
	int status;
	struct clh_try_node *prev;
} ____cacheline_aligned_in_smp;

/* Enter the queue. Return: my predecessor. */
static struct clh_try_node *enqueue(struct stress_queue *queue,
				 struct clh_try_node *node)
{
	WRITE_ONCE(node->status, WAITING);
	/*
	 * Fully ordered. My successor, which gets the node from here, sees it
	 * WAITING, not what it was in its last life; I see the predecessor's.
	 */
	return xchg(&queue->tail, node);
}

/*
 * Step over a predecessor that was seen LEAVING. Return: the next one. It may
 * be TRANSIENT still: the leaver has stopped it and will let it go.
 */
static struct clh_try_node *skip(struct clh_try_node *pred)
{
	struct clh_try_node *prev = pred->prev;

	/* After the look at prev: the node is its owner's from now on. */
	smp_store_release(&pred->status, RECYCLED);
	return prev;
}

/*
 * Wait for the lock. Return: true: it is mine; false: the patience is over.
 * @pred is who stands in front of me then.
 */
static bool await_lock(struct clh_try_node **pred, struct stress_timer *timer)
{
	for (;;) {
		/*
		 * AVAILABLE: the last critical section is over in my eyes.
		 * LEAVING: I see the prev that was written before.
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

/* Wait until the successor of a node has left, if it is leaving. */
static void await_settled(struct clh_try_node *node)
{
	/* After this all that the leaver did to the node is done. */
	while (smp_load_acquire(&node->status) == TRANSIENT)
		cpu_relax();
}

/*
 * The first step of leaving: stop the predecessor, so that it neither leaves
 * nor releases. Return: true: it stands; false: it has released before, the
 * lock is mine. @pred is who stands in front of me then.
 */
static bool stop_pred(struct clh_try_node **pred)
{
	for (;;) {
		int status;

		/* Who was behind it before me may be about to let it go. */
		await_settled(*pred);
		/*
		 * Fully ordered, as the look in await_lock(): nobody else
		 * swaps this, so what I find is WAITING or one of those two.
		 */
		status = xchg(&(*pred)->status, TRANSIENT);
		if (status != LEAVING)
			return status == WAITING;
		*pred = skip(*pred);
	}
}

/*
 * The second step: say that I leave, and behind whom. My successor may have
 * come first: it leaves, then I do.
 */
static void publish(struct clh_try_node *node, struct clh_try_node *pred)
{
	node->prev = pred;
	/* Fully ordered: who sees LEAVING sees prev. */
	while (cmpxchg(&node->status, WAITING, LEAVING) != WAITING)
		await_settled(node);
}

/*
 * The third step: have no pointer to the node left. As the tail I take it away
 * myself, else my successor says so. Then the predecessor may go on.
 */
static void unlink(struct stress_queue *queue, struct clh_try_node *node,
		     struct clh_try_node *pred)
{
	/* Fully ordered: who joins behind pred sees what I saw of it. */
	if (cmpxchg(&queue->tail, node, pred) != node) {
		/* The successor has read prev: the node is mine again. */
		while (smp_load_acquire(&node->status) != RECYCLED)
			cpu_relax();
	}
	/* Last, for await_settled(). After it pred may be anybody's. */
	smp_store_release(&pred->status, WAITING);
}

static void release(struct clh_try_node *node)
{
	/* Fully ordered: the critical section is over for who sees this. */
	while (cmpxchg(&node->status, WAITING, AVAILABLE) != WAITING)
		await_settled(node);
}

static int clh_try_lock(union stress_lock *lock, struct stress_waiter *me,
			ktime_t patience)
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

static void clh_try_unlock(union stress_lock *lock, struct stress_waiter *me)
{
	struct clh_try_node *node = me->own;

	/* Nobody knows the predecessor but me; my own goes to the successor. */
	me->own = node->prev;
	release(node);
	preempt_enable();
}

static int clh_try_init(union stress_lock *lock, unsigned int index)
{
	struct clh_try_node *node = kzalloc(sizeof(*node), GFP_KERNEL);

	if (!node)
		return -ENOMEM;
	node->status = AVAILABLE;
	lock->queue.tail = node;
	return 0;
}

static int clh_try_enter(union stress_lock *lock, struct stress_waiter *me)
{
	return own_node_enter(me, sizeof(struct clh_try_node));
}

/* All nodes are different: each thread has one, and this is the last. */
static int clh_try_destroy(union stress_lock *lock)
{
	struct clh_try_node *node = lock->queue.tail;

	if (node->status == WAITING) {
		/* Somebody holds it. It has its own, and would get this. */
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
	.free_after_unlock = true,
	.init = clh_try_init,
	.enter = clh_try_enter,
	.lock = clh_try_lock,
	.unlock = clh_try_unlock,
	.destroy = clh_try_destroy,
	.exit = own_node_exit,
	.count_nodes = first_node_count,
};
