/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's tracepoints for waiting: here they are counted. */
#ifndef SHIM_TRACE_EVENTS_LOCK_H
#define SHIM_TRACE_EVENTS_LOCK_H

#include <stdbool.h>

#define LCB_F_SPIN	1U

extern unsigned int shim_contention_begins;
extern unsigned int shim_contention_ends;
extern int shim_contention_ret;		/* of the last one */
/* Whether contention_begin is traced. */
extern bool shim_contention_is_traced;

static inline bool trace_contention_begin_enabled(void)
{
	return shim_contention_is_traced;
}

static inline void trace_contention_begin(void *lock, unsigned int flags)
{
	__atomic_fetch_add(&shim_contention_begins, 1, __ATOMIC_RELAXED);
}

static inline void trace_contention_end(void *lock, int ret)
{
	__atomic_fetch_add(&shim_contention_ends, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&shim_contention_ret, ret, __ATOMIC_RELAXED);
}

#endif
