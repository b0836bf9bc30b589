// SPDX-License-Identifier: GPL-2.0
/*
 * The course of a run: create the locks and threads, start them, stop them, join them, tear down.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kthread.h>
#include <linux/overflow.h>
#include <linux/random.h>
#include <linux/sched/task.h>
#include <linux/topology.h>

#include "run.h"

/* Busy work in one piece: the interval at which a thread polls for the stop */
#define CHUNK_NS	(10 * NSEC_PER_USEC)

static int stress_thread(void *data)
{
	struct contender *contender = data;
	struct stress_run *run = contender->run;

	if (atomic_dec_and_test(&run->not_ready))
		complete(&run->all_ready);
	wait_for_completion(&run->go);

	while (!READ_ONCE(run->stop)) {
		stress_contender_iterate(contender);
		/* Threads may share a CPU that does not preempt. */
		cond_resched();
	}

	if (atomic_dec_and_test(&run->not_back))
		complete(&run->all_back);
	return 0;
}

/*
 * Is there memory for another contender? Not the last of it: the kernel's own allocations, that of
 * a thread's stack among them, would call the OOM killer.
 */
static bool has_memory(void)
{
	return si_mem_available() > (long)(totalram_pages() / 16);
}

/* @index: among the contenders. Return: NULL without memory. */
struct contender *stress_contender_alloc(struct stress_run *run,
					 unsigned int index,
					 enum stress_context context,
					 unsigned int cpu)
{
	int node = cpu_to_node(cpu);
	struct contender *contender;

	if (!has_memory())
		return NULL;
	contender = kvzalloc_node(sizeof(*contender), STRESS_GFP, node);
	if (!contender)
		return NULL;
	contender->run = run;
	contender->id = index + 1;
	contender->context = context;
	contender->cpu = cpu;
	stress_contender_init(contender, node);
	return contender;
}

static int create_thread(struct stress_run *run, unsigned int index, unsigned int cpu)
{
	struct contender *contender = stress_contender_alloc(run, index, STRESS_TASK, cpu);
	struct task_struct *task;

	if (!contender)
		return -ENOMEM;
	task = kthread_create_on_node(stress_thread, contender,
				      cpu_to_node(cpu), "nbqstress/%u", index);
	if (IS_ERR(task)) {
		kvfree(contender);
		return PTR_ERR(task);
	}
	/* The thread may end before kthread_stop() is called for it. */
	get_task_struct(task);
	kthread_bind(task, cpu);
	contender->task = task;
	if (run->params.suspend_every_ns)
		stress_suspend_setup(contender);
	run->contenders[index] = contender;
	return 0;
}

/* Create all threads, asleep, pinned to the CPUs in turn. */
static int create_threads(struct stress_run *run)
{
	unsigned int cpu = cpumask_first(&run->params.cpus);
	unsigned int i;
	int ret;

	for (i = 0; i < run->params.threads; i++) {
		ret = create_thread(run, i, cpu);
		if (ret) {
			pr_err("threads: only %u of %llu could be made\n", i,
			       run->params.threads);
			return ret;
		}
		cpu = stress_next_cpu(cpu, &run->params.cpus);
	}
	return 0;
}

/* Prepare the contender at each of its locks, until one fails. */
static int enter_contender(struct stress_run *run, struct contender *contender)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < run->params.chain; i++) {
		struct lock_ref *ref = &contender->refs[i];

		ret = has_memory() ? run->params.lock->enter(ref->target.lock, &ref->waiter) :
				     -ENOMEM;
	}
	return ret;
}

static void exit_contender(struct stress_run *run, struct contender *contender)
{
	unsigned int i;

	for (i = 0; i < run->params.chain; i++) {
		struct lock_ref *ref = &contender->refs[i];

		run->params.lock->exit(ref->target.lock, &ref->waiter);
	}
}

static int enter_contenders(struct stress_run *run)
{
	const struct stress_ops *ops = run->params.lock;
	unsigned int i;
	int ret = 0;

	for (i = 0; ops->enter && !ret && i < run->contender_count; i++)
		ret = enter_contender(run, run->contenders[i]);
	if (ret)
		pr_err("threads: %s has memory for only %u of %u contenders (%d)\n",
		       ops->name, i - 1, run->contender_count, ret);
	return ret;
}

/* Threads that never ran never will. */
static void stop_threads(struct stress_run *run)
{
	unsigned int i;

	for (i = 0; i < run->params.threads && run->contenders[i]; i++) {
		struct contender *contender = run->contenders[i];

		kthread_stop(contender->task);
		put_task_struct(contender->task);
		if (run->params.suspend_every_ns)
			hrtimer_cancel(&contender->timer);
	}
	run->joined = true;
}

