// SPDX-License-Identifier: GPL-2.0
/*
 * What must hold while no context moves: the lock is unused, or free, or no context can go on.
 */
#include <stdlib.h>
#include <string.h>

#include <nbqlock/wait.h>
#include <places.h>

#include "deadlock.h"
#include "checker.h"

#define SPARE_CPU	(SHIM_CPUS - 1)

static bool has_node(const struct attempt *attempt)
{
	return attempt->node && !shim_node_is_free(attempt->node);
}

bool is_quiescent(void)
{
	unsigned int number, lock;

	for (number = 0; number < contexts_number; number++) {
		const struct context *context = &contexts[number];

		/* One that has stopped may have been about to dequeue. */
		if (context->stopped && has_node(&context->attempt[context->lock]))
			return false;
		for (lock = 0; lock < locks_number; lock++) {
			unsigned char doing = context->attempt[lock].doing;

			if (doing != IDLE && (doing != ACQUIRING || context->busy))
				return false;
		}
	}
	for (lock = 0; lock < locks_number; lock++) {
		if (shim_is_visited(&locks[lock]))
			return false;
	}
	return true;
}

static void check_lock(unsigned int number)
{
	const struct lock_type *type = type_of(number);
	void *lock = &locks[number];
	bool got;

	if (type->is_held(lock)) {
		fail("an unused lock looks held or waited for");
		return;
	}
	/* A request for another socket is obeyed until it expires. */
	time_has_passed = sockets_number > 1;
	got = type->trylock(lock);
	time_has_passed = false;
	if (!got) {
		fail("a free lock is not acquired without patience");
		return;
	}
	type->unlock(lock);
	if (type->destroy(lock))
		fail("an unused lock is not destroyed");
}

static unsigned int nodes_in_use_of(unsigned int cpu, unsigned int level)
{
	struct shim_memory memory = shim_pool_nodes(cpu, level);
	const char *node = memory.start, *end = node + memory.size;
	unsigned int in_use = 0;

	for (; node < end; node += shim_node_size())
		in_use += !shim_node_is_free((const struct nbq_node *)node);
	return in_use;
}

/*
 * An unused lock keeps one node of each context, the last one that it abandoned and would
 * resume, and the available one. The hybrid, which waiters steal, also keeps those of acting
 * heads.
 */
static void check_nodes_kept(void)
{
	unsigned int cpu, level, number, kept = 0;

	for (cpu = 0; cpu < cpus_number; cpu++) {
		for (level = 0; level < 4; level++) {
			unsigned int contexts_of_pool = 0, in_use;

			for (number = 0; number < contexts_number; number++)
				contexts_of_pool += roles[number].cpu == cpu &&
						    roles[number].level == level;
			if (!contexts_of_pool)
				continue;
			in_use = nodes_in_use_of(cpu, level);
			if (in_use > contexts_of_pool * locks_number)
				kept += in_use - contexts_of_pool * locks_number;
		}
	}
	if (kept > locks_number)
		fail("unused locks keep %u nodes more than one a context", kept);
}

static bool all_are_fifo(void)
{
	unsigned int lock;

	for (lock = 0; lock < locks_number; lock++) {
		if (!lock_types[lock][0]->is_fifo || !lock_types[lock][1]->is_fifo)
			return false;
	}
	return true;
}

/* What attempts at a hybrid have left in its queue. */
static void sweep_once_more(unsigned int number)
{
	unsigned int life;

	for (life = 0; life <= queues[number].life; life++) {
		const struct lock_type *type = lock_types[number][life];

		if (type->is_fifo)
			continue;
		type->init(&locks[number]);
		if (type->destroy(&locks[number]))
			fail("a queue without waiters is not swept");
	}
}

void check_quiescent(void)
{
	unsigned int lock, number;
	long uncounted = 0;

	if (all_are_fifo())
		check_nodes_kept();

	shim_cpu = SPARE_CPU;
	shim_level = 0;
	shim_preempt_off = 0;
	for (lock = 0; lock < locks_number; lock++) {
		if (!queues[lock].destroyed)
			check_lock(lock);
	}
	if (failure[0])
		return;
	/* Of two locks that are destroyed at once one may have passed a node to the other. */
	for (lock = 0; lock < locks_number; lock++)
		sweep_once_more(lock);
	if (shim_nodes_in_use())
		fail("%u nodes are lost", shim_nodes_in_use());
	/* Pools of two contexts are counted once. */
	for (number = 0; number < SHIM_CPUS * 4; number++)
		uncounted += shim_uncounted_nodes(number / 4, number % 4);
	if (uncounted)
		fail("nodes allocated and freed differ by %ld", labs(uncounted));
}

