// SPDX-License-Identifier: GPL-2.0
/*
 * What waits behind a predecessor and waits behind the holder have in common: their begin, their
 * clock, their end.
 *
 * One clock read serves the deadline, the deadlock checks, and the heartbeat of the hybrid. It
 * costs as much as several polls. The next one comes no later than half way to the deadline, by
 * the time that the last polls took, and after no more than POLLS_TO_DEADLINE polls.
 *
 * Overshoot: while its CPU runs, a waiter notices a deadline one poll and one clock read later. If
 * polls take more than twice as long as those before, it is POLLS_TO_DEADLINE polls and one read at
 * most. Among these polls a task may make one deadlock check, an interrupt one behind each
 * predecessor. A waiter without a queue node searches its pool once (in the hybrid: the nodes of it
 * that a tail can encode), and looks once at each lock where it has left one.
 */
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>

#include "contention.h"
#include "internal.h"
#include "relax.h"
#include "trace.h"
#include "wait_deadlock.h"

/* Polls from one clock read to the next: without a deadline; with one, at most. */
#define POLLS_PER_TICK		64U
#define POLLS_TO_DEADLINE	32U
/* Before polls were timed: so many, and the time that one is taken to need, 2^8 ns. */
#define FIRST_POLLS		8U
#define FIRST_POLL_SHIFT	8

/*
 * How long a task has waited before its first deadlock check, and from that to the second; then
 * twice as long each time, up to a limit.
 */
#define FIRST_CHECK_NS		50000U
/* An interrupt checks at once, and more often: only its neighbours can answer it. */
#define INTERRUPT_CHECK_NS	2000U
#ifndef NBQ_WAIT_TIMES
#define IS_CHECK_DUE(wait)	((wait)->now >= (wait)->deadlock_check_at)
#endif
#define MAX_INTERVAL_NS	1000000U
#define MAX_INTERRUPT_INTERVAL_NS	32000U

/**
 * nbq_wait_announce() - Raise contention_begin, once for each attempt.
 * @deadline: that of the attempt
 * @lock: the lock
 * @ip: for lock_stat: the caller of the operation
 *
 * Before the attempt enqueues, if it is known by then that it has to wait.
 *
 * Context: Any, preemption off.
 */
void nbq_wait_announce(struct nbq_deadline *deadline, const void *lock, unsigned long ip)
{
	deadline->announced = true;
	deadline->traced = trace_nbq_wait_begin_enabled();
#ifdef CONFIG_LOCK_STAT
	if (deadline->waits)
		lock_contended(deadline->waits, ip);
#endif
	nbq_contention_begin(lock);
}

/**
 * nbq_wait_begin() - The attempt has to wait, for the first time.
 * @wait: the attempt
 *
 * Return: false: it has no patience, and nothing to publish.
 */
bool nbq_wait_begin(struct nbq_wait *wait)
{
	if (nbq_deadline_is_none(wait->deadline))
		return false;
	wait->begun = true;
	if (!wait->nested)
		WRITE_ONCE(wait->pool->waiter, wait);
	if (!wait->deadline->announced) {
		nbq_wait_announce(wait->deadline, wait->lock, wait->ip);
		trace_nbq_wait_begin(wait->lock, wait->held_by, wait->ip);
	}
	wait->began = wait->deadline->traced ? nbq_clock_ns() : 0;
	wait->interval = nbq_wait_is_interrupt(wait) ? INTERRUPT_CHECK_NS : FIRST_CHECK_NS;
	/*
	 * An interrupt checks at once: it may have interrupted a waiter that has not published
	 * yet what it waits behind.
	 */
	wait->tick_at = wait->polls;
	if (wait->deadline->at == KTIME_MAX && !nbq_wait_is_interrupt(wait))
		wait->tick_at += POLLS_PER_TICK;
	return true;
}

/* By the clock just read, is nothing due before a wait by hardware has ended? */
static bool has_time_for_hardware(const struct nbq_wait *wait)
{
	u64 until = wait->now + NBQ_RELAX_MAX_NS;

	if (nbq_wait_checks(wait) && until > wait->deadlock_check_at)
		return false;
	return nbq_deadline_is_after(wait->deadline, until) && nbq_relax_is_bounded();
}

/* How many polls from the clock read at this time to the next. */
static unsigned int polls_to_tick(const struct nbq_wait *wait, u64 now)
{
	unsigned int polls = 2 * (wait->polls - wait->read_at);
	u64 took = 2 * (now - wait->now);
	u64 left = wait->deadline->at - now;

	if (wait->deadline->at == KTIME_MAX)
		return POLLS_PER_TICK;
	if (!polls) {
		polls = FIRST_POLLS;
		took = FIRST_POLLS << FIRST_POLL_SHIFT;
	}
	while (polls > 1 && (polls > POLLS_TO_DEADLINE || took > left / 2)) {
		polls /= 2;
		took /= 2;
	}
	return polls;
}

