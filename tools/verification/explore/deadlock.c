// SPDX-License-Identifier: GPL-2.0
/*
 * Trying out whether a wait would ever end.
 */
#include <stdlib.h>
#include <string.h>

#include <nbqlock/wait.h>

#include "context.h"
#include "deadlock.h"
#include "checker.h"
#include "state.h"

/* The value that grants the lock; see nbqlock/internal.h. */
#define AVAILABLE	1UL
/* Longer than it takes until no context can proceed. */
#define MOST_ROUNDS	1000U

struct trial trial_begin(void)
{
	struct trial trial = { .state = malloc(state_size()), .observer = context_observer };

	if (!trial.state)
		abort();
	context_observer = NULL;
	state_save(trial.state);
	memcpy(trial.failure, failure, sizeof(failure));
	return trial;
}

void trial_end(struct trial *trial)
{
	state_restore(trial->state);
	context_observer = trial->observer;
	memcpy(failure, trial->failure, sizeof(failure));
	free(trial->state);
}

bool deadlock_is_possible(void)
{
	return DETECTS_DEADLOCKS && (contexts_number > cpus_number || locks_number > 1);
}

/* Has the word that it polls changed? */
static bool polled_word_changed(const struct context *context)
{
	const struct reads *reads = &context->reads;

	/* Without an order a waiter depends on the holder alone. */
	if (!IS_FIFO)
		return !is_held(&locks[context->lock]);
	return reads->number && value_at(reads->word[0]) != reads->value[0];
}

/* One that checks for a deadlock, or has just timed out, still waits: it must not fail. */
static bool can_proceed(unsigned int number)
{
	const struct context *context = &contexts[number];
	const struct attempt *attempt = &context->attempt[context->lock];

	if (!context->started ||
	    !(context_can(number, STEP) || context_would_persist(number)))
		return false;
	if (attempt->doing == ACQUIRING && (context->checked || context->late))
		return polled_word_changed(context);
	return true;
}

static void step_or_persist(unsigned int number)
{
	context_go(number, context_can(number, STEP) ? STEP : PERSIST);
}

/* All but one, until none can proceed. */
static void run_others(unsigned int except)
{
	bool moved = true;
	unsigned int number, rounds;

	for (rounds = 0; moved && rounds < MOST_ROUNDS; rounds++) {
		moved = false;
		for (number = 0; number < contexts_number; number++) {
			if (number == except || !can_proceed(number) || failure[0])
				continue;
			step_or_persist(number);
			moved = true;
		}
	}
}

/* It is about to abandon: would it have acquired otherwise? */
static bool would_have_acquired(const struct context *context, const void *word)
{
	return IS_FIFO ? value_at(word) == AVAILABLE : polled_word_changed(context);
}

bool deadlock_is_true(unsigned int number)
{
	const struct context *context = &contexts[number];
	const struct attempt *attempt = &context->attempt[context->lock];
	struct trial trial = trial_begin();
	const void *word = context->reads.word[0];
	bool leaves = context->op != SHIM_OP_ADD;
	bool true_one;

	nbq_deadlock_checks = false;
	run_others(number);
	while (!leaves && attempt->doing == ACQUIRING && polled_word_changed(context) &&
	       !failure[0]) {
		while (attempt->doing == ACQUIRING && !failure[0] &&
		       (context_can(number, STEP) || context_would_persist(number)))
			step_or_persist(number);
		run_others(number);
	}
	true_one = attempt->doing == ACQUIRING && !(leaves && would_have_acquired(context, word));
	nbq_deadlock_checks = true;
	trial_end(&trial);
	return true_one;
}

/* It polls on until it has made a check; no other context runs. */
static bool detects(unsigned int number)
{
	struct context *context = &contexts[number];
	unsigned char lock = context->lock;
	unsigned char left = context->attempt[lock].left;

	context_go(number, CHECK);
	while (context->attempt[lock].doing == ACQUIRING && !context->blocked && !failure[0])
		context_go(number, STEP);
	return context->attempt[lock].doing != ACQUIRING || context->attempt[lock].left != left;
}

/*
 * A waiter behind a holder publishes it when it makes a check, and only then: each must have
 * done so since it waits, and once more in the epoch in which it is to be found.
 */
#define MOST_CHECKS	(HOLDS_NODE ? 1 : 3)

bool deadlock_will_be_detected(void)
{
	struct trial trial = trial_begin();
	unsigned int number, reads;
	bool detected = false;

	for (reads = 0; reads < MOST_CHECKS; reads++) {
		for (number = 0; number < contexts_number && !detected; number++) {
			contexts[number].checks_left = 1;
			detected = context_can(number, CHECK) && detects(number);
			if (!detected && HOLDS_NODE) {
				trial_end(&trial);
				trial = trial_begin();
			}
		}
	}
	trial_end(&trial);
	return detected;
}
