// SPDX-License-Identifier: GPL-2.0
/*
 * The result of a run as text, in debugfs result/: a summary, one "name value" a line and the
 * verdict last; a table of the contenders; a table of the histograms.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/types.h>

#include "ops.h"
#include "stress.h"

static const char * const failure_words[] = {
	[LOST_UPDATES] = "the counter does not add up",
	[TWO_HOLDERS] = "two holders were seen",
	[LEAKED_NODES] = "queue nodes have leaked",
	[THREAD_MISSING] = "a thread did not come back",
	[LOCK_IN_USE] = "the lock was still in use at the end",
	[UNKNOWN_ERROR] = "the lock returned an unknown error",
	[NO_ATTEMPT] = "there was no attempt at all",
	[FREED_WRITTEN] = "the memory of a freed lock was written to",
	[CONTEXT_MISSING] = "a context made no attempt",
	[NO_SHUFFLE] = "the threads were never moved",
	[NO_HOTPLUG] = "no CPU ever went offline",
	[CPU_LOST] = "a CPU did not come back",
	[FALSE_DEADLOCK] = "a deadlock was reported where there can be none",
	[NO_SUSPENSION] = "no attempt was ever suspended",
};

static void show_times(struct seq_file *m, const char *name, const struct stress_histogram *times)
{
	static const struct {
		const char *name;
		unsigned int permille;
	} percentiles[] = {
		{ "p50", 500 }, { "p90", 900 }, { "p99", 990 }, { "p999", 999 },
	};
	size_t i;

	seq_printf(m, "%s_samples %llu\n", name, times->count);
	seq_printf(m, "%s_ns_mean %llu\n", name, stress_histogram_mean(times));
	for (i = 0; i < ARRAY_SIZE(percentiles); i++)
		seq_printf(m, "%s_ns_%s %llu\n", name, percentiles[i].name,
			   stress_histogram_value_at(times,
						     percentiles[i].permille));
	seq_printf(m, "%s_ns_max %llu\n", name, times->max);
}

/* The mean of small numbers is in thousandths. */
static void show_counts(struct seq_file *m, const char *name,
			const struct stress_histogram *counts)
{
	seq_printf(m, "%s_samples %llu\n", name, counts->count);
	seq_printf(m, "%s_mean_permille %llu\n", name,
		   div64_u64(counts->sum * 1000, max(counts->count, 1ULL)));
	seq_printf(m, "%s_p50 %llu\n", name, stress_histogram_value_at(counts, 500));
	seq_printf(m, "%s_p99 %llu\n", name, stress_histogram_value_at(counts, 990));
	seq_printf(m, "%s_p999 %llu\n", name, stress_histogram_value_at(counts, 999));
	seq_printf(m, "%s_max %llu\n", name, counts->max);
}

static void show_spread(struct seq_file *m, const struct stress_report *report)
{
	const struct stress_spread *spread = &report->spread;

	seq_printf(m, "thread_min %llu\n", spread->min);
	seq_printf(m, "thread_max %llu\n", spread->max);
	seq_printf(m, "thread_stddev %llu\n", spread->stddev);
	seq_printf(m, "jain_permille %llu\n", spread->jain_permille);
	seq_printf(m, "longest_gap_ns %llu\n", report->longest_gap_ns);
}

static void show_suspended(struct seq_file *m, const struct stress_suspended *suspended)
{
	seq_printf(m, "suspensions %llu\n", suspended->count);
	seq_printf(m, "suspension_ns_mean %llu\n",
		   div64_u64(suspended->sum_ns, max(suspended->count, 1ULL)));
	seq_printf(m, "suspension_ns_max %llu\n", suspended->max_ns);
}

static void show_interference(struct seq_file *m, const struct stress_report *report)
{
	enum stress_context context;

	for (context = CONTEXT_SOFTIRQ; context < CONTEXTS; context++) {
		const char *word = stress_context_word(context);

		seq_printf(m, "attempts_%s %llu\n", word, report->context_attempts[context]);
		seq_printf(m, "acquisitions_%s %llu\n", word,
			   report->context_acquisitions[context]);
		seq_printf(m, "deadlocks_%s %llu\n", word, report->context_deadlocks[context]);
	}
	seq_printf(m, "shuffles %llu\n", report->shuffles);
	seq_printf(m, "hotplugs %llu\n", report->hotplugs);
	show_suspended(m, &report->suspended);
	seq_printf(m, "nodes_left %llu\n", report->nodes_left);
	seq_printf(m, "nodes_kept %llu\n", report->nodes_kept);
}

static void show_verdict(struct seq_file *m, unsigned long failures)
{
	const char *before = "";
	size_t i;

	if (!failures) {
		seq_puts(m, "verdict PASS\n");
		return;
	}
	seq_puts(m, "verdict FAIL ");
	for (i = 0; i < ARRAY_SIZE(failure_words); i++) {
		if (!(failures & BIT(i)))
			continue;
		seq_printf(m, "%s%s", before, failure_words[i]);
		before = ", ";
	}
	seq_putc(m, '\n');
}

