// SPDX-License-Identifier: GPL-2.0
/* Counts samples in an interrupt. A task flushes them to a slow device, under the same lock. */
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/spinlock.h>

#include "timer.h"

static DEFINE_RAW_SPINLOCK(lock);	/* protects samples and flushed */

static unsigned int samples, flushed;
module_param(samples, uint, 0444);
module_param(flushed, uint, 0444);

static unsigned int longest_us;		/* that the interrupt took */
module_param(longest_us, uint, 0444);

static void sample(void)
{
	ktime_t begin = ktime_get();

	raw_spin_lock(&lock);
	samples++;
	raw_spin_unlock(&lock);
	longest_us = max_t(unsigned int, longest_us, ktime_us_delta(ktime_get(), begin));
}

static int flush(const char *value, const struct kernel_param *param)
{
	raw_spin_lock(&lock);
	write_to_device(20000);
	flushed = samples;
	raw_spin_unlock(&lock);
	return 0;
}

static const struct kernel_param_ops flush_ops = { .set = flush };
module_param_cb(flush, &flush_ops, NULL, 0200);

static int __init sampler_init(void)
{
	return start_interrupts();
}

static void __exit sampler_exit(void)
{
	stop_interrupts();
}

module_init(sampler_init);
module_exit(sampler_exit);

MODULE_DESCRIPTION("Tutorial: a raw_spinlock_t");
MODULE_LICENSE("GPL");
