/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the verbs of all lock types have in common. An algorithm's file includes
 * this at its end, with NBQ_TYPE as for lock_type.h, where the verbs are
 * described. What it must have by then is its own:
 *
 *	struct nbq_node *nbq_X_join(struct nbq_X *lock, struct nbq_node *node);
 *		enter the queue; the predecessor, or NULL: the lock is mine
 *	static int wait_in_queue(struct nbq_X *lock, struct nbq_node *node,
 *			struct nbq_node *pred, struct nbq_deadline *deadline,
 *			struct lockdep_map *waits, unsigned long ip);
 *		0: the lock is mine; or -ETIMEDOUT, -EDEADLK
 *	nbq_X_hand_over(struct nbq_X *lock, struct nbq_node *node);
 *		end the critical section; clears holder before it does
 *	static struct nbq_node *in_front(const struct nbq_node *node);
 *		who stood in front of a node that was left; %NBQ_AVAILABLE: the
 *		node is the one that makes the lock available; NULL: somebody
 *		waits or holds with it. ACQUIRE: what was done to the node
 *		before it said so is over.
 */
#include <linux/bug.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/instruction_pointer.h>
#include <linux/kconfig.h>
#include <linux/lockdep.h>
#include <linux/preempt.h>
#include <linux/processor.h>
#include <linux/smp.h>

#ifdef CONFIG_DEBUG_LOCK_ALLOC
#define dep_map_of(lock)		(&(lock)->dep_map)
#else
#define dep_map_of(lock)		NULL
#endif

#define nbq_X_join			__PASTE(NBQ_TYPE, _join)
#define nbq_X_hand_over			__PASTE(NBQ_TYPE, _hand_over)

void nbq_X_init_key(struct nbq_X *lock, const char *name,
		    struct lock_class_key *key)
{
	lock->tail = NULL;
	lock->holder = NULL;
	lockdep_init_map_wait(&lock->dep_map, name, key, 0, LD_WAIT_SPIN);
}
EXPORT_SYMBOL_GPL(nbq_X_init_key);

/*
 * What every verb that acquires has in common. Preemption is off. @waits: the
 * lock's map if lockdep has been told that this context waits for it, else NULL.
 *
 * What only a wait needs is made where waiting begins, not here.
 */
static int acquire(struct nbq_X *lock, struct nbq_deadline deadline,
		   struct lockdep_map *waits, unsigned long ip)
{
	struct nbq_pool *pool = nbq_this_pool();
	struct nbq_node *node, *pred;

	node = nbq_node_get(pool, &deadline);
	if (unlikely(!node))
		return -ENOMEM;
	pred = nbq_X_join(lock, node);
	if (pred)
		return wait_in_queue(lock, node, pred, &deadline, waits, ip);

	WRITE_ONCE(lock->holder, node);
	pool->events.acquired_uncontended++;
	return 0;
}

/*
 * Is lockdep told of this attempt as of one that waits? Not if it has no patience
 * at all; and not in an NMI, if its patience ends: see "Lockdep" in
 * Documentation/nbqlock.rst. An absolute deadline that has passed counts as
 * patience: whether it has would cost a look at the clock.
 */
static bool is_wait(const struct nbq_deadline *deadline)
{
	if (!IS_ENABLED(CONFIG_DEBUG_LOCK_ALLOC) || nbq_deadline_is_none(deadline))
		return false;
	return deadline->at == KTIME_MAX || !in_nmi();
}

/* lock_stat warns of locks that lockdep was told not to track: say nothing. */
static bool is_tracked(const struct lockdep_map *map)
{
#if defined(CONFIG_LOCK_STAT) && defined(lockdep_set_notrack_class)
	return map->key != &__lockdep_no_track__;
#else
	return true;
#endif
}

/*
 * An acquisition that may fail: preemption and lockdep as if it had not been. One
 * that waits is made known before it does, as by the kernel's own locks, or what
 * can only end by the patience would never be seen.
 */
static int acquire_or_give_up(struct nbq_X *lock, struct nbq_deadline deadline,
			      unsigned int subclass,
			      struct lockdep_map *nest_lock, unsigned long ip)
{
	struct lockdep_map *waits = dep_map_of(lock);
	int ret;

	if (!is_wait(&deadline) || !is_tracked(waits))
		waits = NULL;
	preempt_disable();
	if (waits)
		spin_acquire_nest(waits, subclass, 0, nest_lock, ip);
	ret = acquire(lock, deadline, waits, ip);
	if (ret) {
		if (waits)
			spin_release(waits, ip);
		preempt_enable();
	} else if (waits) {
		lock_acquired(waits, ip);
	} else {
		spin_acquire_nest(dep_map_of(lock), subclass, 1, nest_lock, ip);
	}
	return ret;
}

/* An acquisition that cannot fail. */
static void acquire_for_ever(struct nbq_X *lock, unsigned int subclass,
			     struct lockdep_map *nest_lock, unsigned long ip)
{
	struct lockdep_map *waits = is_tracked(dep_map_of(lock)) ? dep_map_of(lock) : NULL;

