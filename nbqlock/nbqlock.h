/* SPDX-License-Identifier: GPL-2.0 */
/*
 * nbqlock: queue-based spinlocks with non-blocking timeout. The header for users.
 *
 * Every lock type has the same operations. Take nbq_spin unless there is a reason not to.
 *
 *	spin.h	nbq_spin_*()	the hybrid: a spinlock of one word, with a queue for waiters
 *	clh.h	nbq_clh_*()	CLH-NB; a waiter spins on its predecessor's node
 *	mcs.h	nbq_mcs_*()	MCS-NB; a waiter spins on its own node
 *	swap.h	nbq_swap_*()	the swap-only lock
 *
 * What holds for every lock
 *	Waiters that do not give up are served first come, first served, except by nbq_spin.
 *	A waiter whose patience is over abandons its place without waiting for any other CPU,
 *	in a bounded number of own steps, at any position in the queue. The lock and the
 *	other waiters are not affected. The next attempt of the same CPU and context level
 *	resumes the place, unless a successor has skipped it meanwhile.
 *	Preemption is off from the start of a wait to the unlock, which is on the CPU that
 *	acquired.
 *	Every operation works in task, softirq and hardirq context, and in NMI context if
 *	NBQ_NMI_SAFE. If an interrupt handler takes a lock, other contexts take it with that
 *	interrupt masked, like any spinlock. A handler with finite patience that has
 *	interrupted the holder gets -EDEADLK or -ETIMEDOUT; lockdep reports it, unless
 *	lockdep_set_notrack_class() says that it is meant. An NMI cannot be masked: it takes
 *	such a lock with finite patience, which lockdep records as a trylock.
 *	Writes to devices by one holder come before those by the next, as under
 *	raw_spinlock_t.
 *	Patience and deadlines are in ns of CLOCK_MONOTONIC. Patience counts from the moment
 *	at which there is something to wait for.
 */
#ifndef _NBQLOCK_H
#define _NBQLOCK_H

#include "spin.h"
#include "clh.h"
#include "mcs.h"
#include "swap.h"

#endif
