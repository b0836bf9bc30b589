// SPDX-License-Identifier: GPL-2.0
/*
 * The table of lock types under test. To add one: its operations in an ops_*.c, a row in
 * ops_table, a member of union stress_lock if needed, and its name in COMPARATORS of
 * tools/ci/stress.py.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/compiler.h>
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "ops.h"

static int broken_init(union stress_lock *lock, unsigned int index)
{
	return 0;
}

static int broken_lock(union stress_lock *lock, struct stress_waiter *me, ktime_t patience)
{
	preempt_disable();
	return 0;
}

/* Of a lock that is freed after its release, this writes to freed memory. */
static void broken_unlock(union stress_lock *lock, struct stress_waiter *me)
{
	udelay(2);
	WRITE_ONCE(lock->taken, 0);
	preempt_enable();
}

static const struct stress_ops broken = {
	.name = "broken",
	.meaning = "no mutual exclusion between CPUs: a run on two CPUs must fail",
	.patience = WAITS_FOR_EVER,
	.free_after_unlock = true,
	.init = broken_init,
	.lock = broken_lock,
	.unlock = broken_unlock,
};

/* The first one is the default. */
static const struct stress_ops * const ops_table[] = {
	&stress_clh_nb,
	&stress_mcs_nb,
	&stress_swap_nb,
	&stress_nbq_spin,
	&stress_raw_spinlock,
	&stress_raw_trylock,
#ifdef STRESS_HAS_RQSPINLOCK
	&stress_rqspinlock,
#endif
	&stress_tas_b,
	&stress_tas_b_try,
	&stress_clh,
	&stress_mcs,
	&stress_clh_try,
	&stress_mcs_try,
	&stress_clh_nb_paper,
	&stress_mcs_nb_paper,
	&broken,
};

const struct stress_ops *stress_ops_default(void)
{
	return ops_table[0];
}

const struct stress_ops *stress_ops_find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ops_table); i++) {
		if (!strcmp(ops_table[i]->name, name))
			return ops_table[i];
	}
	return NULL;
}

void stress_ops_log_names(void)
{
	char names[256] = "";
	size_t length = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ops_table); i++)
		length += scnprintf(names + length, sizeof(names) - length,
				    " %s", ops_table[i]->name);
	pr_err("lock: takes one of%s\n", names);
}

static const char * const patience_words[] = {
	[HEEDS_PATIENCE] = "",
	[WAITS_FOR_EVER] = " (no timeout)",
	[HAS_OWN_TIMEOUT] = " (its own timeout)",
};

void stress_ops_list(struct seq_file *m)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ops_table); i++)
		seq_printf(m, "%s: %s%s\n", ops_table[i]->name,
			   ops_table[i]->meaning,
			   patience_words[ops_table[i]->patience]);
}
