/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The times that a contender takes of its attempts.
 */
#ifndef _STRESS_TIMING_H
#define _STRESS_TIMING_H

#include <linux/ktime.h>
#include <linux/types.h>

#include "histogram.h"

struct stress_ops;

/**
 * struct timings - of one contender
 * @until_sample: attempts until one is timed
 * @wait: how long acquisitions took
 * @overshoot: how late timeouts were
 */
struct timings {
	u64 until_sample;
	struct stress_histogram wait;
	struct stress_histogram overshoot;
};

/**
 * struct stopwatch - of one attempt
 * @runs: the attempt is timed
 * @start: when it began, in ns
 * @took: how long it took, in ns
 */
struct stopwatch {
	bool runs;
	s64 start;
	s64 took;
};

void stress_timings_init(struct timings *timings);
struct stopwatch stress_stopwatch_start(struct timings *timings, u64 sample_every);
void stress_stopwatch_stop(struct stopwatch *watch);
void stress_timings_success(struct timings *timings,
			    const struct stopwatch *watch);
void stress_timings_timeout(struct timings *timings,
			    const struct stopwatch *watch,
			    const struct stress_ops *ops, ktime_t patience);
void stress_timings_merge(struct timings *into, const struct timings *from);

#endif
