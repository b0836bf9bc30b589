/* SPDX-License-Identifier: GPL-2.0 */
/* Written by nbqlock/lock.sh from nbqlock/lock.h.in: change that. */
/*
 * nbq_swap: the swap-only lock, strictly first come, first served, without a compare-and-swap
 * on the lock. A lock that was ever held keeps one queue node of the CPU that held it last,
 * until the CPU takes it back or the lock is destroyed. For strict order, for study and for
 * comparison; else take nbq_spin.
 *
 * William N. Scherer III and Michael L. Scott, "Non-Blocking Timeout in a NUMA-Aware
 * Queue-Based Spin Lock", 2004. How it works, and what differs from print: swap_nb.c.
 *
 * The rules for its use: Documentation/nbqlock.rst.
 */
#ifndef _NBQLOCK_SWAP_H
#define _NBQLOCK_SWAP_H

#include <linux/bottom_half.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/preempt.h>

#include "compat.h"
#include "guard.h"
#include "types.h"

/**
 * nbq_swap_init_key() - Make a lock of a given lockdep class.
 * @lock: memory for the lock
 * @name: its name, for lockdep
 * @key: its class, for lockdep
 *
 * If the memory was a queue lock before, that was destroyed.
 *
 * Context: Any.
 */
void nbq_swap_init_key(struct nbq_swap *lock, const char *name, struct lock_class_key *key);

/**
 * nbq_swap_init() - Make a free lock.
 * @lock: memory for the lock; its content is forgotten
 *
 * Each place in the code that calls it is a lockdep class. It cannot fail.
 *
 * Context: Any.
 */
