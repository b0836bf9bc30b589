// SPDX-License-Identifier: GPL-2.0
/*
 * Mixtures: what must hold. The model knows which context holds which lock and what memory is a
 * lock, from the operations that were called and what they returned.
 */
#include <sanitizer/asan_interface.h>
#include <stdlib.h>
#include <string.h>

#include <linux/errno.h>

#include "mixtures.h"

#define FREED	0x5a	/* memory that is no lock */
#define UNINITIALISED	0xa5

struct slot slots[MOST_SLOTS];

/* May an attempt without end be made? All of them keep an order, or each deadlock is detected. */
bool model_may_wait(const struct context *context, const struct slot *slot, enum call call)
{
	const struct cpu *cpu = &cpus[context->cpu];
	const struct context *below;
	unsigned int i;

	if (settings.stops)
		return false;
	if (!settings.ordered)
		return !settings.nests && call != LOCK;
	for (below = cpu->contexts; below <= context; below++) {
		if (below != context && below->busy && below->slot >= slot)
			return false;
		for (i = 0; i < below->held_number; i++) {
			if (below->held[i] >= slot)
				return false;
		}
	}
	return true;
}

/* Memory. */

bool model_is_used(const struct slot *slot, const struct context *except)
{
	struct context *context;
	unsigned int i;

	for_each_context(context) {
		if (context == except)
			continue;
		if (context->busy && context->slot == slot && !context->superseded)
			return true;
		for (i = 0; i < context->held_number; i++) {
			if (context->held[i] == slot)
				return true;
		}
	}
	return false;
}

static void poison(struct slot *slot)
{
	memset(slot->memory, FREED, sizeof(void *));
	/* With the sanitizer, a plain read is an error, too. */
	ASAN_POISON_MEMORY_REGION(slot->memory, sizeof(void *));
}

static void check_poison(const struct slot *slot)
{
	unsigned char *byte = slot->memory;
	unsigned int i;

	ASAN_UNPOISON_MEMORY_REGION(slot->memory, sizeof(void *));
	for (i = 0; i < sizeof(void *); i++) {
		if (byte[i] != FREED)
			fail("memory", "memory that was a lock was written to");
	}
}

void model_make(struct slot *slot, enum type type, bool zeroed)
{
	if (slot->life)
		check_poison(slot);
	outcome->events[CHANGED_TYPE] += slot->life && slot->type != type;
	slot->type = type;
	slot->life++;
	slot->alive = true;
	slot->holder = NULL;
	slot->destroyer = NULL;
	slot->places_number = 0;
	memset(slot->memory, zeroed ? 0 : UNINITIALISED, sizeof(void *));
	if (!zeroed)
		operations[type].init(slot->memory);
	slot->may_be_zeroed = type == SPIN;
}

void model_leave(struct slot *slot)
{
	slot->alive = false;
	poison(slot);
}

/* Operations. */

void model_begin(void)
{
	struct slot *slot;

	for (slot = slots; slot != slots + MOST_SLOTS; slot++) {
		void *memory = slot->memory;

		ASAN_UNPOISON_MEMORY_REGION(memory, sizeof(void *));
		*slot = (struct slot){ .memory = memory, .may_be_zeroed = true };
		memset(memory, FREED, sizeof(void *));
	}
}

static bool holds(const struct context *context, const struct slot *slot)
{
	unsigned int i;

	for (i = 0; i < context->held_number; i++) {
		if (context->held[i] == slot)
			return true;
	}
	return false;
}

static bool allows_takeover(const struct context *context, const struct slot *slot)
{
	return slot->type == SPIN && context->info_slot == slot &&
	       context->info_life == slot->life && context->held_number < MOST_HELD;
}

