// SPDX-License-Identifier: GPL-2.0
/*
 * The table of lock types. The kernel's own, raw_spinlock and rqspinlock, cannot be
 * compiled here: model_qspinlock stands for the first.
 */
#include <stdio.h>
#include <string.h>

#include <host.h>
#include <nbqlock/stress/ops.h>

#include "locks.h"
#include "models/models.h"

static int broken_init(struct stress_lock *lock, unsigned int index)
{
	return 0;
}

static int broken_lock(struct stress_lock *lock, struct stress_waiter *me, ktime_t patience)
{
	return 0;
}

static void broken_unlock(struct stress_lock *lock, struct stress_waiter *me)
{
}

static const struct stress_ops broken = {
	.name = "broken",
	.meaning = "no mutual exclusion: a run on two CPUs must fail",
	.patience = STRESS_WAITS_FOR_EVER,
	.init = broken_init,
	.lock = broken_lock,
	.unlock = broken_unlock,
};

/* The hybrid in a guest that knows which of its CPUs are preempted, as with paravirt=1. */
static struct stress_ops nbq_spin_pv;

static int nbq_spin_pv_init(struct stress_lock *lock, unsigned int index)
{
	shim_vcpu_is_preempted = simulate_cpu_is_away;
	return stress_nbq_spin.init(lock, index);
}

/* The hybrid with the module parameter sockets=1. */
static struct stress_ops nbq_spin_sockets;

static void __attribute__((__constructor__)) make_variants(void)
{
	nbq_spin_sockets = stress_nbq_spin;
	nbq_spin_sockets.name = "nbq_spin_sockets";
	nbq_spin_sockets.meaning = "nbq_spin, with a queue for each socket (sockets=1)";

	nbq_spin_pv = stress_nbq_spin;
	nbq_spin_pv.name = "nbq_spin_pv";
	nbq_spin_pv.meaning = "nbq_spin, with vcpu_is_preempted() of a paravirtual guest";
	nbq_spin_pv.init = nbq_spin_pv_init;
}

static const struct stress_ops * const table[] = {
#define STRESS_OURS(_name, X)	&stress_##_name,
#include <nbqlock/stress/lock_types_list.h>
	&nbq_spin_sockets,
	&nbq_spin_pv,
	&model_qspinlock,
	&model_pv_qspinlock,
	&model_virt_spin_lock,
	&model_cna,
	&model_hmcs,
	&model_nbq_arena,
#define STRESS_PAPER(_name)	&stress_##_name,
#include <nbqlock/stress/lock_types_list.h>
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

bool locks_have_sockets(const struct stress_ops *ops)
{
	return ops == &nbq_spin_sockets;
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
		       table[i]->patience == STRESS_WAITS_FOR_EVER ? " (no timeout)" : "");
}
