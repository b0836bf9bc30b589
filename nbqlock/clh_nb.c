// SPDX-License-Identifier: GPL-2.0
/*
 * CLH-NB: a queue-based spinlock with non-blocking timeout.
 *
 * Michael L. Scott, "Non-Blocking Timeout in Scalable Queue-Based Spin Locks", PODC 2002,
 * section 2.1 and appendix; University of Rochester TR 773.
 *
 * In the textbook CLH lock each waiter knows its predecessor: it swaps its own node into the
 * tail, and spins on a flag in the node that the swap returned. Here the flag is a pointer,
 * prev, so that a node can also say that it was abandoned, and which predecessor it had.
 *
 * Assumptions
 *	Caches are coherent: a waiter spins on its predecessor's node.
 *	Preemption is off from the allocation of a node to the unlock.
 *	A node is allocated by its own CPU only (node.c); its memory stays a node.
 *
 * States of a node, by prev
 *
 *	                  +-- abandon, as tail ------------------> free
 *	  enqueue         |                                         ^
 *	free --> NULL ----+-- abandon --> (pred) --> RECYCLED ----->|
 *	        waiting   |             abandoned     a successor   |
 *	        or holds  |              |            skips it      |
 *	          ^       |              |                          |
 *	          +-------|--- resume ---+                          |
 *	                  |                                         |
 *	                  +-- release --> AVAILABLE ----------------+
 *	                                  at rest    the next holder frees it
 *
 * Below, a queue is drawn from its head to its tail: H holds, W waits, L is abandoned, A is
 * AVAILABLE, [] is the queue of a new lock.
 *
 * Departures from the paper
 *	A lock that was used keeps the last holder's node, as the textbook CLH lock does: a release
 *	is one store, and leaves the lock's line to those that enqueue. In print a release first
 *	tries to take the node off the tail. A CPU that runs short of nodes takes back those that it
 *	has left in locks at rest (queue_lock.h).
 *	The deadline is checked only while the predecessor waits or holds, not between two
 *	abandoned nodes. In print it also ends the skipping. Then attempts without patience
 *	never acquire a free lock behind two abandoned nodes: each skips one node, and adds
 *	one.
 *	To abandon, a waiter first tries to take its node off the tail, and publishes prev
 *	only if that fails, as in the paper's code. The paper's prose has the reverse order.
 *	Then a successor can free the node in between, a nested context of the same pool can
 *	enqueue with it, and the swap of the tail succeeds for the wrong attempt: there are
 *	two holders.
 *	An attempt whose CPU has abandoned a node in the queue resumes that place, unless a
 *	successor has skipped it. So a successor claims an abandoned node by a
 *	compare-and-swap. In print each attempt adds a node, and attempts with little
 *	patience abandon faster than successors skip.
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
 * Own steps, accesses to shared memory that wait for no other CPU: at most 2 to abandon (swap the
 * tail, then free the node or store prev), 1 to release.
 */
#include <linux/atomic.h>
#include <linux/errno.h>

#include "clh.h"
#include "internal.h"
#include "queue_lock.h"
#include "relax.h"
#include "trace.h"

/*
 * Enqueue.
 *
 *	[]	-> node			NULL
 *	.. pred	-> .. pred node		pred
 *
 * Return: the predecessor; NULL: the lock was new and is acquired.
 */
VISIBLE_IF_KUNIT
struct nbq_node *nbq_clh_enqueue(struct nbq_queue_lock *lock, struct nbq_node *node)
{
	/*
	 * Marked: nbq_queue_is_idle() of an attempt that has found the node in the tail in its
	 * last life may read it now.
	 */
	WRITE_ONCE(node->prev, NULL);
	/*
	 * Fully ordered. RELEASE: prev = NULL is seen by the successor, which gets the node
	 * from the tail and polls prev in nbq_clh_poll(); else it could see the AVAILABLE
	 * of the last life. ACQUIRE, pairs with the swap that takes a node out of a lock at rest
	 * (queue_lock.h): the critical section before is over for the attempt that finds NULL;
	 * with the predecessor's enqueue: its prev = NULL; and with the swap in
	 * nbq_clh_abandon(), which puts a predecessor back. Full, for the epochs of
	 * wait_deadlock.c: reads after it are not older than those of a context that finds the
	 * node.
	 */
	return xchg(&lock->tail, node);
}
EXPORT_SYMBOL_IF_KUNIT(nbq_clh_enqueue);

/*
 * Poll the predecessor.
 *
 * Return: NULL: it waits or holds. NBQ_AVAILABLE: the lock is acquired. A node: it was
 * abandoned, and that node is its predecessor.
 */
VISIBLE_IF_KUNIT
struct nbq_node *nbq_clh_poll(const struct nbq_node *pred)
{
	/*
	 * ACQUIRE, pairs with the RELEASE stores of AVAILABLE in nbq_clh_release() and of a
	 * node in nbq_clh_abandon(). Without it, the critical section could begin before the
	 * last one has ended, and pred could be freed before its owner's last store to it.
	 */
	return smp_load_acquire(&pred->prev);
}
EXPORT_SYMBOL_IF_KUNIT(nbq_clh_poll);

/*
 * Skip an abandoned predecessor: .. prev L node -> .. prev node. Only its own CPU knows of it,
 * besides; unless that has resumed the place, it is reclaimed.
 *
 * Return: the new predecessor; or the old one, which waits again.
 */
