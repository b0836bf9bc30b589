// SPDX-License-Identifier: GPL-2.0
/*
 * Mistakes with contexts: sleeping where that is forbidden, leaving a context
 * otherwise than it was entered. And the word by which a kernel's code complains.
 */
#include <linux/bottom_half.h>
#include <linux/bug.h>
#include <linux/irqflags.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/spinlock.h>

#include "faults.h"

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

static int interrupts_left_off(void)
{
	local_irq_disable();
	return 0;
}

static int cpu_while_movable(void)
{
	return smp_processor_id() < 0;
}

const struct fault context_faults[] = {
	{ "warn", warn },
	{ "sleep_in_atomic", sleep_in_atomic },
	{ "rt_lock_in_atomic", rt_lock_in_atomic },
	{ "schedule_in_atomic", schedule_in_atomic },
	{ "preempt_leak", preemption_left_off },
	{ "irqs_leak", interrupts_left_off },
	{ "processor_id", cpu_while_movable },
	{ }
};
