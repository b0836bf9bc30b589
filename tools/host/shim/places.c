// SPDX-License-Identifier: GPL-2.0
/*
 * What stands at an address of the pools and their queue nodes.
 */
#include <nbqlock/internal.h>

#include "places.h"

#define WORD	sizeof(unsigned long)

static bool is_in(struct shim_memory memory, const void *address)
{
	return (size_t)((const char *)address - (const char *)memory.start) < memory.size;
}

struct shim_place shim_place_of(const void *address)
{
	struct shim_place place = { .room = SHIM_ELSEWHERE };
	struct shim_memory nodes = shim_nodes_memory();
	struct shim_memory pools = shim_pools_memory();

	if (is_in(nodes, address)) {
		size_t offset = (const char *)address - (const char *)nodes.start;
		const struct nbq_node *node = nodes.start;

		node += offset / sizeof(*node);
		place.room = SHIM_NODE;
		place.cpu = SHIM_CPU_INDEX(node->pool->cpu);
		place.level = node->pool->level;
		place.node = node->index;
		place.word = offset % sizeof(*node) / WORD;
	} else if (is_in(pools, address)) {
		size_t offset = (const char *)address - (const char *)pools.start;
		const struct nbq_pool *pool = pools.start;

		pool += offset / sizeof(*pool);
		place.room = SHIM_POOL;
		place.cpu = SHIM_CPU_INDEX(pool->cpu);
		place.level = pool->level;
		place.word = offset % sizeof(*pool) / WORD;
	}
	return place;
}

struct word_name {
	size_t offset;
	const char *name;
};

#define NODE_WORD(member)	{ offsetof(struct nbq_node, member), #member }
#define POOL_WORD(member)	{ offsetof(struct nbq_pool, member), #member }

static const struct word_name node_words[] = {
	NODE_WORD(prev), NODE_WORD(next), NODE_WORD(status), NODE_WORD(index),
	NODE_WORD(alloc_seq), NODE_WORD(free_seq), NODE_WORD(next_in_pool), NODE_WORD(pool),
	NODE_WORD(lock), NODE_WORD(below), NODE_WORD(pred_alloc_seq), NODE_WORD(abandoned_seq),
	NODE_WORD(queue), NODE_WORD(since), NODE_WORD(nested),
};

static const struct word_name pool_words[] = {
	POOL_WORD(hint), POOL_WORD(first), POOL_WORD(cpu), POOL_WORD(waiting.blocker),
	POOL_WORD(waiting.word), POOL_WORD(waiting.lock), POOL_WORD(waiting.resumed),
	POOL_WORD(waiting.since), POOL_WORD(waiting.held), POOL_WORD(waiter), POOL_WORD(held),
	POOL_WORD(abandoned_in),
	POOL_WORD(attempts), POOL_WORD(last),
	POOL_WORD(size),
};

static const char *name_in(const struct word_name *words, size_t number, size_t word)
{
	size_t i;

	for (i = 0; i < number; i++) {
		if (words[i].offset / WORD == word)
			return words[i].name;
	}
	return NULL;
}

const char *shim_word_name(const struct shim_place *place)
{
	if (place->room == SHIM_NODE)
		return name_in(node_words, sizeof(node_words) / sizeof(node_words[0]),
			       place->word);
	if (place->room == SHIM_POOL)
		return name_in(pool_words, sizeof(pool_words) / sizeof(pool_words[0]),
			       place->word);
	return NULL;
}

const char *shim_value_name(unsigned long value)
{
	static const char *const names[] = {
		"NULL", "AVAILABLE", "LEAVING", "TRANSIENT", "RECYCLED",
	};

	return value < sizeof(names) / sizeof(names[0]) ? names[value] : NULL;
}

unsigned int shim_pool_words(void)
{
	return sizeof(struct nbq_pool) / WORD;
}

bool shim_is_tally(const void *address)
{
	struct shim_memory pools = shim_pools_memory();
	size_t offset;

	if (!is_in(pools, address))
		return false;
	offset = ((const char *)address - (const char *)pools.start) % sizeof(struct nbq_pool);
	/* A heartbeat decides who competes for a lock, which is a choice where it matters. */
	return offset >= offsetof(struct nbq_pool, events) ||
	       offset == offsetof(struct nbq_pool, heartbeat);
}

static struct nbq_pool *pool_of(unsigned int cpu, unsigned int level)
{
	return &nbq_pools[cpu][0][level];
}

struct shim_memory shim_pool_memory(unsigned int cpu, unsigned int level)
{
	return (struct shim_memory){ pool_of(cpu, level), sizeof(struct nbq_pool) };
}

const struct nbq_wait *shim_waiter(unsigned int cpu, unsigned int level)
{
	return pool_of(cpu, level)->waiter;
}

