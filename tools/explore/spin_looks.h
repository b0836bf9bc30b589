/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What nbqlock/spin.c counts in looks, for the explorer: not numbers, but a choice
 * (PERSIST in context.h). A limit is reached by a context that polls on until it does
 * something new, and by no other. So all values are explored that the limits could
 * have, each of them from 1 on, and any relation between them; no counter has to get
 * anywhere; and whether somebody gives signs of life is part of the choice, since all
 * that these do is to keep a limit from being reached.
 */
#ifndef EXPLORE_SPIN_LOOKS_H
#define EXPLORE_SPIN_LOOKS_H

#ifndef __ASSEMBLER__
#include <stdbool.h>

/* The running context polls on until it does something new. */
bool context_persists(void);
#endif

#define NBQ_SPIN_LOOKS
#define NEVER_YET		(1U << 30)
#define LOOKS_WITHOUT_NODE	(context_persists() ? 1U : NEVER_YET)
#define PATIENT_LOOKS		(context_persists() ? 0U : NEVER_YET)
#define IDLE_LOOKS		(context_persists() ? 0U : NEVER_YET)
#define LOOKS_PER_BEAT		NEVER_YET
#define LOOKS_PER_GLANCE	(context_persists() ? 1U : NEVER_YET)
#define HANDOFF_UNITS		(context_persists() ? 0U : NEVER_YET)

#endif
