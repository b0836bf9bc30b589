/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the strict queue locks have in common: CLH-NB, MCS-NB and the swap-only lock. Each
 * brings its steps in a constant struct nbq_queue_ops. All functions are inline, so the calls
 * of these steps are direct.
 */
#ifndef _NBQ_QUEUE_LOCK_H
#define _NBQ_QUEUE_LOCK_H

#include <asm/mmiowb.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/instruction_pointer.h>
#include <linux/irqflags.h>
#include <linux/lockdep.h>
#include <linux/preempt.h>
#include <linux/prefetch.h>

#include "attempt.h"
#include "contention.h"
#include "internal.h"
#include "trace.h"

/**
 * struct nbq_queue_ops - the steps of a strict queue lock
 * @type: which it is
 * @enqueue: enqueue the node. Return: the predecessor; NULL: the lock was new, and is acquired
 * @wait: wait behind the predecessor. Return: 0: the lock is acquired; or -ETIMEDOUT, -EDEADLK
 * @resume: resume the place at which the node may stand abandoned, in a queue of this type. Return:
 *	the predecessor; NULL: a successor has skipped it
 * @wait_resumed: as @wait, of a node whose place was resumed
 * @release: end the critical section. The node stays in the queue, with or without a successor
 * @pred_of: the predecessor of an abandoned node; %NBQ_AVAILABLE: the node is the one that
 *	makes the lock available; NULL: a context waits or holds with the node. ACQUIRE: the
 *	accesses to the node before it said so are over
 */
struct nbq_queue_ops {
	enum nbq_type type;
	struct nbq_node *(*enqueue)(struct nbq_queue_lock *lock, struct nbq_node *node);
	int (*wait)(struct nbq_queue_lock *lock, struct nbq_node *node, struct nbq_node *pred,
		    struct nbq_deadline deadline, unsigned long ip);
	struct nbq_node *(*resume)(struct nbq_node *node);
	int (*wait_resumed)(struct nbq_queue_lock *lock, struct nbq_node *node,
			    struct nbq_node *pred, struct nbq_deadline deadline,
			    unsigned long ip);
	void (*release)(struct nbq_node *node);
	struct nbq_node *(*pred_of)(const struct nbq_node *node);
};

static __always_inline void nbq_queue_init(struct nbq_queue_lock *lock, const char *name,
					   struct lock_class_key *key)
{
	lock->tail = NULL;
	lockdep_init_map_wait(&lock->dep_map, name, key, 0, LD_WAIT_SPIN);
}

/*
 * Is @node directly in front of @behind, which was abandoned, and was not freed since it was read
 * to be freed last at @freed; NULL: is it the tail?
 */
static __always_inline bool nbq_queue_is_next(const struct nbq_queue_lock *lock,
					      const struct nbq_node *behind, unsigned long freed,
					      const struct nbq_node *node,
					      const struct nbq_queue_ops *ops)
{
	if (behind)
		return ops->pred_of(behind) == node && READ_ONCE(behind->free_seq) == freed;
	/* ACQUIRE, pairs with the swap of the tail: of the node's states, none of its last life. */
	return smp_load_acquire(&lock->tail) == node;
}

/*
 * Are there only abandoned nodes in this queue, behind an available node? If not, a context
 * holds the lock or waits for it. By loads only: an attempt without patience leaves the lock's
 * line shared.
 *
 * A node says what it is in, and is freed and allocated again meanwhile: its state may be that of
 * another life, in another queue. A node in the queue was not freed since it was enqueued there. So
 * if free_seq is the same before and after, and the node was in the queue behind the first read of
 * it, its state is of that life. If it is still there behind its state, which was available, no
 * context had taken the lock at that moment.
 */
static __always_inline bool nbq_queue_is_idle(const struct nbq_queue_lock *lock,
					      const struct nbq_node *tail,
					      const struct nbq_queue_ops *ops)
{
	const struct nbq_node *node = tail, *behind = NULL, *prev;
	unsigned long freed = 0, freed_behind = 0;

	while (nbq_is_node(node)) {
		/*
		 * ACQUIRE, pairs with the RELEASE in nbq_node_free_seq(): it was taken out of its
		 * queue before it was freed.
		 */
		freed = smp_load_acquire(&node->free_seq);
		if (!nbq_queue_is_next(lock, behind, freed_behind, node, ops))
			return false;
		prev = ops->pred_of(node);
		if (prev == NBQ_AVAILABLE)
			break;
		behind = node;
		freed_behind = freed;
		node = prev;
	}
	if (!nbq_is_node(node))
		return !tail;
	return nbq_queue_is_next(lock, behind, freed_behind, node, ops) &&
	       READ_ONCE(node->free_seq) == freed;
}

