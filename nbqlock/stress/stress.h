/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the stress driver share: parameters.c holds what to run, run.c runs it,
 * check.c finds the verdict, report.c prints it, control.c starts and stops.
 */
#ifndef _STRESS_STRESS_H
#define _STRESS_STRESS_H

#include <linux/bits.h>
#include <linux/cpumask.h>
#include <linux/time64.h>
#include <linux/types.h>

#include "cost.h"
#include "ops.h"
#include "statistics.h"
#include "timing.h"

/* Enough for all contexts in words. */
#define STRESS_CONTEXTS_LENGTH	32

struct dentry;
struct seq_file;
struct stress_ops;
struct stress_run;

/* The longest work or pause between two attempts. */
#define STRESS_PAUSE_NS_MAX	(1000 * NSEC_PER_MSEC)

/**
 * struct stress_range - the range of a uniform distribution
 * @low: its lower end
 * @high: its upper end, inclusive
 */
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

/**
 * struct stress_params - what to run; each has a debugfs file
 * @lock: the lock type
 * @cpus: the threads are pinned to these in turn
 * @threads: number of threads
 * @duration_ms: of the run
 * @seed: of the random numbers; 0: drawn at the start
 * @cs_ns: work inside the critical section
 * @ncs_ns: work between two attempts: 0.5 to 1.5 times as much
 * @patience_ns: of an attempt; %KTIME_MAX: no timeout
 * @impatient_permille: the share of attempts with the next patience instead
 * @impatient_ns: patience; %KTIME_MAX: no timeout
 * @retry: after an attempt that failed: &enum stress_retry
 * @backoff_ns: the first pause of %RETRY_BACK_OFF; the next ones double
 * @backoff_max_ns: the longest of them
 * @chain: number of locks that are taken together; by %CHAIN_ASCENDING, at most
 * @chain_order: &enum stress_chain_order
 * @stutter_ms: pause and run alternate, each this long; 0: no pauses
 * @free_lock: the last user of a lock frees it after the release
 * @contexts: a bit for each &enum stress_context that contends
 * @nesting: &enum stress_nesting
 * @interval_ns: from the end of an attempt in an interrupt to the next
 * @stall_every: every N-th acquisition of a contender takes longer; 0: none
 * @stall_ns: by that much
 * @suspend_every_ns: an interrupt suspends an attempt of each thread that often; 0: never
 * @suspend_ns: for that long
 * @shuffle_ms: move the threads to other CPUs that often; 0: never
 * @hotplug_ms: take a CPU offline and online again that often; 0: never
 * @sample_every: time every N-th attempt of a contender; 0: none
 * @own_clock: 1: measure with the CPU time of the CPU as well
 * @log_ms: log the progress that often; 0: never
 */
struct stress_params {
	/* Load */
	const struct stress_ops *lock;
	struct cpumask cpus;
	u64 threads;
	u64 duration_ms;
	u64 seed;
	u64 cs_ns;
	u64 ncs_ns;
	struct stress_range patience_ns;
	u64 impatient_permille;
	u64 impatient_ns;
	unsigned int retry;
	u64 backoff_ns;
	u64 backoff_max_ns;
	u64 chain;
	unsigned int chain_order;
	u64 stutter_ms;
	u64 free_lock;

	/* Interference */
	unsigned int contexts;
	unsigned int nesting;
	u64 interval_ns;
	u64 stall_every;
	u64 stall_ns;
	u64 suspend_every_ns;
	u64 suspend_ns;
	u64 shuffle_ms;
	u64 hotplug_ms;

	/* Measurement */
	u64 sample_every;
	u64 own_clock;
	u64 log_ms;
};

/**
 * struct stress_suspended - attempts that an interrupt has suspended
 * @count: their number
 * @sum_ns: the sum of the suspensions
 * @max_ns: the longest of them
 */
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

