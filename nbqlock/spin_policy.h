/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The policy of the hybrid decides the order of acquisitions and their speed, not mutual exclusion.
 * It counts time, not polls, whose length differs tenfold between processors. The explorer has a
 * policy of its own, by which each limit is reached at any time or never.
 */
#ifndef _NBQ_SPIN_POLICY_H
#define _NBQ_SPIN_POLICY_H

#include <linux/build_bug.h>
#include <linux/types.h>

#include "deadline.h"
#include "relax.h"
#include "spin_word.h"
#include "wait.h"

#ifndef NBQ_SPIN_POLICY
/* Polls of a newcomer before it enqueues, unless it loses the lock to another one. */
#define POLLS_BEFORE_QUEUE	16U
#define HAS_POLLED(polls)	((polls) >= POLLS_BEFORE_QUEUE)
/* How long a waiter has waited when it requests a handoff. */
#define PATIENT_NS		20000
/* Is the patience over before the attempt could request a handoff? */
#define HAS_LITTLE_PATIENCE(wait)	\
	nbq_deadline_is_within((wait)->deadline, (wait)->now, PATIENT_NS)
/* Polls of the head from one clock read to the next. */
#define POLLS_AS_HEAD		16U
/* How long a lock is free until the head that has requested it counts as stalled. */
#define IDLE_NS			2000
/* The same while the clock stands: polls, which take longer than that where it does not. */
#define IDLE_POLLS		1000U
/* The age of the heartbeat of a waiter that counts as stalled, also while it sleeps. */
#define STALLED_NS		(50000 + NBQ_RELAX_MAX_NS)
/*
 * How far a heartbeat may be ahead, as the clocks of two CPUs differ. Where 64 bits are written in
 * halves, one that stalls in between leaves a heartbeat that is 2^32 ns ahead.
 */
#define AHEAD_NS		2000000000
/* From one check of the predecessor's heartbeat to the next. */
#define CHECK_PRED_NS		(100000 + NBQ_RELAX_MAX_NS)
/* The same where a place is resumed, by attempts that may have less patience than that. */
#define CHECK_RESUMED_NS	20000
/* From one tick of a place to the next: its heartbeat, the looks at its neighbours. */
#define TICK_NS			2000
#define HAS_TICKED(ticked_at, now)	nbq_has_passed(ticked_at, now, TICK_NS)
/* The age at which a request for a handoff expires, in units of 2^NBQ_HANDOFF_SHIFT ns. */
#define HANDOFF_UNITS		3U
/* How many nodes a look for a waiter reads, all but the last of which are abandoned. */
#define LOOK_PAST		16U
static_assert(HANDOFF_UNITS << NBQ_HANDOFF_SHIFT == NBQ_SPIN_HANDOFF_NS);
#endif

/* Has so much time passed? The clocks of two CPUs may differ a little. */
static inline bool nbq_has_passed(u64 since, u64 now, s64 ns)
{
	return (s64)(now - since) >= ns;
}

static inline bool nbq_handoff_has_expired(u8 handoff)
{
	return nbq_handoff_age(handoff, nbq_clock_ns()) >= HANDOFF_UNITS;
}

/**
 * struct nbq_idle - how long a context has seen that the lock is free and requested
 * @since: since when
 * @polls: and how often; 0: not at its last poll
 */
struct nbq_idle {
	u64 since;
	unsigned int polls;
};

static inline bool nbq_is_idle_too_long(struct nbq_idle *idle)
{
	u64 now = nbq_clock_ns();

	if (!idle->polls++)
		idle->since = now;
	return nbq_has_passed(idle->since, now, IDLE_NS) || idle->polls >= IDLE_POLLS;
}

#endif
