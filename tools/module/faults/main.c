// SPDX-License-Identifier: GPL-2.0
/*
 * Provokes one complaint of the kernel: that which the parameter "kind" names.
 *
 * The tests take a kernel log without complaints for a sign of health. This
 * module shows that they would see one. It stays loaded afterwards, if the
 * kernel survives.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bottom_half.h>
#include <linux/bug.h>
#include <linux/compiler.h>
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/processor.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "faults.h"

/* A thread's work, and who waits until the thread has gone. */
struct errand {
	int (*body)(void *data);
	struct completion done;
};

static int run_errand(void *data)
{
	struct errand *errand = data;
	int ret = errand->body(NULL);

	/* What the kernel says of a thread's end it has said by then. */
	kthread_complete_and_exit(&errand->done, ret);
}

/* Do something in a thread of its own, and wait. */
static int do_in_thread(int (*body)(void *data), const char *name)
{
	struct errand errand = { .body = body };
	struct task_struct *thread;

	init_completion(&errand.done);
	thread = kthread_run(run_errand, &errand, "%s", name);
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	wait_for_completion(&errand.done);
	return 0;
}

/* Mistakes with memory: of use, of arithmetic, of keeping */

#define OBJECT_BYTES	64
/*
 * One of them may be found in a register or on a stack, so that it looks used.
 * They are of a size and a number that the allocator's caches would hide, if it
 * had any: these remember for a while what they have given away.
 */
#define LEAKS		8

static int use_after_free(void)
{
	char *object = kmalloc(OBJECT_BYTES, GFP_KERNEL);

	if (!object)
		return -ENOMEM;
	kfree(object);
	OPTIMIZER_HIDE_VAR(object);
	READ_ONCE(*object);
	return 0;
}

static int null_pointer(void)
{
	char *object = NULL;

	OPTIMIZER_HIDE_VAR(object);
	WRITE_ONCE(*object, 1);
	return 0;
}

static int leak(void)
{
	void *object;
	int i;

	for (i = 0; i < LEAKS; i++) {
		object = kmalloc(OBJECT_BYTES, GFP_KERNEL);
		/* Else the compiler sees that it is unused. */
		barrier_data(object);
	}
	return 0;
}

/*
 * The elements besides are there, so that only the checker minds; not the first of
 * them, whose address may be taken.
 */
static int array_bounds(void)
{
	static struct {
		int few[4];
		int more[4];
	} numbers;
	int place = ARRAY_SIZE(numbers.few) + 1;

	OPTIMIZER_HIDE_VAR(place);
	WRITE_ONCE(numbers.few[place], 1);
	return 0;
}

static int refcount_underflow(void)
{
	refcount_t count = REFCOUNT_INIT(0);

	return refcount_dec_and_test(&count);
}

static int broken_list(void)
{
	LIST_HEAD(list);
	LIST_HEAD(entry);

	/* before: list <-> list   after: a neighbour that does not know of it */
	list.prev = &entry;
	OPTIMIZER_HIDE_VAR(list.prev);
	list_add_tail(&entry, &list);
	return 0;
}

/*
 * Mistakes with contexts: sleeping where that is forbidden, leaving a context
 * otherwise than it was entered. And the word by which a kernel's code complains.
 */

static int warn(void)
{
	WARN_ON(1);
	return 0;
}

/* What a lock path must not do: allocate. */
static int sleep_in_atomic(void)
{
	static DEFINE_RAW_SPINLOCK(lock);

	raw_spin_lock_irq(&lock);
	kfree(kmalloc(8, GFP_KERNEL));
	raw_spin_unlock_irq(&lock);
	return 0;
}

/* On PREEMPT_RT, a lock that sleeps below one that spins. */
static int rt_lock_in_atomic(void)
{
	static DEFINE_RAW_SPINLOCK(spins);
	static DEFINE_SPINLOCK(sleeps);

	raw_spin_lock_irq(&spins);
	spin_lock(&sleeps);
	spin_unlock(&sleeps);
	raw_spin_unlock_irq(&spins);
	return 0;
}

/* The scheduler mends the count, so there is nothing to be enabled again. */
static int schedule_in_atomic(void)
{
	if (IS_ENABLED(CONFIG_PREEMPT_COUNT))
		preempt_disable();
	else
		local_bh_disable();
	schedule();
	return 0;
}

static int preemption_left_off(void)
{
	preempt_disable();
	return 0;
}

