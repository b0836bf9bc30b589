/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The lock types, as the explorer sees them: what host/type.h says of each, in a table, as the
 * memory of a lock of one type may become a lock of another.
 */
#ifndef LOCK_TYPE_H
#define LOCK_TYPE_H

#include <stdbool.h>

#include <host.h>

struct nbq_node;

/* The memory of a lock of any type: no type is larger. */
union lock_memory {
	unsigned long word;
};

/**
 * struct lock_type - a type of locks; the constants and functions are those of host/type.h
 * @name: of the type, as configurations have it
 * @is_destroyed: it is to be destroyed before its memory may be anything else
 * @takeover: from the context of this CPU and level; NULL: the type has none
 * @is_granted: a waiter is about to abandon this node, of which it has polled this word: would it
 *	acquire the lock if it went on instead?
 */
struct lock_type {
	const char *name;
	bool is_fifo;
	bool holds_node;
	bool has_policy;
	bool detects_deadlocks;
	bool in_kernel;
	bool is_destroyed;
	int error_without_node;
	int error_of_stop;
	unsigned int steps_to_abandon;
	unsigned int steps_to_release;
	void (*init)(void *lock);
	int (*lock_timeout)(void *lock, s64 patience);
	int (*lock_until)(void *lock, s64 deadline);
	int (*lock_unless)(void *lock, bool (*stop)(void *arg), void *arg);
	int (*takeover)(void *lock, unsigned int cpu, unsigned int level);
	bool (*trylock)(void *lock);
	void (*unlock)(void *lock);
	int (*destroy)(void *lock);
	int (*end)(void *lock);
	bool (*is_held)(const void *lock);
	bool (*is_tail)(const void *lock, const void *address);
	bool (*is_own_step)(const void *lock, const void *address);
	bool (*may_acquire)(const void *lock, enum shim_op op, const void *address);
	bool (*is_held_by_this_context)(const void *lock);
	bool (*is_held_on_this_cpu)(const void *lock);
	bool (*begins_abandon)(const void *lock, const struct nbq_node *node, enum shim_op op,
			       const void *address);
	bool (*is_granted)(const struct nbq_node *node, const void *word);
	bool (*is_request_access)(const void *lock, enum shim_op op, const void *address);
	bool (*has_handoff_request)(const void *lock);
	bool (*has_valid_request)(const void *lock);
	unsigned long (*value_in_lock)(const void *lock, const void *address);
	const struct nbq_node *(*tail_node)(const void *lock, const void *tail);
};

/* program.py gives the types: LOCK_TYPES(WITH) is WITH(name) for each. */
#define DECLARE_LOCK_TYPE(name)	extern const struct lock_type lock_type_##name;
LOCK_TYPES(DECLARE_LOCK_TYPE)

#endif
