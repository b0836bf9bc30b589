/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The turns of sockets: which head may take the lock, and with which request. How they go:
 * spin_turns.c. On one socket each head has the turn, and all that is left of them is the request
 * for its successor.
 */
#ifndef _NBQ_SPIN_TURNS_H
#define _NBQ_SPIN_TURNS_H

#include <linux/types.h>

#include "bare_spin_types.h"
#include "internal.h"
#include "socket.h"
#include "wait.h"

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
 * @was_behind: it had a predecessor when it enqueued
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
	bool was_behind;
	bool has_successor;
};

/**
 * struct nbq_head - a waiter that competes for the lock
 * @lock: the lock
 * @place: where it waits
 * @wait: how long
 * @idle_since: since when it has seen the lock free, with a request for others; 0: it was held
 * @next: the next turn, once it was chosen; else 0
 * @renews: it may renew its request
 * @renewed: the request with which its turn began was renewed
 * @awaits: it has published that it awaits the turn of its socket
 */
struct nbq_head {
	union nbq_bare_spin *lock;
	struct nbq_place *place;
	struct nbq_wait *wait;
	u64 idle_since;
	u8 next;
	bool renews;
	bool renewed;
	bool awaits;
};

void nbq_choose_queue(const union nbq_bare_spin *lock, struct nbq_place *place,
		      const struct nbq_wait *wait);
bool nbq_head_awaits_turn(struct nbq_head *head);
bool nbq_head_may_take(struct nbq_head *head, union nbq_spin_state state);
u16 nbq_head_hands_on(struct nbq_head *head, union nbq_spin_state state);
void nbq_head_has_taken(const struct nbq_head *head);
void nbq_head_waits(struct nbq_head *head, union nbq_spin_state state);
void nbq_head_leaves(const struct nbq_head *head);
bool nbq_has_queue(const void *lock);

#endif
