/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the stress driver share: knobs.c says what to run, run.c
 * runs it, judge.c judges it, report.c prints that, control.c starts and stops.
 */
#ifndef _STRESS_STRESS_H
#define _STRESS_STRESS_H

#include <linux/bits.h>
#include <linux/cpumask.h>
#include <linux/time64.h>
#include <linux/types.h>

#include "context.h"
#include "cost.h"
#include "statistics.h"
#include "timing.h"

/* For all of them in words, and more than enough. */
#define STRESS_CONTEXTS_LENGTH	32

struct dentry;
struct seq_file;
struct stress_ops;
struct stress_run;

/* No contender works or rests longer than this at a time, outside. */
#define STRESS_PAUSE_NS_MAX	(1000 * NSEC_PER_MSEC)

/**
 * struct stress_range - what numbers are drawn from, uniformly
 * @low: the least
 * @high: the most
 */
struct stress_range {
	u64 low;
	u64 high;
};

/* What a thread does after an attempt that failed. */
enum stress_retry {
	RETRY_GIVE_UP,		/* work outside, as after a release */
	RETRY_AT_ONCE,		/* try again until it has the lock */
	RETRY_BACK_OFF,		/* the same, with pauses that grow */
};

/* In which order it takes the locks of a chain. */
enum stress_chain_order {
	CHAIN_FIXED,
	CHAIN_RANDOM,
	CHAIN_ASCENDING,	/* some of them, in the same order */
};

/* How the contexts of a CPU meet at the locks. */
enum stress_nesting {
	NESTING_SHARED,		/* an interrupt may find its own CPU in its lock */
	NESTING_MASKED,		/* the same locks, taken with interrupts masked */
	NESTING_OWN,		/* each context has locks of its own */
};

/**
 * struct stress_knobs - what to run; debugfs has a file for each
 * @lock: the lock type
 * @cpus: threads are pinned to these in turn
 * @threads: how many
 * @cs_ns: work inside the critical section
 * @ncs_ns: work between two attempts: 0.5 to 1.5 times as much
 * @duration_ms: of the run
 * @seed: of the random numbers; 0: draw one at the start
 * @sample_every: take the time of every N-th attempt of a thread; 0: of none
 * @patience_ns: of an attempt; %KTIME_MAX: for ever
 * @impatient_permille: the share of the attempts that have the next one instead
 * @impatient_ns: patience; %KTIME_MAX: for ever
 * @retry: after an attempt that failed: &enum stress_retry
 * @backoff_ns: the first pause of %RETRY_BACK_OFF; the next ones double
 * @backoff_max_ns: up to this one
 * @chain: so many locks are taken, one after the other; by %CHAIN_ASCENDING, up to
 *	that many
 * @chain_order: &enum stress_chain_order
 * @stall_every: every N-th acquisition of a contender takes longer; 0: none
 * @stall_ns: by that much
 * @stutter_ms: all pause that long, run that long, and so on; 0: no pauses
 * @free_lock: the last user of a lock frees it after the release
 * @log_ms: tell the kernel log that often how far the run is; 0: never
 * @contexts: a bit for each &enum stress_context that contends
 * @nesting: &enum stress_nesting
 * @interval_ns: from the end of an attempt in an interrupt to the next
 * @shuffle_ms: move the threads to other CPUs that often; 0: never
 * @hotplug_ms: take a CPU away and bring it back that often; 0: never
 * @suspend_every_ns: an interrupt suspends an attempt of each thread that often; 0:
 *	never
 * @suspend_ns: for that long
 * @own_clock: 1: take off overshoots the time in which the CPU was away
 */
struct stress_knobs {
	const struct stress_ops *lock;
	struct cpumask cpus;
	u64 threads;
	u64 cs_ns;
	u64 ncs_ns;
	u64 duration_ms;
	u64 seed;
	u64 sample_every;

	/* Load shapes */
	struct stress_range patience_ns;
	u64 impatient_permille;
	u64 impatient_ns;
	unsigned int retry;
	u64 backoff_ns;
	u64 backoff_max_ns;
	u64 chain;
	unsigned int chain_order;
	u64 stall_every;
	u64 stall_ns;
	u64 stutter_ms;
	u64 free_lock;
	u64 log_ms;

	unsigned int contexts;
	unsigned int nesting;
	u64 interval_ns;
	u64 shuffle_ms;
	u64 hotplug_ms;
	u64 suspend_every_ns;
	u64 suspend_ns;
	u64 own_clock;
};

/**
 * struct stress_suspended - attempts that an interrupt has suspended
 * @count: that many
 * @sum_ns: for so long, all together
 * @max_ns: and the longest of them
 */
struct stress_suspended {
	u64 count;
	u64 sum_ns;
	u64 max_ns;
};

