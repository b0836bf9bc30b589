// SPDX-License-Identifier: GPL-2.0
/* As sampler_timeout.c, with two mistakes. It is not built. */
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

#include <nbqlock/nbqlock.h>

#include "timer.h"

#define PATIENCE_NS	(100 * NSEC_PER_USEC)

static DEFINE_NBQ_SPIN(lock);	/* protects samples and flushed */

static unsigned int samples, flushed;
module_param(samples, uint, 0444);
module_param(flushed, uint, 0444);

/* Samples that are lost: the lock was held for too long, or below the interrupt. */
static unsigned int timeouts, deadlocks;
module_param(timeouts, uint, 0444);
module_param(deadlocks, uint, 0444);

static unsigned int longest_us;		/* that the interrupt took */
module_param(longest_us, uint, 0444);

static void gave_up(int ret)
{
	if (ret == -EDEADLK)
		deadlocks++;
	else
		timeouts++;
}

static void sample(void)
{
	ktime_t begin = ktime_get();
	int ret;

	ret = nbq_spin_lock_timeout(&lock, PATIENCE_NS);
	if (!ret) {
		gave_up(ret);
	} else {
		samples++;
		nbq_spin_unlock(&lock);
	}
	longest_us = max_t(unsigned int, longest_us, ktime_us_delta(ktime_get(), begin));
}

static int flush(const char *value, const struct kernel_param *param)
{
	nbq_spin_lock(&lock);
	if (flushed == samples)
		return -ENODATA;
	write_to_device(20000);
	flushed = samples;
	nbq_spin_unlock(&lock);
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

MODULE_DESCRIPTION("Tutorial: a lock with timeout");
MODULE_LICENSE("GPL");
