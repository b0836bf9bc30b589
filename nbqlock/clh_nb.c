// SPDX-License-Identifier: GPL-2.0
/*
 * CLH-NB: a queue-based spinlock with non-blocking timeout.
 *
 * Michael L. Scott, "Non-Blocking Timeout in Scalable Queue-Based Spin Locks",
 * PODC 2002, section 2.1 and appendix; University of Rochester TR 773.
 *
 * The textbook CLH lock is a list in which everyone knows only the node in
 * front: swap your own node into the tail, spin on a flag in the node that the
 * swap returned. Here the flag is a pointer, prev, so that a node can also
 * say: "I have left; this is who stood in front of me".
 *
 * Assumptions
 *	Caches are coherent: a waiter spins on its predecessor's node.
 *	Preemption is off from the claim of a node to the unlock.
 *	A node is claimed by its own CPU only (node.c); its memory stays a node.
 *
 * States of a node, by prev, and who moves it
 *
 *	                  +-- leave, as tail --------------------> free
 *	  join            |                                         ^
 *	free --> NULL ----+-- leave --> (pred), "abandoned" ------->|
 *	        waiting   |                      a successor steps  |
 *	        or holds  |                      over it            |
 *	                  +-- hand over --> AVAILABLE ------------->|
 *	                  |                      a successor takes  |
 *	                  |                      the lock           |
 *	                  +-- release, as tail ---------------------+
 *
 * Below, a queue is drawn from its front to its tail: H holds, W waits, L has
 * left, A is AVAILABLE, [] is the empty queue.
 *
 * Departures from the paper
 *	A waiter steps over leavers without looking at the clock, and looks
 *	only when its predecessor waits or holds. In print the clock ends the
 *	walk too: a free lock behind two leavers is then never taken by those
 *	without patience, each of whom gets one step far and adds a node.
 *	A leaver tries to take itself off the tail first and publishes prev
 *	only if that fails, as in the paper's code. The paper's prose says the
 *	reverse; then a successor can give the node back in between, and with
 *	a nested context on the same pool the swap on the tail succeeds for a
 *	node that is somebody else's by then (two holders).
 *	Releasing clears holder first, so that a release of a lock that nobody
 *	holds is noticed.
 *	An empty pool makes the attempt fail with -ENOMEM once the patience is
 *	over; the paper allocates.
 *
 * Own steps on shared memory: at most 2 to leave (swap the tail, else store
 * prev), at most 4 to release (read and clear holder, swap the tail, else
 * store prev).
 */
#include <linux/atomic.h>
#include <linux/bug.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/instruction_pointer.h>
#include <linux/lockdep.h>
#include <linux/preempt.h>
#include <linux/processor.h>
#include <linux/smp.h>

#include "internal.h"

/*
 * Enter the queue.
 *
 *	[]	-> node			NULL
 *	.. pred	-> .. pred node		pred
 *
 * Return: my predecessor; NULL: the lock was free and is mine.
 */
VISIBLE_IF_KUNIT
struct nbq_node *nbq_clh_join(struct nbq_clh *lock, struct nbq_node *node)
{
	/*
	 * Marked, although the node is mine alone: one who waited behind it in
	 * its last life, and left by swapping the tail back to it, may still
	 * be looking. It reads NULL either way.
	 */
	WRITE_ONCE(node->prev, NULL);
	/*
	 * Fully ordered. RELEASE: prev = NULL above is seen by the successor
	 * that gets my node from the tail and looks at prev (nbq_clh_look());
	 * else it could see the AVAILABLE of the node's last life. ACQUIRE,
	 * pairs with the swap in nbq_clh_hand_over(): a NULL hands me the
	 * lock, so the last critical section must be over in my eyes; and
	 * with the predecessor's own join: its prev = NULL.
	 */
	return xchg(&lock->tail, node);
}
EXPORT_SYMBOL_IF_KUNIT(nbq_clh_join);

/*
 * Look at the predecessor once.
 *
 * Return: NULL: it waits or holds. NBQ_AVAILABLE: the lock is mine. A node: it
 * has left, and that node stood in front of it.
 */
VISIBLE_IF_KUNIT
struct nbq_node *nbq_clh_look(struct nbq_node *pred)
{
	/*
	 * ACQUIRE, pairs with the RELEASE stores of AVAILABLE in
	 * nbq_clh_hand_over() and of a node in nbq_clh_leave(). Without it,
	 * my critical section could begin before the last one has ended, and
	 * I could give pred back while its leaver's store is under way.
	 */
	return smp_load_acquire(&pred->prev);
}
EXPORT_SYMBOL_IF_KUNIT(nbq_clh_look);