/**
 * nbq_wait_tick() - The clock was read, before the deadline.
 * @wait: the attempt
 * @now: the time
 *
 * Return: a deadlock check is due.
 */
bool nbq_wait_tick(struct nbq_wait *wait, u64 now)
{
	bool checks;

	wait->tick_at = wait->polls + polls_to_tick(wait, now);
	wait->read_at = wait->polls;
	wait->now = now;
	if (!wait->deadlock_check_at)
		wait->deadlock_check_at = wait->now +
					  (nbq_wait_is_interrupt(wait) ? 0 : FIRST_CHECK_NS);
	checks = IS_CHECK_DUE(wait);
	if (checks) {
		wait->deadlock_check_at = wait->now + wait->interval;
		wait->interval = min(2 * wait->interval, nbq_wait_is_interrupt(wait) ?
				     MAX_INTERRUPT_INTERVAL_NS : MAX_INTERVAL_NS);
	}
	wait->by_hardware = NBQ_RELAX_MAX_NS && has_time_for_hardware(wait);
	return checks;
}

/**
 * nbq_wait_pause() - The state of the predecessor has changed, or the wait is over.
 * @wait: the attempt
 *
 * Before the predecessor's node can be freed, and before the place is abandoned.
 */
void nbq_wait_pause(struct nbq_wait *wait)
{
	if (READ_ONCE(wait->pool->waiter) == wait)
		nbq_wait_withdraw(wait);
	wait->check_at = wait->polls;
	/* Time has gone by since the clock was read. */
	wait->by_hardware = false;
}

static void trace_end(const struct nbq_wait *wait, int ret)
{
	if (wait->deadline->announced)
		nbq_contention_end(wait->lock, ret);
	if (wait->deadline->announced || ret == -EDEADLK)
		trace_nbq_wait_end(wait->lock, wait->judged ? &wait->judged : wait->held_by,
				   wait->ip, ret, wait->deadline->traced, wait->began);
}

/**
 * nbq_wait_end() - The attempt is over.
 * @wait: the attempt
 * @ret: 0 if the lock was acquired, or the error
 *
 * Return: @ret.
 */
int nbq_wait_end(struct nbq_wait *wait, int ret)
{
	struct nbq_events *events = &wait->pool->events;

	if (!wait->deadline->retried && !wait->deadline->visits)
		trace_end(wait, ret);
	if (READ_ONCE(wait->pool->waiter) == wait)
		WRITE_ONCE(wait->pool->waiter, NULL);
	nbq_nesting_leave(wait->pool);
	if (unlikely(wait->deadline->visits))
		return ret;
	if (!ret)
		events->acquired_handoff++;
	else if (ret == -EDEADLK || ret == -EOWNERDEAD)
		events->deadlocks += !wait->deadline->retried;
	else if (ret == -ETIMEDOUT)
		events->timeouts++;
	else if (ret == -ECANCELED)
		events->cancellations++;
	else if (ret == -EBUSY)
		events->failed_tries++;
	return ret;
}

/**
 * nbq_retries_begin() - An operation that cannot fail has found a deadlock, and attempts again.
 * @deadline: that of the attempt that has found it
 * @lock: the lock
 * @held_by: hybrid: where the lock names its holder; or NULL
 * @ip: the caller of the operation
 *
 * Another context in the deadlock may time out, or take the lock over. The further attempts are one
 * wait for tracers, and the deadlock is counted once.
 *
 * Context: Any, preemption off.
 * Return: what they need; nbq_retries_end() is due when one has the lock.
 */
struct nbq_retries nbq_retries_begin(const struct nbq_deadline *deadline, const void *lock,
				     const u16 *held_by, unsigned long ip)
{
	struct nbq_retries retries = { .never = *deadline };

	retries.never.retried = true;
	nbq_wait_announce(&retries.never, lock, ip);
	trace_nbq_wait_begin(lock, held_by, ip);
	retries.began = retries.never.traced ? nbq_clock_ns() : 0;
	return retries;
}

/**
 * nbq_retries_end() - One of these attempts has the lock.
 * @retries: what nbq_retries_begin() has returned
 * @lock: the lock
 * @held_by: hybrid: where the lock names its holder; or NULL
 * @ip: the caller of the operation
 */
void nbq_retries_end(const struct nbq_retries *retries, const void *lock, const u16 *held_by,
		     unsigned long ip)
{
	nbq_contention_end(lock, 0);
	trace_nbq_wait_end(lock, held_by, ip, 0, retries->never.traced, retries->began);
}
