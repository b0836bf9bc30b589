/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A run from the inside: run.c makes it and ends it, contender.c is what
 * happens in between, free_lock.c has the locks that are freed meanwhile,
 * interrupts.c and nmi.c let interrupts contend, suspend.c lets them suspend an
 * attempt, disturb.c moves threads and CPUs, timing.c takes the times, judge.c
 * sums up.
 *
 * Each contender counts in memory of its own; while measuring, they share
 * nothing but the lock and what it protects.
 */
#ifndef _STRESS_RUN_H
#define _STRESS_RUN_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/completion.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/prandom.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>

#include "ops.h"
#include "stress.h"
#include "timing.h"

struct stress_interrupts;
struct stress_suspensions;
struct suspension;
struct task_struct;

/* Locks that are freed while the run goes on take turns in so many places. */
#define STRESS_SLOTS	2

/**
 * struct guarded - what a lock protects
 * @owner: id of the contender inside, 0: nobody
 * @cpu: of the last owner, -1: there was none yet
 * @counter: critical sections so far
 * @handoffs: of those, how many were on another CPU than the one before
 * @released: when the last owner was about to release, in ns; 0: it took no time
 *
 * The owner tells two owners from one, and the counter loses increments
 * between two owners. Both are plain memory on purpose: KCSAN then watches as
 * well.
 */
struct guarded {
	unsigned int owner;
	int cpu;
	u64 counter;
	u64 handoffs;
	s64 released;
};

/**
 * struct target - a lock under test, in a cache line of its own
 * @lock: the lock
 * @guarded: what it protects
 */
struct target {
	union stress_lock lock ____cacheline_aligned_in_smp;
	struct guarded guarded ____cacheline_aligned_in_smp;
};

/**
 * struct lock_ref - a contender's side of one lock, in the contender's memory
 * @target: the lock
 * @waiter: what the lock type knows of the contender
 * @acquired: times that the contender got this lock
 * @counter: what it found in the counter that this lock protects
 */
struct lock_ref {
	struct target *target;
	struct stress_waiter waiter;
	u64 acquired;
	u64 counter;
};

/**
 * struct contender - one that fights for the lock, in memory on its NUMA node
 * @run: what it belongs to
 * @context: where it makes its attempts
 * @task: the thread, with a reference; NULL: it is an interrupt
 * @suspension: what suspends it now and then; NULL: nothing
 * @not_before_ns: when it may attempt again, in an interrupt, by the clock
 * @id: its number, from 1 on
 * @cpu: where it belongs; for a thread that runs, under the run's @binding
 * @random: for the length of its work outside, its patience, its pauses, its
 *	order of the locks
 * @attempts: and the following: as in struct stress_report; written by the
 *	contender only, read by others meanwhile
 * @acquisitions: the same
 * @timeouts: failed with -ETIMEDOUT
 * @no_node: failed with -ENOMEM
 * @deadlocks: failed with -EDEADLK
 * @violations: times that it saw another owner
 * @until_stall: acquisitions until one stalls
 * @order: its claims in the order in which it takes the locks
 * @count: so many of them in this attempt
 * @refs: one for each lock of the chain
 * @timings: how long its attempts took
 */
struct contender {
	struct stress_run *run;
	enum stress_context context;
	struct task_struct *task;
	struct suspension *suspension;
	u64 not_before_ns;
	unsigned int id;
	unsigned int cpu;
	struct rnd_state random;
	u64 attempts;
	u64 acquisitions;
	u64 timeouts;
	u64 no_node;
	u64 deadlocks;
	u64 violations;
	u64 until_stall;
	struct lock_ref *order[STRESS_CHAIN_MAX];
	unsigned int count;
	struct lock_ref refs[STRESS_CHAIN_MAX];
	struct timings timings;
} ____cacheline_aligned_in_smp;

enum slot_state {
	SLOT_POISONED,		/* there is no lock, the memory is poisoned */
	SLOT_INIT,		/* somebody makes a lock */
	SLOT_OPEN,		/* there is a lock */
	SLOT_CLOSED,		/* its last user is about to free it */
};

/**
 * struct slot - a place for a lock that is freed while the run goes on
 * @state: what is there
 * @users: contenders that may touch the lock; without owners that have begun
 *	to release it
 * @maker: id of the contender that has made the lock
 */
struct slot {
	enum slot_state state;
	unsigned int users;
	unsigned int maker;
};

