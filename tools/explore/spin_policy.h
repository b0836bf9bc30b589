/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long the waiters of nbqlock/spin.c and nbqlock/wait.c do what they do, for the
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
#endif

#define NBQ_SPIN_POLICY
#define NEVER_YET		(1 << 30)
/* Whatever the clocks say, of which each context has its own. */
#define LONG_AGO		(-NEVER_YET)
#define LOOKS_OUTSIDE		(context_persists() ? 1U : (unsigned int)NEVER_YET)
#define PATIENT_NS		(context_persists() ? LONG_AGO : NEVER_YET)
#define IDLE_NS			(context_persists() ? LONG_AGO : NEVER_YET)
#define STALLED_NS		(context_persists() ? LONG_AGO : NEVER_YET)
#define JUDGE_NS		(context_persists() ? LONG_AGO : NEVER_YET)
#define HANDOFF_UNITS		(context_persists() ? 0U : (unsigned int)NEVER_YET)
#define HAS_TICKED(place, wait)	((void)(place), (void)(wait), context_persists())

/* A search for a deadlock is a choice of its own (WALK in context.h). */
#define NBQ_WAIT_TIMES
#define FIRST_SEARCH_NS		0U
#define SEARCH_INTERRUPT_NS	0U

#endif
