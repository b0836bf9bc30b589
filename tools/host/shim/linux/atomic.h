/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's atomic operations, each with the ordering that its name means. */
#ifndef SHIM_LINUX_ATOMIC_H
#define SHIM_LINUX_ATOMIC_H

#include <access.h>
#include <host.h>
#include <linux/compiler.h>

#define smp_load_acquire(ptr)	SHIM_LOAD((ptr), __ATOMIC_ACQUIRE)
/* Sanitizers do not know fences; what these keep apart is marked. access.h may know one. */
#ifdef SHIM_FENCE
#elif defined(__SANITIZE_THREAD__) || defined(SHIM_COUNTS_ACCESSES)
#define SHIM_FENCE(order)	do { } while (0)
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SHIM_FENCE(order)	do { } while (0)
#endif
#endif
#ifndef SHIM_FENCE
#define SHIM_FENCE(order)	__atomic_thread_fence(order)
#endif

#define smp_mb()		SHIM_FENCE(__ATOMIC_SEQ_CST)
#define smp_rmb()		SHIM_FENCE(__ATOMIC_ACQUIRE)
#define smp_wmb()		SHIM_FENCE(__ATOMIC_RELEASE)

#define smp_store_release(ptr, value) \
	SHIM_STORE((ptr), (value), __ATOMIC_RELEASE)

/* Each poll in vain is followed by a wait by hardware: host.h. */
#define smp_cond_load_relaxed(ptr, condition)			\
({								\
	__typeof__(*(ptr)) VAL;					\
								\
	while (VAL = READ_ONCE(*(ptr)), !(condition))		\
		shim_wait_by_hardware((const void *)(ptr));	\
	VAL;							\
})

/* No suffix: fully ordered. */
#define xchg(ptr, value)	SHIM_XCHG((ptr), (value), __ATOMIC_SEQ_CST)
#define xchg_acquire(ptr, value) SHIM_XCHG((ptr), (value), __ATOMIC_ACQUIRE)
#define xchg_release(ptr, value) SHIM_XCHG((ptr), (value), __ATOMIC_RELEASE)
#define xchg_relaxed(ptr, value) SHIM_XCHG((ptr), (value), __ATOMIC_RELAXED)

#define cmpxchg(ptr, old, new) \
	SHIM_CMPXCHG((ptr), (old), (new), __ATOMIC_SEQ_CST)
#define cmpxchg_acquire(ptr, old, new) \
	SHIM_CMPXCHG((ptr), (old), (new), __ATOMIC_ACQUIRE)
#define cmpxchg_release(ptr, old, new) \
	SHIM_CMPXCHG((ptr), (old), (new), __ATOMIC_RELEASE)
#define cmpxchg_relaxed(ptr, old, new) \
	SHIM_CMPXCHG((ptr), (old), (new), __ATOMIC_RELAXED)
/* Here old points to what is expected, and to what was found afterwards. */
#define try_cmpxchg_acquire(ptr, old, new) \
	SHIM_TRY_CMPXCHG((ptr), (old), (new), __ATOMIC_ACQUIRE)
#define try_cmpxchg_relaxed(ptr, old, new) \
	SHIM_TRY_CMPXCHG((ptr), (old), (new), __ATOMIC_RELAXED)
/* A counter that is read relaxed and raised in full order. */
typedef struct {
	long counter;
} atomic_long_t;

#define ATOMIC_LONG_INIT(value)		{ (value) }
#define atomic_long_read(v)		SHIM_LOAD(&(v)->counter, __ATOMIC_RELAXED)
#define atomic_long_inc_return(v)	\
	SHIM_ADD_RETURN(&(v)->counter, 1, __ATOMIC_SEQ_CST)

/* One step against interrupts on this CPU only, and orders nothing. */
#define cmpxchg_local(ptr, old, new) \
	SHIM_CMPXCHG_LOCAL((ptr), (old), (new))

#endif
