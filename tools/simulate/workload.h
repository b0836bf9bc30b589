/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the CPUs do: acquire one lock, work, release it, work, over and over; and what is
 * found of it. After the stress driver's contender, whose figures these are.
 */
#ifndef SIMULATE_WORKLOAD_H
#define SIMULATE_WORKLOAD_H

#include <stdbool.h>

#include <linux/types.h>
#include <nbqlock/stress/histogram.h>
#include <nbqlock/stress/ops.h>

#include "machine.h"

/**
 * struct findings - of the measured time, in which an attempt counts by its end
 * @attempts: in all
 * @acquisitions: that succeeded
 * @timeouts: that failed for want of patience
 * @no_node: that failed for want of a queue node
 * @deadlocks: that were told of a deadlock; here there is none
 * @errors: that failed for another reason
 * @handoffs: acquisitions whose last holder was another CPU
 * @socket_handoffs: whose last holder was on the same socket, that CPU or another
 * @violations: of exclusion, of the whole run
 * @unfinished: attempts that had not come back when the run was given up
 * @unbalanced: CPUs that had preemption off at the end
 * @elapsed_ns: how long it was
 * @shares: acquisitions of each CPU
 * @longest_gap_ns: between two acquisitions of a CPU
 * @success_misses: transfers in attempts that succeeded, and their releases
 * @failure_misses: in those that failed
 * @wait: of attempts that succeeded, in ns
 * @failed_wait: of those that failed
 * @overshoot: how long after the deadline they came back
 * @passed: acquisitions by attempts that had begun later
 * @passed_late: by attempts that had begun passed_late_ns later, or more
 * @passed_after: how long a waiter had waited when an attempt began that passed it, in ns
 * @nodes: queue nodes
 * @skipped: abandoned nodes skipped
 * @lock_in_use: destroying it failed
 */
struct findings {
	u64 attempts;
	u64 acquisitions;
	u64 timeouts;
	u64 no_node;
	u64 deadlocks;
	u64 errors;
	u64 handoffs;
	u64 socket_handoffs;
	u64 violations;
	u64 unfinished;
	u64 unbalanced;
	u64 elapsed_ns;
	u64 shares[MOST_CPUS];
	u64 longest_gap_ns;
	u64 success_misses;
	u64 failure_misses;
	struct stress_histogram wait;
	struct stress_histogram failed_wait;
	struct stress_histogram overshoot;
	struct stress_histogram passed;
	struct stress_histogram passed_late;
	struct stress_histogram passed_after;
	struct stress_nodes nodes;
	struct stress_skipped skipped;
	bool lock_in_use;
};

extern struct findings findings;

/* Run what the settings say. */
void workload_run(void);

/* report.c: print "name value" lines, the verdict last. Return: whether it is PASS. */
bool report_print(void);

#endif
