// SPDX-License-Identifier: GPL-2.0
/*
 * nbqlock_stress: contending threads, and a verdict on the lock. Driven through debugfs
 * nbqlock_stress/.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/module.h>

#include "driver.h"

static struct dentry *stress_dir;

static int __init stress_init(void)
{
	int ret = stress_ops_start();

	if (ret)
		return ret;
	stress_busy_calibrate();
	stress_dir = debugfs_create_dir("nbqlock_stress", NULL);
	stress_params_start(stress_dir);
	stress_control_start(stress_dir);
	return 0;
}

/*
 * Wait until the file is closed whose reference to this module the writer of "run" had dropped
 * (see run_write() in control.c).
 *
 * Removing the debugfs files has waited for the calls into them, so the writer has taken its
 * reference again; but its file is still open, and closing it reads our file_operations.
 * debugfs drops the reference after that, as its last step (fops_put() in
 * full_proxy_release()), and a module on its way out gives no new one. A refcount of -1 is
 * "unloading, and no references". (A forced unload of a module in use never gets there: a
 * hang instead of a crash.)
 */
static void wait_for_open_files(void)
{
#if defined(MODULE) && defined(CONFIG_MODULE_UNLOAD)
	while (module_refcount(THIS_MODULE) != -1)
		msleep(20);
#endif
}

static void __exit stress_exit(void)
{
	stress_control_stop();
	debugfs_remove_recursive(stress_dir);
	wait_for_open_files();
	stress_ops_stop();
}

module_init(stress_init);
module_exit(stress_exit);

MODULE_AUTHOR("Seed c3c653f5 maintainers <maintainers@users.noreply.a-seed-c3c653f5.example>");
MODULE_DESCRIPTION("Stress driver for nbqlock");
MODULE_LICENSE("GPL");
MODULE_VERSION("2.0.0");
