// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the programs of arena_test.bpf.c: waiters that give up, at each position; a counter; stray
 * writes; a lock without memory; a callback above the holder; speed.
 *
 * The holder that does not come back is this program: it writes the lock's word, in the memory
 * that it shares with the programs.
 *
 * Usage: arena_test after-timeout|positions|counter|stray-writes|no-page|callback|speed
 * Prints a line for what it finds; the exit status is 1 if something is wrong, 2 for bad words.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "arena_test.h"

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

#ifdef OF_LIBARENA
struct __qspinlock {
	int val;
};

#define NAME			"arena_spin_lock"
#define HELD			1
#define lock_word(lock)		(&(lock)->val)
/* Another byte says that a waiter is there. */
#define release_word(lock)	__atomic_store_n((u8 *)lock_word(lock), 0, __ATOMIC_RELEASE)
#else
#include <nbq_arena_lock_types.h>

#define NAME			"nbq_arena_lock"
#define HELD			9999	/* no CPU of the guest */
#define lock_word(lock)		(&(lock)->owner)
#define release_word(lock)	__atomic_store_n(lock_word(lock), 0, __ATOMIC_RELEASE)
#endif

#include "arena_test.skel.h"

#define WAITERS			3U
#define MOST_TRIES		200U	/* of a round, on a busy machine */
#define MS			1000000ULL
#define SHORT_NS		(5 * MS)
#define LONG_NS			(10000 * MS)	/* the verifier's budget is less */

static struct arena_test *test;

static void fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	printf("%s: wrong: ", NAME);
	vprintf(format, arguments);
	printf("\n");
	va_end(arguments);
	exit(1);
}

static void run(struct bpf_program *program, struct attempts *attempts)
{
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = attempts,
		    .ctx_size_in = sizeof(*attempts));
	int error = bpf_prog_test_run_opts(bpf_program__fd(program), &options);

	if (error || options.retval)
		fail("%s: error %d, returned %d", bpf_program__name(program), error,
		     (int)options.retval);
}

/* Programs run where their threads do. */
static void run_on(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail("CPU %u: %s", cpu, strerror(errno));
}

struct thread {
	pthread_t id;
	unsigned int cpu;
	bool ended;
	struct attempts attempts;
	struct attempts sum;
};

static void *attempt_on_cpu(void *argument)
{
	struct thread *thread = argument;

	run_on(thread->cpu);
	run(test->progs.sleepable, &thread->attempts);
	__atomic_store_n(&thread->ended, true, __ATOMIC_RELEASE);
	return NULL;
}

static void start(struct thread *thread, void *(*function)(void *argument))
{
	if (pthread_create(&thread->id, NULL, function, thread))
		fail("no thread");
}

static void hold(void)
{
	__atomic_store_n(lock_word(&test->arena->lock), HELD, __ATOMIC_SEQ_CST);
}

/* Return: the number of attempts that were served, of three on a CPU where nothing waits. */
static unsigned int served(void)
{
	unsigned int i, number = 0;

	run_on(0);
	for (i = 0; i < 3; i++) {
		struct attempts attempts = { .patience_ns = LONG_NS, .number = 1 };

		run(test->progs.sleepable, &attempts);
		number += attempts.acquired;
	}
	return number;
}

static void after_timeout(void)
{
	struct thread threads[WAITERS] = { };
	unsigned int i, waiters, timeouts;

	for (waiters = 1; waiters <= WAITERS; waiters++) {
		timeouts = 0;
		memset(&test->arena->lock, 0, sizeof(test->arena->lock));
		hold();
		for (i = 0; i < waiters; i++) {
			threads[i].cpu = i + 1;
			threads[i].attempts = (struct attempts){ .patience_ns = LONG_NS,
								 .number = 1 };
			start(&threads[i], attempt_on_cpu);
		}
		for (i = 0; i < waiters; i++) {
			pthread_join(threads[i].id, NULL);
			timeouts += threads[i].attempts.timeouts;
		}
		if (timeouts != waiters)
			fail("%u timeouts of %u waiters", timeouts, waiters);
		release_word(&test->arena->lock);
		printf("served_after.%u %u\n", timeouts, served());
	}
}

#ifndef OF_LIBARENA
static unsigned int used_nodes(void)
{
	struct attempts attempts = { };

	run(test->progs.nodes_in_use, &attempts);
	return attempts.acquired;
}

static bool try_once(void)
{
	struct attempts attempts = { };

	run(test->progs.try_once, &attempts);
	return attempts.acquired;
}

