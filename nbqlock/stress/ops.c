// SPDX-License-Identifier: GPL-2.0
/*
 * The lock types under test: the driver's own, and those that other modules register. To add one of
 * the driver's: its operations in an ops_*.c or in papers/, a row in lock_types_list.h, and if
 * needed a member of struct stress_lock.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/compiler.h>
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "driver.h"
#include "visible.h"

static int broken_init(struct stress_lock *lock, unsigned int index)
{
	return 0;
}

static int broken_lock(struct stress_lock *lock, struct stress_waiter *me, ktime_t patience)
{
	preempt_disable();
	return 0;
}

/* Of a lock that is freed after its release, this writes to freed memory. */
static void broken_unlock(struct stress_lock *lock, struct stress_waiter *me)
{
	udelay(2);
	WRITE_ONCE(lock->taken, 0);
	preempt_enable();
}

static const struct stress_ops broken = {
	.name = "broken",
	.meaning = "no mutual exclusion between CPUs: a run on two CPUs must fail",
	.size = sizeof(struct stress_lock),
	.patience = STRESS_WAITS_FOR_EVER,
	.free_after_unlock = true,
	.init = broken_init,
	.lock = broken_lock,
	.unlock = broken_unlock,
};

/* The first one is the default. */
static const struct stress_ops * const own_types[] = {
#define STRESS_OURS(_name, X)	(&stress_##_name),
#define STRESS_KERNEL(_name)	(&stress_##_name),
#define STRESS_PAPER(_name)	(&stress_##_name),
#include "lock_types_list.h"
	&broken,
};

/* A lock type that was registered. */
struct type {
	struct list_head list;
	const struct stress_ops *ops;
	struct module *owner;	/* NULL: nothing that could be unloaded */
	bool in_use;		/* by a run, which has a reference to @owner */
};

static DEFINE_MUTEX(types_mutex);
static LIST_HEAD(types);	/* under types_mutex; the driver's own come first */

static struct type *type_named(const char *name)
{
	struct type *type;

	list_for_each_entry(type, &types, list) {
		if (!strcmp(type->ops->name, name))
			return type;
	}
	return NULL;
}

/* @ops: perhaps gone. */
static struct type *type_of(const struct stress_ops *ops)
{
	struct type *type;

	list_for_each_entry(type, &types, list) {
		if (type->ops == ops)
			return type;
	}
	return NULL;
}

#define LETTERS	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* "all" is what the tools call every lock type. */
static bool is_name(const char *name)
{
	size_t length = strnlen(name, STRESS_NAME_MAX + 1);

	return length <= STRESS_NAME_MAX && strspn(name, LETTERS) &&
	       strspn(name, LETTERS "0123456789_") == length && strcmp(name, "all");
}

/* Return: what is wrong with a lock type; NULL: nothing. */
static const char *flaw_of(const struct stress_ops *ops)
{
	if (!ops->name || !is_name(ops->name))
		return "a name is a letter, then letters, digits and _, up to 31, and not all";
	if (!ops->meaning || !*ops->meaning || strchr(ops->meaning, '\n'))
		return "its meaning is no line";
	if (!ops->size || ops->size > STRESS_LOCK_SIZE_MAX)
		return "its size is not from 1 to 4096";
	if (!ops->init)
		return "it has no init";
	if (!ops->lock)
		return "it has no lock";
	if (!ops->unlock)
		return "it has no unlock";
	if (ops->patience > STRESS_HAS_OWN_TIMEOUT)
		return "its patience is none of enum stress_patience";
	if (ops->highest >= STRESS_CONTEXTS)
		return "its highest is none of enum stress_context";
	if (ops->patience == STRESS_WAITS_FOR_EVER && ops->highest != STRESS_TASK)
		return "without a timeout, its highest can only be task";
	if (ops->nodes_of && !ops->enqueued)
		return "it has nodes_of, but no enqueued";
	return NULL;
}

/*
 * Return: 0; -EBUSY: the name is taken. -EEXIST would become the result of a module's init: the
 * kernel reserves that for a module that is loaded already, and modprobe takes it for success.
 */
static int add_type(struct type *new)
{
	int ret = 0;

	mutex_lock(&types_mutex);
	if (type_named(new->ops->name))
		ret = -EBUSY;
	else
		list_add_tail(&new->list, &types);
	mutex_unlock(&types_mutex);
	return ret;
}

