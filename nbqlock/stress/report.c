// SPDX-License-Identifier: GPL-2.0
/*
 * What a run has found, as text: one "name value" a line, the verdict last.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/printk.h>
#include <linux/seq_file.h>
#include <linux/types.h>

#include "ops.h"
#include "stress.h"

static const char * const failure_words[] = {
	[LOST_UPDATES] = "the counter does not add up",
	[TWO_OWNERS] = "two owners were seen",
	[LEAKED_NODES] = "queue nodes have leaked",
	[THREAD_MISSING] = "a thread did not come back",
	[LOCK_IN_USE] = "the lock was still in use at the end",
	[UNKNOWN_ERROR] = "the lock returned an unknown error",
	[NO_ATTEMPT] = "there was no attempt at all",
};

static void show_times(struct seq_file *m, const char *name,
		       const struct stress_histogram *times)
{
	seq_printf(m, "%s_samples %llu\n", name, times->count);
	seq_printf(m, "%s_ns_p50 %llu\n", name,
		   stress_histogram_value_at(times, 500));
	seq_printf(m, "%s_ns_p99 %llu\n", name,
		   stress_histogram_value_at(times, 990));
	seq_printf(m, "%s_ns_p999 %llu\n", name,
		   stress_histogram_value_at(times, 999));
	seq_printf(m, "%s_ns_max %llu\n", name, times->max);
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

/**
 * stress_report_show() - Print a report.
 * @m: where to
 * @report: of the run
 */
void stress_report_show(struct seq_file *m, const struct stress_report *report)
{
	stress_knobs_show(m, &report->knobs);
	seq_printf(m, "cpus_online %u\n", report->cpus_online);
	seq_printf(m, "stopped %d\n", report->stopped);
	seq_printf(m, "elapsed_ns %llu\n", report->elapsed_ns);
	seq_printf(m, "attempts %llu\n", report->attempts);
	seq_printf(m, "acquisitions %llu\n", report->acquisitions);
	seq_printf(m, "timeouts %llu\n", report->timeouts);
	seq_printf(m, "no_node %llu\n", report->no_node);
	seq_printf(m, "deadlocks %llu\n", report->deadlocks);
	seq_printf(m, "handoffs %llu\n", report->handoffs);
	seq_printf(m, "acquisitions_per_second %llu\n", report->per_second);
	seq_printf(m, "thread_min %llu\n", report->thread_min);
	seq_printf(m, "thread_max %llu\n", report->thread_max);
	seq_printf(m, "thread_stddev %llu\n", report->thread_stddev);
	show_times(m, "wait", &report->timings.wait);
	show_times(m, "overshoot", &report->timings.overshoot);
	seq_printf(m, "nodes_max %llu\n", report->nodes_max);
	seq_printf(m, "nodes_reclaimed %llu\n", report->nodes_reclaimed);
	seq_printf(m, "lost_updates %llu\n", report->lost_updates);
	seq_printf(m, "violations %llu\n", report->violations);
	seq_printf(m, "leaked %lld\n", report->leaked);
	show_verdict(m, report->failures);
}

/* For whoever has the kernel log and nothing else. */
void stress_report_log(const struct stress_report *report)
{
	pr_info("run ended: %s, %llu threads, seed %llu: %s\n",
		report->knobs.lock->name, report->knobs.threads,
		report->knobs.seed, report->failures ? "FAIL" : "PASS");
}