/* Is this operation one that a right caller may call now? */
bool model_allows(const struct context *context, const struct event *event)
{
	const struct slot *slot = &slots[event->slot];
	enum call call = event->call;

	if (!slot->alive)
		return false;
	if (acquires(call))
		return !slot->destroyer && context->held_number < MOST_HELD &&
		       (call != UNLESS || slot->type == SPIN) &&
		       (call != LOCK || model_may_wait(context, slot, call));
	switch (call) {
	case TAKEOVER:
		return allows_takeover(context, slot);
	case UNLOCK:
		return holds(context, slot) && !slot->destroyer;
	case DESTROY:
		return slot->type != SPIN && !slot->destroyer && !model_is_used(slot, NULL);
	case DESTROY_IN_USE:
		/*
		 * Destroy waits for the end of a visit. If the holder has interrupted that, the two
		 * wait for each other, as the holder does not release before destroy is over.
		 */
		return slot->type != SPIN && !slot->destroyer && slot->holder &&
		       !(slot->holder->depth && shim_is_visited(slot->memory));
	default:
		return !slot->destroyer;
	}
}

void model_call_begins(struct context *context)
{
	struct slot *slot = context->slot;
	enum call call = context->event.call;

	context->life = slot->life;
	context->superseded = false;
	context->wrote = false;
	context->visits = NULL;
	context->in_cycle = false;
	context->waits_at_random = false;
	context->named = 0;
	context->ambiguous = 0;
	context->held_throughout = slot->holder;
	context->serial = slot->acquired;
	if (call == DESTROY || call == DESTROY_IN_USE)
		slot->destroyer = context;
	if (call == UNLOCK)
		slot->holder = NULL;
	waits_find_cycles();
}

bool model_was_held_throughout(const struct context *context)
{
	const struct slot *slot = context->slot;

	return context->held_throughout && slot->holder == context->held_throughout &&
	       slot->acquired == context->serial;
}

/* Does a context other than this one hold the lock, and may it still run? */
static bool is_held_by_another(const struct slot *slot)
{
	return slot->holder && !cpus[slot->holder->cpu].stopped;
}

static void drop(struct context *context, const struct slot *slot)
{
	unsigned int i;

	for (i = 0; context->held[i] != slot; i++)
		;
	context->held_number--;
	memmove(&context->held[i], &context->held[i + 1],
		(context->held_number - i) * sizeof(context->held[0]));
}

static void acquired(struct context *context)
{
	struct slot *slot = context->slot;
	struct context *other;

	if (is_held_by_another(slot) || (slot->holder && context->event.call != TAKEOVER))
		fail("exclusion", "two contexts hold %s at %c", operations[slot->type].name,
		     'A' + context->event.slot);
	if (slot->holder)
		drop(slot->holder, slot);
	slot->holder = context;
	slot->acquired++;
	context->held[context->held_number++] = slot;
	for_each_context(other) {
		if (other != context && waits_is_releasing(other, slot))
			other->superseded = true;
	}
}

static bool may_time_out(const struct context *context)
{
	return context->patience != KTIME_MAX;
}

static void check_error(const struct context *context)
{
	const struct slot *slot = context->slot;
	bool none = context->patience <= 0;

	switch (context->ret) {
	case -EBUSY:
		if (none)
			return;
		break;
	case -EDEADLK:
		if (none)
			break;
		if (!context->in_cycle)
			fail("-EDEADLK", "-EDEADLK of an %s, and the model knows of no cycle",
			     operations[slot->type].name);
		return;
	case -ETIMEDOUT:
		if (!none && may_time_out(context))
			return;
		break;
	case -ENOMEM:
		if (!none && may_time_out(context) && slot->type != SPIN)
			return;
		break;
	case -ECANCELED:
		if (context->event.call == UNLESS && context->stop_condition)
			return;
		break;
	case -EOWNERDEAD:
		if (!none && slot->type == SPIN && settings.stops)
			return;
		break;
	}
	fail("error", "%d without a reason", context->ret);
}

static void acquisition_ends(struct context *context)
{
	waits_left(context, !context->ret);
	if (!context->ret)
		acquired(context);
	else
		check_error(context);
	if (!context->ret && context->slot->type != SPIN &&
	    shim_holds_with_spare(context->cpu, context->level))
		fail("spare", "an %s is held with the spare node",
		     operations[context->slot->type].name);
	if (context->wrote && model_was_held_throughout(context))
		fail("trylock writes", "an attempt without patience writes at an %s that is held",
		     operations[context->slot->type].name);
}

