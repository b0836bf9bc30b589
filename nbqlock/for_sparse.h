/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The verbs that may fail, for sparse, which checks contexts in kernels before
 * 6.19. It must see which branch has the lock, in the function that asks for it:
 * it follows neither a declaration nor the branches of an inline function. The
 * kernel's own trylocks are such macros there, too.
 *
 * It still gets lost where a function returns one of two constants.
 *
 * Include <nbqlock/nbqlock.h>, not this.
 */
#ifndef _NBQLOCK_FOR_SPARSE_H
#define _NBQLOCK_FOR_SPARSE_H

/* These are defined somewhere, too. */
#ifndef NBQ_DEFINES_VERBS
#define nbq_clh_lock_timeout(lock, patience)				\
	__nbq_0_acquires(lock, nbq_clh_lock_timeout(lock, patience))
#define nbq_clh_lock_until(lock, deadline)				\
	__nbq_0_acquires(lock, nbq_clh_lock_until(lock, deadline))
#define nbq_clh_trylock(lock)						\
	__nbq_true_acquires(lock, nbq_clh_trylock(lock))
#endif
#define nbq_clh_lock_timeout_irq(lock, patience)			\
	__nbq_0_acquires(lock, nbq_clh_lock_timeout_irq(lock, patience))
#define nbq_clh_lock_until_irq(lock, deadline)				\
	__nbq_0_acquires(lock, nbq_clh_lock_until_irq(lock, deadline))
#define nbq_clh_trylock_irq(lock)					\
	__nbq_true_acquires(lock, nbq_clh_trylock_irq(lock))
#define nbq_clh_lock_timeout_bh(lock, patience)				\
	__nbq_0_acquires(lock, nbq_clh_lock_timeout_bh(lock, patience))
#define nbq_clh_lock_until_bh(lock, deadline)				\
	__nbq_0_acquires(lock, nbq_clh_lock_until_bh(lock, deadline))
#define nbq_clh_trylock_bh(lock)					\
	__nbq_true_acquires(lock, nbq_clh_trylock_bh(lock))
#define nbq_clh_lock_timeout_nested(lock, patience, subclass)		\
	__nbq_0_acquires(lock, nbq_clh_lock_timeout_nested(lock, patience, subclass))
#define nbq_clh_lock_until_nested(lock, deadline, subclass)		\
	__nbq_0_acquires(lock, nbq_clh_lock_until_nested(lock, deadline, subclass))

#ifndef NBQ_DEFINES_VERBS
#define nbq_mcs_lock_timeout(lock, patience)				\
	__nbq_0_acquires(lock, nbq_mcs_lock_timeout(lock, patience))
#define nbq_mcs_lock_until(lock, deadline)				\
	__nbq_0_acquires(lock, nbq_mcs_lock_until(lock, deadline))
#define nbq_mcs_trylock(lock)						\
	__nbq_true_acquires(lock, nbq_mcs_trylock(lock))
#endif
#define nbq_mcs_lock_timeout_irq(lock, patience)			\
	__nbq_0_acquires(lock, nbq_mcs_lock_timeout_irq(lock, patience))
#define nbq_mcs_lock_until_irq(lock, deadline)				\
	__nbq_0_acquires(lock, nbq_mcs_lock_until_irq(lock, deadline))
#define nbq_mcs_trylock_irq(lock)					\
	__nbq_true_acquires(lock, nbq_mcs_trylock_irq(lock))
#define nbq_mcs_lock_timeout_bh(lock, patience)				\
	__nbq_0_acquires(lock, nbq_mcs_lock_timeout_bh(lock, patience))
#define nbq_mcs_lock_until_bh(lock, deadline)				\
	__nbq_0_acquires(lock, nbq_mcs_lock_until_bh(lock, deadline))
#define nbq_mcs_trylock_bh(lock)					\
	__nbq_true_acquires(lock, nbq_mcs_trylock_bh(lock))
#define nbq_mcs_lock_timeout_nested(lock, patience, subclass)		\
	__nbq_0_acquires(lock, nbq_mcs_lock_timeout_nested(lock, patience, subclass))
