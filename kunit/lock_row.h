/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One row for each lock type, by which the suites that make the same claims of
 * all of them use it: its verbs, what others do with it by hand, and the few
 * numbers in which the types differ.
 *
 * A lock type gets those suites by a file like clh_by_hand.c and a line in
 * lock_row_list.h.
 */
#ifndef _NBQ_KUNIT_LOCK_ROW_H
#define _NBQ_KUNIT_LOCK_ROW_H

#include <kunit/test.h>
#include <linux/lockdep.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include <nbqlock/nbqlock.h>

#include "../nbqlock/internal.h"

/* The verbs that acquire, by how long they wait and by their form */
enum nbq_how {
	TIMEOUT,
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
	NEST_LOCK,		/* inside nbq_nest_lock */
};

extern raw_spinlock_t nbq_nest_lock;

/* Older kernels have no word for it: there, lockdep reports what is meant. */
#ifndef lockdep_set_notrack_class
#define lockdep_set_notrack_class(lock)	((void)(lock))
#endif

struct nbq_operation {
	const char *desc;
	enum nbq_how how;
	enum nbq_form form;
	ktime_t time;
};

/* What an attempt fails with behind a holder elsewhere, whose lock it cannot have */
static inline int nbq_operation_failure(const struct nbq_operation *verb)
{
	if (verb->how == TRY || (verb->how == TIMEOUT && verb->time <= 0) ||
	    (verb->how == UNTIL && verb->time == KTIME_MIN))
		return -EBUSY;
	return -ETIMEDOUT;
}

/* How the flow of control leaves the block that a guard guards */
enum nbq_way {
	BY_ITS_END,
	BY_RETURN,
	BY_GOTO,
	BY_BREAK,
};

/**
 * struct nbq_visit - one use of a guard
 * @time: its patience or deadline, if it takes one
 * @way: out of the block, if the function knows several
 * @looks: how often the block was run
 * @leaves: how many statements after it were run
 * @err: what the guard said, if it may fail
 * @missing: true if this kernel does not have such guards
 * @look: what the block does; must not sleep
 */
struct nbq_visit {
	ktime_t time;
	enum nbq_way way;
	unsigned int looks;
	unsigned int leaves;
	int err;
	bool missing;
	void (*look)(struct nbq_visit *visit);
};

static inline void nbq_visit_look(struct nbq_visit *visit)
{
	visit->looks++;
	visit->look(visit);
}

static inline void nbq_visit_leave(struct nbq_visit *visit)
{
	visit->leaves++;
	visit->look(visit);
}

/**
 * struct nbq_actor - somebody who uses the lock of a bench step by step
 * @node: its node
 * @pred: who stands in front of it; NULL: nobody
 * @said: what @pred has said and the actor has not acted upon; not for CLH-NB
 *	and the hybrid, where everyone can ask again
 * @part: what it does now, kept by the bench: in the queue it has JOINED, and
 *	WAITS once @pred knows it
 */
struct nbq_actor {
	struct nbq_node *node;
	struct nbq_node *pred;
	struct nbq_node *said;
	enum { GONE, JOINED, WAITS, HOLDS } part;
};

/**
 * struct nbq_facts - the numbers in which the lock types differ
 * @stays: 1: the node of one who leaves or releases with nobody behind stays
 *	in the queue; 0: it is given back at once, unless somebody in front still
 *	has to write to it
 * @holder_nodes: 1: who holds is the first in the queue, with a node, and each
 *	acquisition counts; 0: only those who wait take a node, and count
 * @passes: newcomers take a free lock past all who wait
 * @reads_outside: how often a newcomer that finds the lock held reads the clock for its
 *	deadline before it enqueues; it enqueues by a read more, unless this is 0
 * @without_node: what becomes of one who waits and gets none
 * @leave_steps: most own steps of a leave; the suite shows that it is exact
 * @leave_bound: the paper's bound
 * @release_steps: most own steps of a release; the suite shows that it is exact
 * @release_bound: the paper's bound
 * @after_leave: own steps of a leave after that with which it is in nobody's way
 *	any more: with nobody behind, with somebody whom it knows. Not where
 *	newcomers pass: a waiter never is in their way.
 * @after_release: the same of a release
 * @checks_unlock: an unlock by another than the holder is noticed
 */
struct nbq_facts {
	unsigned int stays;
	unsigned int holder_nodes;
	bool passes;
	unsigned int reads_outside;
	int without_node;
	unsigned int leave_steps;
	unsigned int leave_bound;
	unsigned int release_steps;
	unsigned int release_bound;
	unsigned int after_leave[2];
	unsigned int after_release[2];
	bool checks_unlock;
};

/*
 * How many nodes an attempt takes that finds the lock held and reads the clock so
 * often
 */
