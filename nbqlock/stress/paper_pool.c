// SPDX-License-Identifier: GPL-2.0
/*
 * The queue-node pool of the printed locks.
 *
 * Scott, "Non-Blocking Timeout in Scalable Queue-Based Spin Locks", PODC 2002,
 * appendix: the nodes of a thread form a circle. Only the thread takes nodes,
 * and searches for one that is not allocated from the one that it took last;
 * any thread gives them back, by marking them.
 *
 * As printed, but for two things. When all are allocated the paper calls
 * malloc(), which a lock path in a kernel must not: here a node of a reserve
 * made before the run enters the circle, and the attempt fails with -ENOMEM,
 * without waiting, once the reserve is used up. And marking is ordered, since
 * not every machine of ours orders stores as the paper's does.
 *
 * The circle grows only when the thread has found all of its nodes allocated,
 * so its size is the most that were in use at a time (or more, by those given
 * back during the search).
 *
 * An interrupt between the test and the set in paper_pool_alloc() would get the
 * same node: an interrupt that contends has a pool of its own, as each thread.
 */
#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "paper_pool.h"

int paper_pool_enter(struct stress_waiter *me)
{
	struct paper_pool *pool;

	/* For many threads that is a lot: rather fail than press for memory. */
	pool = kvzalloc_node(sizeof(*pool), GFP_KERNEL | __GFP_NOWARN |
			     __GFP_RETRY_MAYFAIL, me->numa_node);
	if (!pool)
		return -ENOMEM;
	pool->nodes[0].pool = pool;
	pool->nodes[0].next_in_pool = &pool->nodes[0];
	pool->try_this_one = &pool->nodes[0];
	pool->size = 1;
	me->own = pool;
	return 0;
}

/* Nobody uses the lock any more, and its own nodes have been given back. */
void paper_pool_exit(struct stress_waiter *me)
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
	 * ACQUIRE, pairs with the RELEASE in paper_pool_free(): the node's
	 * last user is done with it.
	 */
	if (smp_load_acquire(&node->allocated))
		return false;
	WRITE_ONCE(node->allocated, true);
	return true;
}

/* All are allocated: a node of the reserve enters the circle behind @node. */
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

/* By the pool's thread, preemption off. Return: NULL if it is used up. */
struct paper_node *paper_pool_alloc(struct paper_pool *pool)
{
	struct paper_node *first = pool->try_this_one;
	struct paper_node *node;

	if (try_this(first))
		return first;
	for (node = first->next_in_pool; node != first;
	     node = node->next_in_pool) {
		if (try_this(node)) {
			pool->try_this_one = node;
			return node;
		}
	}
	return grow(pool, first);
}
