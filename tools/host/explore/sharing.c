// SPDX-License-Identifier: GPL-2.0
/*
 * Learning which words are shared.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nbqlock/socket.h>
#include <nbqlock/wait.h>
#include <places.h>

#include "context.h"
#include "sharing.h"

#define MOST_POOL_WORDS	64U
#define MOST_NODES	64U	/* of a pool */

/* Who has touched a word. */
struct touched {
	unsigned char by;	/* the first, + 1; 0: none */
	bool by_others;
	bool written;
};

static struct touched node_touched[SHIM_CPUS][4][MOST_NODES][SHIM_NODE_WORDS];
static struct touched pool_touched[SHIM_CPUS][4][MOST_POOL_WORDS];

/* A word of a node is shared in all nodes, and so on. Those of locks and queues are. */
static bool node_shared[SHIM_NODE_WORDS];
static bool pool_shared[MOST_POOL_WORDS];

static bool has_learned;

unsigned long *statics[MOST_STATICS];
unsigned int statics_number;

void sharing_begin(void)
{
	memset(node_touched, 0, sizeof(node_touched));
	memset(pool_touched, 0, sizeof(pool_touched));
	has_learned = false;
}

bool sharing_has_learned(void)
{
	return has_learned;
}

static bool touch(struct touched *touched, bool *shared, unsigned int context, bool writes)
{
	if (*shared)
		return true;
	if (!touched->by)
		touched->by = context + 1;
	touched->by_others |= touched->by != context + 1;
	touched->written |= writes;
	if (!touched->by_others || !touched->written)
		return false;
	*shared = true;
	has_learned = true;
	return true;
}

/* A static that was not known is a part of the state that was not saved. */
static void note_static(const void *address)
{
	const unsigned long *word = word_of(address);
	unsigned int i;

	for (i = 0; i < statics_number; i++) {
		if (statics[i] == word)
			return;
	}
	if (i == MOST_STATICS) {
		fputs("explore: too many statics\n", stderr);
		exit(2);
	}
	statics[statics_number++] = (unsigned long *)word;
	has_learned = true;
}

static bool is_in(struct shim_memory memory, const void *address)
{
	return (size_t)((const char *)address - (const char *)memory.start) < memory.size;
}

bool sharing_touch(unsigned int context, const void *address, bool writes)
{
	struct shim_place place;
	unsigned int lock;

	for (lock = 0; lock < locks_number; lock++) {
		if (is_of_lock(address, lock))
			return true;
	}
	place = shim_place_of(address);
	if (place.room == SHIM_NODE)
		return touch(&node_touched[place.cpu][place.level][place.node][place.word],
			     &node_shared[place.word], context, writes);
	if (place.room == SHIM_POOL)
		return touch(&pool_touched[place.cpu][place.level][place.word],
			     &pool_shared[place.word], context, writes);
	if (shim_is_arena_node(address))
		return !shim_is_absent_arena_node(address);
	if (is_in(shim_machine_memory(), address) || is_in(shim_sockets_memory(), address))
		return true;
	note_static(address);
	return address != &nbq_deadlock_checks && address != &nbq_sockets_number &&
	       address != &nbq_machine;
}

static unsigned long bits_of(const bool *shared, unsigned int number)
{
	unsigned long bits = 0;

	while (number--)
		bits = bits << 1 | shared[number];
	return bits;
}

static void set_bits(bool *shared, unsigned int number, unsigned long bits)
{
	unsigned int i;

	for (i = 0; i < number; i++)
		shared[i] = bits >> i & 1;
}

const char *sharing_code(void)
{
	static char code[40];

	snprintf(code, sizeof(code), "%lx.%lx", bits_of(node_shared, SHIM_NODE_WORDS),
		 bits_of(pool_shared, MOST_POOL_WORDS));
	return code;
}

const char *sharing_set(const char *code)
{
	unsigned long node, pool;
	int length;

	if (sscanf(code, "%lx.%lx:%n", &node, &pool, &length) != 2)
		return NULL;
	set_bits(node_shared, SHIM_NODE_WORDS, node);
	set_bits(pool_shared, MOST_POOL_WORDS, pool);
	return code + length;
}
