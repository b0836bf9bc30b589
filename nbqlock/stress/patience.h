/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When to give up, for lock types that have no clock of their own. They read
 * it as rarely as nbqlock's waiters do, and start it when those do: at the
 * first poll that has found the lock taken.
 */
#ifndef _STRESS_PATIENCE_H
#define _STRESS_PATIENCE_H

#include <linux/ktime.h>
#include <linux/timekeeping.h>
#include <linux/types.h>

#define POLLS_PER_CLOCK	8

/**
 * struct stress_timer - the patience of one attempt
 * @patience: ns to wait; 0 or less: do not wait; %KTIME_MAX: for ever
 * @start: when the clock was read first; 0: not yet
 * @polls: calls so far
 */
struct stress_timer {
	ktime_t patience;
	ktime_t start;
	unsigned int polls;
};

/* Is the patience over? To be called once for each poll. */
static inline bool stress_timer_is_over(struct stress_timer *timer)
{
	ktime_t now;

	if (timer->patience <= 0)
		return true;
	if (timer->patience == KTIME_MAX || timer->polls++ % POLLS_PER_CLOCK)
		return false;

	now = ktime_get_mono_fast_ns();
	if (!timer->start)
		timer->start = now;
	return now - timer->start >= timer->patience;
}

#endif
