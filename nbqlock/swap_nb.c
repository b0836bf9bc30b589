// SPDX-License-Identifier: GPL-2.0
/*
 * The swap-only lock: a queue-based spinlock with non-blocking timeout that needs no
 * compare-and-swap, and whose waiters spin on their own node.
 *
 * William N. Scherer III and Michael L. Scott, "Non-Blocking Timeout in a NUMA-Aware
 * Queue-Based Spin Lock", 2004: it answers whether a fair lock without contention and with
 * timeout needs a universal atomic operation.
 *
 * As in MCS-NB a node that is done says so in its next, and notifies its successor in the
 * status of that node. But a waiter that gives up neither takes its node off the tail nor
 * asks to be forgotten: it only publishes that the node is abandoned. The successor swaps
 * itself into the next of the node in front of the abandoned one. From what it finds there it
 * learns whether that node was still to notify the abandoned one.
 *
 * Assumptions
 *	Preemption is off from the allocation of a node to the unlock.
 *	A node is allocated by its own CPU only (node.c); its memory stays a node.
 *
 * States of a node, by next
 *
 *	  enqueue
 *	free --> NULL or succ --+-- release --> AVAILABLE ------------> free
 *	        waits or holds  |                 at rest; the next holder frees it
 *	                        +-- abandon --> LEAVING --------------> free
 *	                                        a successor skips it (1)
 *
 *	LEAVING --> NULL: resume, unless a successor skips it.
 *
 *	(1) If the predecessor has forgotten the abandoned node, the successor frees it. If the
 *	    predecessor knows the node and is done, it notifies the node, or will: both contexts
 *	    swap the node's status, and the second frees it.
 *
 * Below, a queue is drawn from its head to its tail: H holds, W waits, L is abandoned, A is
 * AVAILABLE, [] is the queue of a new lock. "pred > W": pred's next is W.
 *
 * Departures from the paper
 *	A new lock has no node: the first attempt finds tail = NULL, as if it had found and
 *	freed the AVAILABLE dummy, which the paper does not show. So making a lock cannot fail,
 *	and a static one needs nothing. From the first release on, the last holder's node stays
 *	in the lock as that dummy. An attempt that finds it there does not link itself to it.
 *	In print, the release stores AVAILABLE in prev, which no waiter polls. Here it swaps it
 *	into next and notifies the successor, as an abandoned node does.
 *	The deadline is checked only while the predecessor waits or holds. In print it also
 *	ends the skipping, and loses a node. Then attempts without patience never acquire a
 *	free lock behind abandoned nodes.
 *	The printed lock stores LEAVING in the next of the new predecessor to swap it out again
 *	("fool itself"). That is left out.
 *	An attempt whose CPU has abandoned a node in the queue resumes that place, unless a
 *	successor has skipped it. So if a waiter is notified that its predecessor is abandoned,
 *	it swaps itself into that node's next before it skips it: the node may wait again. In
 *	print, two contexts swap the state of its predecessor into the status of an abandoned
 *	node. Here they do not, as that state may have changed since.
 *	The context that holds a lock keeps the node in a list of its own (nbq_pool.held). So a
 *	lock is one word, and an unlock by another context is noticed. In print the lock names
 *	the node (lock_holder), which takes a store to the lock at each acquisition.
 *	An attempt without patience reads first, and enqueues only if the lock is free and no
 *	context waits for it. In print it enqueues, and abandons.
 *	A wait that would be a deadlock fails with -EDEADLK (wait_deadlock.c). In print only
 *	the patience ends it.
 *	An empty pool makes the attempt fail with -ENOMEM once the patience is over; the
 *	paper allocates.
 *
 * Own steps, accesses to shared memory that wait for no other CPU: at most 5 to abandon (store
 * prev, swap next, swap the successor's status, read its life, free its node), at most 4 to
 * release (the last four of these).
 */
#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/prefetch.h>

#include "internal.h"
#include "queue_lock.h"
#include "relax.h"
#include "swap.h"
#include "trace.h"

/*
 * Enqueue.
 *
 *	[]	-> node			NULL
 *	.. pred	-> .. pred node		pred
 *
 * Return: the predecessor, to which nbq_swap_link() is to make the node known, unless the lock is
 * at rest; NULL: the lock was new and is acquired.
 */
