/* SPDX-License-Identifier: GPL-2.0 */
/* Written by nbqlock/lock.sh from nbqlock/lock.h.in: change that. */
/*
 * nbq_spin: the hybrid, a spinlock of 4 bytes that one compare-and-swap takes and one store
 * releases, with a queue that a waiter can abandon at any time. How it works: bare_spin.c.
 *
 * Newcomers can steal a free lock from a waiter during its first 20 us, and later while the
 * waiters in front of it are stalled.
 *
 * The rules for its use: Documentation/nbqlock.rst.
 */
#ifndef _NBQLOCK_SPIN_H
#define _NBQLOCK_SPIN_H

#include <asm/mmiowb.h>
#include <linux/atomic.h>
#include <linux/bottom_half.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/smp.h>

#include "bare_spin.h"
#include "compat.h"
#include "guard.h"
#include "spin_types.h"

/**
 * nbq_spin_init_key() - Make a lock of a given lockdep class.
 * @lock: memory for the lock
 * @name: its name, for lockdep
 * @key: its class, for lockdep
 *
 * Memory that is all zeroes is a free lock already, of which lockdep does not know. It may become
 * anything else, without a call, when no context uses the lock.
 *
 * Context: Any.
 */
void nbq_spin_init_key(struct nbq_spin *lock, const char *name, struct lock_class_key *key);

/**
 * nbq_spin_init() - Make a free lock.
 * @lock: memory for the lock; its content is forgotten
 *
 * Each place in the code that calls it is a lockdep class. It cannot fail.
 *
 * Context: Any.
 */
#define nbq_spin_init(lock)						\
do {									\
	static struct lock_class_key __key;				\
									\
	nbq_spin_init_key((lock), #lock, &__key);			\
} while (0)

/**
 * nbq_spin_is_locked() - Is the lock held?
 * @lock: the lock
 *
 * Context: Any.
 * Return: true if a context held it. Advisory: that may have changed.
 */
bool nbq_spin_is_locked(const struct nbq_spin *lock);

/**
 * nbq_spin_is_contended() - Does a context wait for the lock?
 * @lock: the lock
 *
 * A newcomer that has not enqueued yet does not count, nor does a waiter behind which another
 * lock's waiter has enqueued in the same queue, or more that have given up than are looked at.
 *
 * Context: Any.
 * Return: true if the lock was held and a context waited for it. Advisory.
 */
bool nbq_spin_is_contended(const struct nbq_spin *lock);

/* So many attempts of tasks on this CPU look for an abandoned place before they take a lock. */
DECLARE_PER_CPU(unsigned int, __nbq_looks_left);

/* The rest of these operations, with preemption off already. */
int __nbq_spin_lock_timeout(struct nbq_spin *lock, ktime_t patience);
int __nbq_spin_lock_until(struct nbq_spin *lock, ktime_t deadline);
bool __nbq_spin_trylock(struct nbq_spin *lock);
void __nbq_spin_lock(struct nbq_spin *lock);
#ifdef CONFIG_DEBUG_SPINLOCK
void __nbq_spin_unlock(struct nbq_spin *lock);
#endif

/*
 * Take a lock in which nothing stands, with preemption off. For tasks: to find out the level
 * of another context takes as long as a function call. With lockdep, nothing is inline.
 */
static __always_inline bool __nbq_spin_take_uncontended(struct nbq_spin *lock)
{
	u32 nothing = 0;

	if (IS_ENABLED(CONFIG_DEBUG_LOCK_ALLOC) ||
	    unlikely(preempt_count() & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET)))
		return false;
	/*
	 * ACQUIRE, pairs with the RELEASE in nbq_bare_spin_unlock(): the critical section
	 * before is over for the context that finds the lock free.
	 */
	if (!try_cmpxchg_acquire(&lock->state.all, &nothing, raw_smp_processor_id() + 1))
		return false;
	mmiowb_spin_lock();
	return true;
}

