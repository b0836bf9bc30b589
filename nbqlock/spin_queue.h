/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A queue of the hybrid: its steps, and the place of an attempt in it. See spin_queue.c.
 */
#ifndef _NBQ_SPIN_QUEUE_H
#define _NBQ_SPIN_QUEUE_H

#include <linux/types.h>

#include "internal.h"

struct nbq_node *nbq_spin_enqueue(const union nbq_bare_spin *lock, u32 *tail,
				  struct nbq_node *node);
struct nbq_node *nbq_spin_poll(const struct nbq_node *pred);
const struct nbq_node *nbq_last_waiter(const struct nbq_queue *queue);
struct nbq_node *nbq_spin_skip(struct nbq_node *node, struct nbq_node *pred,
			       struct nbq_node *prev);
bool nbq_spin_abandon(u32 *tail, struct nbq_node *node, struct nbq_node *pred, const void *lock);
bool nbq_spin_dequeue_head(u32 *tail, struct nbq_node *node, bool has_successor);

/**
 * struct nbq_place - where an attempt waits
 * @node: its node in the queue; NULL: it is a newcomer
 * @pred: its predecessor; NULL: none
 * @queue: its queue
 * @skipped: how many abandoned nodes it has skipped
 * @since: when it enqueued
 * @checked_at: when it checked the heartbeat of @pred last
 * @ticked_at: the clock read of its last tick
 * @turn: what stands for @queue in the turn of the lock
 * @competes: for the lock: it is the head, or acts as head
 * @handed: it is the head because one that waited for the same lock has left the queue
 * @was_behind: it had a predecessor when it enqueued
 * @lost_place: an earlier attempt of its CPU and level had a place, which is gone
 * @has_successor: another waiter has enqueued behind it; it may have given up since
 */
struct nbq_place {
	struct nbq_node *node;
	struct nbq_node *pred;
	struct nbq_queue *queue;
	unsigned long skipped;
	u64 since;
	u64 checked_at;
	u64 ticked_at;
	u8 turn;
	bool competes;
	bool handed;
	bool was_behind;
	bool lost_place;
	bool has_successor;
};

bool nbq_place_take(struct nbq_place *place, struct nbq_wait *wait);
void nbq_place_resume(struct nbq_place *place, struct nbq_wait *wait);
void nbq_place_check_successor(struct nbq_place *place);
bool nbq_place_competes(struct nbq_place *place, struct nbq_wait *wait);
void nbq_place_leave(struct nbq_place *place, struct nbq_wait *wait, int ret);

#endif
