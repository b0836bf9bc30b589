// SPDX-License-Identifier: GPL-2.0
/*
 * The table of lock types. The kernel's own, raw_spinlock and rqspinlock, cannot be
 * compiled here: model_qspinlock stands for the first.
 */
#include <stdio.h>
#include <string.h>

#include <nbqlock/stress/ops.h>

#include "locks.h"
#include "models/models.h"

static int broken_init(union stress_lock *lock, unsigned int index)
{
	return 0;
}

static int broken_lock(union stress_lock *lock, struct stress_waiter *me, ktime_t patience)
{
	return 0;
}

static void broken_unlock(union stress_lock *lock, struct stress_waiter *me)
{
}

static const struct stress_ops broken = {
	.name = "broken",
	.meaning = "no mutual exclusion: a run on two CPUs must fail",
	.patience = WAITS_FOR_EVER,
	.init = broken_init,
	.lock = broken_lock,
	.unlock = broken_unlock,
};

static const struct stress_ops * const table[] = {
	&stress_clh_nb,
	&stress_mcs_nb,
	&stress_swap_nb,
	&stress_nbq_spin,
	&stress_nbq_spin_fifo,
	&model_qspinlock,
	&model_pv_qspinlock,
	&model_cna,
	&model_hmcs,
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

#define LOCKS	(sizeof(table) / sizeof(table[0]))

const struct stress_ops *locks_find(const char *name)
{
	size_t i;

	for (i = 0; i < LOCKS; i++) {
		if (!strcmp(table[i]->name, name))
			return table[i];
	}
	return NULL;
}

void locks_names(char *text, size_t size)
{
	size_t i, length = snprintf(text, size, "takes one of");

	for (i = 0; i < LOCKS && length < size; i++)
		length += snprintf(text + length, size - length, " %s", table[i]->name);
}

void locks_list(void)
{
	size_t i;

	for (i = 0; i < LOCKS; i++)
		printf("%s: %s%s\n", table[i]->name, table[i]->meaning,
		       table[i]->patience == WAITS_FOR_EVER ? " (no timeout)" : "");
}