/*
 * Step over a predecessor that has left: .. prev L node -> .. prev node.
 * Only I know of it, so I give it back.
 *
 * Return: my new predecessor.
 */
VISIBLE_IF_KUNIT
struct nbq_node *nbq_clh_step_over(struct nbq_node *node, struct nbq_node *pred,
				   struct nbq_node *prev)
{
	nbq_node_give_back(pred);
	node->pool->events.nodes_reclaimed++;
	return prev;
}
EXPORT_SYMBOL_IF_KUNIT(nbq_clh_step_over);

/* The predecessor has handed the lock over: A node .. -> H .. */
VISIBLE_IF_KUNIT
void nbq_clh_take_over(struct nbq_clh *lock, struct nbq_node *node,
		       struct nbq_node *pred)
{
	WRITE_ONCE(lock->holder, node);
	nbq_node_give_back(pred);
	node->pool->events.nodes_reclaimed++;
}
EXPORT_SYMBOL_IF_KUNIT(nbq_clh_take_over);

/*
 * Leave the queue, from any position.
 *
 *	.. pred W	-> .. pred		I was the tail, true
 *	.. pred W succ	-> .. pred L succ	I was not, false
 *
 * Return: true if the node was given back; else a successor will do it, and
 * the node must not be touched.
 */
VISIBLE_IF_KUNIT
bool nbq_clh_leave(struct nbq_clh *lock, struct nbq_node *node,
		   struct nbq_node *pred)
{
	struct nbq_events *events = &node->pool->events;