VISIBLE_IF_KUNIT
struct nbq_node *nbq_swap_enqueue(struct nbq_queue_lock *lock, struct nbq_node *node)
{
	/*
	 * Marked: nbq_queue_is_idle() of an attempt that has found the node in the tail in its
	 * last life may read it now.
	 */
	WRITE_ONCE(node->next, NULL);
	/*
	 * Fully ordered. RELEASE: next = NULL comes before the swap in nbq_swap_link() of the
	 * successor, which gets the node from the tail; else the store could overwrite the
	 * link, and the successor would wait for ever. ACQUIRE, pairs with the predecessor's
	 * enqueue: the same; and with the swap that takes a node out of a lock at rest
	 * (queue_lock.h): the critical section before is over for the attempt that finds NULL.
	 */
	return xchg(&lock->tail, node);
}
EXPORT_SYMBOL_IF_KUNIT(nbq_swap_enqueue);

/*
 * Make the node known to a predecessor, in place of a node that it knew: pred node ->
 * pred > node.
 *
 * Return: the state of the predecessor before. NULL: it waits or holds, and will notify the
 * node. NBQ_AVAILABLE: the lock is acquired. NBQ_LEAVING: it was abandoned. A node, that of an
 * abandoned place between the two: as NULL, and that one will not be notified.
 */
VISIBLE_IF_KUNIT
struct nbq_node *nbq_swap_link(struct nbq_node *node, struct nbq_node *pred)
{
	struct nbq_node *state;

	WRITE_ONCE(node->status, NULL);
	/*
	 * Fully ordered, pairs with the swaps of next in publish_abandoned() and
	 * nbq_swap_release(). RELEASE: status = NULL comes before what pred, which finds the
	 * node here, writes to it; else the node would wait for ever. ACQUIRE: the critical
	 * section before is over for the attempt that finds AVAILABLE, and prev of an
	 * abandoned node is seen with LEAVING.
	 */
	state = xchg(&pred->next, node);
	/* The swap has brought the line: nbq_node_reclaim_pred() needs no read of it. */
	node->pred_alloc_seq = READ_ONCE(pred->alloc_seq);
	return state;
}
EXPORT_SYMBOL_IF_KUNIT(nbq_swap_link);

/*
 * Poll what a predecessor that knows the node has notified it of.
 *
 * Return: NULL: nothing. NBQ_AVAILABLE, NBQ_LEAVING: as nbq_swap_link().
 */
VISIBLE_IF_KUNIT
struct nbq_node *nbq_swap_poll(const struct nbq_node *node)
{
	/* ACQUIRE, pairs with the swap in notify_successor(): as in nbq_swap_link(). */
	return smp_load_acquire(&node->status);
}
EXPORT_SYMBOL_IF_KUNIT(nbq_swap_poll);

/*
 * Skip an abandoned node, between this one and the one that knows it now:
 * .. pred L > node -> .. pred > node.
 *
 * @state: what nbq_swap_link() found in pred: the abandoned node itself, which no other
 * context knows any more; or what pred notifies the abandoned node of; or NULL: pred has
 * resumed its place since it did. The later of the two contexts frees the node.
 */
VISIBLE_IF_KUNIT
void nbq_swap_skip(struct nbq_node *node, struct nbq_node *abandoned,
		   struct nbq_node *state)
{
	trace_nbq_reclaim(abandoned);
	/*
	 * Fully ordered, pairs with the swap in notify_successor(): both contexts are done
	 * with the node before the second frees it.
	 */
	if (state == abandoned || xchg(&abandoned->status, NBQ_RECYCLED))
		nbq_node_reclaim(abandoned, &node->pool->events);
}
EXPORT_SYMBOL_IF_KUNIT(nbq_swap_skip);

/* The predecessor has released: A node .. -> H .. */
VISIBLE_IF_KUNIT
void nbq_swap_granted(struct nbq_queue_lock *lock, struct nbq_node *node,
		      struct nbq_node *pred)
{
	nbq_held_add(node->pool, node, lock, NBQ_TYPE_SWAP);
	nbq_node_reclaim_pred(node, pred);
	/*
	 * For the swap of next in the release: the polls have left the line shared, and it comes
	 * back while the critical section runs.
	 */
	prefetchw(node);
}
EXPORT_SYMBOL_IF_KUNIT(nbq_swap_granted);

