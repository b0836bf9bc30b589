// SPDX-License-Identifier: GPL-2.0
/* Every wait has an end, every section is short, and no sample is lost. */
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

#include <nbqlock/nbqlock.h>

#include "timer.h"

#define PATIENCE_NS		(200 * NSEC_PER_USEC)
#define FLUSH_PATIENCE_NS	(50 * NSEC_PER_MSEC)
#define FLUSH_PARTS		200

static DEFINE_NBQ_SPIN(lock);	/* protects samples and flushed */

static unsigned int samples, flushed;
module_param(samples, uint, 0444);
module_param(flushed, uint, 0444);

/* All interrupts, and those whose sample is not in samples yet: of the interrupt alone. */
static unsigned int interrupts, late;
module_param(interrupts, uint, 0444);
module_param(late, uint, 0444);

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

	interrupts++;
	late++;
	ret = nbq_spin_lock_timeout(&lock, PATIENCE_NS);
	if (ret) {
		gave_up(ret);
	} else {
		samples += late;
		late = 0;
		nbq_spin_unlock(&lock);
	}
	longest_us = max_t(unsigned int, longest_us, ktime_us_delta(ktime_get(), begin));
}

static int flush(const char *value, const struct kernel_param *param)
{
	unsigned int part;
	unsigned long flags;
	int ret;

	for (part = 0; part < FLUSH_PARTS; part++) {
		ret = nbq_spin_lock_timeout_irqsave(&lock, FLUSH_PATIENCE_NS, flags);
		if (ret)
			return ret;
		write_to_device(20000 / FLUSH_PARTS);
		flushed = samples;
		nbq_spin_unlock_irqrestore(&lock, flags);
	}
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

MODULE_DESCRIPTION("Tutorial: bounded waits, short sections");
MODULE_LICENSE("GPL");
