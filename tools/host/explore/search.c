// SPDX-License-Identifier: GPL-2.0
/*
 * Going through all schedules.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "context.h"
#include "checker.h"
#include "search.h"
#include "seen.h"
#include "sharing.h"
#include "state.h"

char schedule[MOST_TRANSITIONS + 1];
struct search_counts counts;

static const char first_sign[WAYS] = { 'a', 'Q', 'A', '0', '(' };

static void *allocate(size_t size)
{
	void *memory = malloc(size);

	if (!memory) {
		fprintf(stderr, "explore: no memory\n");
		exit(2);
	}
	return memory;
}

/* What may happen next, as a string. Return: its length. */
static unsigned int find_choices(char *choices)
{
	unsigned int context, way, number = 0;

	for (way = 0; way < WAYS; way++) {
		for (context = 0; context < contexts_number; context++) {
			if (context_can(context, way))
				choices[number++] = first_sign[way] + context;
		}
	}
	choices[number] = '\0';
	return number;
}

static enum way way_of(char sign)
{
	enum way way = STEP;

	while (sign < first_sign[way])
		way++;
	return way;
}

unsigned int search_context(char sign)
{
	return sign - first_sign[way_of(sign)];
}

bool search_make(char sign)
{
	unsigned int context = search_context(sign);
	enum way way = way_of(sign);

	if (context >= contexts_number || !context_can(context, way))
		return false;
	context_go(context, way);
	return true;
}

/* Can any context make a step, without a timeout? */
static bool all_stand(void)
{
	unsigned int context;

	for (context = 0; context < contexts_number; context++) {
		if (context_can(context, STEP))
			return false;
	}
	for (context = 0; context < contexts_number; context++) {
		if (context_would_persist(context))
			return false;
	}
	return true;
}

static bool all_ended(void)
{
	unsigned int context;

	for (context = 0; context < contexts_number; context++) {
		if (!contexts[context].ended)
			return false;
	}
	return true;
}

static char *before_judging;

void search_check(void)
{
	bool ended = all_ended();

	if (failure[0])
		return;
	counts.ends += ended;
	if (!ended && all_stand())
		check_stuck();
	check_free_locks();
	if (failure[0] || !is_quiescent())
		return;
	counts.quiescent++;
	state_save(before_judging);
	check_quiescent();
	state_restore(before_judging);
}

void search_start(unsigned int pool_size)
{
	failure[0] = '\0';
	shim_pools_start(pool_size, pool_size);
	shim_sockets_start(sockets_number, socket_of);
	state_begin();
	contexts_start();
	free(before_judging);
	before_judging = allocate(state_size());
}

static volatile sig_atomic_t asked_for_progress;

static void ask_for_progress(int signal)
{
	asked_for_progress = signal;
}

