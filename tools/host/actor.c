// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts that take turns: a semaphore each way, and a hook on the accesses.
 */
#include <stdlib.h>
#include <string.h>

#include "actor.h"
#include "test.h"

static _Thread_local struct actor *self;

static void stop(void)
{
	sem_post(&self->stopped);
	while (sem_wait(&self->go))
		;
}

static void before_access(enum shim_op op, const void *address)
{
	if (self->steps_left) {
		if (--self->steps_left == 0)
			stop();
	} else if (op == self->until_op && address == self->until_address) {
		stop();
	}
}

static void *make_attempt(void *arg)
{
	self = arg;
	shim_cpu = self->cpu;
	shim_hook = before_access;
	while (sem_wait(&self->go))
		;
	self->ret = nbq_clh_lock_timeout(self->lock, self->patience);
	EXPECT(shim_preempt_off == !self->ret);
	if (!self->ret) {
		/* Not an access: a place to stop at. */
		shim_point(SHIM_OP_RELAX, &self->ret);
		nbq_clh_unlock(self->lock);
		if (self->destroys) {
			EXPECT(nbq_clh_destroy(self->lock) == 0);
			memset(self->lock, 0x5a, sizeof(*self->lock));
		}
	}
	EXPECT(shim_preempt_off == 0);
	self->ended = true;
	sem_post(&self->stopped);
	return NULL;
}

void actor_start(struct actor *actor)
{
	sem_init(&actor->go, 0, 0);
	sem_init(&actor->stopped, 0, 0);
	actor->ended = false;
	if (pthread_create(&actor->thread, NULL, make_attempt, actor))
		abort();
}

static bool resume(struct actor *actor)
{
	if (!actor->ended) {
		sem_post(&actor->go);
		while (sem_wait(&actor->stopped))
			;
	}
	return !actor->ended;
}

static bool run_until(struct actor *actor, enum shim_op op, const void *address)
{
	actor->steps_left = 0;
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
	return run_until(actor, SHIM_OP_RELAX, NULL);
}

bool actor_until_it_swaps_the_tail(struct actor *actor)
{
	return run_until(actor, SHIM_OP_CMPXCHG, &actor->lock->tail);
}

bool actor_until_it_holds(struct actor *actor)
{
	return run_until(actor, SHIM_OP_RELAX, &actor->ret);
}

int actor_finish(struct actor *actor)
{
	/* Nothing is at this address, so it stops nowhere. */
	run_until(actor, SHIM_OP_RELAX, actor);
	pthread_join(actor->thread, NULL);
	sem_destroy(&actor->go);
	sem_destroy(&actor->stopped);
	return actor->ret;
}
