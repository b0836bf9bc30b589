// SPDX-License-Identifier: GPL-2.0
/*
 * Trying out whether a wait would ever end.
 */
#include <stdlib.h>
#include <string.h>

#include <nbqlock/wait.h>

#include "context.h"
#include "deadlock.h"
#include "judge.h"
#include "state.h"

/* What a queue node says to hand the lock over; see nbqlock/internal.h. */
#define AVAILABLE	1UL
/* Longer than it takes everybody to get stuck. */
#define MOST_ROUNDS	1000U

/* The state that is tried out is put back afterwards, with what was wrong so far. */
struct trial {
	char *state;
	char failure[sizeof(failure)];
	void (*observer)(unsigned int context, const struct access *access);
};

static struct trial begin(void)
{
	struct trial trial = { .state = malloc(state_size()), .observer = context_observer };

	if (!trial.state)
		abort();
	context_observer = NULL;
	state_save(trial.state);
	memcpy(trial.failure, failure, sizeof(failure));
	return trial;
}

static void end(struct trial *trial)
{
	state_restore(trial->state);
	context_observer = trial->observer;
	memcpy(failure, trial->failure, sizeof(failure));
	free(trial->state);
}

bool deadlock_is_possible(void)
{
	return contexts_number > cpus_number || locks_number > 1;
}

/* Has what it looks at changed since it looked? */
static bool has_been_told(const struct context *context)
{
	const struct looks *looks = &context->looks;

	return looks->number && *looks->word[0] != looks->value[0];
}

/*
 * One that looks for a deadlock, or whose patience has just ended, is one that waits: it
 * must not give up.
 */
static bool can_go_on(unsigned int number)
{
	const struct context *context = &contexts[number];
	const struct attempt *attempt = &context->attempt[context->lock];

	if (!context->started || !context_can(number, STEP))
		return false;
	if (attempt->doing == ACQUIRING && (context->checked || context->late))
		return has_been_told(context);
	return true;
}

/* All but one, until nobody can. */
static void others_go_on(unsigned int except)
{
	bool moved = true;
	unsigned int number, rounds;

	for (rounds = 0; moved && rounds < MOST_ROUNDS; rounds++) {
		moved = false;
		for (number = 0; number < contexts_number; number++) {
			if (number == except || !can_go_on(number) || failure[0])
				continue;
			context_go(number, STEP);
			moved = true;
		}
	}
}

bool deadlock_is_true(unsigned int number)
{
	const struct context *context = &contexts[number];
	const struct attempt *attempt = &context->attempt[context->lock];
	struct trial trial = begin();
	const unsigned long *word = context->looks.word[0];
	bool leaves = context->op != SHIM_OP_ADD;
	bool true_one;

	nbq_deadlock_checks = false;
	others_go_on(number);
	while (!leaves && attempt->doing == ACQUIRING && has_been_told(context) &&
	       !failure[0]) {
		while (attempt->doing == ACQUIRING && context_can(number, STEP) && !failure[0])
			context_go(number, STEP);
		others_go_on(number);
	}
	true_one = attempt->doing == ACQUIRING && !(leaves && *word == AVAILABLE);
	nbq_deadlock_checks = true;
	end(&trial);
	return true_one;
}

/* It polls on until it has looked for a deadlock, and nobody else does anything. */
static bool will_be_told(unsigned int number)
{
	struct context *context = &contexts[number];
	unsigned char lock = context->lock;
	struct trial trial = begin();
	bool told;

	context->walks_left = 1;
	context_go(number, WALK);
	while (context->attempt[lock].doing == ACQUIRING && !context->blocked && !failure[0])
		context_go(number, STEP);
	told = context->attempt[lock].doing == LEAVING;
	end(&trial);
	return told;
}

bool deadlock_will_be_told(void)
{
	unsigned int number;

	for (number = 0; number < contexts_number; number++) {
		const struct context *context = &contexts[number];
		unsigned char walks_left = context->walks_left;
		bool waits;

		contexts[number].walks_left = 1;
		waits = context_can(number, WALK);
		contexts[number].walks_left = walks_left;
		if (waits && will_be_told(number))
			return true;
	}
	return false;
}
