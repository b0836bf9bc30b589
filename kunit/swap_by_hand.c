// SPDX-License-Identifier: GPL-2.0
/*
 * The swap-only lock as the suites for all lock types use it: see lock_row.h.
 */
#include "common.h"

static DEFINE_NBQ_SWAP(static_lock);
static struct { struct nbq_swap lock; } static_struct = {
	.lock = NBQ_SWAP_INIT(static_struct.lock),
};

static const struct nbq_facts facts = {
	.holder_nodes = 1,
	.without_node = -ENOMEM,
	.stays = 1,
	.leave_steps = 4,
	.leave_bound = 4,
	.release_steps = 3,
	.release_bound = 4,
	/* tells the one behind */
	.after_leave = { 0, 1 },
	.after_release = { 0, 1 },
	.checks_unlock = true,
};

static void link_to_pred(struct nbq_actor *actor)
{
	actor->said = nbq_swap_link(actor->node, actor->pred);
}

static struct nbq_node *poll_pred(const struct nbq_actor *actor)
{
	return actor->said ?: nbq_swap_poll(actor->node);
}

static void step_over(struct nbq_actor *actor, struct nbq_node *said)
{
	struct nbq_node *leaver = actor->pred;

	if (!actor->said) {
		/* One that has told that it has left may have resumed its place. */
		link_to_pred(actor);
		if (actor->said != NBQ_LEAVING)
			return;
	}
	actor->pred = leaver->prev;
	link_to_pred(actor);
	nbq_swap_skip(actor->node, leaver, actor->said);
	/* The leaver: the one in front waits or holds, and knows me now. */
	if (actor->said == leaver)
		actor->said = NULL;
}

static bool leave(struct nbq_swap *lock, struct nbq_actor *actor)
{
	nbq_swap_abandon(lock, actor->node, actor->pred);
	return false;
}

static bool hand_over(struct nbq_swap *lock, struct nbq_node *node)
{
	nbq_swap_release(lock, node);
	return false;
}

static char letter(const struct nbq_node *node)
{
	if (node->next == NBQ_AVAILABLE)
		return 'A';
	return node->next == NBQ_LEAVING ? 'L' : 'W';
}

#define NBQ_TYPE	nbq_swap
#include "queue_by_hand.h"
#include "define_lock_row.h"
