// SPDX-License-Identifier: GPL-2.0
/*
 * States.
 */
#include <stdlib.h>
#include <string.h>

#include <nbqlock/bare_spin_types.h>
#include <places.h>

#include "context.h"
#include "sharing.h"
#include "state.h"

#define MOST_PIECES	(64U + MOST_STATICS)
#define SPARE_CPU	(SHIM_CPUS - 1)

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

static inline uint64_t finished(struct hash hash)
{
	mix(&hash, 0);
	mix(&hash, 0);
	return hash.low;
}

static const struct hash nothing = { 0x243f6a8885a308d3, 0x13198a2e03707344 };

/*
 * Memory that is made of equal parts, one for each CPU, or for each context: pointers
 * into it are counted from the start of a part.
 */
static struct room {
	uint64_t start;
	uint64_t size;
	uint64_t part;
	bool by_context;
} rooms[3];

/* From the start of the first to the end of the last. */
static uint64_t rooms_start;
static uint64_t rooms_size;

/* Each CPU and context by the place that it has in the order of this state. */
static unsigned char place_of_cpu[MOST_FIBERS];
static unsigned char place_of_context[MOST_FIBERS];
/* Who has that place. */
static unsigned char cpu_at[MOST_FIBERS];

/* CPUs that are interchangeable: which is the first like this one; all like that. */
static unsigned char first_like[MOST_FIBERS];
static unsigned char all_like[MOST_FIBERS][MOST_FIBERS];
static unsigned char number_like[MOST_FIBERS];

/* The contexts of a CPU, in the order of the configuration. */
static unsigned char contexts_of[MOST_FIBERS][MOST_FIBERS];
static unsigned char contexts_number_of[MOST_FIBERS];

static void find_rooms(void)
{
	struct shim_memory nodes = shim_nodes_memory();
	struct shim_memory pools = shim_pools_memory();
	struct shim_memory first = shim_pool_nodes(0, 0);
	unsigned int i;

	rooms[0] = (struct room){ (uint64_t)fiber_stacks, sizeof(fiber_stacks), FIBER_STACK,
				  true };
	rooms[1] = (struct room){ (uint64_t)nodes.start, nodes.size, 4 * first.size, false };
	rooms[2] = (struct room){ (uint64_t)pools.start, pools.size,
				  pools.size / SHIM_CPUS, false };
	rooms_start = ~0UL;
	for (i = 0; i < 3; i++) {
		if (rooms[i].start < rooms_start)
			rooms_start = rooms[i].start;
	}
	rooms_size = 0;
	for (i = 0; i < 3; i++) {
		if (rooms[i].start + rooms[i].size - rooms_start > rooms_size)
			rooms_size = rooms[i].start + rooms[i].size - rooms_start;
	}
}

static bool are_like(unsigned int cpu, unsigned int other)
{
	unsigned int i;

	/* The names of nodes in an arena are numbers made of those of CPUs. */
	if ((!type_of(0)->in_kernel && cpu != other) ||
	    contexts_number_of[cpu] != contexts_number_of[other] ||
	    socket_of(cpu) != socket_of(other) ||
	    has_little_patience(cpu) != has_little_patience(other))
		return false;
	for (i = 0; i < contexts_number_of[cpu]; i++) {
		const struct role *role = &roles[contexts_of[cpu][i]];
		const struct role *its = &roles[contexts_of[other][i]];

		if (cpu != other && (has_order(contexts_of[cpu][i]) ||
				     has_order(contexts_of[other][i])))
			return false;

		if (role->level != its->level || role->program != its->program)
			return false;
	}
	return true;
}

static void find_likes(void)
{
	unsigned int cpu, number;

	memset(contexts_number_of, 0, sizeof(contexts_number_of));
	memset(number_like, 0, sizeof(number_like));
	for (number = 0; number < contexts_number; number++) {
		cpu = roles[number].cpu;
		contexts_of[cpu][contexts_number_of[cpu]++] = number;
	}
	for (cpu = 0; cpu < cpus_number; cpu++) {
		unsigned int first = 0;

		while (!are_like(first, cpu))
			first++;
		first_like[cpu] = first;
		all_like[first][number_like[first]++] = cpu;
	}
}

