/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's own tracepoints for waiting on a lock, which perf lock contention and others use.
 */
#ifndef _NBQ_CONTENTION_H
#define _NBQ_CONTENTION_H

#include <linux/kconfig.h>

#include "compat.h"

#ifdef NBQ_CONTENTION_EVENTS
#include <trace/events/lock.h>

/*
 * Is the start of a wait traced? Then it is announced before the attempt enqueues, as in
 * qspinlock: a tracing program that runs for long must not hold up the queue behind it.
 */
static inline bool nbq_contention_is_traced(void)
{
	return IS_ENABLED(CONFIG_LOCK_STAT) || trace_contention_begin_enabled();
}

/* The attempt begins to wait. */
static inline void nbq_contention_begin(const void *lock)
{
	trace_contention_begin((void *)lock, LCB_F_SPIN);
}

/* The attempt holds the lock, with @ret 0, or has failed with @ret. */
static inline void nbq_contention_end(const void *lock, int ret)
{
	trace_contention_end((void *)lock, ret);
}
#else
static inline bool nbq_contention_is_traced(void)
{
	return IS_ENABLED(CONFIG_LOCK_STAT);
}

static inline void nbq_contention_begin(const void *lock)
{
}

static inline void nbq_contention_end(const void *lock, int ret)
{
}
#endif

#endif
