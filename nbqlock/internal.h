/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the locks, the pools of queue nodes and the KUnit suites share.
 */
#ifndef _NBQ_INTERNAL_H
#define _NBQ_INTERNAL_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/cpumask.h>
#include <linux/hash.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>	/* vcpu_is_preempted() */
#include <linux/smp.h>
#include <linux/types.h>

#include "compat.h"
#include "counters.h"
#include "deadline.h"
#include "events.h"
#include "socket.h"
#include "types.h"
#include "wait.h"

/* The suites take the steps of an acquisition one by one. */
#if IS_ENABLED(CONFIG_NBQLOCK_KUNIT_TEST)
#include <kunit/visibility.h>
#else
#define VISIBLE_IF_KUNIT static
#define EXPORT_SYMBOL_IF_KUNIT(symbol)
#endif

/* What the words of a node that other contexts poll hold besides pointers to nodes. */
#define NBQ_AVAILABLE	((struct nbq_node *)1)	/* the lock, or the head, is granted */
#ifdef NBQ_QUEUE_LOCKS
#define NBQ_LEAVING	((struct nbq_node *)2)	/* the node is abandoned */
#define NBQ_TRANSIENT	((struct nbq_node *)3)	/* the same; see mcs_nb.c */
#endif
#define NBQ_RECYCLED	((struct nbq_node *)4)	/* the node is to be freed; or: it was skipped */

/**
 * struct nbq_node - a queue node; its memory stays a node
 * @prev: a node: it is abandoned, and that is its predecessor. In a CLH queue, also what the
 *	successor polls: NULL: it waits or holds; %NBQ_AVAILABLE: the lock, or the head of the
 *	queue, is granted
 * @wants: hybrid: the lock that is waited for with it
 * @index: position in its pool, from 0
 * @cpu: that of its pool: here, where other CPUs need not access the pool
 * @alloc_seq: how often the node was allocated, times %NBQ_ALLOC_STEP; and %NBQ_KEPT, while an
 *	attempt decides on the place that it may have. Written by its own CPU only
 * @free_seq: @alloc_seq of the last time that the node was freed: the node is free while the two
 *	are equal. Written by the context that frees it
 * @next_in_pool: the nodes of a pool in the order in which they were added
 * @pool: where the node belongs
 * @lock: the lock that is held with it, or in whose queue it was abandoned
 * @abandoned_seq: @alloc_seq of the attempt that left it in its queue, until another one resumes
 *	it: abandoned; in the hybrid, also as the head
 * @type: an enum nbq_type, of @lock
 * @queue: hybrid: the queue in which it was abandoned
 * @turn: hybrid: what stands for that in the turn of a lock
 * @since: hybrid: when the first of the attempts enqueued that had this place
 * @checked_at: hybrid: when the attempt that abandoned it had checked its predecessor last
 * @competes: hybrid: so did the attempt that abandoned it, with a stalled predecessor
 * @stays: hybrid: it stays in the queue when its attempt gives up, also as the tail: the attempt
 *	has resumed a place, or an earlier one is gone. The tail's line is left to those that
 *	enqueue
 * @resumed: its attempt has resumed a place, in front of waiters that began before it. The node
 *	of a queue lock then stays in the queue when the attempt gives up
 * @nested: its attempt has interrupted another one of the same CPU and level
 *
 * @alloc_seq and @free_seq instead of one flag, as they have different writers: a node is
 * allocated by an unlocked compare-and-swap, which no other context's store can divide.
 */