static inline const struct room *room_of(uint64_t word)
{
	unsigned int i;

	/* Most words are no pointers. */
	if (word - rooms_start >= rooms_size)
		return NULL;
	for (i = 0; i < 3; i++) {
		if (word - rooms[i].start < rooms[i].size)
			return &rooms[i];
	}
	return NULL;
}

/*
 * Half a word of the hybrid: the CPU whose number stands there, alone or with a context
 * level, and above that the marks of a lock or the index of a node. Or, odd, that of
 * the holder whom one waits behind, one bit further up. Return: false if there is none.
 */
static inline bool names_cpu(uint32_t half, uint32_t *cpu, unsigned int *shift)
{
	const uint32_t cpu_bits = (1U << NBQ_CONTEXT_CPU_BITS) - 1;

	/* Most halves. */
	if (half < SHIM_CPU_NUMBER(0))
		return false;
	for (*shift = 0; *shift <= (half & 1); ++*shift) {
		uint32_t number = half >> *shift;

		*cpu = SHIM_CPU_INDEX(number & cpu_bits);
		if (*cpu < MOST_FIBERS && !(number >> 16 & ~0x38fU))
			return true;
	}
	return false;
}

/* The half as it would be if that CPU had the number of this place. */
static inline uint32_t renumbered(uint32_t half, uint32_t cpu, unsigned int shift,
				  uint32_t place)
{
	return half + ((SHIM_CPU_NUMBER(place) - SHIM_CPU_NUMBER(cpu)) << shift);
}

static inline uint32_t half_in_order(uint32_t half)
{
	unsigned int shift;
	uint32_t cpu;

	if (!names_cpu(half, &cpu, &shift) || cpu >= cpus_number)
		return half;
	return renumbered(half, cpu, shift, place_of_cpu[cpu]);
}

/* The word as it would be if each CPU had the number of its place. */
static inline uint64_t in_order(uint64_t word)
{
	const struct room *room = room_of(word);
	uint64_t part, place;

	if (!room)
		return (uint64_t)half_in_order(word >> 32) << 32 | half_in_order(word);
	part = (word - room->start) / room->part;
	if (part >= MOST_FIBERS)
		return word;	/* the spare CPU */
	place = room->by_context ? place_of_context[part] : place_of_cpu[part];
	return word + (place - part) * room->part;
}

static inline bool half_is_foreign(uint32_t *half, unsigned int cpu)
{
	unsigned int shift;
	uint32_t named;

	if (!names_cpu(*half, &named, &shift))
		return false;
	if (named != cpu)
		return true;
	*half = renumbered(*half, cpu, shift, 0);
	return false;
}

static inline bool names_foreign(uint64_t *word, unsigned int cpu)
{
	uint32_t low = *word, high = *word >> 32;

	if (half_is_foreign(&low, cpu) || half_is_foreign(&high, cpu))
		return true;
	*word = (uint64_t)high << 32 | low;
	return false;
}

/* Return: true if it points to something of another CPU; else counted from its own. */
static inline bool is_foreign(uint64_t *word, unsigned int cpu)
{
	const struct room *room = room_of(*word);
	uint64_t part;

	if (!room)
		return names_foreign(word, cpu);
	part = (*word - room->start) / room->part;
	if ((room->by_context ? roles[part].cpu : part) != cpu)
		return true;
	if (room->by_context)
		part = roles[part].place;
	else
		part = 0;
	*word = room->start + (*word - room->start) % room->part + part * room->part;
	return false;
}

void state_summarize(unsigned int number)
{
	struct summary *summary = &contexts[number].summary;
	const uint64_t *end = (const uint64_t *)fiber_stacks[number + 1];
	const uint64_t *at;
	struct hash hash = nothing;

	summary->number = 0;
	for (at = fiber_sp[number]; at < end; at++) {
		uint64_t word = *at;

		if (!is_foreign(&word, roles[number].cpu)) {
			mix(&hash, word);
			continue;
		}
		mix(&hash, ~0UL);
		if (summary->number == MOST_FOREIGN)
			abort();
		summary->foreign[summary->number++] = *at;
	}
	mix(&hash, live_stack(number));
	summary->key = finished(hash);
}

/* Those of the words of nodes and pools' heads that change. */
static unsigned char node_words[SHIM_NODE_WORDS];
static unsigned int node_words_number;
static unsigned char pool_words[256];
static unsigned int pool_words_number;