/**
 * nbq_spin_lock_timeout() - Acquire, or give up after a time.
 * @lock: the lock
 * @patience: ns to wait at most; 0 or less: do not wait, as nbq_spin_trylock();
 *	%KTIME_MAX: without end
 *
 * The deadline is noticed one poll and one clock read after it has passed, while the CPU runs;
 * the waiter then abandons its place in a bounded number of its own steps. Abandoned nodes in
 * front of it are skipped first.
 *
 * Context: Any; NMI where %NBQ_NMI_SAFE. Returns with preemption off if the lock was acquired.
 * Return:
 * * 0 - the lock is held
 * * %-ETIMEDOUT - the patience is over
 * * %-EBUSY - there was no patience, and the lock is held or waited for, or no queue node was
 *   free
 * * %-EDEADLK - the wait could not end: this CPU holds the lock, or waits for it below this
 *   context, or the predecessor waits for this CPU, through any number of locks
 * * %-EOWNERDEAD - the wait could not end: a panic has stopped the holder's CPU
 */
static __always_inline int __must_check
nbq_spin_lock_timeout(struct nbq_spin *lock, ktime_t patience)
	__nbq_cond_acquires(0, lock)
{
	preempt_disable();
	/* Without patience, as nbq_spin_trylock(). */
	if (likely((patience > 0 ? !this_cpu_read(__nbq_looks_left) :
				   !READ_ONCE(lock->state.all)) &&
		   __nbq_spin_take_uncontended(lock)))
		return 0;
	return __nbq_spin_lock_timeout(lock, patience);
}

/**
 * nbq_spin_lock_until() - Acquire, or give up at a time.
 * @lock: the lock
 * @deadline: CLOCK_MONOTONIC time to give up at, in ns; one in the past: poll once;
 *	%KTIME_MAX: without end
 *
 * For several locks under one budget: add the patience to ktime_get() once, and pass the sum
 * to each.
 *
 * Context: As nbq_spin_lock_timeout().
 * Return: As nbq_spin_lock_timeout(), but never -EBUSY.
 */
static __always_inline int __must_check
nbq_spin_lock_until(struct nbq_spin *lock, ktime_t deadline)
	__nbq_cond_acquires(0, lock)
{
	preempt_disable();
	if (likely(!this_cpu_read(__nbq_looks_left) && __nbq_spin_take_uncontended(lock)))
		return 0;
	return __nbq_spin_lock_until(lock, deadline);
}

/**
 * nbq_spin_lock_timeout_info() - Acquire, or give up after a time and learn of the holder.
 * @lock: the lock
 * @patience: ns to wait at most
 * @info: on failure, how long the attempt took, and which context held the lock
 *
 * As nbq_spin_lock_timeout(), and two clock reads.
 * With %-EOWNERDEAD and %-EDEADLK the holder is the one by which the wait was judged unable to end,
 * whatever has happened to the lock since; with other errors the one that is read afterwards.
 *
 * Context: As nbq_spin_lock_timeout().
 * Return: As nbq_spin_lock_timeout().
 */
int __must_check
nbq_spin_lock_timeout_info(struct nbq_spin *lock, ktime_t patience, struct nbq_timeout *info)
	__nbq_cond_acquires(0, lock);

/**
 * nbq_spin_takeover() - Take the lock from a holder that has stopped for good.
 * @lock: the lock
 * @info: who holds it, as a failed nbq_spin_lock_timeout_info() has filled it
 *
 * For a caller that knows that the holder never runs again: see "A holder that never comes back"
 * in Documentation/nbqlock.rst. What the lock guards may be half-written. The
 * waiters and the request that stand behind the holder stand behind this context then.
 *
 * A second takeover with the same @info fails, also where the holder's CPU and level are those of
 * the caller. A new attempt names the context that took the lock over.
 *
 * Context: As nbq_spin_lock_timeout(). Returns with preemption off if the lock was taken.
 * Return:
 * * 0 - the lock is held by this context
 * * %-ESTALE - another context than the named one holds it, or none; nothing is changed
 * * %-EINVAL - @info names no holder
 */