static void expect_whole(void)
{
	if (!try_once())
		fail("trylock did not acquire a free lock");
	if (served() != 3)
		fail("an attempt was not served although the lock was released");
	if (test->arena->lock.tail || used_nodes())
		fail("the queue is not empty: tail %u, %u nodes in use", test->arena->lock.tail,
		     used_nodes());
}

/*
 * One round: waiters queue on three CPUs; those of a mask leave, front first or last; the others
 * are served after the release. What must hold on a busy machine, too, is checked at once.
 *
 * Return: whether all had queued before the first left, and the others were served in their order.
 */
static bool play(unsigned int leaving, bool front_last, unsigned int try)
{
	struct nbq_arena_lock *lock = (struct nbq_arena_lock *)&test->arena->lock;
	struct thread threads[WAITERS] = { };
	bool as_intended = true;
	unsigned int i, tail, last = 0;

	test->bss->counter = 1;
	hold();
	for (i = 0; i < WAITERS; i++) {
		unsigned int turn = front_last ? WAITERS - i : i;

		threads[i].cpu = i + 1;
		threads[i].attempts.number = 1;
		threads[i].attempts.patience_ns =
			leaving >> i & 1 ? SHORT_NS * (try + 1) + turn * MS : LONG_NS;
		tail = lock->tail;
		start(&threads[i], attempt_on_cpu);
		while (__atomic_load_n(&lock->tail, __ATOMIC_RELAXED) == tail &&
		       !__atomic_load_n(&threads[i].ended, __ATOMIC_ACQUIRE))
			sched_yield();
	}
	if (try_once())
		fail("trylock acquired a held lock");
	for (i = 0; i < WAITERS; i++)
		as_intended &= !__atomic_load_n(&threads[i].ended, __ATOMIC_ACQUIRE);
	for (i = 0; i < WAITERS; i++) {
		if (leaving >> i & 1)
			pthread_join(threads[i].id, NULL);
	}
	release_word(lock);
	for (i = 0; i < WAITERS; i++) {
		struct attempts *attempts = &threads[i].attempts;

		if (!(leaving >> i & 1))
			pthread_join(threads[i].id, NULL);
		if (attempts->acquired + attempts->timeouts != 1 || attempts->other_error)
			fail("an attempt returned %d", attempts->other_error);
		if (leaving >> i & 1) {
			if (attempts->acquired)
				fail("a waiter acquired while the lock was held");
			continue;
		}
		as_intended &= attempts->acquired && attempts->order > last;
		last = attempts->order;
	}
	expect_whole();
	return as_intended;
}

static void positions(void)
{
	unsigned int leaving, front_last, try;

	for (leaving = 0; leaving < 1 << WAITERS; leaving++) {
		for (front_last = 0; front_last < 2; front_last++) {
			for (try = 0; !play(leaving, front_last, try % 20); try++) {
				if (try == MOST_TRIES)
					fail("leaving %u: never served in order", leaving);
			}
			printf("%s: of waiters 1 2 3, %s%s%s%s left: the others were served in "
			       "order, the queue is whole (%u tries)\n", NAME,
			       leaving & 1 ? "1 " : "", leaving & 2 ? "2 " : "",
			       leaving & 4 ? "3 " : "", leaving ? "have" : "none has", try + 1);
		}
	}
}
#endif

/* Many attempts, with much patience and with little, in programs of both types. */

#define THREADS		8U	/* on 4 CPUs */
#define CPUS		4U
#define ROUNDS		60U

static void run_packet(struct thread *thread)
{
	static u8 packet[64];
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = packet,
		    .data_size_in = sizeof(packet), .repeat = 1);
	int error = bpf_prog_test_run_opts(bpf_program__fd(test->progs.not_sleepable), &options);

	if (error)
		fail("not_sleepable: error %d", error);
	if (!options.retval)
		thread->sum.acquired++;
	else if (options.retval == ETIMEDOUT)
		thread->sum.timeouts++;
	else
		thread->sum.other_error = options.retval;
}

static void *count_on_cpu(void *argument)
{
	struct thread *thread = argument;
	unsigned int round, i;

	run_on(thread->cpu);
	for (round = 0; round < ROUNDS; round++) {
		struct attempts attempts = {
			.patience_ns = round % 2 ? 50 * MS : round * 1000,
			.number = 20, .spins = round * 10
		};

		run(test->progs.sleepable, &attempts);
		thread->sum.acquired += attempts.acquired;
		thread->sum.timeouts += attempts.timeouts;
		if (attempts.other_error)
			thread->sum.other_error = attempts.other_error;
		for (i = 0; i < 20; i++)
			run_packet(thread);
	}
	return NULL;
}

static void start_timers(void)
{
	unsigned int cpu;

	test->bss->patience_ns = 20000;
	for (cpu = 0; cpu < CPUS; cpu++) {
		struct attempts attempts = { };

		run_on(cpu);
		run(test->progs.start_timer, &attempts);
	}
}

