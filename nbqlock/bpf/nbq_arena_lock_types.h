/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* struct nbq_arena_lock, also for the user's side of an arena. */
#ifndef NBQ_ARENA_LOCK_TYPES_H
#define NBQ_ARENA_LOCK_TYPES_H

/*
 * Zeroes are a free lock. No call ends it, but see Documentation/arena.rst before its memory
 * becomes something else. Its fields are private.
 */
struct nbq_arena_lock {
	unsigned int owner;
	unsigned int tail;
};

#endif /* NBQ_ARENA_LOCK_TYPES_H */
