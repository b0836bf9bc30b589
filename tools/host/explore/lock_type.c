// SPDX-License-Identifier: GPL-2.0
/*
 * A lock type as a table: compiled once for each, with what host/type.h wants, and with LOCK_TYPE,
 * its name here.
 */
#include <linux/build_bug.h>

#include "lock_type.h"
#include "type.h"

static_assert(sizeof(struct nbq_X) <= sizeof(union lock_memory));

static void init(void *lock)
{
	nbq_X_init((struct nbq_X *)lock);
}

static int lock_timeout(void *lock, s64 patience)
{
	return nbq_X_lock_timeout(lock, patience);
}

static int lock_until(void *lock, s64 deadline)
{
	return nbq_X_lock_until(lock, deadline);
}

static int lock_unless(void *lock, bool (*stop)(void *arg), void *arg)
{
	return nbq_X_lock_unless((struct nbq_X *)lock, KTIME_MAX, stop, arg);
}

#ifdef TYPE_SPIN
static int takeover(void *lock, unsigned int cpu, unsigned int level)
{
	struct nbq_timeout info = { .holder_cpu = SHIM_CPU_NUMBER(cpu), .holder_level = level };

	return nbq_spin_takeover(lock, &info);
}
#endif

static bool trylock(void *lock)
{
	return nbq_X_trylock(lock);
}

static void unlock(void *lock)
{
	nbq_X_unlock(lock);
}

static int destroy(void *lock)
{
	return nbq_X_destroy((struct nbq_X *)lock);
}

static int end(void *lock)
{
	return nbq_X_end((struct nbq_X *)lock);
}

/* What is asked of a lock of this type, by the names of host/type.h with lock_ before them. */
static bool lock_is_held(const void *lock)
{
	return is_held((const struct nbq_X *)lock);
}

static bool lock_is_tail(const void *lock, const void *address)
{
	return is_tail((const struct nbq_X *)lock, address);
}

static bool lock_is_own_step(const void *lock, const void *address)
{
	return is_own_step((const struct nbq_X *)lock, address);
}

static bool lock_may_acquire(const void *lock, enum shim_op op, const void *address)
{
	return may_acquire((const struct nbq_X *)lock, op, address);
}

static bool lock_is_held_by_this_context(const void *lock)
{
	return is_held_by_this_context((const struct nbq_X *)lock);
}

static bool lock_is_held_on_this_cpu(const void *lock)
{
	return is_held_on_this_cpu((const struct nbq_X *)lock);
}

static bool lock_begins_abandon(const void *lock, const struct nbq_node *node, enum shim_op op,
				const void *address)
{
	return begins_abandon((const struct nbq_X *)lock, node, op, address);
}

static bool lock_is_request_access(const void *lock, enum shim_op op, const void *address)
{
	return is_request_access((const struct nbq_X *)lock, op, address);
}

static bool lock_has_handoff_request(const void *lock)
{
	return has_handoff_request((const struct nbq_X *)lock);
}

static bool lock_has_valid_request(const void *lock)
{
	return has_valid_request((const struct nbq_X *)lock);
}

static unsigned long lock_value_in_lock(const void *lock, const void *address)
{
	return value_in_lock((const struct nbq_X *)lock, address);
}

static const struct nbq_node *lock_tail_node(const void *lock, const void *tail)
{
	return tail_node((const struct nbq_X *)lock, tail);
}

static bool is_granted(const struct nbq_node *node, const void *word)
{
	return IS_FIFO && shim_would_be_granted(node, word);
}

#define __STRING_OF(name)	#name
#define STRING_OF(name)		__STRING_OF(name)

const struct lock_type __PASTE(lock_type_, LOCK_TYPE) = {
	.name = STRING_OF(LOCK_TYPE),
	.is_fifo = IS_FIFO,
	.holds_node = HOLDS_NODE,
	.has_policy = HAS_POLICY,
	.detects_deadlocks = DETECTS_DEADLOCKS,
	.in_kernel = IN_KERNEL,
	.is_destroyed = IS_FIFO,
	.error_without_node = ERROR_WITHOUT_NODE,
	.error_of_stop = ERROR_OF_STOP,
	.steps_to_abandon = STEPS_TO_ABANDON,
	.steps_to_release = STEPS_TO_RELEASE,
	.init = init,
	.lock_timeout = lock_timeout,
	.lock_until = lock_until,
	.lock_unless = lock_unless,
#ifdef TYPE_SPIN
	.takeover = takeover,
#endif
	.trylock = trylock,
	.unlock = unlock,
	.destroy = destroy,
	.end = end,
	.is_held = lock_is_held,
	.is_tail = lock_is_tail,
	.is_own_step = lock_is_own_step,
	.may_acquire = lock_may_acquire,
	.is_held_by_this_context = lock_is_held_by_this_context,
	.is_held_on_this_cpu = lock_is_held_on_this_cpu,
	.begins_abandon = lock_begins_abandon,
	.is_granted = is_granted,
	.is_request_access = lock_is_request_access,
	.has_handoff_request = lock_has_handoff_request,
	.has_valid_request = lock_has_valid_request,
	.value_in_lock = lock_value_in_lock,
	.tail_node = lock_tail_node,
};
