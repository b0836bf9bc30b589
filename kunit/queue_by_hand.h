/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What others do by hand with the lock types that are queues: whoever holds such a
 * lock is the first in its queue. The file of such a type includes this before
 * define_lock_row.h, with NBQ_TYPE as for nbqlock/lock_type.h, and has by then
 *
 *	link_to_pred(): as a member of struct nbq_row
 *	poll_pred(): what pred says: NULL: nothing; NBQ_AVAILABLE; else it has left
 *	step_over(): go on to who stood in front of pred, which has said this
 */
#include "common.h"

#define nbq_X_enqueue			__PASTE(NBQ_TYPE, _enqueue)
#define nbq_X_granted			__PASTE(NBQ_TYPE, _granted)

static bool join(struct nbq_X *lock, struct nbq_actor *actor)
{
	actor->said = NULL;
	actor->pred = nbq_X_enqueue(lock, actor->node);
	if (actor->pred)
		return false;
	nbq_held_add(actor->node, lock);
	return true;
}

static bool advance(struct nbq_X *lock, struct nbq_actor *actor)
{
	struct nbq_node *said = poll_pred(actor);
	int leavers = NBQ_BENCH_LEAVERS;

	while (said && said != NBQ_AVAILABLE && leavers--) {
		step_over(actor, said);
		said = poll_pred(actor);
	}
	if (said != NBQ_AVAILABLE)
		return false;
	nbq_X_granted(lock, actor->node, actor->pred);
	return true;
}

static struct nbq_node *tail_of(const struct nbq_X *lock)
{
	return lock->tail;
}

/* That of the bench, or of the running context. */
static struct nbq_node *holder_of(const struct nbq_X *lock)
{
	struct nbq_node *node = NULL;

	if (nbq_pool_elsewhere)
		node = nbq_held_find(nbq_pool_elsewhere, lock);
	return node ?: nbq_held_find(nbq_this_pool(), lock);
}

#define NBQ_LAST_WORD			tail
