// SPDX-License-Identifier: GPL-2.0
/*
 * Migration of threads and CPU hotplug during a run: one thread of the driver moves the contending
 * threads to other CPUs, another takes a CPU offline and back online.
 *
 * Contending threads are bound to their CPU, so that the scheduler does not move them;
 * set_cpus_allowed_ptr() does so all the same. When the CPU goes offline, the scheduler moves
 * them anywhere, for good: they are bound again when it is back.
 *
 * A CPU does not go offline while a context on it holds or waits for a lock: preemption is off
 * then, and the kernel stops all CPUs to take one down. Only nodes that its contexts have
 * abandoned can stay in the queues, and the one that an idle swap-only lock keeps. So the
 * driver halts the run until there are such nodes, before it takes the CPU down.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/sched/task.h>

#include "run.h"

/* How often to poll for the halt of all threads, and to halt them for nodes in the queues */
#define HALT_POLLS	1000
#define HALT_TRIES	10

/*
 * Within so many attempts that enqueue the others skip all abandoned nodes. One that finds the lock
 * free may never see the queue, however many there are.
 */
#define KEPT_ENQUEUED	1000

/* Return: false: this thread must end; kthread_stop() wakes it. */
static bool sleep_ms(struct stress_run *run, u64 ms)
{
	return !wait_event_idle_timeout(run->paused, kthread_should_stop(), msecs_to_jiffies(ms));
}

/*
 * A thread whose CPU is offline stays where it is. No CPU may go offline meanwhile: kernel threads
 * can be moved to one that is going down.
 */
static void rebind_threads(struct stress_run *run)
{
	unsigned int i;

	lockdep_assert_held(&run->binding);
	cpus_read_lock();
	for (i = 0; i < run->params.threads; i++) {
		struct contender *contender = run->contenders[i];

		set_cpus_allowed_ptr(contender->task, cpumask_of(contender->cpu));
	}
	cpus_read_unlock();
}

/*
 * Nodes of this CPU that the run has in queues: without those that other locks had when it was
 * created, such as the places that an earlier run has left.
 */
static unsigned int nodes_of(const struct stress_run *run, unsigned int cpu)
{
	unsigned int nodes = run->params.lock->nodes_of(cpu);

	return nodes > run->nodes_before[cpu] ? nodes - run->nodes_before[cpu] : 0;
}

/* Shuffling */

/* Rotate all by the same number of CPUs: each is moved. */
static void shuffle(struct stress_run *run, struct rnd_state *random)
{
	const struct cpumask *cpus = &run->params.cpus;
	unsigned int steps = 1 + prandom_u32_state(random) %
				 (cpumask_weight(cpus) - 1);
	unsigned int i;

	mutex_lock(&run->binding);
	while (steps--) {
		for (i = 0; i < run->params.threads; i++)
			run->contenders[i]->cpu = stress_next_cpu(run->contenders[i]->cpu, cpus);
	}
	rebind_threads(run);
	mutex_unlock(&run->binding);
}

static int shuffler(void *data)
{
	struct stress_run *run = data;
	struct rnd_state random;

	prandom_seed_state(&random, run->params.seed);
	while (sleep_ms(run, run->params.shuffle_ms)) {
		shuffle(run, &random);
		WRITE_ONCE(run->migrations.shuffles, run->migrations.shuffles + 1);
	}
	return 0;
}

/* Hotplug */

static bool is_hotpluggable(unsigned int cpu)
{
	return IS_ENABLED(CONFIG_HOTPLUG_CPU) && cpu_is_hotpluggable(cpu);
}

/* Can one of these CPUs go offline, as far as is known in advance? */
bool stress_hotplug_is_possible(const struct cpumask *cpus)
{
	unsigned int cpu;

	if (num_online_cpus() < 2)
		return false;
	for_each_cpu(cpu, cpus) {
		if (is_hotpluggable(cpu))
			return true;
	}
	return false;
}

/* Return: the next candidate after @cpu; @cpu if it is the only one. */
static unsigned int next_hotpluggable(unsigned int cpu, const struct cpumask *cpus)
{
	unsigned int i;

	for (i = 0; i < cpumask_weight(cpus); i++) {
		cpu = stress_next_cpu(cpu, cpus);
		if (is_hotpluggable(cpu))
			break;
	}
	return cpu;
}

/*
 * Let all threads finish their attempts, and begin no other.
 *
 * Return: false: one may be in a queue, or the run is over.
 */
static bool halt_all(struct stress_run *run)
{
	unsigned int polls = HALT_POLLS;

	stress_interrupts_stop(run, STRESS_ALL_CPUS);
	WRITE_ONCE(run->halt, true);
	/*
	 * The store to halt comes before the reads of halted. Pairs with the decrement in
	 * wait_while_halted().
	 */
	smp_mb();
	while (atomic_read(&run->halted) < run->params.threads && --polls &&
	       !READ_ONCE(run->stop))
		usleep_range(100, 200);
	return polls && !READ_ONCE(run->stop);
}

/* Interrupts of offline CPUs stay stopped. */
static void resume_all(struct stress_run *run)
{
	unsigned int cpu;

	WRITE_ONCE(run->halt, false);
	wake_up_all(&run->paused);
	for_each_cpu(cpu, &run->params.cpus) {
		if (cpu_online(cpu))
			stress_interrupts_start(run, cpu);
	}
}

