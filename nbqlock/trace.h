/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tracepoints of the locks, system "nbqlock": a place is abandoned, an abandoned node is
 * reclaimed, a pool grows. None without contention.
 *
 * Waits are traced by the kernel's own contention_begin and contention_end, see contention.h.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM nbqlock

#if !defined(_NBQ_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _NBQ_TRACE_H

#include <linux/tracepoint.h>

#include "internal.h"

/* A waiter has given up. The lock is in use by the caller; the node may be free. */
TRACE_EVENT(nbq_abandon,
	    TP_PROTO(const void *lock, bool abandoned, int ret),
	    TP_ARGS(lock, abandoned, ret),
	    TP_STRUCT__entry(__field(const void *, lock)
			     __field(bool, abandoned)
			     __field(int, ret)),
	    TP_fast_assign(__entry->lock = lock;
			   __entry->abandoned = abandoned;
			   __entry->ret = ret;),
	    TP_printk("lock=%p node=%s ret=%d", __entry->lock,
		      __entry->abandoned ? "abandoned" : "taken", __entry->ret)
);

/* A waiter is about to reclaim an abandoned node. */
TRACE_EVENT(nbq_reclaim,
	    TP_PROTO(const struct nbq_node *abandoned),
	    TP_ARGS(abandoned),
	    TP_STRUCT__entry(__field(const void *, abandoned)
			     __field(unsigned int, cpu)),
	    TP_fast_assign(__entry->abandoned = abandoned;
			   __entry->cpu = abandoned->pool->cpu;),
	    TP_printk("node=%p of_cpu=%u", __entry->abandoned, __entry->cpu)
);

/* A pool has grown from that size. */
TRACE_EVENT(nbq_pool_grow,
	    TP_PROTO(const struct nbq_pool *pool, unsigned int from),
	    TP_ARGS(pool, from),
	    TP_STRUCT__entry(__field(unsigned int, cpu)
			     __field(unsigned int, level)
			     __field(unsigned int, from)
			     __field(unsigned int, to)),
	    TP_fast_assign(__entry->cpu = pool->cpu;
			   __entry->level = pool->level;
			   __entry->from = from;
			   __entry->to = pool->size;),
	    TP_printk("of_cpu=%u level=%u from=%u to=%u", __entry->cpu,
		      __entry->level, __entry->from, __entry->to)
);

#endif

/* For trace.c, with -I: its folder. */
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
