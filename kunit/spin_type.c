// SPDX-License-Identifier: GPL-2.0
/*
 * The hybrid as a lock type under test: see lock_types.h. Its holder has no node: the head is
 * the first that is drawn. Contenders request no handoff, and each frees its node with a swap
 * of the tail when it leaves the queue as its head.
 */
#include "common.h"
#include "spin_sweep.h"

#define NBQ_TYPE		nbq_spin
#define OP_INIT(lock)		nbq_spin_init(lock)
#define LAST_WORD		state.holder

static DEFINE_NBQ_SPIN(static_lock);
static struct { struct nbq_spin lock; } static_struct = {
	.lock = NBQ_SPIN_INIT(static_struct.lock),
};

static const struct nbq_traits traits = {
	.steals = true,
	.without_node = -ETIMEDOUT,
	/* In other kernels a release is an inlined store. */
	.checks_unlock = IS_ENABLED(CONFIG_DEBUG_SPINLOCK),
};

/* The lock has none. For the ends of cases: nothing is lost. */
static int destroy(void *any)
{
	struct nbq_spin *lock = any;

	return spin_sweep(&lock->bare);
}

/* A predecessor does not know its successor. */
#define link_to_pred	NULL

/* May a newcomer take it? */
static bool is_open(const struct nbq_spin *lock)
{
	return !*nbq_tail_of(lock) || !lock->state.handoff;
}

static bool take_free(struct nbq_spin *lock, const struct nbq_contender *contender)
{
	union nbq_spin_state free = { .all = READ_ONCE(lock->state.all) };
	union nbq_spin_state mine = free;

	mine.holder = nbq_context_of(contender->node->pool);
	mine.request = 0;
	return !free.holder &&
	       cmpxchg(&lock->state.all, free.all, mine.all) == free.all;
}

static bool enqueue(void *any, struct nbq_contender *contender)
{
	struct nbq_spin *lock = any;

	contender->pred = NULL;
	if (!is_open(lock) || !take_free(lock, contender)) {
		contender->pred = nbq_spin_enqueue(&lock->bare, nbq_tail_of(lock), contender->node);
		return false;
	}
	nbq_node_free_own(contender->node);
	return true;
}

static bool poll(void *any, struct nbq_contender *contender)
{
	struct nbq_spin *lock = any;
	int skips = NBQ_FIXTURE_SKIPS;
	struct nbq_node *prev;

	while (contender->pred && skips--) {
		prev = nbq_spin_poll(contender->pred);
		if (!prev)
			return false;
		contender->pred = nbq_spin_skip(contender->node, contender->pred, prev);
	}
	if (contender->pred || !take_free(lock, contender))
		return false;
	nbq_spin_dequeue_head(nbq_tail_of(lock), contender->node, false);
	return true;
}

static bool abandon(void *lock, struct nbq_contender *contender)
{
	u32 *tail = nbq_tail_of(lock);

	if (!contender->pred)
		return nbq_spin_dequeue_head(tail, contender->node, false);
	return nbq_spin_abandon(tail, contender->node, contender->pred, NULL);
}

/* The holder's node was freed when it acquired. */
static void release(void *any, struct nbq_node *node)
{
	struct nbq_spin *lock = any;

	/* RELEASE: as in nbq_spin_unlock(). */
	smp_store_release(&lock->state.holder, 0);
}

static char letter(const struct nbq_node *node)
{
	if (node->prev == NBQ_AVAILABLE)
		return 'A';
	return node->prev ? 'L' : 'W';
}

static struct nbq_node *tail_of(const void *lock)
{
	u32 tail = *nbq_tail_of(lock);

	return tail ? nbq_pool_of(tail & U16_MAX)->encodable->nodes[tail >> 16] : NULL;
}

static struct nbq_node *holder_of(const void *lock)
{
	return NULL;
}

#include "lock_type_ops.h"
