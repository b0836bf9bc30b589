/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A row for each lock type, for the suites that make the same allocations of all of them: its
 * operations, what other contexts do with it by hand, and in what the types differ.
 *
 * A lock type gets those suites by a file like clh_row.c and a line in lock_row_list.h.
 */
#ifndef _NBQ_KUNIT_LOCK_ROW_H
#define _NBQ_KUNIT_LOCK_ROW_H

#include <kunit/test.h>
#include <linux/lockdep.h>
#include <linux/types.h>

#include <nbqlock/nbqlock.h>

#include "../nbqlock/internal.h"

/* The operations that acquire, by how long they wait and by their form */
enum nbq_how {
	TIMEOUT,
	INFO,
	UNTIL,
	TRY,
	LOCK,
};

enum nbq_form {
	PLAIN,
	IRQ,
	IRQSAVE,
	BH,
	NESTED,
	IRQSAVE_NESTED,
};

/* Does this form turn interrupts off? */
static inline bool nbq_form_is_irq(enum nbq_form form)
{
	return form == IRQ || form == IRQSAVE || form == IRQSAVE_NESTED;
}

/* Older kernels lack it: there, lockdep reports what is meant. */
#ifndef lockdep_set_notrack_class
#define lockdep_set_notrack_class(lock)	((void)(lock))
#endif

struct nbq_operation {
	const char *desc;
	enum nbq_how how;
	enum nbq_form form;
	ktime_t time;
};

/* The error of an attempt at a lock that another context holds for long */
static inline int nbq_operation_failure(const struct nbq_operation *op)
{
	if (op->how == TRY || (op->how == TIMEOUT && op->time <= 0))
		return -EBUSY;
	return -ETIMEDOUT;
}

/* How control leaves the block of a guard */
enum nbq_way {
	BY_ITS_END,
	BY_RETURN,
	BY_GOTO,
	BY_BREAK,
};

/**
 * struct nbq_guard_use - one use of a guard
 * @time: its patience or deadline, if it has one
 * @way: out of the block, if the function has several
 * @blocks: how often the block was run
 * @afters: how many statements after it were run
 * @err: the guard's error, if it may fail
 * @missing: this kernel does not have such guards
 * @observe: called in the block and after it; must not sleep
 */
struct nbq_guard_use {
	ktime_t time;
	enum nbq_way way;
	unsigned int blocks;
	unsigned int afters;
	int err;
	bool missing;
	void (*observe)(struct nbq_guard_use *use);
};

static inline void nbq_guard_use_block(struct nbq_guard_use *use)
{
	use->blocks++;
	use->observe(use);
}

static inline void nbq_guard_use_after(struct nbq_guard_use *use)
{
	use->afters++;
	use->observe(use);
}

/**
 * struct nbq_contender - a context that uses the lock of a bench step by step
 * @node: its node
 * @pred: its predecessor; NULL: none
 * @notified: what @pred has published and the contender has not acted upon; MCS-NB and
 *	swap-only
 * @state: where it is, kept by the bench: it is WAITING once @pred may know it
 */
struct nbq_contender {
	struct nbq_node *node;
	struct nbq_node *pred;
	struct nbq_node *notified;
	enum { GONE, ENQUEUED, WAITING, HOLDING } state;
};

/**
 * struct nbq_facts - in what the lock types differ
 * @tail_stays: 1: a node that is abandoned or released as the tail stays in the queue;
 *	0: it is freed
 * @holder_nodes: 1: the holder has a node, and each acquisition counts; 0: only waiters
 *	have nodes, and count
 * @steals: newcomers steal a free lock from its waiters
 * @reads_before_enqueue: how often a newcomer that finds the lock held reads the clock for
 *	its deadline before it enqueues; it enqueues by one read more, unless this is 0
 * @without_node: the error of an attempt that gets no node
 * @checks_unlock: an unlock by another than the holder is noticed
 */
struct nbq_facts {
	unsigned int tail_stays;
	unsigned int holder_nodes;
	bool steals;
	unsigned int reads_before_enqueue;
	int without_node;
	bool checks_unlock;
};

/* Nodes of an attempt that finds the lock held and reads the clock so often */
static inline unsigned int nbq_nodes_to_wait(const struct nbq_facts *facts,
					     unsigned int reads)
{
	return !facts->reads_before_enqueue || reads > facts->reads_before_enqueue;
}

/*
 * How often an attempt of a task reads the clock whose deadline has passed at this read: that
 * by which it enqueues is not for the deadline.
 */
static inline unsigned int nbq_reads_to_give_up(const struct nbq_facts *facts,
						unsigned int reads)
{
	return reads + (facts->reads_before_enqueue &&
			reads == facts->reads_before_enqueue + 1);
}

