// SPDX-License-Identifier: GPL-2.0
/*
 * The timings of a contender. Nothing here allocates, and nothing is shared before the end of the
 * run, except for the stamp of a release, which the lock protects.
 */
#include "timing.h"

/* The first attempt is timed. */
void stress_timings_init(struct timings *timings, bool own_clock)
{
	timings->own_clock = own_clock;
	timings->until_sample = 1;
}

/* Time the hand-off to this new holder from the stamp of the holder before; 0: none. */
void stress_stopwatch_enter(struct stopwatch *watch, s64 released)
{
	watch->handoff = -1;
	if (watch->queued < released)
		watch->handoff = max_t(s64, watch->start + watch->took - released, 0);
}

/*
 * Count the critical sections of others meanwhile; @counter: of all by now. Only while its CPU runs
 * can a waiter keep others from passing it: attempts during which the CPU did not run do not count.
 */
void stress_stopwatch_passed(struct stopwatch *watch, const struct timings *timings, u64 counter)
{
	if (timings->own_clock && watch->always_ran)
		watch->passed = counter - watch->found;
}

/* The rest is for attempts that were timed. */

static void add(struct timings *timings, enum stress_histograms histogram, s64 value)
{
	stress_histogram_add(&timings->histograms[histogram], value);
}

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
	add(timings, HISTOGRAM_WAIT, watch->took);
	if (watch->handoff >= 0)
		add(timings, HISTOGRAM_HANDOFF, watch->handoff);
	if (timings->own_clock)
		add(timings, HISTOGRAM_OWN_WAIT, watch->took - watch->away);
	if (watch->passed >= 0)
		add(timings, HISTOGRAM_PASSED, watch->passed);
	note_gap(timings, watch->start + watch->took);
}

/* Of any error. */
void stress_timings_failure(struct timings *timings, const struct stopwatch *watch)
{
	add(timings, HISTOGRAM_FAILED_WAIT, watch->took);
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

	if (ops->patience != STRESS_HEEDS_PATIENCE)
		return;
	add(timings, HISTOGRAM_OVERSHOOT, late);
	if (!timings->own_clock)
		return;
	add(timings, HISTOGRAM_OWN_OVERSHOOT,
	    max(late - absence_at_the_end(watch, patience), 0LL));
	add(timings, HISTOGRAM_AWAY, watch->away);
}

/*
 * The longest time without an acquisition, in ns, in a run from @began to @ended, both included.
 * Only timed acquisitions are known, so this is an upper bound.
 */
u64 stress_timings_longest_gap(const struct timings *timings, s64 began, s64 ended)
{
	s64 gap = timings->longest_gap;

	if (!timings->first)
		return max_t(s64, ended - began, 0);
	gap = max(gap, timings->first - began);
	return max(gap, ended - timings->last);
}