struct nbq_node {
	struct nbq_node *prev;
#ifdef NBQ_QUEUE_LOCKS
	union {
		/**
		 * @next: MCS-NB, swap-only: the state that the successor finds. NULL or a node: it
		 * waits or holds, the node being the successor, if known; %NBQ_AVAILABLE,
		 * %NBQ_LEAVING, %NBQ_TRANSIENT
		 */
		struct nbq_node *next;
		const void *wants;
	};
	/**
	 * @status: MCS-NB, swap-only: what the predecessor has notified the node of, one of the
	 * states of @next; NULL: nothing yet. Or %NBQ_RECYCLED, for the predecessor
	 */
	struct nbq_node *status;
#else
	const void *wants;
#endif
	unsigned int index;
	unsigned int cpu;
	unsigned long alloc_seq;
	unsigned long free_seq;
	struct nbq_node *next_in_pool;
	struct nbq_pool *pool;
	/* For its own CPU only, while successors poll the words above. */
	const void *lock ____cacheline_aligned;
#ifdef NBQ_QUEUE_LOCKS
	/**
	 * @below: the node of the lock that the running context acquired before this one and
	 * still holds; NULL: none
	 */
	struct nbq_node *below;
	union {
		/**
		 * @pred_alloc_seq: MCS-NB, swap-only: @alloc_seq of the predecessor that knows it
		 */
		unsigned long pred_alloc_seq;
		u64 checked_at;
	};
#else
	u64 checked_at;
#endif
	unsigned long abandoned_seq;
#ifdef NBQ_QUEUE_LOCKS
	/** @held_seq: @alloc_seq of the attempt that has acquired a queue lock with it */
	unsigned long held_seq;
#endif
	struct nbq_queue *queue;
	u64 since;
#ifdef NBQ_QUEUE_LOCKS
	/** @known: MCS-NB: its predecessor knew it when it was abandoned, and will notify it */
	bool known;
#endif
	u8 type;
	u8 turn;
	bool stays;
	bool resumed;
	bool competes;
	bool nested;
} ____cacheline_aligned;

/* What an allocation adds to alloc_seq; a bit of it: see keep() in node.c. */
#define NBQ_ALLOC_STEP	2UL
#define NBQ_KEPT	1UL

/* The type of the lock in whose queue a node is. Each type has states of its own for the words. */
enum nbq_type {
	NBQ_TYPE_SPIN,
	NBQ_TYPE_CLH,
	NBQ_TYPE_MCS,
	NBQ_TYPE_SWAP,
};

/* Is this a node, and none of the states above? */
static inline bool nbq_is_node(const struct nbq_node *node)
{
	return (unsigned long)node > (unsigned long)NBQ_RECYCLED;
}

/**
 * struct nbq_encodable - the nodes of a pool that a tail can encode
 * @size: how many
 * @nodes: these, by their index
 */
struct nbq_encodable {
	unsigned int size;
	struct nbq_node *nodes[] __counted_by(size);
};

/* The places that a pool remembers, as a power of two. */
#ifndef NBQ_PLACE_BITS
#define NBQ_PLACE_BITS	(BITS_PER_LONG == 64 ? 6 : 5)
#endif

/**
 * struct nbq_pool - the queue nodes of one CPU and context level
 * @encodable: the nodes that the tail of a hybrid lock can encode; NULL: none yet
 * @hint: the node to try first: mostly the one allocated last
 * @first: start of the list of nodes
 * @cpu: the CPU that may allocate from this pool; constant from @setup on
 * @level: the context level that may; likewise
 * @setup: one of NBQ_POOL_*
 * @size: nodes in the list; written by what appends to it only
 * @last: end of the list of nodes; likewise
 * @socket: that of its CPU; NULL: there is one in all, or it is not known yet
 * @waiting: what it waits for
 * @waiter: the attempt that may write there; NULL: none waits
 * @heartbeat: hybrid: a time at which a waiter of this CPU and level ran
 * @places: the node that was abandoned last in the queue of a lock with this hash
 * @attempts: how many attempts wait, or search for a place, each of which has interrupted the
 *	one before
 * @takeovers: hybrid: how often a context of this CPU and level has taken a lock over from another
 * @abandoned_in: the hashes for which there is a node in @places
 * @gave_up_at: hybrid: the lock for which the patience of the last attempt was over; NULL: none
 * @events: counted by contexts of this CPU and level
 * @skip_counts: attempts of this CPU and level that have skipped one abandoned node, two, and
 *	so on; the last: %NBQ_SKIPPED_MAX or more. NULL: not counted yet
 */
