/* SPDX-License-Identifier: GPL-2.0 */
/*
 * nbqlock: queue-based spinlocks whose waiters can give up.
 *
 * The one header for users. Every lock of the family has the same verbs;
 * nbq_clh_*() is CLH-NB, from Michael L. Scott, "Non-Blocking Timeout in
 * Scalable Queue-Based Spin Locks", PODC 2002.
 *
 * What holds for every lock here
 *	Acquisition is first come, first served among those who stay.
 *	A waiter whose patience is over leaves in a bounded number of its own
 *	steps, from any place in the queue, whatever its neighbours do.
 *	A timeout harms neither the lock nor another waiter.
 *	Preemption is off from the start of a wait to the unlock, which the
 *	holder must do on the CPU that acquired.
 *	Every verb works in task, softirq, hardirq and NMI context. A lock
 *	that an interrupt handler takes must be taken with that interrupt
 *	masked elsewhere, as any spinlock; or the handler's patience must be
 *	finite: behind the holder that it interrupted it can only time out.
 *	Patience and deadlines are in ns of CLOCK_MONOTONIC. Patience counts
 *	from the moment at which there is something to wait for.
 */
#ifndef _NBQLOCK_H
#define _NBQLOCK_H

#include <linux/bottom_half.h>
#include <linux/compiler.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/preempt.h>
#include <linux/types.h>

struct nbq_node;

/**
 * struct nbq_clh - a CLH-NB lock
 * @tail: newest node in the queue; NULL: the lock is free and the queue empty
 * @holder: the holder's node; NULL while nobody holds the lock
 * @dep_map: for lockdep
 *
 * All fields are private. A lock that is all zeroes is a free lock, but only
 * DEFINE_NBQ_CLH() and nbq_clh_init() make it known to lockdep.
 */
struct nbq_clh {
	struct nbq_node *tail;
	struct nbq_node *holder;
#ifdef CONFIG_DEBUG_LOCK_ALLOC
	struct lockdep_map dep_map;
#endif
};

#ifdef CONFIG_DEBUG_LOCK_ALLOC
#define NBQ_DEP_MAP_INIT(lockname)					\
	.dep_map = {							\
		.name = #lockname,					\
		.wait_type_inner = LD_WAIT_SPIN,			\
	},
#else
#define NBQ_DEP_MAP_INIT(lockname)
#endif

/**
 * NBQ_CLH_INIT() - Initialiser of a static CLH-NB lock, or of one in a struct.
 * @lockname: the variable or member that it initialises
 */
#define NBQ_CLH_INIT(lockname)	{ NBQ_DEP_MAP_INIT(lockname) }

/**
 * DEFINE_NBQ_CLH() - Define an unlocked CLH-NB lock.
 * @name: name of the variable; put ``static`` in front where wanted
 */
#define DEFINE_NBQ_CLH(name)	struct nbq_clh name = NBQ_CLH_INIT(name)

void nbq_clh_init_key(struct nbq_clh *lock, const char *name,
		      struct lock_class_key *key);

/**
 * nbq_clh_init() - Make a CLH-NB lock at run time.
 * @lock: memory for the lock; whatever was in it is forgotten
 *
 * Each place that calls this has a lockdep class of its own.
 *
 * Context: Any.
 */
