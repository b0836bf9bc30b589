/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The times that a contender takes of its attempts.
 */
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

/* The clock that nbqlock's deadlines are made of. */
static inline u64 stress_clock_ns(void)
{
	return ktime_get_mono_fast_ns();
}

/**
 * struct timings - of one contender
 * @own_clock: read the CPU's own clock, too
 * @until_sample: attempts until one is timed
 * @wait: how long acquisitions took
 * @failed_wait: how long attempts took that failed, for whatever reason
 * @overshoot: how late timeouts were
 * @own_overshoot: the same, by the CPU's own clock
 * @away: how long the CPU was away in these attempts
 * @handoff: from a release to when this contender, which waited, was inside
 * @own_wait: how long acquisitions took by the CPU's own clock
 * @passed: how many critical sections of others ended meanwhile, while the CPU ran
 * @first: when the first timed acquisition was, in ns; 0: there was none
 * @last: when the last one was
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
 * @runs: the attempt is timed; if not, nothing else here means anything
 * @own_start: when it began by the CPU's own clock, in ns
 * @early: when @found was about to be read, in ns
 * @found: critical sections before it began, if somebody counts them
 * @start: when it began, in ns
 * @queued: when it began to wait for the lock that it takes last, in ns
 * @took: how long it took, in ns
 * @away: of that, how long the CPU was away, in ns
 * @handoff: how long after the owner before had stamped its release, in ns;
 *	negative: that one left no stamp, or nobody waited here by then
 * @always_ran: the CPU was not away since @early
 * @passed: critical sections from @found to when this contender was inside;
 *	negative: not known, or the CPU was away meanwhile
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

/*
 * Attempts that are not timed are there for the cost of a lock by itself: all
 * that these do then is to look whether the watch runs.
 */

/* Right before an attempt. @counter: the critical sections, which go on. */
static inline void stress_stopwatch_start(struct stopwatch *watch,
					  struct timings *timings,
					  u64 sample_every, const u64 *counter)
{
	watch->runs = sample_every && !--timings->until_sample;
	if (!watch->runs)
		return;
	timings->until_sample = sample_every;
	/* Outside of what is timed, here and at the end. */
	watch->passed = -1;
	if (timings->own_clock) {
		watch->own_start = stress_host_cpu_time_ns();
		/* An absence from here on lets others pass, and is no part of the wait. */
		watch->early = stress_clock_ns();
		/* Last: whoever comes in from here on has passed this one. */
		watch->found = data_race(READ_ONCE(*counter));
	}
	watch->start = stress_clock_ns();
	watch->queued = watch->start;
}

/*
 * The CPU has run for so long since the start. That is by the time too long that
 * it takes to read that clock, so that rather too little is counted as absence.
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

/* Right after it. */
static inline void stress_stopwatch_stop(struct stopwatch *watch,
					 const struct timings *timings)
{
	if (!watch->runs)
		return;
	watch->took = max_t(s64, stress_clock_ns() - watch->start, 0);
	if (timings->own_clock)
		stress_stopwatch_ran(watch, stress_host_cpu_time_ns() - watch->own_start);
}

/* What the owner leaves behind right before its release, as the last inside. */
static inline s64 stress_stopwatch_stamp(const struct stopwatch *watch)
{
	return watch->runs ? stress_clock_ns() : 0;
}

void stress_timings_init(struct timings *timings, bool own_clock);
void stress_stopwatch_enter(struct stopwatch *watch, s64 released);
void stress_stopwatch_passed(struct stopwatch *watch,
			     const struct timings *timings, u64 counter);
void stress_timings_success(struct timings *timings,
			    const struct stopwatch *watch);
void stress_timings_failure(struct timings *timings,
			    const struct stopwatch *watch);
void stress_timings_timeout(struct timings *timings,
			    const struct stopwatch *watch,
			    const struct stress_ops *ops, ktime_t patience);
void stress_timings_merge(struct timings *into, const struct timings *from);
u64 stress_timings_longest_gap(const struct timings *timings, s64 began,
			       s64 ended);

#endif
