// SPDX-License-Identifier: GPL-2.0
/*
 * The table of lock types under test. To add one: its four verbs, a row in
 * ops_table, and a member of union stress_lock if its lock is of a new type.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/processor.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/timekeeping.h>

#include "ops.h"

/* raw_trylock reads the clock as rarely as nbqlock's waiters do. */
#define POLLS_PER_CLOCK	8

static void clh_nb_init(union stress_lock *lock)
{
	nbq_clh_init(&lock->clh);
}

static int clh_nb_destroy(union stress_lock *lock)
{
	return nbq_clh_destroy(&lock->clh);
}

static int clh_nb_lock(union stress_lock *lock, ktime_t patience)
{
	return nbq_clh_lock_timeout(&lock->clh, patience);
}

static void clh_nb_unlock(union stress_lock *lock)
{
	nbq_clh_unlock(&lock->clh);
}

static void raw_init(union stress_lock *lock)
{
	raw_spin_lock_init(&lock->raw);
}

/*
 * The checkers want a function to release what it acquires. These hand the
 * lock to their caller; __release() and __acquire() say so, and do nothing.
 */
static int raw_lock(union stress_lock *lock, ktime_t patience)
{
	raw_spin_lock(&lock->raw);
	__release(&lock->raw);
	return 0;
}

static void raw_unlock(union stress_lock *lock)
{
	__acquire(&lock->raw);
	raw_spin_unlock(&lock->raw);
}

/* The patience starts at the first look at the clock, as nbqlock's does. */
static bool is_over(ktime_t patience, ktime_t *start, unsigned int polls)
{
	ktime_t now;

	if (patience <= 0)
		return true;
	if (patience == KTIME_MAX || polls % POLLS_PER_CLOCK)
		return false;

	now = ktime_get_mono_fast_ns();
	if (!*start)
		*start = now;
	return now - *start >= patience;
}

static int raw_trylock_lock(union stress_lock *lock, ktime_t patience)
{
	unsigned int polls = 0;
	ktime_t start = 0;

	while (!raw_spin_trylock(&lock->raw)) {
		if (is_over(patience, &start, polls++))
			return -ETIMEDOUT;
		cpu_relax();
	}
	__release(&lock->raw);
	return 0;
}

static void broken_init(union stress_lock *lock)
{
}

static int broken_lock(union stress_lock *lock, ktime_t patience)
{
	preempt_disable();
	return 0;
}

static void broken_unlock(union stress_lock *lock)
{
	preempt_enable();
}

/* The first row is the default. */
static const struct stress_ops ops_table[] = {
	{
		.name = "clh_nb",
		.meaning = "CLH-NB, a queue lock with non-blocking timeout, nbq_clh_lock_timeout()",
		.can_time_out = true,
		.uses_nodes = true,
		.init = clh_nb_init,
		.destroy = clh_nb_destroy,
		.lock = clh_nb_lock,
		.unlock = clh_nb_unlock,
	}, {
		.name = "raw_spinlock",
		.meaning = "the kernel's own lock, raw_spin_lock()",
		.init = raw_init,
		.lock = raw_lock,
		.unlock = raw_unlock,
	}, {
		.name = "raw_trylock",
		.meaning = "raw_spin_trylock() in a loop until the patience is over",
		.can_time_out = true,
		.init = raw_init,
		.lock = raw_trylock_lock,
		.unlock = raw_unlock,
	}, {
		.name = "broken",
		.meaning = "excludes nobody from another CPU: a run on two CPUs must fail",
		.init = broken_init,
		.lock = broken_lock,
		.unlock = broken_unlock,
	},
};

const struct stress_ops *stress_ops_default(void)
{
	return &ops_table[0];
}

const struct stress_ops *stress_ops_find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ops_table); i++) {
		if (!strcmp(ops_table[i].name, name))
			return &ops_table[i];
	}
	return NULL;
}

/* For whoever named a lock that is not there. */
void stress_ops_log_names(void)
{
	char names[256] = "";
	size_t length = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ops_table); i++)
		length += scnprintf(names + length, sizeof(names) - length,
				    " %s", ops_table[i].name);
	pr_err("lock: takes one of%s\n", names);
}

void stress_ops_list(struct seq_file *m)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ops_table); i++)
		seq_printf(m, "%s: %s%s\n", ops_table[i].name,
			   ops_table[i].meaning,
			   ops_table[i].can_time_out ? "" : " (no timeout)");
}
