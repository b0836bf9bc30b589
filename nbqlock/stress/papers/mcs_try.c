// SPDX-License-Identifier: GPL-2.0
/*
 * mcs_try: the MCS lock with timeout by handshake, to compare with.
 *
 * Michael L. Scott and William N. Scherer III, "Scalable Queue-Based Spin Locks with Timeout",
 * PPoPP 2001; pseudocode of 16 May 2001.
 *
 * As in every MCS lock, a waiter spins on its own node; the queue is linked both ways. After a
 * timeout a waiter unlinks its node from a doubly linked list in which its neighbours may be doing
 * the same. The predecessor has precedence.
 *
 * Assumptions
 *	Task context only. An interrupt that waits in the same queue behind the holder or waiter
 *	of its own CPU would deadlock with it.
 *	Preemption is off from the enqueue to the end of the release or of the handshake.
 *	The caller has a node, which no context touches once it is out of the queue.
 *
 * States of a node, by its two links. A link is a node, one of the words below, or either with a
 * tag. An aborted neighbour is one that has timed out and is being unlinked.
 *
 *	prev	UNKNOWN		the predecessor is not known yet
 *		node		the predecessor; this waiter spins
 *		LEAVING_OTHER	the predecessor is aborted, and will name the next one
 *		LEAVING_SELF	this waiter is aborted
 *		node|RESTORED	the predecessor was aborted, but was granted the lock
 *		node|GRANTED	the lock is granted by that node
 *
 *	next	NIL		no successor yet
 *		node		the successor
 *		LEAVING_OTHER	the successor is aborted, and the next one will link itself
 *		TRANSIENT	the successor is aborted, was the tail, and restores the tail
 *		node|TRANSIENT	meanwhile that node has enqueued
 *		GONE		the successor was the tail and is unlinked
 *		LEAVING_SELF	this waiter is aborted
 *		GRANTED		the lock is being granted; NIL is the answer
 *
 * Where the printed code is not correct
 *	An aborted X that was the tail sets next of its predecessor P to TRANSIENT, swaps the tail
 *	from X to P, and then P->next to GONE. If Y enqueues before that last swap, it finds the
 *	tag, sets Y|TRANSIENT, and waits for X. In print, X takes the tag off P->next, and then
 *	swaps Y->prev from UNKNOWN to NIL. In between P, which only the tag stopped, can grant
 *	the lock to Y; Y releases, and enqueues again with the same node. Its prev is UNKNOWN
 *	once more: X's late swap succeeds in the middle of another attempt, which then follows a
 *	null pointer, and X writes to memory that may have been freed (33 steps, three contexts).
 *
 *	Here the order is reversed: X only stores the predecessor to Y (abandon_tail() and the end
 *	of abandon()); Y, which waits for that, takes the tag off P->next
 *	(link_behind_leaving()). Y stays until X has stored, and P touches neither while the tag
 *	is there. The store to Y->prev is X's last access. This takes two swaps less than in
 *	print; P, which waited for X, waits for one more store, of Y.
 *
 * Reconstructed
 *	The closing braces; the "break" at the end of the loop over steps 3 and 4 and wherever the
 *	lock was granted; RELINK and "continue" after each wait for a new predecessor in step 3
 *	or 4, without which an aborted waiter goes on with a predecessor that does not know it;
 *	RELINK before step 4 if the predecessor is a new one.
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

#include <nbqlock/stress/ops.h>

#include "own_node.h"

/* Words in place of a node. */
#define NIL		0x0UL
#define LEAVING_SELF	0x4UL
#define LEAVING_OTHER	0x8UL
#define GONE		0xcUL
#define LAST_WORD	0x10UL

/* Tags: of prev, of next, of both. */
#define RESTORED	0x1UL
#define TRANSIENT	0x1UL
#define GRANTED		0x2UL

/* In prev: NIL with a tag. */
#define UNKNOWN		RESTORED

/**
 * struct mcs_try_node - a queue node
 * @prev: the link to the predecessor; its waiter spins on it
 * @next: the link to the successor
 */
struct mcs_try_node {
	unsigned long prev;
	unsigned long next;
} ____cacheline_aligned_in_smp;

