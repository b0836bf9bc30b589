// SPDX-License-Identifier: GPL-2.0
/*
 * MCS-NB: a queue-based spinlock with non-blocking timeout, whose waiters spin on their own
 * node.
 *
 * Michael L. Scott, "Non-Blocking Timeout in Scalable Queue-Based Spin Locks", PODC 2002,
 * section 2.2; University of Rochester TR 773.
 *
 * In the textbook MCS lock each waiter is known to its predecessor: it swaps its own node into
 * the tail, writes its address into the next of the node that the swap returned, and spins on
 * a flag in its own node until the predecessor writes to it. Here a node that is done says so
 * in its next, for successors that it does not know yet, and notifies the successor that it
 * knows in the status of that node. A waiter that gives up first tries to make its predecessor
 * forget it. If that fails, the predecessor is going to write to the waiter's status, and the
 * node must live until it has.
 *
 * Assumptions
 *	Preemption is off from the allocation of a node to the unlock.
 *	A node is allocated by its own CPU only (node.c); its memory stays a node.
 *
 * States of a node, by next
 *
 *	                        +-- abandon, as tail ----------------> free (1)
 *	  enqueue               |                                        ^
 *	free --> NULL or succ --+-- abandon, forgotten --> LEAVING ----->|
 *	        waits or holds  |                  a successor skips it  |
 *	                        +-- abandon, known --> TRANSIENT ------->| (2)
 *	                        |                  a successor skips it  |
 *	                        +-- release --> AVAILABLE -------------->|
 *	                                        at rest  the next holder frees it
 *
 *	LEAVING and TRANSIENT --> NULL: resume, unless a successor skips it.
 *
 *	(1) Abandoned as the tail while the predecessor knows it: as (2).
 *	(2) Two contexts must be done with the node: the predecessor, which notifies it; and
 *	    its owner or the context that skips it, which says RECYCLED. Both swap its
 *	    status; the second frees the node.
 *
 * Below, a queue is drawn from its head to its tail: H holds, W waits, L is abandoned
 * (LEAVING), T is abandoned (TRANSIENT), A is AVAILABLE, [] is the queue of a new lock.
 * "pred > W": pred's next is W.
 *
 * Departures from the paper
 *	The code page of the report is damaged, and lacks the release. The order of steps is
 *	that of the paper's prose, except as follows.
 *	The deadline is checked only while the predecessor waits or holds. In print it also
 *	ends the skipping. Then attempts without patience never acquire a free lock behind
 *	abandoned nodes: each adds a node.
 *	A lock that was used keeps the last holder's node, so that a release does not access the
 *	lock. In print a release publishes, and if it knew no successor, tries to take the node
 *	off the tail after that, when the lock's memory may be freed. A CPU that runs short of
 *	nodes takes back those that it has left in locks at rest (queue_lock.h).
 *	To abandon, a waiter first tries to take its node off the tail, whether it knows a
 *	successor or not, and publishes only if that fails. In print it publishes first, and tries
 *	the tail after that if it knew no successor and its predecessor does not know it. With a
 *	nested context of the same pool the swap of the tail then succeeds for the wrong attempt.
 *	The report's second kind of timeout, while nodes are skipped, does not exist: no deadline
 *	ends the skipping. (In its code stands a piece of the missing release, which makes two
 *	holders.)
 *	An attempt whose CPU has abandoned a node in the queue resumes that place, unless a
 *	successor has skipped it. So if a waiter is notified that its predecessor is abandoned,
 *	it swaps itself into that node's next before it skips it: the node may wait again.
 *	An attempt that has resumed a place stays in the queue when it gives up, also as the
 *	tail, and leaves the lock's line to those that enqueue. In print an attempt takes itself
 *	off the tail wherever it can.
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
 * Own steps, accesses to shared memory that wait for no other CPU: at most 7 to abandon (store
 * prev, be forgotten, swap the tail, swap next, swap the successor's status, read its life, free
 * its node), at most 4 to release (the last four of these).
 */
#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/prefetch.h>

#include "internal.h"
#include "mcs.h"
#include "queue_lock.h"
#include "relax.h"
#include "trace.h"

/*
 * Enqueue.
 *
 *	[]	-> node			NULL
 *	.. pred	-> .. pred node		pred
 *
 * Return: the predecessor, to which nbq_mcs_link() is to make the node known, unless the lock is
 * at rest; NULL: the lock was new and is acquired.
 */
