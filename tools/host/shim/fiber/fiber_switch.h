/* SPDX-License-Identifier: GPL-2.0 */
/* Switching stacks: neither system calls nor signal masks. */
#ifndef FIBER_SWITCH_H
#define FIBER_SWITCH_H

#include <stdint.h>

#ifndef __x86_64__
#error "fibers are written for x86-64"
#endif

/* In fiber_switch.S: leave this stack, of which *from is all that is kept, and go on with that. */
void fiber_switch(void **from, void *to);

/* What to switch to first: the function is about to be called, which must not return. */
static inline void *fiber_prepare(void *stack_end, void (*function)(void))
{
	uintptr_t *sp = stack_end;

	*--sp = 0;		/* where a return address would stand */
	*--sp = (uintptr_t)function;
	return sp - 6;		/* the registers */
}

#endif