int __must_check nbq_spin_takeover(struct nbq_spin *lock, const struct nbq_timeout *info)
	__nbq_cond_acquires(0, lock);

/**
 * nbq_spin_lock_unless() - Acquire, or give up when a condition holds.
 * @lock: the lock
 * @patience: ns to wait at most, as for nbq_spin_lock_timeout(); %KTIME_MAX: as long as the
 *	condition does not hold
 * @stop: the condition; called with @arg
 * @arg: for @stop
 *
 * As nbq_spin_lock_timeout(). Besides, a waiter asks @stop whenever it is to read the clock, before
 * that: within 64 polls, 32 with a finite patience, and after a wait by hardware, 140 us at most
 * (arm64). If it returns true, the waiter abandons its place, also where the patience is over as
 * well. A lock that is free is acquired, and an attempt without patience fails, without a call.
 *
 * @stop is called in the context of the caller, an NMI as well, with preemption off and the wait
 * begun. It may not sleep nor acquire any lock: lockdep has recorded this one by then, and would
 * take the other for one that is acquired under it. It is to be short: the waiters behind take one
 * that is in it for longer for stalled. What it reads, it has to order itself.
 *
 * Context: As nbq_spin_lock_timeout().
 * Return: As nbq_spin_lock_timeout(), and
 * * %-ECANCELED - @stop has returned true
 */
int __must_check
nbq_spin_lock_unless(struct nbq_spin *lock, ktime_t patience, nbq_stop_t stop, void *arg)
	__nbq_cond_acquires(0, lock);

/**
 * nbq_spin_trylock() - Acquire without waiting.
 * @lock: the lock
 *
 * Succeeds if the lock is free and no context waits for it, also when abandoned nodes are in
 * its queue. Reads before it writes: while the lock is held, its line stays shared.
 * May fail on a free lock while a request for a handoff stands in it, for at most
 * %NBQ_SPIN_HANDOFF_NS after the head of the queue has read the clock for that.
 *
 * Context: As nbq_spin_lock_timeout().
 * Return: true if the lock is held now; false if it was held or waited for, or if no queue
 * node was free.
 */
static __always_inline bool __must_check nbq_spin_trylock(struct nbq_spin *lock)
	__nbq_cond_acquires(true, lock)
{
	preempt_disable();
	/* Read first: an attempt that fails leaves the line shared. */
	if (likely(!READ_ONCE(lock->state.all) && __nbq_spin_take_uncontended(lock)))
		return true;
	return __nbq_spin_trylock(lock);
}

/**
 * nbq_spin_lock() - Acquire, however long it takes.
 * @lock: the lock
 *
 * A deadlock, for which other operations return -EDEADLK, is reported in the kernel log, with
 * the lock, its holder and the caller; the attempt goes on, as another one in the deadlock may
 * time out. At most 10 reports in 5 s.
 * So is a holder that has stopped, for which they return -EOWNERDEAD: another context may take the
 * lock over.
 *
 * Context: Any in which the holder can make progress. Returns with preemption off.
 */
static __always_inline void nbq_spin_lock(struct nbq_spin *lock)
	__nbq_acquires(lock)
{
	preempt_disable();
	if (unlikely(!__nbq_spin_take_uncontended(lock)))
		__nbq_spin_lock(lock);
	__nbq_acquire(lock);
}

/**
 * nbq_spin_unlock() - Release.
 * @lock: a lock that this context acquired on this CPU
 *
 * With CONFIG_DEBUG_SPINLOCK, which lockdep selects, the release of a lock that is not held, or is
 * held by another context, is reported in the kernel log and changes nothing. Without, it breaks
 * the lock.
 *
 * Context: The holder's. Turns preemption on.
 */
static __always_inline void nbq_spin_unlock(struct nbq_spin *lock)
	__nbq_releases(lock)
{
	__nbq_release(lock);
#ifdef CONFIG_DEBUG_SPINLOCK
	__nbq_spin_unlock(lock);
#else
	/* Before the lock is seen to be free: writes to devices are in order. */
	mmiowb_spin_unlock();
	nbq_bare_spin_unlock(&lock->bare);
	preempt_enable();
#endif
}