bool shim_node_word_changes(unsigned int word)
{
	/* pred_alloc_seq is what its predecessor's alloc_seq is, for as long as it is read. */
	return word < offsetof(struct nbq_node, index) / WORD ||
	       word == offsetof(struct nbq_node, alloc_seq) / WORD ||
	       word == offsetof(struct nbq_node, free_seq) / WORD ||
	       word == offsetof(struct nbq_node, lock) / WORD ||
	       word == offsetof(struct nbq_node, below) / WORD ||
	       word == offsetof(struct nbq_node, abandoned_seq) / WORD ||
	       word == offsetof(struct nbq_node, held_seq) / WORD ||
	       word == offsetof(struct nbq_node, queue) / WORD ||
	       word == offsetof(struct nbq_node, since) / WORD ||
	       word == offsetof(struct nbq_node, known) / WORD ||
	       word == offsetof(struct nbq_node, nested) / WORD;
}

bool shim_is_own_node_word(size_t offset)
{
	return offset % sizeof(struct nbq_node) >= offsetof(struct nbq_node, lock);
}

bool shim_pool_word_changes(unsigned int word)
{
	return word == offsetof(struct nbq_pool, hint) / WORD ||
	       word == offsetof(struct nbq_pool, size) / WORD ||
	       (word >= offsetof(struct nbq_pool, waiting) / WORD &&
		word < offsetof(struct nbq_pool, events) / WORD);
}

/* They were made in one go, and stand side by side. */
struct shim_memory shim_pool_nodes(unsigned int cpu, unsigned int level)
{
	const struct nbq_pool *pool = pool_of(cpu, level);

	return (struct shim_memory){ pool->first, pool->size * sizeof(struct nbq_node) };
}

/* The node in which this address is that of the word with this offset. */
static const struct nbq_node *node_with(const void *address, size_t word_offset)
{
	struct shim_memory nodes = shim_nodes_memory();
	size_t offset;

	if (!is_in(nodes, address))
		return NULL;
	offset = (const char *)address - (const char *)nodes.start;
	if (offset % sizeof(struct nbq_node) != word_offset)
		return NULL;
	return (const struct nbq_node *)nodes.start + offset / sizeof(struct nbq_node);
}

const struct nbq_node *shim_node_of_alloc_seq(const void *address)
{
	return node_with(address, offsetof(struct nbq_node, alloc_seq));
}

const struct nbq_node *shim_node_of_free_seq(const void *address)
{
	return node_with(address, offsetof(struct nbq_node, free_seq));
}

void shim_age_frees(unsigned int cpu, unsigned int level, int by)
{
	const struct nbq_pool *pool = pool_of(cpu, level);
	struct nbq_node *node;

	for (node = pool->first; node; node = node->next_in_pool) {
		if (node->alloc_seq && node->abandoned_seq == node->alloc_seq)
			node->free_seq -= by * NBQ_ALLOC_STEP;
	}
}

size_t shim_node_size(void)
{
	return sizeof(struct nbq_node);
}

bool shim_node_is_free(const struct nbq_node *node)
{
	return (node->alloc_seq & ~NBQ_KEPT) == node->free_seq;
}

bool shim_is_polled(const struct nbq_node *node, const void *word)
{
	return node && (word == &node->status ||
			(word != &node->prev && node_with(word, offsetof(struct nbq_node, prev))));
}

/* MCS-NB, swap-only: as a waiter that was notified links itself anew, and skips. */
static bool would_be_notified(const struct nbq_node *node)
{
	const struct nbq_node *pred = node->prev, *state = node->status;

	if (!state)
		return false;
	if (state != NBQ_AVAILABLE)
		state = pred->next;
	while (state == NBQ_LEAVING || state == NBQ_TRANSIENT) {
		pred = pred->prev;
		state = pred->next;
	}
	return state == NBQ_AVAILABLE;
}

bool shim_would_be_granted(const struct nbq_node *node, const void *word)
{
	const struct nbq_node *prev;

	if (word == &node->status)
		return would_be_notified(node);
	for (prev = *(struct nbq_node *const *)word; nbq_is_node(prev); prev = prev->prev)
		;
	return prev == NBQ_AVAILABLE;
}

long shim_uncounted_nodes(unsigned int cpu, unsigned int level)
{
	const struct nbq_pool *pool = pool_of(cpu, level);
	const struct nbq_events *events = &pool->events;
	const struct nbq_node *node;
	long in_use = 0;

	for (node = pool->first; node; node = node->next_in_pool)
		in_use += !shim_node_is_free(node);
	return in_use - (long)(events->nodes_allocated - events->nodes_freed -
			       events->nodes_reclaimed);
}
