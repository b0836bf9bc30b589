// SPDX-License-Identifier: GPL-2.0
/*
 * Fibers: switching stacks. x86-64 only: setjmp() would encrypt what it saves, and
 * states that are alike could not be told to be.
 */
#include <string.h>

#include "fiber.h"
#include "fiber_switch.h"

/* As deep as a fiber gets between two stops: what it may have left there. */
#define WIPED	512U

char fiber_stacks[MOST_FIBERS][FIBER_STACK] __attribute__((__aligned__(64)));
void *fiber_sp[MOST_FIBERS];

static void *starter_sp;
static unsigned int running;

void fiber_start(unsigned int fiber, void (*function)(void))
{
	memset(fiber_stacks[fiber], 0, FIBER_STACK);
	fiber_sp[fiber] = fiber_prepare(fiber_stacks[fiber + 1], function);
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