/*
 * Notify the successor that was found in next, if any, of what next says now. RECYCLED: it was
 * abandoned, and the context that has skipped it was here first.
 */
static void notify_successor(struct nbq_node *succ, struct nbq_node *state,
			     struct nbq_events *events)
{
	/*
	 * Fully ordered. RELEASE, pairs with nbq_swap_poll(): the critical section or prev is
	 * seen by the successor. Both, pairs with the swap in nbq_swap_skip(), as there.
	 */
	if (succ && xchg(&succ->status, state) == NBQ_RECYCLED)
		nbq_node_reclaim(succ, events);
}

/* Say that the node is abandoned, to its successor if it is known. The last access to it. */
static void publish_abandoned(struct nbq_node *node)
{
	struct nbq_events *events = &node->pool->events;

	/*
	 * Fully ordered, pairs with nbq_swap_link() and pred_of(). RELEASE: prev is seen with
	 * LEAVING. ACQUIRE: the successor in next has reset its status before it is notified.
	 */
	notify_successor(xchg(&node->next, NBQ_LEAVING), NBQ_LEAVING, events);
}

/*
 * Abandon the place, at any position. The node stays until a successor skips it, and must not
 * be accessed.
 *
 *	.. pred W	-> .. pred L
 *	.. pred W > succ -> .. pred L succ
 */
VISIBLE_IF_KUNIT
void nbq_swap_abandon(struct nbq_queue_lock *lock, struct nbq_node *node,
		      struct nbq_node *pred)
{
	nbq_note_abandoned(node, lock, NBQ_TYPE_SWAP);
	WRITE_ONCE(node->prev, pred);
	publish_abandoned(node);
	node->pool->events.nodes_abandoned++;
}
EXPORT_SYMBOL_IF_KUNIT(nbq_swap_abandon);

/*
 * Resume the place of an earlier attempt, which is kept: the node is in its predecessor's next all
 * the time, or has been notified.
 *
 *	.. pred L succ	-> .. pred W succ
 *
 * Return: the predecessor; NULL: a successor has skipped the node.
 */
static struct nbq_node *nbq_swap_resume(struct nbq_node *node)
{
	/*
	 * Fully ordered, as the swap of the tail in nbq_swap_enqueue(), for the epochs of
	 * wait_deadlock.c. Pairs with nbq_swap_link() of the successor: only one of the two gets
	 * the node. The one compare-and-swap of this lock, and it could do without it.
	 */
	if (READ_ONCE(node->next) != NBQ_LEAVING ||
	    cmpxchg(&node->next, NBQ_LEAVING, NULL) != NBQ_LEAVING)
		return NULL;
	return READ_ONCE(node->prev);
}

/*
 * End the critical section: H .. -> A ..
 *
 * With the swap of next another context may acquire the lock, release it and free its memory:
 * neither the node nor the lock may be accessed after it. (The successor's node may: it waits
 * to be notified.)
 */
VISIBLE_IF_KUNIT
void nbq_swap_release(struct nbq_node *node)
{
	struct nbq_events *events = &node->pool->events;

	/*
	 * Fully ordered, pairs with nbq_swap_link() and pred_of(). RELEASE: the critical
	 * section is over for the context that finds AVAILABLE. ACQUIRE: as in
	 * publish_abandoned().
	 */
	notify_successor(xchg(&node->next, NBQ_AVAILABLE), NBQ_AVAILABLE, events);
}
EXPORT_SYMBOL_IF_KUNIT(nbq_swap_release);

/*
 * Spin until the state of the predecessor, which knows the node, changes or the wait is over.
 *
 * A predecessor that has notified the node that it was abandoned may have resumed its place
 * since. So the waiter links itself once more, and has the state of then: of the waiter and
 * an attempt that resumes the place, only one gets the node.
 *
 * Return: as nbq_swap_link(); NULL: the wait is over.
 */
static struct nbq_node *spin_on_pred(struct nbq_node *node, struct nbq_node *pred,
				     struct nbq_wait *wait)
{
	struct nbq_node *state;

