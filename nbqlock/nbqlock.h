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
 *	nbq_spin_*()	the hybrid: a spinlock of one word, with a queue for those
 *			who wait. Newcomers may pass a waiter for 20 us, and later
 *			only while its predecessors do not run; with
 *			nbq_spin_init_fifo() they never do.
 *
 * What holds for every lock here
 *	Acquisition is first come, first served among those who stay, but for
 *	the hybrid's newcomers.
 *	A waiter whose patience is over leaves in a bounded number of its own
 *	steps, from any place in the queue, whatever its neighbours do.
 *	A timeout harms neither the lock nor another waiter. An attempt of the
 *	same CPU and context level that comes back resumes the place that the one
 *	before has left, unless a successor has skipped it meanwhile.
 *	Preemption is off from the start of a wait to the unlock, which the
 *	holder must do on the CPU that acquired.
 *	Every verb works in task, softirq and hardirq context, and where
 *	NBQ_NMI_SAFE in NMI context. A lock that an interrupt handler takes must
 *	be taken with that interrupt masked elsewhere, as any spinlock. With a
 *	finite patience a handler comes back all the same: behind the holder
 *	that it interrupted it gets -EDEADLK, or -ETIMEDOUT. Lockdep reports
 *	that as the mistake that it is, unless lockdep_set_notrack_class() says
 *	that it is meant.
 *	An NMI cannot be masked: it takes such a lock with finite patience,
 *	which lockdep records as a trylock.
 *	Writes to devices by one holder come before those by the next, as under
 *	raw_spinlock_t.
 *	Patience and deadlines are in ns of CLOCK_MONOTONIC. Patience counts
 *	from the moment at which there is something to wait for.
 */
#ifndef _NBQLOCK_H
#define _NBQLOCK_H

#include <linux/bottom_half.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/irqflags.h>
#include <linux/kconfig.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/preempt.h>
#include <linux/types.h>
#include <linux/version.h>

struct nbq_node;

/*
 * May an NMI use the locks? Where compare-and-swap is emulated with interrupts off or
 * under a lock, an NMI that comes in between breaks it.
 */
#define NBQ_NMI_SAFE	IS_ENABLED(CONFIG_ARCH_HAVE_NMI_SAFE_CMPXCHG)

/*
 * Kernels with clang's context analysis have this, and a form of
 * __cond_acquires() that says which value means success. Older kernels have
 * neither; there, sparse must be shown the branch that has the lock.
 */
#ifdef context_lock_struct
#define __nbq_context_lock_struct(name)	context_lock_struct(name)
#define __nbq_cond_acquires(ret, lock)	__cond_acquires(ret, lock)
#else
#define __nbq_context_lock_struct(name)	struct name
#define __nbq_cond_acquires(ret, lock)
#endif

#ifdef __CHECKER__
/* Stands for what a verb does. There is no such function. */
int __nbq_fails(const void *lock);

#define __nbq_0_acquires(lock, ret)					\
	(__nbq_fails(lock) ? -ETIMEDOUT : ({ __acquire(lock); 0; }))
#define __nbq_true_acquires(lock, ret)					\
	(__nbq_fails(lock) ? false : ({ __acquire(lock); true; }))
#else
#define __nbq_0_acquires(lock, ret)	(ret)
#define __nbq_true_acquires(lock, ret)	(ret)
#endif

#define NBQ_TYPE	nbq_clh
#include "lock_type.h"
#undef NBQ_TYPE

#define NBQ_TYPE	nbq_mcs
#include "lock_type.h"
#undef NBQ_TYPE

#define NBQ_TYPE	nbq_swap
#include "lock_type.h"
#undef NBQ_TYPE

#define NBQ_TYPE		nbq_spin
#define NBQ_TYPE_OF_ITS_OWN	"spin_type.h"
#include "lock_type.h"
#undef NBQ_TYPE_OF_ITS_OWN
#undef NBQ_TYPE

#ifdef CONFIG_DEBUG_LOCK_ALLOC
#define __NBQ_DEP_MAP_INIT(lockname)					\
	.dep_map = {							\
		.name = #lockname,					\
		.wait_type_inner = LD_WAIT_SPIN,			\
	}