#ifdef CONFIG_DEBUG_LOCK_ALLOC
int __must_check
__nbq_spin_lock_timeout_nested(struct nbq_spin *lock, ktime_t patience, unsigned int subclass)
	__nbq_cond_acquires(0, lock);
void __nbq_spin_lock_nested(struct nbq_spin *lock, unsigned int subclass)
	__nbq_acquires(lock);
#else
#define __nbq_spin_lock_timeout_nested(lock, patience, subclass) \
	nbq_spin_lock_timeout(lock, patience)
#define __nbq_spin_lock_nested(lock, subclass)	nbq_spin_lock(lock)
#endif

/**
 * nbq_spin_lock_timeout_nested() - nbq_spin_lock_timeout() inside a lock of the same class.
 * @lock: the lock
 * @patience: ns to wait at most
 * @subclass: for lockdep: %SINGLE_DEPTH_NESTING, or another number below
 *	%MAX_LOCKDEP_SUBCLASSES
 *
 * Context: As nbq_spin_lock_timeout().
 * Return: As nbq_spin_lock_timeout().
 */
static inline int __must_check
nbq_spin_lock_timeout_nested(struct nbq_spin *lock, ktime_t patience, unsigned int subclass)
	__nbq_cond_acquires(0, lock)
{
	return __nbq_spin_lock_timeout_nested(lock, patience, subclass);
}

/**
 * nbq_spin_lock_nested() - nbq_spin_lock() inside a lock of the same class.
 * @lock: the lock
 * @subclass: as for nbq_spin_lock_timeout_nested()
 *
 * Context: As nbq_spin_lock().
 */
static inline void nbq_spin_lock_nested(struct nbq_spin *lock, unsigned int subclass)
	__nbq_acquires(lock)
{
	__nbq_spin_lock_nested(lock, subclass);
}

/* The same with interrupts or bottom halves off, until the unlock or the failure. */

/**
 * nbq_spin_lock_timeout_irq() - nbq_spin_lock_timeout() with interrupts off.
 * @lock: the lock
 * @patience: ns to wait at most
 *
 * Interrupts are off for as long as it waits.
 *
 * Context: Interrupts on. Returns with interrupts off if the lock was acquired.
 * Return: As nbq_spin_lock_timeout().
 */
static inline int __must_check
nbq_spin_lock_timeout_irq(struct nbq_spin *lock, ktime_t patience)
	__nbq_cond_acquires(0, lock)
{
	int ret;

	local_irq_disable();
	ret = nbq_spin_lock_timeout(lock, patience);
	if (ret)
		local_irq_enable();
	return ret;
}

/**
 * nbq_spin_lock_until_irq() - nbq_spin_lock_until() with interrupts off.
 * @lock: the lock
 * @deadline: CLOCK_MONOTONIC time to give up at, in ns
 *
 * Interrupts are off for as long as it waits.
 *
 * Context: Interrupts on. Returns with interrupts off if the lock was acquired.
 * Return: As nbq_spin_lock_until().
 */
static inline int __must_check
nbq_spin_lock_until_irq(struct nbq_spin *lock, ktime_t deadline)
	__nbq_cond_acquires(0, lock)
{
	int ret;

	local_irq_disable();
	ret = nbq_spin_lock_until(lock, deadline);
	if (ret)
		local_irq_enable();
	return ret;
}

/**
 * nbq_spin_trylock_irq() - nbq_spin_trylock() with interrupts off.
 * @lock: the lock
 *
 * Context: Interrupts on. Returns with interrupts off if the lock was acquired.
 * Return: As nbq_spin_trylock().
 */
static inline bool __must_check nbq_spin_trylock_irq(struct nbq_spin *lock)
	__nbq_cond_acquires(true, lock)
{
	bool ret;

	local_irq_disable();
	ret = nbq_spin_trylock(lock);
	if (!ret)
		local_irq_enable();
	return ret;
}

