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
 *	the outer one.)
 *	A holder holds its lock until it releases it. (The waiters of a hybrid that was taken
 *	over take the old holder for the holder until they publish the new one.)
 *
 * The checking CPU's own contexts are checked first. They are interrupted meanwhile, so what they
 * have published is true: the locks that they hold, a hybrid's holder, and what they wait behind.
 * A context that was interrupted between the swap of the tail and publish() is found by the
 * waiter directly behind it, which has published, or is about to. So the answer is never wrong,
 * and comes with the first check after that neighbour's next poll. For that reason interrupt
 * handlers check often.
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
 * FIRST_CHECK_NS, then after twice as long, and so on.
 *
 * One clock read serves the deadline, these checks, and the heartbeat of the hybrid. It costs as
 * much as several polls. The next one comes no later than half way to the deadline, by the time
 * that the last polls took, and after no more than POLLS_TO_DEADLINE polls.
 *
 * Overshoot: while its CPU runs, a waiter notices a deadline one poll and one clock read later. If
 * polls take more than twice as long as those before, it is POLLS_TO_DEADLINE polls and one read at
 * most. Among these polls a task may make one deadlock check, an interrupt one behind each
 * predecessor. A waiter without a queue node searches its pool once (in the hybrid: the nodes of it
 * that a tail can encode), and looks once at each lock where it has left one.
 */
#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/cpumask.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>

#include "contention.h"
#include "internal.h"
#include "relax.h"
#include "trace.h"

/* Polls from one clock read to the next: without a deadline; with one, at most. */
#define POLLS_PER_TICK		64U
#define POLLS_TO_DEADLINE	32U
/* Before polls were timed: so many, and the time that one is taken to need, 2^8 ns. */
#define FIRST_POLLS		8U
#define FIRST_POLL_SHIFT	8

/*
 * How long a task has waited before its first deadlock check, and from that to the second; then
 * twice as long each time, up to a limit.
 */
#define FIRST_CHECK_NS		50000U
/* An interrupt checks at once, and more often: only its neighbours can answer it. */
#define INTERRUPT_CHECK_NS	2000U
#ifndef NBQ_WAIT_TIMES
#define IS_CHECK_DUE(wait)	((wait)->now >= (wait)->deadlock_check_at)
#endif
#define MAX_INTERVAL_NS	1000000U
#define MAX_INTERRUPT_INTERVAL_NS	32000U

#ifdef NBQ_OUT_OF_TREE
bool nbq_deadlock_checks __read_mostly = true;
#endif

bool nbq_cpus_stopped __read_mostly;
EXPORT_SYMBOL_IF_KUNIT(nbq_cpus_stopped);

/* Counts the checks that were suspicious enough to be made exactly. */
static atomic_long_t epochs = ATOMIC_LONG_INIT(0);

static struct nbq_blocker blocking_node(const struct nbq_node *pred)
{
	return (struct nbq_blocker){ .tagged = (unsigned long)pred };
}

/* The tag tells a holder from a node, whose address is even. */
static struct nbq_blocker blocking_holder(u16 holder)
{
	return (struct nbq_blocker){ .tagged = holder ? 2UL * holder + 1 : 0 };
}

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

/* Let other CPUs see what this attempt waits behind. */
static void publish(struct nbq_wait *wait, struct nbq_blocker blocker,
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
	WRITE_ONCE(waiting->since, atomic_long_read(&epochs));
	/* RELEASE, pairs with the ACQUIRE in next_wait(): the fields above. */
	smp_store_release(&waiting->blocker.tagged, blocker.tagged);
}

/* Let no other CPU find this attempt behind its predecessor any more. */
static void withdraw(struct nbq_wait *wait)
{
	WRITE_ONCE(wait->pool->waiting.blocker.tagged, 0);
	/*
	 * Pairs with the ACQUIREs in leads_back(): a check that sees the word emptied for the
	 * next wait, or the epoch of a later holder, does not find this wait in is_same_wait().
	 */
	smp_wmb();
}