/**
 * struct admission - where contenders go in and out, see free_lock.c
 * @lock: for all below
 * @slots: of each of the first targets of the run
 * @last: index of the slot that was opened last
 * @freed: times that a lock was freed
 * @written: times that its memory was written to after that
 */
struct admission {
	raw_spinlock_t lock;
	struct slot slots[STRESS_SLOTS];
	unsigned int last;
	u64 freed;
	u64 written;
};

/**
 * struct stress_run - a run
 * @params: a copy, with the seed that is used
 * @cs_loops: the knob cs_ns, as busy work
 * @ncs_loops: the knob ncs_ns, as busy work
 * @chunk_loops: busy work in one piece outside the critical section, at most
 * @stop: contenders go home when they see it
 * @began_ns: when the threads were let go; 0: not yet
 * @ended_ns: when they were told to stop; 0: not yet
 * @targets: the locks under test, and what they protect
 * @target_count: how many there are
 * @admission: to those that are freed while the run goes on
 * @paused: for those who wait until a pause is over, or a halt
 * @not_ready: threads that have not reached the barrier
 * @not_back: threads that have not left their loop
 * @all_ready: @not_ready is 0
 * @all_back: @not_back is 0
 * @go: the barrier
 * @joined: all threads are gone
 * @destroyed: what destroying the locks returned, the first that was not 0
 * @costs: what it costs to measure
 * @contender_count: how many contenders there are room for
 * @shares: room for the acquisitions of each contender, for the report
 * @rows: room for what the report says of each; NULL: the report has it
 * @interrupts: what lets contenders attempt in interrupts; NULL: there are none
 * @suspensions: what suspends attempts; NULL: there is none
 * @shuffler: the thread that moves the others; NULL: there is none
 * @hotplugger: the thread that takes CPUs away; NULL: there is none
 * @binding: for who moves threads
 * @shuffles: as in struct stress_report, written by @shuffler
 * @hotplugs: the same, written by @hotplugger
 * @nodes_left: the same
 * @nodes_kept: the same
 * @halt: threads stop where they hold and wait for nothing
 * @halted: that many have
 * @cpu_lost: a CPU that it took away did not come back
 * @contenders: one for each thread, then those in interrupts; until all of them
 *	are made, NULL for the others
 *
 * What the threads only read comes first; each lock and what it protects have
 * cache lines of their own.
 */
struct stress_run {
	struct stress_params params;
	u64 cs_loops;
	u64 ncs_loops;
	u64 chunk_loops;
	bool stop;
	u64 began_ns;
	u64 ended_ns;
	unsigned int target_count;
	struct target targets[STRESS_LOCKS_MAX];
	struct admission admission ____cacheline_aligned_in_smp;
	wait_queue_head_t paused ____cacheline_aligned_in_smp;
	atomic_t not_ready ____cacheline_aligned_in_smp;
	atomic_t not_back;
	struct completion all_ready;
	struct completion all_back;
	struct completion go;
	bool joined;
	int destroyed;
	struct stress_costs costs;
	unsigned int contender_count;
	u64 *shares;
	struct stress_row *rows;
	struct stress_interrupts *interrupts;
	struct stress_suspensions *suspensions;
	struct task_struct *shuffler;
	struct task_struct *hotplugger;
	struct mutex binding;		/* of threads on CPUs */
	u64 shuffles;
	u64 hotplugs;
	u64 nodes_left;
	u64 nodes_kept;
	bool halt;
	atomic_t halted;
	bool cpu_lost;
	struct contender *contenders[];
};

struct stress_run *stress_run_alloc(const struct stress_params *params,
				    unsigned int contenders);
struct contender *stress_contender_alloc(struct stress_run *run,
					 unsigned int index,
					 enum stress_context context,
					 unsigned int cpu);
int stress_lock_init(const struct stress_run *run, union stress_lock *lock,
		     unsigned int index);
u64 stress_run_pause_ns(const struct stress_run *run);
void stress_contender_init(struct contender *contender, int numa_node);
void stress_contender_iterate(struct contender *contender);
bool stress_contender_attempt(struct contender *contender);
void stress_contender_interrupt(struct contender *contender);

void stress_admission_start(struct stress_run *run);
bool stress_admission_enter(struct contender *contender);
void stress_admission_exit(struct contender *contender);
bool stress_admission_exit_holder(struct contender *contender);
void stress_admission_free(struct contender *contender);
void stress_admission_stop(struct stress_run *run);

#endif
