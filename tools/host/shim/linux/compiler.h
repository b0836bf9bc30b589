/* SPDX-License-Identifier: GPL-2.0 */
/* Annotations, and accesses that happen once and untorn, in no order. */
#ifndef SHIM_LINUX_COMPILER_H
#define SHIM_LINUX_COMPILER_H

#include <access.h>
#include <linux/types.h>

#define likely(condition)	__builtin_expect(!!(condition), 1)
#define unlikely(condition)	__builtin_expect(!!(condition), 0)
#define noinline		__attribute__((__noinline__))
#undef __always_inline
/* tools/host/explore: a function's locals go with it, when it returns. */
#ifdef SHIM_NO_INLINE
#define __always_inline		inline
#else
#define __always_inline		inline __attribute__((__always_inline__))
#endif
#undef __counted_by		/* newer headers of the C library have one, too */
#define __counted_by(member)
#define __must_check		__attribute__((__warn_unused_result__))

/* Nobody here checks that who acquires also releases. */
#define __acquires(lock)
#define __releases(lock)
#define __acquire(lock)		((void)0)
#define __release(lock)		((void)0)

#define ___PASTE(a, b)		a##b
#define __PASTE(a, b)		___PASTE(a, b)

#define barrier()		__asm__ volatile("" ::: "memory")
#define READ_ONCE(x)		SHIM_LOAD(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, value)	SHIM_STORE(&(x), (value), __ATOMIC_RELAXED)
/* Of a word only; one that nothing but a dependency orders is no race for the kernel. */
#define data_race(word)		__atomic_load_n(&(word), __ATOMIC_RELAXED)

#endif
