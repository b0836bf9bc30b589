/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An attempt to acquire, as preemption, lockdep and lock_stat see it: what the operations of
 * all lock types do around their acquire().
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

/**
 * nbq_attempt_begin() - Tell lockdep of an attempt that waits.
 * @map: of the lock
 * @deadline: the patience of the attempt
 * @subclass: of the lock's class
 * @ip: the caller of the operation
 *
 * Before it waits, as the kernel's own locks do: else a deadlock that only the patience ends
 * would never be reported.
 *
 * Context: Any, preemption off.
 * Return: @map if lockdep has recorded that this context waits; else NULL.
 */
static __always_inline struct lockdep_map *
nbq_attempt_begin(struct lockdep_map *map, const struct nbq_deadline *deadline,
		  unsigned int subclass, unsigned long ip)
{
	if (!nbq_attempt_waits(deadline) || !nbq_attempt_is_tracked(map))
		return NULL;
	spin_acquire(map, subclass, 0, ip);
	return map;
}

/**
 * nbq_attempt_end() - Tell lockdep what came of an attempt.
 * @map: of the lock
 * @waits: what nbq_attempt_begin() has returned
 * @ret: 0 if the lock was acquired
 * @subclass: of the lock's class
 * @ip: the caller of the operation
 *
 * Context: Any. Turns preemption on if the attempt has failed.
 * Return: @ret.
 */
static __always_inline int
nbq_attempt_end(struct lockdep_map *map, struct lockdep_map *waits, int ret,
		unsigned int subclass, unsigned long ip)
{
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
		spin_acquire(map, subclass, 1, ip);
	return 0;
}

/* An attempt that began at that time has failed, and this context, encoded, holds the lock. */
static inline void nbq_timeout_fill(struct nbq_timeout *info, u16 holder, u64 begin)
{
	info->waited_ns = nbq_clock_since(begin);
	info->holder_cpu = holder ? (int)nbq_context_cpu(holder) : -1;
	info->holder_level = nbq_context_level(holder);
}

#endif