/*
 * Enqueue the node, behind the one at rest where the lock is free:
 *
 *	[]	-> H		NULL
 *	A	-> H		NULL
 *	.. pred	-> .. pred W	pred
 *
 * A lock that was used keeps the node of the last holder until the next one frees it. Where that
 * was this CPU, it has two nodes in turn: the one that stays in the lock, and the hint.
 *
 * Return: the predecessor; NULL: the lock is acquired.
 */
static __always_inline struct nbq_node *
nbq_queue_enqueue(struct nbq_queue_lock *lock, struct nbq_node *node, struct nbq_pool *pool,
		  const struct nbq_queue_ops *ops)
{
	struct nbq_node *pred = ops->enqueue(lock, node);

	if (!pred || ops->pred_of(pred) != NBQ_AVAILABLE)
		return pred;
	if (likely(pred->pool == pool))
		WRITE_ONCE(pool->hint, pred);
	nbq_node_reclaim(pred, &pool->events);
	return NULL;
}

/* The lock was free. */
static __always_inline void nbq_queue_acquired(struct nbq_queue_lock *lock,
					       struct nbq_node *node, struct nbq_pool *pool,
					       const struct nbq_queue_ops *ops)
{
	nbq_held_add(pool, node, lock, ops->type);
	pool->events.acquired_uncontended++;
}

/* An attempt is over that may have been announced as a wait, and has not waited. */
static inline void nbq_queue_end_contention(const struct nbq_queue_lock *lock,
					    const struct nbq_deadline *deadline, int ret,
					    unsigned long ip)
{
	if (!deadline->announced || deadline->retried)
		return;
	nbq_contention_end(lock, ret);
	trace_nbq_wait_end(lock, NULL, ip, ret, deadline->traced, 0);
}

/* An attempt without patience has failed, whatever the reason. */
static inline int nbq_queue_failed_try(struct nbq_pool *pool)
{
	pool->events.failed_tries++;
	return -EBUSY;
}

/*
 * The attempt has no patience, or contention is traced, or the node allocated last is in use, or a
 * node was abandoned, or the attempt is nested: what precedes its place in the queue.
 */
static noinline int nbq_queue_acquire_slowpath(struct nbq_queue_lock *lock,
					       struct nbq_deadline deadline, unsigned long ip,
					       const struct nbq_queue_ops *ops)
{
	struct nbq_pool *pool = nbq_this_pool();
	struct nbq_node *node, *pred;

	if ((nbq_deadline_is_none(&deadline) ||
	     (nbq_contention_is_traced() && !deadline.announced)) &&
	    !nbq_queue_is_idle(lock, READ_ONCE(lock->tail), ops)) {
		if (nbq_deadline_is_none(&deadline))
			return nbq_queue_failed_try(pool);
		nbq_wait_announce(&deadline, lock, ip);
		trace_nbq_wait_begin(lock, NULL, ip);
	}
	node = nbq_resume(pool, lock, ops->type, ops->resume, &pred);
	if (node)
		return ops->wait_resumed(lock, node, pred, deadline, ip);
	node = nbq_node_alloc(pool) ?: nbq_node_wait(pool, &deadline);
	if (unlikely(!node)) {
		if (nbq_deadline_is_none(&deadline))
			return nbq_queue_failed_try(pool);
		nbq_queue_end_contention(lock, &deadline, -ENOMEM, ip);
		return -ENOMEM;
	}
	pred = nbq_queue_enqueue(lock, node, pool, ops);
	if (pred) {
		node->resumed = false;
		return ops->wait(lock, node, pred, deadline, ip);
	}
	nbq_queue_end_contention(lock, &deadline, 0, ip);
	nbq_queue_acquired(lock, node, pool, ops);
	return 0;
}