struct nbq_pool {
	/* Rarely written, and read by every CPU that decodes a tail. */
	struct nbq_encodable *encodable;
	struct nbq_node *hint;
	struct nbq_node *first;
	unsigned int cpu;
	unsigned int level;
	unsigned int setup;
	unsigned int size;
#ifdef NBQ_QUEUE_LOCKS
	/** @wants_growth: 1 from the request until the growth is done */
	unsigned int wants_growth;
#endif
	struct nbq_node *last;
	struct nbq_socket *socket;
	/* Written by a waiter, and read by those that wait for it. */
	struct nbq_waiting waiting ____cacheline_aligned;
	const struct nbq_wait *waiter;
	u64 heartbeat;
	/* For its own CPU only. */
	struct nbq_node *places[1 << NBQ_PLACE_BITS] ____cacheline_aligned;
#ifdef NBQ_QUEUE_LOCKS
	/** @held: the node of the lock acquired last of those that are held */
	struct nbq_node *held;
#endif
	unsigned int attempts;
	unsigned int takeovers;
	unsigned long abandoned_in;
	const void *gave_up_at;
#ifdef NBQ_QUEUE_LOCKS
	/**
	 * @spare: a node besides those in the list, with which a CPU that has no other one takes
	 * nodes back from queue locks at rest
	 */
	struct nbq_node spare;
#endif
	struct nbq_events events;
	unsigned int *skip_counts;
} ____cacheline_aligned;

/* States of nbq_pool.setup, in this order. */
#define NBQ_POOL_BLANK	0	/* all zeroes: no context has needed it yet */
#define NBQ_POOL_BUSY	1	/* a context sets it up */
#define NBQ_POOL_READY	2	/* @cpu, @level and the static nodes are valid */

/* The nodes of each pool, or those that it has before memory can be allocated. */
#ifndef NBQ_STATIC_NODES
#define NBQ_STATIC_NODES	16
#endif

/*
 * So many attempts of tasks on this CPU are to look for a place in the table of their pool before
 * they take a free hybrid lock inline (spin.h): after a task has abandoned one, as many as there
 * are hashes. By then those that come back have come back; others may never do, as their lock is
 * gone. The places stay.
 */
DECLARE_PER_CPU(unsigned int, __nbq_looks_left);
#define NBQ_LOOKS	BIT(NBQ_PLACE_BITS)

DECLARE_PER_CPU(struct nbq_pool [NBQ_LEVELS], nbq_pools);

/* The pool of the running context. Preemption must be off. */
static inline struct nbq_pool *nbq_this_pool(void)
{
	struct nbq_pool *pools = *this_cpu_ptr(&nbq_pools);

	/* Tasks first: the level of other contexts takes longer to find out. */
	if (likely(!(preempt_count() & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET))))
		return pools;
	return &pools[interrupt_context_level()];
}

/* Encode a context in 16 bits, see bare_spin_types.h. */
static inline u16 nbq_encode_context(unsigned int cpu, unsigned int level)
{
	return level << NBQ_CONTEXT_CPU_BITS | (cpu + 1);
}

static inline unsigned int nbq_context_cpu(u16 context)
{
	return (context & ((1U << NBQ_CONTEXT_CPU_BITS) - 1)) - 1;
}

static inline unsigned int nbq_context_level(u16 context)
{
	return context >> NBQ_CONTEXT_CPU_BITS;
}

/* The running context, whose pool this is, set up or not. Preemption must be off. */
static inline u16 nbq_this_context(const struct nbq_pool *pool)
{
	return nbq_encode_context(raw_smp_processor_id(),
				  pool - *this_cpu_ptr(&nbq_pools));
}

/* A context that uses this pool, which is set up. */
static inline u16 nbq_context_of(const struct nbq_pool *pool)
{
	return nbq_encode_context(pool->cpu, pool->level);
}

#if IS_ENABLED(CONFIG_NBQLOCK_KUNIT_TEST)
/* The suites have a CPU of their own, the one after the last, and its only pool. */
extern struct nbq_pool *nbq_pool_elsewhere;
#endif

/* The pool of an encoded context; it may not be set up. */
static inline struct nbq_pool *nbq_pool_of(u16 context)
{
	unsigned int cpu = nbq_context_cpu(context);

#if IS_ENABLED(CONFIG_NBQLOCK_KUNIT_TEST)
	if (cpu == nr_cpu_ids)
		return nbq_pool_elsewhere;
#endif
	return &per_cpu(nbq_pools, cpu)[nbq_context_level(context)];
}