static struct callback stop_timers(void)
{
	struct callback sum = { };
	unsigned int cpu;

	test->bss->stop_callbacks = true;
	/* Each is 100 us apart from the next, and does not start another. */
	sleep(1);
	for (cpu = 0; cpu < CPUS; cpu++) {
		sum.acquired += test->bss->callbacks[cpu].acquired;
		sum.timeouts += test->bss->callbacks[cpu].timeouts;
		sum.deadlocks += test->bss->callbacks[cpu].deadlocks;
		sum.other_errors += test->bss->callbacks[cpu].other_errors;
	}
	return sum;
}

static void counter(void)
{
	struct thread threads[THREADS] = { };
	unsigned int i, acquired = 0, timeouts = 0;
	struct callback callbacks;

	start_timers();
	for (i = 0; i < THREADS; i++) {
		threads[i].cpu = i % CPUS;
		start(&threads[i], count_on_cpu);
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i].id, NULL);
		acquired += threads[i].sum.acquired;
		timeouts += threads[i].sum.timeouts;
		if (threads[i].sum.other_error)
			fail("an attempt returned %d", threads[i].sum.other_error);
	}
	callbacks = stop_timers();
	printf("%s: programs: acquired %u times, %u timeouts; callbacks above: %u, %u, and %u "
	       "deadlocks\n", NAME, acquired, timeouts, callbacks.acquired, callbacks.timeouts,
	       callbacks.deadlocks);
	acquired += callbacks.acquired;
	if (test->bss->counter != acquired || test->bss->second_counter != acquired)
		fail("the counters are %u and %u, not %u", test->bss->counter,
		     test->bss->second_counter, acquired);
	if (callbacks.other_errors || !acquired)
		fail("%u other errors", callbacks.other_errors);
#ifndef OF_LIBARENA
	expect_whole();
#endif
}

#ifndef OF_LIBARENA
/* Stray writes into the lock and the nodes, while programs attempt: each attempt ends. */

#define STRAY_SECONDS	2

static bool stop_stray;

static void *attempt_until_stopped(void *argument)
{
	struct thread *thread = argument;

	run_on(thread->cpu);
	while (!__atomic_load_n(&stop_stray, __ATOMIC_RELAXED)) {
		struct attempts attempts = { .patience_ns = 100000, .number = 10 };

		run(test->progs.sleepable, &attempts);
		thread->sum.acquired += attempts.acquired;
		thread->sum.timeouts += attempts.timeouts;
		if (attempts.other_error && attempts.other_error != -EDEADLK &&
		    attempts.other_error != -EFAULT)
			thread->sum.other_error = attempts.other_error;
	}
	return NULL;
}

static void write_astray(const char *where, bool also_owner)
{
	struct thread threads[CPUS] = { };
	time_t end = time(NULL) + STRAY_SECONDS;
	unsigned int i, acquired = 0, timeouts = 0, seed = 1;
	size_t size;
	u32 *words = (u32 *)test->arena;

	bpf_map__initial_value(test->maps.arena, &size);
	test->bss->counter = 0;
	test->bss->second_counter = 0;
	__atomic_store_n(&stop_stray, false, __ATOMIC_RELAXED);
	for (i = 0; i < CPUS; i++) {
		threads[i].cpu = i;
		start(&threads[i], attempt_until_stopped);
	}
	while (time(NULL) < end) {
		u32 value = (u32)rand_r(&seed) * 3 >> rand_r(&seed) % 32;

		for (i = 0; i < 64; i++)
			words[16 + rand_r(&seed) % (CPUS * 16)] = value;
		test->arena->lock.tail = value;
		if (also_owner)
			test->arena->lock.owner = value % 2 ? 0 : value;
	}
	__atomic_store_n(&stop_stray, true, __ATOMIC_RELAXED);
	for (i = 0; i < CPUS; i++) {
		pthread_join(threads[i].id, NULL);
		acquired += threads[i].sum.acquired;
		timeouts += threads[i].sum.timeouts;
		if (threads[i].sum.other_error)
			fail("an attempt returned %d", threads[i].sum.other_error);
	}
	printf("%s: stray writes into %s: acquired %u times, %u timeouts\n", NAME, where, acquired,
	       timeouts);
	if (!acquired || !timeouts)
		fail("stray writes did nothing");
	/* Mutual exclusion rests on owner alone. */
	if (!also_owner &&
	    (test->bss->counter != acquired || test->bss->second_counter != acquired))
		fail("the counters are %u and %u, not %u", test->bss->counter,
		     test->bss->second_counter, acquired);
	memset(words, 0, size);
	expect_whole();
}

