/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the verbs of all lock types have in common. An algorithm's file includes
 * this at its end, with NBQ_TYPE as for lock_type.h, where the verbs are
 * described. What it must have by then is its own:
 *
 *	struct nbq_node *nbq_X_enqueue(struct nbq_X *lock, struct nbq_node *node);
 *		enter the queue; the predecessor, or NULL: the lock is mine
 *	static int wait_in_queue(struct nbq_X *lock, struct nbq_node *node,
 *			struct nbq_node *pred, struct nbq_deadline deadline,
 *			struct lockdep_map *waits, unsigned long ip);
 *		0: the lock is mine; or -ETIMEDOUT, -EDEADLK
 *	static struct nbq_node *resume(struct nbq_node *node, const void *lock);
 *		resume the place in the lock's queue at which the node may stand
 *		abandoned; the predecessor, or NULL: it does not
 *	static int wait_resumed(...);
 *		as wait_in_queue(), of a node whose place was resumed
 *	nbq_X_release(struct nbq_X *lock, struct nbq_node *node);
 *		end the critical section
 *	static struct nbq_node *pred_of(const struct nbq_node *node);
 *		who stood in front of a node that was left; %NBQ_AVAILABLE: the
 *		node is the one that makes the lock available; NULL: somebody
 *		waits or holds with it. ACQUIRE: what was done to the node
 *		before it said so is over.
 */
#include <asm/mmiowb.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/instruction_pointer.h>
#include <linux/lockdep.h>
#include <linux/preempt.h>
#include <linux/smp.h>

#include "contention.h"

#define nbq_X_enqueue			__PASTE(NBQ_TYPE, _enqueue)
#define nbq_X_release			__PASTE(NBQ_TYPE, _release)

void nbq_X_init_key(struct nbq_X *lock, const char *name,
		    struct lock_class_key *key)
{
	nbq_forget_places(lock);
	lock->tail = NULL;
	lockdep_init_map_wait(&lock->dep_map, name, key, 0, LD_WAIT_SPIN);
}
EXPORT_SYMBOL_GPL(nbq_X_init_key);

/*
 * Are there only abandoned nodes in this queue, behind an available node? If not, a
 * context holds the lock or waits for it. By loads only: what gives up at once leaves the
 * lock's line to those who need it.
 *
 * A node is the tail's while the tail is the same. Those in front can be skipped meanwhile,
 * by one that has resumed its place; the next queue that such a node enters, as its @lock,
 * is known before what it says there.
 */
static bool is_idle(const struct nbq_X *lock, const struct nbq_node *tail)
{
	const struct nbq_node *node = tail;

	while (nbq_is_node(node)) {
		const struct nbq_node *prev = pred_of(node);

		if (node == tail ? READ_ONCE(lock->tail) != tail :
				   READ_ONCE(node->lock) != lock)
			return false;
		node = prev;
	}
	return !tail || node == NBQ_AVAILABLE;
}

/* A lock that was free is mine. */
static __always_inline int acquired_uncontended_lock(struct nbq_X *lock, struct nbq_node *node,
					    struct nbq_pool *pool)
{
	nbq_held_add(node, lock);
	pool->events.acquired_uncontended++;
	return 0;
}

/*
 * There is no patience, or contention is traced, or the node taken last is in use, or one was
 * abandoned: what comes before the attempt enqueues, and what finds it another node or waits
 * for one.
 */
static noinline int acquire_slowpath(struct nbq_X *lock, struct nbq_deadline deadline,
				     struct lockdep_map *waits, unsigned long ip)
{
	struct nbq_pool *pool = nbq_this_pool();
	struct nbq_node *node, *pred;

	if ((nbq_deadline_is_none(&deadline) || nbq_contention_is_traced()) &&
	    !is_idle(lock, READ_ONCE(lock->tail))) {
		if (nbq_deadline_is_none(&deadline)) {
			pool->events.failed_tries++;
			return -EBUSY;
		}
		nbq_wait_announce(&deadline, lock, waits, ip);
	}
	node = nbq_resume(pool, lock, resume, &pred);
	if (node)
		return wait_resumed(lock, node, pred, deadline, waits, ip);
	node = nbq_node_alloc(pool) ?: nbq_node_wait(pool, &deadline);
	if (unlikely(!node)) {
		if (deadline.announced)
			nbq_contention_end(lock, -ENOMEM);
		return -ENOMEM;
	}
	pred = nbq_X_enqueue(lock, node);
	if (pred)
		return wait_in_queue(lock, node, pred, deadline, waits, ip);
	if (deadline.announced)
		nbq_contention_end(lock, 0);
	return acquired_uncontended_lock(lock, node, pool);
}

