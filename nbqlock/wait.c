// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting that cannot end: who waits for whom.
 *
 * Each context waits behind one queue node at a time: its predecessor's. That
 * node's owner, a context of the CPU whose pool it is from, goes on only once it
 * does not wait itself and nobody does who has interrupted it; so the next to
 * look at is what that CPU waits behind, at the node's context level or above.
 * Following this from node to node ends at somebody who runs, or comes back to
 * the CPU that asks. Then nobody on the way can go on unless one of them gives
 * up: -EDEADLK, however many locks and CPUs the cycle has.
 *
 * By nodes and not by holders: a lock that was handed to a waiter whose CPU has
 * been interrupted is held by nobody's account, and a queue is as dead if that
 * happens in its middle. Only the hybrid names its holder from the moment at which
 * it is held, and its waiters can do without those in front: they wait behind the
 * holder, a context like any other on the way.
 *
 * Assumptions
 *	Preemption is off from the start of a wait to the unlock: what a CPU
 *	holds or waits for, at a context level, is under whatever runs there.
 *	Contexts on one CPU nest, and have a level each. (Should two of one
 *	level nest, the upper one leaves no notes, and a deadlock that it is in
 *	may go unnoticed until the patience is over.)
 *
 * The asking CPU's own contexts are the first thing looked at. They stand still
 * meanwhile, so that what they have written is the truth: what they hold, a hybrid's
 * holder, and what they wait behind. Where they have been interrupted before they could
 * write it, between the swap of the tail and the note, whoever stands directly
 * behind them has written it, or is about to, and the walk finds them there. So
 * the answer is never wrong, and comes with the first walk after that neighbour's
 * next look; interrupt handlers walk often for that.
 *
 * Why the walk is exact, although it looks at one context after the other while
 * all of them run: one that comes back is made again, and begins by starting a new
 * round, a number that grows. Every wait has a note of the round in which it began
 * behind that node. A wait that began in an earlier round and is found later was
 * there when this round began; its owner, waiting or interrupted by one who waits,
 * can have released nothing since. If all are like that, then all were there at the
 * same moment. That a holder is one, only those can see who wait for its lock: they
 * look now and then, and note in which round. If what it waits for now it waited
 * for in an earlier round, it holds the lock still.
 *
 * Bounded: it ends after as many steps as there are CPUs, and does not wait for
 * anybody. It is made by those only that may close a cycle, more and more rarely
 * while the wait goes on: after FIRST_CHECK_NS, then twice as long, and so on.
 */
#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/cpumask.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>

#include "contention.h"
#include "internal.h"
#include "relax.h"

/* Looks from one reading of the clock to the next, for what is not the deadline. */
#define POLLS_PER_TICK	64U

/*
 * How long a task has waited when it searches first, and from then until it does so again;
 * after that twice as long each time, up to a limit. The explorer makes a choice of it.
 */
#ifndef NBQ_WAIT_TIMES
#define FIRST_CHECK_NS		50000U
/* An interrupt searches at once, and more often: only its neighbours can tell it. */
#define INTERRUPT_CHECK_NS	2000U
#endif
#define MAX_INTERVAL_NS	1000000U
#define MAX_INTERRUPT_INTERVAL_NS	32000U

bool nbq_deadlock_checks __read_mostly = true;

/* Rounds of walks that were suspicious enough to be made exactly. */
static atomic_long_t epochs = ATOMIC_LONG_INIT(0);

/* A holder in the place of a predecessor: an odd address, which no node has. */
static struct nbq_node *as_pred(u16 holder)
{
	return holder ? (struct nbq_node *)(2UL * holder + 1) : NULL;
}

static bool is_holder(const struct nbq_node *pred)
{
	return (unsigned long)pred & 1;
}

/*
 * Which context must go on before a wait behind pred can end, encoded. A holder's pool
 * may not be set up: it has needed no node.
 */
static u16 context_of(const struct nbq_node *pred)
{
	return is_holder(pred) ? (unsigned long)pred / 2 : nbq_context_of(pred->pool);
}

/* Let others see what I wait behind. */
static void publish(struct nbq_wait *wait, struct nbq_node *pred,
		    struct nbq_node *const *word)
{
	struct nbq_waiting *waiting = &wait->pool->waiting;