/*
 * Halt all threads, with nodes of this CPU in the queues, or after many tries without.
 *
 * Return: the number of these nodes.
 */
static unsigned int halt_with_nodes_of(struct stress_run *run, unsigned int cpu)
{
	unsigned int tries = HALT_TRIES, nodes = 0;

	while (halt_all(run)) {
		nodes = nodes_of(run, cpu);
		if (nodes || !--tries)
			break;
		resume_all(run);
		usleep_range(500, 1000);
	}
	return nodes;
}

static int remove_with_nodes(struct stress_run *run, unsigned int cpu)
{
	unsigned int nodes = halt_with_nodes_of(run, cpu);
	int ret = remove_cpu(cpu);

	if (!ret)
		run->migrations.nodes_left += nodes;
	resume_all(run);
	return ret;
}

static bool take_cpu_down(struct stress_run *run, unsigned int cpu)
{
	int ret;

	/* If another agent took it down, it stays down. */
	if (!cpu_online(cpu))
		return false;
	if (run->params.lock->nodes_of) {
		ret = remove_with_nodes(run, cpu);
	} else {
		stress_interrupts_stop(run, cpu);
		ret = remove_cpu(cpu);
	}
	if (!ret)
		return true;
	pr_err_ratelimited("hotplug_ms: CPU %u does not go offline (%d)\n", cpu, ret);
	if (!run->params.lock->nodes_of)
		stress_interrupts_start(run, cpu);
	return false;
}

/*
 * The number of nodes of an offline CPU that the others do not reclaim. Its threads run elsewhere
 * and allocate none of them. How soon the others skip the nodes depends on how much their CPUs
 * run, and whether they contend, so attempts that enqueue are counted, not time; a run that ends
 * earlier shows nothing.
 */
static unsigned int unreclaimed_nodes_of(struct stress_run *run, unsigned int cpu)
{
	u64 enough = run->params.lock->enqueued() + KEPT_ENQUEUED;
	unsigned int nodes;

	while ((nodes = nodes_of(run, cpu))) {
		if (run->params.lock->enqueued() >= enough)
			break;
		if (!sleep_ms(run, 10))
			return 0;
	}
	return nodes;
}

static void bring_cpu_up(struct stress_run *run, unsigned int cpu)
{
	int ret;

	if (run->params.lock->nodes_of)
		run->migrations.nodes_kept += unreclaimed_nodes_of(run, cpu);
	ret = add_cpu(cpu);
	if (ret < 0) {
		pr_err("hotplug_ms: CPU %u does not come online (%d)\n", cpu, ret);
		run->cpu_lost = true;
		return;
	}
	mutex_lock(&run->binding);
	rebind_threads(run);
	mutex_unlock(&run->binding);
	stress_interrupts_start(run, cpu);
	WRITE_ONCE(run->migrations.hotplugs, run->migrations.hotplugs + 1);
}

/* A CPU is offline half of the time. */
static int hotplugger(void *data)
{
	struct stress_run *run = data;
	const struct cpumask *cpus = &run->params.cpus;
	unsigned int cpu = cpumask_first(cpus);
	u64 here_ms = DIV_ROUND_UP_ULL(run->params.hotplug_ms, 2);
	u64 away_ms = run->params.hotplug_ms - here_ms;

	while (sleep_ms(run, here_ms)) {
		cpu = next_hotpluggable(cpu, cpus);
		if (!take_cpu_down(run, cpu))
			continue;
		sleep_ms(run, away_ms);
		bring_cpu_up(run, cpu);
	}
	return 0;
}

/* The two threads */

static int create(struct task_struct **task, int (*work)(void *data),
		  struct stress_run *run, const char *name)
{
	struct task_struct *created = kthread_create(work, run, "%s", name);

	if (IS_ERR(created))
		return PTR_ERR(created);
	get_task_struct(created);
	*task = created;
	return 0;
}

/* Return: 0 or -ENOMEM. */
static int count_nodes_before(struct stress_run *run)
{
	unsigned int cpu;

	run->nodes_before = kvcalloc(nr_cpu_ids, sizeof(*run->nodes_before), STRESS_GFP);
	if (!run->nodes_before)
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		run->nodes_before[cpu] = run->params.lock->nodes_of(cpu);
	return 0;
}

/* Return: 0, or a negative errno; stress_migrate_stop() is due in either case. */
int stress_migrate_create(struct stress_run *run)
{
	int ret = 0;

	if (run->params.hotplug_ms && run->params.lock->nodes_of)
		ret = count_nodes_before(run);
	if (!ret && run->params.shuffle_ms)
		ret = create(&run->shuffler, shuffler, run, "nbqshuffle");
	if (!ret && run->params.hotplug_ms)
		ret = create(&run->hotplugger, hotplugger, run, "nbqhotplug");
	return ret;
}

void stress_migrate_start(struct stress_run *run)
{
	if (run->shuffler)
		wake_up_process(run->shuffler);
	if (run->hotplugger)
		wake_up_process(run->hotplugger);
}

static void stop(struct task_struct **task)
{
	if (!*task)
		return;
	kthread_stop(*task);
	put_task_struct(*task);
	*task = NULL;
}

/* End both, with all CPUs online again. The run may be incomplete. */
void stress_migrate_stop(struct stress_run *run)
{
	stop(&run->hotplugger);
	stop(&run->shuffler);
}