#define nbq_swap_init(lock)						\
do {									\
	static struct lock_class_key __key;				\
									\
	nbq_swap_init_key((lock), #lock, &__key);			\
} while (0)

/**
 * nbq_swap_destroy() - Free the queue nodes that a lock keeps.
 * @lock: a lock that no context uses any more
 *
 * Call it before the memory of the lock becomes anything else: until then a CPU accesses the
 * lock, to take back nodes that it has left there. The lock is free and as new afterwards.
 *
 * It orders nothing for the caller, who orders the last use of each user before it, as
 * refcount_dec_and_test() or a lock does.
 *
 * Context: Any but NMI. No context may hold, wait for or try the lock meanwhile.
 * Return:
 * * 0 - done
 * * %-EBUSY - a context holds the lock or waits for it: reported in the kernel
 *   log, and nothing is changed
 */
int __must_check nbq_swap_destroy(struct nbq_swap *lock);

/**
 * nbq_swap_is_locked() - Is the lock held?
 * @lock: the lock
 *
 * Context: Any.
 * Return: true if a context held it, or waited for it. Advisory: that may have changed.
 */
bool nbq_swap_is_locked(const struct nbq_swap *lock);

/**
 * nbq_swap_is_contended() - Does a context wait for the lock?
 * @lock: the lock
 *
 * A waiter counts once it has polled in vain; an abandoned node does, too.
 *
 * Context: Any.
 * Return: true if the lock was held and a context waited for it. Advisory.
 */
bool nbq_swap_is_contended(const struct nbq_swap *lock);

/**
 * nbq_swap_lock_timeout() - Acquire, or give up after a time.
 * @lock: the lock
 * @patience: ns to wait at most; 0 or less: do not wait, as nbq_swap_trylock();
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
 * * %-ENOMEM - the patience is over, and no queue node was free in it (parameters
 *   pool_nodes, pool_nodes_max)
 */
int __must_check nbq_swap_lock_timeout(struct nbq_swap *lock, ktime_t patience)
	__nbq_cond_acquires(0, lock);

/**
 * nbq_swap_lock_until() - Acquire, or give up at a time.
 * @lock: the lock
 * @deadline: CLOCK_MONOTONIC time to give up at, in ns; one in the past: poll once;
 *	%KTIME_MAX: without end
 *
 * For several locks under one budget: add the patience to ktime_get() once, and pass the sum
 * to each.
 *
 * Context: As nbq_swap_lock_timeout().
 * Return: As nbq_swap_lock_timeout(), but never -EBUSY.
 */
int __must_check nbq_swap_lock_until(struct nbq_swap *lock, ktime_t deadline)
	__nbq_cond_acquires(0, lock);

/**
 * nbq_swap_lock_timeout_info() - Acquire, or give up after a time and learn of the holder.
 * @lock: the lock
 * @patience: ns to wait at most
 * @info: on failure, how long the attempt took, and which context held the lock
 *
 * As nbq_swap_lock_timeout(), and two clock reads.
 * The holder is searched for on each possible CPU.
 *
 * Context: As nbq_swap_lock_timeout().
 * Return: As nbq_swap_lock_timeout().
 */
int __must_check
nbq_swap_lock_timeout_info(struct nbq_swap *lock, ktime_t patience, struct nbq_timeout *info)
	__nbq_cond_acquires(0, lock);

/**
 * nbq_swap_trylock() - Acquire without waiting.
 * @lock: the lock
 *
 * Succeeds if the lock is free and no context waits for it, also when abandoned nodes are in
 * its queue. Reads before it writes: while the lock is held, its line stays shared.
 *
 * Context: As nbq_swap_lock_timeout().
 * Return: true if the lock is held now; false if it was held or waited for, or if no queue
 * node was free.
 */
bool __must_check nbq_swap_trylock(struct nbq_swap *lock)
	__nbq_cond_acquires(true, lock);

/**
 * nbq_swap_lock() - Acquire, however long it takes.
 * @lock: the lock
 *
 * A deadlock, for which other operations return -EDEADLK, is reported in the kernel log, with
 * the lock, its holder and the caller; the attempt goes on, as another one in the deadlock may
 * time out. At most 10 reports in 5 s.
 *
 * Context: Any in which the holder can make progress. Returns with preemption off.
 */
void nbq_swap_lock(struct nbq_swap *lock) __nbq_acquires(lock);

/**
 * nbq_swap_unlock() - Release.
 * @lock: a lock that this context acquired on this CPU
 *
 * The release of a lock that is not held, or is held by another context, is reported in the
 * kernel log and changes nothing.
 *
 * Context: The holder's. Turns preemption on.
 */
void nbq_swap_unlock(struct nbq_swap *lock) __nbq_releases(lock);

#ifdef CONFIG_DEBUG_LOCK_ALLOC
int __must_check
__nbq_swap_lock_timeout_nested(struct nbq_swap *lock, ktime_t patience, unsigned int subclass)
	__nbq_cond_acquires(0, lock);
void __nbq_swap_lock_nested(struct nbq_swap *lock, unsigned int subclass)
	__nbq_acquires(lock);
#else
#define __nbq_swap_lock_timeout_nested(lock, patience, subclass) \
	nbq_swap_lock_timeout(lock, patience)
#define __nbq_swap_lock_nested(lock, subclass)	nbq_swap_lock(lock)
#endif

/**
 * nbq_swap_lock_timeout_nested() - nbq_swap_lock_timeout() inside a lock of the same class.
 * @lock: the lock
 * @patience: ns to wait at most
 * @subclass: for lockdep: %SINGLE_DEPTH_NESTING, or another number below
 *	%MAX_LOCKDEP_SUBCLASSES
 *
 * Context: As nbq_swap_lock_timeout().
 * Return: As nbq_swap_lock_timeout().
 */
static inline int __must_check
nbq_swap_lock_timeout_nested(struct nbq_swap *lock, ktime_t patience, unsigned int subclass)
	__nbq_cond_acquires(0, lock)
{
	return __nbq_swap_lock_timeout_nested(lock, patience, subclass);
}

/**
 * nbq_swap_lock_nested() - nbq_swap_lock() inside a lock of the same class.
 * @lock: the lock
 * @subclass: as for nbq_swap_lock_timeout_nested()
 *
 * Context: As nbq_swap_lock().
 */
static inline void nbq_swap_lock_nested(struct nbq_swap *lock, unsigned int subclass)
	__nbq_acquires(lock)
{
	__nbq_swap_lock_nested(lock, subclass);
}

/* The same with interrupts or bottom halves off, until the unlock or the failure. */

/**
 * nbq_swap_lock_timeout_irq() - nbq_swap_lock_timeout() with interrupts off.
 * @lock: the lock
 * @patience: ns to wait at most
 *
 * Interrupts are off for as long as it waits.
 *
 * Context: Interrupts on. Returns with interrupts off if the lock was acquired.
 * Return: As nbq_swap_lock_timeout().
 */
static inline int __must_check
nbq_swap_lock_timeout_irq(struct nbq_swap *lock, ktime_t patience)
	__nbq_cond_acquires(0, lock)
{
	int ret;

	local_irq_disable();
	ret = nbq_swap_lock_timeout(lock, patience);
	if (ret)
		local_irq_enable();
	return ret;
}

/**
 * nbq_swap_lock_until_irq() - nbq_swap_lock_until() with interrupts off.
 * @lock: the lock
 * @deadline: CLOCK_MONOTONIC time to give up at, in ns
 *
 * Interrupts are off for as long as it waits.
 *
 * Context: Interrupts on. Returns with interrupts off if the lock was acquired.
 * Return: As nbq_swap_lock_until().
 */
static inline int __must_check
nbq_swap_lock_until_irq(struct nbq_swap *lock, ktime_t deadline)
	__nbq_cond_acquires(0, lock)
{
	int ret;

	local_irq_disable();
	ret = nbq_swap_lock_until(lock, deadline);
	if (ret)
		local_irq_enable();
	return ret;
}

/**
 * nbq_swap_trylock_irq() - nbq_swap_trylock() with interrupts off.
 * @lock: the lock
 *
 * Context: Interrupts on. Returns with interrupts off if the lock was acquired.
 * Return: As nbq_swap_trylock().
 */
static inline bool __must_check nbq_swap_trylock_irq(struct nbq_swap *lock)
	__nbq_cond_acquires(true, lock)
{
	bool ret;

	local_irq_disable();
	ret = nbq_swap_trylock(lock);
	if (!ret)
		local_irq_enable();
	return ret;
}

/**
 * nbq_swap_lock_irq() - nbq_swap_lock() with interrupts off.
 * @lock: the lock
 *
 * Context: Interrupts on. Returns with interrupts off.
 */
static inline void nbq_swap_lock_irq(struct nbq_swap *lock)
	__nbq_acquires(lock)
{
	local_irq_disable();
	nbq_swap_lock(lock);
}

/**
 * nbq_swap_unlock_irq() - nbq_swap_unlock(), then interrupts on.
 * @lock: a lock acquired by an _irq operation
 *
 * Interrupts are on before preemption is, so that a reschedule that is due happens at once.
 *
 * Context: The holder's, interrupts off. Returns with interrupts on.
 */
static inline void nbq_swap_unlock_irq(struct nbq_swap *lock)
	__nbq_releases(lock)
{
	preempt_disable();
	nbq_swap_unlock(lock);
	local_irq_enable();
	preempt_enable();
}

static inline int __must_check
__nbq_swap_lock_timeout_irqsave(struct nbq_swap *lock, ktime_t patience, unsigned long *flags)
	__nbq_cond_acquires(0, lock)
{
	int ret;

	local_irq_save(*flags);
	ret = nbq_swap_lock_timeout(lock, patience);
	if (ret)
		local_irq_restore(*flags);
	return ret;
}

/**
 * nbq_swap_lock_timeout_irqsave() - nbq_swap_lock_timeout(), interrupts saved and off.
 * @lock: the lock
 * @patience: ns to wait at most
 * @flags: unsigned long variable for the interrupt state, by name
 *
 * Interrupts are off for as long as it waits.
 *
 * Context: Any. Returns with interrupts off if the lock was acquired.
 * Return: As nbq_swap_lock_timeout().
 */
#define nbq_swap_lock_timeout_irqsave(lock, patience, flags) \
	__nbq_swap_lock_timeout_irqsave(lock, patience, &(flags))

/* Short names: gcc 12 loses the user's line of an ignored result behind one of 32 characters. */
static inline int __must_check
__nbq_swap_info_irqsave(struct nbq_swap *lock, ktime_t patience,
			struct nbq_timeout *info, unsigned long *flags)
	__nbq_cond_acquires(0, lock)
{
	int ret;

	local_irq_save(*flags);
	ret = nbq_swap_lock_timeout_info(lock, patience, info);
	if (ret)
		local_irq_restore(*flags);
	return ret;
}

/**
 * nbq_swap_lock_timeout_info_irqsave() - nbq_swap_lock_timeout_info(), interrupts saved.
 * @lock: the lock
 * @patience: ns to wait at most
 * @info: as for nbq_swap_lock_timeout_info()
 * @flags: unsigned long variable for the interrupt state, by name
 *
 * Interrupts are off for as long as it waits.
 *
 * Context: Any. Returns with interrupts off if the lock was acquired.
 * Return: As nbq_swap_lock_timeout().
 */
#define nbq_swap_lock_timeout_info_irqsave(lock, patience, info, flags) \
	__nbq_swap_info_irqsave(lock, patience, info, &(flags))

static inline int __must_check
__nbq_swap_nested_irqsave(struct nbq_swap *lock, ktime_t patience,
			  unsigned long *flags, unsigned int subclass)
	__nbq_cond_acquires(0, lock)
{
	int ret;

	local_irq_save(*flags);
	ret = nbq_swap_lock_timeout_nested(lock, patience, subclass);
	if (ret)
		local_irq_restore(*flags);
	return ret;
}

/**
 * nbq_swap_lock_timeout_irqsave_nested() - nbq_swap_lock_timeout_nested(), interrupts saved.
 * @lock: the lock
 * @patience: ns to wait at most
 * @flags: unsigned long variable for the interrupt state, by name
 * @subclass: as for nbq_swap_lock_timeout_nested()
 *
 * Interrupts are off for as long as it waits.
 *
 * Context: Any. Returns with interrupts off if the lock was acquired.
 * Return: As nbq_swap_lock_timeout().
 */
#define nbq_swap_lock_timeout_irqsave_nested(lock, patience, flags, subclass) \
	__nbq_swap_nested_irqsave(lock, patience, &(flags), subclass)

static inline int __must_check
__nbq_swap_lock_until_irqsave(struct nbq_swap *lock, ktime_t deadline, unsigned long *flags)
	__nbq_cond_acquires(0, lock)
{
	int ret;

	local_irq_save(*flags);
	ret = nbq_swap_lock_until(lock, deadline);
	if (ret)
		local_irq_restore(*flags);
	return ret;
}

/**
 * nbq_swap_lock_until_irqsave() - nbq_swap_lock_until(), interrupts saved and off.
 * @lock: the lock
 * @deadline: CLOCK_MONOTONIC time to give up at, in ns
 * @flags: unsigned long variable for the interrupt state, by name
 *
 * Interrupts are off for as long as it waits.
 *
 * Context: Any. Returns with interrupts off if the lock was acquired.
 * Return: As nbq_swap_lock_until().
 */
#define nbq_swap_lock_until_irqsave(lock, deadline, flags) \
	__nbq_swap_lock_until_irqsave(lock, deadline, &(flags))

static inline bool __must_check
__nbq_swap_trylock_irqsave(struct nbq_swap *lock, unsigned long *flags)
	__nbq_cond_acquires(true, lock)
{
	bool ret;

	local_irq_save(*flags);
	ret = nbq_swap_trylock(lock);
	if (!ret)
		local_irq_restore(*flags);
	return ret;
}

/**
 * nbq_swap_trylock_irqsave() - nbq_swap_trylock(), interrupts saved and off.
 * @lock: the lock
 * @flags: unsigned long variable for the interrupt state, by name
 *
 * Context: Any. Returns with interrupts off if the lock was acquired.
 * Return: As nbq_swap_trylock().
 */
#define nbq_swap_trylock_irqsave(lock, flags) \
	__nbq_swap_trylock_irqsave(lock, &(flags))

static inline void __nbq_swap_lock_irqsave(struct nbq_swap *lock, unsigned long *flags)
	__nbq_acquires(lock)
{
	local_irq_save(*flags);
	nbq_swap_lock(lock);
}

/**
 * nbq_swap_lock_irqsave() - nbq_swap_lock(), interrupts saved and off.
 * @lock: the lock
 * @flags: unsigned long variable for the interrupt state, by name
 *
 * Context: Any. Returns with interrupts off.
 */
#define nbq_swap_lock_irqsave(lock, flags) \
	__nbq_swap_lock_irqsave(lock, &(flags))

static inline void
__nbq_swap_lock_irqsave_nested(struct nbq_swap *lock, unsigned long *flags, unsigned int subclass)
	__nbq_acquires(lock)
{
	local_irq_save(*flags);
	nbq_swap_lock_nested(lock, subclass);
}

/**
 * nbq_swap_lock_irqsave_nested() - nbq_swap_lock_irqsave() inside a lock of the same class.
 * @lock: the lock
 * @flags: unsigned long variable for the interrupt state, by name
 * @subclass: as for nbq_swap_lock_timeout_nested()
 *
 * Context: Any. Returns with interrupts off.
 */
#define nbq_swap_lock_irqsave_nested(lock, flags, subclass) \
	__nbq_swap_lock_irqsave_nested(lock, &(flags), subclass)

/**
 * nbq_swap_unlock_irqrestore() - nbq_swap_unlock(), then interrupts as they were saved.
 * @lock: a lock acquired by an _irqsave operation
 * @flags: the saved interrupt state
 *
 * In the order of nbq_swap_unlock_irq().
 *
 * Context: The holder's, interrupts off.
 */
static inline void nbq_swap_unlock_irqrestore(struct nbq_swap *lock, unsigned long flags)
	__nbq_releases(lock)
{
	preempt_disable();
	nbq_swap_unlock(lock);
	local_irq_restore(flags);
	preempt_enable();
}

/**
 * nbq_swap_lock_timeout_bh() - nbq_swap_lock_timeout() with bottom halves off.
 * @lock: the lock
 * @patience: ns to wait at most
 *
 * Context: Task or softirq. Returns with bottom halves off if the lock was acquired.
 * Return: As nbq_swap_lock_timeout().
 */
static inline int __must_check
nbq_swap_lock_timeout_bh(struct nbq_swap *lock, ktime_t patience)
	__nbq_cond_acquires(0, lock)
{
	int ret;

	local_bh_disable();
	ret = nbq_swap_lock_timeout(lock, patience);
	if (ret)
		local_bh_enable();
	return ret;
}

/**
 * nbq_swap_lock_until_bh() - nbq_swap_lock_until() with bottom halves off.
 * @lock: the lock
 * @deadline: CLOCK_MONOTONIC time to give up at, in ns
 *
 * Context: Task or softirq. Returns with bottom halves off if the lock was acquired.
 * Return: As nbq_swap_lock_until().
 */
static inline int __must_check
nbq_swap_lock_until_bh(struct nbq_swap *lock, ktime_t deadline)
	__nbq_cond_acquires(0, lock)
{
	int ret;

	local_bh_disable();
	ret = nbq_swap_lock_until(lock, deadline);
	if (ret)
		local_bh_enable();
	return ret;
}

/**
 * nbq_swap_trylock_bh() - nbq_swap_trylock() with bottom halves off.
 * @lock: the lock
 *
 * Context: Task or softirq. Returns with bottom halves off if the lock was acquired.
 * Return: As nbq_swap_trylock().
 */
static inline bool __must_check nbq_swap_trylock_bh(struct nbq_swap *lock)
	__nbq_cond_acquires(true, lock)
{
	bool ret;

	local_bh_disable();
	ret = nbq_swap_trylock(lock);
	if (!ret)
		local_bh_enable();
	return ret;
}

/**
 * nbq_swap_lock_bh() - nbq_swap_lock() with bottom halves off.
 * @lock: the lock
 *
 * Context: Task or softirq. Returns with bottom halves off.
 */
static inline void nbq_swap_lock_bh(struct nbq_swap *lock)
	__nbq_acquires(lock)
{
	local_bh_disable();
	nbq_swap_lock(lock);
}

/**
 * nbq_swap_unlock_bh() - nbq_swap_unlock(), then bottom halves on.
 * @lock: a lock acquired by a _bh operation
 *
 * Context: The holder's, bottom halves off. Returns with bottom halves on.
 */
static inline void nbq_swap_unlock_bh(struct nbq_swap *lock)
	__nbq_releases(lock)
{
	nbq_swap_unlock(lock);
	local_bh_enable();
}

/* Guards that cannot fail. */
#ifdef __NBQ_GUARDS
DEFINE_LOCK_GUARD_1(nbq_swap, struct nbq_swap,
		    nbq_swap_lock(_T->lock), nbq_swap_unlock(_T->lock))
DECLARE_LOCK_GUARD_1_ATTRS(nbq_swap, __nbq_acquires(_T),
			   __nbq_releases(*(struct nbq_swap **)_T))
DEFINE_LOCK_GUARD_1(nbq_swap_irq, struct nbq_swap,
		    nbq_swap_lock_irq(_T->lock), nbq_swap_unlock_irq(_T->lock))
DECLARE_LOCK_GUARD_1_ATTRS(nbq_swap_irq, __nbq_acquires(_T),
			   __nbq_releases(*(struct nbq_swap **)_T))
DEFINE_LOCK_GUARD_1(nbq_swap_irqsave, struct nbq_swap,
		    nbq_swap_lock_irqsave(_T->lock, _T->flags),
		    nbq_swap_unlock_irqrestore(_T->lock, _T->flags), unsigned long flags)
DECLARE_LOCK_GUARD_1_ATTRS(nbq_swap_irqsave, __nbq_acquires(_T),
			   __nbq_releases(*(struct nbq_swap **)_T))
DEFINE_LOCK_GUARD_1(nbq_swap_bh, struct nbq_swap,
		    nbq_swap_lock_bh(_T->lock), nbq_swap_unlock_bh(_T->lock))
DECLARE_LOCK_GUARD_1_ATTRS(nbq_swap_bh, __nbq_acquires(_T),
			   __nbq_releases(*(struct nbq_swap **)_T))

/* For clang's context analysis. */
#ifdef WITH_LOCK_GUARD_1_ATTRS
#define class_nbq_swap_constructor(_T)	WITH_LOCK_GUARD_1_ATTRS(nbq_swap, _T)
#define class_nbq_swap_irq_constructor(_T)	WITH_LOCK_GUARD_1_ATTRS(nbq_swap_irq, _T)
#define class_nbq_swap_irqsave_constructor(_T) \
	WITH_LOCK_GUARD_1_ATTRS(nbq_swap_irqsave, _T)
#define class_nbq_swap_bh_constructor(_T)	WITH_LOCK_GUARD_1_ATTRS(nbq_swap_bh, _T)
#endif
#endif

/* Guards that may fail, see guard.h. */
#ifdef __NBQ_DEFINE_GUARD_COND
__NBQ_DEFINE_GUARD_COND(nbq_swap_try, true,
			__nbq_try_err(nbq_swap_trylock(lock)),
			nbq_swap_unlock(_T.lock), struct nbq_swap *lock)
__NBQ_DEFINE_GUARD_COND(nbq_swap_timeout, false,
			nbq_swap_lock_timeout(lock, patience),
			nbq_swap_unlock(_T.lock), struct nbq_swap *lock, ktime_t patience)
__NBQ_DEFINE_GUARD_COND(nbq_swap_until, false,
			nbq_swap_lock_until(lock, deadline),
			nbq_swap_unlock(_T.lock), struct nbq_swap *lock, ktime_t deadline)
__NBQ_DEFINE_GUARD_COND(nbq_swap_irqsave_try, true,
			__nbq_try_err(nbq_swap_trylock_irqsave(lock, _T.flags)),
			nbq_swap_unlock_irqrestore(_T.lock, _T.flags), struct nbq_swap *lock)
__NBQ_DEFINE_GUARD_COND(nbq_swap_irqsave_timeout, false,
			nbq_swap_lock_timeout_irqsave(lock, patience, _T.flags),
			nbq_swap_unlock_irqrestore(_T.lock, _T.flags),
			struct nbq_swap *lock, ktime_t patience)
__NBQ_DEFINE_GUARD_COND(nbq_swap_irqsave_until, false,
			nbq_swap_lock_until_irqsave(lock, deadline, _T.flags),
			nbq_swap_unlock_irqrestore(_T.lock, _T.flags),
			struct nbq_swap *lock, ktime_t deadline)
#endif

#endif
