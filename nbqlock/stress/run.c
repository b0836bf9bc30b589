// SPDX-License-Identifier: GPL-2.0
/*
 * One run: threads that fight for a lock, and what they found.
 *
 * Each thread counts in memory of its own; while measuring, the threads share
 * nothing but the lock and what it protects. That is an owner word, which
 * tells two owners from one, and a counter whose increments get lost between
 * two owners. Both are plain memory on purpose: KCSAN then watches as well.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/cache.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/limits.h>
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/prandom.h>
#include <linux/printk.h>
#include <linux/processor.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/topology.h>

#include "ops.h"
#include "stress.h"

/**
 * struct worker - a thread's own memory, on its own NUMA node
 * @run: what it belongs to
 * @task: the thread, with a reference
 * @id: its number, from 1 on
 * @waiter: what the lock type knows of it
 * @until_sample: attempts until one is timed
 * @random: for the length of its work outside, and its patience
 * @attempts: and the following: as in struct stress_report
 * @acquisitions: written by the thread only, read by others meanwhile
 * @timeouts: failed with -ETIMEDOUT
 * @no_node: failed with -ENOMEM
 * @deadlocks: failed with -EDEADLK
 * @violations: times that it saw another owner
 * @wait: how long acquisitions took
 * @overshoot: how late timeouts were
 */
struct worker {
	struct stress_run *run;
	struct task_struct *task;
	unsigned int id;
	struct stress_waiter waiter;
	u64 until_sample;
	struct rnd_state random;
	u64 attempts;
	u64 acquisitions;
	u64 timeouts;
	u64 no_node;
	u64 deadlocks;
	u64 violations;
	struct stress_histogram wait;
	struct stress_histogram overshoot;
} ____cacheline_aligned_in_smp;

/**
 * struct guarded - what the lock protects
 * @owner: id of the worker inside, 0: nobody
 * @cpu: of the last owner, -1: there was none yet
 * @counter: critical sections so far
 * @handoffs: of those, how many were on another CPU than the one before
 */
struct guarded {
	unsigned int owner;
	int cpu;
	u64 counter;
	u64 handoffs;
};

/**
 * struct stress_run - a run
 * @knobs: a copy, with the seed that is used
 * @stop: threads go home when they see it
 * @began_ns: when the threads were let go; 0: not yet
 * @ended_ns: when they were told to stop; 0: not yet
 * @lock: the lock under test
 * @guarded: what it protects
 * @not_ready: threads that have not reached the barrier
 * @not_back: threads that have not left their loop
 * @all_ready: @not_ready is 0
 * @all_back: @not_back is 0
 * @go: the barrier
 * @joined: all threads are gone
 * @destroyed: what destroying the lock returned
 * @workers: one for each thread
 *
 * What the threads only read comes first; the lock and what it protects have
 * cache lines of their own.
 */
struct stress_run {
	struct stress_knobs knobs;
	bool stop;
	u64 began_ns;
	u64 ended_ns;
	union stress_lock lock ____cacheline_aligned_in_smp;
	struct guarded guarded ____cacheline_aligned_in_smp;
	atomic_t not_ready ____cacheline_aligned_in_smp;
	atomic_t not_back;
	struct completion all_ready;
	struct completion all_back;
	struct completion go;
	bool joined;
	int destroyed;
	struct worker *workers[];
};

/* The clock that nbqlock's deadlines are made of. */
static u64 clock_ns(void)
{
	return ktime_get_mono_fast_ns();
}

/* Busy work inside the critical section. */
static void work_inside(u64 ns)
{
	u64 end;

	if (!ns)
		return;
	end = clock_ns() + ns;
	while (clock_ns() < end)
		cpu_relax();
}

/*
 * Busy work outside: 0.5 to 1.5 times what the knob says, or until the stop.
 * It may be long, and the kernel one that does not preempt.
 */
