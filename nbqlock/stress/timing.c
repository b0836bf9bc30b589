// SPDX-License-Identifier: GPL-2.0
/*
 * What a contender notes of the attempts that it times. Nothing here allocates,
 * and nothing is shared until the run is over, but for the stamp of a release,
 * which the lock protects.
 */
#include <linux/errno.h>
#include <linux/minmax.h>

#include "ops.h"
#include "run.h"
#include "timing.h"

/* The first attempt is timed. */
void stress_timings_init(struct timings *timings)
{
	timings->until_sample = 1;
}

static bool is_timed(struct timings *timings, u64 sample_every)
{
	if (!sample_every || --timings->until_sample)
		return false;
	timings->until_sample = sample_every;
	return true;
}

/* Right before an attempt. */
struct stopwatch stress_stopwatch_start(struct timings *timings, u64 sample_every)
{
	struct stopwatch watch = { .runs = is_timed(timings, sample_every) };

	if (watch.runs)
		watch.start = stress_clock_ns();
	return watch;
}

/* Right after it. */
void stress_stopwatch_stop(struct stopwatch *watch)
{
	if (watch->runs)
		watch->took = max_t(s64, stress_clock_ns() - watch->start, 0);
}

/* By the new owner, once the watch is stopped. */
void stress_stopwatch_enter(struct stopwatch *watch,
			    const struct guarded *guarded)
{
	s64 released = guarded->released;

	watch->handoff = -1;
	/* Without a stamp, that is 0, too. */
	if (watch->runs && watch->start < released)
		watch->handoff = max_t(s64, watch->start + watch->took - released, 0);
}

/* By the owner, right before its release: the last it does inside. */
void stress_stopwatch_leave(const struct stopwatch *watch,
			    struct guarded *guarded)
{
	guarded->released = watch->runs ? stress_clock_ns() : 0;
}

/* An acquisition has ended well: how the times go on from the one before. */
static void note_gap(struct timings *timings, s64 now)
{
	if (!timings->first)
		timings->first = now;
	else
		timings->longest_gap = max(timings->longest_gap,
					   now - timings->last);
	timings->last = now;
}

void stress_timings_success(struct timings *timings,
			    const struct stopwatch *watch)
{
	if (!watch->runs)
		return;
	stress_histogram_add(&timings->wait, watch->took);
	if (watch->handoff >= 0)
		stress_histogram_add(&timings->handoff, watch->handoff);
	note_gap(timings, watch->start + watch->took);
}

/* Whatever the reason: it counts as much as a success. */
void stress_timings_failure(struct timings *timings,
			    const struct stopwatch *watch)
{
	if (watch->runs)
		stress_histogram_add(&timings->failed_wait, watch->took);
}

/* If the reason was the patience, besides. */
void stress_timings_timeout(struct timings *timings,
			    const struct stopwatch *watch,
			    const struct stress_ops *ops, ktime_t patience)
{
	if (watch->runs && ops->patience == HEEDS_PATIENCE)
		stress_histogram_add(&timings->overshoot,
				     max(watch->took - patience, 0LL));
}

/* The histograms: when something was is a contender's own affair. */
void stress_timings_merge(struct timings *into, const struct timings *from)
{
	stress_histogram_merge(&into->wait, &from->wait);
	stress_histogram_merge(&into->failed_wait, &from->failed_wait);
	stress_histogram_merge(&into->overshoot, &from->overshoot);
	stress_histogram_merge(&into->handoff, &from->handoff);
}

/**
 * stress_timings_longest_gap() - The longest time without an acquisition.
 * @timings: of a contender
 * @began: when the run began, in ns
 * @ended: when it was told to stop, in ns
 *
 * Return: ns, from the start of the run to its end, as far as acquisitions were
 * timed; so at least as long as it really was.
 */
u64 stress_timings_longest_gap(const struct timings *timings, s64 began,
			       s64 ended)
{
	s64 gap = timings->longest_gap;

	if (!timings->first)
		return max_t(s64, ended - began, 0);
	gap = max(gap, timings->first - began);
	return max(gap, ended - timings->last);
}
