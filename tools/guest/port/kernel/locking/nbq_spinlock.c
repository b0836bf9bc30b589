// SPDX-License-Identifier: GPL-2.0
/*
 * What the kernel's spinlock needs of nbqlock besides the operations.
 */
#include <linux/build_bug.h>
#include <linux/export.h>
#include <linux/lockref.h>
#include <linux/mm.h>
#include <linux/spinlock.h>

#ifdef CONFIG_QUEUED_SPINLOCKS
#error "A kernel has one spinlock: qspinlock or that of nbqlock"
#endif

/*
 * Size and alignment are those of qspinlock, and so is the layout of whatever embeds a lock. BPF
 * takes the 4 bytes of a struct bpf_spin_lock for it, HPET reads it with a value beside it.
 */
static_assert(sizeof(arch_spinlock_t) == sizeof(u32));
static_assert(__alignof__(arch_spinlock_t) == __alignof__(u32));
#if !defined(CONFIG_DEBUG_SPINLOCK) && !defined(CONFIG_DEBUG_LOCK_ALLOC)
static_assert(sizeof(raw_spinlock_t) == sizeof(u32));
static_assert(sizeof(spinlock_t) == sizeof(u32));
/* The lock of a page table is in its struct page. */
static_assert(!ALLOC_SPLIT_PTLOCKS);
#ifdef CONFIG_ARCH_USE_CMPXCHG_LOCKREF
/* A reference is counted by one compare-and-swap of count and lock. */
static_assert(USE_CMPXCHG_LOCKREF);
static_assert(sizeof(struct lockref) == sizeof(u64));
#endif
#endif

/* Modules acquire by inline functions of <linux/spinlock.h>. */
EXPORT_SYMBOL(nbq_bare_spin_lock);
EXPORT_SYMBOL(nbq_bare_spin_trylock);
EXPORT_SYMBOL(nbq_bare_spin_is_contended);
