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
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/prandom.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "driver.h"
#include "timing.h"

/* Slots for a lock that is freed during the run */
#define STRESS_SLOTS	2

/*
 * What a lock protects. @holder shows a second holder, @counter loses increments of one. Both are
 * plain memory on purpose: KCSAN watches them as well.
 */
struct guarded {
	unsigned int holder;	/* id of the contender inside, 0: none */
	int cpu;		/* of the last holder, -1: none yet */
	u64 counter;		/* critical sections so far */
	u64 handoffs;		/* critical sections on another CPU than the one before */
	s64 released;		/* when the last holder was about to release; 0: not timed */
};

/* A lock under test, and what it protects: each in cache lines of its own. */
struct target {
	struct stress_lock *lock;
	struct guarded *guarded;
};

/* A contender's reference to one lock, in the contender's memory. */
struct lock_ref {
	struct target target;
	unsigned int index;		/* of @target in the run */
	struct stress_waiter waiter;	/* the contender, as the lock type knows it */
	u64 acquired;			/* acquisitions of this lock by this contender */
	u64 counter;			/* the counter of @target at the last one */
};

/* Of the attempts of one thread, see suspend.c. */
struct suspension {
	struct rnd_state random;	/* not the contender's, which its timer may interrupt */
	u64 next;			/* from when on attempts may be suspended, until one was */
	bool inside;			/* the current attempt may be suspended */
	struct stress_suspended suspended;
};

/* In memory of its NUMA node. */
struct contender {
	struct stress_run *run;
	enum stress_context context;	/* of its attempts */
	struct task_struct *task;	/* the thread, with a reference; NULL: an interrupt */
	u64 not_before_ns;		/* of an interrupt: earliest time of the next attempt */
	unsigned int id;		/* from 1 on */
	unsigned int cpu;		/* of a running thread, under @binding of the run */
	struct rnd_state random;	/* for its work, patience, pauses and order of locks */
	struct stress_counts counts;	/* written by the contender, read by others meanwhile */
	u64 violations;			/* times that it saw another holder */
	u64 until_stall;		/* acquisitions until one stalls */
	struct lock_ref *order[STRESS_CHAIN_MAX];	/* its locks as they are acquired */
	unsigned int count;		/* how many of them this attempt takes */
	struct lock_ref refs[STRESS_CHAIN_MAX];	/* one for each lock of the chain */
	struct timings timings;
	struct hrtimer timer;		/* makes an interrupt attempt, or suspends a thread */
	struct suspension suspension;
} ____cacheline_aligned_in_smp;

enum slot_state {
	SLOT_POISONED,		/* no lock, poisoned memory */
	SLOT_INIT,		/* a lock is being made */
	SLOT_OPEN,		/* a lock */
	SLOT_CLOSED,		/* its last user is about to free it */
};

/* Memory for a lock that is freed during the run. */
struct slot {
	enum slot_state state;
	unsigned int users;	/* may touch the lock; less holders that have begun to release */
	unsigned int maker;	/* id of the contender that has made the lock */
};

/* Of contenders to locks that are freed, see free_lock.c. */
struct admission {
	raw_spinlock_t lock;	/* protects the rest */
	struct slot slots[STRESS_SLOTS];	/* of the first targets of the run */
	unsigned int last;	/* index of the slot that was opened last */
	u64 freed;		/* times that a lock was freed */
	u64 written;		/* times that freed memory was written to */
};

/* What the threads only read comes first. */
struct stress_run {
	struct stress_params params;	/* a copy, with the seed that is used */
	u64 cs_loops;			/* cs_ns, and so on, as busy work */
	u64 ncs_loops;
	u64 chunk_loops;		/* the most in one piece outside of the critical section */
	bool stop;			/* contenders end when they see it */
	u64 began_ns;			/* when the threads were started; 0: not yet */
	u64 ended_ns;			/* when they were stopped; 0: not yet */
	unsigned int target_count;
	struct target targets[STRESS_LOCKS_MAX];
	void *memory;			/* of the targets */
	struct admission admission ____cacheline_aligned_in_smp;
	/* Threads that wait for the end of a pause or a halt */
	wait_queue_head_t paused ____cacheline_aligned_in_smp;
	/* Threads that have not reached the barrier, or have not left their loop */
	atomic_t not_ready ____cacheline_aligned_in_smp;
	atomic_t not_back;
	struct completion all_ready;
	struct completion all_back;
	struct completion go;		/* the barrier */
	bool joined;			/* all threads have ended */
	int destroyed;			/* the first error of destroying the locks */
	struct stress_costs costs;
	u64 *shares;			/* for the report: acquisitions of each contender */
	struct stress_row *rows;	/* for the report; NULL: the report has it */
	bool handles_nmi;		/* the NMI handler is registered */
	struct task_struct *shuffler;	/* NULL: none; the threads of migrate.c */
	struct task_struct *hotplugger;
	struct stress_migrations migrations;	/* written by these two */
	unsigned int *nodes_before;	/* in use of each CPU, before the run; NULL: not counted */
	bool cpu_lost;			/* a CPU did not come online again */
	struct mutex binding;		/* of threads to CPUs */
	bool halt;			/* threads must stop outside of the queues */
	atomic_t halted;		/* threads that have */
	unsigned int contender_count;
	struct contender *contenders[];	/* threads, then interrupts; NULL until created */
};

