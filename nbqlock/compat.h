/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What differs between kernels, and between a module and built-in code. All other code is written
 * for the newest kernel. As far as possible, this file defines what older kernels lack, under the
 * name that it has in the newest.
 */
#ifndef _NBQLOCK_COMPAT_H
#define _NBQLOCK_COMPAT_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/version.h>

/*
 * What the patches for a kernel tree leave out: the queue locks, with what only they need; and
 * parameters, and guards that may fail.
 */
#define NBQ_QUEUE_LOCKS
#define NBQ_OUT_OF_TREE

/*
 * For clang's context analysis, since Linux 7.0: which operations acquire and release. In older
 * kernels sparse is told nothing: it follows an acquisition that can fail only through macros
 * which hide the operations' names.
 */
#ifdef context_lock_struct
#define __nbq_acquires(lock)		__acquires(lock)
#define __nbq_cond_acquires(ret, lock)	__cond_acquires(ret, lock)
#define __nbq_releases(lock)		__releases(lock)
#define __nbq_acquire(lock)		__acquire(lock)
#define __nbq_release(lock)		__release(lock)
#define __nbq_lock_struct(name)		context_lock_struct(name)
#else
#define __nbq_acquires(lock)
#define __nbq_cond_acquires(ret, lock)
#define __nbq_releases(lock)
#define __nbq_acquire(lock)		((void)0)
#define __nbq_release(lock)		((void)0)
#define __nbq_lock_struct(name)		struct name
#endif

/* Guards: since Linux 6.5, and in older kernels to which they were ported. */
#if KERNEL_VERSION(6, 5, 0) <= LINUX_VERSION_CODE || defined(DEFINE_LOCK_GUARD_1)
#define __NBQ_GUARDS
#elif defined(__has_include)
#if __has_include("linux/cleanup.h")
#define __NBQ_GUARDS
#endif
#endif

#ifdef __NBQ_GUARDS
#include <linux/cleanup.h>
#ifndef DECLARE_LOCK_GUARD_1_ATTRS
#define DECLARE_LOCK_GUARD_1_ATTRS(_name, _lock, _unlock)
#endif
#endif

/* Since Linux 6.5. */
#ifndef try_cmpxchg_local
#define try_cmpxchg_local(_ptr, _old, _new)						\
({											\
	__typeof__(*(_ptr)) __expected = *(_old);					\
											\
	*(_old) = cmpxchg_local((_ptr), __expected, (_new));				\
	*(_old) == __expected;								\
})
#endif

/* Since Linux 6.6, and in later stable kernels. */
#ifndef __counted_by
#define __counted_by(member)
#endif

/* contention_begin and contention_end are exported since Linux 6.7. */
#if !defined(MODULE) || KERNEL_VERSION(6, 7, 0) <= LINUX_VERSION_CODE
#define NBQ_CONTENTION_EVENTS
#endif

/* A module needs no static nodes: its symbols cannot be used before its pools are filled. */
#if defined(MODULE) && !defined(NBQ_STATIC_NODES)
#define NBQ_STATIC_NODES	0
#endif

#endif
