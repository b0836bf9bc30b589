// SPDX-License-Identifier: GPL-2.0
/*
 * Counts of polls.
 */
#include <nbqlock/wait.h>
#include <places.h>

#include "counts.h"

/* No wait polls so often in one transition without the choice. */
#define FAR_AWAY	64U

void counts_reset(unsigned int cpu, unsigned int level, const char *stack,
		  const char *stack_end)
{
	struct nbq_wait *wait = (struct nbq_wait *)shim_waiter(cpu, level);

	/* Of two contexts on one pool, one publishes there. */
	if ((const char *)wait < stack || (const char *)wait >= stack_end ||
	    wait->check_at != wait->tick_at)
		return;
	wait->polls = 1;
	wait->tick_at = wait->polls + FAR_AWAY;
	wait->check_at = wait->tick_at;
	wait->read_at = 0;
}
