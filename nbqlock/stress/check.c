// SPDX-License-Identifier: GPL-2.0
/* The result of a run, and the verdict on the lock. */
#include <linux/bitops.h>

#include "run.h"

static struct stress_row row_of(const struct stress_run *run, const struct contender *contender)
{
	struct stress_row row = {
		.id = contender->id,
		.context = contender->context,
		.cpu = contender->cpu,
		.counts = contender->counts,
	};

	if (run->params.sample_every)
		row.longest_gap_ns =
			stress_timings_longest_gap(&contender->timings,
						   run->began_ns, run->ended_ns);
	return row;
}

/*
 * Can an attempt of this contender be part of a deadlock? Not with a fixed order of locks, unless
 * an interrupt waits for its own CPU.
 */
static bool may_deadlock(const struct stress_run *run, const struct contender *contender)
{
	const struct stress_params *params = &run->params;

	if (params->chain > 1 && params->chain_order == CHAIN_RANDOM)
		return run->contender_count > 1;
	if (params->nesting != NESTING_SHARED || params->contexts == BIT(STRESS_TASK))
		return false;
	/* A thread, too: behind a holder that is interrupted by a waiter for its lock. */
	return contender->context != STRESS_TASK ||
	       (params->chain > 1 && params->chain_order == CHAIN_ASCENDING);
}

static void add_counts(struct stress_counts *sum, const struct stress_counts *counts)
{
	sum->attempts += counts->attempts;
	sum->acquisitions += counts->acquisitions;
	sum->timeouts += counts->timeouts;
	sum->no_node += counts->no_node;
	sum->deadlocks += counts->deadlocks;
}

static void add_contender(struct stress_report *report,
			  const struct contender *contender,
			  const struct stress_row *row)
{
	unsigned int i;

	add_counts(&report->total, &row->counts);
	add_counts(&report->contexts[row->context], &row->counts);
	report->violations += contender->violations;
	if (!may_deadlock(contender->run, contender))
		report->false_deadlocks += row->counts.deadlocks;
	for (i = 0; i < HISTOGRAMS_OF_CONTENDER; i++)
		stress_histogram_merge(&report->histograms[i], &contender->timings.histograms[i]);
	if (row->context == STRESS_TASK)
		report->longest_gap_ns = max(report->longest_gap_ns, row->longest_gap_ns);
}

/* The spread is that of the threads, which come first. */
static void sum_up_contenders(struct stress_run *run, struct stress_report *report)
{
	unsigned int i;

	for (i = 0; i < run->contender_count; i++) {
		const struct contender *contender = run->contenders[i];

		run->rows[i] = row_of(run, contender);
		run->shares[i] = run->rows[i].counts.acquisitions;
		add_contender(report, contender, &run->rows[i]);
	}
	report->spread = stress_spread_of(run->shares, run->params.threads);
	/* They belong to the report now. */
	report->row_count = run->contender_count;
	report->rows = run->rows;
	run->rows = NULL;
}

static void add_nodes(const struct contender *contender, struct stress_nodes *sum)
{
	unsigned int i;

	for (i = 0; i < STRESS_CHAIN_MAX; i++) {
		const struct stress_nodes *nodes = &contender->refs[i].waiter.nodes;

		sum->max += nodes->max;
		sum->reclaimed += nodes->reclaimed;
		sum->leaked += nodes->leaked;
	}
}

/*
 * Each acquisition must be in the counter that the lock protects. A lost update makes a counter
 * too small, never too large, so the sum shows the loss at any lock.
 */
static void sum_up_locks(const struct stress_run *run, struct stress_report *report)
{
	u64 counted = 0;
	unsigned int i, k;

	for (i = 0; i < STRESS_LOCKS_MAX; i++) {
		counted += run->targets[i].guarded->counter;
		report->handoffs += run->targets[i].guarded->handoffs;
	}
	for (i = 0; i < run->contender_count; i++) {
		for (k = 0; k < STRESS_CHAIN_MAX; k++)
			report->locks_taken += run->contenders[i]->refs[k].acquired;
	}
	report->locks_freed = run->admission.freed;
	if (run->joined)
		report->lost_updates = report->locks_taken - counted;
}

/*
 * The pools that contenders have used: those of the run's CPUs. Threads of one that goes offline
 * run anywhere.
 */
static unsigned int pools_of(const struct stress_params *params)
{
	return hweight32(params->contexts) *
	       (params->hotplug_ms ? num_possible_cpus() : cpumask_weight(&params->cpus));
}

/* After the locks are destroyed and the contenders have exited. */
static void count_nodes(const struct stress_run *run, struct stress_report *report)
{
	const struct stress_ops *ops = run->params.lock;
	struct stress_nodes *sum = &report->nodes;
	unsigned int i;

	for (i = 0; i < run->contender_count; i++)
		add_nodes(run->contenders[i], sum);
	if (ops->count_nodes)
		ops->count_nodes(sum, run->target_count);
	sum->leaked = stress_nodes_leaked(ops, sum->leaked, pools_of(&run->params),
					  run->target_count);
}

