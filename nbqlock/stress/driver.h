/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the stress driver share: parameters.c holds what to run, run.c runs it (run.h),
 * check.c finds the verdict, report.c prints it, control.c starts and stops.
 */
#ifndef _STRESS_DRIVER_H
#define _STRESS_DRIVER_H

#include <linux/bits.h>
#include <linux/cpumask.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/time64.h>
#include <linux/types.h>

#include "histogram.h"
#include "ops.h"
#include "statistics.h"

/* Enough for all contexts in words. */
#define STRESS_CONTEXTS_LENGTH	32

struct dentry;

/* A uniform distribution; both ends are included. */
struct stress_range {
	u64 low;
	u64 high;
};

/* What a thread does after an attempt that failed. */
enum stress_retry {
	RETRY_GIVE_UP,		/* go on as after a release */
	RETRY_AT_ONCE,		/* try again until the lock is acquired */
	RETRY_BACK_OFF,		/* the same, with growing pauses */
};

/* The order in which the locks of a chain are taken. */
enum stress_chain_order {
	CHAIN_FIXED,
	CHAIN_RANDOM,
	CHAIN_ASCENDING,	/* a random subset, in the same order */
};

/* How the contexts of a CPU meet at the locks. */
enum stress_nesting {
	NESTING_SHARED,		/* an interrupt may find the lock held by its own CPU */
	NESTING_MASKED,		/* the same locks, taken with interrupts masked */
	NESTING_OWN,		/* each context has locks of its own */
};

/* A member for the values of each kind of parameter. */
#define STRESS_VALUE_lock(name)		const struct stress_ops *(name)
#define STRESS_VALUE_cpus(name)		struct cpumask name
#define STRESS_VALUE_threads(name)	u64 name
#define STRESS_VALUE_number(name)	u64 name
#define STRESS_VALUE_range(name)	struct stress_range name
#define STRESS_VALUE_choice(name)	unsigned int name
#define STRESS_VALUE_contexts(name)	unsigned int name	/* a bit for each stress_context */

/* What to run: a member for each row of the list. */
struct stress_params {
#define STRESS_PARAM(_folder, _name, _kind, ...)	STRESS_VALUE_##_kind(_name);
#include "parameters_list.h"
#undef STRESS_PARAM
};

/* The overhead of a measurement, see cost.c. */
struct stress_costs {
	u64 clock_read_ps;
	u64 empty_loop_ps;	/* of an iteration without lock, work and timing */
	u64 busy_loop_ps;	/* of an iteration of the busy loop */
	/* In a run with one contender: */
	u64 pair_ps;		/* of an acquisition and its release, without all that */
	u64 failed_try_ps;	/* of an attempt without patience at a held lock; 0: that waits */
};

struct stress_counts {
	u64 attempts;		/* the sum of the following */
	u64 acquisitions;
	u64 timeouts;		/* -ETIMEDOUT, or -EBUSY without patience */
	u64 no_node;		/* without a queue node, -ENOMEM */
	u64 deadlocks;		/* that the lock reported, -EDEADLK */
};

/* In result/, report.c has their names. */
enum stress_histograms {
	HISTOGRAM_WAIT,		/* duration of acquisitions */
	HISTOGRAM_FAILED_WAIT,	/* duration of failed attempts */
	HISTOGRAM_OVERSHOOT,	/* delay of timeouts after the deadline */
	HISTOGRAM_OWN_OVERSHOOT,	/* the same, in CPU time */
	HISTOGRAM_AWAY,		/* how long the CPU did not run in these attempts */
	HISTOGRAM_HANDOFF,	/* from a release to the acquisition of a contender that waited */
	HISTOGRAM_OWN_WAIT,	/* duration of acquisitions, in CPU time */
	HISTOGRAM_PASSED,	/* critical sections of others during the wait, if the CPU ran */
	HISTOGRAMS_OF_CONTENDER,
	/* Of the whole run */
	HISTOGRAM_SKIPPED = HISTOGRAMS_OF_CONTENDER,	/* abandoned nodes, by an attempt */
	HISTOGRAMS
};

/* What migrate.c did. */
struct stress_migrations {
	u64 shuffles;		/* times that the threads were moved to other CPUs */
	u64 hotplugs;		/* times that a CPU went offline and came back */
	u64 nodes_left;		/* nodes of a CPU that were in queues when it went offline */
	u64 nodes_kept;		/* those that no other CPU reclaimed while it was offline */
};

/* Attempts that an interrupt has suspended. */
struct stress_suspended {
	u64 count;
	u64 sum_ns;
	u64 max_ns;
};

/* Why a run failed. */
enum stress_failure {
	LOST_UPDATES,
	TWO_HOLDERS,
	LEAKED_NODES,
	THREAD_MISSING,
	LOCK_IN_USE,
	UNKNOWN_ERROR,
	NO_ATTEMPT,
	FREED_WRITTEN,
	CONTEXT_MISSING,
	NO_SHUFFLE,
	NO_HOTPLUG,
	CPU_LOST,
	FALSE_DEADLOCK,
	NO_SUSPENSION,
};

/* The result of one contender. */
struct stress_row {
	unsigned int id;
	enum stress_context context;
	unsigned int cpu;		/* the CPU it was pinned to at the end */
	struct stress_counts counts;
	u64 longest_gap_ns;		/* the longest time without an acquisition */
};

/* The result of a run. */
struct stress_report {
	struct stress_params params;	/* with the seed that was used */
	unsigned int cpus_online;	/* when the run ended */
	bool stopped;			/* early */
	u64 elapsed_ns;			/* from the start to the stop */
	struct stress_counts total;
	struct stress_counts contexts[STRESS_CONTEXTS];
	u64 false_deadlocks;		/* reported where there can be none */
	u64 handoffs;			/* acquisitions on another CPU than the one before */
	u64 per_second;			/* acquisitions */
	struct stress_spread spread;	/* how evenly the threads share the acquisitions */
	u64 longest_gap_ns;		/* of any thread */
	unsigned int row_count;
	struct stress_row *rows;	/* of each contender */
	struct stress_costs costs;
	struct stress_histogram histograms[HISTOGRAMS];
	struct stress_migrations migrations;
	struct stress_suspended suspended;
	struct stress_nodes nodes;
	u64 locks_taken;		/* acquisitions of single locks, also of a chain */
	u64 locks_freed;		/* times that a lock was freed right after its release */
	u64 lost_updates;		/* what is missing in the counters that the locks protect */
	u64 violations;			/* times that two holders were seen, and lost_updates */
	unsigned long failures;		/* a bit for each enum stress_failure */
};

void stress_params_start(struct dentry *top);
void stress_params_forget(const struct stress_ops *ops);
const struct stress_params *stress_params_freeze(void);
void stress_params_thaw(void);
void stress_params_show(struct seq_file *m, const struct stress_params *params);
void stress_params_log(const char *when, const struct stress_params *params);
int stress_params_check(const struct stress_params *params);
char *stress_input_copy(const char __user *buf, size_t count);
const char *stress_context_word(enum stress_context context);
void stress_contexts_print(char *text, unsigned int contexts);

void stress_report_log(const struct stress_report *report);
void stress_report_clear(struct stress_report *report);

/* A file of result/. */
struct stress_view {
	const char *name;
	void (*show)(struct seq_file *m, const struct stress_report *report);
};

/* The last has no name. */
extern const struct stress_view stress_views[];

void stress_control_start(struct dentry *top);
void stress_control_forget(const struct stress_ops *ops);
void stress_control_stop(void);

void stress_busy_calibrate(void);

#endif
