// SPDX-License-Identifier: GPL-2.0
/*
 * Misuse of the locks, and a deadlock: what nbqlock itself reports (nbqlock/report.c).
 */
#include <linux/compiler.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include <nbqlock/nbqlock.h>

#include "faults.h"

#define PATIENCE	(20 * NSEC_PER_MSEC)
#define MANY		100

static DEFINE_NBQ_CLH(first_lock);
static DEFINE_NBQ_CLH(second_lock);
static DEFINE_NBQ_MCS(third_lock);

static noinline void release_what_is_not_held(struct nbq_clh *lock)
{
	nbq_clh_unlock(lock);
	barrier();	/* no tail call: this function is the caller */
}

static void release_from_elsewhere(void *unused)
{
	nbq_mcs_unlock(&third_lock);
	barrier();
}

/* Two locks of one type, then another mistake; and then one of them without end. */
static int misuse(void)
{
	unsigned int cpu, i;
	int ret;

	release_what_is_not_held(&first_lock);
	release_what_is_not_held(&second_lock);

	nbq_mcs_lock(&third_lock);
	cpu = !smp_processor_id();
	ret = smp_call_function_single(cpu, release_from_elsewhere, NULL, true);
	if (nbq_mcs_destroy(&third_lock) != -EBUSY)
		ret = -EINVAL;
	nbq_mcs_unlock(&third_lock);

	for (i = 0; i < MANY; i++)
		release_what_is_not_held(&first_lock);
	return ret;
}

static DECLARE_COMPLETION(first_is_held);
static DECLARE_COMPLETION(second_is_held);
static DECLARE_COMPLETION(over);

/* Holds the second lock, and wants the first for as long as that is a deadlock. */
static int want_the_first(void *unused)
{
	ktime_t end = ktime_get() + NSEC_PER_SEC;
	int ret;

	wait_for_completion(&first_is_held);
	nbq_clh_lock(&second_lock);
	complete(&second_is_held);
	do {
		ret = nbq_clh_lock_timeout(&first_lock, PATIENCE);
		if (!ret)
			nbq_clh_unlock(&first_lock);
	} while (ret && ktime_get() < end);
	nbq_clh_unlock(&second_lock);
	complete(&over);
	return 0;
}

/* Holds the first lock, and wants the second whatever it takes. */
static int deadlock(void)
{
	struct task_struct *thread;
	int ret;

	/* Both wait with preemption off: each has a CPU to itself. */
	ret = set_cpus_allowed_ptr(current, cpumask_of(0));
	if (ret)
		return ret;
	thread = kthread_create_on_cpu(want_the_first, NULL, 1, "want_the_first/%u");
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	wake_up_process(thread);
	nbq_clh_lock(&first_lock);
	complete(&first_is_held);
	while (!try_wait_for_completion(&second_is_held))
		cpu_relax();
	nbq_clh_lock_nested(&second_lock, SINGLE_DEPTH_NESTING);
	nbq_clh_unlock(&second_lock);
	nbq_clh_unlock(&first_lock);
	wait_for_completion(&over);
	return 0;
}

const struct fault report_faults[] = {
	{ "nbq_misuse", misuse },
	{ "nbq_deadlock", deadlock },
	{ }
};
