// SPDX-License-Identifier: GPL-2.0
/*
 * The queue-node pool of the printed locks.
 *
 * Scott, "Non-Blocking Timeout in Scalable Queue-Based Spin Locks", PODC 2002, appendix: the
 * nodes of a thread form a circle. Only the thread allocates, searching from the node that it
 * allocated last; any thread frees, by a mark.
 *
 * As printed, with two exceptions. When all nodes are allocated the paper calls malloc(), which a
 * lock in a kernel must not: here a node of a reserve enters the circle, and the attempt fails
 * with -ENOMEM, without waiting, once the reserve is used up. And the mark is ordered, since not
 * every machine orders stores as the paper's does.
 *
 * The circle grows only when the thread has found all nodes allocated, so its size is the most
 * nodes in use at a time (or more, by those freed during the search).
 *
 * An interrupt between the test and the set in paper_pool_alloc() would get the same node: a
 * contender in an interrupt has a pool of its own.
 */
#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "paper_pool.h"

int paper_pool_enter(struct stress_lock *lock, struct stress_waiter *me)
{
	struct paper_pool *pool;

	pool = kvzalloc_node(sizeof(*pool), STRESS_GFP, me->numa_node);
	if (!pool)
		return -ENOMEM;
	pool->nodes[0].pool = pool;
	pool->nodes[0].next_in_pool = &pool->nodes[0];
	pool->try_this_one = &pool->nodes[0];
	pool->size = 1;
	me->own = pool;
	return 0;
}

/* The lock is unused, and its nodes were freed. */
void paper_pool_exit(struct stress_lock *lock, struct stress_waiter *me)
{
	struct paper_pool *pool = me->own;
	unsigned int i;

	if (!pool)
		return;
	me->nodes.max = pool->size;
	me->nodes.reclaimed = pool->reclaimed;
	for (i = 0; i < pool->size; i++)
		me->nodes.leaked += pool->nodes[i].allocated;
	kvfree(pool);
}

static bool try_this(struct paper_node *node)
{
	/*
	 * ACQUIRE: the node's last user is done with it. Pairs with the RELEASE in
	 * paper_pool_free().
	 */
	if (smp_load_acquire(&node->allocated))
		return false;
	WRITE_ONCE(node->allocated, true);
	return true;
}

/* All are allocated: add a node of the reserve behind @node. */
static struct paper_node *grow(struct paper_pool *pool, struct paper_node *node)
{
	struct paper_node *fresh;

	if (pool->size == PAPER_POOL_NODES)
		return NULL;
	fresh = &pool->nodes[pool->size++];
	fresh->pool = pool;
	fresh->allocated = true;
	fresh->next_in_pool = node->next_in_pool;
	node->next_in_pool = fresh;
	pool->try_this_one = fresh;
	return fresh;
}

/* By the pool's thread, preemption off. Return: NULL if the pool is used up. */
struct paper_node *paper_pool_alloc(struct paper_pool *pool)
{
	struct paper_node *first = pool->try_this_one;
	struct paper_node *node;

	if (try_this(first))
		return first;
	for (node = first->next_in_pool; node != first; node = node->next_in_pool) {
		if (try_this(node)) {
			pool->try_this_one = node;
			return node;
		}
	}
	return grow(pool, first);
}
