// SPDX-License-Identifier: GPL-2.0
/* Queue locks without a pool: one node for each thread. */
#include <linux/errno.h>
#include <linux/slab.h>

#include "own_node.h"

/* Allocate a zeroed node, as me->own. */
int own_node_enter(struct stress_waiter *me, size_t size)
{
	me->own = kzalloc_node(size, STRESS_GFP, me->numa_node);
	if (!me->own)
		return -ENOMEM;
	me->nodes.max = 1;
	return 0;
}

/* The node may be another one by now. */
void own_node_exit(struct stress_lock *lock, struct stress_waiter *me)
{
	kfree(me->own);
}

int null_tail_init(struct stress_lock *lock, unsigned int index)
{
	lock->queue.tail = NULL;
	return 0;
}

/* Return: 0, or -EBUSY if there is a node in the queue. */
int null_tail_destroy(struct stress_lock *lock)
{
	return lock->queue.tail ? -EBUSY : 0;
}

/* No thread counts the first node of a lock. */
void first_node_count(struct stress_nodes *nodes, unsigned int locks)
{
	nodes->max += locks;
}
