/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The lock types of nbqlock, and their initialisers: only types, all that a header needs which
 * embeds a lock. The operations are in spin.h, clh.h, mcs.h and swap.h.
 *
 * All fields are private. A lock of zeroes is free, but only an initialiser makes it known to
 * lockdep.
 */
#ifndef _NBQLOCK_TYPES_H
#define _NBQLOCK_TYPES_H

#include <linux/lockdep_types.h>

#include "compat.h"
#include "spin_types.h"

struct nbq_node;

/**
 * struct nbq_queue_lock - what the strict queue locks have in common
 * @tail: the newest node in the queue; NULL: the lock is free, and there is none
 * @dep_map: for lockdep
 */
struct nbq_queue_lock {
	struct nbq_node *tail;
#ifdef CONFIG_DEBUG_LOCK_ALLOC
	struct lockdep_map dep_map;
#endif
};

/* As an anonymous member as well, for lockdep's macros, which want lock->dep_map. */
#ifdef CONFIG_DEBUG_LOCK_ALLOC
#define __NBQ_QUEUE_LOCK						\
	union {								\
		struct nbq_queue_lock queue;				\
		struct {						\
			struct nbq_node *tail;				\
			struct lockdep_map dep_map;			\
		};							\
	}
#else
#define __NBQ_QUEUE_LOCK						\
	union {								\
		struct nbq_queue_lock queue;				\
		struct nbq_node *tail;					\
	}
#endif

/*
 * struct nbq_clh - a CLH-NB lock, see clh.h
 * @queue: its queue
 */
__nbq_lock_struct(nbq_clh) {
	__NBQ_QUEUE_LOCK;
};

/*
 * struct nbq_mcs - an MCS-NB lock, see mcs.h
 * @queue: its queue
 */
__nbq_lock_struct(nbq_mcs) {
	__NBQ_QUEUE_LOCK;
};

/*
 * struct nbq_swap - a swap-only lock, see swap.h
 * @queue: its queue
 */
__nbq_lock_struct(nbq_swap) {
	__NBQ_QUEUE_LOCK;
};

/**
 * NBQ_CLH_INIT() - Initialiser of a static CLH-NB lock, or of one in a struct.
 * @lockname: the variable or member that it initialises
 */
#define NBQ_CLH_INIT(lockname)		{ __NBQ_DEP_MAP_INIT(lockname) }

/**
 * DEFINE_NBQ_CLH() - Define a free CLH-NB lock.
 * @name: name of the variable; may follow ``static``
 */
#define DEFINE_NBQ_CLH(name)		struct nbq_clh name = NBQ_CLH_INIT(name)

/**
 * NBQ_MCS_INIT() - Initialiser of a static MCS-NB lock, or of one in a struct.
 * @lockname: the variable or member that it initialises
 */
#define NBQ_MCS_INIT(lockname)		{ __NBQ_DEP_MAP_INIT(lockname) }

/**
 * DEFINE_NBQ_MCS() - Define a free MCS-NB lock.
 * @name: name of the variable; may follow ``static``
 */
#define DEFINE_NBQ_MCS(name)		struct nbq_mcs name = NBQ_MCS_INIT(name)

/**
 * NBQ_SWAP_INIT() - Initialiser of a static swap-only lock, or of one in a struct.
 * @lockname: the variable or member that it initialises
 */
#define NBQ_SWAP_INIT(lockname)		{ __NBQ_DEP_MAP_INIT(lockname) }

/**
 * DEFINE_NBQ_SWAP() - Define a free swap-only lock.
 * @name: name of the variable; may follow ``static``
 */
#define DEFINE_NBQ_SWAP(name)		struct nbq_swap name = NBQ_SWAP_INIT(name)

#endif
