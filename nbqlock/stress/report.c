// SPDX-License-Identifier: GPL-2.0
/*
 * The result of a run as text, in debugfs result/: a summary, one "name value" a line and the
 * verdict last; a table of the contenders; a table of the histograms.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/string.h>

#include "driver.h"

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

static const char * const histogram_words[HISTOGRAMS] = {
	[HISTOGRAM_WAIT] = "wait",
	[HISTOGRAM_FAILED_WAIT] = "failed_wait",
	[HISTOGRAM_OVERSHOOT] = "overshoot",
	[HISTOGRAM_OWN_OVERSHOOT] = "own_overshoot",
	[HISTOGRAM_AWAY] = "away",
	[HISTOGRAM_HANDOFF] = "handoff",
	[HISTOGRAM_OWN_WAIT] = "own_wait",
	[HISTOGRAM_PASSED] = "passed",
	[HISTOGRAM_SKIPPED] = "skipped",
};

static void show_percentile(struct seq_file *m, const char *name, const char *percentile,
			    const struct stress_histogram *histogram, unsigned int permille)
{
	seq_printf(m, "%s_%s %llu\n", name, percentile,
		   stress_histogram_value_at(histogram, permille));
}

static void show_times(struct seq_file *m, const char *name, const struct stress_histogram *times)
{
	seq_printf(m, "%s_samples %llu\n", name, times->count);
	seq_printf(m, "%s_ns_mean %llu\n", name, stress_histogram_mean(times));
	show_percentile(m, name, "ns_p50", times, 500);
	show_percentile(m, name, "ns_p90", times, 900);
	show_percentile(m, name, "ns_p99", times, 990);
	show_percentile(m, name, "ns_p999", times, 999);
	seq_printf(m, "%s_ns_max %llu\n", name, times->max);
}

/* The mean of small numbers is in thousandths. */
static void show_numbers(struct seq_file *m, const char *name,
			 const struct stress_histogram *numbers)
{
	seq_printf(m, "%s_samples %llu\n", name, numbers->count);
	seq_printf(m, "%s_mean_permille %llu\n", name,
		   div64_u64(numbers->sum * 1000, max(numbers->count, 1ULL)));
	show_percentile(m, name, "p50", numbers, 500);
	show_percentile(m, name, "p99", numbers, 990);
	show_percentile(m, name, "p999", numbers, 999);
	seq_printf(m, "%s_max %llu\n", name, numbers->max);
}

static void show_percentiles(struct seq_file *m, const struct stress_report *report)
{
	unsigned int i;

	for (i = 0; i < HISTOGRAMS; i++) {
		if (i == HISTOGRAM_PASSED || i == HISTOGRAM_SKIPPED)
			show_numbers(m, histogram_words[i], &report->histograms[i]);
		else
			show_times(m, histogram_words[i], &report->histograms[i]);
	}
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

	for (context = STRESS_SOFTIRQ; context < STRESS_CONTEXTS; context++) {
		const struct stress_counts *counts = &report->contexts[context];
		const char *word = stress_context_word(context);

		seq_printf(m, "attempts_%s %llu\n", word, counts->attempts);
		seq_printf(m, "acquisitions_%s %llu\n", word, counts->acquisitions);
		seq_printf(m, "deadlocks_%s %llu\n", word, counts->deadlocks);
	}
	seq_printf(m, "shuffles %llu\n", report->migrations.shuffles);
	seq_printf(m, "hotplugs %llu\n", report->migrations.hotplugs);
	show_suspended(m, &report->suspended);
	seq_printf(m, "nodes_left %llu\n", report->migrations.nodes_left);
	seq_printf(m, "nodes_kept %llu\n", report->migrations.nodes_kept);
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

static void show_counts(struct seq_file *m, const struct stress_counts *counts)
{
	seq_printf(m, "attempts %llu\n", counts->attempts);
	seq_printf(m, "acquisitions %llu\n", counts->acquisitions);
	seq_printf(m, "timeouts %llu\n", counts->timeouts);
	seq_printf(m, "no_node %llu\n", counts->no_node);
	seq_printf(m, "deadlocks %llu\n", counts->deadlocks);
}

static void show_summary(struct seq_file *m, const struct stress_report *report)
{
	stress_params_show(m, &report->params);
	seq_printf(m, "cpus_online %u\n", report->cpus_online);
	seq_printf(m, "stopped %d\n", report->stopped);
	seq_printf(m, "elapsed_ns %llu\n", report->elapsed_ns);
	show_counts(m, &report->total);
	seq_printf(m, "handoffs %llu\n", report->handoffs);
	seq_printf(m, "acquisitions_per_second %llu\n", report->per_second);
	show_spread(m, report);
	show_percentiles(m, report);
	show_interference(m, report);
	seq_printf(m, "nodes_max %llu\n", report->nodes.max);
	seq_printf(m, "nodes_reclaimed %llu\n", report->nodes.reclaimed);
	seq_printf(m, "clock_read_ps %llu\n", report->costs.clock_read_ps);
	seq_printf(m, "empty_loop_ps %llu\n", report->costs.empty_loop_ps);
	seq_printf(m, "busy_loop_ps %llu\n", report->costs.busy_loop_ps);
	seq_printf(m, "pair_ps %llu\n", report->costs.pair_ps);
	seq_printf(m, "failed_try_ps %llu\n", report->costs.failed_try_ps);
	seq_printf(m, "locks_taken %llu\n", report->locks_taken);
	seq_printf(m, "locks_freed %llu\n", report->locks_freed);
	seq_printf(m, "lost_updates %llu\n", report->lost_updates);
	seq_printf(m, "violations %llu\n", report->violations);
	seq_printf(m, "leaked %lld\n", report->nodes.leaked);
	show_verdict(m, report->failures);
}

static void show_contenders(struct seq_file *m, const struct stress_report *report)
{
	unsigned int i;

	seq_puts(m, "id context cpu attempts acquisitions timeouts no_node deadlocks longest_gap_ns\n");
	for (i = 0; i < report->row_count; i++) {
		const struct stress_row *row = &report->rows[i];
		const struct stress_counts *counts = &row->counts;

		seq_printf(m, "%u %s %u %llu %llu %llu %llu %llu %llu\n", row->id,
			   stress_context_word(row->context), row->cpu, counts->attempts,
			   counts->acquisitions, counts->timeouts, counts->no_node,
			   counts->deadlocks, row->longest_gap_ns);
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
	unsigned int i;

	seq_puts(m, "histogram from to count\n");
	for (i = 0; i < HISTOGRAMS; i++)
		show_histogram(m, histogram_words[i], &report->histograms[i]);
}

const struct stress_view stress_views[] = {
	{ .name = "summary", .show = show_summary },
	{ .name = "contenders", .show = show_contenders },
	{ .name = "histograms", .show = show_histograms },
	{}
};

/* Free the memory of a report, and zero it. */
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
		report->params.seed, report->total.acquisitions, report->total.attempts,
		report->failures ? "FAIL" : "PASS");
	for (i = 0; i < ARRAY_SIZE(failure_words); i++) {
		if (report->failures & BIT(i))
			pr_err("run failed: %s\n", failure_words[i]);
	}
}