	if (word) {
		/*
		 * RELEASE, pairs with the look back in leads_back(), after the
		 * ACQUIRE of what this points to: who has the new word does not
		 * find the old pred any more. Who still has the old pred may
		 * read the word only now: behind a holder, where there is none,
		 * the old one stays.
		 */
		smp_store_release(&waiting->word, word);
	}
	WRITE_ONCE(waiting->lock, wait->lock);
	/*
	 * Read after I came to stand behind pred, which was an ACQUIRE: else a
	 * round that is_deadlock() began before that could count me in.
	 */
	WRITE_ONCE(waiting->since, atomic_long_read(&epochs));
	/* RELEASE, pairs with the ACQUIRE in leads_back(): the fields above. */
	smp_store_release(&waiting->pred, pred);
}

/* Nobody finds me behind the one in front any more. */
static void withdraw(struct nbq_wait *wait)
{
	WRITE_ONCE(wait->pool->waiting.pred, NULL);
	/*
	 * Pairs with the ACQUIREs in leads_back(): who sees my word emptied for
	 * the next one, in nbq_mcs_link() or nbq_swap_link(), or the note of a
	 * later holder, does not find this one when it looks back.
	 */
	smp_wmb();
}

/* Let others see who holds the lock that I wait for. */
static void publish_holder(struct nbq_wait *wait)
{
	struct nbq_waiting *waiting = &wait->pool->waiting;
	unsigned long epoch = atomic_long_read(&epochs);
	struct nbq_node *holder;

	/*
	 * Full, pairs with that of begin() and that of a join: if what a wait
	 * reads there is older than this round, what was released before that
	 * wait is not seen to be held here. Not less than full: the round may be
	 * a third CPU's, of which only some may know by now.
	 */
	smp_mb();
	holder = as_pred(READ_ONCE(*wait->held_by));
	if (READ_ONCE(waiting->pred) && READ_ONCE(waiting->pred) != holder)
		withdraw(wait);
	if (!holder)
		return;
	WRITE_ONCE(waiting->held, epoch);
	if (!READ_ONCE(waiting->pred))
		publish(wait, holder, NULL);
}

/*
 * What keeps a context from going on: what its CPU waits behind, at the highest level
 * that waits, from its own up. NULL: nothing.
 */
static const struct nbq_waiting *obstacle(u16 context)
{
	/* The pools of a CPU stand side by side, in the order of their levels. */
	const struct nbq_pool *pool = nbq_pool_of(context);
	unsigned int above = NBQ_LEVELS - nbq_context_level(context);

	while (above--) {
		if (READ_ONCE(pool[above].waiting.pred))
			return &pool[above].waiting;
	}
	return NULL;
}

/* Has this wait begun before a round did? The numbers wrap. */
static bool is_older(const struct nbq_waiting *waiting, unsigned long epoch)
{
	return (long)(READ_ONCE(waiting->since) - epoch) < 0;
}

/*
 * The way has come back to the context that asks, behind a holder which is said to
 * be on this CPU, since that held its lock in this round. Is it, still?
 */
static bool is_held_here(const struct nbq_wait *wait, u16 holder, unsigned long held)
{
	/*
	 * One above has come and gone; or I have no note, since I have found the
	 * lock without a holder when I was to write it, and this is an old one's.
	 */
	return nbq_context_level(holder) <= nbq_context_level(wait->context) &&
	       READ_ONCE(wait->pool->waiter) == wait &&
	       READ_ONCE(wait->pool->waiting.pred) &&
	       is_older(&wait->pool->waiting, held);
}

/*
 * Does the way from pred come back to this CPU? With a round, each wait on it
 * must have begun before that, and each holder must have held its lock since it
 * waits itself.
 */
static bool leads_back(const struct nbq_wait *wait, const struct nbq_node *pred,
		       struct nbq_node *const *word, const unsigned long *epoch)
{
	unsigned int steps = nr_cpu_ids;	/* a way that comes back: once a CPU */
	const struct nbq_waiting *waiting = NULL;
	const void *lock = wait->lock;
	unsigned long held = epoch ? *epoch : 0;