static void destroy_ends(struct context *context)
{
	struct slot *slot = context->slot;

	slot->destroyer = NULL;
	if (context->event.call == DESTROY_IN_USE) {
		if (context->ret != -EBUSY)
			fail("destroy", "destroy of a held lock returns %d", context->ret);
		return;
	}
	if (context->ret)
		fail("destroy", "destroy of an unused lock returns %d", context->ret);
	slot->may_be_zeroed = true;
	slot->alive = false;
	poison(slot);
}

void model_call_ends(struct context *context)
{
	switch (context->event.call) {
	case TAKEOVER:
		if (!context->ret)
			acquired(context);
		else if (context->ret != -ESTALE)
			fail("error", "%d without a reason", context->ret);
		context->info_slot = NULL;
		break;
	case UNLOCK:
		drop(context, context->slot);
		break;
	case IS_LOCKED:
		if (!context->ret && model_was_held_throughout(context))
			fail("is_locked", "%s_is_locked() is false, and it was held",
			     operations[context->slot->type].name);
		break;
	case IS_CONTENDED:
		break;
	case DESTROY:
	case DESTROY_IN_USE:
		destroy_ends(context);
		break;
	default:
		acquisition_ends(context);
	}
	waits_find_cycles();
}

/* Accesses. */

static bool is_write(enum shim_op op)
{
	return op != SHIM_OP_LOAD && op != SHIM_OP_RELAX;
}

static bool is_in(struct shim_memory memory, const void *address)
{
	return (size_t)((const char *)address - (const char *)memory.start) < memory.size;
}

static const struct slot *slot_at(const void *address)
{
	const struct slot *slot;

	for (slot = slots; slot != slots + MOST_SLOTS; slot++) {
		if (is_in((struct shim_memory){ slot->memory, sizeof(void *) }, address))
			return slot;
	}
	return NULL;
}

/* Does it take nodes back from another lock? */
static bool is_visit(struct context *context, const struct slot *slot)
{
	if (!acquires(context->event.call) || slot->type == SPIN || !shim_is_visited(slot->memory))
		return false;
	outcome->events[VISITED] += context->visits != slot;
	context->visits = slot;
	return true;
}

void model_will_access(struct context *context, enum shim_op op, const void *address)
{
	const struct slot *slot = slot_at(address);

	if (op == SHIM_OP_RELAX)
		return;
	if (slot && slot != context->slot && !is_visit(context, slot))
		fail("memory", "an access to what is not the lock of the operation");
	if (slot && (!slot->alive || (slot == context->slot && context->life != slot->life)))
		fail("memory", "an access to what is no lock any more");
	if (is_write(op) && shim_is_in_free_node(address) &&
	    !shim_tries_to_resume(context->cpu, op, address))
		fail("free node", "a write to a free node");
	if (is_write(op) && acquires(context->event.call) && context->patience <= 0 &&
	    (slot || is_in(shim_nodes_memory(), address)))
		context->wrote = true;
}

void model_accessed(struct context *context, enum shim_op op, const void *address,
		    unsigned long before)
{
	const void *node, *tail;

	if (!acquires(context->event.call) && context->event.call != UNLOCK &&
	    context->event.call != TAKEOVER)
		return;
	tail = tail_of(context->slot);
	if (tail && op == SHIM_OP_XCHG && address == tail && acquires(context->event.call)) {
		if (shim_is_spare(*(void *const *)tail))
			context->visits = context->slot;
		else
			waits_enqueued(context, !before);
	} else if (tail && op == SHIM_OP_CMPXCHG) {
		node = shim_resumed_node(context->cpu, op, address, before,
					 context->slot->memory);
		if (node && acquires(context->event.call)) {
			waits_resumed(context, node);
			outcome->events[RESUMED]++;
			waits_find_cycles();
		}
	}
	if (is_write(op) && slot_at(address))
		waits_find_cycles();
}
