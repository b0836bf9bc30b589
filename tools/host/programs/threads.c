// SPDX-License-Identifier: GPL-2.0
/*
 * A lock type under real threads, for a thread sanitizer to watch: plain data that only the lock
 * protects. Each case ends after so many attempts, once all has happened that it is about.
 */
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <linux/errno.h>

#include "test.h"
#include "type.h"

#define THREADS		4
/* Of each thread: so many attempts with the lock does it make in any case. */
#define ACQUIRED	2000

static const ktime_t patience_choices[] = { 0, 1000, 100000, KTIME_MAX };

/* What the lock protects, on two cache lines. */
static struct nbq_X lock;
static struct {
	unsigned long first __attribute__((__aligned__(64)));
	unsigned long second __attribute__((__aligned__(64)));
} counter;

static unsigned long timed_out;
static bool is_seen;
static bool yields_anywhere;

struct worker {
	pthread_t thread;
	unsigned int cpu;
	unsigned long acquired;
};

/* A thread loses its core before an access now and then. */
static void yield_now_and_then(enum shim_op op, const void *address)
{
	static _Thread_local unsigned int random;

	random += shim_cpu;
	if (test_random(&random) % 16 == 0)
		sched_yield();
}

static void critical_section(void)
{
	EXPECT(counter.first == counter.second);
	counter.first++;
	/* Contention, also where the threads share a core. */
	if (counter.first % 64 == 0)
		sched_yield();
	counter.second++;
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	unsigned int random = worker->cpu + 1;

	shim_cpu = worker->cpu;
	shim_hook = yields_anywhere ? yield_now_and_then : NULL;
	while (worker->acquired < ACQUIRED || !__atomic_load_n(&is_seen, __ATOMIC_RELAXED)) {
		int ret = nbq_X_lock_timeout(&lock, patience_choices[test_random(&random) & 3]);

		test_step();
		if (ret == -ETIMEDOUT)
			__atomic_add_fetch(&timed_out, 1, __ATOMIC_RELAXED);
		if (ret)
			continue;
		critical_section();
		worker->acquired++;
		nbq_X_unlock(&lock);
	}
	EXPECT(shim_preempt_off == 0);
	return NULL;
}

/* Enlarge pools that ask, until one has been, if there must be some, and an attempt timed out. */
static void look_after_pools(bool must_grow)
{
	do {
		shim_pools_grow();
		usleep(1000);
	} while (!__atomic_load_n(&timed_out, __ATOMIC_RELAXED) ||
		 (must_grow && !shim_event("growths")));
	__atomic_store_n(&is_seen, true, __ATOMIC_RELAXED);
}

static void contend(bool must_grow)
{
	struct worker workers[THREADS] = { };
	unsigned long acquired = 0, uncontended, handed;
	unsigned int i;

	nbq_X_init(&lock);
	counter.first = 0;
	counter.second = 0;
	timed_out = 0;
	is_seen = false;
	for (i = 0; i < THREADS; i++) {
		workers[i].cpu = i;
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	}
	look_after_pools(must_grow);
	for (i = 0; i < THREADS; i++) {
		pthread_join(workers[i].thread, NULL);
		acquired += workers[i].acquired;
	}
	EXPECT(counter.first == acquired && counter.second == acquired);
	/* A type that holds no node counts the contended acquisitions only. */
	uncontended = shim_event("acquired_uncontended");
	handed = shim_event("acquired_handoff");
	EXPECT(HOLDS_NODE ? uncontended + handed == acquired : !uncontended && handed < acquired);
	EXPECT(!IN_KERNEL || shim_event("timeouts") == timed_out);
	/* By a CPU that has left no node in a queue. */
	shim_cpu = THREADS;
	EXPECT(nbq_X_destroy(&lock) == 0);
	shim_cpu = 0;
}

/* Where two contexts decide who gives a node back, both get their chance. */
static void threads_that_yield_anywhere_keep_an_exact_count(void)
{
	yields_anywhere = true;
	contend(false);
	yields_anywhere = false;
}

static void pools_of_one_node_grow_under_load(void)
{
	shim_pools_start(1, 64);
	contend(HOLDS_NODE);
	/* The hybrid has no use for nodes that it cannot encode. */
	EXPECT((shim_event("growths") > 0) == HOLDS_NODE);
}

int main(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(threads_that_yield_anywhere_keep_an_exact_count),
		TEST_CASE(pools_of_one_node_grow_under_load),
	};

	test_steps_are_attempts = true;
	return test_main(cases, sizeof(cases) / sizeof(cases[0]));
}