static void find_words(void)
{
	unsigned int word;

	node_words_number = 0;
	for (word = 0; word < SHIM_NODE_WORDS; word++) {
		if (shim_node_word_changes(word))
			node_words[node_words_number++] = word;
	}
	pool_words_number = 0;
	for (word = 0; word < shim_pool_words(); word++) {
		if (shim_pool_word_changes(word))
			pool_words[pool_words_number++] = word;
	}
}

/* What is the same whatever place the CPUs have. */
static void mix_unplaced(struct hash *hash, uint64_t word, unsigned int cpu)
{
	mix(hash, is_foreign(&word, cpu) ? ~0UL : word);
}

static void mix_flags(struct hash *hash, unsigned int number)
{
	const struct context *context = &contexts[number];
	unsigned int i;

	for (i = 0; i < locks_number; i++)
		mix(hash, context->attempt[i].doing |
			  context->attempt[i].own_steps << 8 |
			  context->attempt[i].left << 16 |
			  context->attempt[i].followed << 24 |
			  context->attempt[i].overtaken << 25 |
			  !!context->attempt[i].node << 26 |
			  (queues[i].owner == number) << 27 |
			  context->attempt[i].has_lock << 28 |
			  context->attempt[i].newcomer << 29 |
			  context->attempt[i].persisted << 30 |
			  (uint64_t)context->attempt[i].ahead << 32 |
			  (uint64_t)context->attempt[i].contended << 40 |
			  (uint64_t)context->attempt[i].resumed << 41);
	mix(hash, context->started | context->ended << 1 | context->blocked << 2 |
		  context->polled << 3 | context->late << 4 | context->checking << 5 |
		  context->checked << 6 | context->deadlocked << 7 | context->busy << 8 |
		  context->stopped << 9 | context->arrived << 10 | context->awaits << 11 |
		  context->asks << 24 | context->irqs_off << 28 |
		  context->checks_left << 16 | (uint64_t)context->preempt_off << 32);
}

/* What tells this CPU from others like it. */
static uint64_t key_of_cpu(unsigned int cpu)
{
	struct hash hash = nothing;
	unsigned int number, level, i, at;

	for (number = 0; number < contexts_number; number++) {
		if (roles[number].cpu != cpu)
			continue;
		mix(&hash, contexts[number].summary.key);
		mix_flags(&hash, number);
		for (i = 0; i < locks_number; i++) {
			for (at = 0; at < queues[i].length; at++) {
				if (queues[i].enqueued[at] == number)
					mix(&hash, at);
			}
		}
	}
	for (level = 0; level < 4; level++) {
		struct shim_memory nodes;
		const uint64_t *node;

		if (!has_level(cpu, level))
			continue;
		nodes = shim_pool_nodes(cpu, level);
		for (node = nodes.start; nodes.size;
		     nodes.size -= SHIM_NODE_WORDS * sizeof(*node), node += SHIM_NODE_WORDS) {
			for (i = 0; i < node_words_number; i++)
				mix_unplaced(&hash, node[node_words[i]], cpu);
		}
	}
	return finished(hash);
}

/* CPUs like each other in the order of their keys, in the places that these have. */
static void find_places(void)
{
	uint64_t keys[MOST_FIBERS];
	unsigned int cpu, other, number;

	for (cpu = 0; cpu < cpus_number; cpu++)
		keys[cpu] = number_like[first_like[cpu]] > 1 ? key_of_cpu(cpu) : 0;
	for (cpu = 0; cpu < cpus_number; cpu++) {
		unsigned int smaller = 0;

		for (other = 0; other < cpus_number; other++)
			smaller += first_like[other] == first_like[cpu] &&
				   (keys[other] < keys[cpu] ||
				    (keys[other] == keys[cpu] && other < cpu));
		place_of_cpu[cpu] = all_like[first_like[cpu]][smaller];
		cpu_at[place_of_cpu[cpu]] = cpu;
	}
	for (number = 0; number < contexts_number; number++)
		place_of_context[number] =
			contexts_of[place_of_cpu[roles[number].cpu]][roles[number].place];
}

static void mix_in_order(struct hash *hash, const void *start, size_t size)
{
	const uint64_t *word = start;

	for (; size >= sizeof(*word); size -= sizeof(*word))
		mix(hash, in_order(*word++));
}

