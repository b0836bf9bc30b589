// SPDX-License-Identifier: GPL-2.0
/*
 * The hybrid, whose newcomers may pass those who wait, as the suites for all lock
 * types use it: see lock_row.h.
 */
#include "spin_by_hand.h"

static DEFINE_NBQ_SPIN(static_lock);
static struct { struct nbq_spin lock; } static_struct = {
	.lock = NBQ_SPIN_INIT(static_struct.lock),
};

static const struct nbq_facts facts = {
	.stays = 0,
	.holder_nodes = 0,
	.passes = true,
	.reads_outside = 5,
	.without_node = -ETIMEDOUT,
	.leave_steps = 2,
	.leave_bound = 2,
	.release_steps = NBQ_SPIN_RELEASE_STEPS,
	.release_bound = 1,
	.checks_unlock = NBQ_SPIN_CHECKS_UNLOCK,
};

#define NBQ_TYPE	nbq_spin
#include "define_lock_row.h"
