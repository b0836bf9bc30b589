// SPDX-License-Identifier: GPL-2.0
/*
 * Mixtures: what a seed chooses. Not only the events: also how often each is chosen, so that
 * schedules differ in kind: some have one lock type and little patience, others many interrupts,
 * others CPUs that stop for a while in the middle of something.
 */
#include <string.h>

#include "mixtures.h"

static u64 random_state;

/* Which CPUs are not chosen at the moment, for so many events. */
static unsigned int rests[MOST_CPUS];

#define NO_SLOT	MOST_SLOTS

/* The lock at which no attempt begins any more, until its memory is another lock. */
static unsigned int drained;

static struct {
	unsigned int calls[CALLS];
	unsigned int patiences[8];
	unsigned int types[TYPES];
	unsigned int levels[NBQ_LEVELS];
	unsigned int interrupt, remake, clock, rest, unlock, out, polls, first_slot;
} weights;

/* xorshift64* */
static unsigned int random_number(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * 2685821657736338717ULL >> 33;
}

static unsigned int below(unsigned int limit)
{
	return random_number() % limit;
}

static bool chance(unsigned int percent)
{
	return below(100) < percent;
}

static unsigned int choose_by_weight(const unsigned int *of, unsigned int number)
{
	unsigned int sum = 0, i;

	for (i = 0; i < number; i++)
		sum += of[i];
	if (!sum)
		return below(number);
	sum = below(sum);
	for (i = 0; of[i] <= sum; i++)
		sum -= of[i];
	return i;
}

/* Some are left out. */
static void choose_weights(unsigned int *of, unsigned int number, unsigned int percent)
{
	unsigned int i;

	for (i = 0; i < number; i++)
		of[i] = chance(percent) ? 1 + below(8) : 0;
}

static void choose_calls(void)
{
	unsigned int *calls = weights.calls;

	memset(calls, 0, sizeof(weights.calls));
	calls[TIMEOUT] = 12;
	choose_weights(calls, LOCK + 1, 60);
	calls[TIMEOUT] += 6;
	calls[IS_LOCKED] = chance(40) ? 2 : 0;
	calls[IS_CONTENDED] = chance(20);
	calls[DESTROY_IN_USE] = chance(10);
}

static void choose_all_weights(void)
{
	choose_calls();
	choose_weights(weights.types, TYPES, 60);
	choose_weights(weights.patiences, patiences_number, 60);
	choose_weights(weights.levels, NBQ_LEVELS, 50);
	weights.levels[0] += 2;
	weights.interrupt = chance(70) ? below(25) : 0;
	weights.remake = chance(70) ? 1 + below(15) : 0;
	weights.clock = chance(70) ? 1 + below(8) : 0;
	weights.rest = chance(70) ? 1 + below(10) : 0;
	weights.unlock = 20 + below(60);
	weights.out = below(60);
	weights.polls = below(40);
	weights.first_slot = below(80);
}

void choose_settings(struct settings *chosen, unsigned int seed)
{
	random_state = (seed + 1) * 0x9e3779b97f4a7c15ULL;
	below(1);
	memset(rests, 0, sizeof(rests));
	drained = NO_SLOT;
	chosen->cpus = 2 + below(MOST_CPUS - 1);
	chosen->slots = 1 + below(2 + below(MOST_SLOTS - 1));
	chosen->nodes = 1 + below(4);
	chosen->layout = below(3);
	chosen->clock_step = below(clock_steps_number);
	chosen->ordered = chance(50);
	chosen->nests = chance(40);
	chosen->stops = chance(10);
	chosen->grows = true;
	choose_all_weights();
}

unsigned int choose_length(void)
{
	return 40 + below(chance(30) ? MOST_EVENTS - 40 : 300);
}

static struct event choose_run(unsigned int cpu)
{
	struct event event = { .kind = RUN, .cpu = cpu, .number = 1 + below(chance(50) ? 4 : 16) };

	if (chance(weights.out)) {
		event.kind = RUN_OUT;
	} else if (chance(weights.polls)) {
		event.kind = RUN_POLLS;
		event.number = 1 + below(chance(60) ? 3 : 40);
	}
	return event;
}

static unsigned int choose_level_above(const struct context *top)
{
	unsigned int level = choose_by_weight(weights.levels, NBQ_LEVELS);

	if (!top || level > top->level || (settings.nests && level == top->level))
		return level;
	if (settings.nests && chance(50))
		return top->level;
	return top->level < NBQ_NMI ? NBQ_NMI : top->level;
}

static unsigned int choose_slot(void)
{
	return chance(weights.first_slot) ? 0 : below(settings.slots);
}

static struct event choose_release(unsigned int cpu)
{
	const struct context *top = top_of(cpu);
	struct event event = { .kind = CALL, .cpu = cpu, .level = top->level, .call = UNLOCK };

	event.slot = top->held[below(top->held_number)] - slots;
	return event;
}

static struct event choose_call(unsigned int cpu, bool above)
{
	const struct context *top = top_of(cpu);
	struct event event = { .kind = CALL, .cpu = cpu };

