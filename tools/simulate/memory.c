// SPDX-License-Identifier: GPL-2.0
/*
 * The directory of cache lines, and what its transfers cost.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "costs.h"
#include "machine.h"
#include "memory.h"
#include "simulate.h"

#define LINE_BITS	6
#define LINE_SIZE	(1UL << LINE_BITS)
#define SET_WORDS	(MOST_CPUS / 64)
#define NO_CPU		MOST_CPUS
#define ARENA_SIZE	(96UL << 20)
#define MOST_REGIONS	16

/**
 * struct line - a cache line
 * @key: its address, without the low bits; 0: the slot is free
 * @free_at: when the last transfer of it is over
 * @owner: who may write to it; NO_CPU: it has readers, or is in memory
 * @readers: a set of CPUs
 * @kind: what it is part of
 */
struct line {
	uintptr_t key;
	u64 free_at;
	unsigned int owner;
	enum memory_kind kind;
	u64 readers[SET_WORDS];
};

/* Open addressing; at most half full. */
static struct line *lines;
static size_t lines_size;
static size_t lines_used;

struct misses memory_misses;
u64 memory_misses_of[MOST_CPUS];
static u64 measured_from, measured_to;

static char arena[ARENA_SIZE] __attribute__((__aligned__(64)));
static unsigned char arena_kinds[ARENA_SIZE / LINE_SIZE];
static size_t arena_used;
enum memory_kind memory_allocated_kind = MEMORY_LOCK;

static struct region {
	struct shim_memory memory;
	enum memory_kind kind;
} regions[MOST_REGIONS];
static unsigned int regions_declared;

struct memory_place memory_places[MOST_PLACES];
static unsigned int places_used;

static void __attribute__((__noreturn__)) give_up(const char *why)
{
	fprintf(stderr, "simulate: %s\n", why);
	exit(2);
}

void memory_measure(u64 from, u64 to)
{
	measured_from = from;
	measured_to = to;
}

void memory_declare(struct shim_memory memory, enum memory_kind kind)
{
	if (regions_declared == MOST_REGIONS)
		give_up("too many regions of memory");
	regions[regions_declared++] = (struct region){ memory, kind };
}

void *memory_allocate(size_t size)
{
	size_t number = (size + LINE_SIZE - 1) >> LINE_BITS;
	size_t first = arena_used;

	if (first + number > ARENA_SIZE / LINE_SIZE)
		return NULL;
	memset(arena_kinds + first, memory_allocated_kind, number);
	arena_used += number;
	return arena + (first << LINE_BITS);
}

static enum memory_kind kind_of(const char *address)
{
	unsigned int i;

	if (address >= arena && address < arena + ARENA_SIZE)
		return arena_kinds[(address - arena) >> LINE_BITS];
	for (i = 0; i < regions_declared; i++) {
		const char *start = regions[i].memory.start;

		if (address >= start && address < start + regions[i].memory.size)
			return regions[i].kind;
	}
	return MEMORY_OTHER;
}

static size_t slot_of(uintptr_t key)
{
	return (key * 0x9e3779b97f4a7c15UL >> 20) & (lines_size - 1);
}

static struct line *slot_for(uintptr_t key)
{
	size_t slot = slot_of(key);

	while (lines[slot].key && lines[slot].key != key)
		slot = (slot + 1) & (lines_size - 1);
	return &lines[slot];
}

static void grow(void)
{
	struct line *old = lines;
	size_t i, old_size = lines_size;

	lines_size = old_size ? 2 * old_size : 1 << 14;
	lines = calloc(lines_size, sizeof(*lines));
	if (!lines)
		give_up("no memory for the directory of lines");
	for (i = 0; i < old_size; i++) {
		if (old[i].key)
			*slot_for(old[i].key) = old[i];
	}
	free(old);
}

static struct line *line_of(const volatile void *address)
{
	uintptr_t key = (uintptr_t)address >> LINE_BITS;
	struct line *line;

	if (2 * lines_used >= lines_size)
		grow();
	line = slot_for(key);
	if (!line->key) {
		lines_used++;
		line->key = key;
		line->owner = NO_CPU;
		line->kind = kind_of((const char *)(key << LINE_BITS));
	}
	return line;
}

static bool is_reader(const struct line *line, unsigned int cpu)
{
	return line->readers[cpu / 64] >> (cpu % 64) & 1;
}

/* The readers of a line, apart from one CPU: on its socket, and on others. */
struct readers {
	unsigned int same_socket;
	unsigned int other_socket;
};

static struct readers readers_of(const struct line *line, const struct cpu *cpu)
{
	struct readers found = { 0, 0 };
	unsigned int word;

