/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What other contexts do by hand with a strict queue lock, whose holder has the first node
 * of the queue. The file of such a type includes this before lock_type_ops.h, with
 * NBQ_TYPE, and has by then
 *
 *	link_to_pred: as a member of struct nbq_lock_type
 *	poll_pred(): NULL: pred waits or holds; NBQ_AVAILABLE; else pred is abandoned
 *	skip(): go on to the predecessor of an abandoned one
 */
#include "common.h"

#define STEP(step)			__PASTE(NBQ_TYPE, _##step)
#define LAST_WORD			tail

static struct nbq_queue_lock *queue_of(void *lock)
{
	struct NBQ_TYPE *x = lock;

	return &x->queue;
}

static int destroy(void *lock)
{
	return STEP(destroy)(lock);
}

static bool enqueue(void *lock, struct nbq_contender *contender)
{
	contender->notified = NULL;
	contender->pred = STEP(enqueue)(queue_of(lock), contender->node);
	if (contender->pred)
		return false;
	nbq_held_add(contender->node->pool, contender->node, lock, LOCK_TYPE);
	return true;
}

static bool poll(void *lock, struct nbq_contender *contender)
{
	struct nbq_node *state = poll_pred(contender);
	int skips = NBQ_FIXTURE_SKIPS;

	while (state && state != NBQ_AVAILABLE && skips--) {
		skip(contender, state);
		state = poll_pred(contender);
	}
	if (state != NBQ_AVAILABLE)
		return false;
	STEP(granted)(queue_of(lock), contender->node, contender->pred);
	return true;
}

static struct nbq_node *tail_of(const void *lock)
{
	const struct NBQ_TYPE *x = lock;

	return x->tail;
}

/* A node of the fixture, or of the running context */
static struct nbq_node *holder_of(const void *lock)
{
	struct nbq_node *node = NULL;

	preempt_disable();
	if (nbq_pool_elsewhere)
		node = nbq_held_find(nbq_pool_elsewhere, lock);
	if (!node)
		node = nbq_held_find(nbq_this_pool(), lock);
	preempt_enable();
	return node;
}