static void destroy_locks(struct stress_run *run)
{
	const struct stress_ops *ops = run->params.lock;
	unsigned int i;
	int ret;

	for (i = 0; ops->destroy && i < run->target_count; i++) {
		ret = ops->destroy(run->targets[i].lock);
		if (ret && !run->destroyed)
			run->destroyed = ret;
	}
}

/*
 * Will the locks be taken in an order, or in contexts, that lockdep reports, rightly? (Not in an
 * NMI, whose attempts lockdep records as trylocks.)
 */
static bool lockdep_would_report(const struct stress_params *params)
{
	if (params->chain > 1 && params->chain_order == CHAIN_RANDOM)
		return true;
	return params->nesting == NESTING_SHARED &&
	       (params->contexts & ~(BIT(STRESS_TASK) | BIT(STRESS_NMI)));
}

/* @index: among the locks of the run. Return: 0 or a negative errno. */
int stress_lock_init(const struct stress_run *run, struct stress_lock *lock, unsigned int index)
{
	const struct stress_ops *ops = run->params.lock;
	int ret = ops->init(lock, index);

	if (!ret && ops->lockdep_disable && lockdep_would_report(&run->params))
		ops->lockdep_disable(lock);
	return ret;
}

/* Locks that are freed during the run are made when they are needed. */
static int create_locks(struct stress_run *run)
{
	const struct stress_params *params = &run->params;
	/* A chain for each context, even for those that do not contend */
	unsigned int rows = params->nesting == NESTING_OWN ? STRESS_CONTEXTS : 1;
	unsigned int i;
	int ret;

	if (params->free_lock) {
		stress_admission_start(run);
		run->target_count = STRESS_SLOTS;
		return 0;
	}
	for (i = 0; i < params->chain * rows; i++) {
		ret = stress_lock_init(run, run->targets[i].lock, i);
		if (ret) {
			pr_err("lock: %s could not be made (%d)\n", params->lock->name, ret);
			destroy_locks(run);
			return ret;
		}
		run->target_count++;
	}
	return 0;
}

/* After the contenders have ended: destroy the locks, then exit. */
static void teardown(struct stress_run *run)
{
	unsigned int i;

	if (run->params.free_lock)
		stress_admission_stop(run);
	else
		destroy_locks(run);
	if (!run->params.lock->exit)
		return;
	for (i = 0; i < run->contender_count && run->contenders[i]; i++)
		exit_contender(run, run->contenders[i]);
}

/*
 * Memory for the locks and what they protect, in cache lines of their own. Whole pages begin with
 * one.
 */
static bool alloc_targets(struct stress_run *run)
{
	size_t of_lock = ALIGN(run->params.lock->size, SMP_CACHE_BYTES);
	size_t of_both = of_lock + ALIGN(sizeof(struct guarded), SMP_CACHE_BYTES);
	unsigned int i;

	run->memory = kvzalloc(PAGE_ALIGN(STRESS_LOCKS_MAX * of_both), STRESS_GFP);
	for (i = 0; run->memory && i < STRESS_LOCKS_MAX; i++) {
		run->targets[i].lock = run->memory + i * of_both;
		run->targets[i].guarded = run->memory + i * of_both + of_lock;
		run->targets[i].guarded->cpu = -1;
	}
	return run->memory;
}

/* Allocated in advance, so that the result cannot be lost for want of memory. */
static bool alloc_report(struct stress_run *run)
{
	run->shares = kvcalloc(run->contender_count, sizeof(*run->shares), STRESS_GFP);
	run->rows = kvcalloc(run->contender_count, sizeof(*run->rows), STRESS_GFP);
	return run->shares && run->rows;
}

/* A run without locks and contenders. Return: NULL without memory. */
struct stress_run *stress_run_alloc(const struct stress_params *params, unsigned int contenders)
{
	struct stress_run *run;

	run = kvzalloc(struct_size(run, contenders, contenders), STRESS_GFP);
	if (!run)
		return NULL;
	run->contender_count = contenders;
	run->params = *params;
	if (!alloc_report(run) || !alloc_targets(run)) {
		stress_run_free(run);
		return NULL;
	}
	while (!run->params.seed)
		run->params.seed = get_random_u64();
	run->cs_loops = stress_busy_loops(params->cs_ns);
	run->ncs_loops = stress_busy_loops(params->ncs_ns);
	run->chunk_loops = stress_busy_loops(CHUNK_NS);
	init_waitqueue_head(&run->paused);
	atomic_set(&run->not_ready, params->threads);
	atomic_set(&run->not_back, params->threads);
	init_completion(&run->all_ready);
	init_completion(&run->all_back);
	init_completion(&run->go);
	mutex_init(&run->binding);
	return run;
}