VISIBLE_IF_KUNIT
struct nbq_node *nbq_mcs_enqueue(struct nbq_queue_lock *lock, struct nbq_node *node)
{
	/*
	 * Marked: nbq_queue_is_idle() of an attempt that has found the node in the tail in its
	 * last life may read it now.
	 */
	WRITE_ONCE(node->next, NULL);
	/*
	 * Fully ordered. RELEASE: next = NULL comes before the swap in nbq_mcs_link() of the
	 * successor, which gets the node from the tail; else the store could overwrite the
	 * link, and the successor would wait for ever. ACQUIRE, pairs with the swap that takes a
	 * node out of a lock at rest (queue_lock.h): the critical section before is over for the
	 * attempt that finds NULL; with the predecessor's enqueue; and with the swap of the tail
	 * in nbq_mcs_abandon(), which puts a predecessor back that has forgotten the node.
	 */
	return xchg(&lock->tail, node);
}
EXPORT_SYMBOL_IF_KUNIT(nbq_mcs_enqueue);

/*
 * Make the node known to a predecessor: pred node -> pred > node.
 *
 * Return: the state of the predecessor before. NULL: it waits or holds, and will notify the
 * node. NBQ_AVAILABLE: the lock is acquired. NBQ_LEAVING or NBQ_TRANSIENT: it was abandoned.
 */
VISIBLE_IF_KUNIT
struct nbq_node *nbq_mcs_link(struct nbq_node *node, struct nbq_node *pred)
{
	struct nbq_node *state;

	WRITE_ONCE(node->status, NULL);
	/*
	 * Fully ordered, pairs with the swaps of next in nbq_mcs_abandon() and
	 * nbq_mcs_release(). RELEASE: status = NULL comes before what pred, which finds the
	 * node here, writes to it; else the node would wait for ever. ACQUIRE: the critical
	 * section before is over for the attempt that finds AVAILABLE, and prev of an
	 * abandoned node is seen.
	 */
	state = xchg(&pred->next, node);
	/*
	 * The swap has brought the line: nbq_node_reclaim_pred() needs no read of it. The
	 * value is used only if pred releases the lock to this node. If this node is
	 * abandoned as the tail, pred's owner may allocate pred again, which no barrier
	 * orders after this read.
	 */
	node->pred_alloc_seq = READ_ONCE(pred->alloc_seq);
	return state;
}
EXPORT_SYMBOL_IF_KUNIT(nbq_mcs_link);

/*
 * Poll what a predecessor that knows the node has notified it of.
 *
 * Return: as nbq_mcs_link().
 */
VISIBLE_IF_KUNIT
struct nbq_node *nbq_mcs_poll(const struct nbq_node *node)
{
	/* ACQUIRE, pairs with the swap in notify_successor(): as in nbq_mcs_link(). */
	return smp_load_acquire(&node->status);
}
EXPORT_SYMBOL_IF_KUNIT(nbq_mcs_poll);

/*
 * Skip an abandoned predecessor: .. prev L node -> .. prev node.
 *
 * A TRANSIENT one has been notified by its own predecessor, or will be: the later of the two
 * contexts frees it.
 *
 * Return: the new predecessor, to which nbq_mcs_link() is to make the node known.
 */
VISIBLE_IF_KUNIT
struct nbq_node *nbq_mcs_skip(struct nbq_node *node, struct nbq_node *pred,
			      struct nbq_node *state)
{
	/* Read first: after the swap of its status, pred may be in its next life. */
	struct nbq_node *prev = READ_ONCE(pred->prev);

	trace_nbq_reclaim(pred);
	/*
	 * Fully ordered, pairs with the swap in notify_successor(): both contexts are done
	 * with the node before the second frees it.
	 */
	if (state == NBQ_LEAVING ||
	    xchg(&pred->status, NBQ_RECYCLED))
		nbq_node_reclaim(pred, &node->pool->events);
	return prev;
}
EXPORT_SYMBOL_IF_KUNIT(nbq_mcs_skip);

/* The predecessor has released: A node .. -> H .. */
VISIBLE_IF_KUNIT
void nbq_mcs_granted(struct nbq_queue_lock *lock, struct nbq_node *node,
		     struct nbq_node *pred)
{
	nbq_held_add(node->pool, node, lock, NBQ_TYPE_MCS);
	nbq_node_reclaim_pred(node, pred);
	/*
	 * For the swap of next in the release: the polls have left the line shared, and it comes
	 * back while the critical section runs.
	 */
	prefetchw(node);
}
EXPORT_SYMBOL_IF_KUNIT(nbq_mcs_granted);

/*
 * Notify the successor that was found in next, if any, of what next says now. RECYCLED: it was
 * abandoned, and no other context needs its node any more.
 */