/**
 * nbq_spin_lock_irq() - nbq_spin_lock() with interrupts off.
 * @lock: the lock
 *
 * Context: Interrupts on. Returns with interrupts off.
 */
static inline void nbq_spin_lock_irq(struct nbq_spin *lock)
	__nbq_acquires(lock)
{
	local_irq_disable();
	nbq_spin_lock(lock);
}

/**
 * nbq_spin_unlock_irq() - nbq_spin_unlock(), then interrupts on.
 * @lock: a lock acquired by an _irq operation
 *
 * Interrupts are on before preemption is, so that a reschedule that is due happens at once.
 *
 * Context: The holder's, interrupts off. Returns with interrupts on.
 */
static inline void nbq_spin_unlock_irq(struct nbq_spin *lock)
	__nbq_releases(lock)
{
	preempt_disable();
	nbq_spin_unlock(lock);
	local_irq_enable();
	preempt_enable();
}

static inline int __must_check
__nbq_spin_lock_timeout_irqsave(struct nbq_spin *lock, ktime_t patience, unsigned long *flags)
	__nbq_cond_acquires(0, lock)
{
	int ret;

	local_irq_save(*flags);
	ret = nbq_spin_lock_timeout(lock, patience);
	if (ret)
		local_irq_restore(*flags);
	return ret;
}

/**
 * nbq_spin_lock_timeout_irqsave() - nbq_spin_lock_timeout(), interrupts saved and off.
 * @lock: the lock
 * @patience: ns to wait at most
 * @flags: unsigned long variable for the interrupt state, by name
 *
 * Interrupts are off for as long as it waits.
 *
 * Context: Any. Returns with interrupts off if the lock was acquired.
 * Return: As nbq_spin_lock_timeout().
 */
#define nbq_spin_lock_timeout_irqsave(lock, patience, flags) \
	__nbq_spin_lock_timeout_irqsave(lock, patience, &(flags))

static inline int __must_check
__nbq_spin_lock_unless_irqsave(struct nbq_spin *lock, ktime_t patience, nbq_stop_t stop,
			       void *arg, unsigned long *flags)
	__nbq_cond_acquires(0, lock)
{
	int ret;

	local_irq_save(*flags);
	ret = nbq_spin_lock_unless(lock, patience, stop, arg);
	if (ret)
		local_irq_restore(*flags);
	return ret;
}

/**
 * nbq_spin_lock_unless_irqsave() - nbq_spin_lock_unless(), interrupts saved and off.
 * @lock: the lock
 * @patience: ns to wait at most
 * @stop: the condition
 * @arg: for @stop
 * @flags: unsigned long variable for the interrupt state, by name
 *
 * Interrupts are off for as long as it waits, and in @stop.
 *
 * Context: Any. Returns with interrupts off if the lock was acquired.
 * Return: As nbq_spin_lock_unless().
 */
#define nbq_spin_lock_unless_irqsave(lock, patience, stop, arg, flags) \
	__nbq_spin_lock_unless_irqsave(lock, patience, stop, arg, &(flags))

/* Short names: gcc 12 loses the user's line of an ignored result behind one of 32 characters. */
static inline int __must_check
__nbq_spin_info_irqsave(struct nbq_spin *lock, ktime_t patience,
			struct nbq_timeout *info, unsigned long *flags)
	__nbq_cond_acquires(0, lock)
{
	int ret;

	local_irq_save(*flags);
	ret = nbq_spin_lock_timeout_info(lock, patience, info);
	if (ret)
		local_irq_restore(*flags);
	return ret;
}

/**
 * nbq_spin_lock_timeout_info_irqsave() - nbq_spin_lock_timeout_info(), interrupts saved.
 * @lock: the lock
 * @patience: ns to wait at most
 * @info: as for nbq_spin_lock_timeout_info()
 * @flags: unsigned long variable for the interrupt state, by name
 *
 * Interrupts are off for as long as it waits.
 *
 * Context: Any. Returns with interrupts off if the lock was acquired.
 * Return: As nbq_spin_lock_timeout().
 */
