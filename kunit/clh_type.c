// SPDX-License-Identifier: GPL-2.0
/*
 * CLH-NB as a lock type under test: see lock_types.h.
 */
#include "lock_types.h"

#define NBQ_TYPE		nbq_clh
#define LOCK_TYPE		NBQ_TYPE_CLH
#define OP_INIT(lock)		nbq_clh_init(lock)

static DEFINE_NBQ_CLH(static_lock);
static struct { struct nbq_clh lock; } static_struct = {
	.lock = NBQ_CLH_INIT(static_struct.lock),
};

static const struct nbq_traits traits = {
	.tail_stays = 0,
	.holder_nodes = 1,
	.without_node = -ENOMEM,
	.checks_unlock = true,
};

/* A predecessor does not know its successor. */
#define link_to_pred	NULL

static struct nbq_node *poll_pred(const struct nbq_contender *contender)
{
	return nbq_clh_poll(contender->pred);
}

static void skip(struct nbq_contender *contender, struct nbq_node *prev)
{
	contender->pred = nbq_clh_skip(contender->node, contender->pred, prev);
}

#include "queue_type.h"

static bool abandon(void *lock, struct nbq_contender *contender)
{
	return nbq_clh_abandon(queue_of(lock), contender->node, contender->pred);
}

static void release(void *lock, struct nbq_node *node)
{
	nbq_held_take(node->pool, lock);
	nbq_clh_release(node);
}

static char letter(const struct nbq_node *node)
{
	if (node->prev == NBQ_AVAILABLE)
		return 'A';
	return node->prev ? 'L' : 'W';
}

#include "lock_type_ops.h"