/* It alone runs, as far as it gets. */
static bool acquires_alone(unsigned int number)
{
	const struct context *context = &contexts[number];
	const struct attempt *attempt = &context->attempt[context->lock];
	struct trial trial = trial_begin();
	bool acquires;

	nbq_deadlock_checks = false;
	while (attempt->doing == ACQUIRING && !attempt->has_lock && !failure[0]) {
		if (context_can(number, STEP))
			context_go(number, STEP);
		else if (context_would_persist(number))
			context_go(number, PERSIST);
		else
			break;
	}
	acquires = attempt->doing != ACQUIRING || attempt->has_lock;
	nbq_deadlock_checks = true;
	trial_end(&trial);
	return acquires;
}

/* Does a context that is there for nothing else get the lock without patience? */
static bool acquires_without_patience(unsigned int number, unsigned int cpu, unsigned int level)
{
	shim_cpu = cpu;
	shim_level = level;
	shim_preempt_off = 0;
	return type_of(number)->trylock(&locks[number]);
}

static bool has_enqueued;

static void record_swap(enum shim_op op, const void *address)
{
	has_enqueued = has_enqueued || op == SHIM_OP_XCHG;
}

/* And without a queue node? What it changes besides the lock is no part of the state. */
static bool acquires_as_newcomer(unsigned int number, unsigned int cpu, unsigned int level)
{
	union lock_memory before = locks[number];
	bool acquires;

	has_enqueued = false;
	shim_hook = record_swap;
	acquires = acquires_without_patience(number, cpu, level);
	shim_hook = NULL;
	locks[number] = before;
	return acquires && !has_enqueued;
}

/* By enqueuing, which skips abandoned nodes. */
static bool acquires_from_queue(unsigned int number)
{
	struct trial trial = trial_begin();
	bool acquires = acquires_without_patience(number, SPARE_CPU, 0);

	trial_end(&trial);
	return acquires;
}

/* Does a waiter of this CPU poll, for this lock, which an NMI may interrupt? */
static bool has_waiter(unsigned int cpu, unsigned int lock)
{
	unsigned int place;

	for (place = 0; place < cpus[cpu].depth; place++) {
		unsigned int number = cpus[cpu].running[place];
		const struct context *context = &contexts[number];

		if (context->blocked && context->lock == lock &&
		    context->attempt[lock].doing == ACQUIRING &&
		    roles[number].level < NMI_LEVEL)
			return true;
	}
	return false;
}

/* Newcomers to a free lock, whichever other contexts are stalled. */
static void check_newcomers(unsigned int number)
{
	unsigned int cpu;

	time_has_passed = true;
	if (!acquires_as_newcomer(number, SPARE_CPU, 0))
		fail("a newcomer never acquires a free lock");
	time_has_passed = false;
	for (cpu = 0; cpu < cpus_number; cpu++) {
		if (has_waiter(cpu, number) && !acquires_as_newcomer(number, cpu, NMI_LEVEL))
			fail("an interrupt above a waiter does not acquire a free lock");
	}
}

/* A newcomer to an unused lock, whatever abandoned nodes are in its queue. */
static void check_idle_lock(unsigned int number)
{
	const struct lock_type *type = type_of(number);

	/* The turn may be that of another socket, and the queue another lock's: see above. */
	if (is_used(number, NO_CONTEXT) || shim_is_visited(&locks[number]) ||
	    (!type->is_fifo && type->has_valid_request(&locks[number])))
		return;
	if (!(type->is_fifo ? acquires_from_queue(number) :
			      acquires_as_newcomer(number, SPARE_CPU, 0)))
		fail("a newcomer does not acquire an unused lock");
}

void check_free_locks(void)
{
	unsigned int number;

	for (number = 0; number < locks_number; number++) {
		if (queues[number].destroyed)
			continue;
		check_idle_lock(number);
		if (!type_of(number)->is_fifo && !type_of(number)->is_held(&locks[number]))
			check_newcomers(number);
	}
	/* In the other types, only the head can acquire it. */
	for (number = 0; number < contexts_number; number++) {
		const struct context *context = &contexts[number];
		const struct lock_type *type = type_of(context->lock);

		if (type->has_policy && context->blocked &&
		    !type->is_held(&locks[context->lock]) &&
		    (context_can(number, STEP) || context_can(number, PERSIST)) &&
		    !acquires_alone(number))
			fail("a waiter does not acquire a free lock");
	}
}

void check_stuck(void)
{
	bool somebody_waits = false;
	unsigned int number;

	for (number = 0; number < contexts_number; number++) {
		const struct context *context = &contexts[number];

		if (context->ended || !context->blocked)
			continue;
		/* Until its patience ends, or another context takes the lock over. */
		if (is_held_by_a_stopped(context->lock))
			return;
		/* One that waits for a node goes on, since its pool will grow. */
		if (!context->attempt[context->lock].node && type_of(context->lock)->is_fifo)
			return;
		somebody_waits = true;
	}
	if (!somebody_waits)
		return;
	if (!deadlock_is_possible())
		fail("a lost wakeup: all contexts wait");
	else if (!deadlock_will_be_detected())
		fail("an undetected deadlock");
}