#define __nbq_dep_map(lock)	(&(lock)->dep_map)
#else
#define __NBQ_DEP_MAP_INIT(lockname)

#define __nbq_dep_map(lock)	((void)(lock), (struct lockdep_map *)NULL)
#endif

/*
 * What macros must do is here, for each type: static locks, a lockdep class for
 * each place that makes a lock, interrupt states that are passed by name, and
 * locks of any type that order those of one class.
 *
 * nbq_X_lock_nest_lock(lock, nest_lock) is for a context that takes many locks of
 * one class, in any order, which is free of deadlock because whoever does it
 * holds nest_lock.
 */

/**
 * NBQ_CLH_INIT() - Initialiser of a static CLH-NB lock, or of one in a struct.
 * @lockname: the variable or member that it initialises
 */
#define NBQ_CLH_INIT(lockname)	{ __NBQ_DEP_MAP_INIT(lockname) }

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
	__nbq_0_acquires(lock,						\
		__nbq_clh_lock_timeout_irqsave(lock, patience, &(flags)))
#define nbq_clh_lock_until_irqsave(lock, deadline, flags)		\
	__nbq_0_acquires(lock,						\
		__nbq_clh_lock_until_irqsave(lock, deadline, &(flags)))
#define nbq_clh_trylock_irqsave(lock, flags)				\
	__nbq_true_acquires(lock, __nbq_clh_trylock_irqsave(lock, &(flags)))
#define nbq_clh_lock_irqsave(lock, flags)				\
	__nbq_clh_lock_irqsave(lock, &(flags))
#define nbq_clh_lock_timeout_irqsave_nested(lock, patience, flags, subclass) \
	__nbq_0_acquires(lock,						\
		__nbq_clh_lock_timeout_irqsave_nested(lock, patience, &(flags), \
							   subclass))
#define nbq_clh_lock_until_irqsave_nested(lock, deadline, flags, subclass) \
	__nbq_0_acquires(lock,						\
		__nbq_clh_lock_until_irqsave_nested(lock, deadline, &(flags), \
							   subclass))
#define nbq_clh_lock_irqsave_nested(lock, flags, subclass)		\
	__nbq_clh_lock_irqsave_nested(lock, &(flags), subclass)

/* See __nbq_X_lock_timeout_nested() and so on. */
#define nbq_clh_lock_timeout_nest_lock(lock, patience, nest_lock)	\
	__nbq_0_acquires(lock,						\
		__nbq_clh_lock_timeout_nested(lock, patience, 0,	\
					__nbq_dep_map(nest_lock)))
#define nbq_clh_lock_until_nest_lock(lock, deadline, nest_lock)		\
	__nbq_0_acquires(lock,						\
		__nbq_clh_lock_until_nested(lock, deadline, 0,		\
					__nbq_dep_map(nest_lock)))
#define nbq_clh_lock_nest_lock(lock, nest_lock)				\
	__nbq_clh_lock_nested(lock, 0, __nbq_dep_map(nest_lock))

/**
 * NBQ_MCS_INIT() - Initialiser of a static MCS-NB lock, or of one in a struct.
 * @lockname: the variable or member that it initialises
 */
#define NBQ_MCS_INIT(lockname)	{ __NBQ_DEP_MAP_INIT(lockname) }

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
	__nbq_0_acquires(lock,						\
		__nbq_mcs_lock_timeout_irqsave(lock, patience, &(flags)))
#define nbq_mcs_lock_until_irqsave(lock, deadline, flags)		\
	__nbq_0_acquires(lock,						\
		__nbq_mcs_lock_until_irqsave(lock, deadline, &(flags)))
#define nbq_mcs_trylock_irqsave(lock, flags)				\
	__nbq_true_acquires(lock, __nbq_mcs_trylock_irqsave(lock, &(flags)))
#define nbq_mcs_lock_irqsave(lock, flags)				\
	__nbq_mcs_lock_irqsave(lock, &(flags))
