/* SPDX-License-Identifier: GPL-2.0 */
/* The timings of a contender. */
#ifndef _STRESS_TIMING_H
#define _STRESS_TIMING_H

#include <linux/ktime.h>
#include <linux/processor.h>
#include <linux/timekeeping.h>

#include "driver.h"

/* The clock of nbqlock's deadlines. */
static inline u64 stress_clock_ns(void)
{
	return ktime_get_mono_fast_ns();
}

/* steal.c: the CPU time of this CPU, and a pause that leaves the core to others. */
#define STRESS_CPU_TIME_IS_KNOWN	IS_ENABLED(CONFIG_UML)
#if STRESS_CPU_TIME_IS_KNOWN
u64 stress_cpu_time_ns(void);
void stress_yield_core(u64 ns);
#else
static inline u64 stress_cpu_time_ns(void) { return 0; }
static inline void stress_yield_core(u64 ns) { cpu_relax(); }
#endif

/* Of one contender; the rest is of those attempts that were timed. */
struct timings {
	bool own_clock;			/* read the CPU time as well */
	u64 until_sample;		/* attempts until one is timed */
	struct stress_histogram histograms[HISTOGRAMS_OF_CONTENDER];
	s64 first;			/* time of the first acquisition, in ns; 0: none */
	s64 last;
	s64 longest_gap;		/* ns between two of them */
};

/* Of one attempt. Times are in ns. */
struct stopwatch {
	bool runs;			/* the attempt is timed; else the rest is undefined */
	s64 own_start;			/* its start in CPU time */
	s64 early;			/* the time before the read of @found */
	u64 found;			/* critical sections before its start */
	s64 start;
	s64 queued;			/* the start of the wait for its last lock */
	s64 took;			/* its duration */
	s64 away;			/* how long the CPU did not run meanwhile */
	s64 handoff;			/* since the last release; negative: it has no stamp, or
					 * this contender did not wait by then
					 */
	bool always_ran;		/* the CPU ran throughout since @early */
	s64 passed;			/* critical sections from @found on; negative: unknown */
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
		watch->own_start = stress_cpu_time_ns();
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
		stress_stopwatch_ran(watch, stress_cpu_time_ns() - watch->own_start);
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
u64 stress_timings_longest_gap(const struct timings *timings, s64 began, s64 ended);

#endif
