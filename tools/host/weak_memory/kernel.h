/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel that GenMC runs the shipped files in: those headers of tools/host/shim
 * that are others here, by their guards, in front of each file. A thread is a CPU.
 *
 * Fully ordered swaps are seq_cst in C11's models, and relaxed ones between two full barriers in
 * the kernel's (MODEL_LKMM), as in GenMC's own lkmm.h.
 */
#ifndef WEAK_MEMORY_KERNEL_H
#define WEAK_MEMORY_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

/* GenMC's own. */
void __VERIFIER_assume(int) __attribute__((__nothrow__));
void __VERIFIER_lkmm_fence(const char *);

#define SHIM_HOST_H
/* Main, three threads, and a CPU on the other socket for main. */
#define SHIM_CPUS		5
#define SHIM_CPU_NUMBER(index)	(index)
#define SHIM_CPU_INDEX(number)	(number)
#define shim_stopped_cpu	SHIM_CPUS
#define shim_moving_cpu		SHIM_CPUS
extern _Thread_local unsigned int shim_cpu, shim_level;
extern _Thread_local int shim_preempt_off, shim_irqs_off, shim_bh_off;
void shim_wait_by_hardware(const void *word);

static inline bool shim_vcpu_is_preempted(unsigned int cpu)
{
	return false;
}

#define SHIM_LINUX_INSTRUCTION_POINTER_H
#define _RET_IP_	0UL

#define SHIM_TRACE_EVENTS_LOCK_H
#define shim_contention_is_traced		false
#define trace_contention_begin_enabled()	false
#define trace_contention_begin(lock, flags)	((void)(lock))
#define trace_contention_end(lock, ret)		((void)(lock))

/* The client defines them all, with nodes in the pools. */
#define SHIM_LINUX_PERCPU_H
#define DECLARE_PER_CPU(type, name)	extern __typeof__(type) name[SHIM_CPUS]
#define DEFINE_PER_CPU(type, name)	DECLARE_PER_CPU(type, name)
#define per_cpu(name, cpu)		((name)[cpu])
#define this_cpu_ptr(ptr)		(&(*(ptr))[shim_cpu])
#define this_cpu_read(name)		((name)[shim_cpu])
#define this_cpu_write(name, value)	((name)[shim_cpu] = (value))

#define SHIM_ACCESS_H
#ifdef MODEL_LKMM
#define SHIM_FENCE(order)							\
	__VERIFIER_lkmm_fence((order) == __ATOMIC_SEQ_CST ? "mb" :		\
			      (order) == __ATOMIC_ACQUIRE ? "rmb" : "wmb")
#define FENCED(fence, order)							\
	do { if ((order) == __ATOMIC_SEQ_CST) __VERIFIER_lkmm_fence(fence); } while (0)
#define ORDER(order)		((order) == __ATOMIC_SEQ_CST ? __ATOMIC_RELAXED : (order))
#else
#define FENCED(fence, order)	do { } while (0)
#define ORDER(order)		(order)
#endif

/*
 * GenMC knows no accesses of mixed size, which are made to the hybrid's word alone: whatever has 16
 * bits is a half of one. A load reads the word. A store is an atomic operation on it: of 0, one
 * that always succeeds; else one that other writes divide from its load are not explored.
 */
#define IS_HALF(ptr)		(sizeof(*(ptr)) == 2)
#define WORD_OF(ptr)		((unsigned int *)((unsigned long)(ptr) & ~3UL))
#define SHIFT_OF(ptr)		(((unsigned long)(ptr) & 2) * 8)
#define HALF_OF(ptr)		(0xffffU << SHIFT_OF(ptr))

#define SHIM_LOAD(ptr, order)							\
({										\
	__typeof__(*(ptr) + 0) __loaded;					\
										\
	if (IS_HALF(ptr))							\
		__loaded = (__typeof__(*(ptr) + 0))(unsigned long)		\
			(__atomic_load_n(WORD_OF(ptr), (order)) >> SHIFT_OF(ptr) & 0xffff); \
	else									\
		__loaded = (__typeof__(*(ptr) + 0))__atomic_load_n((ptr), (order)); \
	__loaded;								\
})

#define SHIM_STORE(ptr, value, order)						\
do {										\
	__typeof__(*(ptr)) __value = (value);					\
										\
	if (!IS_HALF(ptr)) {							\
		__atomic_store_n((ptr), __value, (order));			\
	} else if (!__value) {							\
		__atomic_fetch_and(WORD_OF(ptr), ~HALF_OF(ptr), (order));	\
	} else {								\
		unsigned int __word = __atomic_load_n(WORD_OF(ptr), __ATOMIC_RELAXED); \
		unsigned int __new = (__word & ~HALF_OF(ptr)) |			\
			(unsigned int)(unsigned long)__value << SHIFT_OF(ptr);	\
										\
		__VERIFIER_assume(__atomic_compare_exchange_n(WORD_OF(ptr), &__word, __new, \
							      0, (order), __ATOMIC_RELAXED)); \
	}									\
} while (0)

#define SHIM_XCHG(ptr, value, order)						\
({										\
	__typeof__(*(ptr)) __value = (value), __was;				\
										\
	FENCED("ba", order);							\
	__was = __atomic_exchange_n((ptr), __value, ORDER(order));		\
	FENCED("aa", order);							\
	__was;									\
})

#define SHIM_CMPXCHG(ptr, expected, value, order)				\
({										\
	__typeof__(*(ptr)) __found = (expected), __value = (value);		\
										\
	FENCED("ba", order);							\
	__atomic_compare_exchange_n((ptr), &__found, __value, 0, ORDER(order),	\
				    __ATOMIC_RELAXED);				\
	FENCED("aa", order);							\
	__found;								\
})

#define SHIM_TRY_CMPXCHG(ptr, expected, value, order)				\
({										\
	__typeof__(*(ptr)) __was = *(expected);					\
										\
	*(expected) = SHIM_CMPXCHG((ptr), __was, (value), order);		\
	*(expected) == __was;							\
})

#define SHIM_CMPXCHG_LOCAL(ptr, expected, value)				\
	SHIM_CMPXCHG((ptr), (expected), (value), __ATOMIC_RELAXED)

#define SHIM_ADD_RETURN(ptr, value, order)					\
({										\
	__typeof__(*(ptr)) __sum;						\
										\
	FENCED("ba", order);							\
	__sum = __atomic_fetch_add((ptr), (value), ORDER(order)) + (value);	\
	FENCED("aa", order);							\
	__sum;									\
})

#include "../explore/spin_policy.h"
/* A newcomer enqueues at its first poll. */
#undef HAS_POLLED
#define HAS_POLLED(...)		true

#endif