#define nbq_mcs_lock_timeout_irqsave_nested(lock, patience, flags, subclass) \
	__nbq_0_acquires(lock,						\
		__nbq_mcs_lock_timeout_irqsave_nested(lock, patience, &(flags), \
							   subclass))
#define nbq_mcs_lock_until_irqsave_nested(lock, deadline, flags, subclass) \
	__nbq_0_acquires(lock,						\
		__nbq_mcs_lock_until_irqsave_nested(lock, deadline, &(flags), \
							   subclass))
#define nbq_mcs_lock_irqsave_nested(lock, flags, subclass)		\
	__nbq_mcs_lock_irqsave_nested(lock, &(flags), subclass)

/* See __nbq_X_lock_timeout_nested() and so on. */
#define nbq_mcs_lock_timeout_nest_lock(lock, patience, nest_lock)	\
	__nbq_0_acquires(lock,						\
		__nbq_mcs_lock_timeout_nested(lock, patience, 0,	\
					__nbq_dep_map(nest_lock)))
#define nbq_mcs_lock_until_nest_lock(lock, deadline, nest_lock)		\
	__nbq_0_acquires(lock,						\
		__nbq_mcs_lock_until_nested(lock, deadline, 0,		\
					__nbq_dep_map(nest_lock)))
#define nbq_mcs_lock_nest_lock(lock, nest_lock)				\
	__nbq_mcs_lock_nested(lock, 0, __nbq_dep_map(nest_lock))

/**
 * NBQ_SWAP_INIT() - Initialiser of a static swap-only lock, or of one in a struct.
 * @lockname: the variable or member that it initialises
 */
#define NBQ_SWAP_INIT(lockname)	{ __NBQ_DEP_MAP_INIT(lockname) }

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
	__nbq_0_acquires(lock,						\
		__nbq_swap_lock_timeout_irqsave(lock, patience, &(flags)))
#define nbq_swap_lock_until_irqsave(lock, deadline, flags)		\
	__nbq_0_acquires(lock,						\
		__nbq_swap_lock_until_irqsave(lock, deadline, &(flags)))
#define nbq_swap_trylock_irqsave(lock, flags)				\
	__nbq_true_acquires(lock, __nbq_swap_trylock_irqsave(lock, &(flags)))
#define nbq_swap_lock_irqsave(lock, flags)				\
	__nbq_swap_lock_irqsave(lock, &(flags))
#define nbq_swap_lock_timeout_irqsave_nested(lock, patience, flags, subclass) \
	__nbq_0_acquires(lock,						\
		__nbq_swap_lock_timeout_irqsave_nested(lock, patience, &(flags), \
							   subclass))
#define nbq_swap_lock_until_irqsave_nested(lock, deadline, flags, subclass) \
	__nbq_0_acquires(lock,						\
		__nbq_swap_lock_until_irqsave_nested(lock, deadline, &(flags), \
							   subclass))
#define nbq_swap_lock_irqsave_nested(lock, flags, subclass)		\
	__nbq_swap_lock_irqsave_nested(lock, &(flags), subclass)

/* See __nbq_X_lock_timeout_nested() and so on. */
#define nbq_swap_lock_timeout_nest_lock(lock, patience, nest_lock)	\
	__nbq_0_acquires(lock,						\
		__nbq_swap_lock_timeout_nested(lock, patience, 0,	\
					__nbq_dep_map(nest_lock)))
#define nbq_swap_lock_until_nest_lock(lock, deadline, nest_lock)	\
	__nbq_0_acquires(lock,						\
		__nbq_swap_lock_until_nested(lock, deadline, 0,		\
					__nbq_dep_map(nest_lock)))
#define nbq_swap_lock_nest_lock(lock, nest_lock)			\
	__nbq_swap_lock_nested(lock, 0, __nbq_dep_map(nest_lock))

/**
 * NBQ_SPIN_INIT() - Initialiser of a static hybrid lock, or of one in a struct.
 * @lockname: the variable or member that it initialises
 */
#define NBQ_SPIN_INIT(lockname)	{ __NBQ_DEP_MAP_INIT(lockname) }