/* The rest of an attempt. @node: its node, which is in the queue behind @pred; NULL: none yet */
static __always_inline int nbq_queue_continue(struct nbq_queue_lock *lock,
					      struct nbq_node *node, struct nbq_node *pred,
					      struct nbq_deadline deadline, unsigned long ip,
					      const struct nbq_queue_ops *ops)
{
	if (!node)
		return nbq_queue_acquire_slowpath(lock, deadline, ip, ops);
	node->resumed = false;
	return ops->wait(lock, node, pred, deadline, ip);
}

/*
 * The bare acquisition of a free lock, with the node that was allocated last, which nearly always
 * is free as well. All else is rare, or takes long.
 *
 * Return: true if the lock is acquired; else nbq_queue_continue() is due, with @node and @pred.
 */
static __always_inline bool nbq_queue_acquire_fast(struct nbq_queue_lock *lock,
						   const struct nbq_deadline *deadline,
						   struct nbq_node **node,
						   struct nbq_node **pred,
						   const struct nbq_queue_ops *ops)
{
	struct nbq_pool *pool = nbq_this_pool();

	*node = NULL;
	*pred = NULL;
	if (unlikely(nbq_deadline_is_none(deadline) || nbq_contention_is_traced() ||
		     pool->attempts || nbq_may_have_abandoned(pool, lock)))
		return false;
	*node = nbq_node_alloc_hint(pool, false);
	if (unlikely(!*node))
		return false;
	*pred = nbq_queue_enqueue(lock, *node, pool, ops);
	if (unlikely(*pred))
		return false;
	nbq_queue_acquired(lock, *node, pool, ops);
	return true;
}

/*
 * The parts of the patience are arguments of their own: for a structure of two words gcc makes a
 * frame in the operations.
 */
static noinline int nbq_queue_continue_timed(struct nbq_queue_lock *lock,
					     struct nbq_node *node, struct nbq_node *pred,
					     ktime_t at, bool relative, unsigned long ip,
					     unsigned int subclass,
					     const struct nbq_queue_ops *ops)
{
	struct nbq_deadline deadline = { .at = at, .relative = relative };
	struct lockdep_map *map = nbq_dep_map_of(lock);

	nbq_attempt_recall(map, &deadline, subclass);
	return nbq_attempt_end(map, &deadline,
			       nbq_queue_continue(lock, node, pred, deadline, ip, ops), ip);
}

/*
 * Is the tail's node one with which a context holds or waits? Then the lock is not free. (Or that
 * node has left the queue meanwhile, and is in use elsewhere: then the lock was held in between, or
 * its CPU has taken the node back.)
 */
static __always_inline bool nbq_queue_looks_taken(const struct nbq_queue_lock *lock,
						  const struct nbq_queue_ops *ops)
{
	const struct nbq_node *tail = READ_ONCE(lock->tail);

	return tail && !ops->pred_of(tail);
}

static __always_inline int
nbq_queue_lock_timed(struct nbq_queue_lock *lock, struct nbq_deadline deadline,
		     unsigned int subclass, const struct nbq_queue_ops *ops)
{
	struct lockdep_map *map = nbq_dep_map_of(lock);
	struct nbq_node *node, *pred;

	preempt_disable();
	if (unlikely(nbq_deadline_is_none(&deadline)) && nbq_queue_looks_taken(lock, ops)) {
		nbq_queue_failed_try(nbq_this_pool());
		preempt_enable();
		return -EBUSY;
	}
	nbq_attempt_record(map, &deadline, subclass, _RET_IP_);
	if (likely(nbq_queue_acquire_fast(lock, &deadline, &node, &pred, ops)))
		return nbq_attempt_end(map, &deadline, 0, _RET_IP_);
	return nbq_queue_continue_timed(lock, node, pred, deadline.at, deadline.relative, _RET_IP_,
					subclass, ops);
}

/* An attempt that cannot fail has found a deadlock. */
static noinline void nbq_queue_lock_deadlocked(struct nbq_queue_lock *lock,
					       struct nbq_deadline deadline, unsigned long ip,
					       const struct nbq_queue_ops *ops)
{
	struct nbq_retries retries;

	nbq_report(NBQ_REPORT_DEADLOCK, lock, nbq_find_holder(lock), ip);
	retries = nbq_retries_begin(&deadline, lock, NULL, ip);
	do {
		cpu_relax();
	} while (nbq_queue_acquire_slowpath(lock, retries.never, ip, ops));
	nbq_retries_end(&retries, lock, NULL, ip);
}