/**
 * struct attempt - what a waiter knows
 * @queue: the lock
 * @node: its own node
 * @pred: the last known predecessor
 * @succ: when aborted: the successor; NULL: none, as it seemed
 */
struct attempt {
	struct stress_queue *queue;
	struct mcs_try_node *node;
	struct mcs_try_node *pred;
	struct mcs_try_node *succ;
};

static unsigned long to_link(const struct mcs_try_node *node)
{
	return (unsigned long)node;
}

static struct mcs_try_node *to_node(unsigned long link)
{
	return (struct mcs_try_node *)(link & ~(TRANSIENT | GRANTED));
}

/* True for a node, perhaps RESTORED; not for a word, nor with GRANTED. */
static bool is_node(unsigned long link)
{
	return !(link & GRANTED) && link > LAST_WORD;
}

/*
 * Spin until a link of the own node is neither of two values.
 *
 * Return: the new value.
 */
static unsigned long await_neither(unsigned long *link, unsigned long this, unsigned long that)
{
	for (;;) {
		/* ACQUIRE: what came before the swap or RELEASE store of the value. */
		unsigned long now = smp_load_acquire(link);

		if (now != this && now != that)
			return now;
		cpu_relax();
	}
}

static unsigned long await_change(unsigned long *link, unsigned long from)
{
	return await_neither(link, from, from);
}

/*
 * The predecessor is a new one, or the same RESTORED: link to a new one; step 6, by the successor
 * of the aborted waiter.
 */
static void relink(struct attempt *a, unsigned long prev)
{
	while (is_node(prev)) {
		if (prev & RESTORED) {
			/* Take off the tag, unless the link has changed again. */
			cmpxchg(&a->node->prev, prev, prev & ~RESTORED);
			return;
		}
		a->pred = to_node(prev);
		/* Fully ordered: pred sees the node as it was left. */
		if (xchg(&a->pred->next, to_link(a->node)) != LEAVING_SELF)
			return;
		/* Aborted too: it will find this node and notify it (step 2). */
		prev = await_change(&a->node->prev, prev);
	}
}

/* Return: true: the lock was free, and is acquired. */
static bool enqueue(struct attempt *a)
{
	WRITE_ONCE(a->node->next, NIL);
	/*
	 * Fully ordered: the successor sees next as it is here, this waiter that of pred. With
	 * NULL, the last critical section is over.
	 */
	a->pred = xchg(&a->queue->tail, a->node);
	return !a->pred;
}

/*
 * The former successor of pred is aborted and has swapped the tail: it will store the
 * predecessor. Then the tag is to be taken off here, see the top of this file.
 */
static void link_behind_leaving(struct attempt *a)
{
	await_change(&a->node->prev, UNKNOWN);
	/* RELEASE: the store to prev comes before. From now on pred may write it. */
	smp_store_release(&a->pred->next, to_link(a->node));
}

/* Link to the predecessor that the tail named. */
static void link_to_pred(struct attempt *a)
{
	unsigned long next, pool = to_link(a->node);

	WRITE_ONCE(a->node->prev, UNKNOWN);
	/* Fully ordered: pred sees prev once it sees the node. The tag stays. */
	do {
		next = READ_ONCE(a->pred->next);
	} while (cmpxchg(&a->pred->next, next, pool | (next & TRANSIENT)) != next);

	if (next & TRANSIENT)
		link_behind_leaving(a);
	else if (next == LEAVING_SELF)
		/* Aborted: it will store its predecessor. */
		relink(a, await_change(&a->node->prev, UNKNOWN));
	else
		/* Unless pred has stored something else meanwhile. */
		cmpxchg(&a->node->prev, UNKNOWN, to_link(a->pred));
}

/* Return: prev with GRANTED; NIL: the patience is over. */
static unsigned long await_lock(struct attempt *a, struct stress_timer *timer)
{
	for (;;) {
		/*
		 * ACQUIRE: with GRANTED, the last critical section is over; else the node that it
		 * names is valid.
		 */
		unsigned long prev = smp_load_acquire(&a->node->prev);

		if (prev == to_link(a->pred)) {
			if (stress_timer_is_over(timer))
				return NIL;
			cpu_relax();
			continue;
		}
		if (prev == LEAVING_OTHER)
			prev = await_change(&a->node->prev, LEAVING_OTHER);
		if (prev & GRANTED)
			return prev;
		relink(a, prev);
	}
}

