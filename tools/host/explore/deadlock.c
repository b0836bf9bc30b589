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
	return type_of(0)->detects_deadlocks &&
	       (contexts_number > cpus_number || locks_number > 1);
}

/* Has the word that it polls changed? */
static bool polled_word_changed(const struct context *context)
{
	const struct reads *reads = &context->reads;
	const struct nbq_node *node = context->attempt[context->lock].node;
	unsigned int i;

	/* Without an order a waiter depends on the holder alone. */
	if (!type_of(context->lock)->is_fifo)
		return !type_of(context->lock)->is_held(&locks[context->lock]);
	/* One without a node waits for that. */
	for (i = 0; i < reads->number; i++) {
		if (!node || reads->word[i] == context->polled_word)
			return value_at(reads->word[i]) != reads->value[i];
	}
	/* It does not poll any more, and has not begun to abandon by what counts as that. */
	return node;
}

/*
 * One that checks for a deadlock, or has just timed out, still waits: it must not fail. One that is
 * about to fail without a timeout never goes on.
 */
static bool can_proceed(unsigned int number)
{
	const struct context *context = &contexts[number];
	const struct attempt *attempt = &context->attempt[context->lock];

	if (!context->started ||
	    !(context_can(number, STEP) || context_would_persist(number)))
		return false;
	if (context_gives_up(number))
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
static bool would_have_acquired(unsigned int number)
{
	const struct context *context = &contexts[number];
	const struct lock_type *type = type_of(context->lock);
	const struct nbq_node *node = context->attempt[context->lock].node;

	if (!type->is_fifo)
		return polled_word_changed(context);
	/* The node of MCS-NB and swap-only names its predecessor after this access. */
	if (context_can(number, STEP))
		context_go(number, STEP);
	return type->is_granted(node, context->polled_word);
}

bool deadlock_is_true(unsigned int number)
{
	const struct context *context = &contexts[number];
	const struct attempt *attempt = &context->attempt[context->lock];
	struct trial trial = trial_begin();
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
	true_one = attempt->doing == ACQUIRING && !(leaves && would_have_acquired(number));
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
static unsigned int most_checks(void)
{
	unsigned int lock;

	for (lock = 0; lock < locks_number && type_of(lock)->holds_node; lock++)
		;
	return lock == locks_number ? 1 : 3;
}

bool deadlock_will_be_detected(void)
{
	struct trial trial = trial_begin();
	unsigned int number, reads, most = most_checks();
	bool detected = false;

	for (reads = 0; reads < most; reads++) {
		for (number = 0; number < contexts_number && !detected; number++) {
			contexts[number].checks_left = 1;
			detected = context_can(number, CHECK) && detects(number);
			if (!detected && most == 1) {
				trial_end(&trial);
				trial = trial_begin();
			}
		}
	}
	trial_end(&trial);
	return detected;
}