static void add_skipped(const struct contender *contender, struct stress_skipped *sum)
{
	unsigned int i, index;

	for (i = 0; i < STRESS_CHAIN_MAX; i++) {
		const struct stress_skipped *skipped = &contender->refs[i].waiter.skipped;

		for (index = 0; index <= NBQ_SKIPPED_MAX; index++)
			sum->counts[index] += skipped->counts[index];
		sum->most = max(sum->most, skipped->most);
	}
}

static void count_skipped(const struct stress_run *run, struct stress_report *report)
{
	struct stress_histogram *histogram = &report->histograms[HISTOGRAM_SKIPPED];
	const struct stress_ops *ops = run->params.lock;
	struct stress_skipped sum = {};
	unsigned int i, index;

	for (i = 0; i < run->contender_count; i++)
		add_skipped(run->contenders[i], &sum);
	if (ops->count_skipped)
		ops->count_skipped(&sum);
	for (index = 0; index <= NBQ_SKIPPED_MAX; index++)
		stress_histogram_add_many(histogram, index, sum.counts[index]);
	histogram->max = sum.most;
}

/* The contexts with attempts, a bit for each. */
static unsigned int contexts_seen(const struct stress_run *run)
{
	unsigned int seen = 0, i;

	for (i = 0; i < run->contender_count; i++) {
		if (READ_ONCE(run->contenders[i]->counts.attempts))
			seen |= BIT(run->contenders[i]->context);
	}
	return seen;
}

/* Do both the planned and the real duration have time for it twice? */
static bool is_long_enough(const struct stress_run *run, u64 ns)
{
	return min(run->params.duration_ms * NSEC_PER_MSEC, stress_run_elapsed_ns(run)) > 2 * ns;
}

/*
 * What must happen in this run, and has not yet? At any time; what needs time is not expected
 * before it had some.
 *
 * Return: a bit for each enum stress_failure that the run would end with.
 */
unsigned long stress_run_missing(const struct stress_run *run)
{
	const struct stress_params *params = &run->params;
	unsigned int seen = contexts_seen(run);
	unsigned long failures = 0;

	if (!seen)
		failures |= BIT(NO_ATTEMPT);
	if (params->contexts & ~seen)
		failures |= BIT(CONTEXT_MISSING);
	if (params->shuffle_ms && !READ_ONCE(run->migrations.shuffles) &&
	    is_long_enough(run, params->shuffle_ms * NSEC_PER_MSEC))
		failures |= BIT(NO_SHUFFLE);
	if (params->hotplug_ms && !READ_ONCE(run->migrations.hotplugs) &&
	    is_long_enough(run, params->hotplug_ms * NSEC_PER_MSEC))
		failures |= BIT(NO_HOTPLUG);
	if (params->suspend_every_ns && !stress_suspend_sum_up(run).count &&
	    is_long_enough(run, 4 * stress_suspend_interval_ns(run)))
		failures |= BIT(NO_SUSPENSION);
	return failures;
}

static void check(const struct stress_run *run, struct stress_report *report)
{
	unsigned long failures = stress_run_missing(run);
	const struct stress_counts *total = &report->total;

	if (run->cpu_lost)
		failures |= BIT(CPU_LOST);
	if (report->lost_updates)
		failures |= BIT(LOST_UPDATES);
	if (report->violations > report->lost_updates)
		failures |= BIT(TWO_HOLDERS);
	if (report->nodes.leaked)
		failures |= BIT(LEAKED_NODES);
	if (!run->joined)
		failures |= BIT(THREAD_MISSING);
	if (run->destroyed)
		failures |= BIT(LOCK_IN_USE);
	if (run->joined && total->attempts != total->acquisitions + total->timeouts +
					      total->no_node + total->deadlocks)
		failures |= BIT(UNKNOWN_ERROR);
	if (run->admission.written)
		failures |= BIT(FREED_WRITTEN);
	if (report->false_deadlocks)
		failures |= BIT(FALSE_DEADLOCK);
	report->failures = failures;
}

/*
 * Sum up and check a run that was stopped and, if possible, joined: then all counts are exact.
 * @report: filled in, except for @stopped; its former content is freed.
 */
void stress_run_report(struct stress_run *run, struct stress_report *report)
{
	u64 elapsed_us;

	stress_report_clear(report);
	report->params = run->params;
	report->cpus_online = num_online_cpus();
	report->elapsed_ns = stress_run_elapsed_ns(run);
	report->migrations = run->migrations;
	report->suspended = stress_suspend_sum_up(run);
	report->costs = run->costs;

	sum_up_contenders(run, report);
	sum_up_locks(run, report);
	elapsed_us = max(div_u64(report->elapsed_ns, NSEC_PER_USEC), 1ULL);
	report->per_second = div64_u64(report->total.acquisitions * USEC_PER_SEC, elapsed_us);

	if (run->joined) {
		count_nodes(run, report);
		count_skipped(run, report);
	}
	report->violations += report->lost_updates;
	check(run, report);
}
