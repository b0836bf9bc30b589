/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lock types of other modules in the stress driver: a module describes its lock by a struct
 * stress_ops and registers that. debugfs, "nbq stress" and "nbq bench" then know the lock by its
 * name. "A lock type of one's own" in Documentation/stress.rst has the steps, and
 * Documentation/stress-example a module.
 *
 * Not stable: this header is not part of the interface that CHANGELOG.md keeps. Any release may
 * change it. Rebuild a module that includes it with the driver.
 */
#ifndef _NBQLOCK_STRESS_H
#define _NBQLOCK_STRESS_H

#include <linux/ktime.h>
#include <linux/timekeeping.h>
#include <linux/types.h>

#include "counters.h"

struct module;

/*
 * The memory of a lock. Each module defines it as what its lock needs, and gives its size in
 * struct stress_ops.
 */
struct stress_lock;

#define STRESS_NAME_MAX		31	/* letters of a lock type's name */
#define STRESS_LOCK_SIZE_MAX	4096	/* bytes of a struct stress_lock */
#define STRESS_LOCKS_MAX	32	/* locks of a run */

/**
 * enum stress_context - where an attempt is made
 * @STRESS_TASK: in a thread
 * @STRESS_SOFTIRQ: in a softirq
 * @STRESS_HARDIRQ: in a hardirq
 * @STRESS_NMI: in an NMI
 * @STRESS_CONTEXTS: how many there are
 *
 * Each may interrupt those before it. Numbered as interrupt_context_level() does.
 */
enum stress_context {
	STRESS_TASK,
	STRESS_SOFTIRQ,
	STRESS_HARDIRQ,
	STRESS_NMI,
	STRESS_CONTEXTS
};

/**
 * enum stress_patience - when an attempt of a lock type gives up
 * @STRESS_HEEDS_PATIENCE: when the patience that it was given is over
 * @STRESS_WAITS_FOR_EVER: never
 * @STRESS_HAS_OWN_TIMEOUT: after a time that cannot be set
 */
enum stress_patience {
	STRESS_HEEDS_PATIENCE,
	STRESS_WAITS_FOR_EVER,
	STRESS_HAS_OWN_TIMEOUT,
};

/**
 * struct stress_nodes - use of queue nodes
 * @max: the most in use at one time
 * @reclaimed: freed by another context than the one that allocated them
 * @leaked: not freed at the end
 */
struct stress_nodes {
	u64 max;
	u64 reclaimed;
	s64 leaked;
};

/**
 * struct stress_skipped - abandoned nodes that attempts have skipped
 * @counts: attempts that skipped none, one, and so on; the last: %NBQ_SKIPPED_MAX or more
 * @most: the most that one attempt skipped
 */
struct stress_skipped {
	u64 counts[NBQ_SKIPPED_MAX + 1];
	u64 most;
};

/**
 * struct stress_waiter - a contender at one lock, in the contender's own memory
 * @numa_node: for its memory
 * @own: of the lock type: set by enter, freed by exit
 * @nodes: this contender's share, complete after exit
 * @skipped: see stress_count_skipped()
 */
struct stress_waiter {
	int numa_node;
	void *own;
	struct stress_nodes nodes;
	struct stress_skipped skipped;
};

/**
 * stress_count_skipped() - Count an attempt by the abandoned nodes that it skipped.
 * @me: its contender
 * @skipped: how many, or 0
 *
 * After each attempt with a queue node, by lock types with abandoned nodes.
 */
static inline void stress_count_skipped(struct stress_waiter *me, unsigned long skipped)
{
	me->skipped.counts[skipped < NBQ_SKIPPED_MAX ? skipped : NBQ_SKIPPED_MAX]++;
	if (skipped > me->skipped.most)
		me->skipped.most = skipped;
}

#define STRESS_POLLS_PER_CLOCK	8

/**
 * struct stress_timer - the patience of one attempt, for lock types without a clock of their own
 * @patience: in ns; 0 or less: do not wait; %KTIME_MAX: no timeout
 * @start: the first clock read; 0: none yet
 * @polls: calls of stress_timer_is_over()
 */
struct stress_timer {
	ktime_t patience;
	ktime_t start;
	unsigned int polls;
};

/**
 * stress_timer_is_over() - Is the patience over?
 * @timer: of this attempt; @patience is set, the rest is 0
 *
 * To be called once for each poll. Reads the clock as rarely as the waiters of nbqlock, and starts
 * it as they do, at the first poll that finds the lock held.
 *
 * Return: true once it is, and at once without patience.
 */
