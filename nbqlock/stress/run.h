/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A run: run.c makes and ends it, contender.c is a contender's iteration, free_lock.c has the locks
 * that are freed meanwhile, interrupts.c and nmi.c are contenders in interrupts, suspend.c
 * suspends attempts, migrate.c moves threads and CPUs, timing.c measures, check.c finds the
 * verdict.
 *
 * Each contender counts in memory of its own; during a measurement contenders share only the
 * locks and what those protect.
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

/* Slots for a lock that is freed during the run */
#define STRESS_SLOTS	2

/**
 * struct guarded - what a lock protects
 * @holder: id of the contender inside, 0: none
 * @cpu: of the last holder, -1: none yet
 * @counter: critical sections so far
 * @handoffs: critical sections on another CPU than the one before
 * @released: when the last holder was about to release, in ns; 0: not timed
 *
 * @holder shows a second holder, @counter loses increments of one. Both are plain memory on
 * purpose: KCSAN watches them as well.
 */
struct guarded {
	unsigned int holder;
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
 * struct lock_ref - a contender's reference to one lock, in the contender's memory
 * @target: the lock
 * @waiter: the contender, as the lock type knows it
 * @acquired: acquisitions of this lock by this contender
 * @counter: the counter of @target at the last one
 */
struct lock_ref {
	struct target *target;
	struct stress_waiter waiter;
	u64 acquired;
	u64 counter;
};

/**
 * struct contender - in memory of its NUMA node
 * @run: the run
 * @context: of its attempts
 * @task: the thread, with a reference; NULL: an interrupt
 * @suspension: suspends its attempts; NULL: none
 * @not_before_ns: in an interrupt: the earliest time of the next attempt
 * @id: from 1 on
 * @cpu: its CPU; of a running thread, under @binding of the run
 * @random: for its work, patience, pauses and order of locks
 * @attempts: this and the following: as in struct stress_report; written by the contender only,
 *	read by others meanwhile
 * @acquisitions: attempts that succeeded
 * @timeouts: attempts that failed with -ETIMEDOUT or -EBUSY
 * @no_node: attempts that failed with -ENOMEM
 * @deadlocks: attempts that failed with -EDEADLK
 * @violations: times that it saw another holder
 * @until_stall: acquisitions until one stalls
 * @order: its locks in the order of acquisition
 * @count: how many of them this attempt takes
 * @refs: one for each lock of the chain
 * @timings: of its attempts
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
	SLOT_POISONED,		/* no lock, poisoned memory */
	SLOT_INIT,		/* a lock is being made */
	SLOT_OPEN,		/* a lock */
	SLOT_CLOSED,		/* its last user is about to free it */
};

/**
 * struct slot - memory for a lock that is freed during the run
 * @state: of the memory
 * @users: contenders that may touch the lock, without holders that have begun to release it
 * @maker: id of the contender that has made the lock
 */
struct slot {
	enum slot_state state;
	unsigned int users;
	unsigned int maker;
};

/**
 * struct admission - of contenders to locks that are freed, see free_lock.c
 * @lock: protects the rest
 * @slots: of the first targets of the run
 * @last: index of the slot that was opened last
 * @freed: times that a lock was freed
 * @written: times that freed memory was written to
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
 * @cs_loops: cs_ns as busy work
 * @ncs_loops: ncs_ns as busy work
 * @chunk_loops: the most busy work in one piece outside of the critical section
 * @stop: contenders end when they see it
 * @began_ns: when the threads were started; 0: not yet
 * @ended_ns: when they were stopped; 0: not yet
 * @targets: the locks under test, and what they protect
 * @target_count: how many there are
 * @admission: to locks that are freed during the run
 * @paused: threads that wait for the end of a pause or a halt
 * @not_ready: threads that have not reached the barrier
 * @not_back: threads that have not left their loop
 * @all_ready: @not_ready is 0
 * @all_back: @not_back is 0
 * @go: the barrier
 * @joined: all threads have ended
 * @destroyed: the first error of destroying the locks
 * @costs: the overhead of the measurement
 * @contender_count: entries of @contenders
 * @shares: for the report: the acquisitions of each contender
 * @rows: for the report: the result of each; NULL: the report has it
 * @interrupts: those that contend; NULL: none
 * @suspensions: of attempts; NULL: none
 * @shuffler: the thread that moves the others; NULL: none
 * @hotplugger: the thread that takes CPUs offline; NULL: none
 * @binding: of threads to CPUs
 * @shuffles: as in struct stress_report, written by @shuffler
 * @hotplugs: the same, written by @hotplugger
 * @nodes_left: the same
 * @nodes_kept: the same
 * @halt: threads must stop outside of the queues
 * @halted: threads that have
 * @cpu_lost: a CPU did not come online again
 * @contenders: the threads, then the interrupts; NULL until they are created
 *
 * What the threads only read comes first; each lock and what it protects have cache lines of
 * their own.
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
	struct mutex binding;		/* of threads to CPUs */
	u64 shuffles;
	u64 hotplugs;
	u64 nodes_left;
	u64 nodes_kept;
	bool halt;
	atomic_t halted;
	bool cpu_lost;
	struct contender *contenders[];
};

struct stress_run *stress_run_alloc(const struct stress_params *params, unsigned int contenders);
struct contender *stress_contender_alloc(struct stress_run *run,
					 unsigned int index,
					 enum stress_context context,
					 unsigned int cpu);
int stress_lock_init(const struct stress_run *run, union stress_lock *lock, unsigned int index);
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

/* interrupts.c; the last two are for hotplug. */
unsigned int stress_interrupts_count(const struct stress_params *params);
int stress_interrupts_create(struct stress_run *run);
void stress_interrupts_start(struct stress_run *run);
void stress_interrupts_stop(struct stress_run *run);
void stress_interrupts_free(struct stress_run *run);
void stress_interrupts_cpu_down(struct stress_run *run, unsigned int cpu);
void stress_interrupts_cpu_up(struct stress_run *run, unsigned int cpu);

/* nmi.c */
int stress_nmi_register(void);
void stress_nmi_send(struct contender *contender);
void stress_nmi_drain(struct contender *contender);
void stress_nmi_unregister(void);

/* migrate.c */
int stress_migrate_create(struct stress_run *run);
void stress_migrate_start(struct stress_run *run);
void stress_migrate_stop(struct stress_run *run);

/* suspend.c */
int stress_suspend_create(struct stress_run *run);
void stress_suspend_stop(struct stress_run *run);
void stress_suspend_free(struct stress_run *run);
struct stress_suspended stress_suspend_sum_up(const struct stress_run *run);
bool stress_suspend_happened(const struct stress_run *run);
u64 stress_suspend_interval_ns(const struct stress_run *run);
bool stress_suspend_begin(struct suspension *suspension);
bool stress_suspend_is_inside(const struct suspension *suspension);
bool stress_suspend_end(struct suspension *suspension);

#endif