static void work_outside(struct worker *worker)
{
	const struct stress_run *run = worker->run;
	u64 ns = run->knobs.ncs_ns;
	u64 end;

	if (!ns)
		return;
	ns = ns / 2 + ((ns * prandom_u32_state(&worker->random)) >> 32);
	end = clock_ns() + ns;
	while (clock_ns() < end && !READ_ONCE(run->stop)) {
		cpu_relax();
		cond_resched();
	}
}

/*
 * The critical section. The barriers keep the compiler from joining what a
 * second owner must be able to come in between.
 */
static void be_owner(struct worker *worker)
{
	struct stress_run *run = worker->run;
	struct guarded *guarded = &run->guarded;
	int cpu = raw_smp_processor_id();
	u64 counter;

	if (guarded->owner)
		worker->violations++;
	guarded->owner = worker->id;
	counter = guarded->counter;
	barrier();

	work_inside(run->knobs.cs_ns);
	if (guarded->cpu >= 0 && guarded->cpu != cpu)
		guarded->handoffs++;
	guarded->cpu = cpu;

	barrier();
	guarded->counter = counter + 1;
	if (guarded->owner != worker->id)
		worker->violations++;
	guarded->owner = 0;
}

static bool is_timed(struct worker *worker)
{
	u64 every = worker->run->knobs.sample_every;

	if (!every || --worker->until_sample)
		return false;
	worker->until_sample = every;
	return true;
}

/* Of one attempt, in ns as nbq_clh_lock_timeout() takes it. */
static ktime_t draw_patience(struct worker *worker)
{
	const struct stress_knobs *knobs = &worker->run->knobs;
	u64 patience = knobs->patience_ns;
	u64 random;

	switch (knobs->patience_mode) {
	case PATIENCE_RANDOM:
		random = prandom_u32_state(&worker->random);
		random = random << 32 | prandom_u32_state(&worker->random);
		patience = mul_u64_u64_shr(2 * patience + 1, random, 64);
		return min_t(u64, patience, KTIME_MAX);
	case PATIENCE_MIXED:
		random = prandom_u32_state(&worker->random);
		/* A third each: 0, patience, for ever. */
		if (random < U32_MAX / 3)
			return 0;
		if (random < U32_MAX / 3 * 2)
			return patience;
		return KTIME_MAX;
	default:
		return patience;
	}
}

/* What is counted nowhere fails the run. */
static void gave_up(struct worker *worker, int error)
{
	switch (error) {
	case -ETIMEDOUT:
		worker->timeouts++;
		break;
	case -ENOMEM:
		worker->no_node++;
		break;
	case -EDEADLK:
		worker->deadlocks++;
		break;
	}
}

static void attempt(struct worker *worker)
{
	struct stress_run *run = worker->run;
	const struct stress_ops *ops = run->knobs.ops;
	bool timed = is_timed(worker);
	ktime_t patience = draw_patience(worker);
	s64 start = 0, took = 0;
	int ret;

	worker->attempts++;
	if (timed)
		start = clock_ns();
	ret = ops->lock(&run->lock, &worker->waiter, patience);
	if (timed)
		took = max_t(s64, clock_ns() - start, 0);
	if (ret) {
		gave_up(worker, ret);
		if (timed && ret == -ETIMEDOUT && ops->patience == HEEDS_PATIENCE)
			stress_histogram_add(&worker->overshoot,
					     max(took - patience, 0LL));
		return;
	}
	be_owner(worker);
	ops->unlock(&run->lock, &worker->waiter);

	WRITE_ONCE(worker->acquisitions, worker->acquisitions + 1);
	if (timed)
		stress_histogram_add(&worker->wait, took);
}

static int stress_thread(void *data)
{
	struct worker *worker = data;
	struct stress_run *run = worker->run;

	if (atomic_dec_and_test(&run->not_ready))
		complete(&run->all_ready);
	wait_for_completion(&run->go);

	while (!READ_ONCE(run->stop)) {
		work_outside(worker);
		attempt(worker);
		/* Several threads may share a CPU that does not preempt. */
		cond_resched();
	}

	if (atomic_dec_and_test(&run->not_back))
		complete(&run->all_back);
	return 0;
}

