/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Operations of nbqlock for the kernel's locktorture.c, which includes this in front of its
 * table of operations (tools/testbed/torture.py).
 *
 * For each lock type: the plain operations, _irq (by _irqsave, as locktorture's own), timed,
 * timed_irq, and try. An operation that can fail is repeated until it succeeds; failures that
 * it may not have count as failures of the test. Nested locks are of the same type, and timed
 * where the main lock is.
 */
#ifndef _NBQ_TORTURE_OPS_H
#define _NBQ_TORTURE_OPS_H

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

/*
 * Its memory goes with the module: destroy, and see what the nodes have become of. locktorture
 * does not print the statistics of CPU hotplug, as rcutorture does.
 */
static void nbq_torture_report(void)
{
	unsigned int cpu, nodes = 0;

	for_each_possible_cpu(cpu)
		nodes += nbq_cpu_nodes_in_use(cpu);
	if (nodes)
		pr_alert("!!! nbqlock: %u queue nodes are still in use\n", nodes);
	pr_alert("nbqlock: %ld attempts failed, %u nodes in use\n",
		 atomic_long_read(&nbq_torture_timeouts), nodes);
	pr_alert("nbqlock: %u of %u CPUs online, ", num_online_cpus(), num_possible_cpus());
	torture_onoff_stats();
}

/* The holds of locktorture's spinlocks: up to long_hold ms, and mostly none. */
#define NBQ_TORTURE_OPS(NAME, OPS, ACQUIRE, RELEASE, NEST)		\
static struct lock_torture_ops torture_##OPS##_ops = {			\
	.init		= torture_##NAME##_init,			\
	.exit		= torture_##NAME##_exit,			\
	.nested_lock	= torture_##NAME##_##NEST,			\
	.writelock	= torture_##NAME##_##ACQUIRE,			\
	.write_delay	= torture_spin_lock_write_delay,		\
	.task_boost	= torture_rt_boost,				\
	.writeunlock	= torture_##NAME##_##RELEASE,			\
	.nested_unlock	= torture_##NAME##_unnest,			\
	.name		= #OPS						\
}

/* The operations of nbq_X. */
#define NBQ_TORTURE_TYPE(NAME, X)					\
static struct nbq_##X torture_##NAME##_lock;				\
static struct nbq_##X torture_##NAME##_nested[MAX_NESTED_LOCKS];	\
static struct lock_class_key torture_##NAME##_nested_keys[MAX_NESTED_LOCKS]; \
									\
static void torture_##NAME##_init(void)					\
{									\
	int i;								\
									\
	nbq_##X##_init(&torture_##NAME##_lock);				\
	for (i = 0; i < MAX_NESTED_LOCKS; i++) {			\
		nbq_##X##_init(&torture_##NAME##_nested[i]);		\
		lockdep_set_class(&torture_##NAME##_nested[i], &torture_##NAME##_nested_keys[i]); \
	}								\
}									\
									\
static void torture_##NAME##_exit(void)					\
{									\
	int i, err = nbq_##X##_destroy(&torture_##NAME##_lock);		\
									\
	for (i = 0; i < MAX_NESTED_LOCKS; i++)				\
		err = nbq_##X##_destroy(&torture_##NAME##_nested[i]) ?: err; \
	if (err)							\
		pr_alert("!!! nbqlock: destroy failed with %d\n", err);	\
	nbq_torture_report();						\
}									\
									\
static int torture_##NAME##_nest(int tid, u32 lockset)			\
{									\
	int i;								\
									\
	for (i = 0; i < nested_locks; i++)				\
		if (lockset & (1 << i))					\
			nbq_##X##_lock(&torture_##NAME##_nested[i]);	\
	return 0;							\
}									\
									\
static int torture_##NAME##_nest_timed(int tid, u32 lockset)		\
{									\
	int i, err;							\
									\
	for (i = 0; i < nested_locks; i++) {				\
		if (!(lockset & (1 << i)))				\
			continue;					\
		do {							\
			err = nbq_##X##_lock_timeout(&torture_##NAME##_nested[i], \
						     NBQ_TORTURE_PATIENCE); \
		} while (err && nbq_torture_failed(tid, err));		\
	}								\
	return 0;							\
}									\
									\
static void torture_##NAME##_unnest(int tid, u32 lockset)		\
{									\
	int i;								\
									\
	for (i = nested_locks - 1; i >= 0; i--)				\
		if (lockset & (1 << i))					\
			nbq_##X##_unlock(&torture_##NAME##_nested[i]);	\
}									\
									\
static int torture_##NAME##_acquire(int tid)				\
{									\
	nbq_##X##_lock(&torture_##NAME##_lock);				\
	return 0;							\
}									\
									\
static int torture_##NAME##_acquire_timed(int tid)			\
{									\
	int err;							\
									\
	do {								\
		err = nbq_##X##_lock_timeout(&torture_##NAME##_lock, NBQ_TORTURE_PATIENCE); \
	} while (err && nbq_torture_failed(tid, err));			\
	return 0;							\
}									\
									\
static int torture_##NAME##_acquire_try(int tid)			\
{									\
	int err;							\
									\
	do {								\
		err = nbq_##X##_trylock(&torture_##NAME##_lock) ? 0 : -EBUSY; \
	} while (err && nbq_torture_failed(tid, err));			\
	return 0;							\
}									\
									\
static void torture_##NAME##_release(int tid)				\
{									\
	nbq_##X##_unlock(&torture_##NAME##_lock);			\
}									\
									\
static int torture_##NAME##_acquire_irq(int tid)			\
{									\
	unsigned long flags;						\
									\
	nbq_##X##_lock_irqsave(&torture_##NAME##_lock, flags);		\
	cxt.cur_ops->flags = flags;					\
	return 0;							\
}									\
									\
static int torture_##NAME##_acquire_timed_irq(int tid)			\
{									\
	unsigned long flags;						\
	int err;							\
									\
	do {								\
		err = nbq_##X##_lock_timeout_irqsave(&torture_##NAME##_lock, \
						     NBQ_TORTURE_PATIENCE, flags); \
	} while (err && nbq_torture_failed(tid, err));			\
	cxt.cur_ops->flags = flags;					\
	return 0;							\
}									\
									\
static void torture_##NAME##_release_irq(int tid)			\
{									\
	nbq_##X##_unlock_irqrestore(&torture_##NAME##_lock, cxt.cur_ops->flags); \
}									\
									\
NBQ_TORTURE_OPS(NAME, NAME, acquire, release, nest);			\
NBQ_TORTURE_OPS(NAME, NAME##_irq, acquire_irq, release_irq, nest);	\
NBQ_TORTURE_OPS(NAME, NAME##_timed, acquire_timed, release, nest_timed); \
NBQ_TORTURE_OPS(NAME, NAME##_timed_irq, acquire_timed_irq, release_irq, nest_timed); \
NBQ_TORTURE_OPS(NAME, NAME##_try, acquire_try, release, nest_timed)

NBQ_TORTURE_TYPE(nbq_spin, spin);
NBQ_TORTURE_TYPE(clh_nb, clh);
NBQ_TORTURE_TYPE(mcs_nb, mcs);
NBQ_TORTURE_TYPE(swap_nb, swap);

#endif
