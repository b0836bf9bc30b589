// SPDX-License-Identifier: GPL-2.0
/*
 * The row of the hybrid: see lock_row.h.
 */
#include "spin_row.h"

#define NBQ_ROW_NAME		nbq_spin
#define NBQ_INIT(lock)		nbq_spin_init(lock)

static DEFINE_NBQ_SPIN(static_lock);
static struct { struct nbq_spin lock; } static_struct = {
	.lock = NBQ_SPIN_INIT(static_struct.lock),
};

static const struct nbq_facts facts = {
	.tail_stays = 0,
	.holder_nodes = 0,
	.steals = true,
	.reads_before_enqueue = 5,
	.without_node = -ETIMEDOUT,
	.checks_unlock = NBQ_SPIN_CHECKS_UNLOCK,
};

#include "define_lock_row.h"
