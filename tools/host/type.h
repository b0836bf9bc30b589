/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The lock type that a host test is compiled for. The tests are written once,
 * with nbq_X for its name, as in nbqlock/lock_type.h; what they have to know of
 * how the types differ is here and nowhere else.
 *
 * Compile with -DTYPE_CLH, -DTYPE_MCS or -DTYPE_SWAP.
 */
#ifndef TYPE_H
#define TYPE_H

#include <nbqlock/nbqlock.h>
#include <host.h>

/*
 * STEPS_TO_LEAVE, STEPS_TO_RELEASE
 *	The most accesses to shared memory that leaving and releasing make, as
 *	the head of the algorithm's file states them, with the one that clears
 *	holder.
 * NODES_AT_REST
 *	Queue nodes that a lock keeps, once it was held, while nobody uses it.
 * LEAVER_AT_TAIL_STAYS
 *	Queue nodes that one leaves behind which leaves as the tail while its
 *	predecessor waits or holds.
 */
#if defined(TYPE_CLH)
#define NBQ_TYPE		nbq_clh
#define DEFINE_NBQ_X		DEFINE_NBQ_CLH
#define STEPS_TO_LEAVE		2
#define STEPS_TO_RELEASE	(3 + 1)
#define NODES_AT_REST		0
#define LEAVER_AT_TAIL_STAYS	0
#elif defined(TYPE_MCS)
#define NBQ_TYPE		nbq_mcs
#define DEFINE_NBQ_X		DEFINE_NBQ_MCS
#define STEPS_TO_LEAVE		6
#define STEPS_TO_RELEASE	(6 + 1)
#define NODES_AT_REST		0
#define LEAVER_AT_TAIL_STAYS	0
#elif defined(TYPE_SWAP)
#define NBQ_TYPE		nbq_swap
#define DEFINE_NBQ_X		DEFINE_NBQ_SWAP
#define STEPS_TO_LEAVE		4
#define STEPS_TO_RELEASE	(4 + 1)
#define NODES_AT_REST		1
#define LEAVER_AT_TAIL_STAYS	1
#else
#error "for which lock type?"
#endif

/* The macros of nbqlock.h; see __nbq_X_lock_timeout_irqsave() and so on. */
#define nbq_X_init			__PASTE(NBQ_TYPE, _init)
#define nbq_X_lock_timeout_irqsave	__PASTE(NBQ_TYPE, _lock_timeout_irqsave)
#define nbq_X_lock_until_irqsave	__PASTE(NBQ_TYPE, _lock_until_irqsave)
#define nbq_X_trylock_irqsave		__PASTE(NBQ_TYPE, _trylock_irqsave)
#define nbq_X_lock_irqsave		__PASTE(NBQ_TYPE, _lock_irqsave)

/* To the lock or to a queue node: what the bounds of leaving and releasing count. */
static inline bool is_own_step(const struct nbq_X *lock, const void *address)
{
	struct shim_memory nodes = shim_nodes_memory();

	return (size_t)((const char *)address - (const char *)lock) < sizeof(*lock) ||
	       (size_t)((const char *)address - (const char *)nodes.start) < nodes.size;
}

/*
 * Is this access of a waiter, whose node is in the queue, the first of those by
 * which it leaves?
 */
static inline bool begins_to_leave(const struct nbq_X *lock,
				   const struct nbq_node *node,
				   enum shim_op op, const void *address)
{
#ifdef TYPE_CLH
	return op == SHIM_OP_CMPXCHG && address == &lock->tail;
#else
	return op == SHIM_OP_STORE && address == shim_prev_of(node);
#endif
}

#endif
