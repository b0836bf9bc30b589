/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Waiting behind a predecessor or the holder: how long, and whether the wait can end at all.
 *
 * A context publishes in its pool what it waits behind, as long as it polls that and no longer.
 * So a deadlock check can follow from CPU to CPU which context waits for which, and a waiter in
 * a deadlock gets -EDEADLK before its patience is over (wait_deadlock.c). An acquisition that does
 * not wait writes nothing here.
 */
#ifndef _NBQ_WAIT_H
#define _NBQ_WAIT_H

#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/types.h>

#include "compat.h"
#include "deadline.h"

struct nbq_node;
struct nbq_pool;

/**
 * struct nbq_blocker - what a wait is behind
 * @tagged: a node, or a holder, encoded, with the lowest bit set; 0: nothing
 */
struct nbq_blocker {
	unsigned long tagged;
};

/**
 * struct nbq_waiting - what a CPU waits for at one context level
 * @blocker: what it waits behind. Written last, and cleared before that node can be freed and
 *	before the word can be that of a later wait
 * @word: the word that it polls, NULL as long as it waits; behind a holder: as it was
 * @lock: the lock
 * @resumed: with a place that was resumed, in front of waiters that began before it
 * @since: the youngest epoch of wait_deadlock.c that may have begun before this wait
 * @held: behind a holder: it held the lock after this epoch began
 */
struct nbq_waiting {
	struct nbq_blocker blocker;
	struct nbq_node *const *word;
	const void *lock;
	bool resumed;
	unsigned long since;
	unsigned long held;
};

/**
 * struct nbq_condition - what a wait ends with, besides its patience, and what it has found then
 * @stop: is it true? Asked where the clock is to be read, before that; NULL: there is no condition
 * @arg: for @stop
 * @judged: for the caller: the holder by which the wait was judged unable to end, encoded; 0: it
 *	was not
 */
struct nbq_condition {
	bool (*stop)(void *arg);
	void *arg;
	u16 judged;
};

/**
 * struct nbq_wait - an attempt that has to wait
 * @deadline: how long it may wait
 * @unless: hybrid: the condition that it may wait for no longer; or NULL: there is none
 * @ip: the caller of the operation; 0: not known
 * @pool: of the running context
 * @context: the running context, encoded
 * @lock: the lock
 * @held_by: hybrid: where the lock names its holder; or NULL
 * @judged: hybrid: the holder by which it was judged unable to end, encoded; 0: it was not
 * @polls: how often it has polled in vain; wraps
 * @check_at: see what is due at so many polls
 * @tick_at: read the clock at so many polls
 * @read_at: how often it had polled at the last clock read
 * @interval: ns from the next deadlock check to the one after it
 * @deadlock_check_at: time of the next deadlock check
 * @now: the last clock read; 0: none
 * @began: time of the first poll, if the wait is traced; or 0
 * @by_hardware: by @now, there was time for one wait by hardware (relax.h)
 * @begun: it has had the patience to wait
 * @nested: it has interrupted another attempt of its CPU and level
 * @resumed: of a queue lock: it has resumed a place
 * @checks: for deadlocks: it may hold a lock, or has interrupted another context
 * @error: what the wait ends with: %-ETIMEDOUT; %-EBUSY without patience; %-EDEADLK;
 *	%-EOWNERDEAD; or %-ECANCELED
 */
struct nbq_wait {
	struct nbq_deadline *deadline;
	const struct nbq_condition *unless;
	unsigned long ip;
	struct nbq_pool *pool;
	u16 context;
	const void *lock;
	const u16 *held_by;
	u16 judged;
	unsigned int polls;
	unsigned int check_at;
	unsigned int tick_at;
	unsigned int read_at;
	unsigned int interval;
	u64 deadlock_check_at;
	u64 now;
	u64 began;
	bool by_hardware;
	bool begun;
	bool nested;
	bool resumed;
	bool checks;
	int error;
};

/**
 * struct nbq_retries - the wait of an operation that cannot fail, and has found a deadlock
 * @never: the patience of its further attempts
 * @began: when they began, if the wait is traced; or 0
 */
struct nbq_retries {
	struct nbq_deadline never;
	u64 began;
};

#ifdef NBQ_OUT_OF_TREE
/* The parameter deadlock_checks, which may change at any time. */
extern bool nbq_deadlock_checks;
#endif

/* wait.c */
void nbq_wait_announce(struct nbq_deadline *deadline, const void *lock, unsigned long ip);
bool nbq_wait_begin(struct nbq_wait *wait);
bool nbq_wait_tick(struct nbq_wait *wait, u64 now);
void nbq_wait_pause(struct nbq_wait *wait);
struct nbq_retries nbq_retries_begin(const struct nbq_deadline *deadline, const void *lock,
				     const u16 *held_by, unsigned long ip);
void nbq_retries_end(const struct nbq_retries *retries, const void *lock, const u16 *held_by,
		     unsigned long ip);
int nbq_wait_end(struct nbq_wait *wait, int ret);

static inline bool nbq_wait_is_tick_due(const struct nbq_wait *wait)
{
	return (int)(wait->polls - wait->tick_at) >= 0;
}

/* Read the clock within so many polls. What is due earlier at @check_at stays so. */
static inline void nbq_wait_tick_within(struct nbq_wait *wait, unsigned int polls)
{
	if ((int)(wait->tick_at - wait->polls) > (int)polls)
		wait->tick_at = wait->polls + polls;
	if ((int)(wait->check_at - wait->tick_at) > 0)
		wait->check_at = wait->tick_at;
}

/* Read the clock now, out of turn; and for the deadline with the next poll. */
static inline void nbq_wait_read_clock(struct nbq_wait *wait)
{
	wait->now = nbq_clock_ns();
	wait->read_at = wait->polls;
	if (wait->deadline->at != KTIME_MAX)
		nbq_wait_tick_within(wait, 0);
}

#ifdef NBQ_QUEUE_LOCKS
/* wait_pred.c */
bool nbq_wait_check_behind_pred(struct nbq_wait *wait, struct nbq_node *pred,
				struct nbq_node *const *word);

/**
 * nbq_wait_continue_behind_pred() - The state of the predecessor has not changed: poll again?
 * @wait: the attempt
 * @pred: the predecessor
 * @word: the word that it polls
 *
 * Return: true; or false, with the reason in @wait->error.
 */
static inline bool nbq_wait_continue_behind_pred(struct nbq_wait *wait, struct nbq_node *pred,
						 struct nbq_node *const *word)
{
	if (unlikely(wait->polls == wait->check_at) &&
	    !nbq_wait_check_behind_pred(wait, pred, word))
		return false;
	wait->polls++;
	return true;
}
#endif

/* wait_holder.c */
/* A panic has stopped the other CPUs; see panic.c. */
extern bool nbq_cpus_stopped;

bool nbq_wait_is_own(struct nbq_wait *wait);
bool nbq_wait_check_behind_holder(struct nbq_wait *wait);

/**
 * nbq_wait_continue_behind_holder() - The lock was not taken: poll again?
 * @wait: the attempt, with the holder in @wait->held_by
 *
 * Return: true; or false, with the reason in @wait->error.
 */
static inline bool nbq_wait_continue_behind_holder(struct nbq_wait *wait)
{
	if (unlikely(wait->polls == wait->check_at) && !nbq_wait_check_behind_holder(wait))
		return false;
	wait->polls++;
	return true;
}

#endif
