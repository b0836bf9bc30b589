// SPDX-License-Identifier: GPL-2.0
/*
 * Mistakes with the locks of nbqlock. None blocks: there is no other context, and each
 * acquisition is timed, so that a deadlock would be over after its patience. They
 * are mistakes all the same, and lockdep must say so.
 */
#include <linux/errno.h>
#include <linux/irq_work.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/spinlock.h>

#include <nbqlock/nbqlock.h>

#include "faults.h"

#define PATIENCE	(10 * NSEC_PER_USEC)

static DEFINE_NBQ_CLH(one);
static DEFINE_NBQ_MCS(other);

/* The inner lock is of another type: to lockdep that is all one. */
static int one_then_other(void)
{
	int ret = nbq_clh_lock_timeout(&one, PATIENCE);

	if (ret)
		return ret;
	ret = nbq_mcs_lock_timeout(&other, PATIENCE);
	if (!ret)
		nbq_mcs_unlock(&other);
	nbq_clh_unlock(&one);
	return ret;
}

static int other_then_one(void)
{
	ktime_t deadline = ktime_get() + PATIENCE;
	int ret = nbq_mcs_lock_until(&other, deadline);

	if (ret)
		return ret;
	ret = nbq_clh_lock_until(&one, deadline);
	if (!ret)
		nbq_clh_unlock(&one);
	nbq_mcs_unlock(&other);
	return ret;
}

static int opposite_orders(void)
{
	return one_then_other() ?: other_then_one();
}

static DEFINE_RAW_SPINLOCK(raw);
static DEFINE_NBQ_SWAP(swap);

static int swap_in_raw(void)
{
	int ret;

	raw_spin_lock(&raw);
	ret = nbq_swap_lock_timeout(&swap, PATIENCE);
	if (!ret)
		nbq_swap_unlock(&swap);
	raw_spin_unlock(&raw);
	return ret;
}

static int opposite_to_a_spinlock(void)
{
	int ret = swap_in_raw();

	if (ret)
		return ret;
	nbq_swap_lock(&swap);
	raw_spin_lock(&raw);
	raw_spin_unlock(&raw);
	nbq_swap_unlock(&swap);
	return 0;
}

/*
 * Two locks that were made at one place, without saying which comes first.
 */
static int same_class(void)
{
	struct nbq_mcs locks[2];
	int i, ret;

	for (i = 0; i < 2; i++)
		nbq_mcs_init(&locks[i]);
	nbq_mcs_lock(&locks[0]);
	ret = nbq_mcs_lock_timeout(&locks[1], PATIENCE);
	if (!ret)
		nbq_mcs_unlock(&locks[1]);
	nbq_mcs_unlock(&locks[0]);
	return ret ?: nbq_mcs_destroy(&locks[0]) ?: nbq_mcs_destroy(&locks[1]);
}

/*
 * One lock, by a context that has it already: it comes back with an error.
 */
static int same_lock(void)
{
	int ret;

	nbq_clh_lock(&one);
	ret = nbq_clh_lock_timeout(&one, PATIENCE);
	if (!ret)
		nbq_clh_unlock(&one);
	nbq_clh_unlock(&one);
	return ret ? 0 : -EINVAL;
}

static DEFINE_NBQ_SPIN(spin);
static DEFINE_NBQ_SPIN(other_spin);

/*
 * The hybrid is a lock of one word that has a fast path, and is lockdep's all the same.
 */
static int hybrids_in_opposite_orders(void)
{
	int ret = nbq_spin_lock_timeout(&spin, PATIENCE);

	if (ret)
		return ret;
	nbq_spin_lock(&other_spin);
	nbq_spin_unlock(&other_spin);
	nbq_spin_unlock(&spin);

	nbq_spin_lock(&other_spin);
	ret = nbq_spin_lock_until(&spin, ktime_get() + PATIENCE);
	if (!ret)
		nbq_spin_unlock(&spin);
	nbq_spin_unlock(&other_spin);
	return ret;
}

/*
 * With lockdep, unlock sees what a kernel without it lets pass.
 */
static int hybrid_not_held(void)
{
	nbq_spin_unlock(&spin);
	return 0;
}

static DEFINE_NBQ_CLH(shared_with_interrupt);

static void lock_in_interrupt(struct irq_work *work)
{
	if (!nbq_clh_lock_timeout(&shared_with_interrupt, PATIENCE))
		nbq_clh_unlock(&shared_with_interrupt);
}

/*
 * An interrupt takes it, and a task with interrupts on.
 */
static int interrupt_unsafe(void)
{
	static struct irq_work work = IRQ_WORK_INIT_HARD(lock_in_interrupt);
	int ret;

	irq_work_queue(&work);
	irq_work_sync(&work);
	ret = nbq_clh_lock_timeout(&shared_with_interrupt, PATIENCE);
	if (!ret)
		nbq_clh_unlock(&shared_with_interrupt);
	return ret;
}

/*
 * After an attempt that has failed, the lock is another context's; here held by
 * another name, which lockdep has been told to forget.
 */
static int not_held_after_timeout(void)
{
	nbq_clh_lock_irq(&one);
	lock_release(&one.dep_map, _RET_IP_);
	if (nbq_clh_lock_timeout(&one, PATIENCE))
		lockdep_assert_held(&one);
	else
		nbq_clh_unlock(&one);
	lock_acquire(&one.dep_map, 0, 1, 0, 1, NULL, _RET_IP_);
	nbq_clh_unlock_irq(&one);
	return 0;
}

static int not_held(void)
{
	nbq_clh_unlock(&one);
	return 0;
}

const struct fault nbqlock_faults[] = {
	{ "nbq_abba", opposite_orders },
	{ "nbq_abba_raw", opposite_to_a_spinlock },
	{ "nbq_aa_class", same_class },
	{ "nbq_aa", same_lock },
	{ "nbq_irq", interrupt_unsafe },
	{ "nbq_not_held", not_held_after_timeout },
	{ "nbq_unlock", not_held },
	{ "nbq_spin_abba", hybrids_in_opposite_orders },
	{ "nbq_spin_unlock", hybrid_not_held },
	{ }
};
