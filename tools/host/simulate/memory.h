/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Coherent caches: a directory of lines of 64 bytes, of each its owner or readers.
 *
 * Rules
 *	A line is with one CPU that may write to it, or with any number of readers.
 *	Transfers of one line queue behind one another: ownership is handed over after
 *	the last owner has it, copies for readers leave one each "refill".
 *	A line comes from the nearest CPU that has it; a writer waits for the farthest.
 *	Caches are without limit: a line leaves one only for another CPU.
 *	Of all transfers it is counted what asked for them, and where from they came.
 */
#ifndef SIMULATE_MEMORY_H
#define SIMULATE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include <host.h>
#include <linux/types.h>

#define MOST_PLACES	1024U	/* a power of two */

struct cpu;

/* What a line is part of. */
enum memory_kind {
	MEMORY_LOCK,
	MEMORY_NODE,
	MEMORY_POOL,
	MEMORY_OTHER,
	MEMORY_KINDS,
};

/* Where a line came from. */
enum memory_source {
	SOURCE_SAME_SOCKET,
	SOURCE_OTHER_SOCKET,
	SOURCE_MEMORY,
	SOURCES,
};

/* Line transfers. */
struct misses {
	u64 by_kind[MEMORY_KINDS];
	u64 by_source[SOURCES];
};

/* Those of the measured time. */
extern struct misses memory_misses;
/* Those of a CPU since the start. */
extern u64 memory_misses_of[];

/* Before anything else: the time that is measured. */
void memory_start(u64 from, u64 to);

/* What there is at these addresses. */
void memory_declare(struct shim_memory memory, enum memory_kind kind);
/* As results name it. */
const char *memory_kind_name(enum memory_kind kind);
/* Is there a line? Thread-local variables have none, and no lock has memory from elsewhere. */
bool memory_has(const volatile void *address);
/* Zeroed lines, for the kernel's allocator. */
void *memory_allocate(size_t size);
/* What has been allocated is the locks; from now on, it is nodes. */
void memory_locks_are_made(void);

/* When a CPU that asks for a line at a time has it to read. @from: the code that asks. */
u64 memory_read(struct cpu *cpu, const volatile void *address, u64 at, const void *from);
/* When it has it alone. The line stays with it for @busy ps more. */
u64 memory_own(struct cpu *cpu, const volatile void *address, u64 at, u64 busy,
	       const void *from);
/* Whether it has it alone, and nothing is in transit. */
bool memory_is_owned(const struct cpu *cpu, const volatile void *address, u64 at);

/* A place in the code, and the transfers that it asked for. */
struct memory_place {
	const void *from;	/* NULL: none */
	struct misses misses;
};

extern struct memory_place memory_places[MOST_PLACES];

#endif
