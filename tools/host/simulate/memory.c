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

#define LINE_SIZE	64UL
#define SET_WORDS	(MOST_CPUS / 64)
#define NO_CPU		MOST_CPUS
#define ARENA_SIZE	(96UL << 20)
#define MOST_REGIONS	16

/* A cache line. */
struct line {
	u64 free_at;		/* when the last transfer of it is over */
	bool is_known;		/* it has been accessed */
	unsigned int owner;	/* may write to it; NO_CPU: it has readers, or is in memory */
	enum memory_kind kind;
	u64 readers[SET_WORDS];	/* a set of CPUs */
};

/* Of all of the program: its variables and the arena. Thread-local ones are elsewhere. */
static struct line *lines;
extern const char __executable_start[], _end[];

struct misses memory_misses;
u64 memory_misses_of[MOST_CPUS];
static u64 measured_from, measured_to;

static char arena[ARENA_SIZE] __attribute__((__aligned__(64)));
static size_t arena_used;
static struct region {
	struct shim_memory memory;
	enum memory_kind kind;
} regions[MOST_REGIONS];
static unsigned int regions_declared;

struct memory_place memory_places[MOST_PLACES];
static unsigned int places_used;

bool memory_has(const volatile void *address)
{
	return (const char *)address >= __executable_start && (const char *)address < _end;
}

static void __attribute__((__noreturn__)) give_up(const char *why)
{
	fprintf(stderr, "simulate: %s\n", why);
	exit(2);
}

void memory_start(u64 from, u64 to)
{
	measured_from = from;
	measured_to = to;
	lines = calloc((_end - __executable_start) / LINE_SIZE + 1, sizeof(*lines));
	if (!lines)
		give_up("no memory for the directory of lines");
}

void memory_declare(struct shim_memory memory, enum memory_kind kind)
{
	if (regions_declared == MOST_REGIONS)
		give_up("too many regions of memory");
	regions[regions_declared++] = (struct region){ memory, kind };
}

void memory_locks_are_made(void)
{
	char *rest = arena + arena_used;

	memory_declare((struct shim_memory){ arena, arena_used }, MEMORY_LOCK);
	memory_declare((struct shim_memory){ rest, ARENA_SIZE - arena_used }, MEMORY_NODE);
}

void *memory_allocate(size_t size)
{
	size_t first = arena_used;

	if (size > ARENA_SIZE - arena_used)
		return NULL;
	arena_used += (size + LINE_SIZE - 1) & -LINE_SIZE;
	return arena + first;
}

static enum memory_kind kind_of(const char *address)
{
	unsigned int i;

	for (i = 0; i < regions_declared; i++) {
		const char *start = regions[i].memory.start;

		if (address >= start && address < start + regions[i].memory.size)
			return regions[i].kind;
	}
	return MEMORY_OTHER;
}

static struct line *line_of(const volatile void *address)
{
	const char *at = (const char *)((uintptr_t)address & -LINE_SIZE);
	struct line *line;

	line = &lines[(at - __executable_start) / LINE_SIZE];
	if (!line->is_known) {
		line->is_known = true;
		line->owner = NO_CPU;
		line->kind = kind_of(at);
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
