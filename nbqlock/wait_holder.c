// SPDX-License-Identifier: GPL-2.0
/*
 * A wait behind the holder, as in the hybrid, where the lock names it: whatever the waiter polls,
 * only the holder keeps it from the lock. Such a wait has two more ends: its condition is true, or
 * a panic has stopped the holder's CPU.
 */
#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/cpumask.h>
#include <linux/errno.h>

#include "internal.h"
#include "wait_deadlock.h"

bool nbq_cpus_stopped __read_mostly;
EXPORT_SYMBOL_IF_KUNIT(nbq_cpus_stopped);

/* Let other CPUs see which context holds the lock that this attempt waits for. */
static void publish_holder(struct nbq_wait *wait)
{
	struct nbq_waiting *waiting = &wait->pool->waiting;
	unsigned long epoch = atomic_long_read(&nbq_epochs);
	struct nbq_blocker holder;

	/*
	 * Full, pairs with the barrier in nbq_wait_check_behind_holder() and with that of an
	 * enqueue: if what a wait reads there is older than this epoch, what was released before
	 * that wait is not seen to be held here. Not less than full: the epoch may be a third
	 * CPU's, of which only some may know by now.
	 */
	smp_mb();
	holder = nbq_blocking_holder(READ_ONCE(*wait->held_by));
	if (READ_ONCE(waiting->blocker.tagged) &&
	    READ_ONCE(waiting->blocker.tagged) != holder.tagged)
		nbq_wait_withdraw(wait);
	if (!holder.tagged)
		return;
	WRITE_ONCE(waiting->held, epoch);
	if (!READ_ONCE(waiting->blocker.tagged))
		nbq_wait_publish(wait, holder, NULL);
}

/**
 * nbq_wait_is_own() - Does a context of this CPU hold the lock?
 * @wait: the attempt, before it waits
 *
 * Context: Any, preemption off.
 * Return: true if the wait cannot end.
 */
bool nbq_wait_is_own(struct nbq_wait *wait)
{
	u16 holder;

	if (!nbq_wait_may_deadlock(wait))
		return false;
	holder = READ_ONCE(*wait->held_by);
	if (!holder || nbq_context_cpu(holder) != nbq_context_cpu(wait->context))
		return false;
	wait->judged = holder;
	return true;
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
	u16 holder = READ_ONCE(*wait->held_by);

	if (!holder || !is_stopped(nbq_context_cpu(holder)))
		return false;
	wait->judged = holder;
	return true;
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

/**
 * nbq_wait_check_behind_holder() - What is due at some polls only: to publish the wait, to read the
 *	clock.
 * @wait: the attempt
 *
 * Called at the first poll, at the first one behind each predecessor, and at @wait->check_at.
 *
 * Context: Any, preemption off.
 * Return: true to poll again; or false, with the reason in @wait->error.
 */
bool nbq_wait_check_behind_holder(struct nbq_wait *wait)
{
	bool checks = false;

	if (!wait->begun) {
		if (!nbq_wait_begin(wait))
			return false;
		/*
		 * Full, pairs with the barrier in publish_holder(), and with the start of an
		 * epoch: releases before this are seen by each context that takes the epoch
		 * read in nbq_wait_publish() for older than its own. Behind a
		 * predecessor, the swap of the tail has this order.
		 */
		smp_mb();
	}
	if (nbq_wait_is_tick_due(wait)) {
		u64 now;

		if (is_over(wait, &now))
			return false;
		checks = nbq_wait_tick(wait, now);
	}
	/* No context depends on a waiter for the holder that holds no lock itself. */
	if (READ_ONCE(wait->pool->waiter) == wait &&
	    (checks || !READ_ONCE(wait->pool->waiting.blocker.tagged)) && wait->checks)
		publish_holder(wait);
	return nbq_wait_polls_on(wait, checks, NULL, NULL);
}
EXPORT_SYMBOL_IF_KUNIT(nbq_wait_check_behind_holder);