/* node.c: what the lock paths use */
bool nbq_pool_set_up(struct nbq_pool *pool, unsigned int cpu, unsigned int level);
bool nbq_node_take_back_encodable(struct nbq_pool *pool);
struct nbq_node *nbq_place_find(struct nbq_pool *pool, const void *lock, enum nbq_type type);
void nbq_place_forget(struct nbq_pool *pool, const void *lock);
struct nbq_node *nbq_node_alloc_encodable(struct nbq_pool *pool);
void nbq_node_append(struct nbq_pool *pool, struct nbq_node *node);

/* pool.c */
int nbq_sockets_start(bool several);
int nbq_pool_prepare(struct nbq_pool *pool, unsigned int cpu, unsigned int level);

#ifdef NBQ_QUEUE_LOCKS
void nbq_sockets_stop(void);

/* node.c */
struct nbq_node *nbq_node_search(struct nbq_pool *pool);
struct nbq_node *nbq_node_wait(struct nbq_pool *pool, struct nbq_deadline *deadline);
/* By a hash of the lock: 1 while a CPU visits or destroys it. */
#ifndef NBQ_VISIT_BITS
#define NBQ_VISIT_BITS	8
#endif
extern unsigned int nbq_visits[];
bool nbq_visit_begin(const void *lock);
void nbq_visit_end(const void *lock);
void nbq_visits_stop(const void *lock);
u16 nbq_find_holder(const void *lock);

/* clh_nb.c, mcs_nb.c, swap_nb.c */
bool nbq_clh_take_back(struct nbq_node *node);
bool nbq_mcs_take_back(struct nbq_node *node);
bool nbq_swap_take_back(struct nbq_node *node);

/* report.c */
void nbq_report_no_node(u16 context, unsigned int nodes);

/* growth.c: filling, growing, CPUs that come online */
void nbq_pool_request_growth(struct nbq_pool *pool);
int nbq_pools_start(void);
void nbq_pools_stop(void);
#endif

/*
 * To be called before a pool is used, but for its counters. Return: false if the pool is not set
 * up, because the context that this one interrupts is setting it up.
 */
static inline bool nbq_pool_is_ready(struct nbq_pool *pool)
{
	/* ACQUIRE, pairs with the RELEASE in nbq_pool_set_up(): cpu, level, nodes. */
	if (likely(smp_load_acquire(&pool->setup) == NBQ_POOL_READY))
		return true;
	return nbq_pool_set_up(pool, raw_smp_processor_id(),
			       pool - *this_cpu_ptr(&nbq_pools));
}

/* bare_spin.c */
int nbq_bare_spin_acquire(union nbq_bare_spin *lock, struct nbq_deadline deadline,
			  unsigned long ip, struct nbq_condition *unless);
void nbq_bare_spin_acquire_deadlocked(union nbq_bare_spin *lock, struct nbq_deadline deadline,
				      unsigned long ip);

/* spin_queue.c */
bool nbq_place_take_back(struct nbq_node *node);

/* panic.c */
void nbq_panic_start(void);
#ifdef MODULE
void nbq_panic_stop(void);
#endif

/* debugfs.c */
void nbq_debugfs_start(void);
#ifdef MODULE
void nbq_debugfs_stop(void);
#endif

/*
 * Allocate @node if it is free: atomically against what interrupts it on this CPU, at any
 * level, as a nested allocation of the same node makes the compare-and-swap fail. It needs no
 * lock prefix, since only this CPU writes @alloc_seq.
 */
static inline bool nbq_node_try_alloc(struct nbq_node *node)
{
	/*
	 * ACQUIRE, pairs with the RELEASE in nbq_node_free_seq(): the last user's accesses to
	 * the node are over before it is written to. Spare: the marked stores up to the swap of
	 * the tail depend on what is read here.
	 */
	unsigned long free_seq = smp_load_acquire(&node->free_seq);

	/* No swap of a node in use, which takes its line from the successor that polls it. */
	if (READ_ONCE(node->alloc_seq) != free_seq)
		return false;
	return try_cmpxchg_local(&node->alloc_seq, &free_seq, free_seq + NBQ_ALLOC_STEP);
}

#ifdef NBQ_QUEUE_LOCKS
static inline void nbq_node_allocated(struct nbq_pool *pool, struct nbq_node *node, bool nested)
{
	WRITE_ONCE(node->nested, nested);
	pool->events.nodes_allocated++;
}

