/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A queue of the hybrid, step by step: spin_queue.c.
 */
#ifndef _NBQ_SPIN_QUEUE_H
#define _NBQ_SPIN_QUEUE_H

#include <linux/types.h>

#include "internal.h"

struct nbq_node *nbq_spin_enqueue(const union nbq_bare_spin *lock, u32 *tail,
				  struct nbq_node *node);
struct nbq_node *nbq_spin_poll(const struct nbq_node *pred);
struct nbq_node *nbq_spin_skip(struct nbq_node *node, struct nbq_node *pred,
			       struct nbq_node *prev);
bool nbq_spin_abandon(u32 *tail, struct nbq_node *node, struct nbq_node *pred);
bool nbq_spin_dequeue_head(u32 *tail, struct nbq_node *node, bool has_successor);

#endif