	preempt_disable();
	spin_acquire_nest(dep_map_of(lock), subclass, 0, nest_lock, ip);
	/* Nothing but a deadlock ends that; others in it may time out. */
	while (unlikely(acquire(lock, nbq_deadline_at(KTIME_MAX), waits, ip))) {
		WARN_ONCE(true, "nbqlock: waiting for %p is a deadlock\n", lock);
		cpu_relax();
	}
	if (waits)
		lock_acquired(waits, ip);
}

int nbq_X_lock_timeout(struct nbq_X *lock, ktime_t patience)
{
	return acquire_or_give_up(lock, nbq_deadline_after(patience), 0, NULL,
				  _RET_IP_);
}
EXPORT_SYMBOL_GPL(nbq_X_lock_timeout);

int nbq_X_lock_until(struct nbq_X *lock, ktime_t deadline)
{
	return acquire_or_give_up(lock, nbq_deadline_at(deadline), 0, NULL,
				  _RET_IP_);
}
EXPORT_SYMBOL_GPL(nbq_X_lock_until);

bool nbq_X_trylock(struct nbq_X *lock)
{
	return !acquire_or_give_up(lock, nbq_deadline_at(KTIME_MIN), 0, NULL,
				   _RET_IP_);
}
EXPORT_SYMBOL_GPL(nbq_X_trylock);

void nbq_X_lock(struct nbq_X *lock) __acquires(lock)
{
	acquire_for_ever(lock, 0, NULL, _RET_IP_);
	__acquire(lock);
}
EXPORT_SYMBOL_GPL(nbq_X_lock);

#ifdef CONFIG_DEBUG_LOCK_ALLOC
int __nbq_X_lock_timeout_nested(struct nbq_X *lock, ktime_t patience,
				unsigned int subclass,
				struct lockdep_map *nest_lock)
{
	return acquire_or_give_up(lock, nbq_deadline_after(patience), subclass,
				  nest_lock, _RET_IP_);
}
EXPORT_SYMBOL_GPL(__nbq_X_lock_timeout_nested);

int __nbq_X_lock_until_nested(struct nbq_X *lock, ktime_t deadline,
			      unsigned int subclass,
			      struct lockdep_map *nest_lock)
{
	return acquire_or_give_up(lock, nbq_deadline_at(deadline), subclass,
				  nest_lock, _RET_IP_);
}
EXPORT_SYMBOL_GPL(__nbq_X_lock_until_nested);

void __nbq_X_lock_nested(struct nbq_X *lock, unsigned int subclass,
			 struct lockdep_map *nest_lock) __acquires(lock)
{
	acquire_for_ever(lock, subclass, nest_lock, _RET_IP_);
	__acquire(lock);
}
EXPORT_SYMBOL_GPL(__nbq_X_lock_nested);
#endif

void nbq_X_unlock(struct nbq_X *lock) __releases(lock)
{
	struct nbq_node *node = nbq_step(READ_ONCE(lock->holder));

	__release(lock);
	if (WARN_ONCE(!node, "nbqlock: unlock of %p, which nobody holds\n", lock))
		return;
	if (WARN_ONCE(node->cpu != raw_smp_processor_id(),
		      "nbqlock: unlock of %p, which CPU %u holds\n",
		      lock, node->cpu))
		return;
	spin_release(dep_map_of(lock), _RET_IP_);
	nbq_X_hand_over(lock, node);
	preempt_enable();
}
EXPORT_SYMBOL_GPL(nbq_X_unlock);

bool nbq_X_is_locked(const struct nbq_X *lock)
{
	return READ_ONCE(lock->holder);
}
EXPORT_SYMBOL_GPL(nbq_X_is_locked);

bool nbq_X_is_contended(const struct nbq_X *lock)
{
	const struct nbq_node *holder = READ_ONCE(lock->holder);

	return holder && READ_ONCE(lock->tail) != holder;
}
EXPORT_SYMBOL_GPL(nbq_X_is_contended);

/*
 * Is this queue made of nothing but leavers behind an available node?
 *
 * Takes the tail of a lock that should have no users left; NULL is the empty
 * queue.
 */
static bool is_idle(const struct nbq_node *tail)
{
	const struct nbq_node *node = tail;

	while (node && node != NBQ_AVAILABLE)
		node = in_front(node);
	return !tail || node == NBQ_AVAILABLE;
}

int nbq_X_destroy(struct nbq_X *lock)
{
	struct nbq_node *node = READ_ONCE(lock->tail);
	struct nbq_events *events;

	/*
	 * The swap is fully ordered: it pairs with the RELEASE of whoever
	 * left or released last, as the next to join would, so that the nodes
	 * are given back after all that their last users did.
	 */
	if (WARN_ONCE(nbq_X_is_locked(lock) || !is_idle(node) ||
		      cmpxchg(&lock->tail, node, NULL) != node,
		      "nbqlock: destroy of %p, which is in use\n", lock))
		return -EBUSY;

	preempt_disable();
	events = &nbq_this_pool()->events;
	while (node && node != NBQ_AVAILABLE) {
		struct nbq_node *prev = in_front(node);

		nbq_node_reclaim(node, events);
		node = prev;
	}
	preempt_enable();
	return 0;
}
EXPORT_SYMBOL_GPL(nbq_X_destroy);
