/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Contexts that take turns: each actor is a thread that runs only when and as
 * far as the test says, from one shared access to another, so that a test can
 * lay out any interleaving by hand. One actor, or the test, runs at a time.
 */
#ifndef ACTOR_H
#define ACTOR_H

#include <pthread.h>
#include <semaphore.h>

#include <nbqlock/nbqlock.h>
#include <host.h>

/**
 * struct actor - a context of some CPU that makes one attempt at a lock
 * @lock: the lock
 * @patience: as of nbq_clh_lock_timeout()
 * @cpu: the CPU that it runs on
 * @destroys: after its critical section, destroy the lock and wipe its memory
 * @ret: what the attempt returned; meaningful after that
 *
 * The rest is private to actor.c.
 */
struct actor {
	struct nbq_clh *lock;
	ktime_t patience;
	unsigned int cpu;
	bool destroys;
	int ret;

	pthread_t thread;
	sem_t go;
	sem_t stopped;
	bool ended;
	unsigned int steps_left;
	enum shim_op until_op;
	const void *until_address;
};

/* The actor stands before its first access. */
void actor_start(struct actor *actor);

/*
 * Each of these returns true if the actor got there; false if it came to its
 * end before that.
 */

/* Make so many accesses (a poll's pause is one too). */
bool actor_steps(struct actor *actor, unsigned int steps);
/* Go on until it has looked at a predecessor in vain. */
bool actor_until_it_polls(struct actor *actor);
/* Go on to the swap of the tail by which it leaves, or releases. */
bool actor_until_it_swaps_the_tail(struct actor *actor);
/* Go on until it holds the lock. */
bool actor_until_it_holds(struct actor *actor);

/* Let it make its attempt, release if it holds the lock, and end. */
int actor_finish(struct actor *actor);

#endif
