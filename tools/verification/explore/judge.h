/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What must hold: at each access, whenever a verb begins or ends, and in states in
 * which nobody uses the lock.
 */
#ifndef JUDGE_H
#define JUDGE_H

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
extern unsigned int most_steps_to_leave;
extern unsigned int most_steps_to_release;

/* The context makes this access now. */
void judge_access(unsigned int context, enum shim_op op, const void *address);
/* It has made it; nobody else has run since. */
void judge_accessed(unsigned int context, enum shim_op op, const void *address);

void judge_begin(unsigned int context, unsigned int lock);
void judge_acquired(unsigned int context, unsigned int lock);
void judge_failed(unsigned int context, unsigned int lock, int ret);
void judge_release(unsigned int context, unsigned int lock);
void judge_released(unsigned int context, unsigned int lock);
void judge_destroyed(unsigned int context, unsigned int lock, int ret);

/* Has it released as the last user, so that it may destroy the lock? */
bool judge_is_last(unsigned int context, unsigned int lock);

/* Nobody is inside a verb or holds a lock. */
bool judge_is_quiet(void);
/*
 * A lock that nobody uses can be taken at once, released and destroyed, and then no
 * node is missing. Changes the state.
 */
void judge_quiet(void);
/* Whoever waits for a lock that is free can get it without anybody's help. */
void judge_free_locks(void);
/* Nobody can go on any more, except by losing patience. */
void judge_stuck(void);

#endif