	/* The node first and the clock last: a late grant is still a grant. */
	do {
		state = nbq_swap_poll(node);
		if (state == NBQ_LEAVING) {
			/* Before the status is that of another wait. */
			nbq_wait_pause(wait);
			state = nbq_swap_link(node, pred);
		}
		if (state || !nbq_wait_continue_behind_pred(wait, pred, &node->status))
			break;
		nbq_relax(wait, &node->status);
	} while (true);
	nbq_wait_pause(wait);
	return state;
}

/*
 * Wait behind pred, whose @state nbq_swap_link() has returned; NULL if pred knows the node
 * already. Abandoned nodes are skipped whatever the deadline is: each skip frees a node, and
 * there are no more than the queue had when this node was enqueued.
 */
static noinline int wait_linked(struct nbq_queue_lock *lock, struct nbq_node *node,
				struct nbq_node *pred,
				struct nbq_deadline deadline, unsigned long ip,
				struct nbq_node *state)
{
	struct nbq_wait wait = {
		.deadline = &deadline,
		.pool = node->pool,
		.context = nbq_context_of(node->pool),
		.lock = lock,
		.nested = nbq_nesting_enter(node->pool),
		.resumed = node->resumed,
		.error = nbq_deadline_error(&deadline),
		.ip = ip,
	};
	unsigned long skipped = 0;

	if (!state)
		state = spin_on_pred(node, pred, &wait);
	while (state == NBQ_LEAVING) {
		struct nbq_node *abandoned = pred;

		pred = READ_ONCE(abandoned->prev);
		state = nbq_swap_link(node, pred);
		nbq_swap_skip(node, abandoned, state);
		skipped++;
		/* It waits or holds, and knows only this node. */
		if (!state || state == abandoned)
			state = spin_on_pred(node, pred, &wait);
	}
	nbq_count_skipped(node->pool, skipped);

	if (!state) {
		nbq_swap_abandon(lock, node, pred);
		trace_nbq_abandon(lock, true, wait.error);
		return nbq_wait_end(&wait, wait.error);
	}
	nbq_swap_granted(lock, node, pred);
	return nbq_wait_end(&wait, 0);
}

static int wait_in_queue(struct nbq_queue_lock *lock, struct nbq_node *node,
			 struct nbq_node *pred, struct nbq_deadline deadline, unsigned long ip)
{
	return wait_linked(lock, node, pred, deadline, ip, nbq_swap_link(node, pred));
}

static int wait_resumed(struct nbq_queue_lock *lock, struct nbq_node *node,
			struct nbq_node *pred, struct nbq_deadline deadline, unsigned long ip)
{
	return wait_linked(lock, node, pred, deadline, ip, NULL);
}

static struct nbq_node *pred_of(const struct nbq_node *node)
{
	/*
	 * ACQUIRE, pairs with the swaps of next in publish_abandoned() and nbq_swap_release():
	 * prev of an abandoned node. Without it, an attempt without patience could follow an
	 * older prev to an AVAILABLE node, and enqueue at a held lock.
	 */
	struct nbq_node *state = smp_load_acquire(&node->next);

	if (state == NBQ_LEAVING)
		return READ_ONCE(node->prev);
	return state == NBQ_AVAILABLE ? state : NULL;
}

static const struct nbq_queue_ops ops = {
	.type = NBQ_TYPE_SWAP,
	.enqueue = nbq_swap_enqueue,
	.wait = wait_in_queue,
	.resume = nbq_swap_resume,
	.wait_resumed = wait_resumed,
	.release = nbq_swap_release,
	.pred_of = pred_of,
};

bool nbq_swap_take_back(struct nbq_node *node)
{
	return nbq_queue_take_back(node, &ops);
}

NBQ_DEFINE_QUEUE_LOCK(swap, &ops,
		      nbq_swap_init_key, nbq_swap_destroy,
		      nbq_swap_is_locked, nbq_swap_is_contended,
		      nbq_swap_lock_timeout, nbq_swap_lock_until, nbq_swap_lock_timeout_info,
		      nbq_swap_trylock, nbq_swap_lock, nbq_swap_unlock,
		      __nbq_swap_lock_timeout_nested, __nbq_swap_lock_nested);
