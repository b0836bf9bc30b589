// SPDX-License-Identifier: GPL-2.0
/*
 * The row of the hybrid that is first come, first served: see lock_row.h.
 */
#include "spin_row.h"

#define NBQ_ROW_NAME		nbq_spin_fifo
#define NBQ_INIT(lock)		nbq_spin_init(lock, NBQ_SPIN_FIFO)

static DEFINE_NBQ_SPIN(static_lock, NBQ_SPIN_FIFO);
static struct { struct nbq_spin lock; } static_struct = {
	.lock = NBQ_SPIN_INIT(static_struct.lock, NBQ_SPIN_FIFO),
};

static const struct nbq_facts facts = {
	.tail_stays = 0,
	.holder_nodes = 0,
	/* The lock and its tail cannot be swapped at once. */
	.takers_nodes = !IS_ENABLED(CONFIG_64BIT),
	.without_node = -ENOMEM,
	.checks_unlock = NBQ_SPIN_CHECKS_UNLOCK,
};

#include "define_lock_row.h"