/* Let other CPUs see which context holds the lock that this attempt waits for. */
static void publish_holder(struct nbq_wait *wait)
{
	struct nbq_waiting *waiting = &wait->pool->waiting;
	unsigned long epoch = atomic_long_read(&epochs);
	struct nbq_blocker holder;

	/*
	 * Full, pairs with the barrier in begin() and with that of an enqueue: if what a wait
	 * reads there is older than this epoch, what was released before that wait is not seen
	 * to be held here. Not less than full: the epoch may be a third CPU's, of which only
	 * some may know by now.
	 */
	smp_mb();
	holder = blocking_holder(READ_ONCE(*wait->held_by));
	if (READ_ONCE(waiting->blocker.tagged) &&
	    READ_ONCE(waiting->blocker.tagged) != holder.tagged)
		withdraw(wait);
	if (!holder.tagged)
		return;
	WRITE_ONCE(waiting->held, epoch);
	if (!READ_ONCE(waiting->blocker.tagged))
		publish(wait, holder, NULL);
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
	/* ACQUIRE, pairs with the RELEASE in publish(): the fields. */
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
		/* ACQUIRE, pairs with withdraw(): of this holder, or is_same_wait() fails. */
		held = smp_load_acquire(&waiting->held);
		word = READ_ONCE(waiting->word);
		lock = READ_ONCE(waiting->lock);
	}
	return false;
}

/* Can no context on the path from @pred, NULL: from the holder, make progress? */
static bool is_deadlock(struct nbq_wait *wait, const struct nbq_node *pred,
			struct nbq_node *const *word)
{
	struct nbq_blocker blocker = pred ? blocking_node(pred) :
					    blocking_holder(READ_ONCE(*wait->held_by));
	unsigned long epoch;

	if (likely(!leads_back(wait, blocker, word, NULL)))
		return false;
	/*
	 * Fully ordered, pairs with the read in publish(): a wait that reads an earlier epoch
	 * there exists already.
	 */
	epoch = atomic_long_inc_return(&epochs);
	if (!pred)
		blocker = blocking_holder(READ_ONCE(*wait->held_by));
	if (!leads_back(wait, blocker, word, &epoch))
		return false;
	wait->judged = pred ? 0 : context_of(blocker);
	return true;
}

#ifdef NBQ_QUEUE_LOCKS
/* Does the context of this pool wait in the queue of the lock? */
static bool waits_for(const struct nbq_pool *pool, const void *lock)
{
	return READ_ONCE(pool->waiting.blocker.tagged) && READ_ONCE(pool->waiting.lock) == lock;
}

/*
 * The same as is_own() for a queue lock: it is also kept from it by what waits in its queue, in
 * front of it. A place that was resumed may be in front of that: the path of its predecessors
 * tells.
 */
static bool is_own_queue(const struct nbq_wait *wait)
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
#endif

/* Does this CPU keep the context from the lock? */
static bool is_own(struct nbq_wait *wait)
{
	u16 holder;

#ifdef NBQ_QUEUE_LOCKS
	if (!wait->held_by)
		return is_own_queue(wait);
#endif
	holder = READ_ONCE(*wait->held_by);
	if (!holder || nbq_context_cpu(holder) != nbq_context_cpu(wait->context))
		return false;
	wait->judged = holder;
	return true;
}

static bool is_interrupt(const struct nbq_wait *wait)
{
	return nbq_context_level(wait->context);
}

/*
 * Can the wait of another context depend on this one, apart from those queued behind it? Each
 * cycle has such a context: the path comes to a lock's holder, which waits itself, or to a CPU on
 * which an interrupt waits. The preemption count is 1 for this attempt, and more if the task
 * holds a spinlock.
 */
static bool may_close_cycle(const struct nbq_wait *wait)
{
	return !IS_ENABLED(CONFIG_PREEMPT_COUNT) || is_interrupt(wait) ||
	       (preempt_count() & PREEMPT_MASK) > 1;
}

/* Does the attempt check for deadlocks? */
static bool checks_deadlocks(const struct nbq_wait *wait)
{
#ifdef NBQ_OUT_OF_TREE
	if (!READ_ONCE(nbq_deadlock_checks))
		return false;
#endif
	return wait->checks;
}