static noinline void nbq_queue_continue_untimed(struct nbq_queue_lock *lock,
						struct nbq_node *node, struct nbq_node *pred,
						unsigned long ip, unsigned int subclass,
						const struct nbq_queue_ops *ops)
{
	struct nbq_deadline never = nbq_deadline_at(KTIME_MAX);
	struct lockdep_map *map = nbq_dep_map_of(lock);

	nbq_attempt_recall(map, &never, subclass);
	if (unlikely(nbq_queue_continue(lock, node, pred, never, ip, ops)))
		nbq_queue_lock_deadlocked(lock, never, ip, ops);
	nbq_attempt_end(map, &never, 0, ip);
}

static __always_inline void
nbq_queue_lock_untimed(struct nbq_queue_lock *lock, unsigned int subclass,
		       const struct nbq_queue_ops *ops)
{
	struct nbq_deadline never = nbq_deadline_at(KTIME_MAX);
	struct lockdep_map *map = nbq_dep_map_of(lock);
	struct nbq_node *node, *pred;

	preempt_disable();
	nbq_attempt_record(map, &never, subclass, _RET_IP_);
	if (likely(nbq_queue_acquire_fast(lock, &never, &node, &pred, ops)))
		nbq_attempt_end(map, &never, 0, _RET_IP_);
	else
		nbq_queue_continue_untimed(lock, node, pred, _RET_IP_, subclass, ops);
}

/* The running context does not hold the lock that it is to release. */
static noinline void nbq_queue_report_unlock(const struct nbq_queue_lock *lock,
					     unsigned long ip,
					     const struct nbq_queue_ops *ops)
{
	if (nbq_queue_is_idle(lock, READ_ONCE(lock->tail), ops))
		nbq_report(NBQ_REPORT_NOT_HELD, lock, 0, ip);
	else
		nbq_report(NBQ_REPORT_NOT_OWNER, lock, nbq_find_holder(lock), ip);
}

static __always_inline void nbq_queue_unlock(struct nbq_queue_lock *lock,
					     const struct nbq_queue_ops *ops)
{
	struct nbq_node *node = nbq_held_take(nbq_this_pool(), lock);

	if (unlikely(!node)) {
		nbq_queue_report_unlock(lock, _RET_IP_, ops);
		return;
	}
	spin_release(nbq_dep_map_of(lock), _RET_IP_);
	/* Before the lock is seen to be free: writes to devices are in order. */
	mmiowb_spin_unlock();
	ops->release(node);
	preempt_enable();
}

static __always_inline bool nbq_queue_is_contended(const struct nbq_queue_lock *lock,
						   const struct nbq_queue_ops *ops)
{
	const struct nbq_node *tail = READ_ONCE(lock->tail);
	const struct nbq_waiting *waiting;

	if (nbq_queue_is_idle(lock, tail, ops))
		return false;
	/* An abandoned node is behind the holder's. */
	if (ops->pred_of(tail))
		return true;
	/* Else it is the holder's, or that of a waiter, which has published what it waits for. */
	waiting = &tail->pool->waiting;
	return READ_ONCE(waiting->blocker.tagged) && READ_ONCE(waiting->lock) == lock;
}

/*
 * Acquire and release a lock at rest, so that no node is left in its queue. With the spare node, as
 * the pool has no other.
 *
 *	A L ..	-> A L .. W	-> H	-> []
 *
 * If another context enqueues behind it, that frees the spare node. If another one takes the lock
 * first, the spare node stays there, abandoned, until a successor skips it. No place is remembered
 * for it, as if the attempt were nested: whoever resumed that would hold the lock with it. At rest
 * there, no search of the pool would find it. It would become the pool's hint, with which a hybrid
 * enqueues; and a hybrid's tail names a node by its index, which the spare node has not.
 */
static __always_inline void nbq_queue_visit(struct nbq_queue_lock *lock, struct nbq_pool *pool,
					    const struct nbq_queue_ops *ops)
{
	struct nbq_node *spare = &pool->spare, *tail = READ_ONCE(lock->tail), *pred;

	if (!tail || !nbq_queue_is_idle(lock, tail, ops))
		return;
	/* It is still where another context has taken the lock during a visit before. */
	if (!nbq_node_try_alloc(spare))
		return;
	nbq_node_allocated(pool, spare, true);
	pred = nbq_queue_enqueue(lock, spare, pool, ops);
	if (!pred)
		nbq_held_add(pool, spare, lock, ops->type);
	else if (ops->wait(lock, spare, pred, nbq_deadline_of_visit(), 0))
		return;
	nbq_held_take(pool, lock);
	/*
	 * RELEASE, pairs with the ACQUIRE of the swap of the tail that finds NULL, in the next
	 * enqueue: the critical section is over.
	 */
	if (cmpxchg_release(&lock->tail, spare, NULL) == spare)
		nbq_node_free_own(spare);
	else
		ops->release(spare);
}

