/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The hybrid without lockdep: only types, also for the headers of an architecture's spinlock.
 *
 * All fields are private. A lock that is all zeroes is free.
 */
#ifndef _NBQLOCK_BARE_SPIN_TYPES_H
#define _NBQLOCK_BARE_SPIN_TYPES_H

#include <asm/byteorder.h>
#include <linux/types.h>

/*
 * A context as a number of 16 bits: its CPU, counted from 1, and above that its context
 * level. 0 is no context.
 */
#define NBQ_CONTEXT_CPU_BITS	14

/* For how long a request for a handoff holds at most, in ns, unless it is renewed. */
#define NBQ_SPIN_HANDOFF_NS	(3 << 13)

/**
 * union nbq_spin_state - what decides who may take a hybrid lock
 * @all: all of it; 0: any context may
 * @holder: the context that holds the lock, encoded; 0: none
 * @request: @handoff and @turn
 * @handoff: when the head of a queue requested a handoff, as spin_word.h encodes it; such a
 *	request expires. 0: there is none
 * @turn: the socket whose waiters the request is for; 0: those in the machine's queue
 */
union nbq_spin_state {
	u32 all;
	struct {
#ifdef __LITTLE_ENDIAN
		u16 holder;
		union {
			u16 request;
			struct {
				u8 handoff;
				u8 turn;
			};
		};
#else
		union {
			u16 request;
			struct {
				u8 turn;
				u8 handoff;
			};
		};
		u16 holder;
#endif
	};
};

/**
 * union nbq_bare_spin - a hybrid lock without its lockdep map
 * @all: all of it
 * @state: who holds it, and who may take it
 */
union nbq_bare_spin {
	u32 all;
	union nbq_spin_state state;
};

/* Initialiser of a bare lock. */
#define NBQ_BARE_SPIN_INIT	{ .all = 0 }

#endif