/**
 * nbq_wait_is_own() - Does this CPU itself keep the attempt from the lock?
 * @wait: the attempt, before it waits
 *
 * It holds the lock, or waits in the queue of a queue lock, below this context. An attempt without
 * patience is in no deadlock.
 *
 * Context: Any, preemption off.
 * Return: true if the wait cannot end.
 */
bool nbq_wait_is_own(struct nbq_wait *wait)
{
	wait->checks = may_close_cycle(wait);
	if (nbq_deadline_is_none(wait->deadline))
		return false;
	return checks_deadlocks(wait) && is_own(wait);
}

#ifdef NBQ_QUEUE_LOCKS
/* Is the place that was resumed directly behind a context that this one has interrupted? */
static bool resumed_behind_own(const struct nbq_wait *wait, const struct nbq_node *pred)
{
	return wait->resumed && pred->cpu == nbq_context_cpu(wait->context) &&
	       !nbq_deadline_is_none(wait->deadline) && checks_deadlocks(wait);
}
#endif

/**
 * nbq_wait_announce() - Raise contention_begin, once for each attempt.
 * @deadline: that of the attempt
 * @lock: the lock
 * @ip: for lock_stat: the caller of the operation
 *
 * Before the attempt enqueues, if it is known by then that it has to wait.
 *
 * Context: Any, preemption off.
 */
void nbq_wait_announce(struct nbq_deadline *deadline, const void *lock, unsigned long ip)
{
	deadline->announced = true;
	deadline->traced = trace_nbq_wait_begin_enabled();
#ifdef CONFIG_LOCK_STAT
	if (deadline->waits)
		lock_contended(deadline->waits, ip);
#endif
	nbq_contention_begin(lock);
}

/* The attempt has to wait, for the first time. */
static void begin(struct nbq_wait *wait)
{
	wait->begun = true;
	if (!wait->nested)
		WRITE_ONCE(wait->pool->waiter, wait);
	if (!wait->deadline->announced) {
		nbq_wait_announce(wait->deadline, wait->lock, wait->ip);
		trace_nbq_wait_begin(wait->lock, wait->held_by, wait->ip);
	}
	wait->began = wait->deadline->traced ? nbq_clock_ns() : 0;
	if (wait->held_by) {
		/*
		 * Full, pairs with the barrier in publish_holder(), and with the start of an
		 * epoch: releases before this are seen by each context that takes the epoch
		 * read in publish() for older than its own. In a queue, the swap of the tail
		 * has this order.
		 */
		smp_mb();
	}
	wait->interval = is_interrupt(wait) ? INTERRUPT_CHECK_NS : FIRST_CHECK_NS;
	/*
	 * An interrupt checks at once: it may have interrupted a waiter that has not published
	 * yet what it waits behind.
	 */
	wait->tick_at = wait->polls;
	if (wait->deadline->at == KTIME_MAX && !is_interrupt(wait))
		wait->tick_at += POLLS_PER_TICK;
}

/*
 * A panic has stopped the other CPUs: is this one of them? Each that has stopped is offline. So is
 * one that was on its way up or down then, which no panic stops, and which takes and releases
 * locks. That one is not active: a CPU becomes active once it is online, and no CPU goes offline
 * that is active, but for one that is stopped.
 */
static bool is_stopped(unsigned int cpu)
{
#if IS_ENABLED(CONFIG_NBQLOCK_KUNIT_TEST)
	if (cpu == nr_cpu_ids)
		return true;
#endif
	if (!cpu_active(cpu))
		return false;
	/*
	 * Pairs with the order in which a CPU that comes up is marked online and active: it is not
	 * seen to be active and still offline. No CPU goes down meanwhile, for which the one that
	 * runs this would have to stop for it (stop_machine()).
	 */
	smp_rmb();
	return !cpu_online(cpu);
}

/* Is the holder on such a CPU? */
static noinline bool is_held_for_good(struct nbq_wait *wait)
{
	u16 holder = wait->held_by ? READ_ONCE(*wait->held_by) : 0;

	if (!holder || !is_stopped(nbq_context_cpu(holder)))
		return false;
	wait->judged = holder;
	return true;
}

