// SPDX-License-Identifier: GPL-2.0
/*
 * The hybrid that is first come, first served, as the suites for all lock types use
 * it: see lock_row.h.
 */
#include "spin_by_hand.h"

static DEFINE_NBQ_SPIN_FIFO(static_lock);
static struct { struct nbq_spin lock; } static_struct = {
	.lock = NBQ_SPIN_FIFO_INIT(static_struct.lock),
};

static const struct nbq_facts facts = {
	.stays = 0,
	.holder_nodes = 0,
	.without_node = -ENOMEM,
	.leave_steps = 2,
	.leave_bound = 2,
	/* gives its node back */
	.after_leave = { 1, 0 },
	.release_steps = NBQ_SPIN_RELEASE_STEPS,
	.release_bound = 1,
	.checks_unlock = NBQ_SPIN_CHECKS_UNLOCK,
};

#define NBQ_TYPE	nbq_spin
#define NBQ_ROW_NAME	nbq_spin_fifo
#define NBQ_ROW_INIT	nbq_spin_init_fifo
#include "define_lock_row.h"