/* One word, in a free lock: the next attempts are served. */
static void stray_tail(void)
{
	/* Nodes of a CPU that attempts and of others, what is no node's name, all bits. */
	static const u32 words[] = { 1, 2, 16, 17, 0x1234, 0x7fffffff, 0xdeadbeef, ~0U };
	unsigned int i, number;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		test->arena->lock.tail = words[i];
		number = served();
		printf("%s: a stray tail 0x%x: %u of 3 attempts acquired\n", NAME, words[i],
		       number);
		if (number != 3)
			fail("a stray tail stays");
		expect_whole();
	}
}

static void stray_writes(void)
{
	stray_tail();
	write_astray("the queue", false);
	write_astray("the lock, too", true);
}

/* The arena's variables are in its first pages: it has no others. */
static void no_page(void)
{
	struct attempts attempts = { .patience_ns = LONG_NS, .number = ARENA_PAGES - 1 };
	unsigned int i;

	for (i = 0; i < 20; i++) {
		run(test->progs.without_page, &attempts);
		if (attempts.acquired || attempts.other_error != -EFAULT)
			fail("a lock without memory: acquired %u times, error %d",
			     attempts.acquired, attempts.other_error);
	}
	printf("%s: a lock in a page that the arena does not have: -EFAULT\n", NAME);
	expect_whole();
}
#endif

/* A holder that waits for the callback of a timer of its CPU, which attempts to acquire. */
static void callback(void)
{
	struct attempts attempts = { .patience_ns = LONG_NS };
	const struct callback *found = &test->bss->callbacks[0];

	run_on(0);
	test->bss->stop_callbacks = true;
	test->bss->patience_ns = LONG_NS;
	run(test->progs.hold_below_timer, &attempts);
	printf("%s: a callback above the holder: %s\n", NAME,
	       found->deadlocks ? "-EDEADLK" : found->timeouts ? "-ETIMEDOUT" :
	       found->acquired ? "acquired" : "it did not come");
#ifndef OF_LIBARENA
	if (!found->deadlocks)
		fail("not -EDEADLK");
#endif
}

/* Speed. */

static pthread_barrier_t barrier;

static void *measure_on_cpu(void *argument)
{
	struct thread *thread = argument;

	run_on(thread->cpu);
	pthread_barrier_wait(&barrier);
	run(test->progs.sleepable, &thread->attempts);
	return NULL;
}

/* Return: ns for each acquisition, of all threads together. */
static double measure(unsigned int number_of_threads, unsigned int number)
{
	struct thread threads[2] = { };
	unsigned int i, acquired = 0;
	u64 longest = 0;

	pthread_barrier_init(&barrier, NULL, number_of_threads);
	for (i = 0; i < number_of_threads; i++) {
		threads[i].cpu = i;
		threads[i].attempts = (struct attempts){ .patience_ns = LONG_NS,
							 .number = number };
		start(&threads[i], measure_on_cpu);
	}
	for (i = 0; i < number_of_threads; i++) {
		pthread_join(threads[i].id, NULL);
		acquired += threads[i].attempts.acquired;
		if (threads[i].attempts.ns > longest)
			longest = threads[i].attempts.ns;
	}
	if (acquired != number * number_of_threads)
		fail("%u acquisitions of %u", acquired, number * number_of_threads);
	return (double)longest / acquired;
}

static void speed(void)
{
	printf("ns.1 %.1f\n", measure(1, 2000000));
	printf("ns.2 %.1f\n", measure(2, 1000000));
}

static const struct {
	const char *word;
	void (*run)(void);
} parts[] = {
	{ "after-timeout", after_timeout },
#ifndef OF_LIBARENA
	{ "positions", positions },
#endif
	{ "counter", counter },
#ifndef OF_LIBARENA
	{ "stray-writes", stray_writes },
	{ "no-page", no_page },
#endif
	{ "callback", callback },
	{ "speed", speed },
};

#define PARTS	(sizeof(parts) / sizeof(parts[0]))

int main(int count, char **words)
{
	unsigned int i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 0; i < PARTS; i++) {
		if (count != 2 || strcmp(words[1], parts[i].word))
			continue;
		test = arena_test__open_and_load();
		if (!test)
			fail("the programs are refused: %s", strerror(errno));
		parts[i].run();
		arena_test__destroy(test);
		return 0;
	}
	fprintf(stderr, "usage: %s", words[0]);
	for (i = 0; i < PARTS; i++)
		fprintf(stderr, "%s%s", i ? "|" : " ", parts[i].word);
	fprintf(stderr, "\n");
	return 2;
}
