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

/* Of the measured time, in which an attempt counts by its end. */
struct findings {
	u64 attempts;		/* in all */
	u64 acquisitions;	/* that succeeded */
	u64 timeouts;		/* that failed for want of patience */
	u64 no_node;		/* that failed for want of a queue node */
	u64 deadlocks;		/* that were told of a deadlock; here there is none */
	u64 errors;		/* that failed for another reason */
	u64 handoffs;		/* acquisitions whose last holder was another CPU */
	u64 socket_handoffs;	/* whose last holder was on the same socket, that CPU or another */
	u64 violations;		/* of exclusion, of the whole run */
	u64 unfinished;		/* attempts that had not come back when the run was given up */
	u64 unbalanced;		/* CPUs that had preemption off at the end */
	u64 elapsed_ns;		/* how long it was */
	u64 shares[MOST_CPUS];	/* acquisitions of each CPU */
	u64 longest_gap_ns;	/* between two acquisitions of a CPU */
	u64 success_misses;	/* transfers in attempts that succeeded, and their releases */
	u64 failure_misses;	/* in those that failed */
	struct stress_histogram wait;	/* of attempts that succeeded, in ns */
	struct stress_histogram failed_wait;	/* of those that failed */
	struct stress_histogram overshoot;	/* how long after the deadline they came back */
	struct stress_histogram passed;	/* acquisitions by attempts that had begun later */
	/* by attempts that had begun passed_late_ns later, or more */
	struct stress_histogram passed_late;
	/* how long a waiter had waited when an attempt began that passed it, in ns */
	struct stress_histogram passed_after;
	struct stress_nodes nodes;	/* queue nodes */
	struct stress_skipped skipped;	/* abandoned nodes skipped */
	bool lock_in_use;	/* destroying it failed */
};

extern struct findings findings;

/* Run what the settings say. */
void workload_run(void);

/* report.c: print "name value" lines, the verdict last. Return: whether it is PASS. */
bool report_print(void);

#endif
