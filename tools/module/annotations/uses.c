// SPDX-License-Identifier: GPL-2.0
/*
 * Right and wrong uses of the locks, for the compilers' own checks
 * (tools/module/annotation_checks.py). Nothing here is ever run.
 *
 * A check must report something in each function whose name begins with what it
 * looks for, and nothing in any other:
 *	wrong_context_*		a lock that is kept or that was not acquired
 *	wrong_guarded_*		data that is used without its lock
 *	wrong_ignored_*		a result that is ignored
 */
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/types.h>

#include <nbqlock/counters.h>
#include <nbqlock/nbqlock.h>

#define PATIENCE	1000

/* Older kernels have no context analysis, and none of its annotations. */
#ifndef __guarded_by
#define __guarded_by(...)
#endif

/* What a lock protects, in four types. */
struct thing {
	struct nbq_clh lock;
	long count __guarded_by(&lock);
};

struct mcs_thing {
	struct nbq_mcs lock;
	long count __guarded_by(&lock);
};

struct swap_thing {
	struct nbq_swap lock;
	long count __guarded_by(&lock);
};

struct spin_thing {
	struct nbq_spin lock;
	long count __guarded_by(&lock);
};

static DEFINE_NBQ_CLH(global);
static long global_count __guarded_by(&global);

/* Right: the untimed operations */

static void right_untimed(struct thing *thing)
{
	unsigned long flags;

	nbq_clh_lock(&thing->lock);
	thing->count++;
	nbq_clh_unlock(&thing->lock);
	nbq_clh_lock_irq(&thing->lock);
	thing->count++;
	nbq_clh_unlock_irq(&thing->lock);
	nbq_clh_lock_irqsave(&thing->lock, flags);
	thing->count++;
	nbq_clh_unlock_irqrestore(&thing->lock, flags);
	nbq_clh_lock_bh(&thing->lock);
	thing->count++;
	nbq_clh_unlock_bh(&thing->lock);
}

#ifdef guard
static void right_guards(struct thing *one, struct mcs_thing *other)
{
	guard(nbq_clh)(&one->lock);
	guard(nbq_mcs_irqsave)(&other->lock);
	one->count += other->count;
}
#endif

/* Inline, unless the kernel has lockdep. */
static void right_spin_lock(struct spin_thing *thing)
{
	nbq_spin_lock(&thing->lock);
	thing->count++;
	nbq_spin_unlock(&thing->lock);
}

static void right_global(void)
{
	nbq_clh_lock(&global);
	global_count++;
	nbq_clh_unlock(&global);
}

/* Right: those that may fail */

static int right_lock_timeout(struct thing *thing)
{
	int ret = nbq_clh_lock_timeout(&thing->lock, PATIENCE);

	if (ret)
		return ret;
	thing->count++;
	nbq_clh_unlock(&thing->lock);
	return 0;
}

static void right_attempts(struct thing *thing, ktime_t deadline, struct nbq_timeout *info)
{
	unsigned long flags;

	if (!nbq_clh_lock_timeout_info(&thing->lock, PATIENCE, info)) {
		thing->count++;
		nbq_clh_unlock(&thing->lock);
	}
	if (!nbq_clh_lock_timeout_irq(&thing->lock, PATIENCE)) {
		thing->count++;
		nbq_clh_unlock_irq(&thing->lock);
	}
	if (!nbq_clh_lock_until_irqsave(&thing->lock, deadline, flags)) {
		thing->count++;
		nbq_clh_unlock_irqrestore(&thing->lock, flags);
	}
	if (nbq_clh_trylock_bh(&thing->lock)) {
		thing->count++;
		nbq_clh_unlock_bh(&thing->lock);
	}
	if (nbq_clh_trylock_irqsave(&thing->lock, flags)) {
		thing->count++;
		nbq_clh_unlock_irqrestore(&thing->lock, flags);
	}
	if (nbq_clh_trylock(&thing->lock)) {
		thing->count++;
		nbq_clh_unlock(&thing->lock);
	}
	if (nbq_clh_lock_until(&thing->lock, deadline))
		return;
	thing->count++;
	nbq_clh_unlock(&thing->lock);
}