/* The first comes after the last. */
static inline unsigned int stress_next_cpu(unsigned int cpu, const struct cpumask *cpus)
{
	cpu = cpumask_next(cpu, cpus);
	return cpu < nr_cpu_ids ? cpu : cpumask_first(cpus);
}

static inline void stress_ref_set(struct lock_ref *ref, const struct stress_run *run,
				  unsigned int index)
{
	ref->target = run->targets[index];
	ref->index = index;
}

/* run.c */
struct stress_run *stress_run_create(const struct stress_params *params);
struct stress_run *stress_run_alloc(const struct stress_params *params, unsigned int contenders);
struct contender *stress_contender_alloc(struct stress_run *run,
					 unsigned int index,
					 enum stress_context context,
					 unsigned int cpu);
int stress_lock_init(const struct stress_run *run, struct stress_lock *lock, unsigned int index);
void stress_run_start(struct stress_run *run);
void stress_run_stop(struct stress_run *run);
bool stress_run_join(struct stress_run *run, unsigned long timeout);
void stress_run_free(struct stress_run *run);
u64 stress_run_elapsed_ns(const struct stress_run *run);
u64 stress_run_pause_ns(const struct stress_run *run);
u64 stress_run_acquisitions(const struct stress_run *run);

/* check.c */
unsigned long stress_run_missing(const struct stress_run *run);
void stress_run_report(struct stress_run *run, struct stress_report *report);

/* cost.c */
int stress_costs_measure(const struct stress_params *params, struct stress_costs *costs);
void stress_busy(u64 loops);
u64 stress_busy_loops(u64 ns);

/* contender.c */
void stress_contender_init(struct contender *contender, int numa_node);
void stress_contender_iterate(struct contender *contender);
void stress_contender_interrupt(struct contender *contender);

/* free_lock.c */
void stress_admission_start(struct stress_run *run);
bool stress_admission_enter(struct contender *contender);
void stress_admission_exit(struct contender *contender);
bool stress_admission_exit_holder(struct contender *contender);
void stress_admission_free(struct contender *contender);
void stress_admission_stop(struct stress_run *run);

/* interrupts.c. Start and stop: those of a CPU, or all. */
#define STRESS_ALL_CPUS	(-1)
void stress_timer_setup(struct hrtimer *timer, enum hrtimer_mode mode,
			enum hrtimer_restart (*handler)(struct hrtimer *timer));
unsigned int stress_interrupts_count(const struct stress_params *params);
int stress_interrupts_create(struct stress_run *run);
void stress_interrupts_start(struct stress_run *run, int cpu);
void stress_interrupts_stop(struct stress_run *run, int cpu);
void stress_interrupts_end(struct stress_run *run);

#ifdef CONFIG_X86_LOCAL_APIC
/* nmi.c */
bool stress_nmi_is_possible(void);
int stress_nmi_register(void);
void stress_nmi_send(struct contender *contender);
void stress_nmi_drain(struct contender *contender);
void stress_nmi_unregister(void);
#else
static inline bool stress_nmi_is_possible(void) { return false; }
static inline int stress_nmi_register(void) { return -EOPNOTSUPP; }
static inline void stress_nmi_send(struct contender *contender) { }
static inline void stress_nmi_drain(struct contender *contender) { }
static inline void stress_nmi_unregister(void) { }
#endif

/* migrate.c */
bool stress_hotplug_is_possible(const struct cpumask *cpus);
int stress_migrate_create(struct stress_run *run);
void stress_migrate_start(struct stress_run *run);
void stress_migrate_stop(struct stress_run *run);

/* suspend.c */
void stress_suspend_setup(struct contender *contender);
struct stress_suspended stress_suspend_sum_up(const struct stress_run *run);
u64 stress_suspend_interval_ns(const struct stress_run *run);
bool stress_suspend_begin(struct contender *contender);
bool stress_suspend_end(struct contender *contender);

#endif
