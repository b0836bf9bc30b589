/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The device of the tutorial: it interrupts CPU 0 every millisecond, which calls sample(), and
 * is slow to write to.
 */
#ifndef _TUTORIAL_TIMER_H
#define _TUTORIAL_TIMER_H

#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/processor.h>
#include <linux/smp.h>
#include <linux/version.h>

/* In a hard interrupt. */
static void sample(void);

static struct hrtimer timer;

static enum hrtimer_restart device_interrupt(struct hrtimer *fired)
{
	sample();
	hrtimer_forward_now(fired, ms_to_ktime(1));
	return HRTIMER_RESTART;
}

static void start_here(void *unused)
{
#if KERNEL_VERSION(6, 13, 0) <= LINUX_VERSION_CODE
	hrtimer_setup(&timer, device_interrupt, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
#else
	hrtimer_init(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	timer.function = device_interrupt;
#endif
	hrtimer_start(&timer, ms_to_ktime(1), HRTIMER_MODE_REL_PINNED_HARD);
}

static void write_to_device(unsigned int us)
{
	ktime_t end = ktime_add_us(ktime_get(), us);

	while (ktime_before(ktime_get(), end))
		cpu_relax();
}

static int start_interrupts(void)
{
	return smp_call_function_single(0, start_here, NULL, true);
}

static void stop_interrupts(void)
{
	hrtimer_cancel(&timer);
}

#endif