#define nbq_spin_lock_timeout_info_irqsave(lock, patience, info, flags) \
	__nbq_spin_info_irqsave(lock, patience, info, &(flags))

static inline int __must_check
__nbq_spin_nested_irqsave(struct nbq_spin *lock, ktime_t patience,
			  unsigned long *flags, unsigned int subclass)
	__nbq_cond_acquires(0, lock)
{
	int ret;

	local_irq_save(*flags);
	ret = nbq_spin_lock_timeout_nested(lock, patience, subclass);
	if (ret)
		local_irq_restore(*flags);
	return ret;
}

/**
 * nbq_spin_lock_timeout_irqsave_nested() - nbq_spin_lock_timeout_nested(), interrupts saved.
 * @lock: the lock
 * @patience: ns to wait at most
 * @flags: unsigned long variable for the interrupt state, by name
 * @subclass: as for nbq_spin_lock_timeout_nested()
 *
 * Interrupts are off for as long as it waits.
 *
 * Context: Any. Returns with interrupts off if the lock was acquired.
 * Return: As nbq_spin_lock_timeout().
 */
#define nbq_spin_lock_timeout_irqsave_nested(lock, patience, flags, subclass) \
	__nbq_spin_nested_irqsave(lock, patience, &(flags), subclass)

static inline int __must_check
__nbq_spin_lock_until_irqsave(struct nbq_spin *lock, ktime_t deadline, unsigned long *flags)
	__nbq_cond_acquires(0, lock)
{
	int ret;

	local_irq_save(*flags);
	ret = nbq_spin_lock_until(lock, deadline);
	if (ret)
		local_irq_restore(*flags);
	return ret;
}

/**
 * nbq_spin_lock_until_irqsave() - nbq_spin_lock_until(), interrupts saved and off.
 * @lock: the lock
 * @deadline: CLOCK_MONOTONIC time to give up at, in ns
 * @flags: unsigned long variable for the interrupt state, by name
 *
 * Interrupts are off for as long as it waits.
 *
 * Context: Any. Returns with interrupts off if the lock was acquired.
 * Return: As nbq_spin_lock_until().
 */
#define nbq_spin_lock_until_irqsave(lock, deadline, flags) \
	__nbq_spin_lock_until_irqsave(lock, deadline, &(flags))

static inline bool __must_check
__nbq_spin_trylock_irqsave(struct nbq_spin *lock, unsigned long *flags)
	__nbq_cond_acquires(true, lock)
{
	bool ret;

	local_irq_save(*flags);
	ret = nbq_spin_trylock(lock);
	if (!ret)
		local_irq_restore(*flags);
	return ret;
}

/**
 * nbq_spin_trylock_irqsave() - nbq_spin_trylock(), interrupts saved and off.
 * @lock: the lock
 * @flags: unsigned long variable for the interrupt state, by name
 *
 * Context: Any. Returns with interrupts off if the lock was acquired.
 * Return: As nbq_spin_trylock().
 */
#define nbq_spin_trylock_irqsave(lock, flags) \
	__nbq_spin_trylock_irqsave(lock, &(flags))

static inline void __nbq_spin_lock_irqsave(struct nbq_spin *lock, unsigned long *flags)
	__nbq_acquires(lock)
{
	local_irq_save(*flags);
	nbq_spin_lock(lock);
}

/**
 * nbq_spin_lock_irqsave() - nbq_spin_lock(), interrupts saved and off.
 * @lock: the lock
 * @flags: unsigned long variable for the interrupt state, by name
 *
 * Context: Any. Returns with interrupts off.
 */
#define nbq_spin_lock_irqsave(lock, flags) \
	__nbq_spin_lock_irqsave(lock, &(flags))

static inline void
__nbq_spin_lock_irqsave_nested(struct nbq_spin *lock, unsigned long *flags, unsigned int subclass)
	__nbq_acquires(lock)
{
	local_irq_save(*flags);
	nbq_spin_lock_nested(lock, subclass);
}

