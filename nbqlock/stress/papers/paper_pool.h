/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The queue-node pool of the printed locks, see paper_pool.c.
 */
#ifndef _STRESS_PAPER_POOL_H
#define _STRESS_PAPER_POOL_H

#include <linux/cache.h>
#include <linux/types.h>

#include <nbqlock/stress/ops.h>

/*
 * Nodes of a thread. The printed locks were measured to have up to 140 in use a thread; where the
 * number grows without bound, a larger reserve only lasts longer, and is searched longer. With
 * the pool's head, which takes the place of one more, they fill a power of two: at 64 bytes each,
 * 64 KiB.
 */
#define PAPER_POOL_NODES	1023

/**
 * struct paper_node - a queue node of either printed lock
 * @prev: as the lock wants it
 * @next: MCS-NB only
 * @status: MCS-NB only
 * @allocated: set by the pool's thread, cleared by any
 * @next_in_pool: in the circle
 * @pool: the pool of the node
 */
struct paper_node {
	struct paper_node *prev;
	struct paper_node *next;
	unsigned int status;
	bool allocated;
	struct paper_node *next_in_pool;
	struct paper_pool *pool;
} ____cacheline_aligned_in_smp;

/* A prev or next: the lock is granted to the context that reads this. */
#define PAPER_AVAILABLE	((struct paper_node *)1)

/**
 * struct paper_pool - the queue nodes of a thread
 * @try_this_one: the node allocated last
 * @size: nodes in the circle
 * @reclaimed: nodes that this thread freed after skipping them or taking the lock from them
 * @nodes: the circle, then the reserve
 */
struct paper_pool {
	struct paper_node *try_this_one;
	unsigned int size;
	u64 reclaimed;
	struct paper_node nodes[PAPER_POOL_NODES];
};

int paper_pool_enter(struct stress_lock *lock, struct stress_waiter *me);
void paper_pool_exit(struct stress_lock *lock, struct stress_waiter *me);
struct paper_node *paper_pool_alloc(struct paper_pool *pool);

/* Free a node, from any thread: one store, the last access to it. */
static inline void paper_pool_free(struct paper_node *node)
{
	/*
	 * RELEASE: accesses to the node come before those of its next user. Pairs with the
	 * ACQUIRE in paper_pool_alloc().
	 */
	smp_store_release(&node->allocated, false);
}

/* Free the node of a predecessor. */
static inline void paper_pool_reclaim(struct paper_pool *pool, struct paper_node *pred)
{
	paper_pool_free(pred);
	pool->reclaimed++;
}

#endif
