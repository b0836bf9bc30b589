/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A lock type and its verbs, written once for all: nbqlock.h includes this for
 * each type, with NBQ_TYPE as its name. Where it says nbq_X, read nbq_clh,
 * nbq_mcs, nbq_swap, nbq_spin.
 *
 * Include <nbqlock/nbqlock.h>, not this.
 */
#ifndef NBQ_TYPE
#error "Include <nbqlock/nbqlock.h>, which says for which lock type"
#endif

#ifndef _NBQLOCK_LOCK_TYPE_H
#define _NBQLOCK_LOCK_TYPE_H

/*
 * They stay defined, for define_lock_type.h and others that write something once
 * for all types. Without an NBQ_TYPE they name nothing.
 */
#define nbq_X				NBQ_TYPE
#define nbq_X_init_key			__PASTE(NBQ_TYPE, _init_key)
#define nbq_X_lock_timeout		__PASTE(NBQ_TYPE, _lock_timeout)
#define nbq_X_lock_until		__PASTE(NBQ_TYPE, _lock_until)
#define nbq_X_trylock			__PASTE(NBQ_TYPE, _trylock)
#define nbq_X_lock			__PASTE(NBQ_TYPE, _lock)
#define nbq_X_unlock			__PASTE(NBQ_TYPE, _unlock)
#define nbq_X_is_locked			__PASTE(NBQ_TYPE, _is_locked)
#define nbq_X_is_contended		__PASTE(NBQ_TYPE, _is_contended)
#define nbq_X_destroy			__PASTE(NBQ_TYPE, _destroy)
#define nbq_X_lock_timeout_irq		__PASTE(NBQ_TYPE, _lock_timeout_irq)
#define nbq_X_lock_until_irq		__PASTE(NBQ_TYPE, _lock_until_irq)
#define nbq_X_trylock_irq		__PASTE(NBQ_TYPE, _trylock_irq)
#define nbq_X_lock_irq			__PASTE(NBQ_TYPE, _lock_irq)
#define nbq_X_unlock_irq		__PASTE(NBQ_TYPE, _unlock_irq)
#define nbq_X_unlock_irqrestore		__PASTE(NBQ_TYPE, _unlock_irqrestore)
#define nbq_X_lock_timeout_bh		__PASTE(NBQ_TYPE, _lock_timeout_bh)
#define nbq_X_lock_until_bh		__PASTE(NBQ_TYPE, _lock_until_bh)
#define nbq_X_trylock_bh		__PASTE(NBQ_TYPE, _trylock_bh)
#define nbq_X_lock_bh			__PASTE(NBQ_TYPE, _lock_bh)
#define nbq_X_unlock_bh			__PASTE(NBQ_TYPE, _unlock_bh)
#define nbq_X_lock_timeout_nested	__PASTE(NBQ_TYPE, _lock_timeout_nested)
#define nbq_X_lock_until_nested		__PASTE(NBQ_TYPE, _lock_until_nested)
#define nbq_X_lock_nested		__PASTE(NBQ_TYPE, _lock_nested)
#define __nbq_X_lock_timeout_nested	__PASTE(__, nbq_X_lock_timeout_nested)
#define __nbq_X_lock_until_nested	__PASTE(__, nbq_X_lock_until_nested)
#define __nbq_X_lock_nested		__PASTE(__, nbq_X_lock_nested)
#define __nbq_X_lock_timeout_irqsave	__PASTE(__, __PASTE(NBQ_TYPE, _lock_timeout_irqsave))
#define __nbq_X_lock_until_irqsave	__PASTE(__, __PASTE(NBQ_TYPE, _lock_until_irqsave))
#define __nbq_X_trylock_irqsave		__PASTE(__, __PASTE(NBQ_TYPE, _trylock_irqsave))
#define __nbq_X_lock_irqsave		__PASTE(__, __PASTE(NBQ_TYPE, _lock_irqsave))
#define __nbq_X_lock_timeout_irqsave_nested				\
	__PASTE(__, __PASTE(NBQ_TYPE, _lock_timeout_irqsave_nested))