/**
 * DEFINE_NBQ_SPIN() - Define an unlocked hybrid lock.
 * @name: name of the variable; put ``static`` in front where wanted
 */
#define DEFINE_NBQ_SPIN(name)	struct nbq_spin name = NBQ_SPIN_INIT(name)

/**
 * NBQ_SPIN_FIFO_INIT() - as NBQ_SPIN_INIT(), of a lock that is first come, first served
 * @lockname: the variable or member that it initialises
 */
#define NBQ_SPIN_FIFO_INIT(lockname)					\
	{ .state = { .turn = NBQ_SPIN_FIFO }, __NBQ_DEP_MAP_INIT(lockname) }

/**
 * DEFINE_NBQ_SPIN_FIFO() - as DEFINE_NBQ_SPIN(), of a lock that is first come, first served
 * @name: name of the variable; put ``static`` in front where wanted
 */
#define DEFINE_NBQ_SPIN_FIFO(name)	struct nbq_spin name = NBQ_SPIN_FIFO_INIT(name)

/**
 * nbq_spin_init() - Make a hybrid lock at run time.
 * @lock: memory for the lock; whatever was in it is forgotten
 *
 * Each place that calls this has a lockdep class of its own. It cannot fail.
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
 * nbq_spin_init_fifo() - as nbq_spin_init(), of a lock that is first come, first served
 * @lock: memory for the lock; whatever was in it is forgotten
 *
 * No context passes a waiter of such a lock; so one whose CPU does not run keeps all
 * who came later from it. Without contention it costs a function call more; in kernels
 * that cannot compare and swap 64 bits, each acquisition goes through the queue.
 *
 * Context: Any.
 */
