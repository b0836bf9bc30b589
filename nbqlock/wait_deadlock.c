// SPDX-License-Identifier: GPL-2.0
/*
 * Deadlock checks: which context waits for which.
 *
 * A context waits behind one queue node at a time, its predecessor's. The owner of that node is a
 * context of the CPU whose pool the node is from. It makes progress only while neither it nor a
 * context that has interrupted it waits. So the next node to check is the one that its CPU waits
 * behind, at the node's context level or above. This path ends at a context that runs, or leads
 * back to the checking CPU. If it leads back, no context on it makes progress unless one of them
 * gives up: -EDEADLK, however many locks and CPUs there are.
 *
 * The path goes by nodes, not by holders. A lock that was handed over to a waiter whose CPU is
 * interrupted is not marked as held yet; in the middle of a queue, such a waiter stops the queue as
 * well. Only the hybrid names its holder as soon as it is held, and its waiters do not depend on
 * their predecessors: they wait behind the holder, a context of the path like any other.
 *
 * Assumptions
 *	Preemption is off from the start of a wait to the unlock: what a CPU holds or waits for
 *	at a context level stays below what runs there.
 *	Contexts on one CPU nest, and have a level each. If two of one level nest, the inner one
 *	publishes nothing, and no path goes on from its node: what its CPU waits behind is the
 *	outer one's wait. A deadlock with it may last until the patience ends. (A hybrid names
 *	only the level of its holder: a lock that a nested context holds is taken to be held by
 *	the outer one, until its waiters publish the next holder.)
 *	A holder holds its lock until it releases it. (The waiters of a hybrid that was taken
 *	over take the old holder for the holder until they publish the new one.)
 *
 * The checking CPU's own contexts are checked first. They are interrupted meanwhile, so what they
 * have published is true: the locks that they hold, a hybrid's holder, and what they wait behind.
 * A context that was interrupted between the swap of the tail and nbq_wait_publish() is
 * found by the waiter directly behind it, which has published, or is about to. So the answer is
 * never wrong, and comes with the first check after that neighbour's next poll. For that reason
 * interrupt handlers check often.
 *
 * The check is exact, although it reads one context after the other while all of them run. If a
 * path leads back, the check begins a new epoch, a number that grows, and follows the path again.
 * Each wait publishes the epoch in which it began. A wait of an earlier epoch that is found in the
 * new one existed when that began; its owner waits, or was interrupted by a context that waits,
 * and has released nothing since. If that holds for all, all existed at the same moment. Only
 * waiters can see that a holder holds their lock: they poll it now and then, and publish in which
 * epoch. If the holder's own wait began in an earlier epoch than that, it still holds the lock.
 *
 * Bounded: a check has at most as many steps as there are CPUs, and waits for no context. It is
 * made only by waiters that may close a cycle, less and less often during the wait: after
 * FIRST_CHECK_NS (wait.c), then after twice as long, and so on.
 */
#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/preempt.h>

#include "internal.h"
#include "wait_deadlock.h"

#ifdef NBQ_OUT_OF_TREE
bool nbq_deadlock_checks __read_mostly = true;
#endif

atomic_long_t nbq_epochs = ATOMIC_LONG_INIT(0);

static bool is_holder(struct nbq_blocker blocker)
{
	return blocker.tagged & 1;
}

/*
 * The context that a wait behind this depends on, encoded. The pool of a holder may not be set
 * up: it has needed no node.
 */
static u16 context_of(struct nbq_blocker blocker)
{
	const struct nbq_node *pred = (const struct nbq_node *)blocker.tagged;

	return is_holder(blocker) ? blocker.tagged / 2 : nbq_context_of(pred->pool);
}

/* A node of a nested attempt: what its pool waits behind is a wait of the outer one. */
static bool is_nested(struct nbq_blocker blocker)
{
	const struct nbq_node *pred = (const struct nbq_node *)blocker.tagged;

	return !is_holder(blocker) && READ_ONCE(pred->nested);
}

