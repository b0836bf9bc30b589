/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fibers: functions that run on stacks of their own and stop in the middle, in
 * favour of the fiber that has resumed them.
 *
 * Between two resumes, all that a fiber is stands in its stack, from its stack
 * pointer up: its registers are pushed there. Stacks are at addresses that never
 * change, so a fiber can be saved and put back as a piece of memory.
 */
#ifndef FIBER_H
#define FIBER_H

#include <stddef.h>

/*
 * What tools/host/explore needs, which saves stacks; tools/host/simulate has more, and
 * larger ones.
 */
#ifndef MOST_FIBERS
#define MOST_FIBERS	8U
#define FIBER_STACK	(16UL * 1024)
#endif

/* All of the stacks, one behind another. */
extern char fiber_stacks[MOST_FIBERS][FIBER_STACK];
/* Where each fiber's stack begins now. It ends at the end of its row. */
extern void *fiber_sp[MOST_FIBERS];

/* The fiber is about to call the function, which must not return. */
void fiber_start(unsigned int fiber, void (*function)(void));
/* Let it run until it stops. */
void fiber_resume(unsigned int fiber);
/* Stop the fiber that runs. */
void fiber_stop(void);
/* Wipe what is below its stack pointer, which it never reads, but might not overwrite. */
void fiber_wipe(unsigned int fiber);

#endif
