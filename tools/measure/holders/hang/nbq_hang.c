// SPDX-License-Identifier: GPL-2.0
/*
 * Hangs CPUs 1 to 12 in locks, for a dump. CPU 0 goes on.
 *
 *	CPU 1		holds "held" and spins
 *	CPU 2		waits for it without end
 *	CPU 3		has waited behind CPU 2, and has given up
 *	CPU 4		waits behind CPU 3, with a patience; an interrupt has stopped it before that
 *			gave up
 *	CPU 5, 6	AB-BA
 *	CPU 7 to 9	a cycle of three locks
 *	CPU 10		an interrupt above the holder of its lock
 *	CPU 11		holds "slept", and sleeps; the CPU is idle
 *	CPU 12		holds "halted", and has stopped with interrupts off
 *
 * All threads are on their CPUs before the first one hangs, and from then on CPU 0 neither sleeps
 * nor runs anything else: that could wait for a CPU that has stopped.
 */
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/irqflags.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/processor.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#ifdef CONFIG_NBQ_SPINLOCKS
#include <linux/spinlock_timeout.h>
#endif

#include <nbqlock/counters.h>
#include <nbqlock/nbqlock.h>

enum lock { HELD, A, B, ONE, TWO, THREE, OWN, SLEPT, HALTED, LOCKS };

/**
 * struct type - a lock type
 * @name: as in the name of its functions, nbq_X_lock()
 * @lock: acquires this lock
 * @timeout: the same with a patience
 * @nodes: the queue nodes that a holder has
 */
struct type {
	const char *name;
	void (*lock)(enum lock lock);
	int (*timeout)(enum lock lock, ktime_t patience);
	unsigned int nodes;
};

#define TYPE(X, nodes)								\
static struct nbq_##X X##_locks[LOCKS];						\
static void lock_##X(enum lock lock)						\
{										\
	nbq_##X##_lock(&X##_locks[lock]);					\
}										\
static int timeout_##X(enum lock lock, ktime_t patience)			\
{										\
	return nbq_##X##_lock_timeout(&X##_locks[lock], patience);		\
}										\
static const struct type type_##X = { #X, lock_##X, timeout_##X, nodes }

TYPE(spin, 0);
TYPE(clh, 1);
TYPE(mcs, 1);
TYPE(swap, 1);

#ifdef CONFIG_NBQ_SPINLOCKS
/* The kernel's own are the hybrid. */
static spinlock_t kernel_locks[LOCKS];

static void lock_kernel(enum lock lock)
{
	spin_lock(&kernel_locks[lock]);
}

static int timeout_kernel(enum lock lock, ktime_t patience)
{
	return spin_lock_timeout(&kernel_locks[lock], patience);
}

static const struct type type_kernel = { "kernel", lock_kernel, timeout_kernel, 0 };
#endif

static const struct type * const types[] = {
	&type_spin, &type_clh, &type_mcs, &type_swap,
#ifdef CONFIG_NBQ_SPINLOCKS
	&type_kernel,
#endif
};

static const struct type *type;

/* Of the one that gives up. */
static int seconds = 10;
module_param(seconds, int, 0644);

/* Whether waits that cannot end are given up and made again, as nbqlock's deadlock_checks says. */
static bool checks = true;
module_param(checks, bool, 0644);

#define HUNG_CPUS	12
#define LONG_PATIENCE	(3600 * NSEC_PER_SEC)

static struct task_struct *threads[HUNG_CPUS + 1];
static bool is_there[HUNG_CPUS + 1], may_go[HUNG_CPUS + 1], holds[HUNG_CPUS + 1];
static bool stopped, has_given_up;

static void spin_for_ever(void)
{
	while (true)
		cpu_relax();
}

static void set(bool *flag)
{
	/* RELEASE, pairs with the ACQUIRE in await(): what was done before. */
	smp_store_release(flag, true);
}

static void await(bool *flag)
{
	/* ACQUIRE, pairs with the RELEASE in set(). */
	while (!smp_load_acquire(flag))
		cpu_relax();
}

/* Hold a lock, and wait for another one, which that CPU holds by then. */
static void hold_and_want(enum lock held, enum lock wanted, unsigned int other)
{
	type->lock(held);
	set(&holds[raw_smp_processor_id()]);
	await(&holds[other]);
	type->lock(wanted);
}