/*
 * See define_verbs.h. Inline, and all else is called last: a lock that is free, with
 * the node that is nearly always free as well, costs no register saved.
 */
static __always_inline int acquire(struct nbq_X *lock, struct nbq_deadline deadline,
				   struct lockdep_map *waits, unsigned long ip)
{
	struct nbq_pool *pool = nbq_this_pool();
	struct nbq_node *node, *pred;

	if (unlikely(nbq_deadline_is_none(&deadline) || nbq_contention_is_traced() ||
		     pool->abandoned_in))
		return acquire_slowpath(lock, deadline, waits, ip);
	node = nbq_node_alloc_hint(pool);
	if (unlikely(!node))
		return acquire_slowpath(lock, deadline, waits, ip);
	pred = nbq_X_enqueue(lock, node);
	if (unlikely(pred))
		return wait_in_queue(lock, node, pred, deadline, waits, ip);
	return acquired_uncontended_lock(lock, node, pool);
}

static u16 context_of_holder(const struct nbq_X *lock)
{
	return nbq_find_holder(lock);
}

#include "define_verbs.h"

/* The running context does not hold the lock that it was to release. */
static noinline void report_unlock(const struct nbq_X *lock, unsigned long ip)
{
	if (nbq_X_is_locked(lock))
		nbq_report(NBQ_REPORT_NOT_OWNER, lock, nbq_find_holder(lock), ip);
	else
		nbq_report(NBQ_REPORT_NOT_HELD, lock, 0, ip);
}

void nbq_X_unlock(struct nbq_X *lock) __releases(lock)
{
	struct nbq_node *node = nbq_held_find(nbq_this_pool(), lock);

	__release(lock);
	if (unlikely(!node)) {
		report_unlock(lock, _RET_IP_);
		return;
	}
	spin_release(dep_map_of(lock), _RET_IP_);
	/* Before the lock is seen to be free: writes to devices are in order. */
	mmiowb_spin_unlock();
	nbq_X_release(lock, node);
	preempt_enable();
}
EXPORT_SYMBOL_GPL(nbq_X_unlock);

bool nbq_X_is_locked(const struct nbq_X *lock)
{
	return !is_idle(lock, READ_ONCE(lock->tail));
}
EXPORT_SYMBOL_GPL(nbq_X_is_locked);

bool nbq_X_is_contended(const struct nbq_X *lock)
{
	const struct nbq_node *tail = READ_ONCE(lock->tail);
	const struct nbq_waiting *waiting;

	if (is_idle(lock, tail))
		return false;
	/* An abandoned node stands behind the holder's. */
	if (pred_of(tail))
		return true;
	/* Else it is the holder's, or that of a waiter, which has published what it waits for. */
	waiting = &tail->pool->waiting;
	return READ_ONCE(waiting->pred) && READ_ONCE(waiting->lock) == lock;
}
EXPORT_SYMBOL_GPL(nbq_X_is_contended);

int nbq_X_destroy(struct nbq_X *lock)
{
	struct nbq_node *node = READ_ONCE(lock->tail);
	struct nbq_events *events;

	/*
	 * The swap is fully ordered: it pairs with the RELEASE of whoever
	 * left or released last, as the next to join would, so that the nodes
	 * are given back after all that their last users did.
	 */
	if (!is_idle(lock, node) || cmpxchg(&lock->tail, node, NULL) != node) {
		nbq_report(NBQ_REPORT_IN_USE, lock, nbq_find_holder(lock), _RET_IP_);
		return -EBUSY;
	}

	preempt_disable();
	events = &nbq_this_pool()->events;
	while (nbq_is_node(node)) {
		struct nbq_node *prev = pred_of(node);

		nbq_node_reclaim(node, events);
		node = prev;
	}
	preempt_enable();
	return 0;
}
EXPORT_SYMBOL_GPL(nbq_X_destroy);