/* By the clock just read, is nothing due before a wait by hardware has ended? */
static bool has_time_for_hardware(const struct nbq_wait *wait)
{
	u64 until = wait->now + NBQ_RELAX_MAX_NS;

	if (checks_deadlocks(wait) && until > wait->deadlock_check_at)
		return false;
	return nbq_deadline_is_after(wait->deadline, until) && nbq_relax_is_bounded();
}

/* How many polls from the clock read at this time to the next. */
static unsigned int polls_to_tick(const struct nbq_wait *wait, u64 now)
{
	unsigned int polls = 2 * (wait->polls - wait->read_at);
	u64 took = 2 * (now - wait->now);
	u64 left = wait->deadline->at - now;

	if (wait->deadline->at == KTIME_MAX)
		return POLLS_PER_TICK;
	if (!polls) {
		polls = FIRST_POLLS;
		took = FIRST_POLLS << FIRST_POLL_SHIFT;
	}
	while (polls > 1 && (polls > POLLS_TO_DEADLINE || took > left / 2)) {
		polls /= 2;
		took /= 2;
	}
	return polls;
}

/* Is the condition true? It is asked before the deadline, which is judged by a later clock read. */
static bool is_to_stop(const struct nbq_wait *wait)
{
	return wait->unless && wait->unless->stop && wait->unless->stop(wait->unless->arg);
}

/* Is the wait over, by its condition, the deadline or the holder? If not, @now is the time. */
static bool is_over(struct nbq_wait *wait, u64 *now)
{
	if (is_to_stop(wait)) {
		wait->error = -ECANCELED;
		return true;
	}
	*now = nbq_clock_ns();
	if (nbq_deadline_passed(wait->deadline, *now))
		return true;
	/* Plain: it is written once, while no other CPU runs. */
	if (unlikely(nbq_cpus_stopped) && is_held_for_good(wait)) {
		wait->error = -EOWNERDEAD;
		return true;
	}
	return false;
}

/* The clock was read, before the deadline. Return: a deadlock check is due. */
static bool tick(struct nbq_wait *wait, u64 now)
{
	bool checks;

	wait->tick_at = wait->polls + polls_to_tick(wait, now);
	wait->read_at = wait->polls;
	wait->now = now;
	if (!wait->deadlock_check_at)
		wait->deadlock_check_at = wait->now + (is_interrupt(wait) ? 0 : FIRST_CHECK_NS);
	checks = IS_CHECK_DUE(wait);
	if (checks) {
		wait->deadlock_check_at = wait->now + wait->interval;
		wait->interval = min(2 * wait->interval, is_interrupt(wait) ?
				     MAX_INTERRUPT_INTERVAL_NS : MAX_INTERVAL_NS);
	}
	wait->by_hardware = NBQ_RELAX_MAX_NS && has_time_for_hardware(wait);
	return checks;
}

/**
 * nbq_wait_check() - What is due at some polls only: to publish the wait, to read the clock.
 * @wait: the attempt
 * @pred: the predecessor, whose state has not changed; NULL: it waits for the holder
 * @word: the word that it polls
 *
 * Called at the first poll behind each predecessor, and at @wait->check_at.
 *
 * Context: Any, preemption off.
 * Return: true to poll again; or false, with the reason in @wait->error.
 */
bool nbq_wait_check(struct nbq_wait *wait, struct nbq_node *pred,
		    struct nbq_node *const *word)
{
	bool checks = false;

