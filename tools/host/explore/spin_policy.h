/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long the waiters of nbqlock/spin_policy.h and nbqlock/wait.c do what they do, for the
 * explorer: not numbers, but a choice (PERSIST in context.h). A limit is reached by a
 * context that polls on until it does something new, and by no other. So all values are
 * explored that the limits could have, and any relation between them; and whether a
 * predecessor is stalled is part of the choice, since all that its heartbeat does is to
 * keep a limit from being reached.
 */
#ifndef EXPLORE_SPIN_POLICY_H
#define EXPLORE_SPIN_POLICY_H

#ifndef __ASSEMBLER__
#include <stdbool.h>

/* The running context polls on until it does something new. */
bool context_persists(void);
/* It is on the third CPU, where there are two sockets. */
bool context_has_little_patience(void);
/* Does it poll on until it checks for a deadlock? */
bool context_checks(void);
#endif

#define NBQ_SPIN_POLICY
#define NEVER_YET		(1 << 30)
/* Whatever the clocks say, of which each context has its own. */
#define LONG_AGO		(-NEVER_YET)
#define PATIENT_NS		(context_persists() ? LONG_AGO : NEVER_YET)
#define IDLE_NS			(context_persists() ? LONG_AGO : NEVER_YET)
#define IDLE_POLLS		((unsigned int)NEVER_YET)
#define STALLED_NS		(context_persists() ? LONG_AGO : NEVER_YET)
#define AHEAD_NS		NEVER_YET
#define CHECK_PRED_NS		(context_persists() ? LONG_AGO : NEVER_YET)
#define CHECK_RESUMED_NS	CHECK_PRED_NS
#define HANDOFF_UNITS		(context_persists() ? 0U : (unsigned int)NEVER_YET)
#define LOOK_PAST		16U
#define HAS_LITTLE_PATIENCE(wait)	((void)(wait), context_has_little_patience())
#define POLLS_AS_HEAD		((unsigned int)NEVER_YET)
#define HAS_POLLED(polls)	((void)(polls), context_persists())
#define HAS_TICKED(ticked_at, now)	((void)(ticked_at), (void)(now), context_persists())

/* A search for a deadlock is a choice of its own (CHECK in context.h). */
#define NBQ_WAIT_TIMES
#define IS_CHECK_DUE(wait)	((void)(wait), context_checks())

#endif