static void mix_pool(struct hash *hash, unsigned int cpu, unsigned int level)
{
	const uint64_t *pool = shim_pool_memory(cpu, level).start;
	struct shim_memory nodes = shim_pool_nodes(cpu, level);
	const uint64_t *node = nodes.start;
	unsigned int i;

	for (i = 0; i < pool_words_number; i++)
		mix(hash, in_order(pool[pool_words[i]]));
	mix(hash, shim_uncounted_nodes(cpu, level));
	for (; nodes.size; nodes.size -= SHIM_NODE_WORDS * sizeof(*node)) {
		for (i = 0; i < node_words_number; i++)
			mix(hash, in_order(node[node_words[i]]));
		node += SHIM_NODE_WORDS;
	}
}

static void mix_looks(struct hash *hash, const struct reads *reads)
{
	unsigned int i;

	for (i = 0; i < reads->number; i++) {
		mix(hash, in_order((uint64_t)reads->word[i]));
		mix(hash, in_order(reads->value[i]));
	}
}

static void mix_context(struct hash *hash, unsigned int number)
{
	const struct context *context = &contexts[number];
	unsigned int i;

	mix_flags(hash, number);
	for (i = 0; i < locks_number; i++)
		mix(hash, in_order((uint64_t)context->attempt[i].node));
	if (context->polled)
		mix_looks(hash, &context->reads);
	/* What makes it stop on the way from one poll to the next, or not. */
	if (context->polled && !context->blocked)
		mix_looks(hash, &context->idle);
	mix(hash, context->summary.key);
	for (i = 0; i < context->summary.number; i++)
		mix(hash, in_order(context->summary.foreign[i]));
}

static void mix_cpu(struct hash *hash, unsigned int cpu)
{
	unsigned int level, i;

	for (i = 0; i < cpus[cpu].depth; i++)
		mix(hash, place_of_context[cpus[cpu].running[i]]);
	for (level = 0; level < 4; level++) {
		if (has_level(cpu, level))
			mix_pool(hash, cpu, level);
	}
	for (i = 0; i < contexts_number_of[cpu]; i++)
		mix_context(hash, contexts_of[cpu][i]);
}

/* Those of the CPUs that have contexts. */
static struct shim_memory arena_nodes(void)
{
	struct shim_memory nodes = shim_arena_nodes();

	if (type_of(0)->in_kernel)
		return (struct shim_memory){ };
	nodes.size = nodes.size / SHIM_CPUS * cpus_number;
	return nodes;
}

uint64_t state_fingerprint(void)
{
	struct shim_memory machine = shim_machine_memory(), sockets = shim_sockets_memory();
	struct shim_memory arena = arena_nodes();
	struct hash hash = nothing;
	unsigned int place, i, at;
	uint64_t fingerprint;

	find_places();
	mix_in_order(&hash, locks, sizeof(locks));
	mix_in_order(&hash, machine.start, machine.size);
	mix_in_order(&hash, sockets.start, sockets.size);
	mix_in_order(&hash, arena.start, arena.size);
	for (i = 0; i < locks_number; i++) {
		mix(&hash, queues[i].destroyed | queues[i].life << 1 | queues[i].length << 8);
		for (at = 0; at < queues[i].length; at++)
			mix(&hash, place_of_context[queues[i].enqueued[at]]);
	}
	for (i = 0; i < statics_number; i++)
		mix(&hash, *statics[i]);
	for (place = 0; place < cpus_number; place++)
		mix_cpu(&hash, cpu_at[place]);
	fingerprint = finished(hash);
	return fingerprint | !fingerprint;
}

void state_begin(void)
{
	struct shim_memory looks_left = shim_looks_left_memory();
	struct shim_memory visits = shim_visits_memory();
	struct shim_memory machine = shim_machine_memory(), sockets = shim_sockets_memory();
	struct shim_memory arena = arena_nodes();
	unsigned int cpu, level, i;

	find_rooms();
	find_words();
	find_likes();
	pieces_number = 0;
	add(locks, sizeof(locks));
	add(looks_left.start, looks_left.size);
	add(machine.start, machine.size);
	add(sockets.start, sockets.size);
	add(arena.start, arena.size);
	add(visits.start, visits.size);
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
