// SPDX-License-Identifier: GPL-2.0
/*
 * The locks of nbqlock, through its public header. nbqlock counts the nodes of its pools, and the
 * skipped nodes, of all locks together.
 */
#include <linux/lockdep.h>
#include <linux/minmax.h>

#include "ops.h"

/* Older kernels lack it: there lockdep does report such runs. */
#ifndef lockdep_set_notrack_class
#define lockdep_set_notrack_class(lock)	((void)(lock))
#endif

static u64 event(const char *name)
{
	u64 value = 0;

	return nbq_event_read(name, &value) ? 0 : value;
}

static u64 enqueued(void)
{
	return event("nodes_allocated");
}

static void count_nodes(struct stress_nodes *nodes, unsigned int locks)
{
	u64 reclaimed = event("nodes_reclaimed");

	nodes->max += event("pool_high_water");
	nodes->reclaimed += reclaimed;
	/* The counts wrap as longs do; so does their difference. */
	nodes->leaked += (long)(event("nodes_allocated") - event("nodes_freed") - reclaimed);
}

static void count_skipped(struct stress_skipped *skipped)
{
	u64 counts[NBQ_SKIPPED_MAX + 1];
	unsigned int i;

	nbq_skipped_read(counts);
	for (i = 0; i <= NBQ_SKIPPED_MAX; i++)
		skipped->counts[i] += counts[i];
	skipped->most = max(skipped->most, event("most_skipped"));
}

#define DEFINE_DESTROY(X)						\
static int stress_##X##_destroy(struct stress_lock *lock)		\
{									\
	return nbq_##X##_destroy(&lock->nbq_##X);			\
}

/* A lock type: nbq_X. Each index has a lockdep class. */
#define DEFINE_LOCK_TYPE(NAME, X, MEANING, ...)				\
static struct lock_class_key stress_##X##_keys[STRESS_LOCKS_MAX];	\
									\
static int stress_##X##_init(struct stress_lock *lock,			\
			     unsigned int index)			\
{									\
	nbq_##X##_init(&lock->nbq_##X);					\
	lockdep_set_class_and_name(&lock->nbq_##X,			\
				   &stress_##X##_keys[index],		\
				   "stress_" #NAME);			\
	return 0;							\
}									\
									\
static void stress_##X##_lockdep_disable(struct stress_lock *lock)	\
{									\
	lockdep_set_notrack_class(&lock->nbq_##X);			\
}									\
									\
static int stress_##X##_lock(struct stress_lock *lock,			\
			     struct stress_waiter *me,			\
			     ktime_t patience)				\
{									\
	int ret = nbq_##X##_lock_timeout(&lock->nbq_##X, patience);	\
									\
	if (!ret)							\
		__nbq_release(&lock->nbq_##X);				\
	return ret;							\
}									\
									\
static void stress_##X##_unlock(struct stress_lock *lock,		\
				struct stress_waiter *me)		\
{									\
	__nbq_acquire(&lock->nbq_##X);					\
	nbq_##X##_unlock(&lock->nbq_##X);				\
}									\
									\
const struct stress_ops stress_##NAME = {				\
	.name = #NAME,							\
	.meaning = MEANING,						\
	.size = sizeof(struct stress_lock),				\
	.free_after_unlock = true,					\
	.highest = STRESS_NMI,						\
	.init = stress_##X##_init,					\
	.lockdep_disable = stress_##X##_lockdep_disable,		\
	.lock = stress_##X##_lock,					\
	.unlock = stress_##X##_unlock,					\
	.count_nodes = count_nodes,					\
	.count_skipped = count_skipped,					\
	.nodes_of = nbq_cpu_nodes_in_use,				\
	.enqueued = enqueued,						\
	__VA_ARGS__							\
}

#define STRESS_STRICT(NAME, X, MEANING)	DEFINE_DESTROY(X)
#define STRESS_HYBRID(NAME, X, MEANING)
#include "lock_types_list.h"

#define STRESS_STRICT(NAME, X, MEANING)					\
	DEFINE_LOCK_TYPE(NAME, X, MEANING, .destroy = stress_##X##_destroy);
#define STRESS_HYBRID(NAME, X, MEANING)					\
	DEFINE_LOCK_TYPE(NAME, X, MEANING, .leaves_places = true);
#include "lock_types_list.h"