void search_show_progress(void)
{
	struct sigaction action = { .sa_handler = ask_for_progress, .sa_flags = SA_RESTART };
	const struct itimerval often = { { 2, 0 }, { 2, 0 } };

	sigaction(SIGALRM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
}

/* Every now and then; and at Ctrl-C, which is the last time. */
static void show_progress(void)
{
	int asked = asked_for_progress;

	if (!asked)
		return;
	asked_for_progress = 0;
	if (asked != SIGALRM || isatty(STDERR_FILENO))
		fprintf(stderr, "explore: %zu states, %zu transitions so far\n",
			seen_number(), counts.transitions);
	if (asked != SIGALRM)
		exit(128 + asked);
}

/* A state on the way to the one at hand: what else there is to do from there. */
struct turn {
	char choices[WAYS * MOST_FIBERS + 1];
	unsigned int next;
	size_t saved;		/* where in the memory of saved states */
};

static struct turn turns[MOST_TRANSITIONS];
static char *memory;
static size_t memory_size;

/* A new state is the last one of the way now. */
static void push(unsigned int depth)
{
	struct turn *turn = &turns[depth];

	if (turn->saved + state_size() > memory_size) {
		memory_size = 2 * memory_size + state_size();
		memory = realloc(memory, memory_size);
		if (!memory)
			abort();
	}
	turn->next = 0;
	find_choices(turn->choices);
	turn[1].saved = turn->saved + state_save(memory + turn->saved);
	if (depth > counts.longest)
		counts.longest = depth;
}

/* Make the next transition from a state on the way. Return: false if none is left. */
static bool turn_from(unsigned int depth)
{
	struct turn *turn = &turns[depth];
	char sign = turn->choices[turn->next];

	if (!sign)
		return false;
	/* The first is made where it stands. */
	if (turn->next++)
		state_restore(memory + turn->saved);
	schedule[depth] = sign;
	schedule[depth + 1] = '\0';
	search_make(sign);
	counts.transitions++;
	return true;
}

/* Depth first. Return: false if something is wrong, or has been learned. */
static bool explore(size_t most_states)
{
	int depth = 0;

	seen_add(state_fingerprint());
	search_check();
	push(0);
	while (depth >= 0 && !failure[0] && !sharing_has_learned()) {
		if (!turn_from(depth)) {
			depth--;
		} else if (!failure[0] && seen_add(state_fingerprint())) {
			search_check();
			push(++depth);
			show_progress();
			if (depth + 2 >= (int)MOST_TRANSITIONS)
				fail("a schedule has no end");
			if (seen_number() > most_states)
				fail("more than %zu states", most_states);
		}
	}
	return !failure[0] && !sharing_has_learned();
}

/* A state of a breadth-first search: the transition that led there, and from where. */
struct origin {
	uint32_t from;
	char transition;
};

/* Make all transitions that lead from the start to this state. */
static void replay_origin(const struct origin *origins, uint32_t state, const char *start)
{
	unsigned int length = 0;
	uint32_t at;

	for (at = state; at; at = origins[at].from)
		length++;
	schedule[length] = '\0';
	for (at = state; at; at = origins[at].from)
		schedule[--length] = origins[at].transition;
	state_restore(start);
	for (; schedule[length]; length++)
		search_make(schedule[length]);
}

static bool breadth_first(unsigned int pool_size, size_t most_states)
{
	struct origin *origins = allocate(most_states * sizeof(*origins));
	size_t number = 1, state;
	char *start, *here;

	sharing_begin();
	search_start(pool_size);
	start = allocate(state_size());
	here = allocate(state_size());
	state_save(start);
	seen_clear();
	seen_add(state_fingerprint());
	origins[0] = (struct origin){ 0 };
	for (state = 0; state < number && !failure[0] && !sharing_has_learned(); state++) {
		char choices[WAYS * MOST_FIBERS + 1], *choice;

		replay_origin(origins, state, start);
		find_choices(choices);
		state_save(here);
		for (choice = choices; *choice && !failure[0]; choice++) {
			state_restore(here);
			search_make(*choice);
			search_check();
			if (failure[0]) {
				schedule[strlen(schedule) + 1] = '\0';
				schedule[strlen(schedule)] = *choice;
			} else if (seen_add(state_fingerprint()) && number < most_states) {
				origins[number++] = (struct origin){ state, *choice };
			}
		}
	}
	free(origins);
	free(start);
	free(here);
	return failure[0] && !sharing_has_learned();
}

bool search_shortest(unsigned int pool_size, size_t most_states)
{
	do {
		if (breadth_first(pool_size, most_states))
			return true;
	} while (sharing_has_learned());
	return false;
}

bool search_all(unsigned int pool_size, size_t most_states)
{
	do {
		memset(&counts, 0, sizeof(counts));
		sharing_begin();
		search_start(pool_size);
		seen_clear();
		if (!failure[0] && explore(most_states)) {
			counts.states = seen_number();
			return true;
		}
	} while (!failure[0]);
	counts.states = seen_number();
	return false;
}