	event.slot = choose_slot();
	event.nested = above;
	event.level = above || !top ? choose_level_above(above ? top : NULL) : top->level;
	event.patience = choose_by_weight(weights.patiences, patiences_number);
	event.call = choose_by_weight(weights.calls, CALLS);
	event.zeroed = chance(50);
	if (event.slot == drained)
		event.slot = (drained + 1) % settings.slots;
	if (!above && top && top->info_slot) {
		event.call = TAKEOVER;
		event.slot = top->info_slot - slots;
	} else if (!above && top && top->held_number && chance(weights.unlock)) {
		return choose_release(cpu);
	}
	return event;
}

/* Memory that is no lock becomes one; an unused lock comes to its end. */
static bool choose_memory(struct event *event, unsigned int slot)
{
	unsigned int cpu = below(settings.cpus);
	const struct context *top = top_of(cpu);

	memset(event, 0, sizeof(*event));
	event->slot = slot;
	if (!slots[slot].alive) {
		event->kind = MAKE;
		event->type = choose_by_weight(weights.types, TYPES);
		event->zeroed = slots[slot].may_be_zeroed && chance(70);
		return true;
	}
	if (slots[slot].destroyer || model_is_used(&slots[slot], NULL))
		return false;
	event->kind = LEAVE;
	if (slots[slot].type != SPIN) {
		if (top && top->busy)
			return false;
		event->kind = CALL;
		event->cpu = cpu;
		event->call = DESTROY;
		event->level = top ? top->level : choose_by_weight(weights.levels, NBQ_LEVELS);
	}
	return true;
}

static struct event choose_other(void)
{
	struct event event = { .kind = CLOCK, .number = below(clock_jumps_number) };

	if (chance(20)) {
		event.kind = CLOCK_STEP;
		event.number = below(clock_steps_number);
	} else if (chance(5)) {
		event.kind = GROW;
	} else if (settings.stops && chance(20)) {
		event.kind = STOP;
		event.cpu = below(settings.cpus);
	}
	return event;
}

static unsigned int dead_slot(void)
{
	unsigned int slot = 0;

	while (slot < settings.slots && slots[slot].alive)
		slot++;
	return slot < settings.slots ? slot : NO_SLOT;
}

/*
 * While it holds a lock, others queue; in the middle of its release they may acquire the lock, and
 * end its life.
 */
static bool holds_or_releases(unsigned int cpu)
{
	const struct context *top = top_of(cpu);

	return top && (top->busy ? top->event.call == UNLOCK : top->held_number);
}

/* Does it use the lock that is drained, or may it go on only after one that does? */
static bool keeps_from_end(unsigned int cpu)
{
	unsigned int place, i;

	for (place = 0; place < cpus[cpu].depth && !cpus[cpu].stopped; place++) {
		const struct context *context = &cpus[cpu].contexts[place];

		if (context->busy && context->slot == &slots[drained] && !context->superseded)
			return true;
		for (i = 0; i < context->held_number; i++) {
			if (context->held[i] == &slots[drained])
				return true;
		}
	}
	return false;
}

/* A CPU that is to go on, so that the lock comes to its end. Those that rest in a release: last. */
static unsigned int choose_cpu_to_drain(void)
{
	unsigned int first = below(settings.cpus), i, pass;

	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < settings.cpus; i++) {
			unsigned int cpu = (first + i) % settings.cpus;

			if (keeps_from_end(cpu) &&
			    (pass || !rests[cpu] || !holds_or_releases(cpu)))
				return cpu;
		}
	}
	return first;
}

static unsigned int choose_cpu(void)
{
	unsigned int cpu = below(settings.cpus), tries;

	for (tries = 0; tries < settings.cpus; tries++) {
		if (!cpus[cpu].stopped && !rests[cpu])
			break;
		if (rests[cpu])
			rests[cpu]--;
		cpu = (cpu + 1) % settings.cpus;
	}
	if (chance(holds_or_releases(cpu) ? 4 * weights.rest : weights.rest))
		rests[cpu] = 5 + below(chance(70) ? 60 : 300);
	return cpu;
}

/* Also if a CPU has stopped that uses the lock: it has no end then. */
static bool ends_drain(void)
{
	return drained == NO_SLOT || !slots[drained].alive || chance(1);
}

struct event choose_event(void)
{
	const struct context *top;
	struct event event;
	unsigned int cpu;

	if (ends_drain())
		drained = chance(weights.remake / 2) ? choose_slot() : NO_SLOT;
	if (drained != NO_SLOT && choose_memory(&event, drained))
		return event;
	if (drained == NO_SLOT && dead_slot() != NO_SLOT && chance(20 + weights.remake) &&
	    choose_memory(&event, dead_slot()))
		return event;
	cpu = drained != NO_SLOT && chance(80) ? choose_cpu_to_drain() : choose_cpu();
	top = top_of(cpu);
	if (drained != NO_SLOT && top && !top->busy && top->held_number)
		return choose_release(cpu);
	if (chance(weights.clock))
		return choose_other();
	if (top && top->busy)
		return chance(weights.interrupt) ? choose_call(cpu, true) : choose_run(cpu);
	if (top && chance(weights.interrupt / 4))
		return choose_call(cpu, true);
	return choose_call(cpu, false);
}
