/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Every access to shared memory that the shipped files make by name, in one
 * place: the macros SHIM_LOAD, SHIM_STORE, SHIM_XCHG, SHIM_ADD_RETURN,
 * SHIM_CMPXCHG, SHIM_TRY_CMPXCHG and SHIM_CMPXCHG_LOCAL.
 *
 * Rules
 *	linux/atomic.h and linux/compiler.h spell the kernel's names with these
 *	macros and with nothing else.
 *	Before each access (and in each cpu_relax()) the running thread calls
 *	shim_hook, if it has set one: there another context may run. An
 *	explorer of interleavings needs no more than a hook; or it puts an
 *	access.h of its own in front on the include path.
 *	What is loaded or stored to is evaluated once, as by the kernel's macros.
 *	Plain C accesses are not seen. In the shipped files these are to fields
 *	that no other context may access at that moment; thread sanitizer checks it.
 *	A failed compare-and-swap orders nothing, as in the kernel.
 */
#ifndef SHIM_ACCESS_H
#define SHIM_ACCESS_H

#include <access_hook.h>

/* Called in front of each access and in each cpu_relax(), where that is asked for. */
#ifdef SHIM_COUNTS_STEPS
void shim_step(void);
#else
static inline void shim_step(void)
{
}
#endif

/* Inline, whatever the flags: a hook may ask who has called it. */
static inline __attribute__((__always_inline__))
void shim_point(enum shim_op op, const volatile void *address)
{
	shim_step();
	if (__builtin_expect(shim_hook != 0, 0))
		shim_hook(op, (const void *)address);
}

#define SHIM_LOAD(ptr, order)						\
({									\
	__typeof__(ptr) __at = (ptr);					\
									\
	shim_point(SHIM_OP_LOAD, __at);					\
	__atomic_load_n(__at, (order));					\
})

#define SHIM_STORE(ptr, value, order)					\
do {									\
	__typeof__(ptr) __at = (ptr);					\
	__typeof__(*(ptr)) __value = (value);				\
									\
	shim_point(SHIM_OP_STORE, __at);				\
	__atomic_store_n(__at, __value, (order));			\
} while (0)

#define SHIM_XCHG(ptr, value, order)					\
({									\
	__typeof__(*(ptr)) __value = (value);				\
									\
	shim_point(SHIM_OP_XCHG, (ptr));				\
	__atomic_exchange_n((ptr), __value, (order));			\
})

#define SHIM_ADD_RETURN(ptr, value, order)				\
({									\
	shim_point(SHIM_OP_ADD, (ptr));					\
	__atomic_add_fetch((ptr), (value), (order));			\
})

/* The value found there: equal to what was expected if it swapped. */
#define SHIM_CMPXCHG(ptr, expected, value, order)			\
({									\
	__typeof__(*(ptr)) __found = (expected);			\
	__typeof__(*(ptr)) __value = (value);				\
									\
	shim_point(SHIM_OP_CMPXCHG, (ptr));				\
	__atomic_compare_exchange_n((ptr), &__found, __value, 0,	\
				    (order), __ATOMIC_RELAXED);		\
	__found;							\
})

/* True if it swapped; else what was found stands where the expected value did. */
#define SHIM_TRY_CMPXCHG(ptr, expected, value, order)			\
({									\
	__typeof__(*(ptr)) __value = (value);				\
									\
	shim_point(SHIM_OP_CMPXCHG, (ptr));				\
	__atomic_compare_exchange_n((ptr), (expected), __value, 0,	\
				    (order), __ATOMIC_RELAXED);		\
})

/*
 * In one step against interrupts on this CPU, and not against other CPUs: on
 * x86 an instruction without lock prefix. Where accesses are counted it must
 * not pass for an atomic operation.
 */
#ifdef SHIM_COUNTS_ACCESSES
#define SHIM_CMPXCHG_LOCAL	SHIM_READ_AND_WRITE
#else
#define SHIM_CMPXCHG_LOCAL(ptr, expected, value)			\
	SHIM_CMPXCHG((ptr), (expected), (value), __ATOMIC_RELAXED)
#endif

#endif
