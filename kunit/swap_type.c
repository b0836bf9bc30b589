// SPDX-License-Identifier: GPL-2.0
/*
 * The swap-only lock as a lock type under test: see lock_types.h.
 */
#include "lock_types.h"

#define NBQ_TYPE		nbq_swap
#define LOCK_TYPE		NBQ_TYPE_SWAP
#define OP_INIT(lock)		nbq_swap_init(lock)

static DEFINE_NBQ_SWAP(static_lock);
static struct { struct nbq_swap lock; } static_struct = {
	.lock = NBQ_SWAP_INIT(static_struct.lock),
};

static const struct nbq_traits traits = {
	.tail_stays = 1,
	.holder_nodes = 1,
	.without_node = -ENOMEM,
	.checks_unlock = true,
};

static void link_to_pred(struct nbq_contender *contender)
{
	contender->notified = nbq_swap_link(contender->node, contender->pred);
}

static struct nbq_node *poll_pred(const struct nbq_contender *contender)
{
	return contender->notified ?: nbq_swap_poll(contender->node);
}

static void skip(struct nbq_contender *contender, struct nbq_node *state)
{
	struct nbq_node *abandoned = contender->pred;

	if (!contender->notified) {
		/* The abandoned place may have been resumed since the notification. */
		link_to_pred(contender);
		if (contender->notified != NBQ_LEAVING)
			return;
	}
	contender->pred = abandoned->prev;
	link_to_pred(contender);
	nbq_swap_skip(contender->node, abandoned, contender->notified);
	/* The new predecessor, which waits or holds, has forgotten the abandoned node. */
	if (contender->notified == abandoned)
		contender->notified = NULL;
}

#include "queue_type.h"

static bool abandon(void *lock, struct nbq_contender *contender)
{
	nbq_swap_abandon(queue_of(lock), contender->node, contender->pred);
	return false;
}

static void release(void *lock, struct nbq_node *node)
{
	nbq_held_take(node->pool, lock);
	nbq_swap_release(node);
}

static char letter(const struct nbq_node *node)
{
	if (node->next == NBQ_AVAILABLE)
		return 'A';
	return node->next == NBQ_LEAVING ? 'L' : 'W';
}

#include "lock_type_ops.h"
