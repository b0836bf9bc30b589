/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What other contexts do by hand with a hybrid lock of either kind. Its holder has no node
 * any more, so that there is none in the pictures: the head is the first that is drawn.
 * They make no request for the lock, and each asks for the tail when it leaves the queue
 * as its head.
 */
#include "common.h"

/* A predecessor does not know its successor. */
static void link_to_pred(struct nbq_actor *actor)
{
}

/* May a newcomer take it? */
static bool is_open(const struct nbq_spin *lock)
{
	return !*nbq_tail_of(lock) ||
	       (lock->state.turn != NBQ_SPIN_FIFO && !lock->state.handoff);
}

static bool take_free(struct nbq_spin *lock, const struct nbq_actor *actor)
{
	union nbq_spin_state free = { .all = READ_ONCE(lock->state.all) };
	union nbq_spin_state mine = free;

	mine.holder = nbq_context_of(actor->node->pool);
	if (mine.turn != NBQ_SPIN_FIFO)
		mine.request = 0;
	return !free.holder &&
	       cmpxchg(&lock->state.all, free.all, mine.all) == free.all;
}

static bool join(struct nbq_spin *lock, struct nbq_actor *actor)
{
	actor->pred = NULL;
	if (!is_open(lock) || !take_free(lock, actor)) {
		actor->pred = nbq_spin_enqueue(lock, nbq_tail_of(lock), actor->node);
		return false;
	}
	nbq_node_free_own(actor->node);
	return true;
}

static bool advance(struct nbq_spin *lock, struct nbq_actor *actor)
{
	int leavers = NBQ_BENCH_LEAVERS;
	struct nbq_node *said;

	while (actor->pred && leavers--) {
		said = nbq_spin_poll(actor->pred);
		if (!said)
			return false;
		actor->pred = nbq_spin_skip(actor->node, actor->pred, said);
	}
	if (actor->pred || !take_free(lock, actor))
		return false;
	nbq_spin_dequeue_head(nbq_tail_of(lock), actor->node, false);
	return true;
}

static bool leave(struct nbq_spin *lock, struct nbq_actor *actor)
{
	u32 *tail = nbq_tail_of(lock);

	return actor->pred ? nbq_spin_abandon(tail, actor->node, actor->pred) :
			     nbq_spin_dequeue_head(tail, actor->node, false);
}

/* The holder's node has been given back long since. */
static bool hand_over(struct nbq_spin *lock, struct nbq_node *node)
{
	/* RELEASE: as in nbq_spin_unlock(). */
	smp_store_release(&lock->state.holder, 0);
	return true;
}

static char letter(const struct nbq_node *node)
{
	if (node->prev == NBQ_AVAILABLE)
		return 'A';
	return node->prev ? 'L' : 'W';
}

static struct nbq_node *tail_of(const struct nbq_spin *lock)
{
	u32 tail = *nbq_tail_of(lock);

	return tail ? nbq_pool_of(tail & U16_MAX)->encodable->nodes[tail >> 16] : NULL;
}

static struct nbq_node *holder_of(const struct nbq_spin *lock)
{
	return NULL;
}

#define NBQ_LAST_WORD			state.holder

/* Where nothing is inline, a release is a step, and looks at who does it. */
#ifdef CONFIG_DEBUG_LOCK_ALLOC
#define NBQ_SPIN_RELEASE_STEPS		1
#define NBQ_SPIN_CHECKS_UNLOCK		true
#else
#define NBQ_SPIN_RELEASE_STEPS		0
#define NBQ_SPIN_CHECKS_UNLOCK		false
#endif
