/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counts the accesses to memory that compiled code makes: gcc's
 * -fsanitize=thread puts a call in front of each, or in place of an atomic one,
 * and access_count.c is what it calls, instead of the sanitizer.
 *
 * Each access is counted once: a READ_ONCE() or smp_load_acquire() is a read, a
 * WRITE_ONCE() or smp_store_release() a write, a plain C access what it is, as
 * far as the optimizer has left it, and a swap or compare-and-swap is an atomic
 * operation and nothing else, whether it succeeds or not. The stack is not
 * counted. What else is touched must be memory that was declared.
 */
#ifndef ACCESS_COUNT_H
#define ACCESS_COUNT_H

#include <stdbool.h>
#include <stddef.h>

/**
 * enum memory - who may touch it
 * @MEMORY_CPU: stands in for registers and state of the CPU: preemption count,
 *	CPU number, context level
 * @MEMORY_CALLER: by which the driver tells the lock type what thread it is;
 *	a lock of its own would get that in a register
 * @MEMORY_TALLY: counts for people, which no lock acts on
 * @MEMORY_OWN: what a thread, or a CPU, keeps for itself from one call to the next
 * @MEMORY_SHARED: locks and queue nodes
 * @MEMORIES: how many there are
 */
enum memory {
	MEMORY_CPU,
	MEMORY_CALLER,
	MEMORY_TALLY,
	MEMORY_OWN,
	MEMORY_SHARED,
	MEMORIES,
};

struct accesses {
	unsigned int atomics;
	unsigned int reads;
	unsigned int writes;
};

/* Of each memory, since they were set to 0. */
extern struct accesses access_counts[MEMORIES];

/* Counting is off at the start. */
extern bool access_counting;

/* No memory is declared but the stack, up to this frame. */
void access_forget_memory(const void *stack);
/* A later declaration goes before an earlier one that it overlaps. */
void access_declare(const void *start, size_t size, enum memory memory);
/* What was declared to begin there is something else. */
void access_declare_anew(const void *start, enum memory memory);

#endif