static int create_worker(struct stress_run *run, unsigned int index,
			 unsigned int cpu)
{
	int node = cpu_to_node(cpu);
	struct worker *worker = kvzalloc_node(sizeof(*worker), GFP_KERNEL, node);
	struct task_struct *task;

	if (!worker)
		return -ENOMEM;
	worker->run = run;
	worker->id = index + 1;
	worker->waiter.numa_node = node;
	worker->until_sample = 1;
	/* Any odd number with many bits: threads draw different numbers. */
	prandom_seed_state(&worker->random, run->knobs.seed ^
			   (worker->id * 0x9e3779b97f4a7c15ULL));

	task = kthread_create_on_node(stress_thread, worker, node,
				      "nbqstress/%u", index);
	if (IS_ERR(task)) {
		kvfree(worker);
		return PTR_ERR(task);
	}
	/* It may end before kthread_stop() is called for it. */
	get_task_struct(task);
	kthread_bind(task, cpu);
	worker->task = task;
	run->workers[index] = worker;
	return 0;
}

/* Create all threads, asleep, pinned to the CPUs in turn. */
static int create_workers(struct stress_run *run)
{
	unsigned int cpu = cpumask_first(&run->knobs.cpus);
	unsigned int i;
	int ret;

	for (i = 0; i < run->knobs.threads; i++) {
		ret = create_worker(run, i, cpu);
		if (ret) {
			pr_err("threads: only %u of %llu could be made\n", i,
			       run->knobs.threads);
			return ret;
		}
		cpu = cpumask_next(cpu, &run->knobs.cpus);
		if (cpu >= nr_cpu_ids)
			cpu = cpumask_first(&run->knobs.cpus);
	}
	return 0;
}

/* Let the lock type get each thread ready. */
static int enter_workers(struct stress_run *run)
{
	const struct stress_ops *ops = run->knobs.ops;
	unsigned int i;
	int ret = 0;

	for (i = 0; ops->enter && !ret && i < run->knobs.threads; i++)
		ret = ops->enter(&run->lock, &run->workers[i]->waiter);
	if (ret)
		pr_err("threads: %s has room for only %u of %llu (%d)\n",
		       ops->name, i - 1, run->knobs.threads, ret);
	return ret;
}

/* Wait until the threads are gone; those that never ran never will. */
static void stop_workers(struct stress_run *run)
{
	unsigned int i;

	for (i = 0; i < run->knobs.threads && run->workers[i]; i++) {
		kthread_stop(run->workers[i]->task);
		put_task_struct(run->workers[i]->task);
	}
	run->joined = true;
}

/* Without threads: destroy the lock, and let the lock type forget them. */
static void dismantle(struct stress_run *run)
{
	const struct stress_ops *ops = run->knobs.ops;
	unsigned int i;

	if (ops->destroy)
		run->destroyed = ops->destroy(&run->lock);
	if (!ops->exit)
		return;
	for (i = 0; i < run->knobs.threads && run->workers[i]; i++)
		ops->exit(&run->lock, &run->workers[i]->waiter);
}

/**
 * stress_run_create() - Get everything ready for a run.
 * @knobs: what to run
 *
 * Return: the run, to be freed by stress_run_free(); or an ERR_PTR().
 */
struct stress_run *stress_run_create(const struct stress_knobs *knobs)
{
	struct stress_run *run;
	int ret;

	if (!cpumask_subset(&knobs->cpus, cpu_online_mask)) {
		pr_err("cpus: some of %*pbl have gone offline\n",
		       cpumask_pr_args(&knobs->cpus));
		return ERR_PTR(-EINVAL);
	}

	run = kvzalloc(struct_size(run, workers, knobs->threads), GFP_KERNEL);
	if (!run)
		return ERR_PTR(-ENOMEM);
	run->knobs = *knobs;
	while (!run->knobs.seed)
		run->knobs.seed = get_random_u64();
	run->guarded.cpu = -1;
	atomic_set(&run->not_ready, knobs->threads);
	atomic_set(&run->not_back, knobs->threads);
	init_completion(&run->all_ready);
	init_completion(&run->all_back);
	init_completion(&run->go);

