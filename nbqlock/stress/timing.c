// SPDX-License-Identifier: GPL-2.0
/*
 * What a contender notes of the attempts that it times. Nothing here allocates,
 * and nothing is shared until the run is over.
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

void stress_timings_success(struct timings *timings,
			    const struct stopwatch *watch)
{
	if (watch->runs)
		stress_histogram_add(&timings->wait, watch->took);
}

void stress_timings_timeout(struct timings *timings,
			    const struct stopwatch *watch,
			    const struct stress_ops *ops, ktime_t patience)
{
	if (watch->runs && ops->patience == HEEDS_PATIENCE)
		stress_histogram_add(&timings->overshoot,
				     max(watch->took - patience, 0LL));
}

void stress_timings_merge(struct timings *into, const struct timings *from)
{
	stress_histogram_merge(&into->wait, &from->wait);
	stress_histogram_merge(&into->overshoot, &from->overshoot);
}
