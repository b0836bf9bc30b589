/* SPDX-License-Identifier: GPL-2.0 */
/*
 * nbqlock: queue-based spinlocks whose waiters can give up.
 *
 * The one header for users. Every lock type has the same verbs, described in
 * lock_type.h:
 *	nbq_clh_*()	CLH-NB, from Michael L. Scott, "Non-Blocking Timeout in
 *			Scalable Queue-Based Spin Locks", PODC 2002. Waiters
 *			spin on their predecessor's node.
 *	nbq_mcs_*()	MCS-NB, from the same paper. Waiters spin on their own
 *			node, which is in their CPU's own memory.
 *	nbq_swap_*()	the swap-only lock of William N. Scherer III and
 *			Michael L. Scott, 2004: as MCS-NB, without any
 *			compare-and-swap on the lock. A lock that was ever held
 *			keeps one queue node, until destroy.
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

#define NBQ_TYPE	nbq_clh
#include "lock_type.h"
#undef NBQ_TYPE

#define NBQ_TYPE	nbq_mcs
#include "lock_type.h"
#undef NBQ_TYPE

#define NBQ_TYPE	nbq_swap
#include "lock_type.h"
#undef NBQ_TYPE

#ifdef CONFIG_DEBUG_LOCK_ALLOC
#define __NBQ_INIT(lockname)						\
{									\
	.dep_map = {							\
		.name = #lockname,					\
		.wait_type_inner = LD_WAIT_SPIN,			\
	},								\
}
#else
#define __NBQ_INIT(lockname)	{ }
#endif

/*
 * What macros must do is here, for each type: static locks, a lockdep class for
 * each place that makes a lock, interrupt states that are passed by name.
 */

/**
 * NBQ_CLH_INIT() - Initialiser of a static CLH-NB lock, or of one in a struct.
 * @lockname: the variable or member that it initialises
 */
#define NBQ_CLH_INIT(lockname)	__NBQ_INIT(lockname)

/**
 * DEFINE_NBQ_CLH() - Define an unlocked CLH-NB lock.
 * @name: name of the variable; put ``static`` in front where wanted
 */
#define DEFINE_NBQ_CLH(name)	struct nbq_clh name = NBQ_CLH_INIT(name)

/**
 * nbq_clh_init() - Make a CLH-NB lock at run time.
 * @lock: memory for the lock; whatever was in it is forgotten
 *
 * Each place that calls this has a lockdep class of its own. It cannot fail.
 *
 * Context: Any.
 */
#define nbq_clh_init(lock)						\
do {									\
	static struct lock_class_key __key;				\
									\
	nbq_clh_init_key((lock), #lock, &__key);			\
} while (0)

/* See __nbq_X_lock_timeout_irqsave() and so on. */
#define nbq_clh_lock_timeout_irqsave(lock, patience, flags)		\
	__nbq_clh_lock_timeout_irqsave(lock, patience, &(flags))
#define nbq_clh_lock_until_irqsave(lock, deadline, flags)		\
	__nbq_clh_lock_until_irqsave(lock, deadline, &(flags))
#define nbq_clh_trylock_irqsave(lock, flags)				\
	__nbq_clh_trylock_irqsave(lock, &(flags))
#define nbq_clh_lock_irqsave(lock, flags)				\
	__nbq_clh_lock_irqsave(lock, &(flags))

/**
 * NBQ_MCS_INIT() - Initialiser of a static MCS-NB lock, or of one in a struct.
 * @lockname: the variable or member that it initialises
 */
#define NBQ_MCS_INIT(lockname)	__NBQ_INIT(lockname)

/**
 * DEFINE_NBQ_MCS() - Define an unlocked MCS-NB lock.
 * @name: name of the variable; put ``static`` in front where wanted
 */
#define DEFINE_NBQ_MCS(name)	struct nbq_mcs name = NBQ_MCS_INIT(name)

/**
 * nbq_mcs_init() - Make an MCS-NB lock at run time.
 * @lock: memory for the lock; whatever was in it is forgotten
 *
 * Each place that calls this has a lockdep class of its own. It cannot fail.
 *
 * Context: Any.
 */
#define nbq_mcs_init(lock)						\
do {									\
	static struct lock_class_key __key;				\
									\
	nbq_mcs_init_key((lock), #lock, &__key);			\
} while (0)

/* See __nbq_X_lock_timeout_irqsave() and so on. */
#define nbq_mcs_lock_timeout_irqsave(lock, patience, flags)		\
	__nbq_mcs_lock_timeout_irqsave(lock, patience, &(flags))
#define nbq_mcs_lock_until_irqsave(lock, deadline, flags)		\
	__nbq_mcs_lock_until_irqsave(lock, deadline, &(flags))
#define nbq_mcs_trylock_irqsave(lock, flags)				\
	__nbq_mcs_trylock_irqsave(lock, &(flags))
#define nbq_mcs_lock_irqsave(lock, flags)				\
	__nbq_mcs_lock_irqsave(lock, &(flags))

/**
 * NBQ_SWAP_INIT() - Initialiser of a static swap-only lock, or of one in a struct.
 * @lockname: the variable or member that it initialises
 */
#define NBQ_SWAP_INIT(lockname)	__NBQ_INIT(lockname)

/**
 * DEFINE_NBQ_SWAP() - Define an unlocked swap-only lock.
 * @name: name of the variable; put ``static`` in front where wanted
 */
#define DEFINE_NBQ_SWAP(name)	struct nbq_swap name = NBQ_SWAP_INIT(name)

/**
 * nbq_swap_init() - Make a swap-only lock at run time.
 * @lock: memory for the lock; whatever was in it is forgotten
 *
 * Each place that calls this has a lockdep class of its own. It cannot fail.
 *
 * Context: Any.
 */
#define nbq_swap_init(lock)						\
do {									\
	static struct lock_class_key __key;				\
									\
	nbq_swap_init_key((lock), #lock, &__key);			\
} while (0)

/* See __nbq_X_lock_timeout_irqsave() and so on. */
#define nbq_swap_lock_timeout_irqsave(lock, patience, flags)		\
	__nbq_swap_lock_timeout_irqsave(lock, patience, &(flags))
#define nbq_swap_lock_until_irqsave(lock, deadline, flags)		\
	__nbq_swap_lock_until_irqsave(lock, deadline, &(flags))
#define nbq_swap_trylock_irqsave(lock, flags)				\
	__nbq_swap_trylock_irqsave(lock, &(flags))
#define nbq_swap_lock_irqsave(lock, flags)				\
	__nbq_swap_lock_irqsave(lock, &(flags))

/*
 * The counted events of all locks together, as under debugfs nbqlock/, for
 * modules that measure.
 */
int nbq_event_read(const char *name, u64 *value);
void nbq_events_reset(void);

/* Attempts are counted by the leavers that they stepped over, up to this. */
#define NBQ_WALK_MAX	64

void nbq_walks_read(u64 counts[NBQ_WALK_MAX + 1]);

#endif
