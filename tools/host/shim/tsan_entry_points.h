/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The entry points that code compiled with gcc's -fsanitize=thread calls: before each
 * plain access, and in the place of each atomic one. A file that answers the calls
 * includes this header once, behind the hooks that it defines:
 *
 *	tsan_read(address, size, caller), tsan_write(address, size, caller)
 *		Before a plain access.
 *	tsan_range(address, size, plain, caller)
 *		Before a plain access to a range; @plain is tsan_read or tsan_write.
 *	value = tsan_load(address, size, caller)
 *	tsan_store(address, value, size, caller)
 *		Make an atomic load and store. The size is at most 8.
 *	tsan_modify(address, caller)
 *		Before an atomic read-modify-write; a failed compare-and-swap is one.
 *
 * One thread runs at a time: the memory order of an access is ignored. Fences are left to
 * the file.
 */
#include <stddef.h>

#define CALLER	__builtin_return_address(0)

void __tsan_init(void);
void __tsan_init(void)
{
}

void __tsan_func_entry(void *caller);
void __tsan_func_entry(void *caller)
{
}

void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
}

#define DEFINE_PLAIN(name, size, hook)					\
void name##size(void *address);						\
void name##size(void *address)						\
{									\
	hook(address, size, CALLER);					\
}

#define DEFINE_SIZE(size)						\
	DEFINE_PLAIN(__tsan_read, size, tsan_read)			\
	DEFINE_PLAIN(__tsan_write, size, tsan_write)			\
	DEFINE_PLAIN(__tsan_unaligned_read, size, tsan_read)		\
	DEFINE_PLAIN(__tsan_unaligned_write, size, tsan_write)		\
	DEFINE_PLAIN(__tsan_volatile_read, size, tsan_read)		\
	DEFINE_PLAIN(__tsan_volatile_write, size, tsan_write)

DEFINE_SIZE(1)
DEFINE_SIZE(2)
DEFINE_SIZE(4)
DEFINE_SIZE(8)
DEFINE_SIZE(16)

#define DEFINE_RANGE(name, hook)					\
void name(void *address, size_t size);					\
void name(void *address, size_t size)					\
{									\
	tsan_range(address, size, hook, CALLER);			\
}

DEFINE_RANGE(__tsan_read_range, tsan_read)
DEFINE_RANGE(__tsan_write_range, tsan_write)

#define DEFINE_LOAD_AND_STORE(type, prefix)				\
type prefix##_load(const type *address, int order);			\
type prefix##_load(const type *address, int order)			\
{									\
	return tsan_load(address, sizeof(type), CALLER);		\
}									\
									\
void prefix##_store(type *address, type value, int order);		\
void prefix##_store(type *address, type value, int order)		\
{									\
	tsan_store(address, value, sizeof(type), CALLER);		\
}

#define DEFINE_FETCH(type, prefix, suffix, operation)			\
type prefix##suffix(type *address, type value, int order);		\
type prefix##suffix(type *address, type value, int order)		\
{									\
	tsan_modify(address, CALLER);					\
	return operation(address, value, __ATOMIC_RELAXED);		\
}

#define DEFINE_COMPARE_EXCHANGE(type, prefix, suffix)			\
int prefix##suffix(type *address, type *expected, type value,		\
		   int order, int failure_order);			\
int prefix##suffix(type *address, type *expected, type value,		\
		   int order, int failure_order)			\
{									\
	tsan_modify(address, CALLER);					\
	return __atomic_compare_exchange_n(address, expected, value, 0,	\
					   __ATOMIC_RELAXED,		\
					   __ATOMIC_RELAXED);		\
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
