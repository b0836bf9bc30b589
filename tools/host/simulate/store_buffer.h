/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The stores of a CPU that wait for their cache lines: first in, first out, as on x86.
 * What others see of a store changes when it has its line. The CPU itself reads its own
 * stores at once.
 *
 * A plain store of C is carried out by the compiled code, before it is its turn here: it
 * takes a place in the buffer and its time. No other CPU may read it by then, since
 * that takes a marked store behind it, which waits for its turn.
 */
#ifndef SIMULATE_STORE_BUFFER_H
#define SIMULATE_STORE_BUFFER_H

#include <stdbool.h>

#include <linux/types.h>

#define MOST_STORES	64U

struct cpu;

/* One store. */
struct store {
	void *address;		/* where to */
	u64 value;		/* what */
	unsigned int size;	/* how many bytes; 0: it has been carried out */
	const void *from;	/* the code that stores */
};

/* Of one CPU. */
struct store_buffer {
	struct store stores[MOST_STORES];	/* a ring */
	unsigned int first;	/* the oldest */
	unsigned int count;	/* how many there are */
	unsigned int most;	/* the CPU goes on when there are no more than that */
	u64 done_at;		/* when the oldest has its line, in ps; NEVER: there is none */
};

/* Of the running CPU, which has arrived. */
void store_buffer_put(void *address, u64 value, unsigned int size, const void *from);
/* Come back when it is empty. */
void store_buffer_drain(void);
/* The youngest store to an address; NULL: none. Others that overlap it drain the buffer. */
const struct store *store_buffer_find(const volatile void *address, unsigned int size);

/* Of any CPU, by the machine: the oldest has its line. */
void store_buffer_complete(struct cpu *cpu);

static inline bool store_buffer_has_room(const struct store_buffer *buffer)
{
	return buffer->count <= buffer->most;
}

#endif
