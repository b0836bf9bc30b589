// SPDX-License-Identifier: GPL-2.0
/*
 * Not coming back: with preemption off, which RCU and the watchdog of CPUs mind,
 * and asleep, which the watchdog of tasks minds. For long enough if these are
 * set to their least: rcu_cpu_stall_timeout=3, watchdog_thresh=1,
 * hung_task_timeout_secs=1.
 */
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/preempt.h>
#include <linux/processor.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "faults.h"

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
	return faults_in_thread(spin_for_long, "faults_spin");
}

static int sleep_in_thread(void)
{
	return faults_in_thread(sleep_for_long, "faults_sleep");
}

const struct fault stall_faults[] = {
	{ "rcu_stall", spin_in_thread },
	{ "soft_lockup", spin_in_thread },
	{ "hung_task", sleep_in_thread },
	{ }
};