#define __nbq_X_lock_until_irqsave_nested				\
	__PASTE(__, __PASTE(NBQ_TYPE, _lock_until_irqsave_nested))
#define __nbq_X_lock_irqsave_nested					\
	__PASTE(__, __PASTE(NBQ_TYPE, _lock_irqsave_nested))

#endif

#ifdef NBQ_TYPE_OF_ITS_OWN
/* The struct, and the verbs that acquire and release. */
#include NBQ_TYPE_OF_ITS_OWN
#else
/**
 * struct nbq_X - a lock
 * @tail: newest node in the queue; NULL: the lock is free, and no node in it
 * @dep_map: for lockdep
 *
 * All fields are private. A lock that is all zeroes is a free lock, but only
 * DEFINE_NBQ_CLH() and nbq_clh_init(), and so on for the other types, make it
 * known to lockdep.
 */
__nbq_context_lock_struct(nbq_X) {
	struct nbq_node *tail;
#ifdef CONFIG_DEBUG_LOCK_ALLOC
	struct lockdep_map dep_map;
#endif
};

/**
 * nbq_X_lock_timeout() - Acquire, or give up after a time.
 * @lock: the lock
 * @patience: ns to wait at most; 0 or less: do not wait, as nbq_X_trylock();
 *	%KTIME_MAX: for ever
 *
 * Late by one poll (with an empty pool: one search of it), or by at most
 * %NBQ_POLLS_PER_CLOCK if polls have become slower, by one clock read and the steps of
 * leaving, as long as the CPU runs. Each
 * abandoned node in front is skipped first, whatever the clock says. A search for
 * deadlocks, which comes ever more rarely, looks at each waiting CPU once.
 *
 * Context: Any; NMI where %NBQ_NMI_SAFE. Returns with preemption off if the lock
 * was acquired.
 * Return:
 * * 0		- the lock is held
 * * -ETIMEDOUT	- the patience is over
 * * -EBUSY	- there was no patience, and the lock is held or waited for
 * * -EDEADLK	- the wait could not end: this CPU holds the lock or waits for it
 *		  under this context, or whoever is in front waits, through any
 *		  number of locks, for this CPU (see the parameter deadlock_checks)
 * * -ENOMEM	- the patience is over and no queue node could be had in it:
 *		  see the parameters pool_nodes and pool_nodes_max
 */
int __must_check nbq_X_lock_timeout(struct nbq_X *lock, ktime_t patience)
	__nbq_cond_acquires(0, lock);

/**
 * nbq_X_lock_until() - Acquire, or give up at a time.
 * @lock: the lock
 * @deadline: CLOCK_MONOTONIC time to give up at, in ns; one already past: poll
 *	once and read the clock once; %KTIME_MIN: do not wait, as nbq_X_trylock();
 *	%KTIME_MAX: for ever
 *
 * For several locks under one budget: take ktime_get() once, add, pass the sum
 * to each. Otherwise as nbq_X_lock_timeout().
 *
 * Context: Any. Returns with preemption off if the lock was acquired.
 * Return:
 * * 0		- the lock is held
 * * -ETIMEDOUT	- the deadline has passed
 * * -EBUSY	- the deadline was %KTIME_MIN, and the lock is held or waited for
 * * -EDEADLK	- as of nbq_X_lock_timeout()
 * * -ENOMEM	- the deadline has passed and no queue node could be had
 */
int __must_check nbq_X_lock_until(struct nbq_X *lock, ktime_t deadline)
	__nbq_cond_acquires(0, lock);

