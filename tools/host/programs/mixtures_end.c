// SPDX-License-Identifier: GPL-2.0
/* Mixtures: the end of a schedule. All attempts end, all locks can be acquired, no node is lost. */
#include <linux/errno.h>

#include "mixtures.h"

/* Accesses from the last event to the end of all contexts: else one waits for ever. */
#define MOST_STEPS_TO_END	400000U
/* Of a context at a time then. */
#define STEPS_AT_END	60U

/* The context on top goes on, or releases what it holds. */
static bool end_a_little(unsigned int cpu)
{
	struct context *top = top_of(cpu);

	if (!top || cpus[cpu].stopped)
		return false;
	if (!top->busy && top->held_number) {
		struct event unlock = {
			.kind = CALL, .cpu = cpu, .level = top->level, .call = UNLOCK,
			.slot = top->held[top->held_number - 1] - slots,
		};

		machine_call(&unlock);
	}
	top->info_slot = NULL;
	if (top->busy)
		machine_run(cpu, STEPS_AT_END, 0);
	machine_pop_idle(&cpus[cpu]);
	return true;
}

static void end_contexts(void)
{
	u64 until = steps_made + MOST_STEPS_TO_END;
	unsigned int cpu, turns = 0;
	bool running = true;

	while (running) {
		running = false;
		for (cpu = 0; cpu < MOST_CPUS; cpu++)
			running |= end_a_little(cpu);
		now += 20000 + (++turns % 16 ? 0 : 1000000);
		if (settings.grows && !(turns % 64))
			shim_pools_grow();
		if (steps_made > until)
			fail("hang", "an attempt waits for ever");
	}
}

/* An operation of a context that runs alone. Return: what it returns. */
static int call_alone(unsigned int cpu, unsigned int level, enum call call, unsigned int slot)
{
	struct event event = {
		.kind = CALL, .cpu = cpu, .level = level, .call = call, .slot = slot,
		.patience = patiences_number - 3,
	};

	if (shows)
		show_event(&event);
	if (!machine_call(&event))
		return 1;
	machine_run(cpu, MOST_STEPS_TO_END, 0);
	if (top_of(cpu) && top_of(cpu)->busy)
		fail("hang", "an attempt at a lock at rest does not end");
	return cpus[cpu].contexts[0].ret;
}

/* A lock that no context uses is acquired: by a trylock, and by all that may have a place there. */
static void visit(unsigned int slot)
{
	unsigned int cpu, level, tries = 0;
	int ret;

	while ((ret = call_alone(SWEEPER, 0, TRYLOCK, slot)) == -EBUSY && ++tries < 4)
		now += 130000;
	if (ret)
		fail("free lock", "a trylock at a lock at rest fails");
	call_alone(SWEEPER, 0, UNLOCK, slot);
	for (cpu = 0; cpu < settings.cpus; cpu++) {
		for (level = 0; level < NBQ_LEVELS; level++) {
			ret = call_alone(cpu, level, TIMEOUT, slot);
			if (ret < 0 && ret != -ENOMEM)
				fail("free lock", "an attempt at a lock at rest returns %d", ret);
			if (!ret)
				call_alone(cpu, level, UNLOCK, slot);
		}
	}
}

static bool is_left_by_stopped(const struct slot *slot)
{
	return shim_stopped_cpu < SHIM_CPUS && model_is_used(slot, NULL);
}

void machine_end(void)
{
	unsigned int slot, in_use;

	if (clock_step < 100)
		clock_step = 100;
	end_contexts();
	for (slot = 0; slot < MOST_SLOTS; slot++) {
		if (!slots[slot].alive || is_left_by_stopped(&slots[slot]))
			continue;
		visit(slot);
		call_alone(SWEEPER, 0, DESTROY, slot);
	}
	outcome->events[EXHAUSTED] += shim_event("exhaustions");
	if (shim_stopped_cpu < SHIM_CPUS)
		return;
	shim_cpu = SWEEPER;
	shim_level = 0;
	for (slot = 0; slot < MOST_SLOTS; slot++)
		sweep(slots[slot].memory);
	in_use = shim_nodes_in_use();
	if (in_use)
		fail("nodes", "%u nodes are lost", in_use);
}