/* The first read of the clock of a task that has enqueued */
static inline unsigned int nbq_first_read_queued(const struct nbq_facts *facts)
{
	return facts->reads_before_enqueue ? facts->reads_before_enqueue + 2 : 1;
}

/**
 * struct nbq_row - a lock type under test; every @lock is one of that type
 * @name: of the type, as the suites are named
 * @size: of a lock
 * @last_word_offset: of what a release writes last in it
 * @static_lock: one that was defined statically
 * @static_member: one that was defined statically in a struct
 * @facts: see there
 *
 * Operations:
 * @init: make a lock; all that are made by this share a lockdep class
 * @init_unwatched: make a lock that lockdep does not track
 * @lock_timeout: nbq_X_lock_timeout()
 * @lock_timeout_info: nbq_X_lock_timeout_info()
 * @lock_until: nbq_X_lock_until()
 * @trylock: nbq_X_trylock()
 * @lock: nbq_X_lock()
 * @unlock: nbq_X_unlock()
 * @is_locked: nbq_X_is_locked()
 * @is_contended: nbq_X_is_contended()
 * @destroy: nbq_X_destroy()
 * @take: acquire by any operation; saves the interrupt state in @flags if it must
 * @drop: release by the operation that goes with it
 *
 * Guards; NULL if this kernel has none:
 * @guards: each use of each class, as in guard_list.h
 * @ways_out: each use of one class, with all ways out: guard(), scoped_guard(), CLASS(),
 *	scoped_cond_guard(); NULL if this kernel does not have it
 *
 * Other contexts, by hand:
 * @enqueue: take the lock where that is possible at once, else enqueue; true: it holds
 * @link: become known to pred; nothing for CLH-NB and the hybrid
 * @poll: skip abandoned nodes, and take the lock if it is granted; true: it holds
 * @abandon: true if the node was freed
 * @release: by the holder's node; true if none of it stays in the queue
 *
 * State:
 * @tail: the lock's
 * @holder: the lock's; NULL where holders have no node
 * @letter: of a node that is in use and does not hold, in a picture
 *
 * Lockdep:
 * @init_elsewhere: as @init, at another place in the code
 * @set_subclass: lockdep_set_subclass()
 * @set_class: lockdep_set_class(), always the same one
 * @notrack: lockdep_set_notrack_class(), for misuse on purpose
 * @assert_held: lockdep_assert_held()
 * @dep_map: of the lock; NULL: it has none
 */
struct nbq_row {
	const char *name;
	size_t size;
	size_t last_word_offset;
	void *static_lock;
	void *static_member;
	const struct nbq_facts *facts;

	void (*init)(void *lock);
	void (*init_unwatched)(void *lock);
	int (*lock_timeout)(void *lock, ktime_t patience);
	int (*lock_timeout_info)(void *lock, ktime_t patience, struct nbq_timeout *info);
	int (*lock_until)(void *lock, ktime_t deadline);
	bool (*trylock)(void *lock);
	void (*lock)(void *lock);
	void (*unlock)(void *lock);
	bool (*is_locked)(const void *lock);
	bool (*is_contended)(const void *lock);
	int (*destroy)(void *lock);
	int (*take)(const struct nbq_operation *op, void *lock, unsigned long *flags);
	void (*drop)(const struct nbq_operation *op, void *lock, unsigned long flags);

	void (*const *guards)(void *lock, struct nbq_guard_use *use);
	void (*const *ways_out)(void *lock, struct nbq_guard_use *use);

	bool (*enqueue)(void *lock, struct nbq_contender *contender);
	void (*link)(struct nbq_contender *contender);
	bool (*poll)(void *lock, struct nbq_contender *contender);
	bool (*abandon)(void *lock, struct nbq_contender *contender);
	bool (*release)(void *lock, struct nbq_node *node);

	struct nbq_node *(*tail)(const void *lock);
	struct nbq_node *(*holder)(const void *lock);
	char (*letter)(const struct nbq_node *node);

	void (*init_elsewhere)(void *lock);
	void (*set_subclass)(void *lock, unsigned int subclass);
	void (*set_class)(void *lock);
	void (*notrack)(void *lock);
	void (*assert_held)(const void *lock);
	struct lockdep_map *(*dep_map)(void *lock);
};

/* The row, and the .init of a suite whose cases have a bench for that type */
#define NBQ_ROW(type)							\
	extern const struct nbq_row type##_row;				\
	int type##_bench_init(struct kunit *test);
#include "lock_row_list.h"
#undef NBQ_ROW

#endif
