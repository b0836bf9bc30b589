/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The deadlock check, for both kinds of waits: what a wait publishes for the checks of others, and
 * its own checks. See wait_deadlock.c.
 */
#ifndef _NBQ_WAIT_DEADLOCK_H
#define _NBQ_WAIT_DEADLOCK_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/types.h>

#include "internal.h"

/* Counts the checks that were suspicious enough to be made exactly. */
extern atomic_long_t nbq_epochs;

static inline struct nbq_blocker nbq_blocking_node(const struct nbq_node *pred)
{
	return (struct nbq_blocker){ .tagged = (unsigned long)pred };
}

/* The tag tells a holder from a node, whose address is even. */
static inline struct nbq_blocker nbq_blocking_holder(u16 holder)
{
	return (struct nbq_blocker){ .tagged = holder ? 2UL * holder + 1 : 0 };
}

/* Let other CPUs see what this attempt waits behind. */
static inline void nbq_wait_publish(struct nbq_wait *wait, struct nbq_blocker blocker,
				    struct nbq_node *const *word)
{
	struct nbq_waiting *waiting = &wait->pool->waiting;

	if (word) {
		/*
		 * RELEASE, pairs with the ACQUIRE of the blocker in is_same_wait(), after the
		 * one of what this points to: a check that has the new word does not find
		 * the old blocker any more. A check that still has the old blocker may read
		 * the new word: behind a holder, where there is none, the old one stays.
		 */
		smp_store_release(&waiting->word, word);
	}
	WRITE_ONCE(waiting->lock, wait->lock);
	WRITE_ONCE(waiting->resumed, wait->resumed);
	/*
	 * Read after the node was enqueued behind its predecessor, which was an ACQUIRE: else
	 * an epoch that is_deadlock() began before that could count this wait in.
	 */
	WRITE_ONCE(waiting->since, atomic_long_read(&nbq_epochs));
	/* RELEASE, pairs with the ACQUIRE in next_wait(): the fields above. */
	smp_store_release(&waiting->blocker.tagged, blocker.tagged);
}

/* Let no other CPU find this attempt behind its predecessor any more. */
static inline void nbq_wait_withdraw(struct nbq_wait *wait)
{
	WRITE_ONCE(wait->pool->waiting.blocker.tagged, 0);
	/*
	 * Pairs with the ACQUIREs in leads_back(): a check that sees the word emptied for the
	 * next wait, or the epoch of a later holder, does not find this wait in is_same_wait().
	 */
	smp_wmb();
}

static inline bool nbq_wait_is_interrupt(const struct nbq_wait *wait)
{
	return nbq_context_level(wait->context);
}

/* Does the attempt check for deadlocks? */
static inline bool nbq_wait_checks(const struct nbq_wait *wait)
{
#ifdef NBQ_OUT_OF_TREE
	if (!READ_ONCE(nbq_deadlock_checks))
		return false;
#endif
	return wait->checks;
}

bool nbq_wait_may_deadlock(struct nbq_wait *wait);
bool nbq_wait_polls_on(struct nbq_wait *wait, bool checks, struct nbq_node *pred,
		       struct nbq_node *const *word);

#endif
