// SPDX-License-Identifier: GPL-2.0
/*
 * What code that was compiled with gcc's -fsanitize=thread calls before each plain
 * access, and in the place of each atomic one: here each is charged by the coherence
 * model. This file itself, and all of the simulation, are compiled without.
 *
 * Not charged are the stack of the running CPU and thread-local variables, which stand for
 * registers and for per-CPU state of the kernel.
 */
#define _GNU_SOURCE	/* dl_iterate_phdr */
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <fiber.h>

#include "costs.h"
#include "machine.h"
#include "memory.h"
#include "sanitizer.h"

#define CALLER	__builtin_return_address(0)

static const char *tls_start;
static const char *tls_end;

static int note_tls(struct dl_phdr_info *info, size_t size, void *unused)
{
	int i;

	(void)size;
	(void)unused;
	for (i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type != PT_TLS)
			continue;
		tls_start = info->dlpi_tls_data;
		tls_end = tls_start + info->dlpi_phdr[i].p_memsz;
	}
	return 1;	/* the program itself is the first, and all that is of interest */
}

void sanitizer_start(void)
{
	dl_iterate_phdr(note_tls, NULL);
}

static bool is_charged(const volatile void *address)
{
	const char *at = (const char *)address;
	const char *stack;

	if (!this_cpu || (at >= tls_start && at < tls_end))
		return false;
	stack = fiber_stacks[this_cpu->number];
	return at < stack || at >= stack + FIBER_STACK;
}

/* Come back when the CPU has the line to read. */
static void get(const volatile void *address, const void *from)
{
	u64 done = memory_read(this_cpu, address, this_cpu->clock, from);
	bool is_hit = done == this_cpu->clock + costs.hit;

	this_cpu->clock = done;
	if (!is_hit)
		machine_arrive();
}

/* A plain read is carried out by the compiled code: what it reads must be in memory. */
static void read_plain(const volatile void *address, unsigned int size, const void *from)
{
	if (!is_charged(address))
		return;
	machine_arrive();
	if (store_buffer_find(address, size)) {
		store_buffer_drain();
		machine_arrive();
	}
	get(address, from);
}

static void write_plain(void *address, unsigned int size, const void *from)
{
	if (!is_charged(address))
		return;
	machine_arrive();
	/* A marked store to the same place must not come later than this one. */
	if (store_buffer_find(address, size)) {
		store_buffer_drain();
		machine_arrive();
	}
	if (!this_cpu->stores.count && memory_is_owned(this_cpu, address, this_cpu->clock))
		machine_spend(costs.hit);
	else
		store_buffer_put(address, 0, 0, from);
}

static u64 load(const volatile void *address, unsigned int size, const void *from)
{
	const struct store *own;
	u64 value = 0;

	if (is_charged(address)) {
		machine_arrive();
		own = store_buffer_find(address, size);
		if (own) {
			machine_spend(costs.hit);
			return own->value;
		}
		get(address, from);
	}
	memcpy(&value, (const void *)address, size);
	return value;
}

static void store(void *address, u64 value, unsigned int size, const void *from)
{
	if (is_charged(address)) {
		machine_arrive();
		if (this_cpu->stores.count ||
		    !memory_is_owned(this_cpu, address, this_cpu->clock)) {
			store_buffer_put(address, value, size, from);
			return;
		}
		machine_spend(costs.hit);
	}
	memcpy(address, &value, size);
}

/* Come back when the CPU has the line alone, and no store of its own is on its way. */
static void own(void *address, const void *from)
{
	if (!is_charged(address))
		return;
	machine_arrive();
	if (this_cpu->stores.count) {
		store_buffer_drain();
		machine_arrive();
	}
	this_cpu->clock = memory_own(this_cpu, address, this_cpu->clock, costs.atomic, from);
	machine_arrive();
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

#define DEFINE_PLAIN(name, size, charge)				\
void name##size(void *address);						\
void name##size(void *address)						\
{									\
	charge(address, size, CALLER);					\
}

#define DEFINE_SIZE(size)						\
	DEFINE_PLAIN(__tsan_read, size, read_plain)			\
	DEFINE_PLAIN(__tsan_write, size, write_plain)			\
	DEFINE_PLAIN(__tsan_unaligned_read, size, read_plain)		\
	DEFINE_PLAIN(__tsan_unaligned_write, size, write_plain)		\
	DEFINE_PLAIN(__tsan_volatile_read, size, read_plain)		\
	DEFINE_PLAIN(__tsan_volatile_write, size, write_plain)

DEFINE_SIZE(1)
DEFINE_SIZE(2)
DEFINE_SIZE(4)
DEFINE_SIZE(8)
DEFINE_SIZE(16)

/* A range is charged line by line. */
#define DEFINE_RANGE(name, charge)					\
void name(char *address, size_t size);					\
void name(char *address, size_t size)					\
{									\
	size_t at;							\
									\
	for (at = 0; at < size; at += 64)				\
		charge(address + at, size - at < 64 ? size - at : 64, CALLER); \
}

DEFINE_RANGE(__tsan_read_range, read_plain)
DEFINE_RANGE(__tsan_write_range, write_plain)

#define DEFINE_LOAD_AND_STORE(type, prefix)				\
type prefix##_load(const type *address, int order);			\
type prefix##_load(const type *address, int order)			\
{									\
	(void)order;							\
	return load(address, sizeof(type), CALLER);			\
}									\
									\
void prefix##_store(type *address, type value, int order);		\
void prefix##_store(type *address, type value, int order)		\
{									\
	(void)order;							\
	store(address, value, sizeof(type), CALLER);			\
}

#define DEFINE_FETCH(type, prefix, suffix, operation)			\
type prefix##suffix(type *address, type value, int order);		\
type prefix##suffix(type *address, type value, int order)		\
{									\
	(void)order;							\
	own(address, CALLER);						\
	return operation(address, value, __ATOMIC_RELAXED);		\
}

/* A failed one has had the line, too, as on x86. */
#define DEFINE_COMPARE_EXCHANGE(type, prefix, suffix)			\
int prefix##suffix(type *address, type *expected, type value,		\
		   int order, int failure_order);			\
int prefix##suffix(type *address, type *expected, type value,		\
		   int order, int failure_order)			\
{									\
	(void)order;							\
	(void)failure_order;						\
	own(address, CALLER);						\
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

/* Only a full barrier waits on x86; the others cost nothing. */
void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order)
{
	if (order != __ATOMIC_SEQ_CST || !this_cpu)
		return;
	machine_arrive();
	if (this_cpu->stores.count) {
		store_buffer_drain();
		machine_arrive();
	}
	machine_spend(costs.fence);
}
