/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's accesses as the compiler's atomic operations, without the hook of
 * tools/host/shim/access.h: -fsanitize=thread turns each into a call of sanitizer.c,
 * which charges it. The kernel's full barriers are fences, which it turns into calls, too.
 */
#ifndef SHIM_ACCESS_H
#define SHIM_ACCESS_H

#include <access_hook.h>	/* for host.c, which the host tests have, too */

#define shim_point(op, address)		do { } while (0)
#define SHIM_FENCE(order)		__atomic_thread_fence(order)

#define SHIM_LOAD(ptr, order)		__atomic_load_n((ptr), (order))
#define SHIM_STORE(ptr, value, order)	__atomic_store_n((ptr), (value), (order))
#define SHIM_XCHG(ptr, value, order)	__atomic_exchange_n((ptr), (value), (order))
#define SHIM_ADD_RETURN(ptr, value, order) __atomic_add_fetch((ptr), (value), (order))

/* The value found there: equal to what was expected if it swapped. */
#define SHIM_CMPXCHG(ptr, expected, value, order)			\
({									\
	__typeof__(*(ptr)) __found = (expected);			\
									\
	__atomic_compare_exchange_n((ptr), &__found, (value), 0,	\
				    (order), __ATOMIC_RELAXED);		\
	__found;							\
})

/* True if it swapped; else what was found stands where the expected value did. */
#define SHIM_TRY_CMPXCHG(ptr, expected, value, order)			\
	__atomic_compare_exchange_n((ptr), (expected), (value), 0,	\
				    (order), __ATOMIC_RELAXED)

/* Without a lock prefix. */
#define SHIM_CMPXCHG_LOCAL		SHIM_READ_AND_WRITE

#endif