/*
 * What a context waits for: what its CPU waits behind, at the highest level that waits, from
 * its own up. NULL: nothing.
 */
static const struct nbq_waiting *obstacle(u16 context)
{
	/* The pools of a CPU stand side by side, in the order of their levels. */
	const struct nbq_pool *pool = nbq_pool_of(context);
	unsigned int above = NBQ_LEVELS - nbq_context_level(context);

	while (above--) {
		if (READ_ONCE(pool[above].waiting.blocker.tagged))
			return &pool[above].waiting;
	}
	return NULL;
}

/* Did this wait begin before the epoch did? The numbers wrap. */
static bool is_older(const struct nbq_waiting *waiting, unsigned long epoch)
{
	return (long)(READ_ONCE(waiting->since) - epoch) < 0;
}

/*
 * The path has led back to the checking context, behind a holder on this CPU that held its lock
 * in this epoch. Does it still?
 */
static bool is_held_here(const struct nbq_wait *wait, u16 holder, unsigned long held)
{
	/*
	 * Not if a context above has come and gone; or if this wait has published nothing,
	 * since it found the lock without a holder, so that what stands there is older.
	 */
	return nbq_context_level(holder) <= nbq_context_level(wait->context) &&
	       READ_ONCE(wait->pool->waiter) == wait &&
	       READ_ONCE(wait->pool->waiting.blocker.tagged) &&
	       is_older(&wait->pool->waiting, held);
}

/*
 * Is this still the wait that the check has come by, and did it begin before the epoch? A waiter
 * withdraws before the node that it waits behind can be freed, and before its word can be that
 * of a later wait. (In CLH-NB a third CPU may see the next life of the node first, where the
 * memory model lets it; the epochs are exact there, too.)
 */
static bool is_same_wait(const struct nbq_waiting *waiting, struct nbq_blocker blocker,
			 const unsigned long *epoch)
{
	/* ACQUIRE, as in next_wait(): since is not older than this. */
	return smp_load_acquire(&waiting->blocker.tagged) == blocker.tagged &&
	       (!epoch || is_older(waiting, *epoch));
}

/* What a context waits for, and behind what. With an epoch, only if it began before. */
static const struct nbq_waiting *next_wait(u16 owner, struct nbq_blocker *blocker,
					   const unsigned long *epoch)
{
	const struct nbq_waiting *waiting = obstacle(owner);

	if (!waiting)
		return NULL;
	/* ACQUIRE, pairs with the RELEASE in nbq_wait_publish(): the fields. */
	blocker->tagged = smp_load_acquire(&waiting->blocker.tagged);
	if (!blocker->tagged || (epoch && !is_older(waiting, *epoch)))
		return NULL;
	return waiting;
}

/*
 * Does this wait, found above one for @lock on the same CPU, get -EDEADLK itself, as it waits for
 * its own CPU? Not with a place that it has resumed, which may be in front of the other's.
 */
static bool finds_own_cpu(const struct nbq_waiting *waiting, const struct nbq_waiting *below,
			  const void *lock)
{
	return waiting != below && READ_ONCE(waiting->lock) == lock && !READ_ONCE(waiting->resumed);
}

/*
 * Does the path from this blocker lead back to this CPU? With an epoch, each wait on it must
 * have begun before that, and each holder must have held its lock since it waits itself.
 */
static bool leads_back(const struct nbq_wait *wait, struct nbq_blocker blocker,
		       struct nbq_node *const *word, const unsigned long *epoch)
{
	unsigned int steps = nr_cpu_ids;	/* a path that leads back has each CPU once */
	const struct nbq_waiting *waiting = NULL;
	const void *lock = wait->lock;
	unsigned long held = epoch ? *epoch : 0;

