/* SPDX-License-Identifier: GPL-2.0 */
/* The lock types under test, each behind the same operations. */
#ifndef _STRESS_OPS_H
#define _STRESS_OPS_H

#include <linux/ktime.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/version.h>

#include <nbqlock/counters.h>
#include <nbqlock/nbqlock.h>

/* Only with BPF, from Linux 6.15 on. */
#if defined(CONFIG_BPF_SYSCALL) && LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)
#include <asm/rqspinlock.h>
#define STRESS_HAS_RQSPINLOCK
#endif

/* Each may interrupt those before it. Numbered as interrupt_context_level() does. */
enum stress_context {
	CONTEXT_TASK,
	CONTEXT_SOFTIRQ,
	CONTEXT_HARDIRQ,
	CONTEXT_NMI,
	CONTEXTS
};

/* The most locks that a contender takes together */
#define STRESS_CHAIN_MAX	8
/* The most locks of a run: a chain, for each context if need be */
#define STRESS_LOCKS_MAX		(CONTEXTS * STRESS_CHAIN_MAX)

struct seq_file;

/* For the memory of a run, which may be much: -ENOMEM rather than the OOM killer. */
#define STRESS_GFP	(GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/* A queue lock that is not from nbqlock. Each lock type has nodes of its own. */
struct stress_queue {
	void *tail;		/* the newest node */
	void *holder;		/* the holder's node, in locks that keep it here */
};

/* Memory for one lock of any type. */
union stress_lock {
	struct nbq_clh nbq_clh;
	struct nbq_mcs nbq_mcs;
	struct nbq_swap nbq_swap;
	struct nbq_spin nbq_spin;
	raw_spinlock_t raw;
#ifdef STRESS_HAS_RQSPINLOCK
	rqspinlock_t rq;
#endif
	int taken;
	struct stress_queue queue;
};

/* Use of queue nodes. */
struct stress_nodes {
	u64 max;		/* the most in use at one time */
	u64 reclaimed;		/* freed by another context, or by destroying the lock */
	s64 leaked;		/* not freed after that, see stress_nodes_leaked() */
};

/* Abandoned nodes that attempts have skipped. */
struct stress_skipped {
	/* Attempts that skipped none, one, and so on; the last: NBQ_SKIPPED_MAX or more */
	u64 counts[NBQ_SKIPPED_MAX + 1];
	u64 most;		/* the most that one attempt skipped */
};

/* A contender at one lock, as the lock type knows it; in the contender's own memory. */
struct stress_waiter {
	int numa_node;		/* for its memory */
	void *own;		/* of the lock type: set by enter, freed by exit */
	struct stress_nodes nodes;	/* this contender's share, complete after exit */
	struct stress_skipped skipped;	/* by attempts with a queue node */
};

/* After each attempt with a queue node, by lock types with abandoned nodes. */
static inline void stress_count_skipped(struct stress_waiter *me, unsigned long skipped)
{
	me->skipped.counts[skipped < NBQ_SKIPPED_MAX ? skipped : NBQ_SKIPPED_MAX]++;
	if (skipped > me->skipped.most)
		me->skipped.most = skipped;
}

enum stress_patience {
	HEEDS_PATIENCE,
	WAITS_FOR_EVER,
	HAS_OWN_TIMEOUT,
};

/**
 * struct stress_ops - a lock type
 * @name: as debugfs load/lock takes it
 * @meaning: one line
 * @patience: how it treats the patience
 * @free_after_unlock: the next holder may release and free the lock's memory, even before the
 *	last holder's @unlock has returned
 * @highest: the highest context that may interrupt all others of the run, in @lock and @unlock
 *	too, and return from @lock; %CONTEXT_TASK for a lock without timeout
 * @init: make a free lock; 0 or a negative errno. @index: below %STRESS_LOCKS_MAX; a CPU may
 *	hold locks of different indices together, so each has a lockdep class
 * @lockdep_disable: lockdep must not report this new lock, which the run uses wrongly on
 *	purpose; NULL: lockdep does not check it
 * @enter: prepare a contender for a lock, before any of them runs; 0 or a negative errno; may
 *	be NULL
 * @lock: 0: held, preemption off; -ETIMEDOUT: the patience is over; -EBUSY: no patience;
 *	-ENOMEM: no queue node; -EDEADLK: a deadlock. Patience as for nbq_clh_lock_timeout()
 * @unlock: by the contender that holds it
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
	enum stress_patience patience;
	bool free_after_unlock;
	enum stress_context highest;
	int (*init)(union stress_lock *lock, unsigned int index);
	void (*lockdep_disable)(union stress_lock *lock);
	int (*enter)(union stress_lock *lock, struct stress_waiter *me);
	int (*lock)(union stress_lock *lock, struct stress_waiter *me, ktime_t patience);
	void (*unlock)(union stress_lock *lock, struct stress_waiter *me);
	int (*destroy)(union stress_lock *lock);
	void (*exit)(union stress_lock *lock, struct stress_waiter *me);
	void (*count_nodes)(struct stress_nodes *nodes, unsigned int locks);
	void (*count_skipped)(struct stress_skipped *skipped);
	unsigned int (*nodes_of)(unsigned int cpu);
	u64 (*enqueued)(void);
	bool leaves_places;
};

/*
 * Nodes that are lost. Where places are left, a pool has one at each lock at most, which the
 * next attempt there resumes, and each queue that of one acting head, which took the lock. The next
 * waiter frees these, also in a later run, which then has freed more than it has allocated.
 */
static inline s64 stress_nodes_leaked(const struct stress_ops *ops, s64 leaked,
				      unsigned int pools, unsigned int locks)
{
	s64 left = (s64)(pools + 1) * locks;

	if (!ops->leaves_places)
		return leaked;
	return leaked > left ? leaked - left : 0;
}

/* ops_nbq.c, ops_kernel.c; then papers/, each in a file of its name */
extern const struct stress_ops stress_clh_nb;
extern const struct stress_ops stress_mcs_nb;
extern const struct stress_ops stress_swap_nb;
extern const struct stress_ops stress_nbq_spin;
extern const struct stress_ops stress_raw_spinlock;
extern const struct stress_ops stress_raw_trylock;
#ifdef STRESS_HAS_RQSPINLOCK
extern const struct stress_ops stress_rqspinlock;
#endif
extern const struct stress_ops stress_tas_b;
extern const struct stress_ops stress_tas_b_try;
extern const struct stress_ops stress_clh;
extern const struct stress_ops stress_mcs;
extern const struct stress_ops stress_clh_try;
extern const struct stress_ops stress_mcs_try;
extern const struct stress_ops stress_clh_nb_paper;
extern const struct stress_ops stress_mcs_nb_paper;

const struct stress_ops *stress_ops_default(void);
const struct stress_ops *stress_ops_find(const char *name);
void stress_ops_log_names(void);
void stress_ops_list(struct seq_file *m);

#endif