/* Allocate the node allocated last: nearly always free again, and in the cache. */
static inline struct nbq_node *nbq_node_alloc_hint(struct nbq_pool *pool, bool nested)
{
	struct nbq_node *node = READ_ONCE(pool->hint);

	if (unlikely(!node || !nbq_node_try_alloc(node)))
		return NULL;
	nbq_node_allocated(pool, node, nested);
	return node;
}

/* Allocate another one, at once or not at all. */
static inline struct nbq_node *nbq_node_alloc_any(struct nbq_pool *pool)
{
	struct nbq_node *node = nbq_node_search(pool);

	if (likely(node))
		nbq_node_allocated(pool, node, pool->attempts);
	return node;
}

/* Allocate a node of the running context's pool, at once or not at all. */
static inline struct nbq_node *nbq_node_alloc(struct nbq_pool *pool)
{
	return nbq_node_alloc_hint(pool, pool->attempts) ?: nbq_node_alloc_any(pool);
}
#endif

/*
 * Free a node, in any context on any CPU, by its known @alloc_seq: one store, which is the last
 * access to it.
 */
static inline void nbq_node_free_seq(struct nbq_node *node, unsigned long alloc_seq)
{
	/*
	 * RELEASE, pairs with the ACQUIRE in nbq_node_try_alloc(): all accesses to the node come
	 * before those of its next user. Without it, a successor that skips the node could read
	 * the prev of that use, and go on in another queue.
	 */
	smp_store_release(&node->free_seq, alloc_seq);
}

static inline void nbq_node_free(struct nbq_node *node)
{
	/* Marked: its CPU may keep it meanwhile, or let go of it. */
	nbq_node_free_seq(node, READ_ONCE(node->alloc_seq) & ~NBQ_KEPT);
}

/* Free a node that the running context allocated itself. */
static inline void nbq_node_free_own(struct nbq_node *node)
{
	struct nbq_events *events = &node->pool->events;

	nbq_node_free_seq(node, node->alloc_seq);
	events->nodes_freed++;
}

/* Free a node that another context allocated. @events: of the running context's pool. */
static inline void nbq_node_reclaim(struct nbq_node *node,
				    struct nbq_events *events)
{
	nbq_node_free(node);
	events->nodes_reclaimed++;
}

#ifdef NBQ_QUEUE_LOCKS
/*
 * Free the predecessor that @node was linked to last, by its @alloc_seq of then: without a read of
 * its line, which is with the CPU that wrote to it last.
 */
static inline void nbq_node_reclaim_pred(struct nbq_node *node, struct nbq_node *pred)
{
	nbq_node_free_seq(pred, node->pred_alloc_seq & ~NBQ_KEPT);
	node->pool->events.nodes_reclaimed++;
}
#endif

/*
 * Contexts of one level nest where an exception, a probe or an NMI comes above an attempt of its
 * own level. The inner attempt ends before the outer one goes on. It is nested: it leaves the
 * places of the pool, the heartbeat and what is published of the outer wait as they are. (Plain:
 * an inner attempt leaves the number as it was.)
 *
 * Return: the attempt is nested.
 */
static inline bool nbq_nesting_enter(struct nbq_pool *pool)
{
	bool nested = pool->attempts++;

	barrier();
	return nested;
}

static inline void nbq_nesting_leave(struct nbq_pool *pool)
{
	barrier();
	pool->attempts--;
}

static inline unsigned int nbq_place_hash(const void *lock)
{
	return hash_ptr(lock, NBQ_PLACE_BITS);
}

/*
 * May a node of this pool stand abandoned in the queue of @lock? One that was abandoned there has
 * been noted, and may have been skipped since.
 */
static inline bool nbq_may_have_abandoned(const struct nbq_pool *pool, const void *lock)
{
	return unlikely(pool->abandoned_in) && pool->abandoned_in & BIT(nbq_place_hash(lock));
}

/*
 * The running context is about to abandon this node in the queue of @lock, where the next
 * attempt of its CPU and level may resume it. The place is remembered instead of one at another
 * lock of the same hash, and not if the attempt is nested.
 */
