// SPDX-License-Identifier: GPL-2.0
/*
 * MCS-NB as a lock type under test: see lock_types.h.
 */
#include "lock_types.h"

#define NBQ_TYPE		nbq_mcs
#define LOCK_TYPE		NBQ_TYPE_MCS
#define OP_INIT(lock)		nbq_mcs_init(lock)

static DEFINE_NBQ_MCS(static_lock);
static struct { struct nbq_mcs lock; } static_struct = {
	.lock = NBQ_MCS_INIT(static_struct.lock),
};

static const struct nbq_traits traits = {
	.tail_stays = 0,
	.holder_nodes = 1,
	.without_node = -ENOMEM,
	.checks_unlock = true,
};

static void link_to_pred(struct nbq_contender *contender)
{
	contender->notified = nbq_mcs_link(contender->node, contender->pred);
}

static struct nbq_node *poll_pred(const struct nbq_contender *contender)
{
	return contender->notified ?: nbq_mcs_poll(contender->node);
}

static void skip(struct nbq_contender *contender, struct nbq_node *state)
{
	if (!contender->notified) {
		/* The abandoned place may have been resumed since the notification. */
		link_to_pred(contender);
		state = contender->notified;
		if (!state || state == NBQ_AVAILABLE)
			return;
	}
	contender->pred = nbq_mcs_skip(contender->node, contender->pred, state);
	link_to_pred(contender);
}

#include "queue_type.h"

static bool abandon(void *lock, struct nbq_contender *contender)
{
	return nbq_mcs_abandon(queue_of(lock), contender->node, contender->pred);
}

static void release(void *lock, struct nbq_node *node)
{
	nbq_held_take(node->pool, lock);
	nbq_mcs_release(node);
}

/* R: only the notification by its predecessor is left to be done with the node. */
static char letter(const struct nbq_node *node)
{
	if (node->next == NBQ_AVAILABLE)
		return 'A';
	if (node->status == NBQ_RECYCLED)
		return 'R';
	if (node->next == NBQ_TRANSIENT)
		return 'T';
	return node->next == NBQ_LEAVING ? 'L' : 'W';
}

#include "lock_type_ops.h"