VISIBLE_IF_KUNIT
struct nbq_node *nbq_clh_skip(struct nbq_node *node, struct nbq_node *pred,
			      struct nbq_node *prev)
{
	if (!nbq_node_skip(pred, prev))
		return pred;
	trace_nbq_reclaim(pred);
	nbq_node_reclaim(pred, &node->pool->events);
	return prev;
}
EXPORT_SYMBOL_IF_KUNIT(nbq_clh_skip);

/* The predecessor has released: A node .. -> H .. */
VISIBLE_IF_KUNIT
void nbq_clh_granted(struct nbq_queue_lock *lock, struct nbq_node *node,
		     struct nbq_node *pred)
{
	nbq_held_add(node->pool, node, lock, NBQ_TYPE_CLH);
	nbq_node_reclaim(pred, &node->pool->events);
}
EXPORT_SYMBOL_IF_KUNIT(nbq_clh_granted);

/*
 * Abandon the place, at any position.
 *
 *	.. pred W	-> .. pred		the tail: true
 *	.. pred W succ	-> .. pred L succ	not the tail: false
 *	.. pred W	-> .. pred L		the tail, but it stays: false
 *
 * So a lock can keep a node of each CPU and context level, which the next attempt there resumes.
 *
 * Return: true if the node was freed; else a successor reclaims it, and it must not be
 * accessed.
 */
VISIBLE_IF_KUNIT
bool nbq_clh_abandon(struct nbq_queue_lock *lock, struct nbq_node *node,
		     struct nbq_node *pred)
{
	struct nbq_events *events = &node->pool->events;

	/*
	 * RELEASE, pairs with the ACQUIRE of a later nbq_clh_enqueue(), which gets pred from
	 * the tail instead of this node: what made pred visible here is visible there.
	 *
	 * The node cannot have been freed and reused meanwhile: no context knows yet that it
	 * is abandoned.
	 */
	if (!node->resumed &&
	    cmpxchg_release(&lock->tail, node, pred) == node) {
		nbq_node_free_own(node);
		return true;
	}
	nbq_note_abandoned(node, lock, NBQ_TYPE_CLH);
	/*
	 * RELEASE, pairs with the ACQUIRE in nbq_clh_poll(): as above, for the successor that
	 * continues at pred. The last access to the node.
	 */
	smp_store_release(&node->prev, pred);
	events->nodes_abandoned++;
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(nbq_clh_abandon);

/*
 * End the critical section: H .. -> A ..
 *
 * With this store another context may acquire the lock, release it and free its memory: neither the
 * node nor the lock may be accessed after it.
 */
VISIBLE_IF_KUNIT
void nbq_clh_release(struct nbq_node *node)
{
	/*
	 * RELEASE, pairs with the ACQUIRE in nbq_clh_poll(): the critical section is over for
	 * the context that reads AVAILABLE.
	 */
	smp_store_release(&node->prev, NBQ_AVAILABLE);
}
EXPORT_SYMBOL_IF_KUNIT(nbq_clh_release);

/*
 * Spin until the lock is granted or the wait is over, and skip abandoned predecessors. @pred
 * becomes the last one.
 *
 * Return: whether the lock was granted.
 */
static bool spin_on_pred(struct nbq_node *node, struct nbq_node **pred, struct nbq_wait *wait)
{
	unsigned long skipped = 0;
	struct nbq_node *prev;

	/* The node first and the clock last: a late grant is still a grant. */
	while ((prev = nbq_clh_poll(*pred)) != NBQ_AVAILABLE) {
		struct nbq_node *last = *pred;

		if (prev) {
			nbq_wait_pause(wait);
			*pred = nbq_clh_skip(node, last, prev);
		}
		if (*pred != last) {
			skipped++;
			continue;
		}
		/* It waits or holds, or waits again. */
		if (!nbq_wait_continue_behind_pred(wait, last, &last->prev))
			break;
		nbq_relax(wait, &last->prev);
	}
	nbq_wait_pause(wait);
	nbq_count_skipped(node->pool, skipped);
	return prev == NBQ_AVAILABLE;
}

/*
 * Wait behind pred. Abandoned nodes are skipped whatever the deadline is: each skip frees a
 * node, and there are no more than the queue had when this node was enqueued.
 */
static noinline int wait_in_queue(struct nbq_queue_lock *lock, struct nbq_node *node,
				  struct nbq_node *pred,
				  struct nbq_deadline deadline, unsigned long ip)
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

	if (!spin_on_pred(node, &pred, &wait)) {
		bool freed = nbq_clh_abandon(lock, node, pred);

		trace_nbq_abandon(lock, !freed, wait.error);
		return nbq_wait_end(&wait, wait.error);
	}
	nbq_clh_granted(lock, node, pred);
	return nbq_wait_end(&wait, 0);
}

static const struct nbq_queue_ops ops = {
	.type = NBQ_TYPE_CLH,
	.enqueue = nbq_clh_enqueue,
	.wait = wait_in_queue,
	.resume = nbq_node_resume,
	.wait_resumed = wait_in_queue,
	.release = nbq_clh_release,
	.pred_of = nbq_clh_poll,
};

bool nbq_clh_take_back(struct nbq_node *node)
{
	return nbq_queue_take_back(node, &ops);
}

NBQ_DEFINE_QUEUE_LOCK(clh, &ops,
		      nbq_clh_init_key, nbq_clh_destroy,
		      nbq_clh_is_locked, nbq_clh_is_contended,
		      nbq_clh_lock_timeout, nbq_clh_lock_until, nbq_clh_lock_timeout_info,
		      nbq_clh_trylock, nbq_clh_lock, nbq_clh_unlock,
		      __nbq_clh_lock_timeout_nested, __nbq_clh_lock_nested);
