/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An attempt to acquire, for preemption, lockdep and lock_stat: what the operations of all lock
 * types do before and after their acquire().
 */
#ifndef _NBQ_ATTEMPT_H
#define _NBQ_ATTEMPT_H

#include <asm/mmiowb.h>
#include <linux/kconfig.h>
#include <linux/lockdep.h>
#include <linux/preempt.h>
#include <linux/processor.h>

#include "internal.h"
#include "report.h"

#ifdef CONFIG_DEBUG_LOCK_ALLOC
#define nbq_dep_map_of(any)	(&(any)->dep_map)
#else
#define nbq_dep_map_of(any)	((struct lockdep_map *)NULL)
#endif

/*
 * Does lockdep record this attempt as one that waits, or as a trylock? As a trylock without
 * patience; and in an NMI, if its patience ends (Documentation/nbqlock.rst, "Lockdep").
 * A deadline that has passed counts as patience: to find out would cost a clock read.
 */
static __always_inline bool nbq_attempt_waits(const struct nbq_deadline *deadline)
{
	if (!IS_ENABLED(CONFIG_DEBUG_LOCK_ALLOC) || nbq_deadline_is_none(deadline))
		return false;
	return deadline->at == KTIME_MAX || !in_nmi();
}

/* lock_stat warns of contention on a lock that lockdep does not track. */
static __always_inline bool nbq_attempt_is_tracked(const struct lockdep_map *map)
{
#if defined(CONFIG_LOCK_STAT) && defined(lockdep_set_notrack_class)
	return map->key != &__lockdep_no_track__;
#else
	return true;
#endif
}

/* What nbq_attempt_record() has told lockdep. */
static __always_inline void nbq_attempt_recall(struct lockdep_map *map,
					       struct nbq_deadline *deadline,
					       unsigned int subclass)
{
#ifdef CONFIG_DEBUG_LOCK_ALLOC
	deadline->subclass = subclass;
	if (nbq_attempt_waits(deadline) && nbq_attempt_is_tracked(map))
		deadline->waits = map;
#endif
}

/**
 * nbq_attempt_record() - Tell lockdep of an attempt that waits.
 * @map: of the lock
 * @deadline: the patience of the attempt
 * @subclass: of the lock's class
 * @ip: the caller of the operation
 *
 * Before it waits, as the kernel's own locks do: else a deadlock that only the patience ends
 * would never be reported.
 *
 * Context: Any, preemption off.
 */
static __always_inline void nbq_attempt_record(struct lockdep_map *map,
					       struct nbq_deadline *deadline,
					       unsigned int subclass, unsigned long ip)
{
	nbq_attempt_recall(map, deadline, subclass);
#ifdef CONFIG_DEBUG_LOCK_ALLOC
	if (deadline->waits)
		spin_acquire(map, subclass, 0, ip);
#endif
}

/**
 * nbq_attempt_end() - The attempt is over, for preemption and lockdep.
 * @map: of the lock
 * @deadline: that of the attempt, with what was recorded of it
 * @ret: 0 if the lock was acquired
 * @ip: the caller of the operation
 *
 * Context: Any. Turns preemption on if the attempt has failed.
 * Return: @ret.
 */
static __always_inline int nbq_attempt_end(struct lockdep_map *map,
					   const struct nbq_deadline *deadline, int ret,
					   unsigned long ip)
{
	if (!ret)
		mmiowb_spin_lock();
#ifdef CONFIG_DEBUG_LOCK_ALLOC
	if (ret && deadline->waits)
		spin_release(deadline->waits, ip);
	else if (!ret && deadline->waits)
		lock_acquired(deadline->waits, ip);
	else if (!ret)
		spin_acquire(map, deadline->subclass, 1, ip);
#endif
	if (ret)
		preempt_enable();
	return ret;
}

/* An attempt that began at that time has failed, and this context, encoded, holds the lock. */
static inline void nbq_timeout_fill(struct nbq_timeout *info, u16 holder, u64 begin)
{
	info->waited_ns = nbq_clock_since(begin);
	info->holder_cpu = holder ? (int)nbq_context_cpu(holder) : -1;
	info->holder_level = nbq_context_level(holder);
}

#endif
