// SPDX-License-Identifier: GPL-2.0
/*
 * The result of a run: one "name value" a line, with the stress driver's names where they
 * mean the same, and the verdict last; then, if asked for, the places in the code that
 * asked for cache lines.
 */
#include <stdio.h>

#include <linux/types.h>
#include <nbqlock/stress/statistics.h>

#include "memory.h"
#include "settings.h"
#include "workload.h"

static void print(const char *name, u64 value)
{
	printf("%s %llu\n", name, value);
}

static const struct {
	const char *name;
	unsigned int permille;
} percentiles[] = {
	{ "p50", 500 }, { "p90", 900 }, { "p99", 990 }, { "p999", 999 },
};

/* @unit: part of the name of each value but the mean, whose name is @mean_name. */
static void print_histogram(const char *name, const char *unit, const char *mean_name, u64 mean,
			    const struct stress_histogram *histogram)
{
	size_t i;

	printf("%s_samples %llu\n", name, histogram->count);
	printf("%s_%s %llu\n", name, mean_name, mean);
	for (i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]); i++)
		printf("%s%s_%s %llu\n", name, unit, percentiles[i].name,
		       stress_histogram_value_at(histogram, percentiles[i].permille));
	printf("%s%s_max %llu\n", name, unit, histogram->max);
}

static void print_times(const char *name, const struct stress_histogram *times)
{
	print_histogram(name, "_ns", "ns_mean", stress_histogram_mean(times), times);
}

static u64 permille(u64 sum, u64 count)
{
	return count ? sum * 1000 / count : 0;
}

static void print_counts(const char *name, const struct stress_histogram *counts)
{
	print_histogram(name, "", "mean_permille", permille(counts->sum, counts->count), counts);
}

static void print_attempts(void)
{
	print("elapsed_ns", findings.elapsed_ns);
	print("attempts", findings.attempts);
	print("acquisitions", findings.acquisitions);
	print("timeouts", findings.timeouts);
	print("no_node", findings.no_node);
	print("deadlocks", findings.deadlocks);
	print("unfinished", findings.unfinished);
	print("handoffs", findings.handoffs);
	print("socket_handoffs", findings.socket_handoffs);
	print("acquisitions_per_second",
	      findings.acquisitions * 1000000000ULL / findings.elapsed_ns);
}

static void print_spread(void)
{
	struct stress_spread spread = stress_spread_of(findings.shares, settings.cpus);

	print("thread_min", spread.min);
	print("thread_max", spread.max);
	print("thread_stddev", spread.stddev);
	print("jain_permille", spread.jain_permille);
	print("longest_gap_ns", findings.longest_gap_ns);
}

/* Of no sampled attempts: their counts are complete. */
static void print_skipped(void)
{
	const struct stress_skipped *skipped = &findings.skipped;
	u64 samples = 0, sum = 0;
	unsigned int i;

	for (i = 0; i <= NBQ_SKIPPED_MAX; i++) {
		samples += skipped->counts[i];
		sum += skipped->counts[i] * i;
	}
	print("skipped_samples", samples);
	print("skipped_mean_permille", permille(sum, samples));
	print("skipped_max", skipped->most);
}

static void print_misses(void)
{
	static const char * const sources[] = { "same_socket", "other_socket", "memory" };
	u64 sum = 0;
	unsigned int i;

	for (i = 0; i < SOURCES; i++)
		sum += memory_misses.by_source[i];
	print("misses", sum);
	for (i = 0; i < SOURCES; i++)
		printf("misses_%s %llu\n", sources[i], memory_misses.by_source[i]);
	for (i = 0; i < MEMORY_KINDS; i++)
		printf("misses_%s %llu\n", memory_kind_name(i), memory_misses.by_kind[i]);
	print("success_misses", findings.success_misses);
	print("success_misses_of", findings.acquisitions);
	print("failure_misses", findings.failure_misses);
	print("failure_misses_of", findings.attempts - findings.acquisitions);
}

static bool waits_for_ever(void)
{
	return settings.lock->patience == STRESS_WAITS_FOR_EVER ||
	       settings.patience_ns == KTIME_MAX;
}

static bool print_verdict(void)
{
	const char *before = "verdict FAIL ";
	const struct {
		bool failed;
		const char *why;
	} checks[] = {
		{ findings.violations, "two holders were seen" },
		{ findings.lock_in_use, "the lock was still in use at the end" },
		{ !findings.unfinished && findings.nodes.leaked, "queue nodes have leaked" },
		{ findings.unbalanced, "preemption was still off at the end" },
		{ findings.errors, "the lock returned an unknown error" },
		{ findings.deadlocks, "a deadlock was reported where there can be none" },
		{ !findings.attempts && !waits_for_ever(), "there was no attempt at all" },
		{ !findings.acquisitions && waits_for_ever(), "the lock was never acquired" },
	};
	bool passed = true;
	size_t i;

	for (i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		if (!checks[i].failed)
			continue;
		printf("%s%s", before, checks[i].why);
		before = ", ";
		passed = false;
	}
	puts(passed ? "verdict PASS" : "");
	return passed;
}

/* "place ADDRESS KIND" and the lines that it asked for: same_socket, other_socket, memory */
static void print_places(void)
{
	unsigned int i, kind;

	for (i = 0; i < MOST_PLACES; i++) {
		const struct misses *misses = &memory_places[i].misses;
		unsigned int mostly = 0;

		if (!memory_places[i].from)
			continue;
		for (kind = 0; kind < MEMORY_KINDS; kind++) {
			if (misses->by_kind[kind] > misses->by_kind[mostly])
				mostly = kind;
		}
		printf("place %p %s %llu %llu %llu\n", memory_places[i].from,
		       memory_kind_name(mostly), misses->by_source[SOURCE_SAME_SOCKET],
		       misses->by_source[SOURCE_OTHER_SOCKET],
		       misses->by_source[SOURCE_MEMORY]);
	}
}

bool report_print(void)
{
	bool passed;

	settings_print();
	print_attempts();
	print_spread();
	print_times("wait", &findings.wait);
	print_times("failed_wait", &findings.failed_wait);
	print_times("overshoot", &findings.overshoot);
	print_counts("passed", &findings.passed);
	print_counts("passed_late", &findings.passed_late);
	print_times("passed_after", &findings.passed_after);
	print_skipped();
	print("nodes_max", findings.nodes.max);
	print("nodes_reclaimed", findings.nodes.reclaimed);
	printf("leaked %lld\n", findings.nodes.leaked);
	print("empty_loop_ps", 0);
	print_misses();
	print("violations", findings.violations);
	passed = print_verdict();
	if (settings.places)
		print_places();
	return passed;
}
