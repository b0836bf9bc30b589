/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the algorithms, the queue-node pools and the KUnit suites share, and
 * nobody else sees.
 */
#ifndef _NBQ_INTERNAL_H
#define _NBQ_INTERNAL_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/types.h>

#include "deadline.h"
#include "events.h"
#include "nbqlock.h"

/* The single steps are open to the suites where there are suites. */
#if IS_ENABLED(CONFIG_NBQLOCK_KUNIT_TEST)
#include <kunit/visibility.h>
#else
#define VISIBLE_IF_KUNIT static
#define EXPORT_SYMBOL_IF_KUNIT(symbol)
#endif

/* A node's prev that says: the lock is available to my successor. */
#define NBQ_AVAILABLE	((struct nbq_node *)1)

/**
 * struct nbq_node - a queue node; its memory is a node until the module goes
 * @prev: what the context that took this node tells its successor.
 *	CLH-NB: NULL "I wait or hold", %NBQ_AVAILABLE "the lock is yours",
 *	a node "I left, this is who stood in front of me".
 * @taken: how often the node was taken. Written by its own CPU only.
 * @given: @taken of the last time that the node was given back, so the node
 *	is free while the two are equal. Written by whoever gives it back.
 * @next_in_pool: the nodes of a pool in the order in which they were added
 * @pool: where the node belongs
 * @index: position in its pool, from 0
 *
 * Two words instead of one flag, because they have different writers: a node
 * is taken with an unlocked compare-and-swap, and nobody else's store can get
 * between its two halves.
 */
struct nbq_node {
	struct nbq_node *prev;
	unsigned long taken;
	unsigned long given;
	struct nbq_node *next_in_pool;
	struct nbq_pool *pool;
	unsigned int index;
} ____cacheline_aligned;

/*
 * The contexts that can interrupt one another on a CPU, from the bottom up:
 * task, softirq, hardirq, NMI; the numbering of interrupt_context_level().
 */
#define NBQ_LEVELS	4

/**
 * struct nbq_pool - the queue nodes of one CPU and context level
 * @hint: the node taken last: the one to try first
 * @first: start of the list of nodes
 * @cpu: the CPU that may take from this pool
 * @events: what contexts of this CPU and level counted
 * @baseline: @events when the counters were reset last
 * @last: end of the list of nodes; growth only
 * @size: nodes in the list; written by growth only
 * @wants_growth: 1 from the request until the growth is done
 */
struct nbq_pool {
	struct nbq_node *hint;
	struct nbq_node *first;
	unsigned int cpu;
	struct nbq_events events;
	struct nbq_events baseline;
	struct nbq_node *last;
	unsigned int size;
	unsigned int wants_growth;
} ____cacheline_aligned;

DECLARE_PER_CPU(struct nbq_pool [NBQ_LEVELS], nbq_pools);

/* The pool of the running context. Preemption must be off. */
static inline struct nbq_pool *nbq_this_pool(void)
{
	return &(*this_cpu_ptr(&nbq_pools))[interrupt_context_level()];
}

/* node.c: the side of the pools that the lock paths use */
struct nbq_node *nbq_node_search(struct nbq_pool *pool);
struct nbq_node *nbq_node_wait(struct nbq_pool *pool,
			       struct nbq_deadline *deadline);
void nbq_node_append(struct nbq_pool *pool, struct nbq_node *node);

/* pool.c: filling, growing, CPUs that come online */
void nbq_pool_request_growth(struct nbq_pool *pool);
int nbq_pools_start(void);
void nbq_pools_stop(void);

/* debugfs.c */
void nbq_debugfs_start(void);
void nbq_debugfs_stop(void);

/*
 * Claim @node if it is free. One atomic step against whatever interrupts it
 * on this CPU, at any level: a nested claim of the same node makes the
 * compare-and-swap fail. It needs no lock prefix where that costs something,
 * since only this CPU ever writes @taken.
 */
static inline bool nbq_node_try_claim(struct nbq_node *node)
{
	/*
	 * ACQUIRE, pairs with the RELEASE in nbq_node_give_back(): what the
	 * last user did to the node is over before I write to it. Without
	 * it, my first store to prev could be seen before their last read.
	 */
	unsigned long given = smp_load_acquire(&node->given);

	/* Do not even attempt the swap on a busy node. */
	if (READ_ONCE(node->taken) != given)
		return false;
	return cmpxchg_local(&node->taken, given, given + 1) == given;
}

/*
 * Claim a node of the running context's pool, at once or not at all. The node
 * taken last is nearly always free again, and warm; else search.
 */
static inline struct nbq_node *nbq_node_claim(struct nbq_pool *pool)
{
	struct nbq_node *node = READ_ONCE(pool->hint);

	if (unlikely(!node || !nbq_node_try_claim(node)))
		node = nbq_node_search(pool);
	if (likely(node))
		pool->events.nodes_taken++;
	return node;
}

/* Give a node back, from any CPU and context: one store, its last access. */
static inline void nbq_node_give_back(struct nbq_node *node)
{
	/*
	 * RELEASE, pairs with the ACQUIRE in nbq_node_try_claim(): all that I
	 * read and wrote in the node comes before its next user. Without it,
	 * that user's prev = NULL could overtake my look at prev.
	 */
	smp_store_release(&node->given, node->taken);
}

#if IS_ENABLED(CONFIG_NBQLOCK_KUNIT_TEST)
/* pool.c */
extern unsigned int nbq_pool_nodes_max;
void nbq_pools_flush(void);

/* clh_nb.c: the steps of an acquisition, for the suites to take one by one */
struct nbq_node *nbq_clh_join(struct nbq_clh *lock, struct nbq_node *node);
struct nbq_node *nbq_clh_look(struct nbq_node *pred);
struct nbq_node *nbq_clh_step_over(struct nbq_node *node, struct nbq_node *pred,
				   struct nbq_node *prev);
void nbq_clh_take_over(struct nbq_clh *lock, struct nbq_node *node,
		       struct nbq_node *pred);
bool nbq_clh_leave(struct nbq_clh *lock, struct nbq_node *node,
		   struct nbq_node *pred);
bool nbq_clh_hand_over(struct nbq_clh *lock, struct nbq_node *node);
#endif

#endif
