/* SPDX-License-Identifier: GPL-2.0 */
/* As on x86, which orders writes to devices by itself: nothing to do. */
#ifndef SHIM_ASM_MMIOWB_H
#define SHIM_ASM_MMIOWB_H

#include <stdbool.h>

/* Counted by tools/shim/host.c. */
extern _Thread_local int shim_mmiowb_nesting;
extern _Thread_local bool shim_mmiowb_pending;
extern _Thread_local unsigned int shim_mmiowbs;

#define mmiowb_spin_lock()	do { } while (0)
#define mmiowb_spin_unlock()	do { } while (0)

#endif