#define nbq_spin_init_fifo(lock)					\
do {									\
	static struct lock_class_key __key;				\
									\
	nbq_spin_init_fifo_key((lock), #lock, &__key);			\
} while (0)

/* See __nbq_X_lock_timeout_irqsave() and so on. */
#define nbq_spin_lock_timeout_irqsave(lock, patience, flags)		\
	__nbq_0_acquires(lock,						\
		__nbq_spin_lock_timeout_irqsave(lock, patience, &(flags)))
#define nbq_spin_lock_until_irqsave(lock, deadline, flags)		\
	__nbq_0_acquires(lock,						\
		__nbq_spin_lock_until_irqsave(lock, deadline, &(flags)))
#define nbq_spin_trylock_irqsave(lock, flags)				\
	__nbq_true_acquires(lock, __nbq_spin_trylock_irqsave(lock, &(flags)))
#define nbq_spin_lock_irqsave(lock, flags)				\
	__nbq_spin_lock_irqsave(lock, &(flags))
#define nbq_spin_lock_timeout_irqsave_nested(lock, patience, flags, subclass) \
	__nbq_0_acquires(lock,						\
		__nbq_spin_lock_timeout_irqsave_nested(lock, patience, &(flags), \
							   subclass))
#define nbq_spin_lock_until_irqsave_nested(lock, deadline, flags, subclass) \
	__nbq_0_acquires(lock,						\
		__nbq_spin_lock_until_irqsave_nested(lock, deadline, &(flags), \
							   subclass))
#define nbq_spin_lock_irqsave_nested(lock, flags, subclass)		\
	__nbq_spin_lock_irqsave_nested(lock, &(flags), subclass)

/* See __nbq_X_lock_timeout_nested() and so on. */
#define nbq_spin_lock_timeout_nest_lock(lock, patience, nest_lock)	\
	__nbq_0_acquires(lock,						\
		__nbq_spin_lock_timeout_nested(lock, patience, 0,	\
					__nbq_dep_map(nest_lock)))
#define nbq_spin_lock_until_nest_lock(lock, deadline, nest_lock)	\
	__nbq_0_acquires(lock,						\
		__nbq_spin_lock_until_nested(lock, deadline, 0,		\
					__nbq_dep_map(nest_lock)))
#define nbq_spin_lock_nest_lock(lock, nest_lock)			\
	__nbq_spin_lock_nested(lock, 0, __nbq_dep_map(nest_lock))

/*
 * guard(), scoped_guard() and those that may fail, see guards.h: since Linux 6.5,
 * and in older kernels that have it. Not every sparse knows __has_include.
 */
#if KERNEL_VERSION(6, 5, 0) <= LINUX_VERSION_CODE || defined(DEFINE_LOCK_GUARD_1)
#define __NBQ_GUARDS
#elif defined(__has_include)
#if __has_include("linux/cleanup.h")
#define __NBQ_GUARDS
#endif
#endif

#ifdef __NBQ_GUARDS
#define NBQ_TYPE	nbq_clh
#include "guards.h"
#undef NBQ_TYPE

#define NBQ_TYPE	nbq_mcs
#include "guards.h"
#undef NBQ_TYPE

#define NBQ_TYPE	nbq_swap
#include "guards.h"
#undef NBQ_TYPE

#define NBQ_TYPE	nbq_spin
#include "guards.h"
#undef NBQ_TYPE
#endif

/* Clang's context analysis follows the guards that cannot fail. */
#ifdef WITH_LOCK_GUARD_1_ATTRS
#define class_nbq_clh_constructor(_T) \
	WITH_LOCK_GUARD_1_ATTRS(nbq_clh, _T)
#define class_nbq_clh_irq_constructor(_T) \
	WITH_LOCK_GUARD_1_ATTRS(nbq_clh_irq, _T)
#define class_nbq_clh_irqsave_constructor(_T) \
	WITH_LOCK_GUARD_1_ATTRS(nbq_clh_irqsave, _T)
#define class_nbq_clh_bh_constructor(_T) \
	WITH_LOCK_GUARD_1_ATTRS(nbq_clh_bh, _T)
#define class_nbq_mcs_constructor(_T) \
	WITH_LOCK_GUARD_1_ATTRS(nbq_mcs, _T)
#define class_nbq_mcs_irq_constructor(_T) \
	WITH_LOCK_GUARD_1_ATTRS(nbq_mcs_irq, _T)
#define class_nbq_mcs_irqsave_constructor(_T) \
	WITH_LOCK_GUARD_1_ATTRS(nbq_mcs_irqsave, _T)
#define class_nbq_mcs_bh_constructor(_T) \
	WITH_LOCK_GUARD_1_ATTRS(nbq_mcs_bh, _T)
#define class_nbq_swap_constructor(_T) \
	WITH_LOCK_GUARD_1_ATTRS(nbq_swap, _T)
#define class_nbq_swap_irq_constructor(_T) \
	WITH_LOCK_GUARD_1_ATTRS(nbq_swap_irq, _T)
#define class_nbq_swap_irqsave_constructor(_T) \
	WITH_LOCK_GUARD_1_ATTRS(nbq_swap_irqsave, _T)
#define class_nbq_swap_bh_constructor(_T) \
	WITH_LOCK_GUARD_1_ATTRS(nbq_swap_bh, _T)
#define class_nbq_spin_constructor(_T) \
	WITH_LOCK_GUARD_1_ATTRS(nbq_spin, _T)
#define class_nbq_spin_irq_constructor(_T) \
	WITH_LOCK_GUARD_1_ATTRS(nbq_spin_irq, _T)
#define class_nbq_spin_irqsave_constructor(_T) \
	WITH_LOCK_GUARD_1_ATTRS(nbq_spin_irqsave, _T)
#define class_nbq_spin_bh_constructor(_T) \
	WITH_LOCK_GUARD_1_ATTRS(nbq_spin_bh, _T)
#endif

/*
 * The counted events of all locks together, as under debugfs nbqlock/, for
 * modules that measure.
 */
int __must_check nbq_event_read(const char *name, u64 *value);
void nbq_events_reset(void);
unsigned int nbq_cpu_nodes_in_use(unsigned int cpu);

/*
 * Attempts are counted by the leavers that they stepped over, up to this: so many
 * that the pool which counts them has a size by which it is quickly found.
 */
#define NBQ_SKIPPED_MAX	56

void nbq_skipped_read(u64 counts[NBQ_SKIPPED_MAX + 1]);

#ifdef __CHECKER__
#include "for_sparse.h"
#endif

#endif