static int hang(void *unused)
{
	unsigned int cpu = raw_smp_processor_id();

	preempt_disable();
	set(&is_there[cpu]);
	await(&may_go[cpu]);
	switch (cpu) {
	case 1:
		type->lock(HELD);
		set(&holds[cpu]);
		break;
	case 2:
		type->lock(HELD);
		break;
	case 3:
		if (type->timeout(HELD, seconds * NSEC_PER_SEC) == -ETIMEDOUT)
			set(&has_given_up);
		break;
	case 4:
		(void)!type->timeout(HELD, LONG_PATIENCE);
		break;
	case 5:
		hold_and_want(A, B, 6);
		break;
	case 6:
		hold_and_want(B, A, 5);
		break;
	case 7:
		hold_and_want(ONE, TWO, 8);
		break;
	case 8:
		hold_and_want(TWO, THREE, 9);
		break;
	case 9:
		hold_and_want(THREE, ONE, 7);
		break;
	case 10:
		type->lock(OWN);
		set(&holds[cpu]);
		break;
	case 11:
		type->lock(SLEPT);
		set_current_state(TASK_UNINTERRUPTIBLE);
		set(&holds[cpu]);
		schedule();
		break;
	case 12:
		type->lock(HALTED);
		set(&holds[cpu]);
		local_irq_disable();
		while (true)
			halt();
	}
	spin_for_ever();
	return 0;
}

static void stop(void *unused)
{
	set(&stopped);
	spin_for_ever();
}

static void lock_own(void *unused)
{
	type->lock(OWN);
}

static u64 deadlocks(void)
{
	u64 number = 0;

	return nbq_event_read("deadlocks", &number) ? 0 : number;
}

/* Let a thread go on, and wait until its CPU has a queue node. */
static void start_waiter(unsigned int cpu)
{
	set(&may_go[cpu]);
	while (!nbq_cpu_nodes_in_use(cpu))
		cpu_relax();
}

static void start_holder(unsigned int cpu)
{
	set(&may_go[cpu]);
	await(&holds[cpu]);
}

/* A deadlock is counted by each context that finds it, once; without checks, it waits on. */
static void await_interrupt(void)
{
	while (checks ? !deadlocks() : nbq_cpu_nodes_in_use(10) == type->nodes)
		cpu_relax();
}

static int hang_all(void)
{
	unsigned int cpu;

	start_holder(11);
	while (READ_ONCE(threads[11]->on_cpu))
		cpu_relax();
	start_holder(12);
	start_holder(10);
	smp_call_function_single(10, lock_own, NULL, 0);
	await_interrupt();

	for (cpu = 5; cpu <= 9; cpu++)
		start_holder(cpu);
	for (cpu = 5; cpu <= 9; cpu++) {
		while (!checks && nbq_cpu_nodes_in_use(cpu) == type->nodes)
			cpu_relax();
	}

	start_holder(1);
	start_waiter(2);
	start_waiter(3);
	start_waiter(4);
	smp_call_function_single(4, stop, NULL, 0);
	await(&stopped);
	if (READ_ONCE(has_given_up))
		return -ETIME;
	await(&has_given_up);
	return 0;
}

static int start_threads(void)
{
	unsigned int cpu;

	for (cpu = 1; cpu <= HUNG_CPUS; cpu++) {
		threads[cpu] = kthread_create_on_cpu(hang, NULL, cpu, "nbq_hang/%u");
		if (IS_ERR(threads[cpu]))
			return PTR_ERR(threads[cpu]);
	}
	for (cpu = 1; cpu <= HUNG_CPUS; cpu++) {
		wake_up_process(threads[cpu]);
		while (!READ_ONCE(is_there[cpu]))
			cond_resched();
	}
	return 0;
}

static int hang_with(const struct type *wanted)
{
	int ret;

	type = wanted;
	ret = set_cpus_allowed_ptr(current, cpumask_of(0)) ?: start_threads();
	if (ret)
		return ret;
	preempt_disable();
	ret = hang_all();
	preempt_enable();
	return ret;
}

/* The name of a lock type is written here. -ETIME: the one that gives up did so too early. */
static int set_type(const char *text, const struct kernel_param *param)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		if (sysfs_streq(text, types[i]->name))
			return hang_with(types[i]);
	}
	return -EINVAL;
}

static const struct kernel_param_ops hang_ops = { .set = set_type };
module_param_cb(hang, &hang_ops, NULL, 0200);

MODULE_DESCRIPTION("Hangs CPUs in locks, for a dump");
MODULE_LICENSE("GPL");
