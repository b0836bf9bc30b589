// SPDX-License-Identifier: GPL-2.0
/*
 * Fibers: switching stacks. x86-64 only: setjmp() would encrypt what it saves, and
 * states that are alike could not be told to be.
 */
#include <stdint.h>
#include <string.h>

#include "fiber.h"

#ifndef __x86_64__
#error "fibers are written for x86-64"
#endif

/* As deep as a fiber gets between two stops: what it may have left there. */
#define WIPED	512U

char fiber_stacks[MOST_FIBERS][FIBER_STACK] __attribute__((__aligned__(64)));
void *fiber_sp[MOST_FIBERS];

static void *starter_sp;
static unsigned int running;

/* In fiber_switch.S. */
void fiber_switch(void **from, void *to);

void fiber_start(unsigned int fiber, void (*function)(void))
{
	uintptr_t *sp = (uintptr_t *)fiber_stacks[fiber + 1];

	memset(fiber_stacks[fiber], 0, FIBER_STACK);
	sp--;			/* where a return address would stand */
	*--sp = (uintptr_t)function;
	sp -= 6;		/* the registers */
	fiber_sp[fiber] = sp;
}

void fiber_resume(unsigned int fiber)
{
	running = fiber;
	fiber_switch(&starter_sp, fiber_sp[fiber]);
}

void fiber_stop(void)
{
	fiber_switch(&fiber_sp[running], starter_sp);
}

void fiber_wipe(unsigned int fiber)
{
	memset((char *)fiber_sp[fiber] - WIPED, 0, WIPED);
}
