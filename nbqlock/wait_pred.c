// SPDX-License-Identifier: GPL-2.0
/*
 * A wait behind a predecessor, as in the queue locks: it polls a word that the predecessor changes.
 */
#include <linux/compiler.h>
#include <linux/errno.h>

#include "internal.h"
#include "wait_deadlock.h"

/* Does the context of this pool wait in the queue of the lock? */
static bool waits_for(const struct nbq_pool *pool, const void *lock)
{
	return READ_ONCE(pool->waiting.blocker.tagged) && READ_ONCE(pool->waiting.lock) == lock;
}

/*
 * Does this CPU keep the context from the lock? It holds the lock, or waits in its queue below this
 * context. A place that was resumed may be in front of that wait: the path of its predecessors
 * tells.
 */
static bool is_own(const struct nbq_wait *wait)
{
	const struct nbq_pool *pool = wait->pool;
	unsigned int below = nbq_context_level(wait->context);

	if (wait->nested && waits_for(pool, wait->lock))
		return true;
	while (!nbq_held_find(pool, wait->lock)) {
		if (!below--)
			return false;
		pool--;
		if (!wait->resumed && waits_for(pool, wait->lock))
			return true;
	}
	return true;
}

/* Is the place that was resumed directly behind a context that this one has interrupted? */
static bool resumed_behind_own(const struct nbq_wait *wait, const struct nbq_node *pred)
{
	return wait->resumed && pred->cpu == nbq_context_cpu(wait->context);
}

/**
 * nbq_wait_check_behind_pred() - What is due at some polls only: to publish the wait, to read the
 *	clock.
 * @wait: the attempt
 * @pred: the predecessor, whose state has not changed
 * @word: the word that it polls
 *
 * Called at the first poll behind each predecessor, and at @wait->check_at.
 *
 * Context: Any, preemption off.
 * Return: true to poll again; or false, with the reason in @wait->error.
 */
bool nbq_wait_check_behind_pred(struct nbq_wait *wait, struct nbq_node *pred,
				struct nbq_node *const *word)
{
	bool checks = false;

	if (!wait->begun) {
		if (nbq_wait_may_deadlock(wait) &&
		    (is_own(wait) || resumed_behind_own(wait, pred))) {
			wait->error = -EDEADLK;
			return false;
		}
		if (!nbq_wait_begin(wait))
			return false;
	}
	if (nbq_wait_is_tick_due(wait)) {
		u64 now = nbq_clock_ns();

		if (nbq_deadline_passed(wait->deadline, now))
			return false;
		checks = nbq_wait_tick(wait, now);
	}
	if (READ_ONCE(wait->pool->waiter) == wait &&
	    !READ_ONCE(wait->pool->waiting.blocker.tagged)) {
		nbq_wait_publish(wait, nbq_blocking_node(pred), word);
		/* A new neighbour, which may have something to answer. */
		checks |= nbq_wait_is_interrupt(wait);
	}
	return nbq_wait_polls_on(wait, checks, pred, word);
}
