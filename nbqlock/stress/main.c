// SPDX-License-Identifier: GPL-2.0
/*
 * nbqlock_stress: threads that fight for a lock, and a verdict on the lock.
 * Started, stopped and read through debugfs nbqlock_stress/.
 *
 * Start of the module, and the unwinding in reverse.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/init.h>
#include <linux/module.h>

#include "busy.h"
#include "stress.h"

static struct dentry *stress_dir;

static int __init stress_init(void)
{
	stress_busy_calibrate();
	stress_dir = debugfs_create_dir("nbqlock_stress", NULL);
	stress_knobs_start(stress_dir);
	stress_control_start(stress_dir);
	return 0;
}

/*
 * Wait until the file is closed whose reference to this module the writer of
 * "run" had given up (see run_write() in control.c).
 *
 * Removing the debugfs files has waited for the calls into them, so the writer
 * has taken its reference back; but its file is still open, and closing it
 * reads our file_operations. debugfs drops the reference after that, as its
 * last step (fops_put() in full_proxy_release()), and nobody gets a new one
 * from a module on its way out. A refcount of -1 is "unloading, and no
 * references". (A forced unload of a module in use does not get there: this
 * waits for ever rather than let the kernel crash.)
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
}

module_init(stress_init);
module_exit(stress_exit);

MODULE_AUTHOR("Seed c3c653f5 maintainers <maintainers@users.noreply.a-seed-c3c653f5.example>");
MODULE_DESCRIPTION("Stress driver for nbqlock");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1.0");
