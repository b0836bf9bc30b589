// SPDX-License-Identifier: GPL-2.0
/*
 * States.
 */
#include <string.h>

#include <places.h>

#include "context.h"
#include "sharing.h"
#include "state.h"

#define MOST_PIECES	(64U + MOST_STATICS)
#define SPARE_CPU	(SHIM_CPUS - 1)
#define NODE_STATE	(3 + 2)	/* words of a node that change */

/* Pieces of memory that are saved as they are. */
static struct piece {
	char *start;
	size_t size;
} pieces[MOST_PIECES];

static unsigned int pieces_number;

static void add(const void *start, size_t size)
{
	pieces[pieces_number++] = (struct piece){ (char *)start, size };
}

static void add_pool(unsigned int cpu, unsigned int level)
{
	struct shim_memory pool = shim_pool_memory(cpu, level);
	struct shim_memory nodes = shim_pool_nodes(cpu, level);

	add(pool.start, pool.size);
	add(nodes.start, nodes.size);
}

static bool has_level(unsigned int cpu, unsigned int level)
{
	unsigned int number;

	for (number = 0; number < contexts_number; number++) {
		if (roles[number].cpu == cpu && roles[number].level == level)
			return true;
	}
	return false;
}

void state_begin(void)
{
	unsigned int cpu, level, i;

	pieces_number = 0;
	add(locks, sizeof(locks));
	add(queues, sizeof(queues));
	add(cpus, sizeof(cpus));
	add(contexts, contexts_number * sizeof(contexts[0]));
	add(fiber_sp, contexts_number * sizeof(fiber_sp[0]));
	for (i = 0; i < statics_number; i++)
		add(statics[i], sizeof(*statics[i]));
	add_pool(SPARE_CPU, 0);
	for (cpu = 0; cpu < cpus_number; cpu++) {
		for (level = 0; level < 4; level++) {
			if (has_level(cpu, level))
				add_pool(cpu, level);
		}
	}
}

static size_t live_stack(unsigned int number)
{
	return fiber_stacks[number + 1] - (char *)fiber_sp[number];
}

size_t state_size(void)
{
	size_t size = contexts_number * FIBER_STACK;
	unsigned int i;

	for (i = 0; i < pieces_number; i++)
		size += pieces[i].size;
	return size;
}

size_t state_save(char *memory)
{
	char *start = memory;
	unsigned int i;

	for (i = 0; i < pieces_number; i++) {
		memcpy(memory, pieces[i].start, pieces[i].size);
		memory += pieces[i].size;
	}
	for (i = 0; i < contexts_number; i++) {
		memcpy(memory, fiber_sp[i], live_stack(i));
		memory += live_stack(i);
	}
	return memory - start;
}

void state_restore(const char *memory)
{
	unsigned int i;

	for (i = 0; i < pieces_number; i++) {
		memcpy(pieces[i].start, memory, pieces[i].size);
		memory += pieces[i].size;
	}
	for (i = 0; i < contexts_number; i++) {
		memcpy(fiber_sp[i], memory, live_stack(i));
		memory += live_stack(i);
	}
}

struct hash {
	uint64_t low;
	uint64_t high;
};

static inline void mix(struct hash *hash, uint64_t word)
{
	unsigned __int128 product =
		(unsigned __int128)(hash->low ^ word) * (hash->high | 0x9e3779b97f4a7c15);

	hash->low = (uint64_t)product ^ hash->high;
	hash->high = (uint64_t)(product >> 64) + word * 0xd6e8feb86659fd93;
}

static void mix_words(struct hash *hash, const void *start, size_t size)
{
	const uint64_t *word = start;

	for (; size >= sizeof(*word); size -= sizeof(*word))
		mix(hash, *word++);
}

static void mix_pool(struct hash *hash, unsigned int cpu, unsigned int level)
{
	struct shim_memory pool = shim_pool_state(cpu, level);
	struct shim_memory nodes = shim_pool_nodes(cpu, level);
	const uint64_t *node = nodes.start;

	mix_words(hash, pool.start, pool.size);
	mix(hash, shim_uncounted_nodes(cpu, level));
	for (; nodes.size; nodes.size -= SHIM_NODE_WORDS * sizeof(*node)) {
		mix_words(hash, node, 3 * sizeof(*node));
		mix_words(hash, node + 4, 2 * sizeof(*node));
		node += SHIM_NODE_WORDS;
	}
}

static void mix_context(struct hash *hash, unsigned int number)
{
	const struct context *context = &contexts[number];
	const struct looks *looks = &context->looks;
	unsigned int i;

	for (i = 0; i < locks_number; i++) {
		mix(hash, (uint64_t)context->attempt[i].node);
		mix(hash, context->attempt[i].doing |
			  context->attempt[i].own_steps << 8 |
			  context->attempt[i].left << 16 |
			  context->attempt[i].followed << 24 |
			  context->attempt[i].overtaken << 25);
	}
	mix(hash, context->started | context->ended << 1 | context->blocked << 2 |
		  context->polled << 3 | context->late << 4 | context->walking << 5 |
		  context->checked << 6 | context->doomed << 7 | context->busy << 8 |
		  context->walks_left << 16 | (uint64_t)context->preempt_off << 32);
	for (i = 0; context->polled && i < looks->number; i++) {
		mix(hash, (uint64_t)looks->word[i]);
		mix(hash, looks->value[i]);
	}
	mix_words(hash, fiber_sp[number], live_stack(number));
}

uint64_t state_fingerprint(void)
{
	struct hash hash = { 0x243f6a8885a308d3, 0x13198a2e03707344 };
	unsigned int cpu, level, i;

	mix_words(&hash, locks, locks_number * sizeof(locks[0]));
	for (i = 0; i < locks_number; i++) {
		mix(&hash, queues[i].owner | queues[i].destroyed << 8 |
			   queues[i].length << 16);
		mix_words(&hash, queues[i].arrived, sizeof(queues[i].arrived));
	}
	for (i = 0; i < statics_number; i++)
		mix(&hash, *statics[i]);
	for (cpu = 0; cpu < cpus_number; cpu++) {
		mix_words(&hash, cpus[cpu].running, sizeof(cpus[cpu].running));
		mix(&hash, cpus[cpu].depth);
		for (level = 0; level < 4; level++) {
			if (has_level(cpu, level))
				mix_pool(&hash, cpu, level);
		}
	}
	for (i = 0; i < contexts_number; i++)
		mix_context(&hash, i);
	mix(&hash, 0);
	return hash.low | !hash.low;
}
