/* SPDX-License-Identifier: GPL-2.0 */
/* What queue locks without a pool have in common: one node for each thread, and a tail. */
#ifndef _STRESS_OWN_NODE_H
#define _STRESS_OWN_NODE_H

#include <linux/types.h>

#include <nbqlock/stress/ops.h>

int own_node_enter(struct stress_waiter *me, size_t size);
void own_node_exit(struct stress_lock *lock, struct stress_waiter *me);

/* For locks that begin without a node; destroy: whose tail is NULL while they are free. */
int null_tail_init(struct stress_lock *lock, unsigned int index);
int null_tail_destroy(struct stress_lock *lock);

/* For locks that begin with a node. */
void first_node_count(struct stress_nodes *nodes, unsigned int locks);

#endif