	ret = knobs->ops->init(&run->lock);
	if (ret) {
		pr_err("lock: %s could not be made (%d)\n", knobs->ops->name,
		       ret);
		stress_run_free(run);
		return ERR_PTR(ret);
	}
	ret = create_workers(run);
	if (!ret)
		ret = enter_workers(run);
	if (ret) {
		stop_workers(run);
		dismantle(run);
		stress_run_free(run);
		return ERR_PTR(ret);
	}
	return run;
}

/**
 * stress_run_free() - Free a run whose threads are gone.
 * @run: a run that was joined
 */
void stress_run_free(struct stress_run *run)
{
	unsigned int i;

	for (i = 0; i < run->knobs.threads && run->workers[i]; i++)
		kvfree(run->workers[i]);
	kvfree(run);
}

/**
 * stress_run_go() - Let the threads go, all at once.
 * @run: the run
 */
void stress_run_go(struct stress_run *run)
{
	const struct stress_knobs *knobs = &run->knobs;
	unsigned int i;

	/* What it takes to repeat a run that does not come to its result. */
	pr_info("run begins: %s, %llu threads on CPUs %*pbl, %s patience %llu ns, cs %llu ns, ncs %llu ns, %llu ms, seed %llu\n",
		knobs->ops->name, knobs->threads, cpumask_pr_args(&knobs->cpus),
		stress_patience_mode_word(knobs->patience_mode),
		knobs->patience_ns, knobs->cs_ns, knobs->ncs_ns,
		knobs->duration_ms, knobs->seed);
	for (i = 0; i < knobs->threads; i++)
		wake_up_process(run->workers[i]->task);
	wait_for_completion(&run->all_ready);
	nbq_events_reset();
	WRITE_ONCE(run->began_ns, clock_ns());
	complete_all(&run->go);
}

/**
 * stress_run_stop() - Tell the threads to finish what they do and end.
 * @run: the run
 */
void stress_run_stop(struct stress_run *run)
{
	WRITE_ONCE(run->ended_ns, clock_ns());
	WRITE_ONCE(run->stop, true);
}

/**
 * stress_run_join() - Wait for the threads to end, then destroy the lock.
 * @run: a run that was stopped
 * @patience: jiffies to wait at most
 *
 * Return: false if some threads have not come back: they and their memory must
 * be left alone until a later call returns true.
 */
bool stress_run_join(struct stress_run *run, unsigned long patience)
{
	if (!wait_for_completion_timeout(&run->all_back, patience))
		return false;
	stop_workers(run);
	dismantle(run);
	return true;
}

/**
 * stress_run_duration_ms() - How long is the run meant to be?
 * @run: the run
 *
 * Return: ms.
 */
u64 stress_run_duration_ms(const struct stress_run *run)
{
	return run->knobs.duration_ms;
}

/**
 * stress_run_elapsed_ns() - How long have the threads been fighting?
 * @run: the run, at any time
 *
 * Return: ns, up to the stop; 0 before the start.
 */
u64 stress_run_elapsed_ns(const struct stress_run *run)
{
	u64 began = READ_ONCE(run->began_ns);
	u64 ended = READ_ONCE(run->ended_ns);

	return began ? (ended ?: clock_ns()) - began : 0;
}

/**
 * stress_run_acquisitions() - How often was the lock acquired so far?
 * @run: the run, at any time
 *
 * Return: the sum of all threads, as far as this CPU can see.
 */
u64 stress_run_acquisitions(const struct stress_run *run)
{
	u64 sum = 0;
	unsigned int i;

	for (i = 0; i < run->knobs.threads; i++)
		sum += READ_ONCE(run->workers[i]->acquisitions);
	return sum;
}

static void sum_up_threads(const struct stress_run *run,
			   struct stress_report *report)
{
	unsigned int i;