/**
 * struct stress_row - the result of one contender
 * @id: from 1 on
 * @context: its context, in a word
 * @cpu: the CPU it was pinned to at the end
 * @attempts: this and the following: as in struct stress_report
 * @acquisitions: attempts that succeeded
 * @timeouts: attempts whose patience was over
 * @no_node: attempts without a queue node
 * @deadlocks: attempts that the lock reported as a deadlock
 * @longest_gap_ns: the longest time without an acquisition
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
 * struct stress_report - the result of a run
 * @params: what was run, with the seed that was used
 * @cpus_online: when the run ended
 * @stopped: the run was ended early
 * @elapsed_ns: from the start to the stop
 * @attempts: all of them
 * @acquisitions: attempts that succeeded
 * @timeouts: attempts whose patience was over
 * @no_node: attempts without a queue node
 * @deadlocks: attempts that the lock reported as a deadlock
 * @handoffs: acquisitions on another CPU than the one before
 * @per_second: acquisitions per second
 * @spread: how evenly the threads share the acquisitions
 * @longest_gap_ns: the longest time of a thread without an acquisition
 * @row_count: contenders
 * @rows: the result of each
 * @costs: what it costs to measure
 * @timings: how long attempts took, of all contenders
 * @skipped: abandoned nodes that an attempt skipped
 * @context_attempts: attempts in each context
 * @context_acquisitions: acquisitions in each context
 * @context_deadlocks: deadlocks in each context
 * @false_deadlocks: deadlocks that were reported where there can be none
 * @shuffles: times that the threads were moved to other CPUs
 * @hotplugs: times that a CPU went offline and came back
 * @suspended: attempts that an interrupt has suspended
 * @nodes_left: queue nodes of a CPU that were in queues when it went offline
 * @nodes_kept: those of them that no other CPU reclaimed while it was offline
 * @nodes_max: the most queue nodes in use at one time
 * @nodes_reclaimed: queue nodes freed by another context, or by destroy
 * @locks_taken: acquisitions of single locks, each of a chain by itself
 * @locks_freed: times that a lock was freed right after its release
 * @lost_updates: what is missing in the counters that the locks protect
 * @violations: times that two holders were seen, and @lost_updates
 * @leaked: queue nodes allocated and not freed
 * @failures: a bit for each &enum stress_failure
 */
struct stress_report {
	struct stress_params params;
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
	struct stress_histogram skipped;
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

void stress_params_start(struct dentry *top);
const struct stress_params *stress_params_freeze(void);
void stress_params_thaw(void);
void stress_params_show(struct seq_file *m, const struct stress_params *params);
void stress_params_log(const char *when, const struct stress_params *params);
int stress_params_check(const struct stress_params *params);
bool stress_params_never_time_out(const struct stress_params *params);
const char *stress_context_word(unsigned int context);
void stress_contexts_print(char *text, unsigned int contexts);

/* nmi.c and migrate.c: what this machine can do. */
bool stress_nmi_is_possible(void);
bool stress_hotplug_is_possible(const struct cpumask *cpus);

struct stress_run *stress_run_create(const struct stress_params *params);
void stress_run_start(struct stress_run *run);
void stress_run_stop(struct stress_run *run);
bool stress_run_join(struct stress_run *run, unsigned long timeout);
void stress_run_free(struct stress_run *run);
u64 stress_run_duration_ms(const struct stress_run *run);
u64 stress_run_elapsed_ns(const struct stress_run *run);
u64 stress_run_acquisitions(const struct stress_run *run);
unsigned long stress_run_missing(const struct stress_run *run);
void stress_run_report(struct stress_run *run, struct stress_report *report);

void stress_report_log(const struct stress_report *report);
void stress_report_clear(struct stress_report *report);

/**
 * struct stress_view - a file of result/
 * @name: of the file
 * @show: print it
 */
struct stress_view {
	const char *name;
	void (*show)(struct seq_file *m, const struct stress_report *report);
};

/* The last has no name. */
extern const struct stress_view stress_views[];

void stress_control_start(struct dentry *top);
void stress_control_stop(void);

#endif
