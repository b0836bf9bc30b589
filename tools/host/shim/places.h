/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What stands at an address of the pools and their queue nodes, for an observer
 * who must not know how these are made: in whose pool, which node, which word.
 */
#ifndef SHIM_PLACES_H
#define SHIM_PLACES_H

#include <stdbool.h>
#include <stddef.h>

#include <host.h>

/**
 * enum shim_room - where a word stands
 * @SHIM_ELSEWHERE: neither in a node nor in a pool's head
 * @SHIM_NODE: in a queue node
 * @SHIM_POOL: in the head of a pool
 */
enum shim_room {
	SHIM_ELSEWHERE,
	SHIM_NODE,
	SHIM_POOL,
};

/**
 * struct shim_place - where an address points to
 * @room: what it is part of
 * @cpu: whose
 * @level: of which context level
 * @node: position of the node in its pool
 * @word: position of the word of 8 bytes in the node or head
 */
struct shim_place {
	enum shim_room room;
	unsigned int cpu;
	unsigned int level;
	unsigned int node;
	unsigned int word;
};

struct shim_place shim_place_of(const void *address);

/* The name of the word there, or NULL. */
const char *shim_word_name(const struct shim_place *place);
/* What one of the small values in prev, next and status means; or NULL. */
const char *shim_value_name(unsigned long value);
/* The number of words of a node and of a pool's head. */
#define SHIM_NODE_WORDS	16U
unsigned int shim_pool_words(void);

/* A word of a pool that is for people only: no lock acts on it. */
bool shim_is_tally(const void *address);
/* Does this word of a node, or of a pool's head, ever change, and matter to a lock? */
bool shim_node_word_changes(unsigned int word);
/* Is the word at this offset from the first node one that only its own CPU needs? */
bool shim_is_own_node_word(size_t offset);
bool shim_pool_word_changes(unsigned int word);
struct shim_memory shim_pool_memory(unsigned int cpu, unsigned int level);
struct shim_memory shim_pool_nodes(unsigned int cpu, unsigned int level);

/* The wait that may write to this pool; NULL: none. */
const struct nbq_wait *shim_waiter(unsigned int cpu, unsigned int level);

/* The node that this word says was taken, or given back, so often; or NULL. */
const struct nbq_node *shim_node_of_alloc_seq(const void *address);
const struct nbq_node *shim_node_of_free_seq(const void *address);
/* The pool's own CPU reads free_seq late: its abandoned nodes seem to be in use; or as it is. */
void shim_age_frees(unsigned int cpu, unsigned int level, int by);
size_t shim_node_size(void);
bool shim_node_is_free(const struct nbq_node *node);

/* Does a waiter with this node of a queue lock poll this word: its status, or another's prev? */
bool shim_is_polled(const struct nbq_node *node, const void *word);
/*
 * The waiter with this node of a queue lock is about to abandon it, and has polled this word last:
 * would it acquire the lock if it went on?
 */
bool shim_would_be_granted(const struct nbq_node *node, const void *word);

/* Nodes in use minus those that the counters of this pool's level know of. */
long shim_uncounted_nodes(unsigned int cpu, unsigned int level);

#endif