	for (; blocker.tagged && steps; steps--) {
		u16 owner = context_of(blocker);
		bool exactly_behind = epoch && is_holder(blocker);

		/* ACQUIRE, before is_same_wait(). A state that has changed: no deadlock. */
		if (!is_holder(blocker) && smp_load_acquire(word))
			return false;
		if (waiting && !is_same_wait(waiting, blocker, epoch))
			return false;
		if (nbq_context_cpu(owner) == nbq_context_cpu(wait->context))
			return !exactly_behind || is_held_here(wait, owner, held);
		if (is_nested(blocker))
			return false;

		waiting = next_wait(owner, &blocker, epoch);
		if (!waiting)
			return false;
		if (exactly_behind && !is_older(waiting, held))
			return false;
		if (finds_own_cpu(waiting, &nbq_pool_of(owner)->waiting, lock))
			return false;
		/*
		 * ACQUIRE, pairs with nbq_wait_withdraw(): of this holder, or is_same_wait()
		 * fails.
		 */
		held = smp_load_acquire(&waiting->held);
		word = READ_ONCE(waiting->word);
		lock = READ_ONCE(waiting->lock);
	}
	return false;
}

/* What the wait is behind now. */
static struct nbq_blocker blocker_of(const struct nbq_wait *wait, const struct nbq_node *pred)
{
	return pred ? nbq_blocking_node(pred) : nbq_blocking_holder(READ_ONCE(*wait->held_by));
}

/* Can no context on the path from @pred, NULL: from the holder, make progress? */
static bool is_deadlock(struct nbq_wait *wait, const struct nbq_node *pred,
			struct nbq_node *const *word)
{
	struct nbq_blocker blocker = blocker_of(wait, pred);
	unsigned long epoch;

	if (likely(!leads_back(wait, blocker, word, NULL)))
		return false;
	/*
	 * Fully ordered, pairs with the read in nbq_wait_publish(): a wait that reads an earlier
	 * epoch there exists already.
	 */
	epoch = atomic_long_inc_return(&nbq_epochs);
	blocker = blocker_of(wait, pred);
	if (!leads_back(wait, blocker, word, &epoch))
		return false;
	wait->judged = pred ? 0 : context_of(blocker);
	return true;
}

/*
 * Can the wait of another context depend on this one, apart from those queued behind it? Each
 * cycle has such a context: the path comes to a lock's holder, which waits itself, or to a CPU on
 * which an interrupt waits. The preemption count is 1 for this attempt, and more if the task
 * holds a spinlock.
 */
static bool may_close_cycle(const struct nbq_wait *wait)
{
	return !IS_ENABLED(CONFIG_PREEMPT_COUNT) || nbq_wait_is_interrupt(wait) ||
	       (preempt_count() & PREEMPT_MASK) > 1;
}

/**
 * nbq_wait_may_deadlock() - Decide whether the attempt checks for deadlocks.
 * @wait: the attempt, before it waits
 *
 * An attempt without patience is in no deadlock.
 *
 * Return: it does.
 */
bool nbq_wait_may_deadlock(struct nbq_wait *wait)
{
	wait->checks = may_close_cycle(wait);
	if (nbq_deadline_is_none(wait->deadline))
		return false;
	return nbq_wait_checks(wait);
}

/**
 * nbq_wait_polls_on() - All that was due is done, but for the deadlock check.
 * @wait: the attempt
 * @checks: that is due, too
 * @pred: the predecessor; NULL: it waits for the holder
 * @word: the word that it polls
 *
 * Return: true to poll again; or false, with the reason in @wait->error.
 */
bool nbq_wait_polls_on(struct nbq_wait *wait, bool checks, struct nbq_node *pred,
		       struct nbq_node *const *word)
{
	if (checks && nbq_wait_checks(wait) && is_deadlock(wait, pred, word)) {
		wait->error = -EDEADLK;
		return false;
	}
	wait->check_at = wait->tick_at;
	return true;
}
