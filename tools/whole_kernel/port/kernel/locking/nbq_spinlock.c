// SPDX-License-Identifier: GPL-2.0
/*
 * What the kernel's spinlock needs of nbqlock besides the operations.
 */
#include <linux/build_bug.h>
#include <linux/export.h>
#include <linux/spinlock.h>

/* As qspinlock: lockref counts on it. */
static_assert(sizeof(arch_spinlock_t) == sizeof(u32));
static_assert(__alignof__(arch_spinlock_t) == __alignof__(u32));

/* Modules acquire by inline functions of <linux/spinlock.h>. */
EXPORT_SYMBOL(nbq_bare_spin_lock);
EXPORT_SYMBOL(nbq_bare_spin_trylock);
EXPORT_SYMBOL(nbq_bare_spin_is_contended);
