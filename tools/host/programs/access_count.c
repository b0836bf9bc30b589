// SPDX-License-Identifier: GPL-2.0
/*
 * What code that was compiled with -fsanitize=thread calls. This file itself, and
 * the shim, are compiled without.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void access_forget_memory(const void *stack)
{
	stack_base = stack;
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

static void tsan_read(const void *address, unsigned int size, const void *from)
{
	counts_of(address)->reads++;
}

static void tsan_write(const void *address, unsigned int size, const void *from)
{
	counts_of(address)->writes++;
}

/* An access to several words at once is not expected outside of the stack. */
static void tsan_range(const void *address, size_t size,
		       void (*plain)(const void *address, unsigned int size, const void *from),
		       const void *from)
{
	if (!access_counting || is_on_stack(address))
		return;
	fprintf(stderr, "access to a range of memory at %p\n", address);
	exit(1);
}

static unsigned long tsan_load(const void *address, unsigned int size, const void *from)
{
	unsigned long value = 0;

	counts_of(address)->reads++;
	memcpy(&value, address, size);
	return value;
}

static void tsan_store(void *address, unsigned long value, unsigned int size, const void *from)
{
	counts_of(address)->writes++;
	memcpy(address, &value, size);
}

static void tsan_modify(const void *address, const void *from)
{
	counts_of(address)->atomics++;
}

#include "tsan_entry_points.h"