static void show_counts_of_attempts(struct seq_file *m, const struct stress_report *report)
{
	seq_printf(m, "attempts %llu\n", report->attempts);
	seq_printf(m, "acquisitions %llu\n", report->acquisitions);
	seq_printf(m, "timeouts %llu\n", report->timeouts);
	seq_printf(m, "no_node %llu\n", report->no_node);
	seq_printf(m, "deadlocks %llu\n", report->deadlocks);
	seq_printf(m, "handoffs %llu\n", report->handoffs);
	seq_printf(m, "acquisitions_per_second %llu\n", report->per_second);
}

static void show_timings(struct seq_file *m, const struct timings *timings)
{
	show_times(m, "wait", &timings->wait);
	show_times(m, "failed_wait", &timings->failed_wait);
	show_times(m, "overshoot", &timings->overshoot);
	show_times(m, "own_overshoot", &timings->own_overshoot);
	show_times(m, "away", &timings->away);
	show_times(m, "handoff", &timings->handoff);
	show_times(m, "own_wait", &timings->own_wait);
	show_counts(m, "passed", &timings->passed);
}

static void show_summary(struct seq_file *m, const struct stress_report *report)
{
	stress_params_show(m, &report->params);
	seq_printf(m, "cpus_online %u\n", report->cpus_online);
	seq_printf(m, "stopped %d\n", report->stopped);
	seq_printf(m, "elapsed_ns %llu\n", report->elapsed_ns);
	show_counts_of_attempts(m, report);
	show_spread(m, report);
	show_timings(m, &report->timings);
	show_counts(m, "skipped", &report->skipped);
	show_interference(m, report);
	seq_printf(m, "nodes_max %llu\n", report->nodes_max);
	seq_printf(m, "nodes_reclaimed %llu\n", report->nodes_reclaimed);
	seq_printf(m, "clock_read_ps %llu\n", report->costs.clock_read_ps);
	seq_printf(m, "empty_loop_ps %llu\n", report->costs.empty_loop_ps);
	seq_printf(m, "busy_loop_ps %llu\n", report->costs.busy_loop_ps);
	seq_printf(m, "locks_taken %llu\n", report->locks_taken);
	seq_printf(m, "locks_freed %llu\n", report->locks_freed);
	seq_printf(m, "lost_updates %llu\n", report->lost_updates);
	seq_printf(m, "violations %llu\n", report->violations);
	seq_printf(m, "leaked %lld\n", report->leaked);
	show_verdict(m, report->failures);
}

static void show_contenders(struct seq_file *m, const struct stress_report *report)
{
	unsigned int i;

	seq_puts(m, "id context cpu attempts acquisitions timeouts no_node deadlocks longest_gap_ns\n");
	for (i = 0; i < report->row_count; i++) {
		const struct stress_row *row = &report->rows[i];

		seq_printf(m, "%u %s %u %llu %llu %llu %llu %llu %llu\n",
			   row->id, row->context, row->cpu, row->attempts,
			   row->acquisitions, row->timeouts, row->no_node,
			   row->deadlocks, row->longest_gap_ns);
	}
}

static void show_histogram(struct seq_file *m, const char *name,
			   const struct stress_histogram *histogram)
{
	unsigned int i;

	for (i = 0; i < HISTOGRAM_BUCKETS; i++) {
		u64 lowest, highest;

		if (!histogram->buckets[i])
			continue;
		stress_histogram_bounds(i, &lowest, &highest);
		seq_printf(m, "%s %llu %llu %llu\n", name, lowest, highest,
			   histogram->buckets[i]);
	}
}

static void show_histograms(struct seq_file *m, const struct stress_report *report)
{
	seq_puts(m, "histogram from to count\n");
	show_histogram(m, "wait", &report->timings.wait);
	show_histogram(m, "failed_wait", &report->timings.failed_wait);
	show_histogram(m, "overshoot", &report->timings.overshoot);
	show_histogram(m, "own_overshoot", &report->timings.own_overshoot);
	show_histogram(m, "away", &report->timings.away);
	show_histogram(m, "handoff", &report->timings.handoff);
	show_histogram(m, "own_wait", &report->timings.own_wait);
	show_histogram(m, "passed", &report->timings.passed);
	show_histogram(m, "skipped", &report->skipped);
}

const struct stress_view stress_views[] = {
	{ .name = "summary", .show = show_summary },
	{ .name = "contenders", .show = show_contenders },
	{ .name = "histograms", .show = show_histograms },
	{}
};

/**
 * stress_report_clear() - Free the memory of a report, and zero it.
 * @report: the report, possibly all zeroes
 */
void stress_report_clear(struct stress_report *report)
{
	kvfree(report->rows);
	memset(report, 0, sizeof(*report));
}

void stress_report_log(const struct stress_report *report)
{
	size_t i;

	pr_info("run ended: %s, %llu threads, seed %llu, %llu of %llu attempts acquired: %s\n",
		report->params.lock->name, report->params.threads,
		report->params.seed, report->acquisitions, report->attempts,
		report->failures ? "FAIL" : "PASS");
	for (i = 0; i < ARRAY_SIZE(failure_words); i++) {
		if (report->failures & BIT(i))
			pr_err("run failed: %s\n", failure_words[i]);
	}
}
