/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which words are shared: touched by more than one context, and written by one.
 *
 * At first those of locks are taken to be, and no other. A context then runs on over
 * accesses to words that are not known to be shared. When one turns out to be, an
 * exploration that took it for private is worth nothing and is made anew, with that
 * word, in every node or pool, known to be shared; until one ends without having
 * learned anything.
 *
 * That one is complete. Take any schedule in which contexts alternate at every
 * access, and suppose that in it a word taken for private is touched by two
 * contexts and written; and take the first such touch. Up to there all accesses to
 * words taken for private are by one context each, or reads of what no context has
 * written, so each can be moved to directly behind the same context's shared
 * access before it, without changing what anyone reads. What results, the touch
 * included, is a schedule that was explored; so the word would have been learned.
 * Hence there is no such touch in any schedule, and each is equivalent to one
 * explored.
 *
 * Counters for people are left out: no lock acts on them. So are the accesses of C
 * that go without the kernel's macros, which are not seen at all; the shipped files
 * make them where no other context may access the word, which thread sanitizer checks
 * (tools/host/programs).
 */
#ifndef SHARING_H
#define SHARING_H

#include <stdbool.h>

/* Forget the accesses, not what is shared. */
void sharing_begin(void);
/*
 * A context is about to touch a word.
 *
 * Return: true if it is shared.
 */
bool sharing_touch(unsigned int context, const void *address, bool writes);
/* Has a word turned out to be shared since the exploration began? */
bool sharing_has_learned(void);

/* What is known to be shared, as a short text; and to know what such a text says. */
const char *sharing_code(void);
/* Return: what follows the text and a colon; NULL: it is no such text. */
const char *sharing_set(const char *code);

/*
 * Words that are neither in a lock nor in a node or pool: statics of the files. They are
 * shared, but for the switch of the deadlock checks, which is constant.
 */
#define MOST_STATICS	8U
extern unsigned long *statics[MOST_STATICS];
extern unsigned int statics_number;

#endif