/* A run without locks and contenders, or an ERR_PTR(). */
static struct stress_run *prepare(const struct stress_params *params)
{
	struct stress_costs costs;
	struct stress_run *run;
	int ret;

	/* Before the run competes for the CPUs. */
	ret = stress_costs_measure(params, &costs);
	if (ret)
		return ERR_PTR(ret);
	run = stress_run_alloc(params, params->threads + stress_interrupts_count(params));
	if (!run)
		return ERR_PTR(-ENOMEM);
	run->costs = costs;
	return run;
}

/* All threads and timers, stopped. */
static int create_all(struct stress_run *run)
{
	int ret = create_threads(run);

	if (!ret)
		ret = stress_interrupts_create(run);
	if (!ret)
		ret = enter_contenders(run);
	if (!ret)
		ret = stress_migrate_create(run);
	return ret;
}

/* Return: a run, to be started; or an ERR_PTR(). */
struct stress_run *stress_run_create(const struct stress_params *params)
{
	struct stress_run *run;
	int ret = stress_params_check(params);

	if (ret)
		return ERR_PTR(ret);
	run = prepare(params);
	if (IS_ERR(run))
		return run;
	ret = create_locks(run);
	if (ret) {
		stress_run_free(run);
		return ERR_PTR(ret);
	}
	ret = create_all(run);
	if (ret) {
		stress_migrate_stop(run);
		stress_interrupts_end(run);
		stop_threads(run);
		teardown(run);
		stress_run_free(run);
		return ERR_PTR(ret);
	}
	return run;
}

/* After the threads have ended. */
void stress_run_free(struct stress_run *run)
{
	unsigned int i;

	for (i = 0; i < run->contender_count; i++)
		kvfree(run->contenders[i]);
	kvfree(run->shares);
	kvfree(run->rows);
	kvfree(run->nodes_before);
	kvfree(run->memory);
	kvfree(run);
}

/* All threads at once, then the interrupts. */
void stress_run_start(struct stress_run *run)
{
	const struct stress_params *params = &run->params;
	unsigned int i;

	/* Logged before the start, to repeat a run that hangs. */
	stress_params_log("run begins", params);
	for (i = 0; i < params->threads; i++)
		wake_up_process(run->contenders[i]->task);
	wait_for_completion(&run->all_ready);
	nbq_events_reset();
	WRITE_ONCE(run->began_ns, stress_clock_ns());
	complete_all(&run->go);
	stress_interrupts_start(run, STRESS_ALL_CPUS);
	stress_migrate_start(run);
}

/* Waits for the interrupts, and until all CPUs are online again; not for the threads. */
void stress_run_stop(struct stress_run *run)
{
	WRITE_ONCE(run->ended_ns, stress_clock_ns());
	WRITE_ONCE(run->stop, true);
	wake_up_all(&run->paused);
	stress_migrate_stop(run);
	stress_interrupts_end(run);
}

/*
 * Wait for the threads of a stopped run to end, then destroy the locks.
 *
 * Return: false if some have not ended: they still use the run, until a later call returns true.
 */
bool stress_run_join(struct stress_run *run, unsigned long timeout)
{
	if (!wait_for_completion_timeout(&run->all_back, timeout))
		return false;
	stop_threads(run);
	teardown(run);
	return true;
}

/* From the start, up to the stop; 0 before the start. At any time, as the next two. */
u64 stress_run_elapsed_ns(const struct stress_run *run)
{
	u64 began = READ_ONCE(run->began_ns);
	u64 ended = READ_ONCE(run->ended_ns);

	return began ? (ended ?: stress_clock_ns()) - began : 0;
}

/*
 * The rest of the current pause; 0: there is none. With stutter_ms, every other piece of that
 * length is a pause: all contenders pause at the same times, and begin again together.
 */
u64 stress_run_pause_ns(const struct stress_run *run)
{
	u64 piece = run->params.stutter_ms * NSEC_PER_MSEC;
	u64 into;

	if (!piece)
		return 0;
	div64_u64_rem(stress_run_elapsed_ns(run), 2 * piece, &into);
	return into < piece ? 0 : 2 * piece - into;
}

/* Of all contenders so far, as visible to this CPU. */
u64 stress_run_acquisitions(const struct stress_run *run)
{
	u64 sum = 0;
	unsigned int i;

	for (i = 0; i < run->contender_count; i++)
		sum += READ_ONCE(run->contenders[i]->counts.acquisitions);
	return sum;
}