static inline void nbq_note_abandoned(struct nbq_node *node, const void *lock, enum nbq_type type)
{
	struct nbq_pool *pool = node->pool;

	WRITE_ONCE(node->lock, lock);
	node->type = type;
	node->abandoned_seq = node->alloc_seq;
	if (unlikely(node->nested))
		return;
	pool->places[nbq_place_hash(lock)] = node;
	WRITE_ONCE(pool->abandoned_in, pool->abandoned_in | BIT(nbq_place_hash(lock)));
	if (pool->level == NBQ_TASK)
		this_cpu_write(__nbq_looks_left, NBQ_LOOKS);
}

/*
 * In a CLH queue: resume the place at which @node may stand abandoned, which is kept. It has its
 * predecessor in @prev, unless a successor has skipped it.
 *
 * Return: the predecessor, behind which the node waits again; or NULL.
 */
static inline struct nbq_node *nbq_node_resume(struct nbq_node *node)
{
	struct nbq_node *pred = READ_ONCE(node->prev);

	if (!nbq_is_node(pred))
		return NULL;
	/*
	 * Fully ordered, as the swap of the tail by an attempt that enqueues, for the epochs of
	 * wait_deadlock.c. Pairs with nbq_node_skip() of the successor: only one of the two gets
	 * the node.
	 */
	if (cmpxchg(&node->prev, pred, NULL) != pred)
		return NULL;
	return pred;
}

/* The attempt has decided on the place: once its node is free, it can be allocated again. */
static inline void nbq_place_release(struct nbq_node *node)
{
	WRITE_ONCE(node->alloc_seq, node->alloc_seq & ~NBQ_KEPT);
}

/*
 * Resume the place of an earlier attempt of this CPU and level at @lock, unless a successor has
 * skipped its node. The attempt is served in the order of the first one that had the place, and
 * the queue does not grow. (In HMCS-T, Chabbi et al., PPoPP 2017, a thread resumes its node in a
 * tree of queues.)
 * @resume: how the algorithm resumes a node that may stand there: its predecessor, or NULL
 *
 * Return: the node, which waits behind @pred again; or NULL.
 */
static __always_inline struct nbq_node *
nbq_resume(struct nbq_pool *pool, const void *lock, enum nbq_type type,
	   struct nbq_node *(*resume)(struct nbq_node *node), struct nbq_node **pred)
{
	struct nbq_node *node = NULL;

	if (likely(!nbq_may_have_abandoned(pool, lock)))
		return NULL;
	*pred = NULL;
	if (!nbq_nesting_enter(pool)) {
		node = nbq_place_find(pool, lock, type);
		if (node) {
			*pred = resume(node);
			nbq_place_forget(pool, lock);
			nbq_place_release(node);
		}
	}
	nbq_nesting_leave(pool);
	if (!*pred)
		return NULL;
	node->abandoned_seq -= NBQ_ALLOC_STEP;
	node->resumed = true;
	WRITE_ONCE(node->nested, false);
	pool->events.nodes_resumed++;
	return node;
}

/*
 * In a CLH queue: claim an abandoned predecessor, which had @prev as its own. Return: false: its
 * owner has resumed its place.
 */
static inline bool nbq_node_skip(struct nbq_node *pred, struct nbq_node *prev)
{
	/*
	 * ACQUIRE, pairs with the last RELEASE that abandons the node, which may be later than
	 * the one that was read: the place was resumed in between, and abandoned again. Atomic,
	 * against nbq_node_resume().
	 */
	return cmpxchg_acquire(&pred->prev, prev, NBQ_RECYCLED) == prev;
}

#ifdef NBQ_QUEUE_LOCKS
/*
 * The running context has acquired a queue lock with this node. The locks that it holds are a
 * list in its pool, the last one first: unlock finds the node without an access to the lock,
 * whose line is for contexts that enqueue. An interrupt in between sees a whole list, with this
 * lock or without it, and leaves it as it was.
 */
static inline void nbq_held_add(struct nbq_pool *pool, struct nbq_node *node, const void *lock,
				enum nbq_type type)
{
	WRITE_ONCE(node->lock, lock);
	node->type = type;
	node->held_seq = node->alloc_seq;
	WRITE_ONCE(node->below, pool->held);
	WRITE_ONCE(pool->held, node);
}