/**
 * nbq_spin_lock_irqsave_nested() - nbq_spin_lock_irqsave() inside a lock of the same class.
 * @lock: the lock
 * @flags: unsigned long variable for the interrupt state, by name
 * @subclass: as for nbq_spin_lock_timeout_nested()
 *
 * Context: Any. Returns with interrupts off.
 */
#define nbq_spin_lock_irqsave_nested(lock, flags, subclass) \
	__nbq_spin_lock_irqsave_nested(lock, &(flags), subclass)

/**
 * nbq_spin_unlock_irqrestore() - nbq_spin_unlock(), then interrupts as they were saved.
 * @lock: a lock acquired by an _irqsave operation
 * @flags: the saved interrupt state
 *
 * In the order of nbq_spin_unlock_irq().
 *
 * Context: The holder's, interrupts off.
 */
static inline void nbq_spin_unlock_irqrestore(struct nbq_spin *lock, unsigned long flags)
	__nbq_releases(lock)
{
	preempt_disable();
	nbq_spin_unlock(lock);
	local_irq_restore(flags);
	preempt_enable();
}

/**
 * nbq_spin_lock_timeout_bh() - nbq_spin_lock_timeout() with bottom halves off.
 * @lock: the lock
 * @patience: ns to wait at most
 *
 * Context: Task or softirq. Returns with bottom halves off if the lock was acquired.
 * Return: As nbq_spin_lock_timeout().
 */
static inline int __must_check
nbq_spin_lock_timeout_bh(struct nbq_spin *lock, ktime_t patience)
	__nbq_cond_acquires(0, lock)
{
	int ret;

	local_bh_disable();
	ret = nbq_spin_lock_timeout(lock, patience);
	if (ret)
		local_bh_enable();
	return ret;
}

/**
 * nbq_spin_lock_until_bh() - nbq_spin_lock_until() with bottom halves off.
 * @lock: the lock
 * @deadline: CLOCK_MONOTONIC time to give up at, in ns
 *
 * Context: Task or softirq. Returns with bottom halves off if the lock was acquired.
 * Return: As nbq_spin_lock_until().
 */
static inline int __must_check
nbq_spin_lock_until_bh(struct nbq_spin *lock, ktime_t deadline)
	__nbq_cond_acquires(0, lock)
{
	int ret;

	local_bh_disable();
	ret = nbq_spin_lock_until(lock, deadline);
	if (ret)
		local_bh_enable();
	return ret;
}

/**
 * nbq_spin_trylock_bh() - nbq_spin_trylock() with bottom halves off.
 * @lock: the lock
 *
 * Context: Task or softirq. Returns with bottom halves off if the lock was acquired.
 * Return: As nbq_spin_trylock().
 */
static inline bool __must_check nbq_spin_trylock_bh(struct nbq_spin *lock)
	__nbq_cond_acquires(true, lock)
{
	bool ret;

	local_bh_disable();
	ret = nbq_spin_trylock(lock);
	if (!ret)
		local_bh_enable();
	return ret;
}

/**
 * nbq_spin_lock_bh() - nbq_spin_lock() with bottom halves off.
 * @lock: the lock
 *
 * Context: Task or softirq. Returns with bottom halves off.
 */
static inline void nbq_spin_lock_bh(struct nbq_spin *lock)
	__nbq_acquires(lock)
{
	local_bh_disable();
	nbq_spin_lock(lock);
}

/**
 * nbq_spin_unlock_bh() - nbq_spin_unlock(), then bottom halves on.
 * @lock: a lock acquired by a _bh operation
 *
 * Context: The holder's, bottom halves off. Returns with bottom halves on.
 */
static inline void nbq_spin_unlock_bh(struct nbq_spin *lock)
	__nbq_releases(lock)
{
	nbq_spin_unlock(lock);
	local_bh_enable();
}

