// SPDX-License-Identifier: GPL-2.0
/*
 * Provokes one complaint of the kernel: that which the parameter "kind" names.
 *
 * The tests take a kernel log without complaints for a sign of health. This
 * module shows that they would see one. It stays loaded afterwards, if the
 * kernel survives.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/printk.h>
#include <linux/string.h>

#include "faults.h"

static char *kind = "";
module_param(kind, charp, 0444);
MODULE_PARM_DESC(kind, "What to provoke; an unknown name lists them all.");

static const struct fault * const tables[] = {
	memory_faults, context_faults, stall_faults, locking_faults, race_faults,
	nbqlock_faults, report_faults,
};

static const struct fault *fault_named(const char *name)
{
	const struct fault *fault;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tables); i++) {
		for (fault = tables[i]; fault->name; fault++) {
			if (!strcmp(fault->name, name))
				return fault;
		}
	}
	return NULL;
}

static void list_all(void)
{
	const struct fault *fault;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tables); i++) {
		for (fault = tables[i]; fault->name; fault++)
			pr_info("there is %s\n", fault->name);
	}
}

/* A thread's work, and who waits until the thread has gone. */
struct errand {
	int (*body)(void *data);
	struct completion done;
};

static int run_errand(void *data)
{
	struct errand *errand = data;
	int ret = errand->body(NULL);

	/* What the kernel says of a thread's end it has said by then. */
	kthread_complete_and_exit(&errand->done, ret);
}

/**
 * faults_in_thread() - Do something in a thread of its own, and wait.
 * @body: what to do, with NULL; its return value is the thread's
 * @name: the thread's
 *
 * Return: 0, or a negative errno if there can be no thread.
 */
int faults_in_thread(int (*body)(void *data), const char *name)
{
	struct errand errand = { .body = body };
	struct task_struct *thread;

	init_completion(&errand.done);
	thread = kthread_run(run_errand, &errand, "%s", name);
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	wait_for_completion(&errand.done);
	return 0;
}

static int __init faults_init(void)
{
	const struct fault *fault = fault_named(kind);

	if (!fault) {
		pr_err("kind: there is no \"%s\"\n", kind);
		list_all();
		return -EINVAL;
	}
	pr_info("provoking %s\n", kind);
	return fault->provoke();
}

static void __exit faults_exit(void)
{
}

module_init(faults_init);
module_exit(faults_exit);

MODULE_DESCRIPTION("Mistakes that a kernel complains of");
MODULE_LICENSE("GPL");