/* The node with which a context of this pool has acquired the lock; NULL: it does not hold it. */
static inline struct nbq_node *nbq_held_find(const struct nbq_pool *pool, const void *lock)
{
	struct nbq_node *node = READ_ONCE(pool->held);

	while (node && READ_ONCE(node->lock) != lock)
		node = READ_ONCE(node->below);
	return node;
}

/* The same, of a context that is about to release the lock: off the list with it. */
static inline struct nbq_node *nbq_held_take(struct nbq_pool *pool, const void *lock)
{
	struct nbq_node **link = &pool->held, *node = READ_ONCE(pool->held);

	/* Nearly always it is the last one. */
	if (likely(node && READ_ONCE(node->lock) == lock)) {
		WRITE_ONCE(pool->held, node->below);
		return node;
	}
	while (node && READ_ONCE(node->lock) != lock) {
		link = &node->below;
		node = READ_ONCE(*link);
	}
	if (node)
		WRITE_ONCE(*link, node->below);
	return node;
}
#endif

/* An attempt of the running context has skipped so many abandoned nodes. */
static inline void nbq_count_skipped(struct nbq_pool *pool, unsigned long skipped)
{
	unsigned int *skip_counts;

	if (!skipped)
		return;
	nbq_record(&pool->events.most_skipped, skipped);
	/* ACQUIRE, pairs with the RELEASE in nbq_pool_prepare(): they start from 0. */
	skip_counts = smp_load_acquire(&pool->skip_counts);
	if (likely(skip_counts))
		skip_counts[skipped < NBQ_SKIPPED_MAX ? skipped - 1 : NBQ_SKIPPED_MAX - 1]++;
}

#if IS_ENABLED(CONFIG_NBQLOCK_KUNIT_TEST)
#ifdef NBQ_QUEUE_LOCKS
/* growth.c */
extern unsigned int nbq_pool_nodes_max;
void nbq_pools_flush(void);

/* As clh_nb.c, mcs_nb.c and swap_nb.c say. */
struct nbq_node *nbq_clh_enqueue(struct nbq_queue_lock *lock, struct nbq_node *node);
struct nbq_node *nbq_clh_poll(const struct nbq_node *pred);
struct nbq_node *nbq_clh_skip(struct nbq_node *node, struct nbq_node *pred,
			      struct nbq_node *prev);
void nbq_clh_granted(struct nbq_queue_lock *lock, struct nbq_node *node,
		     struct nbq_node *pred);
bool nbq_clh_abandon(struct nbq_queue_lock *lock, struct nbq_node *node,
		     struct nbq_node *pred);
void nbq_clh_release(struct nbq_node *node);

struct nbq_node *nbq_mcs_enqueue(struct nbq_queue_lock *lock, struct nbq_node *node);
struct nbq_node *nbq_mcs_link(struct nbq_node *node, struct nbq_node *pred);
struct nbq_node *nbq_mcs_poll(const struct nbq_node *node);
struct nbq_node *nbq_mcs_skip(struct nbq_node *node, struct nbq_node *pred,
			      struct nbq_node *state);
void nbq_mcs_granted(struct nbq_queue_lock *lock, struct nbq_node *node,
		     struct nbq_node *pred);
bool nbq_mcs_abandon(struct nbq_queue_lock *lock, struct nbq_node *node,
		     struct nbq_node *pred);
void nbq_mcs_release(struct nbq_node *node);

struct nbq_node *nbq_swap_enqueue(struct nbq_queue_lock *lock, struct nbq_node *node);
struct nbq_node *nbq_swap_link(struct nbq_node *node, struct nbq_node *pred);
struct nbq_node *nbq_swap_poll(const struct nbq_node *node);
void nbq_swap_skip(struct nbq_node *node, struct nbq_node *abandoned,
		   struct nbq_node *state);
void nbq_swap_granted(struct nbq_queue_lock *lock, struct nbq_node *node,
		      struct nbq_node *pred);
void nbq_swap_abandon(struct nbq_queue_lock *lock, struct nbq_node *node,
		      struct nbq_node *pred);
void nbq_swap_release(struct nbq_node *node);
#endif
#endif

#endif