/* Why a run failed. */
enum stress_failure {
	LOST_UPDATES,
	TWO_OWNERS,
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

/**
 * struct stress_row - what a run has found of one contender
 * @id: its number, from 1 on
 * @context: what it runs in, in a word
 * @cpu: where it was pinned, in the end
 * @attempts: and the following: as in struct stress_report
 * @acquisitions: that many succeeded
 * @timeouts: that many ran out of patience
 * @no_node: that many got no queue node
 * @deadlocks: that many would never have ended
 * @longest_gap_ns: the longest time that it had to do without an acquisition
 */
struct stress_row {
	unsigned int id;
	const char *context;
	unsigned int cpu;
	u64 attempts;
	u64 acquisitions;
	u64 timeouts;
	u64 no_node;
	u64 deadlocks;
	u64 longest_gap_ns;
};

/**
 * struct stress_report - what a run has found
 * @knobs: what was run, with the seed that was used
 * @cpus_online: when the run ended
 * @stopped: it ended before its time
 * @elapsed_ns: from the start to the stop
 * @attempts: to acquire
 * @acquisitions: that many succeeded
 * @timeouts: that many ran out of patience
 * @no_node: that many got no queue node
 * @deadlocks: that many would never have ended, said the lock
 * @handoffs: acquisitions on another CPU than the one before
 * @per_second: acquisitions
 * @spread: how the acquisitions are shared among the threads
 * @longest_gap_ns: the longest time of a thread without an acquisition
 * @row_count: contenders
 * @rows: what was found of each
 * @costs: what it costs to measure
 * @timings: how long attempts took, of all contenders
 * @walk: leavers that an attempt stepped over, for locks that can tell
 * @context_attempts: to acquire, in each context
 * @context_acquisitions: that many succeeded
 * @context_deadlocks: that many would never have ended, said the lock
 * @false_deadlocks: times that it said so where that cannot be
 * @shuffles: times that the threads were moved to other CPUs
 * @hotplugs: times that a CPU went and came back
 * @suspended: attempts that an interrupt has suspended
 * @nodes_left: queue nodes of a CPU that stood in queues when it went
 * @nodes_kept: that many the others did not give back while it was away
 * @nodes_max: queue nodes in use at most
 * @nodes_reclaimed: queue nodes given back by somebody else, or by destroy
 * @locks_taken: times that a lock was taken, each of a chain for itself
 * @locks_freed: times that a lock was freed right after its release
 * @lost_updates: what is missing in the counters that the locks protect
 * @violations: times that two owners were seen, and @lost_updates
 * @leaked: queue nodes taken and not given back
 * @failures: a bit for each &enum stress_failure
 */
struct stress_report {
	struct stress_knobs knobs;
	unsigned int cpus_online;
	bool stopped;
	u64 elapsed_ns;
	u64 attempts;
	u64 acquisitions;
	u64 timeouts;
	u64 no_node;
	u64 deadlocks;
	u64 handoffs;
	u64 per_second;
	struct stress_spread spread;
	u64 longest_gap_ns;
	unsigned int row_count;
	struct stress_row *rows;
	struct stress_costs costs;
	struct timings timings;
	struct stress_histogram walk;
	u64 context_attempts[CONTEXTS];
	u64 context_acquisitions[CONTEXTS];
	u64 context_deadlocks[CONTEXTS];
	u64 false_deadlocks;
	u64 shuffles;
	u64 hotplugs;
	struct stress_suspended suspended;
	u64 nodes_left;
	u64 nodes_kept;
	u64 nodes_max;
	u64 nodes_reclaimed;
	u64 locks_taken;
	u64 locks_freed;
	u64 lost_updates;
	u64 violations;
	s64 leaked;
	unsigned long failures;
};

void stress_knobs_start(struct dentry *dir);
const struct stress_knobs *stress_knobs_freeze(void);
void stress_knobs_thaw(void);
void stress_knobs_show(struct seq_file *m, const struct stress_knobs *knobs);
void stress_knobs_log(const char *when, const struct stress_knobs *knobs);
int stress_knobs_check(const struct stress_knobs *knobs);
bool stress_knobs_wait_for_ever(const struct stress_knobs *knobs);
const char *stress_context_word(unsigned int context);
void stress_contexts_print(char *text, unsigned int contexts);

struct stress_run *stress_run_create(const struct stress_knobs *knobs);
void stress_run_go(struct stress_run *run);
void stress_run_stop(struct stress_run *run);
bool stress_run_join(struct stress_run *run, unsigned long patience);
void stress_run_free(struct stress_run *run);
u64 stress_run_duration_ms(const struct stress_run *run);
u64 stress_run_elapsed_ns(const struct stress_run *run);
u64 stress_run_acquisitions(const struct stress_run *run);
unsigned long stress_run_lacks(const struct stress_run *run);
void stress_run_report(struct stress_run *run, struct stress_report *report);

void stress_report_show(struct seq_file *m, const struct stress_report *report);
void stress_report_log(const struct stress_report *report);
void stress_report_forget(struct stress_report *report);

/**
 * struct stress_view - a part of a report that has a file of its own
 * @name: of the file
 * @show: print it
 * @offset: of the histogram in the report, if it is one
 */
struct stress_view {
	const char *name;
	void (*show)(struct seq_file *m, const struct stress_report *report,
		     const struct stress_view *view);
	size_t offset;
};

/* All of them; the last has no name. */
extern const struct stress_view stress_views[];

void stress_control_start(struct dentry *dir);
void stress_control_stop(void);

#endif
