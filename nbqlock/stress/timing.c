// SPDX-License-Identifier: GPL-2.0
/*
 * The timings of a contender. Nothing here allocates, and nothing is shared before the end of the
 * run, except for the stamp of a release, which the lock protects.
 */
#include <linux/errno.h>
#include <linux/minmax.h>

#include "ops.h"
#include "timing.h"

/* The first attempt is timed. */
void stress_timings_init(struct timings *timings, bool own_clock)
{
	timings->own_clock = own_clock;
	timings->until_sample = 1;
}

/**
 * stress_stopwatch_enter() - Time the hand-off.
 * @watch: of the new holder; it runs, and was stopped
 * @released: the stamp of the holder before; 0: none
 */
void stress_stopwatch_enter(struct stopwatch *watch, s64 released)
{
	watch->handoff = -1;
	if (watch->queued < released)
		watch->handoff = max_t(s64, watch->start + watch->took - released, 0);
}

/**
 * stress_stopwatch_passed() - Count the critical sections of others meanwhile.
 * @watch: of the new holder; it runs, and was stopped
 * @timings: of this contender
 * @counter: critical sections by now
 *
 * Only while its CPU runs can a waiter keep others from passing it: attempts during which the
 * CPU did not run do not count.
 */
void stress_stopwatch_passed(struct stopwatch *watch, const struct timings *timings, u64 counter)
{
	if (timings->own_clock && watch->always_ran)
		watch->passed = counter - watch->found;
}

/* The rest is for attempts that were timed. */

/* The gap since the acquisition before. */
static void note_gap(struct timings *timings, s64 now)
{
	if (!timings->first)
		timings->first = now;
	else
		timings->longest_gap = max(timings->longest_gap, now - timings->last);
	timings->last = now;
}

void stress_timings_success(struct timings *timings, const struct stopwatch *watch)
{
	stress_histogram_add(&timings->wait, watch->took);
	if (watch->handoff >= 0)
		stress_histogram_add(&timings->handoff, watch->handoff);
	if (timings->own_clock)
		stress_histogram_add(&timings->own_wait, watch->took - watch->away);
	if (watch->passed >= 0)
		stress_histogram_add(&timings->passed, watch->passed);
	note_gap(timings, watch->start + watch->took);
}

/* Of any error. */
void stress_timings_failure(struct timings *timings, const struct stopwatch *watch)
{
	stress_histogram_add(&timings->failed_wait, watch->took);
}

/*
 * How long did the CPU not run after the deadline, at least? How its absence is spread over the
 * attempt is unknown, but no more of it than the patience was before the deadline.
 */
static s64 absence_at_the_end(const struct stopwatch *watch, ktime_t patience)
{
	return max(watch->away - patience, 0LL);
}

/* After a timeout, in addition. */
void stress_timings_timeout(struct timings *timings,
			    const struct stopwatch *watch,
			    const struct stress_ops *ops, ktime_t patience)
{
	s64 late = max(watch->took - patience, 0LL);

	if (ops->patience != HEEDS_PATIENCE)
		return;
	stress_histogram_add(&timings->overshoot, late);
	if (!timings->own_clock)
		return;
	stress_histogram_add(&timings->own_overshoot,
			     max(late - absence_at_the_end(watch, patience), 0LL));
	stress_histogram_add(&timings->away, watch->away);
}

/* Only the histograms. */
void stress_timings_merge(struct timings *into, const struct timings *from)
{
	stress_histogram_merge(&into->wait, &from->wait);
	stress_histogram_merge(&into->failed_wait, &from->failed_wait);
	stress_histogram_merge(&into->overshoot, &from->overshoot);
	stress_histogram_merge(&into->own_overshoot, &from->own_overshoot);
	stress_histogram_merge(&into->away, &from->away);
	stress_histogram_merge(&into->handoff, &from->handoff);
	stress_histogram_merge(&into->own_wait, &from->own_wait);
	stress_histogram_merge(&into->passed, &from->passed);
}

/**
 * stress_timings_longest_gap() - The longest time without an acquisition.
 * @timings: of a contender
 * @began: the start of the run, in ns
 * @ended: its stop, in ns
 *
 * Return: ns, start and stop included. Only timed acquisitions are known, so this is an upper
 * bound.
 */
u64 stress_timings_longest_gap(const struct timings *timings, s64 began, s64 ended)
{
	s64 gap = timings->longest_gap;

	if (!timings->first)
		return max_t(s64, ended - began, 0);
	gap = max(gap, timings->first - began);
	return max(gap, ended - timings->last);
}