static void right_spin_attempts(struct spin_thing *thing, ktime_t deadline)
{
	if (!nbq_spin_lock_timeout(&thing->lock, PATIENCE)) {
		thing->count++;
		nbq_spin_unlock(&thing->lock);
	}
	if (!nbq_spin_lock_until(&thing->lock, deadline)) {
		thing->count++;
		nbq_spin_unlock(&thing->lock);
	}
	if (!nbq_spin_trylock(&thing->lock))
		return;
	thing->count++;
	nbq_spin_unlock(&thing->lock);
}

static int right_two_locks(struct thing *outer, struct mcs_thing *inner)
{
	int ret = nbq_clh_lock_timeout(&outer->lock, PATIENCE);

	if (ret)
		return ret;
	ret = nbq_mcs_lock_timeout(&inner->lock, PATIENCE);
	if (ret) {
		nbq_clh_unlock(&outer->lock);
		return ret;
	}
	outer->count += inner->count;
	nbq_mcs_unlock(&inner->lock);
	nbq_clh_unlock(&outer->lock);
	return 0;
}

/* Right: inside a lock of the same class */

static int right_nested(struct thing *outer, struct thing *inner)
{
	unsigned long flags;
	int ret;

	nbq_clh_lock(&outer->lock);
	ret = nbq_clh_lock_timeout_nested(&inner->lock, PATIENCE, SINGLE_DEPTH_NESTING);
	if (!ret) {
		outer->count += inner->count;
		nbq_clh_unlock(&inner->lock);
	}
	ret = nbq_clh_lock_timeout_irqsave_nested(&inner->lock, PATIENCE, flags,
						  SINGLE_DEPTH_NESTING);
	if (!ret) {
		outer->count += inner->count;
		nbq_clh_unlock_irqrestore(&inner->lock, flags);
	}
	nbq_clh_lock_irqsave_nested(&inner->lock, flags, SINGLE_DEPTH_NESTING);
	outer->count += inner->count;
	nbq_clh_unlock_irqrestore(&inner->lock, flags);
	nbq_clh_unlock(&outer->lock);
	return ret;
}

/* Right: what has been asserted or promised */

static long right_assertion(struct thing *thing)
{
	lockdep_assert_held(&thing->lock);
	return thing->count;
}

static int right_destroy(struct thing *thing)
{
	return nbq_clh_destroy(&thing->lock);
}

/* Wrong: locks that are kept, or were not acquired */

static void wrong_context_no_unlock(struct thing *thing)
{
	nbq_clh_lock(&thing->lock);
	thing->count++;
}

static void wrong_context_no_lock(struct mcs_thing *thing)
{
	nbq_mcs_unlock(&thing->lock);
}

static void wrong_context_unlock_on_one_path(struct swap_thing *thing, bool really)
{
	nbq_swap_lock(&thing->lock);
	if (really)
		nbq_swap_unlock(&thing->lock);
}

static int wrong_context_unchecked(struct thing *thing)
{
	int ret = nbq_clh_lock_timeout(&thing->lock, PATIENCE);

	nbq_clh_unlock(&thing->lock);
	return ret;
}

static int wrong_context_unchecked_until(struct mcs_thing *thing, ktime_t deadline)
{
	int ret = nbq_mcs_lock_until_irq(&thing->lock, deadline);

	nbq_mcs_unlock_irq(&thing->lock);
	return ret;
}

/* The habit of trylock, in which anything but 0 is success */
static void wrong_context_upside_down(struct thing *thing)
{
	if (nbq_clh_lock_timeout_bh(&thing->lock, PATIENCE))
		nbq_clh_unlock_bh(&thing->lock);
}

static int wrong_context_kept_after_trylock(struct swap_thing *thing)
{
	unsigned long flags;

	if (!nbq_swap_trylock_irqsave(&thing->lock, flags))
		return -EBUSY;
	return 0;
}

static void wrong_context_spin_no_unlock(struct spin_thing *thing)
{
	nbq_spin_lock(&thing->lock);
	thing->count++;
}

static void wrong_context_spin_no_lock(struct spin_thing *thing)
{
	nbq_spin_unlock(&thing->lock);
}

static void wrong_context_spin_upside_down(struct spin_thing *thing)
{
	if (nbq_spin_lock_timeout(&thing->lock, PATIENCE))
		nbq_spin_unlock(&thing->lock);
}