/**
 * nbq_X_trylock() - Acquire if that needs no waiting.
 * @lock: the lock
 *
 * Succeeds if the lock is free and no context waits for it, also when abandoned nodes
 * are in the queue. It reads before it writes: while the lock is held it changes
 * nothing that others read. When it fails on a free lock is said under "The contract"
 * in Documentation/nbqlock.rst.
 *
 * Context: Any; NMI where %NBQ_NMI_SAFE. Returns with preemption off if the lock
 * was acquired.
 * Return: true if the lock is held now; false if a context holds it or waits for it,
 * or if no queue node was free.
 */
bool __must_check nbq_X_trylock(struct nbq_X *lock)
	__nbq_cond_acquires(true, lock);

/**
 * nbq_X_lock() - Acquire, however long it takes.
 * @lock: the lock
 *
 * Where others would get -EDEADLK it reports the deadlock, leaves the queue and tries
 * again: another context in the deadlock may time out. Reports are one line in the
 * kernel log, at most 10 in 5 s, with the lock, its holder and the caller.
 *
 * Context: Any in which the holder can make progress. Returns with preemption
 * off.
 */
void nbq_X_lock(struct nbq_X *lock) __acquires(lock);

/**
 * nbq_X_unlock() - Release, to the next in the queue if there is one.
 * @lock: a lock that this context acquired on this CPU
 *
 * A lock that is not held, or that another CPU holds, is left as it is, and that is
 * reported as by nbq_X_lock().
 *
 * Context: The holder's. Turns preemption back on.
 */
void nbq_X_unlock(struct nbq_X *lock) __releases(lock);
#endif

/**
 * nbq_X_init_key() - Make a lock; use nbq_clh_init() and so on.
 * @lock: memory for the lock
 * @name: its name, for lockdep
 * @key: its class, for lockdep
 *
 * If attempts were ever abandoned in the queue of a lock here, or of one with the same hash, it
 * reads a word of each possible CPU, so that none resumes its place in a lock of before that
 * was not destroyed.
 */
void nbq_X_init_key(struct nbq_X *lock, const char *name,
		    struct lock_class_key *key);

/**
 * nbq_X_is_locked() - Is the lock held, or about to be by a waiter?
 * @lock: the lock
 *
 * Context: Any.
 * Return: true if the lock was held when looked at, or was about to be by one that
 * waits for it. Advisory: it may have changed.
 */
bool nbq_X_is_locked(const struct nbq_X *lock);

/**
 * nbq_X_is_contended() - Does a context wait for the lock?
 * @lock: the lock
 *
 * In a queue, a waiter counts once it has polled in vain at the latest.
 *
 * Context: Any.
 * Return: true if the lock was held, or about to be, and a context waited for it or had
 * left its node behind. Advisory: it may have changed.
 */
bool nbq_X_is_contended(const struct nbq_X *lock);

/**
 * nbq_X_destroy() - Give back the queue nodes that stand in a lock.
 * @lock: a lock that nobody will use any more
 *
 * Call it before the lock's memory goes away; without it, nodes that timeouts
 * abandoned in the queue, and the one that a swap-only lock keeps, stay lost to
 * their pools. The lock is as new afterwards. Memory that was a lock, was not
 * destroyed, and is to be one again goes through nbq_X_init() in any case: else
 * an attempt may resume a place in the queue of the old one.
 *
 * Context: Any. Nobody may hold, wait for or try the lock meanwhile.
 * Return:
 * * 0		- done
 * * -EBUSY	- a context holds the lock or waits for it: reported as by
 *		  nbq_X_lock(), nothing was touched
 */
int __must_check nbq_X_destroy(struct nbq_X *lock);

#ifdef CONFIG_DEBUG_LOCK_ALLOC
/**
 * __nbq_X_lock_timeout_nested() - nbq_X_lock_timeout(), with what lockdep is told.
 * @lock: the lock
 * @patience: ns to wait at most
 * @subclass: of the lock's class
 * @nest_lock: a lock that is held and orders those of this class; or NULL
 *
 * Use nbq_X_lock_timeout_nested() or nbq_X_lock_timeout_nest_lock().
 *
 * Context: as nbq_X_lock_timeout().
 * Return: as nbq_X_lock_timeout().
 */
