// SPDX-License-Identifier: GPL-2.0
/*
 * The locks of nbqlock, through its public header. Their nodes come from the
 * pools of nbqlock, which counts them for all locks together.
 */
#include "ops.h"

static u64 event(const char *name)
{
	u64 value = 0;

	nbq_event_read(name, &value);
	return value;
}

static void count_nodes(struct stress_nodes *nodes)
{
	u64 reclaimed = event("nodes_reclaimed");

	nodes->max += event("pool_high_water");
	nodes->reclaimed += reclaimed;
	/* The counts wrap at the size of a long; their difference does not. */
	nodes->leaked += (long)(event("nodes_taken") -
				event("nodes_given_back") - reclaimed);
}

static int clh_nb_init(union stress_lock *lock)
{
	nbq_clh_init(&lock->clh);
	return 0;
}

static int clh_nb_lock(union stress_lock *lock, struct stress_waiter *me,
		       ktime_t patience)
{
	return nbq_clh_lock_timeout(&lock->clh, patience);
}

static void clh_nb_unlock(union stress_lock *lock, struct stress_waiter *me)
{
	nbq_clh_unlock(&lock->clh);
}

static int clh_nb_destroy(union stress_lock *lock)
{
	return nbq_clh_destroy(&lock->clh);
}

const struct stress_ops stress_clh_nb = {
	.name = "clh_nb",
	.meaning = "CLH-NB, a queue lock with non-blocking timeout, nbq_clh_lock_timeout()",
	.init = clh_nb_init,
	.lock = clh_nb_lock,
	.unlock = clh_nb_unlock,
	.destroy = clh_nb_destroy,
	.count_nodes = count_nodes,
};
