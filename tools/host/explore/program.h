/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Configurations: which contexts there are, and what attempts each makes.
 *
 *	0.0:A,A? 0.3:A0 1.0:A(B)
 *
 * One word a context: its CPU, its context level (0 task .. 3 NMI), its attempts one after
 * another. A letter is a lock; what follows is the patience: nothing for ever, ? until some
 * reading of the clock, 0 none, @ a deadline that has passed already; ~ until its condition holds,
 * which is of the hybrid, and of nbq_arena_lock that its program may loop no more; of the hybrid
 * alone: ^ a takeover from the context that may stop for good, once that has stopped
 * or made all of its attempts. x: while it has the lock, it may stop for good; one context of a
 * configuration may. !: after the release, if no context uses the lock then, its memory becomes
 * another lock, without a call (of the hybrid alone). The attempts in parentheses are made while
 * holding the lock.
 *
 * A small letter: an attempt at what the memory of the lock has become, by which no context begins
 * before that. It becomes that when all attempts at the first lock are over. Which types the two
 * locks have, and whether the first one is destroyed, is said besides (types_read()).
 *
 * Behind the letter of a lock that the context holds, a question: = is it locked? - does a trylock
 * take it? # is it destroyed?
 *
 *	0.0:A >1.0:A? >2.0:A
 *
 * >: the context begins when the one named before it has enqueued, acquired or failed.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdbool.h>

#include "fiber.h"

#define MOST_LOCKS	2U
#define MOST_STEPS	8U

enum patience {
	FOR_EVER,
	FINITE,
	NONE,
	PAST,
	TAKEOVER,
	UNLESS,
	IS_LOCKED,	/* from here on questions of the holder */
	TRIES,
	DESTROYS,
};

/**
 * struct step - an attempt, and the release if it succeeds
 * @lock: which lock
 * @patience: for how long it may wait; or what its holder asks
 * @second: at what the memory of the lock has become
 * @stops: with the lock, the context may stop for good
 * @remakes: the lock becomes another one in the same memory
 * @inner: the first of those made while holding the lock; NULL: none
 * @next: the one after it; NULL: it is the last
 */
struct step {
	unsigned int lock;
	enum patience patience;
	bool second;
	bool stops;
	bool remakes;
	const struct step *inner;
	const struct step *next;
};

/**
 * struct role - a context, as the configuration has it
 * @cpu: its CPU
 * @level: its context level
 * @place: its position among those of its CPU
 * @program: its first attempt; the same one for all whose text is the same
 * @text: that, as written
 * @attempts: how many it makes at each lock
 * @second: how many of these at what the memory of the lock has become
 * @follows: it begins after the one named before it
 */
struct role {
	unsigned int cpu;
	unsigned int level;
	unsigned int place;
	const struct step *program;
	char text[32];
	unsigned int attempts[MOST_LOCKS];
	unsigned int second[MOST_LOCKS];
	bool follows;
};

extern struct role roles[MOST_FIBERS];
extern unsigned int contexts_number;
/* The one that may stop for good, if one may. */
extern unsigned int stopping;
extern unsigned int locks_number;
extern unsigned int cpus_number;

/* The type of each lock, and that of the lock that its memory becomes. */
extern const struct lock_type *lock_types[MOST_LOCKS][2];

static inline bool is_question(enum patience patience)
{
	return patience >= IS_LOCKED;
}

/* It begins after another one, or another one after it. */
bool has_order(unsigned int context);
/* They end the run if the text is not a configuration. */
void program_read(const char *text);
/*
 * The types of the locks: clh: of all; clh,mcs: of A, and of B; spin>clh: first a spin, then, in
 * the same memory, a clh, after it was destroyed if it has that.
 */
void types_read(const char *text);

#endif
