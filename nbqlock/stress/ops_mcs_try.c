// SPDX-License-Identifier: GPL-2.0
/*
 * mcs_try: the MCS lock with timeout by handshake, to compare with.
 *
 * Michael L. Scott and William N. Scherer III, "Scalable Queue-Based Spin Locks
 * with Timeout", PPoPP 2001; pseudocode of 16 May 2001.
 *
 * As in every MCS lock, a waiter spins on its own node; the queue is linked
 * both ways, and who gives up takes its node out of a doubly linked list in
 * which the neighbours may be doing the same. The one in front has precedence.
 *
 * Assumptions
 *	Task context only. With an interrupt on the CPU of a holder or waiter,
 *	in the same queue behind it, each would wait for the other.
 *	Preemption is off from the join to the end of the release or the leave.
 *	The caller has a node, which nobody touches once it is out of the queue.
 *
 * States of a node, by its two links. A link is a node, one of the words
 * below, or either with a tag.
 *
 *	prev	UNKNOWN		nobody has said yet who stands in front of me
 *		node		that one does, I spin
 *		LEAVING_OTHER	it is leaving, and will say who comes next
 *		LEAVING_SELF	I am leaving
 *		node|RESTORED	it was leaving, but holds the lock and stays
 *		node|GRANTED	it has handed the lock to me
 *
 *	next	NIL		nobody stands behind me yet
 *		node		that one does
 *		LEAVING_OTHER	it is leaving, and its successor will say hello
 *		TRANSIENT	it is leaving, was the tail, and mends the tail
 *		node|TRANSIENT	in between, that one has joined behind me
 *		GONE		it has left, was the tail
 *		LEAVING_SELF	I am leaving
 *		GRANTED		I am handing the lock over; NIL is the answer
 *
 * Where the printed code is not correct
 *	A leaver X that was the tail sets next of its predecessor P to
 *	TRANSIENT, swaps the tail from X to P, and then P->next to GONE. If Y
 *	joins before that last swap, it finds the tag, sets Y|TRANSIENT, and
 *	waits for X. In print, X takes the tag off P->next, and then swaps
 *	Y->prev from UNKNOWN to NIL. In between P, whom only the tag held up,
 *	can hand the lock to Y; Y releases, and joins again with the same
 *	node. Its prev is UNKNOWN once more: X's late swap succeeds in the
 *	middle of another attempt, which then follows a null pointer, and X
 *	writes to memory that may have been freed (33 steps, three contexts).
 *
 *	Here the order is the reverse, and so nobody can be gone when X comes:
 *	X only tells Y who is in front of it (abandon_tail() and the end of
 *	leave()); Y, which waits for just that, takes the tag off P->next
 *	(link_behind_leaving()). Y stays where it is until X has told, and P
 *	touches neither of the two while the tag is there. The store to Y->prev
 *	is the last that X does. This takes two swaps less than in print; P,
 *	which waited for X, waits for one more store, of Y.
 *
 * Reconstructed
 *	The closing braces; the "break" at the end of the loop over steps 3
 *	and 4 and wherever the lock was granted; RELINK and "continue" after
 *	each wait for a new predecessor in step 3 or 4, without which a leaver
 *	goes on with one that does not know it; RELINK before step 4 if the
 *	predecessor is a new one.
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

#include "ops.h"
#include "own_node.h"
#include "patience.h"

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
 * struct mcs_try_node - a place in the queue
 * @prev: the link to the front; the owner spins on it
 * @next: the link to the tail
 */
struct mcs_try_node {
	unsigned long prev;
	unsigned long next;
} ____cacheline_aligned_in_smp;

/**
 * struct attempt - what a waiter knows
 * @queue: the lock
 * @node: its own node
 * @pred: who stood in front of it last
 * @succ: when leaving: who stands behind it; NULL: nobody, it seemed
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

/* A node, perhaps RESTORED, and not a word, nor GRANTED. */
static bool is_node(unsigned long link)
{
	return !(link & GRANTED) && link > LAST_WORD;
}

/*
 * Spin until a link of my node is neither of two values.
 *
 * Return: the new value.
 */