	report->thread_min = U64_MAX;
	for (i = 0; i < run->knobs.threads; i++) {
		const struct worker *worker = run->workers[i];
		u64 acquisitions = READ_ONCE(worker->acquisitions);

		report->attempts += worker->attempts;
		report->acquisitions += acquisitions;
		report->timeouts += worker->timeouts;
		report->no_node += worker->no_node;
		report->deadlocks += worker->deadlocks;
		report->violations += worker->violations;
		report->thread_min = min(report->thread_min, acquisitions);
		report->thread_max = max(report->thread_max, acquisitions);
		stress_histogram_merge(&report->wait, &worker->wait);
		stress_histogram_merge(&report->overshoot, &worker->overshoot);
	}
}

/*
 * Of the acquisitions of the threads. Values that spread too far for their
 * squares to fit in 64 bits lose low bits first.
 */
static u64 standard_deviation(const struct stress_run *run,
			      const struct stress_report *report)
{
	u64 mean = div64_u64(report->acquisitions, run->knobs.threads);
	unsigned int bits = fls64(report->thread_max - report->thread_min);
	unsigned int shift = bits > 25 ? bits - 25 : 0;
	u64 squares = 0;
	unsigned int i;

	for (i = 0; i < run->knobs.threads; i++) {
		u64 value = READ_ONCE(run->workers[i]->acquisitions);
		u64 off = (value > mean ? value - mean : mean - value) >> shift;

		squares += off * off;
	}
	return (u64)int_sqrt64(div64_u64(squares, run->knobs.threads)) << shift;
}

/* Once the lock is destroyed and the threads are forgotten. */
static void count_nodes(const struct stress_run *run,
			struct stress_report *report)
{
	const struct stress_ops *ops = run->knobs.ops;
	struct stress_nodes sum = {};
	unsigned int i;

	for (i = 0; i < run->knobs.threads; i++) {
		const struct stress_nodes *nodes = &run->workers[i]->waiter.nodes;

		sum.max += nodes->max;
		sum.reclaimed += nodes->reclaimed;
		sum.leaked += nodes->leaked;
	}
	if (ops->count_nodes)
		ops->count_nodes(&sum);
	report->nodes_max = sum.max;
	report->nodes_reclaimed = sum.reclaimed;
	report->leaked = sum.leaked;
}

static void judge(const struct stress_run *run, struct stress_report *report)
{
	unsigned long failures = 0;

	if (report->lost_updates)
		failures |= BIT(LOST_UPDATES);
	if (report->violations > report->lost_updates)
		failures |= BIT(TWO_OWNERS);
	if (report->leaked)
		failures |= BIT(LEAKED_NODES);
	if (!run->joined)
		failures |= BIT(THREAD_MISSING);
	if (run->destroyed)
		failures |= BIT(LOCK_IN_USE);
	if (run->joined && report->attempts != report->acquisitions +
					       report->timeouts +
					       report->no_node +
					       report->deadlocks)
		failures |= BIT(UNKNOWN_ERROR);
	if (!report->attempts)
		failures |= BIT(NO_ATTEMPT);
	report->failures = failures;
}

/**
 * stress_run_report() - Sum up and judge a run.
 * @run: a run that was stopped and, if that was possible, joined
 * @report: to be filled in, except for @stopped
 *
 * Without threads that did not come back, all counts are exact.
 */
void stress_run_report(const struct stress_run *run,
		       struct stress_report *report)
{
	const struct guarded *guarded = &run->guarded;
	u64 elapsed_us;

	memset(report, 0, sizeof(*report));
	report->knobs = run->knobs;
	report->cpus_online = num_online_cpus();
	report->elapsed_ns = stress_run_elapsed_ns(run);
	report->handoffs = guarded->handoffs;

	sum_up_threads(run, report);
	report->thread_stddev = standard_deviation(run, report);
	elapsed_us = max(div_u64(report->elapsed_ns, NSEC_PER_USEC), 1ULL);
	report->per_second = div64_u64(report->acquisitions * USEC_PER_SEC,
				       elapsed_us);

	if (run->joined) {
		report->lost_updates = report->acquisitions - guarded->counter;
		count_nodes(run, report);
	}
	report->violations += report->lost_updates;
	judge(run, report);
}
