/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tracepoints of the locks, system "nbqlock": a wait begins and ends, a place is abandoned, an
 * abandoned node is reclaimed. Without contention none is raised.
 *
 * The kernel's own contention_begin and contention_end trace waits, too (contention.h): those of
 * all of the kernel's locks, without the caller, the holder and the time.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM nbqlock

#if !defined(_NBQ_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _NBQ_TRACE_H

#include <linux/tracepoint.h>

#include "internal.h"

#ifndef NBQ_TRACE_HOLDER
#define NBQ_TRACE_HOLDER
/* The CPU of the context that holds the lock; -1: not known. @held_by: where the lock names it. */
static inline int nbq_trace_holder_cpu(const void *lock, const u16 *held_by)
{
	u16 holder;

#ifdef NBQ_QUEUE_LOCKS
	/* NULL: the lists of held locks of all CPUs are searched. */
	if (!held_by)
		holder = nbq_find_holder(lock);
	else
#endif
		holder = READ_ONCE(*held_by);
	return holder ? (int)nbq_context_cpu(holder) : -1;
}
#endif

/*
 * An attempt begins to wait. The first fields of this and of nbq_wait_end are the same, so that
 * both can be in one histogram: @waiters adds up to the number of those that wait.
 */
TRACE_EVENT(nbq_wait_begin,
	    TP_PROTO(const void *lock, const u16 *held_by, unsigned long caller),
	    TP_ARGS(lock, held_by, caller),
	    TP_STRUCT__entry(__field(const void *, lock)
			     __field(unsigned long, caller)
			     __field(int, waiters)
			     __field(int, holder_cpu)),
	    TP_fast_assign(__entry->lock = lock;
			   __entry->caller = caller;
			   __entry->waiters = 1;
			   __entry->holder_cpu = nbq_trace_holder_cpu(lock, held_by);),
	    TP_printk("lock=%pS caller=%pS holder_cpu=%d", __entry->lock,
		      (void *)__entry->caller, __entry->holder_cpu)
);

/*
 * An attempt that waited is over: it holds the lock, with @ret 0, or has failed. Also an attempt
 * whose deadlock was found before it waited. @counted: its nbq_wait_begin was raised. @began: the
 * time of its first poll; 0: not known.
 */
TRACE_EVENT(nbq_wait_end,
	    TP_PROTO(const void *lock, const u16 *held_by, unsigned long caller, int ret,
		     bool counted, u64 began),
	    TP_ARGS(lock, held_by, caller, ret, counted, began),
	    TP_STRUCT__entry(__field(const void *, lock)
			     __field(unsigned long, caller)
			     __field(int, waiters)
			     __field(int, holder_cpu)
			     __field(int, ret)
			     __field(u64, waited_ns)),
	    TP_fast_assign(__entry->lock = lock;
			   __entry->caller = caller;
			   __entry->waiters = counted ? -1 : 0;
			   __entry->holder_cpu = ret ? nbq_trace_holder_cpu(lock, held_by) :
						       (int)raw_smp_processor_id();
			   __entry->ret = ret;
			   __entry->waited_ns = began ? nbq_clock_since(began) : 0;),
	    TP_printk("lock=%pS caller=%pS holder_cpu=%d ret=%d waited_ns=%llu", __entry->lock,
		      (void *)__entry->caller, __entry->holder_cpu, __entry->ret,
		      __entry->waited_ns)
);

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
	    TP_printk("lock=%pS node=%s ret=%d", __entry->lock,
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

#ifdef NBQ_QUEUE_LOCKS
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

#endif

/* For trace.c, with -I: its folder. */
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
