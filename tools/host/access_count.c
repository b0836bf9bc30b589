// SPDX-License-Identifier: GPL-2.0
/*
 * What code that was compiled with -fsanitize=thread calls. This file itself, and
 * the shim, are compiled without.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "access_count.h"

#define REGIONS	32

struct accesses access_counts[MEMORIES];
bool access_counting;

static struct {
	const char *start;
	const char *end;
	enum memory memory;
} regions[REGIONS];
static unsigned int regions_declared;
static const char *stack_base;

void access_forget_memory(void)
{
	stack_base = __builtin_frame_address(0);
	regions_declared = 0;
}

void access_declare(const void *start, size_t size, enum memory memory)
{
	if (regions_declared == REGIONS)
		abort();
	regions[regions_declared].start = start;
	regions[regions_declared].end = (const char *)start + size;
	regions[regions_declared].memory = memory;
	regions_declared++;
}

void access_declare_anew(const void *start, enum memory memory)
{
	unsigned int i;

	for (i = 0; i < regions_declared; i++) {
		if (regions[i].start == start)
			regions[i].memory = memory;
	}
}

static bool is_on_stack(const char *place)
{
	return place >= (const char *)__builtin_frame_address(0) &&
	       place < stack_base;
}

/* Where to count an access. */
static struct accesses *counts_of(const volatile void *address)
{
	static struct accesses not_counted;
	const char *place = (const char *)address;
	unsigned int i;

	if (!access_counting)
		return &not_counted;
	for (i = regions_declared; i--; ) {
		if (place >= regions[i].start && place < regions[i].end)
			return &access_counts[regions[i].memory];
	}
	if (is_on_stack(place))
		return &not_counted;
	fprintf(stderr, "access to %p, which is no memory that was declared\n",
		place);
	exit(1);
}

/* One of several words at once is not expected outside of the stack. */
static void only_on_stack(const void *address)
{
	if (!access_counting || is_on_stack(address))
		return;
	fprintf(stderr, "access to a range of memory at %p\n", address);
	exit(1);
}

void __tsan_init(void);
void __tsan_init(void)
{
}

void __tsan_func_entry(void *caller);
void __tsan_func_entry(void *caller)
{
	(void)caller;
}

void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
}

static void count_read(const volatile void *address)
{
	counts_of(address)->reads++;
}

static void count_write(const volatile void *address)
{
	counts_of(address)->writes++;
}

static void count_atomic(const volatile void *address)
{
	counts_of(address)->atomics++;
}

#define DEFINE_PLAIN(name, size, count)					\
void name##size(void *address);						\
void name##size(void *address)						\
{									\
	count(address);							\
}

#define DEFINE_SIZE(size)						\
	DEFINE_PLAIN(__tsan_read, size, count_read)			\
	DEFINE_PLAIN(__tsan_write, size, count_write)			\
	DEFINE_PLAIN(__tsan_unaligned_read, size, count_read)		\
	DEFINE_PLAIN(__tsan_unaligned_write, size, count_write)		\
	DEFINE_PLAIN(__tsan_volatile_read, size, count_read)		\
	DEFINE_PLAIN(__tsan_volatile_write, size, count_write)

DEFINE_SIZE(1)
DEFINE_SIZE(2)
DEFINE_SIZE(4)
DEFINE_SIZE(8)
DEFINE_SIZE(16)

#define DEFINE_RANGE(name)						\
void name(void *address, size_t size);					\
void name(void *address, size_t size)					\
{									\
	(void)size;							\
	only_on_stack(address);						\
}

DEFINE_RANGE(__tsan_read_range)
DEFINE_RANGE(__tsan_write_range)

/* Nobody else runs here: the order that was asked for makes no difference. */
#define DEFINE_LOAD_AND_STORE(type, prefix)				\
type prefix##_load(const type *address, int order);			\
type prefix##_load(const type *address, int order)			\
{									\
	(void)order;							\
	count_read(address);						\
	return __atomic_load_n(address, __ATOMIC_SEQ_CST);		\
}									\
									\
void prefix##_store(type *address, type value, int order);		\
void prefix##_store(type *address, type value, int order)		\
{									\
	(void)order;							\
	count_write(address);						\
	__atomic_store_n(address, value, __ATOMIC_SEQ_CST);		\
}

#define DEFINE_FETCH(type, prefix, suffix, operation)			\
type prefix##suffix(type *address, type value, int order);		\
type prefix##suffix(type *address, type value, int order)		\
{									\
	(void)order;							\
	count_atomic(address);						\
	return operation(address, value, __ATOMIC_SEQ_CST);		\
}

#define DEFINE_COMPARE_EXCHANGE(type, prefix, suffix)			\
int prefix##suffix(type *address, type *expected, type value,		\
		   int order, int failure_order);			\
int prefix##suffix(type *address, type *expected, type value,		\
		   int order, int failure_order)			\
{									\
	(void)order;							\
	(void)failure_order;						\
	count_atomic(address);						\
	return __atomic_compare_exchange_n(address, expected, value, 0,	\
					   __ATOMIC_SEQ_CST,		\
					   __ATOMIC_SEQ_CST);		\
}

#define DEFINE_ATOMIC(type, prefix)					\
	DEFINE_LOAD_AND_STORE(type, prefix)				\
	DEFINE_COMPARE_EXCHANGE(type, prefix, _compare_exchange_strong)	\
	DEFINE_COMPARE_EXCHANGE(type, prefix, _compare_exchange_weak)	\
	DEFINE_FETCH(type, prefix, _exchange, __atomic_exchange_n)	\
	DEFINE_FETCH(type, prefix, _fetch_add, __atomic_fetch_add)	\
	DEFINE_FETCH(type, prefix, _fetch_sub, __atomic_fetch_sub)	\
	DEFINE_FETCH(type, prefix, _fetch_and, __atomic_fetch_and)	\
	DEFINE_FETCH(type, prefix, _fetch_or, __atomic_fetch_or)	\
	DEFINE_FETCH(type, prefix, _fetch_xor, __atomic_fetch_xor)

DEFINE_ATOMIC(unsigned char, __tsan_atomic8)
DEFINE_ATOMIC(unsigned short, __tsan_atomic16)
DEFINE_ATOMIC(unsigned int, __tsan_atomic32)
DEFINE_ATOMIC(unsigned long, __tsan_atomic64)
