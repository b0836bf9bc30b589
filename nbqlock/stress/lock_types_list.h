/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The lock types of the driver, in the order of the file "locks"; the first one is the default.
 * The simulation, the host programs, the explorer and the tools (tools/base/lock_types.py) take
 * theirs from here.
 *
 *	STRESS_STRICT(name, X, meaning)		nbq_X of nbqlock, which is to be destroyed
 *	STRESS_HYBRID(name, X, meaning)		nbq_X of nbqlock, which leaves places in queues
 *	STRESS_OURS(name, X)			both, where these are not defined
 *	STRESS_KERNEL(name)			of the kernel, ops_kernel.c
 *	STRESS_PAPER(name)			papers/, each in a file of its name
 *
 * Each is a struct stress_ops, stress_NAME. No include guard: those that are wanted are defined
 * first; the list ends their definitions.
 */
#ifndef STRESS_OURS
#define STRESS_OURS(name, X)
#endif
#ifndef STRESS_STRICT
#define STRESS_STRICT(name, X, meaning)	STRESS_OURS(name, X)
#define STRESS_HYBRID(name, X, meaning)	STRESS_OURS(name, X)
#endif
#ifndef STRESS_KERNEL
#define STRESS_KERNEL(name)
#endif
#ifndef STRESS_PAPER
#define STRESS_PAPER(name)
#endif

STRESS_STRICT(clh_nb, clh,
	      "CLH-NB, a queue lock with non-blocking timeout, nbq_clh_lock_timeout()")
STRESS_STRICT(mcs_nb, mcs,
	      "MCS-NB, the same with waiters that spin on their own node, nbq_mcs_lock_timeout()")
STRESS_STRICT(swap_nb, swap,
	      "the swap-only lock, the same without compare-and-swap, nbq_swap_lock_timeout()")
STRESS_HYBRID(nbq_spin, spin,
	      "the hybrid, a spinlock with a queue for waiters, nbq_spin_lock_timeout()")

STRESS_KERNEL(raw_spinlock)
STRESS_KERNEL(raw_trylock)
#ifdef STRESS_HAS_RQSPINLOCK
STRESS_KERNEL(rqspinlock)
#endif

STRESS_PAPER(tas_b)
STRESS_PAPER(tas_b_try)
STRESS_PAPER(clh)
STRESS_PAPER(mcs)
STRESS_PAPER(clh_try)
STRESS_PAPER(mcs_try)
STRESS_PAPER(clh_nb_paper)
STRESS_PAPER(mcs_nb_paper)

#undef STRESS_OURS
#undef STRESS_STRICT
#undef STRESS_HYBRID
#undef STRESS_KERNEL
#undef STRESS_PAPER