int __must_check
__nbq_X_lock_timeout_nested(struct nbq_X *lock, ktime_t patience,
			    unsigned int subclass,
			    struct lockdep_map *nest_lock)
	__nbq_cond_acquires(0, lock);

/**
 * __nbq_X_lock_until_nested() - nbq_X_lock_until(), with what lockdep is told.
 * @lock: the lock
 * @deadline: CLOCK_MONOTONIC time to give up at, in ns
 * @subclass: of the lock's class
 * @nest_lock: a lock that is held and orders those of this class; or NULL
 *
 * Use nbq_X_lock_until_nested() or nbq_X_lock_until_nest_lock().
 *
 * Context: as nbq_X_lock_until().
 * Return: as nbq_X_lock_until().
 */
int __must_check
__nbq_X_lock_until_nested(struct nbq_X *lock, ktime_t deadline,
			  unsigned int subclass, struct lockdep_map *nest_lock)
	__nbq_cond_acquires(0, lock);

/**
 * __nbq_X_lock_nested() - nbq_X_lock(), with what lockdep is told.
 * @lock: the lock
 * @subclass: of the lock's class
 * @nest_lock: a lock that is held and orders those of this class; or NULL
 *
 * Use nbq_X_lock_nested() or nbq_X_lock_nest_lock().
 *
 * Context: as nbq_X_lock().
 */
void __nbq_X_lock_nested(struct nbq_X *lock, unsigned int subclass,
			 struct lockdep_map *nest_lock) __acquires(lock);
#endif

/* Where lockdep is not there, there is nothing to tell it. */
#ifndef CONFIG_DEBUG_LOCK_ALLOC
static inline int __must_check
__nbq_X_lock_timeout_nested(struct nbq_X *lock, ktime_t patience,
			    unsigned int subclass,
			    struct lockdep_map *nest_lock)
	__nbq_cond_acquires(0, lock)
{
	return nbq_X_lock_timeout(lock, patience);
}

static inline int __must_check
__nbq_X_lock_until_nested(struct nbq_X *lock, ktime_t deadline,
			  unsigned int subclass, struct lockdep_map *nest_lock)
	__nbq_cond_acquires(0, lock)
{
	return nbq_X_lock_until(lock, deadline);
}

static inline void
__nbq_X_lock_nested(struct nbq_X *lock, unsigned int subclass,
		    struct lockdep_map *nest_lock) __acquires(lock)
{
	nbq_X_lock(lock);
}
#endif

/*
 * For a context that holds a lock of the same lockdep class already: one that
 * was made at the same place.
 */

/**
 * nbq_X_lock_timeout_nested() - nbq_X_lock_timeout() inside a lock of the same class.
 * @lock: the lock
 * @patience: ns to wait at most
 * @subclass: for lockdep: %SINGLE_DEPTH_NESTING, or another number less than
 *	%MAX_LOCKDEP_SUBCLASSES that says which place the lock has in the order
 *
 * Context: as nbq_X_lock_timeout().
 * Return: as nbq_X_lock_timeout().
 */
static inline int __must_check
nbq_X_lock_timeout_nested(struct nbq_X *lock, ktime_t patience,
			  unsigned int subclass) __nbq_cond_acquires(0, lock)
{
	return __nbq_X_lock_timeout_nested(lock, patience, subclass, NULL);
}

/**
 * nbq_X_lock_until_nested() - nbq_X_lock_until() inside a lock of the same class.
 * @lock: the lock
 * @deadline: CLOCK_MONOTONIC time to give up at, in ns
 * @subclass: as for nbq_X_lock_timeout_nested()
 *
 * Context: as nbq_X_lock_until().
 * Return: as nbq_X_lock_until().
 */