static void notify_successor(struct nbq_node *succ, struct nbq_node *state,
			     struct nbq_events *events)
{
	/*
	 * Fully ordered. RELEASE, pairs with nbq_mcs_poll(): the critical section or prev is
	 * seen by the successor. Both, pairs with the swaps of status in nbq_mcs_skip() and
	 * nbq_mcs_abandon(), as there.
	 */
	if (succ && xchg(&succ->status, state) == NBQ_RECYCLED)
		nbq_node_reclaim(succ, events);
}

/* Say that the node is abandoned, to its successor if it is known. The last access to it. */
static void publish_abandoned(struct nbq_node *node, struct nbq_node *state)
{
	struct nbq_events *events = &node->pool->events;

	/*
	 * Fully ordered, pairs with nbq_mcs_link() and pred_of(). RELEASE: prev, and that the
	 * predecessor has forgotten the node, are seen with @state. ACQUIRE: the successor in
	 * next has reset its status before it is notified.
	 */
	notify_successor(xchg(&node->next, state), state, events);
}

/*
 * Abandon the place, at any position.
 *
 *	.. pred W	-> .. pred		the tail, forgotten: true
 *	.. pred > W	-> .. pred > (W)	the tail, known: true if pred has notified it
 *	.. pred W succ	-> .. pred L succ	forgotten: false
 *	.. pred > W succ -> .. pred > T succ	known: false
 *
 * Known: the predecessor has said in its next that it is done, and has not notified the node
 * yet, or the node has not polled since.
 *
 * Return: true if the node was freed; else another context reclaims it, and it must not be
 * accessed.
 */