	if (!pred)
		pred = as_pred(READ_ONCE(*wait->held_by));
	for (; pred && steps; steps--) {
		u16 owner = context_of(pred);
		bool exactly_behind = epoch && is_holder(pred);

		/* ACQUIRE, before the look back below. */
		if (!is_holder(pred) && smp_load_acquire(word))
			return false;	/* pred has said something: this queue moves */
		/*
		 * Look back. It was the same wait: whoever waits behind a node
		 * stops to say so before the node can be given back, and before
		 * the word can be that of a later wait. (In CLH-NB a third CPU may
		 * see the node's next life first, where the memory model lets it;
		 * the rounds are exact there, too.)
		 * ACQUIRE, as below: since is not older than this.
		 */
		if (waiting && (smp_load_acquire(&waiting->pred) != pred ||
				(epoch && !is_older(waiting, *epoch))))
			return false;
		if (nbq_context_cpu(owner) == nbq_context_cpu(wait->context))
			return !exactly_behind || is_held_here(wait, owner, held);

		waiting = obstacle(owner);
		if (!waiting)
			return false;
		/* ACQUIRE, pairs with the RELEASE in publish(): the fields. */
		pred = smp_load_acquire(&waiting->pred);
		if (!pred || (epoch && !is_older(waiting, *epoch)))
			return false;
		if (exactly_behind && !is_older(waiting, held))
			return false;
		/* It waits for its own CPU, and is being told so: that resolves it. */
		if (waiting != &nbq_pool_of(owner)->waiting && READ_ONCE(waiting->lock) == lock)
			return false;
		/* ACQUIRE, pairs with withdraw(): of this holder, or I look back. */
		held = smp_load_acquire(&waiting->held);
		word = READ_ONCE(waiting->word);
		lock = READ_ONCE(waiting->lock);
	}
	return false;
}

/* Nobody on the way from pred can go on unless somebody gives up. */
static bool is_deadlock(const struct nbq_wait *wait, const struct nbq_node *pred,
			struct nbq_node *const *word)
{
	unsigned long epoch;

	if (likely(!leads_back(wait, pred, word, NULL)))
		return false;
	/*
	 * Fully ordered, pairs with the read in publish(): who reads a round
	 * before this one there waits already.
	 */
	epoch = atomic_long_inc_return(&epochs);
	return leads_back(wait, pred, word, &epoch);
}

/* Does this CPU hold the lock or stand in front already, under this context? */
static bool is_own(const struct nbq_wait *wait)
{
	const struct nbq_pool *pool = wait->pool;
	unsigned int below = nbq_context_level(wait->context);

	if (wait->held_by) {
		u16 holder = READ_ONCE(*wait->held_by);

		if (holder && nbq_context_cpu(holder) == nbq_context_cpu(wait->context))
			return true;
	}
	if (!wait->in_order)
		return false;
	while (!nbq_held_find(pool, wait->lock)) {
		if (!below--)
			return false;
		pool--;
		if (READ_ONCE(pool->waiting.pred) &&
		    READ_ONCE(pool->waiting.lock) == wait->lock)
			return true;
	}
	return true;
}

static bool is_interrupt(const struct nbq_wait *wait)
{
	return nbq_context_level(wait->context);
}

/*
 * Can another context's wait depend on this one, apart from those queued behind it? Each
 * cycle has a context of which that is so: from node to node its walk comes to a lock's
 * holder, which waits itself, or to a CPU on which an interrupt waits. The preemption
 * count is 1 for this attempt, and more if the task holds a spinlock.
 */
static bool may_close_cycle(const struct nbq_wait *wait)
{
	return !IS_ENABLED(CONFIG_PREEMPT_COUNT) || is_interrupt(wait) ||
	       (preempt_count() & PREEMPT_MASK) > 1;
}

/**
 * nbq_wait_announce() - Raise contention_begin, once for each attempt.
 * @deadline: that of the attempt
 * @lock: the lock
 * @waits: for lock_stat: what lockdep has been told that it waits for; or NULL
 * @ip: for lock_stat: who called the operation
 *
 * Before the attempt enqueues, if it is known by then that it has to wait.
 *
 * Context: Any, preemption off.
 */
void nbq_wait_announce(struct nbq_deadline *deadline, const void *lock,
		       struct lockdep_map *waits, unsigned long ip)
{
	deadline->announced = true;
#ifdef CONFIG_LOCK_STAT
	if (waits)
		lock_contended(waits, ip);
#endif
	nbq_contention_begin(lock);
}

/* The attempt has to wait, for the first time. */
static void begin(struct nbq_wait *wait)
{
	wait->begun = true;
	/* One that has interrupted another of its own level leaves no notes. */
	if (!READ_ONCE(wait->pool->waiter))
		WRITE_ONCE(wait->pool->waiter, wait);
	if (!wait->deadline->announced) {
#ifdef CONFIG_LOCK_STAT
		nbq_wait_announce(wait->deadline, wait->lock, wait->dep_map, wait->ip);
#else
		nbq_wait_announce(wait->deadline, wait->lock, NULL, 0);
#endif
	}
	if (wait->held_by) {
		/*
		 * Full, pairs with that of publish_holder(), and that of the
		 * round's start: all that was released before this is over for
		 * those who take the round that publish() reads below for older
		 * than theirs. A queue is entered by a swap that has this order.
		 */
		smp_mb();
	}
	wait->interval = is_interrupt(wait) ? INTERRUPT_CHECK_NS : FIRST_CHECK_NS;
	/*
	 * An interrupt handler searches at once: it may have interrupted one that
	 * could not write yet what it waits behind.
	 */
	wait->tick_at = is_interrupt(wait) ? wait->polls : wait->polls + POLLS_PER_TICK;
}