static inline int __must_check
nbq_X_lock_until_nested(struct nbq_X *lock, ktime_t deadline,
			unsigned int subclass) __nbq_cond_acquires(0, lock)
{
	return __nbq_X_lock_until_nested(lock, deadline, subclass, NULL);
}

/**
 * nbq_X_lock_nested() - nbq_X_lock() inside a lock of the same class.
 * @lock: the lock
 * @subclass: as for nbq_X_lock_timeout_nested()
 *
 * Context: as nbq_X_lock().
 */
static inline void nbq_X_lock_nested(struct nbq_X *lock, unsigned int subclass)
	__acquires(lock)
{
	__nbq_X_lock_nested(lock, subclass, NULL);
}

/*
 * The same verbs with interrupts or bottom halves off, from before the wait
 * to after the unlock; on failure they are as they were before the call.
 */

/**
 * nbq_X_lock_timeout_irq() - nbq_X_lock_timeout() with interrupts off.
 * @lock: the lock
 * @patience: ns to wait at most
 *
 * Context: Interrupts on. Returns with them off if the lock was acquired.
 * Return: as nbq_X_lock_timeout().
 */
static inline int __must_check
nbq_X_lock_timeout_irq(struct nbq_X *lock, ktime_t patience)
	__nbq_cond_acquires(0, lock)
{
	int ret;

	local_irq_disable();
	ret = nbq_X_lock_timeout(lock, patience);
	if (ret)
		local_irq_enable();
	return ret;
}

/**
 * nbq_X_lock_until_irq() - nbq_X_lock_until() with interrupts off.
 * @lock: the lock
 * @deadline: CLOCK_MONOTONIC time to give up at, in ns
 *
 * Context: Interrupts on. Returns with them off if the lock was acquired.
 * Return: as nbq_X_lock_until().
 */
static inline int __must_check
nbq_X_lock_until_irq(struct nbq_X *lock, ktime_t deadline)
	__nbq_cond_acquires(0, lock)
{
	int ret;

	local_irq_disable();
	ret = nbq_X_lock_until(lock, deadline);
	if (ret)
		local_irq_enable();
	return ret;
}

/**
 * nbq_X_trylock_irq() - nbq_X_trylock() with interrupts off.
 * @lock: the lock
 *
 * Context: Interrupts on. Returns with them off if the lock was acquired.
 * Return: as nbq_X_trylock().
 */
static inline bool __must_check nbq_X_trylock_irq(struct nbq_X *lock)
	__nbq_cond_acquires(true, lock)
{
	bool ret;

	local_irq_disable();
	ret = nbq_X_trylock(lock);
	if (!ret)
		local_irq_enable();
	return ret;
}

/**
 * nbq_X_lock_irq() - nbq_X_lock() with interrupts off.
 * @lock: the lock
 *
 * Context: Interrupts on. Returns with them off.
 */
static inline void nbq_X_lock_irq(struct nbq_X *lock)
	__acquires(lock)
{
	local_irq_disable();
	nbq_X_lock(lock);
}

/**
 * nbq_X_unlock_irq() - nbq_X_unlock(), then interrupts on.
 * @lock: a lock acquired by an _irq verb
 *
 * Interrupts come back before preemption, so that a reschedule that became due
 * meanwhile happens at once.
 *
 * Context: as nbq_X_unlock(), interrupts off. Returns with them on.
 */
static inline void nbq_X_unlock_irq(struct nbq_X *lock)
	__releases(lock)
{
	preempt_disable();
	nbq_X_unlock(lock);
	local_irq_enable();
	preempt_enable();
}

/**
 * __nbq_X_lock_timeout_irqsave_nested() - as nbq_X_lock_timeout_irqsave_nested(), with a pointer.
 * @lock: the lock
 * @patience: ns to wait at most
 * @flags: where to keep the interrupt state
 * @subclass: as for nbq_X_lock_timeout_nested()
 *
 * Context: Any. Returns with interrupts off if the lock was acquired.
 * Return: as nbq_X_lock_timeout().
 */
