// SPDX-License-Identifier: GPL-2.0
/*
 * What a run has found, and whether the lock has passed.
 */
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/cpumask.h>
#include <linux/limits.h>
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "run.h"

static void sum_up_threads(const struct stress_run *run,
			   struct stress_report *report)
{
	unsigned int i;

	report->thread_min = U64_MAX;
	for (i = 0; i < run->knobs.threads; i++) {
		const struct contender *contender = run->contenders[i];
		u64 acquisitions = READ_ONCE(contender->acquisitions);

		report->attempts += contender->attempts;
		report->acquisitions += acquisitions;
		report->timeouts += contender->timeouts;
		report->no_node += contender->no_node;
		report->deadlocks += contender->deadlocks;
		report->violations += contender->violations;
		report->thread_min = min(report->thread_min, acquisitions);
		report->thread_max = max(report->thread_max, acquisitions);
		stress_timings_merge(&report->timings, &contender->timings);
	}
}

/*
 * Of the acquisitions of the threads. Values that spread too far for their
 * squares to fit in 64 bits lose low bits first.
 */
static u64 standard_deviation(const struct stress_run *run,
			      const struct stress_report *report)
{
	u64 mean = div64_u64(report->acquisitions, run->knobs.threads);
	unsigned int bits = fls64(report->thread_max - report->thread_min);
	unsigned int shift = bits > 25 ? bits - 25 : 0;
	u64 squares = 0;
	unsigned int i;

	for (i = 0; i < run->knobs.threads; i++) {
		u64 value = READ_ONCE(run->contenders[i]->acquisitions);
		u64 off = (value > mean ? value - mean : mean - value) >> shift;

		squares += off * off;
	}
	return (u64)int_sqrt64(div64_u64(squares, run->knobs.threads)) << shift;
}

/* Once the lock is destroyed and the threads are forgotten. */
static void count_nodes(const struct stress_run *run,
			struct stress_report *report)
{
	const struct stress_ops *ops = run->knobs.lock;
	struct stress_nodes sum = {};
	unsigned int i;

	for (i = 0; i < run->knobs.threads; i++) {
		const struct stress_nodes *nodes = &run->contenders[i]->waiter.nodes;

		sum.max += nodes->max;
		sum.reclaimed += nodes->reclaimed;
		sum.leaked += nodes->leaked;
	}
	if (ops->count_nodes)
		ops->count_nodes(&sum);
	report->nodes_max = sum.max;
	report->nodes_reclaimed = sum.reclaimed;
	report->leaked = sum.leaked;
}

static void judge(const struct stress_run *run, struct stress_report *report)
{
	unsigned long failures = 0;

	if (report->lost_updates)
		failures |= BIT(LOST_UPDATES);
	if (report->violations > report->lost_updates)
		failures |= BIT(TWO_OWNERS);
	if (report->leaked)
		failures |= BIT(LEAKED_NODES);
	if (!run->joined)
		failures |= BIT(THREAD_MISSING);
	if (run->destroyed)
		failures |= BIT(LOCK_IN_USE);
	if (run->joined && report->attempts != report->acquisitions +
					       report->timeouts +
					       report->no_node +
					       report->deadlocks)
		failures |= BIT(UNKNOWN_ERROR);
	if (!report->attempts)
		failures |= BIT(NO_ATTEMPT);
	report->failures = failures;
}

/**
 * stress_run_report() - Sum up and judge a run.
 * @run: a run that was stopped and, if that was possible, joined
 * @report: to be filled in, except for @stopped
 *
 * Without threads that did not come back, all counts are exact.
 */
void stress_run_report(const struct stress_run *run,
		       struct stress_report *report)
{
	const struct guarded *guarded = &run->guarded;
	u64 elapsed_us;

	memset(report, 0, sizeof(*report));
	report->knobs = run->knobs;
	report->cpus_online = num_online_cpus();
	report->elapsed_ns = stress_run_elapsed_ns(run);
	report->handoffs = guarded->handoffs;

	sum_up_threads(run, report);
	report->thread_stddev = standard_deviation(run, report);
	elapsed_us = max(div_u64(report->elapsed_ns, NSEC_PER_USEC), 1ULL);
	report->per_second = div64_u64(report->acquisitions * USEC_PER_SEC,
				       elapsed_us);

	if (run->joined) {
		report->lost_updates = report->acquisitions - guarded->counter;
		count_nodes(run, report);
	}
	report->violations += report->lost_updates;
	judge(run, report);
}