/* Granted: acknowledge to the predecessor, which waits for that. */
static void acknowledge(unsigned long granted)
{
	/* RELEASE: the last access to its node. */
	smp_store_release(&to_node(granted)->next, NIL);
}

/* Step 1 after a timeout: find the successor, and close next for newcomers. */
static void find_succ(struct attempt *a)
{
	unsigned long *my_next = &a->node->next;

	for (;;) {
		unsigned long next = READ_ONCE(*my_next);

		/* Fully ordered: the successor's node is valid. */
		if ((next & TRANSIENT) || cmpxchg(my_next, next, LEAVING_SELF) != next) {
			cpu_relax();
			continue;
		}
		if (next != LEAVING_OTHER) {
			a->succ = is_node(next) ? to_node(next) : NULL;
			return;
		}
		/* Unlinked; its successor will link itself. */
		await_change(my_next, LEAVING_SELF);
	}
}

/* Step 2: notify the successor. The predecessor has precedence. */
static void notify_succ(struct attempt *a)
{
	/* Fully ordered against step 4 of the successor. */
	if (xchg(&a->succ->prev, LEAVING_OTHER) != LEAVING_SELF)
		return;
	/*
	 * It was aborted before. It fails in its step 4, where it finds LEAVING_SELF, stores its
	 * node into next here, and waits.
	 */
	while (smp_load_acquire(&a->node->next) != to_link(a->succ))
		cpu_relax();
}

/*
 * Steps 3 and 4: close prev, notify the predecessor. If that is aborted as well, wait for the next
 * one, and again.
 *
 * Return: prev with GRANTED: the lock is granted after all; NIL: pred stays and does not touch the
 * node any more.
 */
static unsigned long notify_pred(struct attempt *a)
{
	unsigned long *my_prev = &a->node->prev;

	for (;;) {
		/* Fully ordered against steps 1 and 2 of the predecessor. */
		unsigned long next, prev = xchg(my_prev, LEAVING_SELF);

		if (prev & GRANTED)
			return prev;
		if (prev != LEAVING_OTHER) {
			/*
			 * A new predecessor must see the node before the timeout: else it may
			 * take the LEAVING_OTHER of the node in between for this one.
			 */
			if (prev != to_link(a->pred))
				relink(a, prev);
			next = xchg(&a->pred->next, a->succ ? LEAVING_OTHER : TRANSIENT);
			if (next & GRANTED)
				return await_change(my_prev, LEAVING_SELF);
			if (next != LEAVING_SELF)
				return NIL;
			/* It was first, and waits for this store. */
			smp_store_release(&a->pred->next, to_link(a->node));
		}
		prev = await_neither(my_prev, LEAVING_SELF, LEAVING_OTHER);
		if (prev & GRANTED)
			return prev;
		relink(a, prev);
	}
}

/*
 * Step 5, without a successor: move the tail back. A waiter that has enqueued before that, behind
 * this node, or after it, behind pred, waits for a store.
 */
static void abandon_tail(struct attempt *a)
{
	/* Fully ordered: a waiter that enqueues behind pred sees the tag. */
	if (cmpxchg(&a->queue->tail, a->node, a->pred) == a->node) {
		if (cmpxchg(&a->pred->next, TRANSIENT, GONE) == TRANSIENT)
			return;
		/*
		 * ACQUIRE: the newcomer's node is valid. The link stays until the store to its
		 * prev.
		 */
		a->succ = to_node(smp_load_acquire(&a->pred->next));
	} else {
		a->succ = to_node(await_change(&a->node->next, LEAVING_SELF));
		/* Before succ links to pred. */
		WRITE_ONCE(a->pred->next, LEAVING_OTHER);
	}
}