static inline int __must_check
__nbq_X_lock_timeout_irqsave_nested(struct nbq_X *lock, ktime_t patience,
				    unsigned long *flags,
				    unsigned int subclass)
	__nbq_cond_acquires(0, lock)
{
	int ret;

	local_irq_save(*flags);
	ret = nbq_X_lock_timeout_nested(lock, patience, subclass);
	if (ret)
		local_irq_restore(*flags);
	return ret;
}

/**
 * __nbq_X_lock_timeout_irqsave() - nbq_X_lock_timeout_irqsave() takes @flags by name.
 * @lock: the lock
 * @patience: ns to wait at most
 * @flags: where to keep the interrupt state
 *
 * Context: Any. Returns with interrupts off if the lock was acquired.
 * Return: as nbq_X_lock_timeout().
 */
static inline int __must_check
__nbq_X_lock_timeout_irqsave(struct nbq_X *lock, ktime_t patience,
			     unsigned long *flags)
	__nbq_cond_acquires(0, lock)
{
	return __nbq_X_lock_timeout_irqsave_nested(lock, patience, flags, 0);
}

/**
 * __nbq_X_lock_until_irqsave_nested() - as nbq_X_lock_until_irqsave_nested(), with a pointer.
 * @lock: the lock
 * @deadline: CLOCK_MONOTONIC time to give up at, in ns
 * @flags: where to keep the interrupt state
 * @subclass: as for nbq_X_lock_timeout_nested()
 *
 * Context: Any. Returns with interrupts off if the lock was acquired.
 * Return: as nbq_X_lock_until().
 */
static inline int __must_check
__nbq_X_lock_until_irqsave_nested(struct nbq_X *lock, ktime_t deadline,
				  unsigned long *flags,
				  unsigned int subclass)
	__nbq_cond_acquires(0, lock)
{
	int ret;

	local_irq_save(*flags);
	ret = nbq_X_lock_until_nested(lock, deadline, subclass);
	if (ret)
		local_irq_restore(*flags);
	return ret;
}

/**
 * __nbq_X_lock_until_irqsave() - nbq_X_lock_until_irqsave() takes @flags by name.
 * @lock: the lock
 * @deadline: CLOCK_MONOTONIC time to give up at, in ns
 * @flags: where to keep the interrupt state
 *
 * Context: Any. Returns with interrupts off if the lock was acquired.
 * Return: as nbq_X_lock_until().
 */
static inline int __must_check
__nbq_X_lock_until_irqsave(struct nbq_X *lock, ktime_t deadline,
			   unsigned long *flags)
	__nbq_cond_acquires(0, lock)
{
	return __nbq_X_lock_until_irqsave_nested(lock, deadline, flags, 0);
}

/**
 * __nbq_X_trylock_irqsave() - nbq_X_trylock_irqsave() takes @flags by name.
 * @lock: the lock
 * @flags: where to keep the interrupt state
 *
 * Context: Any. Returns with interrupts off if the lock was acquired.
 * Return: as nbq_X_trylock().
 */
static inline bool __must_check
__nbq_X_trylock_irqsave(struct nbq_X *lock, unsigned long *flags)
	__nbq_cond_acquires(true, lock)
{
	bool ret;

	local_irq_save(*flags);
	ret = nbq_X_trylock(lock);
	if (!ret)
		local_irq_restore(*flags);
	return ret;
}

/**
 * __nbq_X_lock_irqsave_nested() - as nbq_X_lock_irqsave_nested(), with a pointer.
 * @lock: the lock
 * @flags: where to keep the interrupt state
 * @subclass: as for nbq_X_lock_timeout_nested()
 *
 * Context: Any. Returns with interrupts off.
 */
