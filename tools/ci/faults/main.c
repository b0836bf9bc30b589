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

static const struct plant * const tables[] = {
	memory_plants, context_plants, stall_plants, locking_plants, race_plants,
	lockdep_plants, report_plants,
};

static const struct plant *plant_named(const char *name)
{
	const struct plant *plant;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tables); i++) {
		for (plant = tables[i]; plant->name; plant++) {
			if (!strcmp(plant->name, name))
				return plant;
		}
	}
	return NULL;
}

static void list_all(void)
{
	const struct plant *plant;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tables); i++) {
		for (plant = tables[i]; plant->name; plant++)
			pr_info("there is %s\n", plant->name);
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
	const struct plant *plant = plant_named(kind);

	if (!plant) {
		pr_err("kind: there is no \"%s\"\n", kind);
		list_all();
		return -EINVAL;
	}
	pr_info("provoking %s\n", kind);
	return plant->provoke();
}

static void __exit faults_exit(void)
{
}

module_init(faults_init);
module_exit(faults_exit);

MODULE_DESCRIPTION("Mistakes that a kernel complains of");
MODULE_LICENSE("GPL");
