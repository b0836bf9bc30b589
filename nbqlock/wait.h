/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Waiting behind a predecessor: for how long, and whether it can end at all.
 *
 * What a context waits behind stands in its pool, for as long as it looks at
 * that node and no longer. So others can follow who waits for whom, from CPU to
 * CPU, and one that waits for itself gets -EDEADLK instead of using up its
 * patience (wait.c). An acquisition that need not wait writes nothing here.
 */
#ifndef _NBQ_WAIT_H
#define _NBQ_WAIT_H

#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/types.h>

#include "deadline.h"

struct lockdep_map;
struct nbq_node;
struct nbq_pool;

/**
 * struct nbq_waiting - what a CPU waits for at one context level
 * @pred: the node that is being waited behind, or the holder, as
 *	wait.c has it; NULL: nobody waits. Written last, and cleared before
 *	anyone can give that node back and before the word can be that of a
 *	later wait.
 * @word: what is being looked at; it holds NULL as long as @pred has said nothing;
 *	behind a holder: as it was
 * @lock: the lock in whose queue that is
 * @since: the youngest round of wait.c that may have begun before this wait
 * @held: behind a holder: it held the lock after this round of wait.c began
 */
struct nbq_waiting {
	struct nbq_node *pred;
	struct nbq_node *const *word;
	const void *lock;
	unsigned long since;
	unsigned long held;
};

/**
 * struct nbq_wait - an attempt that has found somebody in front
 * @deadline: how long it may wait
 * @dep_map: what to tell lockdep that it waits for; NULL: nothing
 * @ip: who called the verb, for lockdep
 * @pool: of the running context
 * @context: the running context, encoded
 * @lock: the lock
 * @held_by: hybrid: where it says which context does; or NULL
 * @in_order: nobody gets past who waits in front
 * @polls: how often nothing was said, so far; wraps
 * @check_at: call nbq_wait_check() at so many looks
 * @tick_at: read the clock at so many looks
 * @interval: ns from the next search for a deadlock to the one after it
 * @search_at: when to search next
 * @now: what the clock said when it was read last; 0: it has not been
 * @by_hardware: by @now, there was time for one wait by hardware (relax.h)
 * @begun: it was patient enough to wait
 * @searches: for deadlocks: it may hold a lock, or has interrupted another context
 * @error: what the wait ends with: %-ETIMEDOUT; %-EBUSY if there is no patience at
 *	all; or %-EDEADLK
 */
struct nbq_wait {
	struct nbq_deadline *deadline;
#ifdef CONFIG_LOCK_STAT
	struct lockdep_map *dep_map;
	unsigned long ip;
#endif
	struct nbq_pool *pool;
	u16 context;
	const void *lock;
	const u16 *held_by;
	bool in_order;
	unsigned int polls;
	unsigned int check_at;
	unsigned int tick_at;
	unsigned int interval;
	u64 deadlock_check_at;
	u64 now;
	bool by_hardware;
	bool begun;
	bool checks;
	int error;
};

/* For an initialiser of the above: without lock_stat, nobody hands these on. */
#ifdef CONFIG_LOCK_STAT
#define NBQ_WAIT_STAT(_dep_map, _ip)	.dep_map = (_dep_map), .ip = (_ip)
#else
#define NBQ_WAIT_STAT(_dep_map, _ip)
#endif

/* May be changed at any time: the module's parameter deadlock_checks. */
extern bool nbq_deadlock_checks;

void nbq_wait_announce(struct nbq_deadline *deadline, const void *lock,
		       struct lockdep_map *waits, unsigned long ip);
bool nbq_wait_check(struct nbq_wait *wait, struct nbq_node *pred,
		    struct nbq_node *const *word);
void nbq_wait_pause(struct nbq_wait *wait);
int nbq_wait_end(struct nbq_wait *wait, int ret);

/* Time may have gone by: the next poll reads the clock. */
static inline void nbq_wait_read_clock(struct nbq_wait *wait)
{
	wait->tick_at = wait->polls;
	wait->check_at = wait->polls;
	wait->deadline->polls = 0;
}

/* Read the clock within so many polls. What is due earlier at @check_at stays so. */
static inline void nbq_wait_tick_within(struct nbq_wait *wait, unsigned int polls)
{
	if ((int)(wait->tick_at - wait->polls) > (int)polls)
		wait->tick_at = wait->polls + polls;
	if ((int)(wait->check_at - wait->tick_at) > 0)
		wait->check_at = wait->tick_at;
}

/**
 * nbq_wait_continue() - The predecessor has said nothing: look again?
 * @wait: the attempt
 * @pred: whom it waits behind; NULL: whoever holds the lock, as @wait->held_by says
 * @word: where it looks
 *
 * Return: true; or false, with the reason in @wait->error.
 */
static inline bool nbq_wait_continue(struct nbq_wait *wait, struct nbq_node *pred,
				     struct nbq_node *const *word)
{
	if (unlikely(wait->polls == wait->check_at) &&
	    nbq_wait_check(wait, pred, word)) {
		wait->error = -EDEADLK;
		return false;
	}
	wait->polls++;
	return !nbq_deadline_passed(wait->deadline);
}

#endif
