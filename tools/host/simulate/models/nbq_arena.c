// SPDX-License-Identifier: GPL-2.0
/*
 * nbq_arena_lock as a BPF program has it: no model, but the shipped header, which
 * tools/host/shim/bpf/arena_lock.c compiles for the host.
 */
#include <bpf/arena_lock.h>

#include "models.h"

/* The lock's memory begins with it. */
static struct nbq_arena_lock *arena_of(struct stress_lock *lock)
{
	return (struct nbq_arena_lock *)lock;
}

static int arena_init(struct stress_lock *lock, unsigned int place)
{
	*arena_of(lock) = (struct nbq_arena_lock){ };
	return 0;
}

static int arena_lock(struct stress_lock *lock, struct stress_waiter *me, ktime_t patience)
{
	if (patience > 0)
		return shim_arena_lock(arena_of(lock), patience);
	return shim_arena_trylock(arena_of(lock)) ? 0 : -EBUSY;
}

static void arena_unlock(struct stress_lock *lock, struct stress_waiter *me)
{
	shim_arena_unlock(arena_of(lock));
}

static int arena_destroy(struct stress_lock *lock)
{
	return shim_arena_sweep(arena_of(lock));
}

static void arena_count_nodes(struct stress_nodes *nodes, unsigned int locks)
{
	nodes->leaked += shim_arena_nodes_in_use();
}

const struct stress_ops model_nbq_arena = {
	.name = "nbq_arena",
	.meaning = "nbq_arena_lock, of BPF programs: its header as shipped",
	.patience = STRESS_HEEDS_PATIENCE,
	.free_after_unlock = true,
	.highest = STRESS_NMI,
	.init = arena_init,
	.lock = arena_lock,
	.unlock = arena_unlock,
	.destroy = arena_destroy,
	.count_nodes = arena_count_nodes,
};
