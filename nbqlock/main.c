// SPDX-License-Identifier: GPL-2.0
/*
 * Starts the parts of the module, and stops them in reverse order.
 */
#include <linux/init.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

#include "internal.h"

module_param_named(deadlock_checks, nbq_deadlock_checks, bool, 0644);
MODULE_PARM_DESC(deadlock_checks,
		 "answer waits that cannot end with -EDEADLK (default Y)");

static int __init nbq_init(void)
{
	int ret = nbq_pools_start();

	/* Built in, the locks work all the same, and so do their counters. */
	if (ret && !NBQ_STATIC_NODES)
		return ret;
	nbq_panic_start();
	nbq_debugfs_start();
	return ret;
}

#ifdef MODULE
static void __exit nbq_exit(void)
{
	nbq_debugfs_stop();
	nbq_panic_stop();
	nbq_pools_stop();
}
module_exit(nbq_exit);
#endif

/* Built in, locks can be used before that: see nbq_pool_set_up(). */
subsys_initcall(nbq_init);

MODULE_AUTHOR("Seed c3c653f5 maintainers <maintainers@users.noreply.a-seed-c3c653f5.example>");
MODULE_DESCRIPTION("Queue-based spinlocks with non-blocking timeout");
MODULE_LICENSE("GPL");
MODULE_VERSION("2.0.0");