static inline void
__nbq_X_lock_irqsave_nested(struct nbq_X *lock, unsigned long *flags,
			    unsigned int subclass) __acquires(lock)
{
	local_irq_save(*flags);
	nbq_X_lock_nested(lock, subclass);
}

/**
 * __nbq_X_lock_irqsave() - nbq_X_lock_irqsave() takes @flags by name.
 * @lock: the lock
 * @flags: where to keep the interrupt state
 *
 * Context: Any. Returns with interrupts off.
 */
static inline void __nbq_X_lock_irqsave(struct nbq_X *lock,
					unsigned long *flags)
	__acquires(lock)
{
	__nbq_X_lock_irqsave_nested(lock, flags, 0);
}

/**
 * nbq_X_unlock_irqrestore() - nbq_X_unlock(), then interrupts as before.
 * @lock: a lock acquired by an _irqsave verb
 * @flags: the interrupt state which that verb saved
 *
 * Interrupts come back before preemption, as in nbq_X_unlock_irq().
 *
 * Context: as nbq_X_unlock(), interrupts off.
 */
static inline void nbq_X_unlock_irqrestore(struct nbq_X *lock,
					   unsigned long flags)
	__releases(lock)
{
	preempt_disable();
	nbq_X_unlock(lock);
	local_irq_restore(flags);
	preempt_enable();
}

/**
 * nbq_X_lock_timeout_bh() - nbq_X_lock_timeout() with bottom halves off.
 * @lock: the lock
 * @patience: ns to wait at most
 *
 * Context: Task or softirq. Returns with bottom halves off if the lock was
 * acquired.
 * Return: as nbq_X_lock_timeout().
 */
static inline int __must_check
nbq_X_lock_timeout_bh(struct nbq_X *lock, ktime_t patience)
	__nbq_cond_acquires(0, lock)
{
	int ret;

	local_bh_disable();
	ret = nbq_X_lock_timeout(lock, patience);
	if (ret)
		local_bh_enable();
	return ret;
}

/**
 * nbq_X_lock_until_bh() - nbq_X_lock_until() with bottom halves off.
 * @lock: the lock
 * @deadline: CLOCK_MONOTONIC time to give up at, in ns
 *
 * Context: Task or softirq. Returns with bottom halves off if the lock was
 * acquired.
 * Return: as nbq_X_lock_until().
 */
static inline int __must_check
nbq_X_lock_until_bh(struct nbq_X *lock, ktime_t deadline)
	__nbq_cond_acquires(0, lock)
{
	int ret;

	local_bh_disable();
	ret = nbq_X_lock_until(lock, deadline);
	if (ret)
		local_bh_enable();
	return ret;
}

/**
 * nbq_X_trylock_bh() - nbq_X_trylock() with bottom halves off.
 * @lock: the lock
 *
 * Context: Task or softirq. Returns with bottom halves off if the lock was
 * acquired.
 * Return: as nbq_X_trylock().
 */
static inline bool __must_check nbq_X_trylock_bh(struct nbq_X *lock)
	__nbq_cond_acquires(true, lock)
{
	bool ret;

	local_bh_disable();
	ret = nbq_X_trylock(lock);
	if (!ret)
		local_bh_enable();
	return ret;
}

/**
 * nbq_X_lock_bh() - nbq_X_lock() with bottom halves off.
 * @lock: the lock
 *
 * Context: Task or softirq. Returns with bottom halves off.
 */
static inline void nbq_X_lock_bh(struct nbq_X *lock)
	__acquires(lock)
{
	local_bh_disable();
	nbq_X_lock(lock);
}

/**
 * nbq_X_unlock_bh() - nbq_X_unlock(), then bottom halves on.
 * @lock: a lock acquired by a _bh verb
 *
 * Context: as nbq_X_unlock(), bottom halves off. Returns with them on.
 */
static inline void nbq_X_unlock_bh(struct nbq_X *lock)
	__releases(lock)
{
	nbq_X_unlock(lock);
	local_bh_enable();
}
