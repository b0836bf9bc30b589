// SPDX-License-Identifier: GPL-2.0
/*
 * What the kernel itself knows of holders that never run again: a panic stops all CPUs but the one
 * that panics, then it calls its notifiers. From then on attempts get -EOWNERDEAD (wait_holder.c).
 *
 * If a crash kernel is loaded, and the parameter crash_kexec_post_notifiers is not set, the crash
 * kernel starts before that: no notifier is called, and no attempt gets -EOWNERDEAD.
 */
#include <linux/limits.h>
#include <linux/notifier.h>
#include <linux/panic_notifier.h>

#include "internal.h"

static int cpus_have_stopped(struct notifier_block *block, unsigned long event, void *message)
{
	nbq_cpus_stopped = true;
	return NOTIFY_DONE;
}

/*
 * Before the notifiers that use locks, but for those of this priority that were registered earlier:
 * the chain has no place before them.
 */
static struct notifier_block panic_block = {
	.notifier_call = cpus_have_stopped,
	.priority = INT_MAX,
};

void nbq_panic_start(void)
{
	atomic_notifier_chain_register(&panic_notifier_list, &panic_block);
}

#ifdef MODULE
void nbq_panic_stop(void)
{
	atomic_notifier_chain_unregister(&panic_notifier_list, &panic_block);
}
#endif