	/*
	 * RELEASE, pairs with the ACQUIRE of a later nbq_clh_join(), which
	 * gets pred from the tail instead of me: whatever made pred visible
	 * to me is visible to it.
	 *
	 * My node cannot have been freed and reused while I expect it here:
	 * nobody has been told that I leave.
	 */
	if (cmpxchg_release(&lock->tail, node, pred) == node) {
		nbq_node_give_back(node);
		events->nodes_given_back++;
		return true;
	}
	/*
	 * RELEASE, pairs with the ACQUIRE in nbq_clh_look(): as above, for
	 * the successor that goes on to pred. My last access to the node.
	 */
	smp_store_release(&node->prev, pred);
	events->nodes_abandoned++;
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(nbq_clh_leave);

/*
 * End the critical section.
 *
 *	[H]		-> []			I was the tail, true
 *	H succ ..	-> A succ ..		I was not, false
 *
 * With the last store somebody else may take the lock, release it and free its
 * memory: neither the node nor the lock may be touched after it.
 *
 * Return: true if the node was given back; else a successor will do it.
 */
VISIBLE_IF_KUNIT
bool nbq_clh_hand_over(struct nbq_clh *lock, struct nbq_node *node)
{
	struct nbq_events *events = &node->pool->events;

	/* Before either RELEASE below, so that it cannot undo the next owner's. */
	WRITE_ONCE(lock->holder, NULL);
	/*
	 * RELEASE, pairs with the ACQUIRE in nbq_clh_join() that reads the
	 * NULL: the critical section is over for whoever finds the lock free.
	 */
	if (cmpxchg_release(&lock->tail, node, NULL) == node) {
		nbq_node_give_back(node);
		events->nodes_given_back++;
		return true;
	}
	/*
	 * RELEASE, pairs with the ACQUIRE in nbq_clh_look(): the critical
	 * section is over for whoever reads AVAILABLE.
	 */
	smp_store_release(&node->prev, NBQ_AVAILABLE);
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(nbq_clh_hand_over);

/*
 * Spin until the predecessor says something or the patience is over.
 *
 * Return: as nbq_clh_look(); NULL: the patience is over.
 */
static struct nbq_node *await(struct nbq_node *pred,
			      struct nbq_deadline *deadline)
{
	struct nbq_node *prev;

	/* The node first and the clock last: a late grant is still a grant. */
	while (!(prev = nbq_clh_look(pred)) && !nbq_deadline_passed(deadline))
		cpu_relax();
	return prev;
}

/*
 * Behind pred, until the lock is mine or the patience is over. The clock has a
 * say only while the predecessor waits or holds: each step of the walk gives a
 * node back, and it is no longer than the queue was when I joined.
 */
static noinline int wait_in_queue(struct nbq_clh *lock, struct nbq_node *node,
				  struct nbq_node *pred,
				  struct nbq_deadline *deadline)
{
	struct nbq_events *events = &node->pool->events;
	struct nbq_node *prev = await(pred, deadline);
	unsigned long walk = 0;

	while (prev && prev != NBQ_AVAILABLE) {
		pred = nbq_clh_step_over(node, pred, prev);
		walk++;
		prev = await(pred, deadline);
	}
	nbq_record(&events->longest_walk, walk);

	if (!prev) {
		nbq_clh_leave(lock, node, pred);
		events->timeouts++;
		return -ETIMEDOUT;
	}
	nbq_clh_take_over(lock, node, pred);
	events->acquired_handoff++;
	return 0;
}

/* What every verb that acquires has in common. Preemption is off. */
static int acquire(struct nbq_clh *lock, struct nbq_deadline deadline)
{
	struct nbq_pool *pool = nbq_this_pool();
	struct nbq_node *node, *pred;

	node = nbq_node_claim(pool);
	if (unlikely(!node)) {
		node = nbq_node_wait(pool, &deadline);
		if (!node)
			return -ENOMEM;
	}
	pred = nbq_clh_join(lock, node);
	if (pred)
		return wait_in_queue(lock, node, pred, &deadline);

	WRITE_ONCE(lock->holder, node);
	pool->events.acquired_uncontended++;
	return 0;
}

/* An acquisition that may fail: preemption and lockdep as if it had not been. */
static int acquire_or_give_up(struct nbq_clh *lock, struct nbq_deadline deadline,
			      unsigned long ip)
{
	int ret;

	preempt_disable();
	ret = acquire(lock, deadline);
	if (ret)
		preempt_enable();
	else
		spin_acquire(&lock->dep_map, 0, 1, ip);
	return ret;
}

/**
 * nbq_clh_init_key() - Make a CLH-NB lock; use nbq_clh_init().
 * @lock: memory for the lock
 * @name: its name, for lockdep
 * @key: its class, for lockdep
 */
void nbq_clh_init_key(struct nbq_clh *lock, const char *name,
		      struct lock_class_key *key)
{
	lock->tail = NULL;
	lock->holder = NULL;
	lockdep_init_map_wait(&lock->dep_map, name, key, 0, LD_WAIT_SPIN);
}
EXPORT_SYMBOL_GPL(nbq_clh_init_key);

/**
 * nbq_clh_lock_timeout() - Acquire, or give up after a time.
 * @lock: the lock
 * @patience: ns to wait at most; 0 or less: one walk over the queue without
 *	waiting, as nbq_clh_trylock(); %KTIME_MAX: as nbq_clh_lock()
 *
 * Late by at most %NBQ_POLLS_PER_CLOCK polls (with an empty pool: one search of
 * it), one clock read and the steps of leaving, as long as the CPU runs. Each
 * leaver in front is stepped over first, whatever the clock says.
 *
 * Context: Any. Returns with preemption off if the lock was acquired.
 * Return:
 * * 0		- the lock is held
 * * -ETIMEDOUT	- the patience is over
 * * -ENOMEM	- the patience is over and no queue node could be had in it:
 *		  see the parameters pool_nodes and pool_nodes_max
 */
int nbq_clh_lock_timeout(struct nbq_clh *lock, ktime_t patience)
{
	return acquire_or_give_up(lock, nbq_deadline_after(patience), _RET_IP_);
}
EXPORT_SYMBOL_GPL(nbq_clh_lock_timeout);

/**
 * nbq_clh_lock_until() - Acquire, or give up at a time.
 * @lock: the lock
 * @deadline: CLOCK_MONOTONIC time to give up at, in ns; one already past: one
 *	walk over the queue without waiting; %KTIME_MAX: as nbq_clh_lock()
 *
 * For several locks under one budget: take ktime_get() once, add, pass the sum
 * to each. Otherwise as nbq_clh_lock_timeout().
 *
 * Context: Any. Returns with preemption off if the lock was acquired.
 * Return:
 * * 0		- the lock is held
 * * -ETIMEDOUT	- the deadline has passed
 * * -ENOMEM	- the deadline has passed and no queue node could be had
 */
int nbq_clh_lock_until(struct nbq_clh *lock, ktime_t deadline)
{
	return acquire_or_give_up(lock, nbq_deadline_at(deadline), _RET_IP_);
}
EXPORT_SYMBOL_GPL(nbq_clh_lock_until);

/**
 * nbq_clh_trylock() - Acquire if that needs no waiting.
 * @lock: the lock
 *
 * Succeeds whenever the lock is free, also when nodes that others abandoned
 * stand in front of it.
 *
 * Context: Any. Returns with preemption off if the lock was acquired.
 * Return: true if the lock is held now; false if somebody holds it or waits
 * for it, or if no queue node was free.
 */
bool nbq_clh_trylock(struct nbq_clh *lock)
{
	return !acquire_or_give_up(lock, nbq_deadline_at(KTIME_MIN), _RET_IP_);
}
EXPORT_SYMBOL_GPL(nbq_clh_trylock);

/**
 * nbq_clh_lock() - Acquire, however long it takes.
 * @lock: the lock
 *
 * Context: Any in which the holder can make progress. Returns with preemption
 * off.
 */
void nbq_clh_lock(struct nbq_clh *lock)
{
	preempt_disable();
	spin_acquire(&lock->dep_map, 0, 0, _RET_IP_);
	acquire(lock, nbq_deadline_at(KTIME_MAX));
}
EXPORT_SYMBOL_GPL(nbq_clh_lock);

/**
 * nbq_clh_unlock() - Release, to the next in the queue if there is one.
 * @lock: a lock that this context acquired on this CPU
 *
 * A lock that nobody holds, or that another CPU holds, is left as it is, with
 * a warning (once).
 *
 * Context: The holder's. Turns preemption back on.
 */
void nbq_clh_unlock(struct nbq_clh *lock)
{
	struct nbq_node *node = READ_ONCE(lock->holder);

	if (WARN_ONCE(!node, "nbqlock: unlock of %p, which nobody holds\n", lock))
		return;
	if (WARN_ONCE(node->pool->cpu != raw_smp_processor_id(),
		      "nbqlock: unlock of %p, which CPU %u holds\n",
		      lock, node->pool->cpu))
		return;
	spin_release(&lock->dep_map, _RET_IP_);
	nbq_clh_hand_over(lock, node);
	preempt_enable();
}
EXPORT_SYMBOL_GPL(nbq_clh_unlock);

/**
 * nbq_clh_is_locked() - Does somebody hold the lock?
 * @lock: the lock
 *
 * Context: Any.
 * Return: true if the lock was held when looked at. Advisory: it may have
 * changed, and a lock counts as free for a moment while it changes hands.
 */
bool nbq_clh_is_locked(const struct nbq_clh *lock)
{
	return READ_ONCE(lock->holder);
}
EXPORT_SYMBOL_GPL(nbq_clh_is_locked);

/**
 * nbq_clh_is_contended() - Does somebody wait behind the holder?
 * @lock: the lock
 *
 * Context: Any.
 * Return: true if the lock was held and a node stood behind the holder's.
 * Advisory: whoever waits may have left since, or have left its node only.
 */
bool nbq_clh_is_contended(const struct nbq_clh *lock)
{
	const struct nbq_node *holder = READ_ONCE(lock->holder);

	return holder && READ_ONCE(lock->tail) != holder;
}
EXPORT_SYMBOL_GPL(nbq_clh_is_contended);

/*
 * Is this queue made of nothing but leavers behind an available node?
 *
 * Takes the tail of a lock that should have no users left; NULL is the empty
 * queue.
 */
static bool is_idle(const struct nbq_node *tail)
{
	const struct nbq_node *node = tail;

	while (node && node != NBQ_AVAILABLE) {
		/*
		 * ACQUIRE, pairs with the RELEASE stores of prev in
		 * nbq_clh_leave() and nbq_clh_hand_over(), as in nbq_clh_look().
		 */
		node = smp_load_acquire(&node->prev);
	}
	return !tail || node == NBQ_AVAILABLE;
}

/**
 * nbq_clh_destroy() - Give back the nodes that timeouts left in a lock.
 * @lock: a lock that nobody will use any more
 *
 * Call it before the lock's memory goes away; without it, nodes that were
 * abandoned in the queue stay lost to their pools. The lock is as new
 * afterwards.
 *
 * Context: Any. Nobody may hold, wait for or try the lock meanwhile.
 * Return:
 * * 0		- done
 * * -EBUSY	- somebody holds the lock or waits for it: warned (once),
 *		  nothing was touched
 */
int nbq_clh_destroy(struct nbq_clh *lock)
{
	struct nbq_node *node = READ_ONCE(lock->tail);
	struct nbq_events *events;

	/*
	 * The swap is fully ordered: it pairs with the RELEASE swaps of the
	 * tail in nbq_clh_leave() and nbq_clh_hand_over(), so that the nodes
	 * are given back after all that their last users did.
	 */
	if (WARN_ONCE(nbq_clh_is_locked(lock) || !is_idle(node) ||
		      cmpxchg(&lock->tail, node, NULL) != node,
		      "nbqlock: destroy of %p, which is in use\n", lock))
		return -EBUSY;

	preempt_disable();
	events = &nbq_this_pool()->events;
	while (node && node != NBQ_AVAILABLE) {
		struct nbq_node *prev = node->prev;

		nbq_node_give_back(node);
		events->nodes_reclaimed++;
		node = prev;
	}
	preempt_enable();
	return 0;
}
EXPORT_SYMBOL_GPL(nbq_clh_destroy);
