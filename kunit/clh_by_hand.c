// SPDX-License-Identifier: GPL-2.0
/*
 * CLH-NB as the suites for all lock types use it: see lock_row.h.
 */
#include "common.h"

static DEFINE_NBQ_CLH(static_lock);
static struct { struct nbq_clh lock; } static_struct = {
	.lock = NBQ_CLH_INIT(static_struct.lock),
};

static const struct nbq_facts facts = {
	.holder_nodes = 1,
	.without_node = -ENOMEM,
	.stays = 0,
	.leave_steps = 2,
	.leave_bound = 2,
	.release_steps = 2,
	.release_bound = 3,
	/* gives its node back */
	.after_leave = { 1, 0 },
	.after_release = { 1, 0 },
	.checks_unlock = true,
};

/* Nobody knows who stands behind. */
static void link_to_pred(struct nbq_actor *actor)
{
}

static struct nbq_node *poll_pred(const struct nbq_actor *actor)
{
	return nbq_clh_poll(actor->pred);
}

static void step_over(struct nbq_actor *actor, struct nbq_node *said)
{
	actor->pred = nbq_clh_skip(actor->node, actor->pred, said);
}

static bool leave(struct nbq_clh *lock, struct nbq_actor *actor)
{
	return nbq_clh_abandon(lock, actor->node, actor->pred);
}

static bool hand_over(struct nbq_clh *lock, struct nbq_node *node)
{
	return nbq_clh_release(lock, node);
}

static char letter(const struct nbq_node *node)
{
	if (node->prev == NBQ_AVAILABLE)
		return 'A';
	return node->prev ? 'L' : 'W';
}

#define NBQ_TYPE	nbq_clh
#include "queue_by_hand.h"
#include "define_lock_row.h"