static inline bool stress_timer_is_over(struct stress_timer *timer)
{
	ktime_t now;

	if (timer->patience <= 0)
		return true;
	if (timer->patience == KTIME_MAX || timer->polls++ % STRESS_POLLS_PER_CLOCK)
		return false;

	now = ktime_get_mono_fast_ns();
	if (!timer->start)
		timer->start = now;
	return now - timer->start >= timer->patience;
}

/**
 * struct stress_ops - a lock type
 * @name: as debugfs load/lock takes it: a letter, then letters, digits and _; not "all"
 * @meaning: one line
 * @size: of its struct stress_lock
 * @patience: how it treats the patience
 * @highest: the highest context that may interrupt all others of the run, in @lock and @unlock
 *	too, and return from @lock; %STRESS_TASK for a lock without timeout
 * @free_after_unlock: the next holder may release and free the lock's memory, even before the
 *	last holder's @unlock has returned
 * @init: make a free lock, whatever is in its memory; 0 or a negative errno. @index: below
 *	%STRESS_LOCKS_MAX; a CPU may hold locks of different indices together, so each needs a
 *	lockdep class, if lockdep checks this lock type
 * @lockdep_disable: lockdep must not report this new lock, which the run uses wrongly on
 *	purpose; NULL: lockdep does not check it
 * @enter: prepare a contender for a lock, before any of them runs; 0 or a negative errno; may
 *	be NULL
 * @lock: 0: held, preemption off; -ETIMEDOUT: the patience is over; -EBUSY: no patience;
 *	-ENOMEM: no queue node; -EDEADLK: a deadlock. The patience is in ns: 0 or less: do not
 *	wait; %KTIME_MAX: no timeout
 * @unlock: by the contender that holds it; preemption is as before @lock
 * @destroy: the lock is unused, and no contender runs, unless it is @free_after_unlock; 0 or a
 *	negative errno; may be NULL
 * @exit: free the memory of @enter, which may have failed or not been called; after @destroy;
 *	may be NULL
 * @count_nodes: add the nodes that no contender counts, of all @locks together, after the last
 *	@exit; may be NULL
 * @count_skipped: add the skipped nodes that no contender counts; may be NULL
 * @nodes_of: queue nodes of this CPU that are in use; NULL: nodes do not belong to CPUs
 * @enqueued: attempts that took a queue node so far, of all locks; where there is @nodes_of
 * @leaves_places: the end of a lock leaves abandoned nodes in its queue
 *
 * @lock and @unlock are called in contexts up to @highest, and do not allocate. Each context has
 * a waiter of its own. The other operations may sleep.
 */
struct stress_ops {
	const char *name;
	const char *meaning;
	size_t size;
	enum stress_patience patience;
	enum stress_context highest;
	bool free_after_unlock;
	int (*init)(struct stress_lock *lock, unsigned int index);
	void (*lockdep_disable)(struct stress_lock *lock);
	int (*enter)(struct stress_lock *lock, struct stress_waiter *me);
	int (*lock)(struct stress_lock *lock, struct stress_waiter *me, ktime_t patience);
	void (*unlock)(struct stress_lock *lock, struct stress_waiter *me);
	int (*destroy)(struct stress_lock *lock);
	void (*exit)(struct stress_lock *lock, struct stress_waiter *me);
	void (*count_nodes)(struct stress_nodes *nodes, unsigned int locks);
	void (*count_skipped)(struct stress_skipped *skipped);
	unsigned int (*nodes_of)(unsigned int cpu);
	u64 (*enqueued)(void);
	bool leaves_places;
};

int __must_check __nbq_stress_register(const struct stress_ops *ops, struct module *owner);

/**
 * nbq_stress_register() - Register a lock type.
 * @ops: the lock type, which stays as it is until it is unregistered
 *
 * A run of the lock type holds a reference to the caller's module: meanwhile, rmmod refuses to
 * unload it.
 *
 * Context: Task. May sleep.
 * Return:
 * * 0		- the driver knows it
 * * -EBUSY	- there is a lock type of this name
 * * -EINVAL	- an operation is missing, or a value is none that this header allows
 * * -ENOMEM	- there is no memory
 *
 * A line in the kernel log says why it was refused.
 */
#define nbq_stress_register(ops)	__nbq_stress_register(ops, THIS_MODULE)

/**
 * nbq_stress_unregister() - Unregister a lock type.
 * @ops: as it was registered
 *
 * In the exit function of the module that registered it, it succeeds: that is not called while a
 * run holds its reference. The parameter load/lock goes back to its default, if it was this lock
 * type. The result of the last run keeps the name.
 *
 * Context: Task. May sleep.
 * Return:
 * * 0		- nothing refers to @ops any more
 * * -EBUSY	- a run uses it, which writing 0 to the file "run" ends
 * * -ENOENT	- it is not registered
 */
int nbq_stress_unregister(const struct stress_ops *ops);

#endif
