/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The checker: what must hold at each access, whenever an operation begins or ends, and while
 * the lock is unused.
 */
#ifndef CHECKER_H
#define CHECKER_H

#include "context.h"

/* What went wrong, in words; empty: nothing. */
extern char failure[160];

/* The state that is tried out is put back afterwards, with what was wrong so far. */
struct trial {
	char *state;
	char failure[sizeof(failure)];
	void (*observer)(unsigned int context, const struct access *access);
};

struct trial trial_begin(void);
void trial_end(struct trial *trial);

void fail(const char *format, ...) __attribute__((__format__(__printf__, 1, 2)));

/* The most own steps that were seen. */
extern unsigned int most_steps_to_abandon;
extern unsigned int most_steps_to_release;

/* The context makes this access now. */
void check_access(unsigned int context, enum shim_op op, const void *address);
/* It has made it; no other context has run since. */
void check_accessed(unsigned int context, enum shim_op op, const void *address,
		    unsigned long before);

void check_begin(unsigned int context, unsigned int lock);
/* The context has stopped for good with the lock; another context has taken it from that. */
void check_stopped(unsigned int context, unsigned int lock);
void check_taken_over(unsigned int lock);
bool is_held_by_a_stopped(unsigned int lock);
void check_acquired(unsigned int context, unsigned int lock);
void check_failed(unsigned int context, unsigned int lock, int ret);
void check_release(unsigned int context, unsigned int lock);
void check_released(unsigned int context, unsigned int lock, bool remakes);
void check_destroyed(unsigned int context, unsigned int lock, int ret);
/* A question of the holder; its answer, 0: the lock was found to be held. */
void check_ask(unsigned int context, unsigned int lock, enum patience what);
void check_asked(unsigned int context, int ret);

/* Is there anything for which an attempt that does not wait may fail? */
bool is_used(unsigned int lock, unsigned int except);
/* Nobody is inside a verb or holds a lock. */
bool is_quiescent(void);
/*
 * An unused lock can be acquired, released and destroyed, and no node is lost. Changes the
 * state.
 */
void check_quiescent(void);
/* A waiter for a free lock acquires it without help. */
void check_free_locks(void);
/* Nobody can go on any more, except by losing patience. */
void check_stuck(void);

#endif