/*
 * Not coming back: with preemption off, which RCU and the watchdog of CPUs mind,
 * and asleep, which the watchdog of tasks minds. For long enough if these are
 * set to their least: rcu_cpu_stall_timeout=3, watchdog_thresh=1,
 * hung_task_timeout_secs=1.
 */

#define STALL_SECONDS	5

static int spin_for_long(void *unused)
{
	u64 end = ktime_get_ns() + (u64)STALL_SECONDS * NSEC_PER_SEC;

	preempt_disable();
	rcu_read_lock();
	while (ktime_get_ns() < end)
		cpu_relax();
	rcu_read_unlock();
	preempt_enable();
	return 0;
}

static int sleep_for_long(void *unused)
{
	schedule_timeout_uninterruptible(STALL_SECONDS * HZ);
	return 0;
}

static int spin_in_thread(void)
{
	return do_in_thread(spin_for_long, "faults_spin");
}

static int sleep_in_thread(void)
{
	return do_in_thread(sleep_for_long, "faults_sleep");
}

/*
 * Mistakes with the kernel's own locks. nbqlock.c makes the others, with ours,
 * that lockdep reports.
 */

/* Never initialised, and without a lockdep class. */
static int without_class(void)
{
	raw_spinlock_t *lock = kzalloc(sizeof(*lock), GFP_KERNEL);

	if (!lock)
		return -ENOMEM;
	raw_spin_lock(lock);
	raw_spin_unlock(lock);
	kfree(lock);
	return 0;
}

/* Its class is known, so that lockdep has nothing to say before. */
static int overwritten(void)
{
	raw_spinlock_t lock;

	raw_spin_lock_init(&lock);
#ifdef CONFIG_DEBUG_SPINLOCK
	lock.magic = 0;
#endif
	raw_spin_lock(&lock);
	raw_spin_unlock(&lock);
	return 0;
}

/* A data race: two threads and a plain variable */

#define RACE_SECONDS	3

static int contested;

/* barrier() makes each pass an access, and is no marking. */
static int race(void *unused)
{
	while (!kthread_should_stop()) {
		contested++;
		barrier();
		cond_resched();
	}
	return 0;
}

static int race_for_a_while(void)
{
	struct task_struct *threads[2];
	int i;

	for (i = 0; i < 2; i++) {
		threads[i] = kthread_run(race, NULL, "faults_race/%d", i);
		if (IS_ERR(threads[i])) {
			if (i)
				kthread_stop(threads[0]);
			return PTR_ERR(threads[i]);
		}
	}
	schedule_timeout_uninterruptible(RACE_SECONDS * HZ);
	for (i = 0; i < 2; i++)
		kthread_stop(threads[i]);
	return 0;
}

/* Each table ends in one without a name. */
static const struct fault kernel_faults[] = {
	{ "kasan_uaf", use_after_free },
	{ "oops", null_pointer },
	{ "kmemleak", leak },
	{ "ubsan_bounds", array_bounds },
	{ "refcount", refcount_underflow },
	{ "list", broken_list },
	{ "warn", warn },
	{ "sleep_in_atomic", sleep_in_atomic },
	{ "rt_lock_in_atomic", rt_lock_in_atomic },
	{ "schedule_in_atomic", schedule_in_atomic },
	{ "preempt_leak", preemption_left_off },
	{ "rcu_stall", spin_in_thread },
	{ "soft_lockup", spin_in_thread },
	{ "hung_task", sleep_in_thread },
	{ "lockdep_no_class", without_class },
	{ "spinlock_magic", overwritten },
	{ "kcsan", race_for_a_while },
	{ }
};

static char *kind = "";
module_param(kind, charp, 0444);
MODULE_PARM_DESC(kind, "What to provoke; an unknown name lists them all.");

/* Without one of that name, all have been listed. */
static int __init faults_init(void)
{
	static const struct fault * const tables[] = { kernel_faults, nbqlock_faults };
	const struct fault *fault;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tables); i++) {
		for (fault = tables[i]; fault->name; fault++) {
			if (!strcmp(fault->name, kind)) {
				pr_info("provoking %s\n", kind);
				return fault->provoke();
			}
			pr_info("there is %s\n", fault->name);
		}
	}
	pr_err("kind: there is no \"%s\"\n", kind);
	return -EINVAL;
}

static void __exit faults_exit(void)
{
}

module_init(faults_init);
module_exit(faults_exit);

MODULE_DESCRIPTION("Mistakes that a kernel complains of");
MODULE_LICENSE("GPL");
