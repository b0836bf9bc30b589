/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the queue locks without a pool of nodes have in common: a thread has one
 * node, its own, and the lock is a tail.
 */
#ifndef _STRESS_OWN_NODE_H
#define _STRESS_OWN_NODE_H

#include <linux/types.h>

#include "ops.h"

int own_node_enter(struct stress_waiter *me, size_t size);
void own_node_exit(union stress_lock *lock, struct stress_waiter *me);

/* Where the tail is NULL while the lock is free. */
int null_tail_init(union stress_lock *lock, unsigned int index);
int null_tail_destroy(union stress_lock *lock);

/* Where the lock begins with a node of its own. */
void first_node_count(struct stress_nodes *nodes, unsigned int locks);

#endif