#define nbq_clh_init(lock)						\
do {									\
	static struct lock_class_key __key;				\
									\
	nbq_clh_init_key((lock), #lock, &__key);			\
} while (0)

int __must_check nbq_clh_lock_timeout(struct nbq_clh *lock, ktime_t patience);
int __must_check nbq_clh_lock_until(struct nbq_clh *lock, ktime_t deadline);
bool __must_check nbq_clh_trylock(struct nbq_clh *lock);
void nbq_clh_lock(struct nbq_clh *lock);
void nbq_clh_unlock(struct nbq_clh *lock);
bool nbq_clh_is_locked(const struct nbq_clh *lock);
bool nbq_clh_is_contended(const struct nbq_clh *lock);
int nbq_clh_destroy(struct nbq_clh *lock);

/*
 * The same verbs with interrupts or bottom halves off, from before the wait
 * to after the unlock; on failure they are as they were before the call.
 */

/**
 * nbq_clh_lock_timeout_irq() - nbq_clh_lock_timeout() with interrupts off.
 * @lock: the lock
 * @patience: ns to wait at most
 *
 * Context: Interrupts on. Returns with them off if the lock was acquired.
 * Return: as nbq_clh_lock_timeout().
 */
static inline int __must_check
nbq_clh_lock_timeout_irq(struct nbq_clh *lock, ktime_t patience)
{
	int ret;

	local_irq_disable();
	ret = nbq_clh_lock_timeout(lock, patience);
	if (ret)
		local_irq_enable();
	return ret;
}

/**
 * nbq_clh_lock_until_irq() - nbq_clh_lock_until() with interrupts off.
 * @lock: the lock
 * @deadline: CLOCK_MONOTONIC time to give up at, in ns
 *
 * Context: Interrupts on. Returns with them off if the lock was acquired.
 * Return: as nbq_clh_lock_until().
 */
static inline int __must_check
nbq_clh_lock_until_irq(struct nbq_clh *lock, ktime_t deadline)
{
	int ret;

	local_irq_disable();
	ret = nbq_clh_lock_until(lock, deadline);
	if (ret)
		local_irq_enable();
	return ret;
}

/**
 * nbq_clh_trylock_irq() - nbq_clh_trylock() with interrupts off.
 * @lock: the lock
 *
 * Context: Interrupts on. Returns with them off if the lock was acquired.
 * Return: as nbq_clh_trylock().
 */
static inline bool __must_check nbq_clh_trylock_irq(struct nbq_clh *lock)
{
	bool ret;

	local_irq_disable();
	ret = nbq_clh_trylock(lock);
	if (!ret)
		local_irq_enable();
	return ret;
}

/**
 * nbq_clh_lock_irq() - nbq_clh_lock() with interrupts off.
 * @lock: the lock
 *
 * Context: Interrupts on. Returns with them off.
 */
static inline void nbq_clh_lock_irq(struct nbq_clh *lock)
{
	local_irq_disable();
	nbq_clh_lock(lock);
}

/**
 * nbq_clh_unlock_irq() - nbq_clh_unlock(), then interrupts on.
 * @lock: a lock acquired by an _irq verb
 *
 * Interrupts come back before preemption, so that a reschedule that became due
 * meanwhile happens at once.
 *
 * Context: as nbq_clh_unlock(), interrupts off. Returns with them on.
 */
static inline void nbq_clh_unlock_irq(struct nbq_clh *lock)
{
	preempt_disable();
	nbq_clh_unlock(lock);
	local_irq_enable();
	preempt_enable();
}

static inline int __must_check
__nbq_clh_lock_timeout_irqsave(struct nbq_clh *lock, ktime_t patience,
			       unsigned long *flags)
{
	int ret;

	local_irq_save(*flags);
	ret = nbq_clh_lock_timeout(lock, patience);
	if (ret)
		local_irq_restore(*flags);
	return ret;
}

/**
 * nbq_clh_lock_timeout_irqsave() - nbq_clh_lock_timeout() with interrupts off.
 * @lock: the lock
 * @patience: ns to wait at most
 * @flags: unsigned long variable for the interrupt state, as for
 *	raw_spin_lock_irqsave()
 *
 * Context: Any. Returns with interrupts off if the lock was acquired.
 * Return: as nbq_clh_lock_timeout().
 */
#define nbq_clh_lock_timeout_irqsave(lock, patience, flags)		\
	__nbq_clh_lock_timeout_irqsave(lock, patience, &(flags))

static inline int __must_check
__nbq_clh_lock_until_irqsave(struct nbq_clh *lock, ktime_t deadline,
			     unsigned long *flags)
{
	int ret;

	local_irq_save(*flags);
	ret = nbq_clh_lock_until(lock, deadline);
	if (ret)
		local_irq_restore(*flags);
	return ret;
}

/**
 * nbq_clh_lock_until_irqsave() - nbq_clh_lock_until() with interrupts off.
 * @lock: the lock
 * @deadline: CLOCK_MONOTONIC time to give up at, in ns
 * @flags: unsigned long variable for the interrupt state
 *
 * Context: Any. Returns with interrupts off if the lock was acquired.
 * Return: as nbq_clh_lock_until().
 */
#define nbq_clh_lock_until_irqsave(lock, deadline, flags)		\
	__nbq_clh_lock_until_irqsave(lock, deadline, &(flags))

static inline bool __must_check
__nbq_clh_trylock_irqsave(struct nbq_clh *lock, unsigned long *flags)
{
	bool ret;

	local_irq_save(*flags);
	ret = nbq_clh_trylock(lock);
	if (!ret)
		local_irq_restore(*flags);
	return ret;
}

/**
 * nbq_clh_trylock_irqsave() - nbq_clh_trylock() with interrupts off.
 * @lock: the lock
 * @flags: unsigned long variable for the interrupt state
 *
 * Context: Any. Returns with interrupts off if the lock was acquired.
 * Return: as nbq_clh_trylock().
 */
#define nbq_clh_trylock_irqsave(lock, flags)				\
	__nbq_clh_trylock_irqsave(lock, &(flags))

static inline void __nbq_clh_lock_irqsave(struct nbq_clh *lock,
					  unsigned long *flags)
{
	local_irq_save(*flags);
	nbq_clh_lock(lock);
}

/**
 * nbq_clh_lock_irqsave() - nbq_clh_lock() with interrupts off.
 * @lock: the lock
 * @flags: unsigned long variable for the interrupt state
 *
 * Context: Any. Returns with interrupts off.
 */
#define nbq_clh_lock_irqsave(lock, flags)				\
	__nbq_clh_lock_irqsave(lock, &(flags))

/**
 * nbq_clh_unlock_irqrestore() - nbq_clh_unlock(), then interrupts as before.
 * @lock: a lock acquired by an _irqsave verb
 * @flags: the interrupt state which that verb saved
 *
 * Interrupts come back before preemption, as in nbq_clh_unlock_irq().
 *
 * Context: as nbq_clh_unlock(), interrupts off.
 */
static inline void nbq_clh_unlock_irqrestore(struct nbq_clh *lock,
					     unsigned long flags)
{
	preempt_disable();
	nbq_clh_unlock(lock);
	local_irq_restore(flags);
	preempt_enable();
}

/**
 * nbq_clh_lock_timeout_bh() - nbq_clh_lock_timeout() with bottom halves off.
 * @lock: the lock
 * @patience: ns to wait at most
 *
 * Context: Task or softirq. Returns with bottom halves off if the lock was
 * acquired.
 * Return: as nbq_clh_lock_timeout().
 */
static inline int __must_check
nbq_clh_lock_timeout_bh(struct nbq_clh *lock, ktime_t patience)
{
	int ret;

	local_bh_disable();
	ret = nbq_clh_lock_timeout(lock, patience);
	if (ret)
		local_bh_enable();
	return ret;
}

/**
 * nbq_clh_lock_until_bh() - nbq_clh_lock_until() with bottom halves off.
 * @lock: the lock
 * @deadline: CLOCK_MONOTONIC time to give up at, in ns
 *
 * Context: Task or softirq. Returns with bottom halves off if the lock was
 * acquired.
 * Return: as nbq_clh_lock_until().
 */
static inline int __must_check
nbq_clh_lock_until_bh(struct nbq_clh *lock, ktime_t deadline)
{
	int ret;

	local_bh_disable();
	ret = nbq_clh_lock_until(lock, deadline);
	if (ret)
		local_bh_enable();
	return ret;
}

/**
 * nbq_clh_trylock_bh() - nbq_clh_trylock() with bottom halves off.
 * @lock: the lock
 *
 * Context: Task or softirq. Returns with bottom halves off if the lock was
 * acquired.
 * Return: as nbq_clh_trylock().
 */
static inline bool __must_check nbq_clh_trylock_bh(struct nbq_clh *lock)
{
	bool ret;

	local_bh_disable();
	ret = nbq_clh_trylock(lock);
	if (!ret)
		local_bh_enable();
	return ret;
}

/**
 * nbq_clh_lock_bh() - nbq_clh_lock() with bottom halves off.
 * @lock: the lock
 *
 * Context: Task or softirq. Returns with bottom halves off.
 */
static inline void nbq_clh_lock_bh(struct nbq_clh *lock)
{
	local_bh_disable();
	nbq_clh_lock(lock);
}

/**
 * nbq_clh_unlock_bh() - nbq_clh_unlock(), then bottom halves on.
 * @lock: a lock acquired by a _bh verb
 *
 * Context: as nbq_clh_unlock(), bottom halves off. Returns with them on.
 */
static inline void nbq_clh_unlock_bh(struct nbq_clh *lock)
{
	nbq_clh_unlock(lock);
	local_bh_enable();
}

/*
 * The counted events of all locks together, as under debugfs nbqlock/, for
 * modules that measure.
 */
int nbq_event_read(const char *name, u64 *value);
void nbq_events_reset(void);

#endif