	if (!wait->begun) {
#ifdef NBQ_QUEUE_LOCKS
		/* The hybrid asks before it enqueues. */
		if (!wait->held_by && (nbq_wait_is_own(wait) || resumed_behind_own(wait, pred))) {
			wait->error = -EDEADLK;
			return false;
		}
#endif
		/* An attempt without patience has nothing to publish. */
		if (nbq_deadline_is_none(wait->deadline))
			return false;
		begin(wait);
	}
	if ((int)(wait->polls - wait->tick_at) >= 0) {
		u64 now;

		if (is_over(wait, &now))
			return false;
		checks = tick(wait, now);
	}
	if (READ_ONCE(wait->pool->waiter) == wait && !pred) {
		/* No context depends on a waiter for the holder that holds no lock itself. */
		if ((checks || !READ_ONCE(wait->pool->waiting.blocker.tagged)) && wait->checks)
			publish_holder(wait);
	} else if (READ_ONCE(wait->pool->waiter) == wait &&
		   !READ_ONCE(wait->pool->waiting.blocker.tagged)) {
		publish(wait, blocking_node(pred), word);
		/* A new neighbour, which may have something to answer. */
		checks |= is_interrupt(wait);
	}
	if (checks && checks_deadlocks(wait) && is_deadlock(wait, pred, word)) {
		wait->error = -EDEADLK;
		return false;
	}
	wait->check_at = wait->tick_at;
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(nbq_wait_check);

/**
 * nbq_wait_pause() - The state of the predecessor has changed, or the wait is over.
 * @wait: the attempt
 *
 * Before the predecessor's node can be freed, and before the place is abandoned.
 */
void nbq_wait_pause(struct nbq_wait *wait)
{
	if (READ_ONCE(wait->pool->waiter) == wait)
		withdraw(wait);
	wait->check_at = wait->polls;
	/* Time has gone by since the clock was read. */
	wait->by_hardware = false;
}

static void trace_end(const struct nbq_wait *wait, int ret)
{
	if (wait->deadline->announced)
		nbq_contention_end(wait->lock, ret);
	if (wait->deadline->announced || ret == -EDEADLK)
		trace_nbq_wait_end(wait->lock, wait->judged ? &wait->judged : wait->held_by,
				   wait->ip, ret, wait->deadline->traced, wait->began);
}

/**
 * nbq_wait_end() - The attempt is over.
 * @wait: the attempt
 * @ret: 0 if the lock was acquired, or the error
 *
 * Return: @ret.
 */
int nbq_wait_end(struct nbq_wait *wait, int ret)
{
	struct nbq_events *events = &wait->pool->events;

	if (!wait->deadline->retried && !wait->deadline->visits)
		trace_end(wait, ret);
	if (READ_ONCE(wait->pool->waiter) == wait)
		WRITE_ONCE(wait->pool->waiter, NULL);
	nbq_nesting_leave(wait->pool);
	if (unlikely(wait->deadline->visits))
		return ret;
	if (!ret)
		events->acquired_handoff++;
	else if (ret == -EDEADLK || ret == -EOWNERDEAD)
		events->deadlocks += !wait->deadline->retried;
	else if (ret == -ETIMEDOUT)
		events->timeouts++;
	else if (ret == -ECANCELED)
		events->cancellations++;
	else if (ret == -EBUSY)
		events->failed_tries++;
	return ret;
}

/**
 * nbq_retries_begin() - An operation that cannot fail has found a deadlock, and attempts again.
 * @deadline: that of the attempt that has found it
 * @lock: the lock
 * @held_by: hybrid: where the lock names its holder; or NULL
 * @ip: the caller of the operation
 *
 * Another context in the deadlock may time out, or take the lock over. The further attempts are one
 * wait for tracers, and the deadlock is counted once.
 *
 * Context: Any, preemption off.
 * Return: what they need; nbq_retries_end() is due when one has the lock.
 */
struct nbq_retries nbq_retries_begin(const struct nbq_deadline *deadline, const void *lock,
				     const u16 *held_by, unsigned long ip)
{
	struct nbq_retries retries = { .never = *deadline };

	retries.never.retried = true;
	nbq_wait_announce(&retries.never, lock, ip);
	trace_nbq_wait_begin(lock, held_by, ip);
	retries.began = retries.never.traced ? nbq_clock_ns() : 0;
	return retries;
}

/**
 * nbq_retries_end() - One of these attempts has the lock.
 * @retries: what nbq_retries_begin() has returned
 * @lock: the lock
 * @held_by: hybrid: where the lock names its holder; or NULL
 * @ip: the caller of the operation
 */
void nbq_retries_end(const struct nbq_retries *retries, const void *lock, const u16 *held_by,
		     unsigned long ip)
{
	nbq_contention_end(lock, 0);
	trace_nbq_wait_end(lock, held_by, ip, 0, retries->never.traced, retries->began);
}
