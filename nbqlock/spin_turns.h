/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The turns of sockets: which head may take the lock, and with which request. On one socket each
 * head has the turn, and hands a request on to its successor. See spin_turns.c.
 */
#ifndef _NBQ_SPIN_TURNS_H
#define _NBQ_SPIN_TURNS_H

#include "bare_spin_types.h"
#include "spin_policy.h"
#include "spin_queue.h"

/**
 * struct nbq_head - a waiter that competes for the lock
 * @lock: the lock
 * @place: where it waits
 * @wait: how long
 * @idle: since when it has seen the lock free, with a request for others
 * @next: the next turn, once it was chosen; else 0
 * @awaits: it has published that it awaits the turn of its socket
 */
struct nbq_head {
	union nbq_bare_spin *lock;
	struct nbq_place *place;
	struct nbq_wait *wait;
	struct nbq_idle idle;
	u8 next;
	bool awaits;
};

bool nbq_head_awaits_turn(struct nbq_head *head);
bool nbq_head_may_take(struct nbq_head *head, union nbq_spin_state state);
u16 nbq_head_hands_on(struct nbq_head *head, union nbq_spin_state state);
void nbq_head_has_taken(const struct nbq_head *head);
void nbq_head_waits(struct nbq_head *head, union nbq_spin_state state);
void nbq_head_leaves(const struct nbq_head *head);
bool nbq_has_waiter(const void *lock);

#endif