static int wrong_context_kept_nested(struct thing *outer, struct thing *inner)
{
	int ret;

	nbq_clh_lock(&outer->lock);
	ret = nbq_clh_lock_timeout_nested(&inner->lock, PATIENCE,
					  SINGLE_DEPTH_NESTING);
	if (!ret)
		nbq_clh_unlock(&inner->lock);
	return ret;
}

/* Wrong: data without its lock */

static void wrong_guarded_written(struct thing *thing)
{
	thing->count++;
}

static long wrong_guarded_read_after_unlock(struct mcs_thing *thing)
{
	nbq_mcs_lock(&thing->lock);
	nbq_mcs_unlock(&thing->lock);
	return thing->count;
}

static void wrong_guarded_by_another_lock(struct swap_thing *locked,
					  struct thing *used)
{
	nbq_swap_lock(&locked->lock);
	used->count++;
	nbq_swap_unlock(&locked->lock);
}

static long wrong_guarded_after_spin_trylock(struct spin_thing *thing)
{
	if (!nbq_spin_trylock(&thing->lock))
		return thing->count;
	nbq_spin_unlock(&thing->lock);
	return 0;
}

static long wrong_guarded_after_timeout(struct thing *thing)
{
	long count;

	if (nbq_clh_lock_timeout(&thing->lock, PATIENCE))
		return thing->count;
	count = thing->count;
	nbq_clh_unlock(&thing->lock);
	return count;
}

static long wrong_guarded_global(void)
{
	return global_count;
}

/* Wrong: results that are ignored, one on each line */

static void wrong_ignored_clh(struct nbq_clh *lock, struct nbq_timeout *info)
{
	unsigned long flags;

	nbq_clh_lock_timeout(lock, PATIENCE);
	nbq_clh_lock_timeout_info(lock, PATIENCE, info);
	nbq_clh_lock_until(lock, PATIENCE);
	nbq_clh_trylock(lock);
	nbq_clh_destroy(lock);
	nbq_clh_lock_timeout_irq(lock, PATIENCE);
	nbq_clh_lock_until_irq(lock, PATIENCE);
	nbq_clh_trylock_irq(lock);
	nbq_clh_lock_timeout_bh(lock, PATIENCE);
	nbq_clh_lock_until_bh(lock, PATIENCE);
	nbq_clh_trylock_bh(lock);
	nbq_clh_lock_timeout_irqsave(lock, PATIENCE, flags);
	nbq_clh_lock_until_irqsave(lock, PATIENCE, flags);
	nbq_clh_trylock_irqsave(lock, flags);
	nbq_clh_lock_timeout_nested(lock, PATIENCE, 1);
	nbq_clh_lock_timeout_irqsave_nested(lock, PATIENCE, flags, 1);
	nbq_clh_lock_timeout_info_irqsave(lock, PATIENCE, info, flags);
}

static void wrong_ignored_mcs(struct nbq_mcs *lock)
{
	nbq_mcs_lock_timeout(lock, PATIENCE);
	nbq_mcs_lock_until(lock, PATIENCE);
	nbq_mcs_trylock(lock);
	nbq_mcs_destroy(lock);
}

static void wrong_ignored_swap(struct nbq_swap *lock)
{
	nbq_swap_lock_timeout(lock, PATIENCE);
	nbq_swap_lock_until(lock, PATIENCE);
	nbq_swap_trylock(lock);
	nbq_swap_destroy(lock);
}

/* The header has operations of this type by other lines. */
static void wrong_ignored_spin(struct nbq_spin *lock, struct nbq_timeout *info)
{
	unsigned long flags;

	nbq_spin_lock_timeout(lock, PATIENCE);
	nbq_spin_lock_timeout_info(lock, PATIENCE, info);
	nbq_spin_lock_until(lock, PATIENCE);
	nbq_spin_trylock(lock);
	nbq_spin_lock_timeout_irqsave(lock, PATIENCE, flags);
	nbq_spin_lock_timeout_nested(lock, PATIENCE, 1);
}

static void wrong_ignored_count(u64 *value)
{
	nbq_event_read("timeouts", value);
}