static unsigned long await_neither(unsigned long *link, unsigned long this,
				   unsigned long that)
{
	for (;;) {
		/* I see what was done before the swap or RELEASE store of it. */
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
 * My prev has become another node, or the same RESTORED: say hello to a new
 * predecessor; step 6 of a leave, done by the successor of who left.
 */
static void relink(struct attempt *a, unsigned long prev)
{
	while (is_node(prev)) {
		if (prev & RESTORED) {
			/* Take off the tag, unless it has changed again. */
			cmpxchg(&a->node->prev, prev, prev & ~RESTORED);
			return;
		}
		a->pred = to_node(prev);
		/* Fully ordered: pred sees my node as I left it. */
		if (xchg(&a->pred->next, to_link(a->node)) != LEAVING_SELF)
			return;
		/* It is leaving too, and will see me and tell me (step 2). */
		prev = await_change(&a->node->prev, prev);
	}
}

/* Enter the queue. Return: true: the lock was free and is mine. */
static bool enqueue(struct attempt *a)
{
	WRITE_ONCE(a->node->next, NIL);
	/*
	 * Fully ordered. My successor sees next as I left it, I see that of
	 * the predecessor. With NULL the last critical section is over in my
	 * eyes.
	 */
	a->pred = xchg(&a->queue->tail, a->node);
	return !a->pred;
}

/*
 * Who stood behind pred before me is leaving and has swapped the tail: it will
 * tell. Then its tag is mine to take off, see the top of this file.
 */
static void link_behind_leaving(struct attempt *a)
{
	await_change(&a->node->prev, UNKNOWN);
	/* After the store to my prev: from now on pred may write it. */
	smp_store_release(&a->pred->next, to_link(a->node));
}

/* Say hello to the predecessor that the tail named. */
static void link_to_pred(struct attempt *a)
{
	unsigned long next, pool = to_link(a->node);

	WRITE_ONCE(a->node->prev, UNKNOWN);
	/* Fully ordered: who finds me in pred sees my prev. The tag stays. */
	do {
		next = READ_ONCE(a->pred->next);
	} while (cmpxchg(&a->pred->next, next, pool | (next & TRANSIENT)) != next);

	if (next & TRANSIENT)
		link_behind_leaving(a);
	else if (next == LEAVING_SELF)
		/* It is leaving: it will tell who is in front of it. */
		relink(a, await_change(&a->node->prev, UNKNOWN));
	else
		/* Unless pred has told something else meanwhile. */
		cmpxchg(&a->node->prev, UNKNOWN, to_link(a->pred));
}

/* Wait for the lock. Return: prev with GRANTED; NIL: the patience is over. */
static unsigned long await_lock(struct attempt *a, struct stress_timer *timer)
{
	for (;;) {
		/*
		 * GRANTED: the last critical section is over in my eyes. Else
		 * I see the node that it names.
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

/* The lock is mine. Let go of the predecessor, which waits for the answer. */
static void acknowledge(unsigned long granted)
{
	/* My last access to its node. */
	smp_store_release(&to_node(granted)->next, NIL);
}

/* Step 1 of leaving: find the successor, and close next for newcomers. */
static void find_succ(struct attempt *a)
{
	unsigned long *my_next = &a->node->next;

	for (;;) {
		unsigned long next = READ_ONCE(*my_next);

		/* Fully ordered: I see the successor's node. */
		if ((next & TRANSIENT) ||
		    cmpxchg(my_next, next, LEAVING_SELF) != next) {
			cpu_relax();
			continue;
		}
		if (next != LEAVING_OTHER) {
			a->succ = is_node(next) ? to_node(next) : NULL;
			return;
		}
		/* It has left; the one behind it will say hello. */
		await_change(my_next, LEAVING_SELF);
	}
}

/* Step 2: tell the successor that I leave. I have precedence. */
static void notify_succ(struct attempt *a)
{
	/* Fully ordered, against step 4 of the successor. */
	if (xchg(&a->succ->prev, LEAVING_OTHER) != LEAVING_SELF)
		return;
	/*
	 * It had begun to leave. It will fail in its step 4, where it finds
	 * that I leave, says so with its node in my next, and waits for me.
	 */
	while (smp_load_acquire(&a->node->next) != to_link(a->succ))
		cpu_relax();
}

/*
 * Steps 3 and 4: close prev, tell the predecessor that I leave. If it leaves
 * too, wait for the next one, and again.
 *
 * Return: prev with GRANTED: the lock is mine after all; NIL: pred stands and
 * will not touch my node any more.
 */
static unsigned long notify_pred(struct attempt *a)
{
	unsigned long *my_prev = &a->node->prev;

	for (;;) {
		/* Fully ordered, against steps 1 and 2 of the predecessor. */
		unsigned long next, prev = xchg(my_prev, LEAVING_SELF);

		if (prev & GRANTED)
			return prev;
		if (prev != LEAVING_OTHER) {
			/*
			 * A new predecessor has to see me before it sees me
			 * leave, else it may take the LEAVING_OTHER of the one
			 * between us for mine.
			 */
			if (prev != to_link(a->pred))
				relink(a, prev);
			next = xchg(&a->pred->next,
				    a->succ ? LEAVING_OTHER : TRANSIENT);
			if (next & GRANTED)
				return await_change(my_prev, LEAVING_SELF);
			if (next != LEAVING_SELF)
				return NIL;
			/* It was first; it waits for me to see that. */
			smp_store_release(&a->pred->next, to_link(a->node));
		}
		prev = await_neither(my_prev, LEAVING_SELF, LEAVING_OTHER);
		if (prev & GRANTED)
			return prev;
		relink(a, prev);
	}
}

/*
 * Step 5, without a successor: move the tail back. If somebody has joined
 * before that, behind me, or after it, behind pred, it waits to be told.
 */
static void abandon_tail(struct attempt *a)
{
	/* Fully ordered: who joins behind pred sees the tag, see above. */
	if (cmpxchg(&a->queue->tail, a->node, a->pred) == a->node) {
		if (cmpxchg(&a->pred->next, TRANSIENT, GONE) == TRANSIENT)
			return;
		/* Stays so until I tell. I see the newcomer's node. */
		a->succ = to_node(smp_load_acquire(&a->pred->next));
	} else {
		a->succ = to_node(await_change(&a->node->next, LEAVING_SELF));
		/* Before succ says hello to pred. */
		WRITE_ONCE(a->pred->next, LEAVING_OTHER);
	}
}

/* The lock is mine, although I have begun to leave: take that back. */
static void cancel_abandon(struct attempt *a)
{
	struct mcs_try_node *node = a->node;

	if (a->succ) {
		WRITE_ONCE(node->next, to_link(a->succ));
	} else {
		if (cmpxchg(&node->next, LEAVING_SELF, NIL) == LEAVING_SELF)
			return;
		/* Somebody has joined. I see its node. */
		a->succ = to_node(smp_load_acquire(&node->next));
	}
	/* It knows me, so the tag makes the change. After next. */
	smp_store_release(&a->succ->prev, to_link(node) | RESTORED);
}

/* Give up. Return: true: I have left; false: the lock is mine after all. */
static bool leave(struct attempt *a)
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
		/* It goes on with pred, and sees what I did to that. */
		smp_store_release(&a->succ->prev, to_link(a->pred));
	}
	return true;
}

/* Release with nobody behind. Return: false: somebody is. */
static bool release_tail(struct stress_queue *queue, struct mcs_try_node *node)
{
	/* Fully ordered: the critical section is over for who gets NULL. */
	if (cmpxchg(&queue->tail, node, NULL) != node) {
		await_change(&node->next, NIL);
		return false;
	}
	/* Who came and left meanwhile may be about to write GONE. */
	while (smp_load_acquire(&node->next) & TRANSIENT)
		cpu_relax();
	return true;
}

/* Hand over to a successor. Return: false: that one is leaving. */
static bool grant(struct mcs_try_node *node, unsigned long next)
{
	/* Fully ordered: I see the successor's node. */
	if (cmpxchg(&node->next, next, GRANTED) != next)
		return false;
	/* Fully ordered: the critical section is over for who sees this. */
	xchg(&to_node(next)->prev, to_link(node) | GRANTED);
	/* It may still be looking at my node: wait for the answer. */
	while (smp_load_acquire(&node->next) != NIL)
		cpu_relax();
	return true;
}

static void release(struct stress_queue *queue, struct mcs_try_node *node)
{
	for (;;) {
		unsigned long next = READ_ONCE(node->next);

		if (next == LEAVING_OTHER || (next & TRANSIENT)) {
			/* The successor is leaving, and will update me. */
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

static int mcs_try_lock(union stress_lock *lock, struct stress_waiter *me,
			ktime_t patience)
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
	} else if (leave(&attempt)) {
		preempt_enable();
		return -ETIMEDOUT;
	}
	return 0;
}

static void mcs_try_unlock(union stress_lock *lock, struct stress_waiter *me)
{
	release(&lock->queue, me->own);
	preempt_enable();
}

static int mcs_try_enter(union stress_lock *lock, struct stress_waiter *me)
{
	return own_node_enter(me, sizeof(struct mcs_try_node));
}

const struct stress_ops stress_mcs_try = {
	.name = "mcs_try",
	.meaning = "MCS with timeout by handshake, Scott and Scherer 2001",
	.free_after_unlock = true,
	.init = null_tail_init,
	.enter = mcs_try_enter,
	.lock = mcs_try_lock,
	.unlock = mcs_try_unlock,
	.destroy = null_tail_destroy,
	.exit = own_node_exit,
};
