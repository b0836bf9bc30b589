/* SPDX-License-Identifier: GPL-2.0 */
/* The timings of a contender. */
#ifndef _STRESS_TIMING_H
#define _STRESS_TIMING_H

#include <linux/compiler.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/timekeeping.h>
#include <linux/types.h>

#include "histogram.h"
#include "host.h"

struct stress_ops;

/* The clock of nbqlock's deadlines. */
static inline u64 stress_clock_ns(void)
{
	return ktime_get_mono_fast_ns();
}

/**
 * struct timings - of one contender
 * @own_clock: read the CPU time as well
 * @until_sample: attempts until one is timed
 * @wait: duration of acquisitions
 * @failed_wait: duration of failed attempts
 * @overshoot: delay of timeouts after the deadline
 * @own_overshoot: the same, in CPU time
 * @away: how long the CPU did not run in these attempts
 * @handoff: from a release to the acquisition of a contender that waited
 * @own_wait: duration of acquisitions, in CPU time
 * @passed: critical sections of others during the wait, if the CPU ran throughout
 * @first: time of the first timed acquisition, in ns; 0: none
 * @last: time of the last one
 * @longest_gap: ns between two of them
 */
struct timings {
	bool own_clock;
	u64 until_sample;
	struct stress_histogram wait;
	struct stress_histogram failed_wait;
	struct stress_histogram overshoot;
	struct stress_histogram own_overshoot;
	struct stress_histogram away;
	struct stress_histogram handoff;
	struct stress_histogram own_wait;
	struct stress_histogram passed;
	s64 first;
	s64 last;
	s64 longest_gap;
};

/**
 * struct stopwatch - of one attempt
 * @runs: the attempt is timed; else the rest is undefined
 * @own_start: its start in CPU time, in ns
 * @early: the time before the read of @found, in ns
 * @found: critical sections before its start
 * @start: its start, in ns
 * @queued: the start of the wait for its last lock, in ns
 * @took: its duration, in ns
 * @away: how long the CPU did not run meanwhile, in ns
 * @handoff: ns since the stamp of the release before; negative: no stamp, or this contender did
 *	not wait by then
 * @always_ran: the CPU ran throughout since @early
 * @passed: critical sections from @found to its own; negative: unknown
 */
struct stopwatch {
	bool runs;
	s64 own_start;
	s64 early;
	u64 found;
	s64 start;
	s64 queued;
	s64 took;
	s64 away;
	s64 handoff;
	bool always_ran;
	s64 passed;
};

/* An attempt that is not timed only reads @runs: it is to show the cost of the lock itself. */

/* Right before an attempt. @counter: the critical sections, which go on. */
static inline void stress_stopwatch_start(struct stopwatch *watch,
					  struct timings *timings,
					  u64 sample_every, const u64 *counter)
{
	watch->runs = sample_every && !--timings->until_sample;
	if (!watch->runs)
		return;
	timings->until_sample = sample_every;
	/* Outside of the timed part, here and at the end. */
	watch->passed = -1;
	if (timings->own_clock) {
		watch->own_start = stress_host_cpu_time_ns();
		/* From here on, others may pass while this CPU does not run. */
		watch->early = stress_clock_ns();
		/* Last: critical sections after this read have passed this contender. */
		watch->found = data_race(READ_ONCE(*counter));
	}
	watch->start = stress_clock_ns();
	watch->queued = watch->start;
}

/*
 * The CPU time since the start. It includes a read of that clock, so that rather too little is
 * counted as absence.
 */
static inline void stress_stopwatch_ran(struct stopwatch *watch, s64 ns)
{
	watch->away = max_t(s64, watch->took - ns, 0);
	watch->always_ran = watch->start + watch->took - watch->early <= ns;
}

/* Before the last lock of a chain. */
static inline void stress_stopwatch_queue(struct stopwatch *watch)
{
	if (watch->runs)
		watch->queued = stress_clock_ns();
}

/* Right after the attempt. */
static inline void stress_stopwatch_stop(struct stopwatch *watch, const struct timings *timings)
{
	if (!watch->runs)
		return;
	watch->took = max_t(s64, stress_clock_ns() - watch->start, 0);
	if (timings->own_clock)
		stress_stopwatch_ran(watch, stress_host_cpu_time_ns() - watch->own_start);
}

/* The stamp of a release: right before it, as the last access inside. */
static inline s64 stress_stopwatch_stamp(const struct stopwatch *watch)
{
	return watch->runs ? stress_clock_ns() : 0;
}

void stress_timings_init(struct timings *timings, bool own_clock);
void stress_stopwatch_enter(struct stopwatch *watch, s64 released);
void stress_stopwatch_passed(struct stopwatch *watch, const struct timings *timings, u64 counter);
void stress_timings_success(struct timings *timings, const struct stopwatch *watch);
void stress_timings_failure(struct timings *timings, const struct stopwatch *watch);
void stress_timings_timeout(struct timings *timings,
			    const struct stopwatch *watch,
			    const struct stress_ops *ops, ktime_t patience);
void stress_timings_merge(struct timings *into, const struct timings *from);
u64 stress_timings_longest_gap(const struct timings *timings, s64 began, s64 ended);

#endif
