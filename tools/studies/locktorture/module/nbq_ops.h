/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Operations of nbq_spin for the kernel's locktorture.c, in front of its table of operations;
 * steps.py makes those of the other locks from them, tools/ship/upstream the patch for a kernel
 * tree.
 *
 * The plain operations, _irq (by _irqsave, as locktorture's own), timed, timed_irq, and try. An
 * operation that can fail is repeated until it succeeds; failures that it may not have count as
 * failures of the test. Nested locks are of the same type, and timed where the main lock is.
 */
#include <nbqlock/counters.h>
#include <nbqlock/nbqlock.h>

/* Below the longer holds of locktorture, so that attempts time out. */
#define NBQ_TORTURE_PATIENCE	(20 * NSEC_PER_USEC)

static atomic_long_t nbq_torture_timeouts;

/* An attempt has failed. Return: it is to be repeated. */
static bool nbq_torture_failed(int tid, int err)
{
	if (err != -ETIMEDOUT && err != -EBUSY && err != -ENOMEM) {
		pr_alert("!!! nbqlock: an attempt failed with %d\n", err);
		cxt.lwsa[tid].n_lock_fail++;
	}
	atomic_long_inc(&nbq_torture_timeouts);
	cpu_relax();
	return true;
}

/* When the test began: what the places of an earlier one keep. */
static unsigned int nbq_torture_nodes_before;

static unsigned int nbq_torture_nodes(void)
{
	unsigned int cpu, nodes = 0;

	for_each_possible_cpu(cpu)
		nodes += nbq_cpu_nodes_in_use(cpu);
	return nodes;
}

/*
 * See what has become of the nodes, of which places may keep so many more. locktorture does not
 * print the statistics of CPU hotplug, as rcutorture does.
 */
static void nbq_torture_report(unsigned int places)
{
	unsigned int nodes = nbq_torture_nodes();

	if (nodes > nbq_torture_nodes_before + places)
		pr_alert("!!! nbqlock: %u queue nodes are still in use\n", nodes);
	pr_alert("nbqlock: %ld attempts failed, %u nodes in use\n",
		 atomic_long_read(&nbq_torture_timeouts), nodes);
	pr_alert("nbqlock: %u of %u CPUs online, ", num_online_cpus(), num_possible_cpus());
	torture_onoff_stats();
}

/* The operations of nbq_spin */

static struct nbq_spin torture_nbq_spin_lock;
static struct nbq_spin torture_nbq_spin_nested[MAX_NESTED_LOCKS];
static struct lock_class_key torture_nbq_spin_nested_keys[MAX_NESTED_LOCKS];

static void torture_nbq_spin_init(void)
{
	int i;

	nbq_torture_nodes_before = nbq_torture_nodes();
	nbq_spin_init(&torture_nbq_spin_lock);
	for (i = 0; i < MAX_NESTED_LOCKS; i++) {
		nbq_spin_init(&torture_nbq_spin_nested[i]);
		lockdep_set_class(&torture_nbq_spin_nested[i], &torture_nbq_spin_nested_keys[i]);
	}
}

/* At each lock: one place for each CPU, and the node of one acting head. */
static void torture_nbq_spin_exit(void)
{
	nbq_torture_report((num_possible_cpus() + 1) * (1 + nested_locks));
}

static int torture_nbq_spin_nest(int tid, u32 lockset)
{
	int i;

	for (i = 0; i < nested_locks; i++)
		if (lockset & (1 << i))
			nbq_spin_lock(&torture_nbq_spin_nested[i]);
	return 0;
}

static int torture_nbq_spin_nest_timed(int tid, u32 lockset)
{
	int i, err;

	for (i = 0; i < nested_locks; i++) {
		if (!(lockset & (1 << i)))
			continue;
		do {
			err = nbq_spin_lock_timeout(&torture_nbq_spin_nested[i],
						    NBQ_TORTURE_PATIENCE);
		} while (err && nbq_torture_failed(tid, err));
	}
	return 0;
}

static void torture_nbq_spin_unnest(int tid, u32 lockset)
{
	int i;

	for (i = nested_locks - 1; i >= 0; i--)
		if (lockset & (1 << i))
			nbq_spin_unlock(&torture_nbq_spin_nested[i]);
}

static int torture_nbq_spin_acquire(int tid)
{
	nbq_spin_lock(&torture_nbq_spin_lock);
	return 0;
}

static int torture_nbq_spin_acquire_timed(int tid)
{
	int err;

	do {
		err = nbq_spin_lock_timeout(&torture_nbq_spin_lock, NBQ_TORTURE_PATIENCE);
	} while (err && nbq_torture_failed(tid, err));
	return 0;
}

static int torture_nbq_spin_acquire_try(int tid)
{
	int err;

	do {
		err = nbq_spin_trylock(&torture_nbq_spin_lock) ? 0 : -EBUSY;
	} while (err && nbq_torture_failed(tid, err));
	return 0;
}

static void torture_nbq_spin_release(int tid)
{
	nbq_spin_unlock(&torture_nbq_spin_lock);
}

static int torture_nbq_spin_acquire_irq(int tid)
{
	unsigned long flags;

	nbq_spin_lock_irqsave(&torture_nbq_spin_lock, flags);
	cxt.cur_ops->flags = flags;
	return 0;
}

static int torture_nbq_spin_acquire_timed_irq(int tid)
{
	unsigned long flags;
	int err;

	do {
		err = nbq_spin_lock_timeout_irqsave(&torture_nbq_spin_lock,
						    NBQ_TORTURE_PATIENCE, flags);
	} while (err && nbq_torture_failed(tid, err));
	cxt.cur_ops->flags = flags;
	return 0;
}

static void torture_nbq_spin_release_irq(int tid)
{
	nbq_spin_unlock_irqrestore(&torture_nbq_spin_lock, cxt.cur_ops->flags);
}

static struct lock_torture_ops torture_nbq_spin_ops = {
	.init		= torture_nbq_spin_init,
	.exit		= torture_nbq_spin_exit,
	.nested_lock	= torture_nbq_spin_nest,
	.writelock	= torture_nbq_spin_acquire,
	.write_delay	= torture_spin_lock_write_delay,
	.task_boost	= torture_rt_boost,
	.writeunlock	= torture_nbq_spin_release,
	.nested_unlock	= torture_nbq_spin_unnest,
	.name		= "nbq_spin"
};

static struct lock_torture_ops torture_nbq_spin_irq_ops = {
	.init		= torture_nbq_spin_init,
	.exit		= torture_nbq_spin_exit,
	.nested_lock	= torture_nbq_spin_nest,
	.writelock	= torture_nbq_spin_acquire_irq,
	.write_delay	= torture_spin_lock_write_delay,
	.task_boost	= torture_rt_boost,
	.writeunlock	= torture_nbq_spin_release_irq,
	.nested_unlock	= torture_nbq_spin_unnest,
	.name		= "nbq_spin_irq"
};

static struct lock_torture_ops torture_nbq_spin_timed_ops = {
	.init		= torture_nbq_spin_init,
	.exit		= torture_nbq_spin_exit,
	.nested_lock	= torture_nbq_spin_nest_timed,
	.writelock	= torture_nbq_spin_acquire_timed,
	.write_delay	= torture_spin_lock_write_delay,
	.task_boost	= torture_rt_boost,
	.writeunlock	= torture_nbq_spin_release,
	.nested_unlock	= torture_nbq_spin_unnest,
	.name		= "nbq_spin_timed"
};

static struct lock_torture_ops torture_nbq_spin_timed_irq_ops = {
	.init		= torture_nbq_spin_init,
	.exit		= torture_nbq_spin_exit,
	.nested_lock	= torture_nbq_spin_nest_timed,
	.writelock	= torture_nbq_spin_acquire_timed_irq,
	.write_delay	= torture_spin_lock_write_delay,
	.task_boost	= torture_rt_boost,
	.writeunlock	= torture_nbq_spin_release_irq,
	.nested_unlock	= torture_nbq_spin_unnest,
	.name		= "nbq_spin_timed_irq"
};

static struct lock_torture_ops torture_nbq_spin_try_ops = {
	.init		= torture_nbq_spin_init,
	.exit		= torture_nbq_spin_exit,
	.nested_lock	= torture_nbq_spin_nest_timed,
	.writelock	= torture_nbq_spin_acquire_try,
	.write_delay	= torture_spin_lock_write_delay,
	.task_boost	= torture_rt_boost,
	.writeunlock	= torture_nbq_spin_release,
	.nested_unlock	= torture_nbq_spin_unnest,
	.name		= "nbq_spin_try"
};