#define nbq_mcs_lock_until_nested(lock, deadline, subclass)		\
	__nbq_0_acquires(lock, nbq_mcs_lock_until_nested(lock, deadline, subclass))

#ifndef NBQ_DEFINES_VERBS
#define nbq_swap_lock_timeout(lock, patience)				\
	__nbq_0_acquires(lock, nbq_swap_lock_timeout(lock, patience))
#define nbq_swap_lock_until(lock, deadline)				\
	__nbq_0_acquires(lock, nbq_swap_lock_until(lock, deadline))
#define nbq_swap_trylock(lock)						\
	__nbq_true_acquires(lock, nbq_swap_trylock(lock))
#endif
#define nbq_swap_lock_timeout_irq(lock, patience)			\
	__nbq_0_acquires(lock, nbq_swap_lock_timeout_irq(lock, patience))
#define nbq_swap_lock_until_irq(lock, deadline)				\
	__nbq_0_acquires(lock, nbq_swap_lock_until_irq(lock, deadline))
#define nbq_swap_trylock_irq(lock)					\
	__nbq_true_acquires(lock, nbq_swap_trylock_irq(lock))
#define nbq_swap_lock_timeout_bh(lock, patience)			\
	__nbq_0_acquires(lock, nbq_swap_lock_timeout_bh(lock, patience))
#define nbq_swap_lock_until_bh(lock, deadline)				\
	__nbq_0_acquires(lock, nbq_swap_lock_until_bh(lock, deadline))
#define nbq_swap_trylock_bh(lock)					\
	__nbq_true_acquires(lock, nbq_swap_trylock_bh(lock))
#define nbq_swap_lock_timeout_nested(lock, patience, subclass)		\
	__nbq_0_acquires(lock, nbq_swap_lock_timeout_nested(lock, patience, subclass))
#define nbq_swap_lock_until_nested(lock, deadline, subclass)		\
	__nbq_0_acquires(lock, nbq_swap_lock_until_nested(lock, deadline, subclass))

#ifndef NBQ_DEFINES_VERBS
#define nbq_spin_lock_timeout(lock, patience)				\
	__nbq_0_acquires(lock, nbq_spin_lock_timeout(lock, patience))
#define nbq_spin_lock_until(lock, deadline)				\
	__nbq_0_acquires(lock, nbq_spin_lock_until(lock, deadline))
#define nbq_spin_trylock(lock)						\
	__nbq_true_acquires(lock, nbq_spin_trylock(lock))
/* Sparse would lose the way in what is inline. There is no such function. */
void __nbq_spin_releases(struct nbq_spin *lock) __releases(lock);
#define nbq_spin_unlock(lock)	__nbq_spin_releases(lock)
#endif
#define nbq_spin_lock_timeout_irq(lock, patience)			\
	__nbq_0_acquires(lock, nbq_spin_lock_timeout_irq(lock, patience))
#define nbq_spin_lock_until_irq(lock, deadline)				\
	__nbq_0_acquires(lock, nbq_spin_lock_until_irq(lock, deadline))
#define nbq_spin_trylock_irq(lock)					\
	__nbq_true_acquires(lock, nbq_spin_trylock_irq(lock))
#define nbq_spin_lock_timeout_bh(lock, patience)			\
	__nbq_0_acquires(lock, nbq_spin_lock_timeout_bh(lock, patience))
#define nbq_spin_lock_until_bh(lock, deadline)				\
	__nbq_0_acquires(lock, nbq_spin_lock_until_bh(lock, deadline))
#define nbq_spin_trylock_bh(lock)					\
	__nbq_true_acquires(lock, nbq_spin_trylock_bh(lock))
#define nbq_spin_lock_timeout_nested(lock, patience, subclass)		\
	__nbq_0_acquires(lock, nbq_spin_lock_timeout_nested(lock, patience, subclass))
#define nbq_spin_lock_until_nested(lock, deadline, subclass)		\
	__nbq_0_acquires(lock, nbq_spin_lock_until_nested(lock, deadline, subclass))

#endif
