/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The verbs that acquire, written once for all lock types: preemption, lockdep,
 * and what becomes of an attempt that fails. With NBQ_TYPE as for lock_type.h,
 * where the verbs are described. What must be there by then:
 *
 *	static int acquire(struct nbq_X *lock, struct nbq_deadline deadline,
 *			struct lockdep_map *waits, unsigned long ip);
 *		0: the lock is mine; or -ETIMEDOUT, -EBUSY, -EDEADLK, -ENOMEM.
 *		Called with preemption off. waits: the lock's map if lockdep has
 *		been told that this context waits for it, else NULL.
 *	static u16 context_of_holder(const struct nbq_X *lock);
 *		which context holds the lock, encoded; 0: none
 */
#include <asm/mmiowb.h>
#include <linux/export.h>
#include <linux/instruction_pointer.h>
#include <linux/kconfig.h>
#include <linux/lockdep.h>
#include <linux/preempt.h>
#include <linux/processor.h>

#ifdef CONFIG_DEBUG_LOCK_ALLOC
#define dep_map_of(lock)		(&(lock)->dep_map)
#else
#define dep_map_of(lock)		NULL
#endif

/* Where a verb begins with an inline fast path, that has done this. */
#ifndef begin_verb
#define begin_verb()			preempt_disable()
#endif

/*
 * Is lockdep told of this attempt as of one that waits? Not if it has no patience
 * at all; and not in an NMI, if its patience ends: see "Lockdep" in
 * Documentation/nbqlock.rst. An absolute deadline that has passed counts as
 * patience: whether it has would cost a look at the clock.
 */
static bool is_wait(const struct nbq_deadline *deadline)
{
	if (!IS_ENABLED(CONFIG_DEBUG_LOCK_ALLOC) || nbq_deadline_is_none(deadline))
		return false;
	return deadline->at == KTIME_MAX || !in_nmi();
}

/* lock_stat warns of locks that lockdep was told not to track: say nothing. */
static bool is_tracked(const struct lockdep_map *map)
{
#if defined(CONFIG_LOCK_STAT) && defined(lockdep_set_notrack_class)
	return map->key != &__lockdep_no_track__;
#else
	return true;
#endif
}

/*
 * An acquisition that may fail: preemption and lockdep as if it had not been. One
 * that waits is made known before it does, as by the kernel's own locks, or what
 * can only end by the patience would never be seen.
 */
static __always_inline int
acquire_timed(struct nbq_X *lock, struct nbq_deadline deadline,
		   unsigned int subclass, struct lockdep_map *nest_lock,
		   unsigned long ip)
{
	struct lockdep_map *waits = dep_map_of(lock);
	int ret;

	if (!is_wait(&deadline) || !is_tracked(waits))
		waits = NULL;
	begin_verb();
	if (waits)
		spin_acquire_nest(waits, subclass, 0, nest_lock, ip);
	ret = acquire(lock, deadline, waits, ip);
	if (ret) {
		if (waits)
			spin_release(waits, ip);
		preempt_enable();
		return ret;
	}
	mmiowb_spin_lock();
	if (waits)
		lock_acquired(waits, ip);
	else
		spin_acquire_nest(dep_map_of(lock), subclass, 1, nest_lock, ip);
	return 0;
}

/* An acquisition that cannot fail. */
static void acquire_untimed(struct nbq_X *lock, unsigned int subclass,
			     struct lockdep_map *nest_lock, unsigned long ip)
{
	struct lockdep_map *waits = is_tracked(dep_map_of(lock)) ? dep_map_of(lock) : NULL;

	bool reported = false;

	begin_verb();
	spin_acquire_nest(dep_map_of(lock), subclass, 0, nest_lock, ip);
	/* Nothing but a deadlock ends that; others in it may time out. */
	while (unlikely(acquire(lock, nbq_deadline_at(KTIME_MAX), waits, ip))) {
		if (!reported)
			nbq_report(NBQ_REPORT_DEADLOCK, lock, context_of_holder(lock), ip);
		reported = true;
		cpu_relax();
	}
	mmiowb_spin_lock();
	if (waits)
		lock_acquired(waits, ip);
}

int nbq_X_lock_timeout(struct nbq_X *lock, ktime_t patience)
{
	return acquire_timed(lock, nbq_deadline_after(patience), 0, NULL,
				  _RET_IP_);
}
EXPORT_SYMBOL_GPL(nbq_X_lock_timeout);

int nbq_X_lock_until(struct nbq_X *lock, ktime_t deadline)
{
	return acquire_timed(lock, nbq_deadline_at(deadline), 0, NULL,
				  _RET_IP_);
}
EXPORT_SYMBOL_GPL(nbq_X_lock_until);

bool nbq_X_trylock(struct nbq_X *lock)
{
	return !acquire_timed(lock, nbq_deadline_at(KTIME_MIN), 0, NULL,
				   _RET_IP_);
}
EXPORT_SYMBOL_GPL(nbq_X_trylock);

void nbq_X_lock(struct nbq_X *lock) __acquires(lock)
{
	acquire_untimed(lock, 0, NULL, _RET_IP_);
	__acquire(lock);
}
EXPORT_SYMBOL_GPL(nbq_X_lock);

#ifdef CONFIG_DEBUG_LOCK_ALLOC
int __nbq_X_lock_timeout_nested(struct nbq_X *lock, ktime_t patience,
				unsigned int subclass,
				struct lockdep_map *nest_lock)
{
	return acquire_timed(lock, nbq_deadline_after(patience), subclass,
				  nest_lock, _RET_IP_);
}
EXPORT_SYMBOL_GPL(__nbq_X_lock_timeout_nested);

int __nbq_X_lock_until_nested(struct nbq_X *lock, ktime_t deadline,
			      unsigned int subclass,
			      struct lockdep_map *nest_lock)
{
	return acquire_timed(lock, nbq_deadline_at(deadline), subclass,
				  nest_lock, _RET_IP_);
}
EXPORT_SYMBOL_GPL(__nbq_X_lock_until_nested);

void __nbq_X_lock_nested(struct nbq_X *lock, unsigned int subclass,
			 struct lockdep_map *nest_lock) __acquires(lock)
{
	acquire_untimed(lock, subclass, nest_lock, _RET_IP_);
	__acquire(lock);
}
EXPORT_SYMBOL_GPL(__nbq_X_lock_nested);
#endif
