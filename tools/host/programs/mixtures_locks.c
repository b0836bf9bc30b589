// SPDX-License-Identifier: GPL-2.0
/* Mixtures: the operations of all lock types. */
#include <linux/errno.h>

#include "../../../kunit/spin_sweep.h"
#include "mixtures.h"

#define DEFINE_OPERATIONS(X)							\
static void X##_make(void *lock)						\
{										\
	nbq_##X##_init((struct nbq_##X *)lock);					\
}										\
static bool X##_is_locked(const void *lock)					\
{										\
	return nbq_##X##_is_locked(lock);					\
}										\
static bool X##_is_contended(const void *lock)					\
{										\
	return nbq_##X##_is_contended(lock);					\
}										\
static bool X##_trylock(void *lock)						\
{										\
	return nbq_##X##_trylock(lock);						\
}										\
static int X##_lock_timeout(void *lock, ktime_t patience)			\
{										\
	return nbq_##X##_lock_timeout(lock, patience);				\
}										\
static int X##_lock_until(void *lock, ktime_t deadline)				\
{										\
	return nbq_##X##_lock_until(lock, deadline);				\
}										\
static int X##_info(void *lock, ktime_t patience, struct nbq_timeout *info)	\
{										\
	return nbq_##X##_lock_timeout_info(lock, patience, info);		\
}										\
static void X##_lock(void *lock)						\
{										\
	nbq_##X##_lock(lock);							\
}										\
static void X##_unlock(void *lock)						\
{										\
	nbq_##X##_unlock(lock);							\
}

#define OPERATIONS(X)								\
	.name = "nbq_" #X, .init = X##_make, .is_locked = X##_is_locked,	\
	.is_contended = X##_is_contended, .trylock = X##_trylock,		\
	.lock_timeout = X##_lock_timeout, .lock_until = X##_lock_until,		\
	.lock_timeout_info = X##_info, .lock = X##_lock, .unlock = X##_unlock,	\
	.size = sizeof(struct nbq_##X)

#define DEFINE_HYBRID(NAME, X)	DEFINE_OPERATIONS(X)
#define DEFINE_STRICT(NAME, X)							\
DEFINE_OPERATIONS(X)								\
static int X##_destroy(void *lock)						\
{										\
	return nbq_##X##_destroy(lock);						\
}

MIXED_TYPES(DEFINE_HYBRID, DEFINE_STRICT)

#define HYBRID(NAME, X)								\
	[NAME] = { OPERATIONS(X) },
#define STRICT(NAME, X)								\
	[NAME] = { OPERATIONS(X), .destroy = X##_destroy },

const struct operations operations[TYPES] = {
	MIXED_TYPES(HYBRID, STRICT)
};

const void *tail_of(const struct slot *slot)
{
	return slot->type == SPIN ? NULL : &((struct nbq_queue_lock *)slot->memory)->tail;
}

void sweep(void *memory)
{
	preempt_disable();
	spin_sweep_queue(memory, nbq_queue_of(NULL, memory));
	spin_sweep_queue(memory, nbq_other_queue_of(NULL, memory));
	preempt_enable();
}

bool holder_in_word(const struct slot *slot, unsigned int *cpu, unsigned int *level)
{
	u16 holder = ((const struct nbq_spin *)slot->memory)->state.holder;

	if (!holder)
		return false;
	*cpu = (holder & ((1U << NBQ_CONTEXT_CPU_BITS) - 1)) - 1;
	*level = holder >> NBQ_CONTEXT_CPU_BITS;
	return true;
}
