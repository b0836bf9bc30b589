/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The timeout of lock types without a clock of their own. They read the clock as rarely as the
 * waiters of nbqlock, and start it as those do: at the first poll that finds the lock held.
 */
#ifndef _STRESS_PATIENCE_H
#define _STRESS_PATIENCE_H

#include <linux/ktime.h>
#include <linux/timekeeping.h>
#include <linux/types.h>

#define POLLS_PER_CLOCK	8

/* Of one attempt. */
struct stress_timer {
	ktime_t patience;	/* in ns; 0 or less: do not wait; KTIME_MAX: no timeout */
	ktime_t start;		/* the first clock read; 0: none yet */
	unsigned int polls;	/* calls so far */
};

/* Is the patience over? Called once for each poll. */
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