/*
 * Is this node in its queue, without a context that holds or waits with it, or that has skipped it?
 * It is kept.
 */
static __always_inline bool nbq_queue_is_left(const struct nbq_node *node,
					      const struct nbq_queue_ops *ops)
{
	const struct nbq_node *state = ops->pred_of(node);

	return state && state != NBQ_RECYCLED &&
	       READ_ONCE(node->free_seq) != (node->alloc_seq & ~NBQ_KEPT);
}

/*
 * Take a node back, which is kept, if a context of this CPU and level has left it in the queue of a
 * lock at rest: that is not destroyed as long as the node is there.
 *
 *	A	-> []	a lock that was used
 *	A L ..	-> []	by a visit: it is this A, or one of these L
 *
 * Return: true if it is out of the queue, and to be freed. (Or a visit has freed it.)
 */
static __always_inline bool nbq_queue_take_back(struct nbq_node *node,
						const struct nbq_queue_ops *ops)
{
	struct nbq_queue_lock *lock = (struct nbq_queue_lock *)node->lock;
	bool taken = false;
	unsigned long flags;

	if (!nbq_queue_is_left(node, ops))
		return false;
	/* No interrupt destroys the lock during the visit. */
	local_irq_save(flags);
	if (nbq_visit_begin(lock)) {
		/* Once more: before, it may have been skipped, and the lock destroyed. */
		if (nbq_queue_is_left(node, ops)) {
			/*
			 * RELEASE, pairs with the ACQUIRE of the swap of the tail that finds NULL,
			 * in the next enqueue: the critical section before is over.
			 */
			taken = ops->pred_of(node) == NBQ_AVAILABLE &&
				cmpxchg_release(&lock->tail, node, NULL) == node;
			if (!taken)
				nbq_queue_visit(lock, node->pool, ops);
		}
		nbq_visit_end(lock);
	}
	local_irq_restore(flags);
	return taken;
}

/* Return: 0, or -EBUSY. Visits are stopped. */
static __always_inline int nbq_queue_clear(struct nbq_queue_lock *lock,
					   const struct nbq_queue_ops *ops)
{
	struct nbq_node *node = READ_ONCE(lock->tail);
	struct nbq_events *events;

	/*
	 * Fully ordered, and spare: the caller has ordered all uses of the lock before this. No
	 * order here replaces that: a holder that had resumed its place may have released by a
	 * store to its node alone, and nbq_queue_is_idle() may have read an older state there.
	 * Atomic: a destroy too early does not remove a waiter.
	 */
	if (!nbq_queue_is_idle(lock, node, ops) || cmpxchg(&lock->tail, node, NULL) != node)
		return -EBUSY;

	events = &nbq_this_pool()->events;
	while (nbq_is_node(node)) {
		struct nbq_node *prev = ops->pred_of(node);

		/*
		 * Its CPU may read free_seq late, and not resume it all the same: its swap of the
		 * state, which is fully ordered, comes after it has found the lock as the
		 * caller publishes it.
		 */
		WRITE_ONCE(node->prev, NBQ_RECYCLED);
		WRITE_ONCE(node->next, NBQ_RECYCLED);
		nbq_node_reclaim(node, events);
		node = prev;
	}
	return 0;
}

static __always_inline int nbq_queue_destroy(struct nbq_queue_lock *lock, unsigned long ip,
					     const struct nbq_queue_ops *ops)
{
	unsigned long flags;
	int ret;

	/* No interrupt waits for the holder of a lock that destroys another one. */
	local_irq_save(flags);
	nbq_visits_stop(lock);
	ret = nbq_queue_clear(lock, ops);
	nbq_visit_end(lock);
	local_irq_restore(flags);
	if (ret)
		nbq_report(NBQ_REPORT_IN_USE, lock, nbq_find_holder(lock), ip);
	return ret;
}

