// SPDX-License-Identifier: GPL-2.0
/*
 * Mixtures: which waiter is behind which. Of a strict queue its order is known, from the swaps of
 * its tail and the places that are resumed. The word of the hybrid names its holder: it is what
 * exclusion rests on.
 */
#include <string.h>

#include "mixtures.h"

/* Places of a queue. */

static void remove_place(struct slot *slot, unsigned int place)
{
	slot->places_number--;
	memmove(&slot->places[place], &slot->places[place + 1],
		(slot->places_number - place) * sizeof(slot->places[0]));
}

static void forget_node(const void *node)
{
	struct slot *slot;
	unsigned int i;

	for (slot = slots; slot != slots + MOST_SLOTS; slot++) {
		for (i = slot->places_number; i--;) {
			if (slot->places[i].node == node && !slot->places[i].waiter)
				remove_place(slot, i);
		}
	}
}

static int place_of(const struct slot *slot, const struct context *waiter)
{
	unsigned int i;

	for (i = 0; i < slot->places_number; i++) {
		if (slot->places[i].waiter == waiter)
			return i;
	}
	return -1;
}

/* There are more nodes than these only where pools have grown. */
static void forget_an_abandoned_place(struct slot *slot)
{
	unsigned int i;

	for (i = 0; i + 1 < slot->places_number && slot->places[i].waiter; i++)
		;
	remove_place(slot, i);
}

void waits_enqueued(struct context *context, bool was_empty)
{
	struct slot *slot = context->slot;
	const void *node = *(void *const *)tail_of(slot);

	/* An attempt without end that has detected a deadlock begins anew. */
	waits_left(context, false);
	if (was_empty)
		slot->places_number = 0;
	forget_node(node);
	if (slot->places_number == sizeof(slot->places) / sizeof(slot->places[0]))
		forget_an_abandoned_place(slot);
	slot->places[slot->places_number].waiter = context;
	slot->places[slot->places_number++].node = node;
}

void waits_resumed(struct context *context, const void *node)
{
	struct slot *slot = context->slot;
	unsigned int i;

	for (i = 0; i < slot->places_number; i++) {
		if (slot->places[i].node == node && !slot->places[i].waiter) {
			slot->places[i].waiter = context;
			return;
		}
	}
	context->waits_at_random = true;
}

void waits_left(struct context *context, bool acquired)
{
	struct slot *slot = context->slot;
	int place = place_of(slot, context);

	if (place < 0)
		return;
	slot->places[place].waiter = NULL;
	while (acquired && place-- >= 0)
		remove_place(slot, 0);
}

/* Which context waits for which. */

static bool is_waiting(const struct context *context)
{
	return context->busy && acquires(context->event.call) && context->patience > 0;
}

bool waits_is_releasing(const struct context *context, const struct slot *slot)
{
	return context->busy && context->slot == slot && context->event.call == UNLOCK &&
	       !context->superseded;
}

/* A context as the word of a hybrid knows it. */
static unsigned long name_of(unsigned int cpu, unsigned int level)
{
	return 1UL << (cpu * NBQ_LEVELS + level);
}

/* The holder that the hybrid names; 0: none. */
static unsigned long named_by(const struct slot *slot)
{
	unsigned int cpu, level;

	return holder_in_word(slot, &cpu, &level) ? name_of(cpu, level) : 0;
}

static bool is_below_its_level(const struct context *waiter)
{
	const struct context *other;

	for_each_context(other) {
		if (other->cpu == waiter->cpu && other->level == waiter->level &&
		    other->depth > waiter->depth)
			return true;
	}
	return false;
}

static bool is_of_two(unsigned long name)
{
	const struct context *context;
	unsigned int number = 0;

	for_each_context(context)
		number += name_of(context->cpu, context->level) == name;
	return number > 1;
}

/*
 * Does @waiter, at a hybrid, wait for the other to release? While a context of its level is above
 * it, it publishes nothing new: another CPU still finds it behind an earlier holder. So it does
 * until the next deadlock check of @waiter, too, or the end of its attempt. That matters only if
 * the earlier holder was a nested context: it is taken for the one below it, which may still wait.
 */
static bool is_named(const struct context *waiter, const struct context *other)
{
	unsigned long name = name_of(other->cpu, other->level);

	return name & (is_below_its_level(waiter) ? waiter->named :
		       named_by(waiter->slot) | waiter->ambiguous);
}

/* The same in a strict queue. */
static bool is_in_front(const struct context *waiter, const struct context *other)
{
	const struct slot *slot = waiter->slot;
	int own = place_of(slot, waiter), place = place_of(slot, other);

	if (other == waiter)
		return slot->holder == other;
	if (own < 0)
		return waiter->waits_at_random && is_waiting(other) && other->slot == slot;
	return slot->holder == other || waits_is_releasing(other, slot) ||
	       (place >= 0 && place < own);
}

/* Can the context go on only when the other has? */
static bool depends_on(const struct context *context, const struct context *other)
{
	if (other->cpu == context->cpu && other->depth > context->depth)
		return true;
	if (!is_waiting(context))
		return false;
	if (context->slot->type == SPIN)
		return is_named(context, other);
	return is_in_front(context, other) || (other->visits == context->slot && other->busy);
}

static unsigned long bit_of(const struct context *context)
{
	return 1UL << (context->cpu * MOST_DEPTH + context->depth);
}

static bool leads_to(const struct context *from, const struct context *to, unsigned long *seen)
{
	struct context *other;

	*seen |= bit_of(from);
	for_each_context(other) {
		if (!depends_on(from, other))
			continue;
		if (other == to || (!(*seen & bit_of(other)) && leads_to(other, to, seen)))
			return true;
	}
	return false;
}

void waits_find_cycles(void)
{
	struct context *context;

	for_each_context(context) {
		if (is_waiting(context) && context->slot->type == SPIN) {
			unsigned long name = named_by(context->slot);

			context->named |= name;
			context->ambiguous |= is_of_two(name) ? name : 0;
		}
	}
	for_each_context(context) {
		unsigned long seen = 0;

		if (is_waiting(context) && !context->in_cycle)
			context->in_cycle = leads_to(context, context, &seen);
	}
}
