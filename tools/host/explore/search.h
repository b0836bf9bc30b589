/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Going through all schedules: depth first, past no state twice; the shortest way to
 * a failure breadth first.
 *
 * A schedule is a string, a character a transition: a small letter is a step of
 * that context (a: the first), a capital letter its timeout, a digit: it polls on
 * until it makes a deadlock check, a sign from ( on: it polls on until it does something
 * new.
 */
#ifndef SEARCH_H
#define SEARCH_H

#include <stdbool.h>
#include <stddef.h>

#define MOST_TRANSITIONS	4000U	/* of one schedule */

extern char schedule[MOST_TRANSITIONS + 1];

struct search_counts {
	size_t states;
	size_t transitions;
	size_t ends;		/* states in which all contexts have ended */
	size_t quiescent;		/* states in which the lock is unused */
	size_t longest;		/* transitions of a schedule */
};

extern struct search_counts counts;

/*
 * More than so many states are wrong, too.
 *
 * Return: false if something is wrong; how it comes to that is in schedule.
 */
bool search_all(unsigned int pool_size, size_t most_states);
/*
 * The shortest schedule on which something is wrong, if it is found among so many
 * states.
 */
bool search_shortest(unsigned int pool_size, size_t most_states);

/* From now on, say how far it got: on a terminal every now and then, and at Ctrl-C. */
void search_show_progress(void);

/* All stop before their first access, with new pools. */
void search_start(unsigned int pool_size);
/* Make the transition of this character. */
bool search_make(char transition);
/* Of which context this is a transition. */
unsigned int search_context(char transition);
/* Judge the state that was reached. */
void search_check(void);

#endif
