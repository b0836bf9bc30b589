// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts that take turns: a stack for each, and a hook on the accesses.
 */
#include <stdlib.h>

#include <asm/mmiowb.h>

#include "actor.h"
#include "test.h"

#define STACK_SIZE	(64 * 1024)

unsigned int actor_most_steps_to_leave;
unsigned int actor_most_steps_to_release;
bool actor_walks;

static struct actor *self;

static void stop(void)
{
	swapcontext(&self->context, &self->starter);
}

/* Nobody else has run since the last access. */
static void look_at_the_last_access(void)
{
	const struct nbq_node *resumed;

	if (self->doing != ACQUIRING)
		return;
	resumed = shim_resumed_node(self->cpu, self->last_op, self->last_address, self->lock);
	if (resumed && !self->node)
		self->node = resumed;
	if (may_take(self->lock, self->last_op, self->last_address))
		self->may_hold = says_it_is_mine(self->lock);
}

static void count_own_step(enum shim_op op, const void *address)
{
	look_at_the_last_access();
	self->last_op = op;
	self->last_address = address;
	if (op == SHIM_OP_XCHG && address == &self->lock->tail)
		self->node = shim_node_allocated_last();
	if (self->doing == ACQUIRING && self->node && !self->may_hold &&
	    begins_to_leave(self->lock, self->node, op, address)) {
		self->doing = LEAVING;
		self->own_steps = 0;
	}
	self->own_steps += is_own_step(self->lock, address);
}

static void before_access(enum shim_op op, const void *address)
{
	bool left = self->doing == LEAVING;

	count_own_step(op, address);
	self->lock_accesses += op != SHIM_OP_RELAX &&
			       (const char *)address - (const char *)self->lock <
			       (long)sizeof(*self->lock) &&
			       (const char *)address >= (const char *)self->lock;
	if (self->steps_left) {
		if (--self->steps_left == 0)
			stop();
	} else if (self->until_it_leaves) {
		if (!left && self->doing == LEAVING)
			stop();
	} else if (op == self->until_op && (address == self->until_address ||
					    self->until_address == ACTOR_ANYWHERE)) {
		stop();
	}
	/*
	 * A node that was freed is another one's from then on. What gives up at once
	 * reads the node that was the tail's a moment ago.
	 */
	EXPECT(!shim_is_in_free_node(address) || shim_tries_to_resume(shim_cpu, op, address) ||
	       (op == SHIM_OP_LOAD && (actor_walks || (self->patience <= 0 && !self->node))));
}

static void release(struct actor *actor)
{
	actor->acquired++;
	actor->doing = HOLDING;
	if (actor->in_lock)
		actor->in_lock(actor);
	/* Not an access: a place to stop at. */
	shim_point(SHIM_OP_RELAX, &actor->ret);
	actor->doing = RELEASING;
	actor->own_steps = 0;
	nbq_X_unlock(actor->lock);
	EXPECT(actor->own_steps <= STEPS_TO_RELEASE);
	if (actor->own_steps > actor_most_steps_to_release)
		actor_most_steps_to_release = actor->own_steps;
	if (actor->out_of_lock)
		actor->out_of_lock(actor);
}

static void make_attempts(void)
{
	struct actor *actor = self;

	while (actor->attempts) {
		actor->attempts--;
		actor->doing = ACQUIRING;
		actor->node = NULL;
		actor->may_hold = false;
		actor->last_address = NULL;
		actor->ret = nbq_X_lock_timeout(actor->lock, actor->patience);
		EXPECT(shim_preempt_off == !actor->ret);
		EXPECT(shim_mmiowb_nesting == !actor->ret);
		if (!actor->ret) {
			release(actor);
		} else if (actor->doing == LEAVING) {
			EXPECT(actor->own_steps <= STEPS_TO_LEAVE);
			if (actor->own_steps > actor_most_steps_to_leave)
				actor_most_steps_to_leave = actor->own_steps;
		}
		EXPECT(shim_preempt_off == 0);
	}
	actor->ended = true;
}

void actor_start(struct actor *actor)
{
	actor->ended = false;
	actor->preempt_off = 0;
	actor->mmiowb_nesting = 0;
	actor->acquired = 0;
	actor->stack = malloc(STACK_SIZE);
	if (!actor->stack || getcontext(&actor->context))
		abort();
	actor->context.uc_stack.ss_sp = actor->stack;
	actor->context.uc_stack.ss_size = STACK_SIZE;
	actor->context.uc_link = &actor->starter;
	makecontext(&actor->context, make_attempts, 0);
}

/* Returns when the actor has stopped, or ended. Who we are changes with it. */
static bool resume(struct actor *actor)
{
	unsigned int cpu = shim_cpu, level = shim_level;
	int preempt_off = shim_preempt_off, mmiowb_nesting = shim_mmiowb_nesting;

	if (actor->ended)
		return false;
	self = actor;
	shim_cpu = actor->cpu;
	shim_level = actor->level;
	shim_preempt_off = actor->preempt_off;
	shim_mmiowb_nesting = actor->mmiowb_nesting;
	shim_hook = before_access;
	swapcontext(&actor->starter, &actor->context);
	shim_hook = NULL;
	actor->preempt_off = shim_preempt_off;
	actor->mmiowb_nesting = shim_mmiowb_nesting;
	shim_preempt_off = preempt_off;
	shim_mmiowb_nesting = mmiowb_nesting;
	shim_cpu = cpu;
	shim_level = level;
	return !actor->ended;
}

bool actor_until(struct actor *actor, enum shim_op op, const void *address)
{
	actor->steps_left = 0;
	actor->until_it_leaves = false;
	actor->until_op = op;
	actor->until_address = address;
	return resume(actor);
}

bool actor_steps(struct actor *actor, unsigned int steps)
{
	if (!steps)
		return !actor->ended;
	actor->steps_left = steps;
	return resume(actor);
}

bool actor_until_it_polls(struct actor *actor)
{
	return actor_until(actor, SHIM_OP_RELAX, NULL);
}

bool actor_until_it_leaves(struct actor *actor)
{
	actor->steps_left = 0;
	actor->until_it_leaves = true;
	return resume(actor);
}

bool actor_until_it_holds(struct actor *actor)
{
	return actor_until(actor, SHIM_OP_RELAX, &actor->ret);
}

int actor_finish(struct actor *actor)
{
	/* Nothing is at this address, so it stops nowhere. */
	actor_until(actor, SHIM_OP_RELAX, actor);
	free(actor->stack);
	return actor->ret;
}

int try_as(struct nbq_X *lock, ktime_t patience, unsigned int cpu, unsigned int level)
{
	int ret;

	shim_cpu = cpu;
	shim_level = level;
	ret = nbq_X_lock_timeout(lock, patience);
	if (!ret)
		nbq_X_unlock(lock);
	shim_cpu = 0;
	shim_level = 0;
	return ret;
}