	for (word = 0; word < SET_WORDS; word++) {
		u64 left = line->readers[word];

		for (; left; left &= left - 1) {
			unsigned int reader = word * 64 + __builtin_ctzll(left);

			if (reader == cpu->number)
				continue;
			if (cpus[reader].socket == cpu->socket)
				found.same_socket++;
			else
				found.other_socket++;
		}
	}
	return found;
}

static struct memory_place *place_of(const void *from)
{
	unsigned int slot = ((uintptr_t)from * 0x9e3779b1U >> 8) % MOST_PLACES;

	while (memory_places[slot].from && memory_places[slot].from != from)
		slot = (slot + 1) % MOST_PLACES;
	if (!memory_places[slot].from) {
		if (++places_used == MOST_PLACES)
			give_up("too many places in the code");
		memory_places[slot].from = from;
	}
	return &memory_places[slot];
}

static void count(const struct cpu *cpu, const struct line *line,
		  enum memory_source source, const void *from)
{
	struct misses *of_place;

	memory_misses_of[cpu->number]++;
	if (machine_now() < measured_from || machine_now() >= measured_to)
		return;
	of_place = &place_of(from)->misses;
	memory_misses.by_kind[line->kind]++;
	memory_misses.by_source[source]++;
	of_place->by_kind[line->kind]++;
	of_place->by_source[source]++;
}

static u64 cost_of(enum memory_source source)
{
	switch (source) {
	case SOURCE_SAME_SOCKET:
		return costs.same_socket;
	case SOURCE_OTHER_SOCKET:
		return costs.other_socket;
	default:
		return costs.memory;
	}
}

static enum memory_source between(const struct cpu *cpu, unsigned int other)
{
	return cpus[other].socket == cpu->socket ? SOURCE_SAME_SOCKET : SOURCE_OTHER_SOCKET;
}

static u64 later(u64 a, u64 b)
{
	return a > b ? a : b;
}

u64 memory_read(struct cpu *cpu, const volatile void *address, u64 at, const void *from)
{
	struct line *line = line_of(address);
	enum memory_source source;
	struct readers readers;
	u64 start;

	if (line->owner == cpu->number)
		return later(at, line->free_at) + costs.hit;
	if (line->owner == NO_CPU && is_reader(line, cpu->number))
		return at + costs.hit;

	start = later(at, line->free_at);
	if (line->owner != NO_CPU) {
		source = between(cpu, line->owner);
		line->readers[line->owner / 64] |= 1ULL << (line->owner % 64);
		line->owner = NO_CPU;
	} else {
		readers = readers_of(line, cpu);
		source = readers.same_socket ? SOURCE_SAME_SOCKET :
			 readers.other_socket ? SOURCE_OTHER_SOCKET : SOURCE_MEMORY;
	}
	if (source == SOURCE_MEMORY) {
		line->owner = cpu->number;
		line->free_at = start + costs.memory;
	} else {
		line->readers[cpu->number / 64] |= 1ULL << (cpu->number % 64);
		line->free_at = start + costs.refill;
	}
	count(cpu, line, source, from);
	return start + cost_of(source);
}

/* Readers are many, or one that is the CPU itself: then there is none to invalidate. */
static enum memory_source farthest(const struct line *line, const struct cpu *cpu,
				   unsigned int *copies)
{
	struct readers readers;

	*copies = 1;
	if (line->owner != NO_CPU)
		return between(cpu, line->owner);
	readers = readers_of(line, cpu);
	*copies = readers.same_socket + readers.other_socket;
	if (!*copies)
		return is_reader(line, cpu->number) ? SOURCES : SOURCE_MEMORY;
	return readers.other_socket ? SOURCE_OTHER_SOCKET : SOURCE_SAME_SOCKET;
}

u64 memory_own(struct cpu *cpu, const volatile void *address, u64 at, u64 busy,
	       const void *from)
{
	struct line *line = line_of(address);
	u64 start = later(at, line->free_at);
	enum memory_source source;
	unsigned int copies;

	if (line->owner == cpu->number) {
		line->free_at = start + costs.hit + busy;
		return line->free_at;
	}
	source = farthest(line, cpu, &copies);
	line->owner = cpu->number;
	memset(line->readers, 0, sizeof(line->readers));
	if (source == SOURCES) {
		line->free_at = start + costs.hit + busy;
		return line->free_at;
	}
	count(cpu, line, source, from);
	line->free_at = start + cost_of(source) + busy;
	if (copies > 1)
		line->free_at += (copies - 1) * costs.invalidate;
	return line->free_at;
}

bool memory_is_owned(const struct cpu *cpu, const volatile void *address, u64 at)
{
	const struct line *line = line_of(address);

	return line->owner == cpu->number && line->free_at <= at;
}

const char *memory_kind_name(enum memory_kind kind)
{
	static const char * const names[] = { "lock", "node", "pool", "other" };

	return names[kind];
}
