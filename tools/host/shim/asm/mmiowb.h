/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What holders do so that writes to devices are in order, on architectures that need it:
 * here it is counted, and what a release would have to write out is taken note of.
 */
#ifndef SHIM_ASM_MMIOWB_H
#define SHIM_ASM_MMIOWB_H

#include <stdbool.h>

/* Of the running thread: locks held, and the nesting at which it has written to a device. */
extern _Thread_local int shim_mmiowb_nesting;
extern _Thread_local bool shim_mmiowb_pending;
/* How often a release has ordered such writes. */
extern _Thread_local unsigned int shim_mmiowbs;

static inline void mmiowb_set_pending(void)
{
	shim_mmiowb_pending = shim_mmiowb_nesting > 0;
}

static inline void mmiowb_spin_lock(void)
{
	shim_mmiowb_nesting++;
}

static inline void mmiowb_spin_unlock(void)
{
	if (shim_mmiowb_pending) {
		shim_mmiowb_pending = false;
		shim_mmiowbs++;
	}
	shim_mmiowb_nesting--;
}

#endif
