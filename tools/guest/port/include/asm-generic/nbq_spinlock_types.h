/* SPDX-License-Identifier: GPL-2.0 */
/*
 * arch_spinlock_t is the bare lock of nbqlock's hybrid.
 */
#ifndef __ASM_GENERIC_NBQ_SPINLOCK_TYPES_H
#define __ASM_GENERIC_NBQ_SPINLOCK_TYPES_H

#include <nbqlock/bare_spin_types.h>

typedef union nbq_bare_spin arch_spinlock_t;

/* All zeroes, as in memory that is never initialised. */
#define __ARCH_SPIN_LOCK_UNLOCKED	{ .all = 0 }

#endif