/* Guards that cannot fail. */
#ifdef __NBQ_GUARDS
DEFINE_LOCK_GUARD_1(nbq_spin, struct nbq_spin,
		    nbq_spin_lock(_T->lock), nbq_spin_unlock(_T->lock))
DECLARE_LOCK_GUARD_1_ATTRS(nbq_spin, __nbq_acquires(_T),
			   __nbq_releases(*(struct nbq_spin **)_T))
DEFINE_LOCK_GUARD_1(nbq_spin_irq, struct nbq_spin,
		    nbq_spin_lock_irq(_T->lock), nbq_spin_unlock_irq(_T->lock))
DECLARE_LOCK_GUARD_1_ATTRS(nbq_spin_irq, __nbq_acquires(_T),
			   __nbq_releases(*(struct nbq_spin **)_T))
DEFINE_LOCK_GUARD_1(nbq_spin_irqsave, struct nbq_spin,
		    nbq_spin_lock_irqsave(_T->lock, _T->flags),
		    nbq_spin_unlock_irqrestore(_T->lock, _T->flags), unsigned long flags)
DECLARE_LOCK_GUARD_1_ATTRS(nbq_spin_irqsave, __nbq_acquires(_T),
			   __nbq_releases(*(struct nbq_spin **)_T))
DEFINE_LOCK_GUARD_1(nbq_spin_bh, struct nbq_spin,
		    nbq_spin_lock_bh(_T->lock), nbq_spin_unlock_bh(_T->lock))
DECLARE_LOCK_GUARD_1_ATTRS(nbq_spin_bh, __nbq_acquires(_T),
			   __nbq_releases(*(struct nbq_spin **)_T))

/* For clang's context analysis. */
#ifdef WITH_LOCK_GUARD_1_ATTRS
#define class_nbq_spin_constructor(_T)	WITH_LOCK_GUARD_1_ATTRS(nbq_spin, _T)
#define class_nbq_spin_irq_constructor(_T)	WITH_LOCK_GUARD_1_ATTRS(nbq_spin_irq, _T)
#define class_nbq_spin_irqsave_constructor(_T) \
	WITH_LOCK_GUARD_1_ATTRS(nbq_spin_irqsave, _T)
#define class_nbq_spin_bh_constructor(_T)	WITH_LOCK_GUARD_1_ATTRS(nbq_spin_bh, _T)
#endif
#endif

/* Guards that may fail, see guard.h. */
#ifdef __NBQ_DEFINE_GUARD_COND
__NBQ_DEFINE_GUARD_COND(nbq_spin_try, true,
			__nbq_try_err(nbq_spin_trylock(lock)),
			nbq_spin_unlock(_T.lock), struct nbq_spin *lock)
__NBQ_DEFINE_GUARD_COND(nbq_spin_timeout, false,
			nbq_spin_lock_timeout(lock, patience),
			nbq_spin_unlock(_T.lock), struct nbq_spin *lock, ktime_t patience)
__NBQ_DEFINE_GUARD_COND(nbq_spin_until, false,
			nbq_spin_lock_until(lock, deadline),
			nbq_spin_unlock(_T.lock), struct nbq_spin *lock, ktime_t deadline)
__NBQ_DEFINE_GUARD_COND(nbq_spin_irqsave_try, true,
			__nbq_try_err(nbq_spin_trylock_irqsave(lock, _T.flags)),
			nbq_spin_unlock_irqrestore(_T.lock, _T.flags), struct nbq_spin *lock)
__NBQ_DEFINE_GUARD_COND(nbq_spin_irqsave_timeout, false,
			nbq_spin_lock_timeout_irqsave(lock, patience, _T.flags),
			nbq_spin_unlock_irqrestore(_T.lock, _T.flags),
			struct nbq_spin *lock, ktime_t patience)
__NBQ_DEFINE_GUARD_COND(nbq_spin_irqsave_until, false,
			nbq_spin_lock_until_irqsave(lock, deadline, _T.flags),
			nbq_spin_unlock_irqrestore(_T.lock, _T.flags),
			struct nbq_spin *lock, ktime_t deadline)
#endif

#endif