/*
 * By the clock that was just read, does nothing need to be done before a wait by hardware
 * has ended?
 */
static bool has_time_for_hardware(const struct nbq_wait *wait)
{
	u64 until = wait->now + NBQ_RELAX_MAX_NS;

	if (wait->checks && READ_ONCE(nbq_deadlock_checks) && until > wait->deadlock_check_at)
		return false;
	return nbq_deadline_is_after(wait->deadline, until) && nbq_relax_is_bounded();
}

/* Look at the clock if it is time to. Return: it is time to search for a deadlock. */
static bool tick(struct nbq_wait *wait)
{
	bool checks;

	if ((int)(wait->polls - wait->tick_at) < 0)
		return false;
	wait->tick_at = wait->polls + POLLS_PER_TICK;
	wait->now = nbq_clock_ns();
	if (!wait->deadlock_check_at)
		wait->deadlock_check_at = wait->now + (is_interrupt(wait) ? 0 : FIRST_CHECK_NS);
	checks = wait->now >= wait->deadlock_check_at;
	if (checks) {
		wait->deadlock_check_at = wait->now + wait->interval;
		wait->interval = min(2 * wait->interval, is_interrupt(wait) ?
				     MAX_INTERRUPT_INTERVAL_NS : MAX_INTERVAL_NS);
	}
	wait->by_hardware = NBQ_RELAX_MAX_NS && has_time_for_hardware(wait);
	return checks;
}

/**
 * nbq_wait_check() - What is done at some looks only: notes, and walks.
 * @wait: the attempt
 * @pred: whom it waits behind, who has said nothing
 * @word: where it looks
 *
 * Called at the first look behind each predecessor, and when it has asked for.
 *
 * Context: Any, preemption off.
 * Return: true if the wait cannot end.
 */
bool nbq_wait_check(struct nbq_wait *wait, struct nbq_node *pred,
		    struct nbq_node *const *word)
{
	bool checks;

	if (!wait->begun) {
		wait->checks = may_close_cycle(wait);
		/* What does not wait is in no deadlock, and has nothing to publish. */
		if (nbq_deadline_is_none(wait->deadline))
			return false;
		if (READ_ONCE(nbq_deadlock_checks) && wait->checks && is_own(wait))
			return true;
		begin(wait);
	}
	checks = tick(wait);
	if (READ_ONCE(wait->pool->waiter) == wait && !pred) {
		/* Without an order, none depends on a waiter that holds no lock. */
		if ((checks || !READ_ONCE(wait->pool->waiting.pred)) &&
		    (wait->checks || wait->in_order))
			publish_holder(wait);
	} else if (READ_ONCE(wait->pool->waiter) == wait &&
		   !READ_ONCE(wait->pool->waiting.pred)) {
		publish(wait, pred, word);
		/* A new neighbour, who may have something to tell. */
		checks |= is_interrupt(wait);
	}
	if (checks && READ_ONCE(nbq_deadlock_checks) && wait->checks &&
	    is_deadlock(wait, pred, word))
		return true;
	wait->check_at = wait->tick_at;
	return false;
}

/**
 * nbq_wait_pause() - The predecessor has said something, or the wait is over.
 * @wait: the attempt
 *
 * Before its node may be given back, and before leaving.
 */
void nbq_wait_pause(struct nbq_wait *wait)
{
	if (READ_ONCE(wait->pool->waiter) == wait)
		withdraw(wait);
	wait->check_at = wait->polls;
	/* Time has gone by since the clock was read. */
	wait->by_hardware = false;
}

/**
 * nbq_wait_end() - The attempt has come to its end.
 * @wait: the attempt
 * @ret: 0 if it has the lock now, or why not
 *
 * Return: @ret.
 */
int nbq_wait_end(struct nbq_wait *wait, int ret)
{
	struct nbq_events *events = &wait->pool->events;

	if (wait->deadline->announced)
		nbq_contention_end(wait->lock, ret);
	if (READ_ONCE(wait->pool->waiter) == wait)
		WRITE_ONCE(wait->pool->waiter, NULL);
	if (!ret)
		events->acquired_handoff++;
	else if (ret == -EDEADLK)
		events->deadlocks++;
	else if (ret == -ETIMEDOUT)
		events->timeouts++;
	else if (ret == -EBUSY)
		events->failed_tries++;
	return ret;
}