static inline unsigned int nbq_nodes_to_wait(const struct nbq_facts *facts,
					     unsigned int reads)
{
	return !facts->reads_outside || reads > facts->reads_outside;
}

/*
 * How often an attempt of a task reads the clock whose deadline has passed at this read:
 * the one by which it enqueues is not the deadline's.
 */
static inline unsigned int nbq_reads_to_give_up(const struct nbq_facts *facts,
						unsigned int reads)
{
	return reads + (facts->reads_outside && reads == facts->reads_outside + 1);
}

/* The first read of the clock of a task that has enqueued */
static inline unsigned int nbq_first_read_queued(const struct nbq_facts *facts)
{
	return facts->reads_outside ? facts->reads_outside + 2 : 1;
}

/**
 * struct nbq_row - a lock type under test; every @lock is one of that type
 * @name: as in the names of its verbs
 * @size: of a lock
 * @last_word_offset: of what a release writes last in it
 * @static_lock: one that was defined statically
 * @static_member: one that was defined statically in a struct
 * @facts: see there
 *
 * The verbs:
 * @init: make a lock; all that are made by this share a lockdep class
 * @init_unwatched: make a lock that lockdep says nothing about, for cases that
 *	take it on purpose where a deadlock could come of it
 * @lock_timeout: nbq_X_lock_timeout()
 * @lock_until: nbq_X_lock_until()
 * @trylock: nbq_X_trylock()
 * @lock: nbq_X_lock()
 * @unlock: nbq_X_unlock()
 * @is_locked: nbq_X_is_locked()
 * @is_contended: nbq_X_is_contended()
 * @destroy: nbq_X_destroy()
 * @take: acquire by any verb; keeps the interrupt state in @flags if it must
 * @drop: release by the verb that goes with it
 *
 * Guards; NULL if this kernel has none:
 * @guards: each use of each class, as in guard_list.h
 * @ways_out: each use of one class, with all ways out: guard(), scoped_guard(),
 *	CLASS(), scoped_cond_guard(); NULL if this kernel does not have it
 *
 * What others do by hand:
 * @join: take the lock where that can be had at once, else enter the queue: behind
 *	pred; true if it holds now
 * @link: become known to pred; nothing to do for CLH-NB and the hybrid
 * @advance: step over leavers for as long as there are any, but for a queue that
 *	goes in a circle, and take the lock if it is its turn; true if it holds now
 * @leave: true if the node was given back
 * @hand_over: by the holder's node; true if none of it stays in the queue
 *
 * Looks:
 * @tail: the lock's
 * @holder: the lock's; NULL where holders have no node
 * @letter: what a node that is in use and does not hold is drawn as
 *
 * Lockdep:
 * @init_elsewhere: as @init, at another place in the code
 * @set_subclass: lockdep_set_subclass()
 * @set_class: lockdep_set_class(), always the same one
 * @excuse: lockdep_set_notrack_class(): it is used wrongly, on purpose
 * @assert_held: lockdep_assert_held()
 * @dep_map: what lockdep knows the lock by; NULL: it knows none
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
	int (*lock_until)(void *lock, ktime_t deadline);
	bool (*trylock)(void *lock);
	void (*lock)(void *lock);
	void (*unlock)(void *lock);
	bool (*is_locked)(const void *lock);
	bool (*is_contended)(const void *lock);
	int (*destroy)(void *lock);
	int (*take)(const struct nbq_operation *verb, void *lock,
		    unsigned long *flags);
	void (*drop)(const struct nbq_operation *verb, void *lock,
		     unsigned long flags);

	void (*const *guards)(void *lock, struct nbq_visit *visit);
	void (*const *ways_out)(void *lock, struct nbq_visit *visit);

	bool (*join)(void *lock, struct nbq_actor *actor);
	void (*link)(struct nbq_actor *actor);
	bool (*advance)(void *lock, struct nbq_actor *actor);
	bool (*leave)(void *lock, struct nbq_actor *actor);
	bool (*hand_over)(void *lock, struct nbq_node *node);

	struct nbq_node *(*tail)(const void *lock);
	struct nbq_node *(*holder)(const void *lock);
	char (*letter)(const struct nbq_node *node);

	void (*init_elsewhere)(void *lock);
	void (*set_subclass)(void *lock, unsigned int subclass);
	void (*set_class)(void *lock);
	void (*excuse)(void *lock);
	void (*assert_held)(const void *lock);
	struct lockdep_map *(*dep_map)(void *lock);
};

/*
 * The row, and what begins a case with a bench for that type: the .init of a
 * suite.
 */
#define NBQ_ROW(type)							\
	extern const struct nbq_row type##_row;				\
	int type##_bench_init(struct kunit *test);
#include "lock_row_list.h"
#undef NBQ_ROW

#endif