/* For nbq_stress_register(). @owner: the module of the lock type, which a run holds. */
int __nbq_stress_register(const struct stress_ops *ops, struct module *owner)
{
	const char *flaw = flaw_of(ops);
	struct type *type;
	int ret;

	if (flaw) {
		pr_err("lock type \"%.*s\" is refused: %s\n", STRESS_NAME_MAX, ops->name, flaw);
		return -EINVAL;
	}
	type = kzalloc(sizeof(*type), GFP_KERNEL);
	if (!type)
		return -ENOMEM;
	type->ops = ops;
	type->owner = owner;
	ret = add_type(type);
	if (ret) {
		pr_err("lock type \"%s\" is refused: there is one of this name\n", ops->name);
		kfree(type);
	}
	return ret;
}
EXPORT_SYMBOL_GPL(__nbq_stress_register);

/* kernel-doc in <nbqlock/stress.h> */
int nbq_stress_unregister(const struct stress_ops *ops)
{
	struct type *type;
	int ret = 0;

	mutex_lock(&types_mutex);
	type = type_of(ops);
	if (!type)
		ret = -ENOENT;
	else if (type->in_use)
		ret = -EBUSY;
	else
		list_del(&type->list);
	mutex_unlock(&types_mutex);
	if (ret)
		return ret;
	/* No run begins with it: stress_ops_get() does not find it any more. */
	stress_params_forget(ops);
	stress_control_forget(ops);
	kfree(type);
	return 0;
}
EXPORT_SYMBOL_GPL(nbq_stress_unregister);

int stress_ops_start(void)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < ARRAY_SIZE(own_types); i++)
		ret = __nbq_stress_register(own_types[i], NULL);
	if (ret)
		stress_ops_stop();
	return ret;
}

/* Those of other modules are gone: as long as one is loaded, it has a reference to this module. */
void stress_ops_stop(void)
{
	struct type *type, *next;

	list_for_each_entry_safe(type, next, &types, list)
		kfree(type);
}

const struct stress_ops *stress_ops_default(void)
{
	return own_types[0];
}

const struct stress_ops *stress_ops_find(const char *name)
{
	const struct stress_ops *ops = NULL;
	struct type *type;

	mutex_lock(&types_mutex);
	type = type_named(name);
	if (type)
		ops = type->ops;
	mutex_unlock(&types_mutex);
	return ops;
}
EXPORT_SYMBOL_IF_KUNIT(stress_ops_find);

/*
 * A run is to use a lock type, which nbq_stress_unregister() may have been called for. Until
 * stress_ops_put() it stays.
 *
 * Return: 0; -ENODEV: it is gone, or about to.
 */
int stress_ops_get(const struct stress_ops *ops)
{
	struct type *type;
	int ret = -ENODEV;

	mutex_lock(&types_mutex);
	type = type_of(ops);
	if (type && try_module_get(type->owner)) {
		type->in_use = true;
		ret = 0;
	}
	mutex_unlock(&types_mutex);
	if (ret)
		pr_err("lock: the module of this lock type is being unloaded\n");
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(stress_ops_get);

void stress_ops_put(const struct stress_ops *ops)
{
	struct type *type;

	mutex_lock(&types_mutex);
	type = type_of(ops);
	type->in_use = false;
	module_put(type->owner);
	mutex_unlock(&types_mutex);
}
EXPORT_SYMBOL_IF_KUNIT(stress_ops_put);

void stress_ops_log_names(void)
{
	char names[512] = "";
	size_t length = 0;
	struct type *type;

	mutex_lock(&types_mutex);
	list_for_each_entry(type, &types, list)
		length += scnprintf(names + length, sizeof(names) - length,
				    " %s", type->ops->name);
	mutex_unlock(&types_mutex);
	pr_err("lock: takes one of%s\n", names);
}

static const char * const patience_words[] = {
	[STRESS_HEEDS_PATIENCE] = "",
	[STRESS_WAITS_FOR_EVER] = " (no timeout)",
	[STRESS_HAS_OWN_TIMEOUT] = " (its own timeout)",
};

void stress_ops_list(struct seq_file *m)
{
	struct type *type;

	mutex_lock(&types_mutex);
	list_for_each_entry(type, &types, list)
		seq_printf(m, "%s: %s%s\n", type->ops->name, type->ops->meaning,
			   patience_words[type->ops->patience]);
	mutex_unlock(&types_mutex);
}