VISIBLE_IF_KUNIT
bool nbq_mcs_abandon(struct nbq_queue_lock *lock, struct nbq_node *node, struct nbq_node *pred)
{
	struct nbq_events *events = &node->pool->events;
	struct nbq_node *state;
	bool forgotten;

	WRITE_ONCE(node->prev, pred);
	/*
	 * Relaxed: a node that links to pred next has come to it by the swap of the tail or of
	 * next below, which are RELEASE. If it fails, pred is done, and will notify the node.
	 */
	forgotten = cmpxchg_relaxed(&pred->next, node, NULL) == node;
	/*
	 * RELEASE, pairs with the ACQUIRE of a later nbq_mcs_enqueue(), which gets pred from
	 * the tail instead of this node: it finds the node forgotten, and what made pred
	 * visible here is visible there. The node cannot have been freed and reused
	 * meanwhile: no context knows yet that it is abandoned.
	 */
	if (!node->resumed &&
	    cmpxchg_release(&lock->tail, node, pred) == node) {
		/*
		 * Fully ordered, pairs with the swap in notify_successor(), by which pred
		 * notifies the node: as in nbq_mcs_skip().
		 */
		if (!forgotten && !xchg(&node->status, NBQ_RECYCLED)) {
			events->nodes_abandoned++;
			return false;
		}
		nbq_node_free_own(node);
		return true;
	}
	state = forgotten ? NBQ_LEAVING : NBQ_TRANSIENT;
	node->known = !forgotten;
	nbq_note_abandoned(node, lock, NBQ_TYPE_MCS);
	publish_abandoned(node, state);
	events->nodes_abandoned++;
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(nbq_mcs_abandon);

/*
 * Resume the place of an earlier attempt, which is kept.
 *
 *	.. pred L succ		-> .. pred W succ	to be made known to pred
 *	.. pred > T succ	-> .. pred > W succ
 *
 * Return: the predecessor; NULL: a successor has skipped the node.
 */
static struct nbq_node *nbq_mcs_resume(struct nbq_node *node)
{
	struct nbq_node *state = node->known ? NBQ_TRANSIENT : NBQ_LEAVING;

	/*
	 * Fully ordered, as the swap of the tail in nbq_mcs_enqueue(), for the epochs of
	 * wait_deadlock.c. Pairs with nbq_mcs_link() of the successor: only one of the two gets the
	 * node.
	 */
	if (READ_ONCE(node->next) != state ||
	    cmpxchg(&node->next, state, NULL) != state)
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
void nbq_mcs_release(struct nbq_node *node)
{
	struct nbq_events *events = &node->pool->events;

	/*
	 * Fully ordered, pairs with nbq_mcs_link() and pred_of(). RELEASE: the critical
	 * section is over for the context that finds AVAILABLE. ACQUIRE: as in
	 * publish_abandoned().
	 */
	notify_successor(xchg(&node->next, NBQ_AVAILABLE), NBQ_AVAILABLE, events);
}
EXPORT_SYMBOL_IF_KUNIT(nbq_mcs_release);

/*
 * Spin until the state of the predecessor changes or the wait is over.
 *
 * A predecessor that has notified the node that it was abandoned may have resumed its place
 * since. So the waiter links itself once more, and has the state of then: of the waiter and
 * an attempt that resumes the place, only one gets the node.
 *
 * @state: what nbq_mcs_link() has returned; NULL if pred knows the node already
 *
 * Return: as nbq_mcs_link(); NULL: the wait is over.
 */
static struct nbq_node *spin_on_pred(struct nbq_node *node, struct nbq_node *pred,
				     struct nbq_node *state, struct nbq_wait *wait)
{
	/* The node first and the clock last: a late grant is still a grant. */
	while (!state) {
		state = nbq_mcs_poll(node);
		if (state && state != NBQ_AVAILABLE) {
			/* Before the status is that of another wait. */
			nbq_wait_pause(wait);
			state = nbq_mcs_link(node, pred);
		}
		if (state || !nbq_wait_continue_behind_pred(wait, pred, &node->status))
			break;
		nbq_relax(wait, &node->status);
	}
	nbq_wait_pause(wait);
	return state;
}

/*
 * Wait behind pred, whose @state is that of spin_on_pred(). Abandoned nodes are skipped whatever
 * the deadline is: each skip frees a node, and there are no more than the queue had when this
 * node was enqueued.
 */
static noinline int wait_linked(struct nbq_queue_lock *lock, struct nbq_node *node,
				struct nbq_node *pred, struct nbq_deadline deadline,
				unsigned long ip, struct nbq_node *state)
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

	state = spin_on_pred(node, pred, state, &wait);
	while (state && state != NBQ_AVAILABLE) {
		pred = nbq_mcs_skip(node, pred, state);
		skipped++;
		state = spin_on_pred(node, pred, nbq_mcs_link(node, pred), &wait);
	}
	nbq_count_skipped(node->pool, skipped);

	if (!state) {
		bool freed = nbq_mcs_abandon(lock, node, pred);

		trace_nbq_abandon(lock, !freed, wait.error);
		return nbq_wait_end(&wait, wait.error);
	}
	nbq_mcs_granted(lock, node, pred);
	return nbq_wait_end(&wait, 0);
}

static int wait_in_queue(struct nbq_queue_lock *lock, struct nbq_node *node,
			 struct nbq_node *pred, struct nbq_deadline deadline, unsigned long ip)
{
	return wait_linked(lock, node, pred, deadline, ip, nbq_mcs_link(node, pred));
}

/* A node that pred has known all the time has been notified, or will be. */
static int wait_resumed(struct nbq_queue_lock *lock, struct nbq_node *node,
			struct nbq_node *pred, struct nbq_deadline deadline, unsigned long ip)
{
	return wait_linked(lock, node, pred, deadline, ip,
			   node->known ? NULL : nbq_mcs_link(node, pred));
}

/* Without users, a TRANSIENT node has been notified: destroy may reclaim it. */
static struct nbq_node *pred_of(const struct nbq_node *node)
{
	/*
	 * ACQUIRE, pairs with the swaps of next in publish_abandoned() and nbq_mcs_release():
	 * prev of an abandoned node. Without it, an attempt without patience could follow an
	 * older prev to an AVAILABLE node, and enqueue at a held lock.
	 */
	struct nbq_node *state = smp_load_acquire(&node->next);

	if (state == NBQ_LEAVING || state == NBQ_TRANSIENT)
		return READ_ONCE(node->prev);
	return state == NBQ_AVAILABLE ? state : NULL;
}

static const struct nbq_queue_ops ops = {
	.type = NBQ_TYPE_MCS,
	.enqueue = nbq_mcs_enqueue,
	.wait = wait_in_queue,
	.resume = nbq_mcs_resume,
	.wait_resumed = wait_resumed,
	.release = nbq_mcs_release,
	.pred_of = pred_of,
};

bool nbq_mcs_take_back(struct nbq_node *node)
{
	return nbq_queue_take_back(node, &ops);
}

NBQ_DEFINE_QUEUE_LOCK(mcs, &ops,
		      nbq_mcs_init_key, nbq_mcs_destroy,
		      nbq_mcs_is_locked, nbq_mcs_is_contended,
		      nbq_mcs_lock_timeout, nbq_mcs_lock_until, nbq_mcs_lock_timeout_info,
		      nbq_mcs_trylock, nbq_mcs_lock, nbq_mcs_unlock,
		      __nbq_mcs_lock_timeout_nested, __nbq_mcs_lock_nested);
