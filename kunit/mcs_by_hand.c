// SPDX-License-Identifier: GPL-2.0
/*
 * MCS-NB as the suites for all lock types use it: see lock_row.h.
 */
#include "common.h"

static DEFINE_NBQ_MCS(static_lock);
static struct { struct nbq_mcs lock; } static_struct = {
	.lock = NBQ_MCS_INIT(static_struct.lock),
};

static const struct nbq_facts facts = {
	.holder_nodes = 1,
	.without_node = -ENOMEM,
	.stays = 0,
	.leave_steps = 6,
	.leave_bound = 7,
	.release_steps = 5,
	.release_bound = 6,
	/* gives its node back; tells the one behind */
	.after_leave = { 1, 1 },
	.after_release = { 1, 1 },
	.checks_unlock = true,
};

static void link_to_pred(struct nbq_actor *actor)
{
	actor->said = nbq_mcs_link(actor->node, actor->pred);
}

static struct nbq_node *poll_pred(const struct nbq_actor *actor)
{
	return actor->said ?: nbq_mcs_poll(actor->node);
}

static void step_over(struct nbq_actor *actor, struct nbq_node *said)
{
	if (!actor->said) {
		/* One that has told that it has left may have resumed its place. */
		link_to_pred(actor);
		said = actor->said;
		if (!said || said == NBQ_AVAILABLE)
			return;
	}
	actor->pred = nbq_mcs_skip(actor->node, actor->pred, said);
	link_to_pred(actor);
}

static bool leave(struct nbq_mcs *lock, struct nbq_actor *actor)
{
	return nbq_mcs_abandon(lock, actor->node, actor->pred);
}

static bool hand_over(struct nbq_mcs *lock, struct nbq_node *node)
{
	return nbq_mcs_release(lock, node);
}

/* R: all that is left to do with the node is for the one in front to tell it. */
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

#define NBQ_TYPE	nbq_mcs
#include "queue_by_hand.h"
#include "define_lock_row.h"
