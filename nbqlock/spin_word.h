/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The lock word of the hybrid: its transitions, the time of a request in it, and the number by
 * which the tail of a queue names a node.
 *
 * As (holder, handoff, turn); no request is (., 0, 0). c is a context, (t, s) a request:
 *
 *	uncontended	(0, 0, 0) --> (c, 0, 0)   compare-and-swap of a newcomer
 *	steal		(0, t, s) --> (c, 0, 0)   the same, if it may pass the request
 *	take		(0, *, *) --> (c, 0, 0)   compare-and-swap of a head, without a successor
 *	hand on		(0, *, *) --> (c, t, s)   the same, with a request for its successor, or for
 *						  the socket that has the next turn
 *	request		(c, *, *) --> (c, t, s)   store of a head: of handoff and turn
 *	late request	(0, *, *) --> (0, t, s)   the same, when the holder has just released
 *	release		(c, *, *) --> (0, *, *)   store of the holder: of holder
 *	takeover	(c, *, *) --> (d, *, *)   compare-and-swap, where c has stopped for good
 *
 * No other store changes the word, and no two of these write the same part at a time. A request is
 * a hint; the last one counts.
 */
#ifndef _NBQ_SPIN_WORD_H
#define _NBQ_SPIN_WORD_H

#include <linux/atomic.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/threads.h>
#include <linux/types.h>

#include "bare_spin_types.h"
#include "deadline.h"
#include "internal.h"

#if NR_CPUS >= 1 << NBQ_CONTEXT_CPU_BITS
#error "There are more CPUs than fit into a context's number"
#endif
static_assert(sizeof(union nbq_bare_spin) == sizeof(u32));

/*
 * The time of a request for a handoff, in 7 bits of the clock, and one that says that there is
 * one. The bits wrap after a millisecond: a request that old may hold once more, for HANDOFF_UNITS
 * and the one before, which nbq_handoff_age() takes for a difference of clocks.
 */
#define NBQ_HANDOFF_SHIFT	13
#define NBQ_HANDOFF_REQUESTED	0x80U

static inline u8 nbq_handoff_at(u64 ns)
{
	return NBQ_HANDOFF_REQUESTED | (u8)(ns >> NBQ_HANDOFF_SHIFT);
}

/* The age of a request in these units. The clocks of two CPUs may differ a little. */
static inline unsigned int nbq_handoff_age(u8 handoff, u64 now)
{
	unsigned int age = (nbq_handoff_at(now) - handoff) & (NBQ_HANDOFF_REQUESTED - 1);

	return age == NBQ_HANDOFF_REQUESTED - 1 ? 0 : age;
}

/* A request of this time, for the waiters of that turn. */
static inline u16 nbq_request_at(u64 ns, u8 turn)
{
	union nbq_spin_state state = { .handoff = nbq_handoff_at(ns), .turn = turn };

	return state.request;
}

static inline union nbq_spin_state nbq_spin_read(const union nbq_bare_spin *lock)
{
	return (union nbq_spin_state){ .all = READ_ONCE(lock->state.all) };
}

/*
 * Take the lock if it has this state, without a holder, and leave this request in it.
 * Otherwise @state becomes the state that it has.
 */
static __always_inline bool nbq_spin_take(union nbq_bare_spin *lock, union nbq_spin_state *state,
					  u16 context, u16 request)
{
	union nbq_spin_state taken = {
		.holder = context,
		.request = request,
	};

	/*
	 * ACQUIRE, pairs with the RELEASE in nbq_bare_spin_unlock(): the critical section before is
	 * over for the context that finds the lock free.
	 */
	return try_cmpxchg_acquire(&lock->state.all, &state->all, taken.all);
}

/* The CPU and context level of the node's pool, and its index there; 0 stands for none. */
static inline u32 nbq_encode_tail(const struct nbq_node *node)
{
	return node->index << 16 | nbq_context_of(node->pool);
}

static inline struct nbq_node *nbq_decode_tail(u32 number)
{
	const struct nbq_encodable *encodable;

	if (!number)
		return NULL;
	/* ACQUIRE, pairs with the RELEASEs that set it: the nodes by their index. */
	encodable = smp_load_acquire(&nbq_pool_of(number & U16_MAX)->encodable);
	return encodable->nodes[number >> 16];
}

#endif
