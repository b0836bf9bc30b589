// SPDX-License-Identifier: GPL-2.0
/* The interrupt says which context it has waited for in vain. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/printk.h>

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

static void gave_up(int ret, const struct nbq_timeout *timeout)
{
	pr_info_ratelimited("error %d after %llu us: held by CPU %d, %s\n", ret,
			    div_u64(timeout->waited_ns, NSEC_PER_USEC), timeout->holder_cpu,
			    timeout->holder_level == NBQ_TASK ? "task" : "interrupt");
	if (ret == -EDEADLK)
		deadlocks++;
	else
		timeouts++;
}

static void sample(void)
{
	ktime_t begin = ktime_get();
	struct nbq_timeout timeout;
	int ret;

	ret = nbq_spin_lock_timeout_info(&lock, PATIENCE_NS, &timeout);
	if (ret) {
		gave_up(ret, &timeout);
	} else {
		samples++;
		nbq_spin_unlock(&lock);
	}
	longest_us = max_t(unsigned int, longest_us, ktime_us_delta(ktime_get(), begin));
}

static int flush(const char *value, const struct kernel_param *param)
{
	nbq_spin_lock(&lock);
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

MODULE_DESCRIPTION("Tutorial: a timeout that names the holder");
MODULE_LICENSE("GPL");
