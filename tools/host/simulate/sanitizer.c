// SPDX-License-Identifier: GPL-2.0
/*
 * What code that was compiled with gcc's -fsanitize=thread calls before each plain
 * access, and in the place of each atomic one: here each is charged by the coherence
 * model. This file itself, and all of the simulation, are compiled without.
 *
 * Not charged are the stack of the running CPU and thread-local variables, which stand for
 * registers and for per-CPU state of the kernel.
 */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <fiber.h>

#include "costs.h"
#include "machine.h"
#include "memory.h"

static bool is_charged(const volatile void *address)
{
	const char *at = (const char *)address;
	const char *stack;

	if (!this_cpu || !memory_has(address))
		return false;
	stack = fiber_stacks[this_cpu->number];
	return at < stack || at >= stack + FIBER_STACK;
}

/* Come back when no store of the CPU is on its way. */
static void arrive_without_stores(void)
{
	machine_arrive();
	if (this_cpu->stores.count) {
		store_buffer_drain();
		machine_arrive();
	}
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

/*
 * Before a plain access, which the compiled code makes itself: what it reads must be in
 * memory, and a marked store to the same place must not come later than what it writes.
 *
 * Return: true if the access is charged.
 */
static bool begin_plain(void *address, unsigned int size)
{
	if (!is_charged(address))
		return false;
	machine_arrive();
	if (store_buffer_find(address, size)) {
		store_buffer_drain();
		machine_arrive();
	}
	return true;
}

static void tsan_read(void *address, unsigned int size, const void *from)
{
	if (begin_plain(address, size))
		get(address, from);
}

static void tsan_write(void *address, unsigned int size, const void *from)
{
	if (!begin_plain(address, size))
		return;
	if (!this_cpu->stores.count && memory_is_owned(this_cpu, address, this_cpu->clock))
		machine_spend(costs.hit);
	else
		store_buffer_put(address, 0, 0, from);
}

/* A range is charged line by line. */
static void tsan_range(char *address, size_t size,
		       void (*plain)(void *address, unsigned int size, const void *from),
		       const void *from)
{
	size_t at;

	for (at = 0; at < size; at += 64)
		plain(address + at, size - at < 64 ? size - at : 64, from);
}

static u64 tsan_load(const volatile void *address, unsigned int size, const void *from)
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

static void tsan_store(void *address, u64 value, unsigned int size, const void *from)
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

/*
 * Come back when the CPU has the line alone, and no store of its own is on its way: a failed
 * compare-and-swap has had the line, too, as on x86.
 */
static void tsan_modify(void *address, const void *from)
{
	if (!is_charged(address))
		return;
	arrive_without_stores();
	this_cpu->clock = memory_own(this_cpu, address, this_cpu->clock, costs.atomic, from);
	machine_arrive();
}

/* The line comes while the CPU goes on; what accesses it by then waits for it. */
void simulate_prefetchw(const volatile void *address);
void simulate_prefetchw(const volatile void *address)
{
	if (!is_charged(address))
		return;
	machine_arrive();
	memory_own(this_cpu, address, this_cpu->clock, 0, __builtin_return_address(0));
	machine_spend(costs.hit);
}

/* Only a full barrier waits on x86; the others cost nothing. */
void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order)
{
	if (order != __ATOMIC_SEQ_CST || !this_cpu)
		return;
	arrive_without_stores();
	machine_spend(costs.fence);
}

#include <tsan_entry_points.h>
