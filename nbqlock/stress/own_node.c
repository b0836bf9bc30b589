// SPDX-License-Identifier: GPL-2.0
/*
 * A thread's own node, in queue locks without a pool of nodes.
 */
#include <linux/errno.h>
#include <linux/slab.h>

#include "own_node.h"

/* Give a thread a zeroed node, as me->own. */
int own_node_enter(struct stress_waiter *me, size_t size)
{
	me->own = kzalloc_node(size, GFP_KERNEL, me->numa_node);
	if (!me->own)
		return -ENOMEM;
	me->nodes.max = 1;
	return 0;
}

/* Free it, or the one that the thread got in exchange. */
void own_node_exit(union stress_lock *lock, struct stress_waiter *me)
{
	kfree(me->own);
}

int null_tail_init(union stress_lock *lock, unsigned int index)
{
	lock->queue.tail = NULL;
	return 0;
}

/* Return: 0, or -EBUSY if somebody is still in the queue. */
int null_tail_destroy(union stress_lock *lock)
{
	return lock->queue.tail ? -EBUSY : 0;
}

/* No thread counts the one that a lock began with. */
void first_node_count(struct stress_nodes *nodes, unsigned int locks)
{
	nodes->max += locks;
}