#ifdef CONFIG_DEBUG_LOCK_ALLOC
#define __NBQ_DEFINE_QUEUE_NESTED(X, ops, timeout_nested, lock_nested)				\
int timeout_nested(struct nbq_##X *lock, ktime_t patience, unsigned int subclass)		\
{												\
	return nbq_queue_lock_timed(&lock->queue, nbq_deadline_after(patience), subclass, ops);	\
}												\
EXPORT_SYMBOL_GPL(timeout_nested);								\
												\
void lock_nested(struct nbq_##X *lock, unsigned int subclass) __nbq_acquires(lock)		\
{												\
	nbq_queue_lock_untimed(&lock->queue, subclass, ops);					\
	__nbq_acquire(lock);									\
}												\
EXPORT_SYMBOL_GPL(lock_nested);
#else
#define __NBQ_DEFINE_QUEUE_NESTED(X, ops, timeout_nested, lock_nested)
#endif

/*
 * Define the operations of a lock type, nbq_X, over its steps. Each is named by the caller, so that
 * a search for it finds where it is defined.
 */
#define NBQ_DEFINE_QUEUE_LOCK(X, ops, init_key, destroy, is_locked, is_contended,		\
			      lock_timeout, lock_until, lock_timeout_info, trylock,		\
			      lock_always, unlock, timeout_nested, lock_nested)			\
void init_key(struct nbq_##X *lock, const char *name, struct lock_class_key *key)		\
{												\
	nbq_queue_init(&lock->queue, name, key);						\
}												\
EXPORT_SYMBOL_GPL(init_key);									\
												\
int destroy(struct nbq_##X *lock)								\
{												\
	return nbq_queue_destroy(&lock->queue, _RET_IP_, ops);					\
}												\
EXPORT_SYMBOL_GPL(destroy);									\
												\
bool is_locked(const struct nbq_##X *lock)							\
{												\
	return !nbq_queue_is_idle(&lock->queue, READ_ONCE(lock->tail), ops);			\
}												\
EXPORT_SYMBOL_GPL(is_locked);									\
												\
bool is_contended(const struct nbq_##X *lock)							\
{												\
	return nbq_queue_is_contended(&lock->queue, ops);					\
}												\
EXPORT_SYMBOL_GPL(is_contended);								\
												\
int lock_timeout(struct nbq_##X *lock, ktime_t patience)					\
{												\
	return nbq_queue_lock_timed(&lock->queue, nbq_deadline_after(patience), 0, ops);	\
}												\
EXPORT_SYMBOL_GPL(lock_timeout);								\
												\
int lock_until(struct nbq_##X *lock, ktime_t deadline)						\
{												\
	return nbq_queue_lock_timed(&lock->queue, nbq_deadline_at(deadline), 0, ops);		\
}												\
EXPORT_SYMBOL_GPL(lock_until);									\
												\
int lock_timeout_info(struct nbq_##X *lock, ktime_t patience, struct nbq_timeout *info)		\
{												\
	u64 begin = nbq_clock_ns();								\
	int ret = nbq_queue_lock_timed(&lock->queue, nbq_deadline_after(patience), 0, ops);	\
												\
	if (ret)										\
		nbq_timeout_fill(info, nbq_find_holder(lock), begin);				\
	return ret;										\
}												\
EXPORT_SYMBOL_GPL(lock_timeout_info);								\
												\
bool trylock(struct nbq_##X *lock)								\
{												\
	return !nbq_queue_lock_timed(&lock->queue, nbq_deadline_none(), 0, ops);		\
}												\
EXPORT_SYMBOL_GPL(trylock);									\
												\
void lock_always(struct nbq_##X *lock) __nbq_acquires(lock)					\
{												\
	nbq_queue_lock_untimed(&lock->queue, 0, ops);						\
	__nbq_acquire(lock);									\
}												\
EXPORT_SYMBOL_GPL(lock_always);									\
												\
__NBQ_DEFINE_QUEUE_NESTED(X, ops, timeout_nested, lock_nested)					\
												\
void unlock(struct nbq_##X *lock) __nbq_releases(lock)						\
{												\
	__nbq_release(lock);									\
	nbq_queue_unlock(&lock->queue, ops);							\
}												\
EXPORT_SYMBOL_GPL(unlock)

#endif
