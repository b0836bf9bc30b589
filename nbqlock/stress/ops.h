/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The lock types under test, each behind the same verbs.
 */
#ifndef _STRESS_OPS_H
#define _STRESS_OPS_H

#include <linux/ktime.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/version.h>

#include <nbqlock/counters.h>
#include <nbqlock/nbqlock.h>

#include "context.h"

/* With BPF, from Linux 6.15 on. */
#if defined(CONFIG_BPF_SYSCALL) && LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)
#include <asm/rqspinlock.h>
#define STRESS_HAS_RQSPINLOCK
#endif

/* Locks that a thread takes one after the other, at most. */
#define STRESS_CHAIN_MAX	8
/* Where a lock can have its place: in the chain, of each context if need be. */
#define STRESS_LOCKS_MAX		(CONTEXTS * STRESS_CHAIN_MAX)

struct seq_file;

/**
 * struct stress_queue - a queue lock that is not from nbqlock
 * @tail: the newest node
 * @holder: the holder's node, in locks that keep it here
 *
 * Each lock type has nodes of its own kind.
 */
struct stress_queue {
	void *tail;
	void *holder;
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

/**
 * struct stress_nodes - what became of queue nodes
 * @max: in use at one time at most
 * @reclaimed: given back by somebody else, or by destroying the lock
 * @leaked: taken and not given back, once the lock has been destroyed
 */
struct stress_nodes {
	u64 max;
	u64 reclaimed;
	s64 leaked;
};

/**
 * struct stress_skipped - how many leavers attempts have stepped over
 * @counts: attempts that have stepped over none, over one, and so on; the last:
 *	over %NBQ_SKIPPED_MAX or more
 * @most: the most that one attempt has stepped over
 */
struct stress_skipped {
	u64 counts[NBQ_SKIPPED_MAX + 1];
	u64 most;
};

/**
 * struct stress_waiter - a contender at one lock, as the lock types know it
 * @numa_node: where its memory should be
 * @own: for the lock type: set by its enter, freed by its exit
 * @nodes: for the lock type: this contender's share, complete after exit
 * @skipped: the same, of attempts that had a queue node; see stress_count_skipped()
 *
 * It is in the contender's own memory, which nobody else touches during a run.
 */
struct stress_waiter {
	int numa_node;
	void *own;
	struct stress_nodes nodes;
	struct stress_skipped skipped;
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
 * @name: what debugfs ``lock`` takes
 * @meaning: one line for people
 * @patience: what it makes of the patience
 * @free_after_unlock: whoever acquires may release and then free the lock's
 *	memory, even if the last owner's @unlock has not returned by then
 * @highest: the context that may interrupt all others of the run, in @lock and
 *	@unlock, too, and come back from @lock; %CONTEXT_TASK for a lock without
 *	timeout, behind whose holder an interrupt would wait for ever
 * @init: make an unlocked lock; 0 or a negative errno. @index: less than
 *	%STRESS_LOCKS_MAX: a CPU may hold locks of different places together, which
 *	lockdep must know
 * @lockdep_disable: the run is wrong on purpose: lockdep must not report this lock, which
 *	was made just now; NULL: lockdep knows nothing of it, or of nothing wrong
 * @enter: get a contender ready for a lock, before any of them runs; 0 or a
 *	negative errno; may be NULL
 * @lock: 0: held, preemption off; -ETIMEDOUT: the patience is over; -EBUSY: there
 *	was none; -ENOMEM: no queue node could be had; -EDEADLK: it would never
 *	end. Patience is in ns as for nbq_clh_lock_timeout().
 * @unlock: by the contender that holds it
 * @destroy: the lock is not used any more, and no contender runs, unless it is
 *	@free_after_unlock; 0 or a negative errno; may be NULL
 * @exit: free what @enter has made, also if that failed or was not called;
 *	after @destroy; may be NULL
 * @count_nodes: add the nodes that no contender counts as its own, of all @locks
 *	together, after the last @exit; may be NULL
 * @count_skipped: add the walks that no contender counts as its own; may be NULL
 * @nodes_of: queue nodes of this CPU that are in use, wherever they stand; NULL:
 *	they do not belong to CPUs
 *
 * @lock and @unlock are called in contexts up to @highest, and do not allocate.
 * In an interrupt they get a waiter of its own.
 * @init and the verbs from @enter on, except these two, may sleep.
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
	int (*lock)(union stress_lock *lock, struct stress_waiter *me,
		    ktime_t patience);
	void (*unlock)(union stress_lock *lock, struct stress_waiter *me);
	int (*destroy)(union stress_lock *lock);
	void (*exit)(union stress_lock *lock, struct stress_waiter *me);
	void (*count_nodes)(struct stress_nodes *nodes, unsigned int locks);
	void (*count_skipped)(struct stress_skipped *skipped);
	unsigned int (*nodes_of)(unsigned int cpu);
};

/* ops_nbq.c */
extern const struct stress_ops stress_clh_nb;
extern const struct stress_ops stress_mcs_nb;
extern const struct stress_ops stress_swap_nb;
extern const struct stress_ops stress_nbq_spin;
extern const struct stress_ops stress_nbq_spin_fifo;
/* ops_kernel.c */
extern const struct stress_ops stress_raw_spinlock;
extern const struct stress_ops stress_raw_trylock;
#ifdef STRESS_HAS_RQSPINLOCK
extern const struct stress_ops stress_rqspinlock;
#endif
/* ops_tas.c */
extern const struct stress_ops stress_tas_b;
extern const struct stress_ops stress_tas_b_try;
/* ops_clh.c */
extern const struct stress_ops stress_clh;
/* ops_mcs.c */
extern const struct stress_ops stress_mcs;
/* ops_clh_try.c */
extern const struct stress_ops stress_clh_try;
/* ops_mcs_try.c */
extern const struct stress_ops stress_mcs_try;
/* ops_clh_nb_paper.c */
extern const struct stress_ops stress_clh_nb_paper;
/* ops_mcs_nb_paper.c */
extern const struct stress_ops stress_mcs_nb_paper;

const struct stress_ops *stress_ops_default(void);
const struct stress_ops *stress_ops_find(const char *name);
void stress_ops_log_names(void);
void stress_ops_list(struct seq_file *m);

#endif
