// SPDX-License-Identifier: GPL-2.0
/*
 * Waits once in each queue, for a test that counts queue nodes: what the last waiters have
 * abandoned stays until the next one reclaims it. On one CPU no context has waited.
 */
#include <linux/cpumask.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <nbqlock/nbqlock.h>

/* A queue is chosen by a hash of the lock's address; so many have locks in each. */
#define LOCKS		1024
/* Long enough to enqueue. */
#define PATIENCE	(500 * NSEC_PER_USEC)

/* An interrupt, for which a holder waits that has interrupts on: no order of locks is meant. */
static void wait_for_lock(void *lock)
{
	lockdep_off();
	if (!nbq_spin_lock_timeout(lock, PATIENCE))
		nbq_spin_unlock(lock);
	lockdep_on();
}

static int __init nbq_sweep_init(void)
{
	struct nbq_spin *locks = kvcalloc(LOCKS, sizeof(*locks), GFP_KERNEL);
	unsigned int i, other;
	int ret = 0;

	if (!locks)
		return -ENOMEM;
	for (i = 0; i < LOCKS && !ret; i++) {
		nbq_spin_init(&locks[i]);
		nbq_spin_lock(&locks[i]);
		other = cpumask_any_but(cpu_online_mask, smp_processor_id());
		if (other < nr_cpu_ids)
			ret = smp_call_function_single(other, wait_for_lock, &locks[i], true);
		nbq_spin_unlock(&locks[i]);
	}
	kvfree(locks);
	return ret;
}
module_init(nbq_sweep_init);

static void __exit nbq_sweep_exit(void)
{
}
module_exit(nbq_sweep_exit);

MODULE_DESCRIPTION("Waits once in each queue of nbq_spin");
MODULE_LICENSE("GPL");