/* The lock was granted after the timeout: undo step 1. */
static void cancel_abandon(struct attempt *a)
{
	struct mcs_try_node *node = a->node;

	if (a->succ) {
		WRITE_ONCE(node->next, to_link(a->succ));
	} else {
		if (cmpxchg(&node->next, LEAVING_SELF, NIL) == LEAVING_SELF)
			return;
		/* ACQUIRE: the newcomer's node is valid. */
		a->succ = to_node(smp_load_acquire(&node->next));
	}
	/*
	 * RELEASE: next comes before. The successor knows the node, so the tag makes the change.
	 */
	smp_store_release(&a->succ->prev, to_link(node) | RESTORED);
}

/* Return: true: unlinked; false: the lock is granted after all. */
static bool abandon(struct attempt *a)
{
	unsigned long granted;

	find_succ(a);
	if (a->succ)
		notify_succ(a);
	granted = notify_pred(a);
	if (granted) {
		acknowledge(granted);
		cancel_abandon(a);
		return false;
	}
	if (!a->succ)
		abandon_tail(a);
	if (a->succ) {
		/* RELEASE: the successor goes on with pred, and sees the stores to it. */
		smp_store_release(&a->succ->prev, to_link(a->pred));
	}
	return true;
}

/* Release without a successor. Return: false: there is one. */
static bool release_tail(struct stress_queue *queue, struct mcs_try_node *node)
{
	/* Fully ordered: the critical section is over once NULL is seen. */
	if (cmpxchg(&queue->tail, node, NULL) != node) {
		await_change(&node->next, NIL);
		return false;
	}
	/* A waiter that enqueued and timed out meanwhile may be about to write GONE. */
	while (smp_load_acquire(&node->next) & TRANSIENT)
		cpu_relax();
	return true;
}

/* Grant to a successor. Return: false: it is aborted. */
static bool grant(struct mcs_try_node *node, unsigned long next)
{
	/* Fully ordered: the successor's node is valid. */
	if (cmpxchg(&node->next, next, GRANTED) != next)
		return false;
	/* Fully ordered: the critical section is over once this is seen. */
	xchg(&to_node(next)->prev, to_link(node) | GRANTED);
	/* It may still read the node: wait for the answer. */
	while (smp_load_acquire(&node->next) != NIL)
		cpu_relax();
	return true;
}

static void release(struct stress_queue *queue, struct mcs_try_node *node)
{
	for (;;) {
		unsigned long next = READ_ONCE(node->next);

		if (next == LEAVING_OTHER || (next & TRANSIENT)) {
			/* The successor is aborted, and will change next. */
			cpu_relax();
		} else if (next == GONE) {
			cmpxchg(&node->next, GONE, NIL);
		} else if (next == NIL) {
			if (release_tail(queue, node))
				return;
		} else if (grant(node, next)) {
			return;
		}
	}
}

static int mcs_try_lock(struct stress_lock *lock, struct stress_waiter *me, ktime_t patience)
{
	struct attempt attempt = { .queue = &lock->queue, .node = me->own };
	struct stress_timer timer = { .patience = patience };
	unsigned long granted;

	preempt_disable();
	if (enqueue(&attempt))
		return 0;
	link_to_pred(&attempt);
	granted = await_lock(&attempt, &timer);
	if (granted) {
		acknowledge(granted);
	} else if (abandon(&attempt)) {
		preempt_enable();
		return -ETIMEDOUT;
	}
	return 0;
}

static void mcs_try_unlock(struct stress_lock *lock, struct stress_waiter *me)
{
	release(&lock->queue, me->own);
	preempt_enable();
}

static int mcs_try_enter(struct stress_lock *lock, struct stress_waiter *me)
{
	return own_node_enter(me, sizeof(struct mcs_try_node));
}

const struct stress_ops stress_mcs_try = {
	.name = "mcs_try",
	.meaning = "MCS with timeout by handshake, Scott and Scherer 2001",
	.size = sizeof(struct stress_lock),
	.free_after_unlock = true,
	.init = null_tail_init,
	.enter = mcs_try_enter,
	.lock = mcs_try_lock,
	.unlock = mcs_try_unlock,
	.destroy = null_tail_destroy,
	.exit = own_node_exit,
};
