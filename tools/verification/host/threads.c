// SPDX-License-Identifier: GPL-2.0
/*
 * A lock type under real threads, for a thread sanitizer to watch: plain data that
 * only the lock protects.
 *
 * Usage: threads [MILLIONS [SECONDS]]
 *
 * A host thread can lose its core while it holds the lock or is next in line,
 * and then all behind it wait: with more threads than cores a few ten thousand
 * acquisitions a second are normal. Each case ends with its number of
 * acquisitions, or later, once an attempt has timed out (on a busy machine the
 * threads may meet late); or with its seconds, if these are over first.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <linux/errno.h>

#include "test.h"
#include "type.h"

static double millions = 1;
static double seconds = 5;

static const ktime_t patience_choices[] = { 0, 1000, 100000, KTIME_MAX };

/* So much each thread does in any case, else it has not been a test. */
#define FLOOR	500

/* What the lock protects, on two cache lines. */
static struct nbq_X lock;
static struct {
	unsigned long first __attribute__((__aligned__(64)));
	unsigned long second __attribute__((__aligned__(64)));
} counter;

static unsigned long enough;		/* acquisitions of one thread */
static bool time_is_up;
static bool somebody_timed_out;

struct worker {
	pthread_t thread;
	unsigned int cpu;
	unsigned long acquired;
	unsigned long timed_out;
	unsigned long no_node;
	unsigned long violations;
	bool balanced;
};

static void critical_section(struct worker *worker)
{
	if (counter.first != counter.second)
		worker->violations++;
	counter.first++;
	/* Contention, also where the threads share a core. */
	if (counter.first % 64 == 0)
		sched_yield();
	counter.second++;
}

/* A thread loses its core before an access now and then. */
static void yield_now_and_then(enum shim_op op, const void *address)
{
	static _Thread_local unsigned int random;

	random += shim_cpu;
	if (test_random(&random) % 16 == 0)
		sched_yield();
}

static bool yields_anywhere;

static bool goes_on(const struct worker *worker)
{
	if (worker->acquired >= enough &&
	    __atomic_load_n(&somebody_timed_out, __ATOMIC_RELAXED))
		return false;
	return worker->acquired < FLOOR ||
	       !__atomic_load_n(&time_is_up, __ATOMIC_RELAXED);
}

static void count_failure(struct worker *worker, int ret)
{
	worker->no_node += ret == -ENOMEM;
	if (ret != -ETIMEDOUT)
		return;
	if (!worker->timed_out++)
		__atomic_store_n(&somebody_timed_out, true, __ATOMIC_RELAXED);
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	unsigned int random = worker->cpu + 1;

	shim_cpu = worker->cpu;
	shim_hook = yields_anywhere ? yield_now_and_then : NULL;
	while (goes_on(worker)) {
		int ret = nbq_X_lock_timeout(&lock, patience_choices[test_random(&random) & 3]);

		if (ret) {
			count_failure(worker, ret);
			continue;
		}
		critical_section(worker);
		worker->acquired++;
		nbq_X_unlock(&lock);
	}
	worker->balanced = shim_preempt_off == 0;
	return NULL;
}

/* Until all threads are done or the time is up, enlarge pools that ask. */
static void *look_after_pools(void *unused)
{
	unsigned int ms;

	for (ms = 0; ms < seconds * 1000; ms++) {
		if (__atomic_load_n(&time_is_up, __ATOMIC_RELAXED))
			break;
		shim_pools_grow();
		usleep(1000);
	}
	__atomic_store_n(&time_is_up, true, __ATOMIC_RELAXED);
	return NULL;
}

static void check_events(unsigned long acquired, unsigned long timed_out)
{
	/* A type that holds no node counts the contended acquisitions only. */
	if (HOLDS_NODE)
		EXPECT(shim_event("acquired_uncontended") +
		       shim_event("acquired_handoff") == acquired);
	else
		EXPECT(shim_event("acquired_uncontended") == 0 &&
		       shim_event("acquired_handoff") < acquired);
	EXPECT(shim_event("timeouts") == timed_out);
	/* Else it has not been a test of timeouts and handoffs. */
	EXPECT(timed_out > 0);
	EXPECT(shim_event("acquired_handoff") > 0);
}

static void contend(unsigned int threads)
{
	struct worker workers[SHIM_CPUS] = { };
	unsigned long acquired = 0, timed_out = 0, no_node = 0;
	pthread_t keeper;
	unsigned int i;

	nbq_X_init(&lock);
	counter.first = 0;
	counter.second = 0;
	time_is_up = false;
	somebody_timed_out = false;
	enough = millions * 1e6 / threads;
	for (i = 0; i < threads; i++) {
		workers[i].cpu = i;
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	}
	pthread_create(&keeper, NULL, look_after_pools, NULL);
	for (i = 0; i < threads; i++) {
		pthread_join(workers[i].thread, NULL);
		acquired += workers[i].acquired;
		timed_out += workers[i].timed_out;
		no_node += workers[i].no_node;
		EXPECT(workers[i].violations == 0);
		EXPECT(workers[i].balanced);
	}
	__atomic_store_n(&time_is_up, true, __ATOMIC_RELAXED);
	pthread_join(keeper, NULL);

	printf("# %u threads: %lu acquired, %lu timed out, %lu without a node; "
	       "%llu skipped, %llu nodes at most\n", threads, acquired, timed_out,
	       no_node, shim_event("most_skipped"), shim_event("pool_high_water"));
	EXPECT(counter.first == acquired);
	EXPECT(counter.second == acquired);
	/* By a CPU that has left no node in a queue. */
	shim_cpu = threads;
	EXPECT(nbq_X_destroy(&lock) == 0);
	shim_cpu = 0;
	check_events(acquired, timed_out);
}

static void two_threads_with_mixed_patience_keep_an_exact_count(void)
{
	contend(2);
}

static void more_threads_than_cores_keep_an_exact_count(void)
{
	contend(6);
}

/* Where two contexts decide who gives a node back, both get their chance. */
static void threads_that_yield_anywhere_keep_an_exact_count(void)
{
	yields_anywhere = true;
	contend(4);
	yields_anywhere = false;
}

static void pools_of_one_node_grow_under_load(void)
{
	shim_pools_start(1, 64);
	contend(4);
	/* The hybrid has no use for nodes that it cannot encode. */
	EXPECT((shim_event("growths") > 0) == HOLDS_NODE);
}

int main(int argc, char **argv)
{
	static const struct test_case cases[] = {
		TEST_CASE(two_threads_with_mixed_patience_keep_an_exact_count),
		TEST_CASE(more_threads_than_cores_keep_an_exact_count),
		TEST_CASE(threads_that_yield_anywhere_keep_an_exact_count),
		TEST_CASE(pools_of_one_node_grow_under_load),
	};

	if (argc > 1)
		millions = atof(argv[1]);
	if (argc > 2)
		seconds = atof(argv[2]);
	if (argc > 3 || millions <= 0 || seconds <= 0) {
		fprintf(stderr, "usage: %s [MILLIONS [SECONDS]]\n", argv[0]);
		return 2;
	}
	return test_main(cases, sizeof(cases) / sizeof(cases[0]), seconds + 15);
}
