// SPDX-License-Identifier: GPL-2.0
/*
 * Random schedules: contexts nest on some CPUs, now and then those of one level, too; they wait for
 * some locks, with one inside another and with any patience.
 *
 *	run schedules TYPE COMPILER VARIANT [SEEDS [FIRST]]
 *
 * With arguments: only so many schedules, from this seed on. A schedule depends on its seed alone.
 */
#include <sanitizer/asan_interface.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/errno.h>

#include "coro.h"
#include "test.h"

#define LOCKS		3U
#define MOST_TURNS	40000U
/* Late enough for the next deadlock check. */
#define CHECK_INTERVAL	2000000
#define MOST_CPUS	5U
#define MOST_DEPTH	3U
#define MOST_ROUNDS	3U
#define STARTED		12U	/* started in each round */
#define SEEDS		600U

static struct nbq_X *locks;

/* The contexts of a CPU that have begun and not ended, from the bottom up. Only the last runs. */
static struct stack {
	struct coro coros[MOST_DEPTH];
	unsigned int depth;
} stacks[MOST_CPUS];

/* What is known of a lock: its holder, the last one, and what only holders add to. */
static struct {
	const struct coro *holder;
	const struct coro *last;
	unsigned int counter;
	unsigned int acquired;
} known[LOCKS];

static unsigned int random_state;
static unsigned int cpus;
static unsigned int locks_used;
/* So many turns does an idle CPU wait for its next context. */
static unsigned int idle_turns;
/* Attempts keep an order of locks, so that there is no deadlock. */
static bool ordered;
/* Contexts of one level nest, too. Else each deadlock is detected, and nothing else. */
static bool nests;
static unsigned int deadlocks;
static unsigned int exhaustions;
static unsigned int wiped;
static unsigned int seed;
static const char *program;

static unsigned int below(unsigned int limit)
{
	return test_random(&random_state) % limit;
}

/* The first lock in the order that a context above these of its CPU may wait for. */
static unsigned int first_in_order(const struct stack *stack, const struct coro *of)
{
	const struct coro *coro;
	unsigned int first = 0;

	for (coro = stack->coros; coro != of; coro++) {
		if (coro->lock - locks >= first)
			first = coro->lock - locks + 1;
		if (coro->wanted && coro->wanted - locks >= first)
			first = coro->wanted - locks + 1;
	}
	return first;
}

static bool is_used_below(const struct stack *stack, const struct coro *of)
{
	const struct coro *coro;

	for (coro = stack->coros; coro != of; coro++) {
		if (coro->lock == of->lock)
			return true;
	}
	return false;
}

/*
 * Where contexts of one level nest without an order of locks, only what interrupts no other
 * context of its CPU may wait for ever.
 */
static ktime_t choose_patience(const struct stack *stack, const struct coro *coro)
{
	bool may_wait = ordered || !nests || coro == stack->coros;

	switch (below(may_wait ? 8 : 6)) {
	case 0:
		return 0;
	case 1:
	case 2:
	case 3:
		return 1 + below(6) * test_clock_step;
	case 4:
		return 30 * test_clock_step;
	case 5:
		return 300 * test_clock_step;
	default:
		return KTIME_MAX;
	}
}

static void choose(struct coro *coro)
{
	struct stack *stack = &stacks[coro->cpu];
	unsigned int first = ordered ? first_in_order(stack, coro) : 0;
	bool waits = first < locks_used;
	unsigned int tries = 3;

	if (!waits)
		first = 0;
	/* Mostly one that its CPU does not use below. */
	do {
		coro->lock = &locks[first + below(locks_used - first)];
	} while (is_used_below(stack, coro) && --tries);
	coro->patience = waits ? choose_patience(stack, coro) : 0;
}

/* It holds the lock, while other CPUs run and contexts above it. */
static void hold(struct coro *coro, unsigned int lock)
{
	unsigned int counter = known[lock].counter, points = below(8) ? below(40) : below(200);

	EXPECT(!known[lock].holder);
	known[lock].holder = coro;
	known[lock].last = coro;
	while (points--) {
		shim_point(SHIM_OP_RELAX, &coro->wanted);
		EXPECT(known[lock].holder == coro);
	}
	known[lock].counter = counter + 1;
	known[lock].acquired++;
}

static void expect_reason(unsigned int cpu, ktime_t patience, int ret)
{
	switch (ret) {
	case -EBUSY:
		EXPECT(patience <= 0);
		break;
	case -EDEADLK:
		/*
		 * The hybrid's word names a level: its holder may be a nested context. A context
		 * may have interrupted one that takes nodes back from the lock.
		 */
		EXPECT(!ordered || (nests && (!HOLDS_NODE || shim_may_visit(cpu))));
		EXPECT(patience > 0);
		deadlocks++;
		break;
	default:
		EXPECT(ret == 0 || ((ret == -ETIMEDOUT || ret == ERROR_WITHOUT_NODE) &&
				    patience != KTIME_MAX));
	}
}

static void want_second(struct coro *coro, unsigned int first)
{
	unsigned int lock = below(locks_used);
	ktime_t patience;

	if (ordered && lock <= first)
		return;
	patience = coro->patience <= 0 ? 0 : choose_patience(&stacks[coro->cpu], coro);
	coro->wanted = &locks[lock];
	coro->wanted_ret = nbq_X_lock_timeout(coro->wanted, patience);
	expect_reason(coro->cpu, patience, coro->wanted_ret);
	if (!coro->wanted_ret) {
		hold(coro, lock);
		known[lock].holder = NULL;
		nbq_X_unlock(coro->wanted);
	}
	coro->wanted = NULL;
}

static void critical_section(struct coro *coro)
{
	unsigned int lock = coro->lock - locks;

	hold(coro, lock);
	if (!below(6))
		want_second(coro, lock);
	EXPECT(known[lock].holder == coro);
	known[lock].holder = NULL;
}

/*
 * Do others use the lock? Those that are in the middle of their release do not, if it was acquired
 * after that.
 */
static bool has_other_users(unsigned int lock, const struct coro *self)
{
	unsigned int cpu, place;

	for (cpu = 0; cpu < cpus; cpu++) {
		for (place = 0; place < stacks[cpu].depth; place++) {
			const struct coro *coro = &stacks[cpu].coros[place];
			bool releases = known[lock].last == self && coro->doing == RELEASING;

			if (coro != self && (coro->wanted == &locks[lock] ||
					     (coro->lock == &locks[lock] && !releases)))
				return true;
		}
	}
	return false;
}

/* The last user may end at once, and destroy the lock. */
static void choose_next(struct coro *coro)
{
	if (!below(2) && !has_other_users(coro->lock - locks, coro))
		coro->attempts = 0;
	else if (coro->attempts && below(2))
		choose(coro);
}

/* An interrupt, or a context of the same level: more often the latter. */
static unsigned int choose_level(const struct stack *stack)
{
	unsigned int lowest;

	if (!stack->depth)
		return below(2) ? 3 : below(3);
	lowest = stack->coros[stack->depth - 1].level + !nests;
	return nests && below(4) ? lowest : lowest + below(4 - lowest);
}

static bool may_start(const struct stack *stack)
{
	if (!stack->depth)
		return !below(idle_turns);
	return stack->depth < MOST_DEPTH && !below(12) &&
	       (nests || stack->coros[stack->depth - 1].level < 3);
}

static void start(unsigned int cpu)
{
	struct stack *stack = &stacks[cpu];
	struct coro *coro = &stack->coros[stack->depth];

	coro_start_task(coro, NULL, cpu, 0);
	coro->level = choose_level(stack);
	coro->attempts = 2 + below(8);
	coro->critical_section = critical_section;
	coro->after_release = choose_next;
	choose(coro);
	stack->depth++;
}

static void finish(struct stack *stack)
{
	struct coro *coro = &stack->coros[stack->depth - 1];

	if (coro->ret)
		expect_reason(coro->cpu, coro->patience, coro->ret);
	coro_finish(coro);
	stack->depth--;
}

/* Its last user destroys the lock, and others come to the end of their release. */
static void wipe(unsigned int lock)
{
	char pattern[sizeof(struct nbq_X)];
	unsigned int cpu;

	memset(pattern, 0x5a, sizeof(pattern));
	EXPECT(nbq_X_end(&locks[lock]) == 0);
	wiped++;
	memcpy(&locks[lock], pattern, sizeof(pattern));
	/* With the sanitizer, a read is an error, too. */
	ASAN_POISON_MEMORY_REGION(&locks[lock], sizeof(pattern));
	for (cpu = 0; cpu < cpus; cpu++) {
		struct stack *stack = &stacks[cpu];
		struct coro *coro = &stack->coros[stack->depth ? stack->depth - 1 : 0];

		if (!stack->depth || coro->lock != &locks[lock])
			continue;
		while (coro->doing == RELEASING && !coro->ended)
			coro_steps(coro, 1);
		if (coro->ended)
			finish(stack);
	}
	ASAN_UNPOISON_MEMORY_REGION(&locks[lock], sizeof(pattern));
	EXPECT(!memcmp(&locks[lock], pattern, sizeof(pattern)));
	nbq_X_init(&locks[lock]);
}

/* Let the topmost context of the CPU run. */
static void step(struct stack *stack)
{
	struct coro *coro = &stack->coros[stack->depth - 1];
	unsigned int lock;
	bool is_last;

	if (coro_steps(coro, below(16) ? 1 + below(6) : 100))
		return;
	lock = coro->lock - locks;
	is_last = !coro->ret && !has_other_users(lock, coro) &&
		  !shim_is_visited(&locks[lock]);
	finish(stack);
	if (is_last)
		wipe(lock);
}

/* An unused lock becomes another one in the same memory. */
static void remake(unsigned int lock)
{
	if (has_other_users(lock, NULL) || shim_is_visited(&locks[lock]))
		return;
	EXPECT(nbq_X_end(&locks[lock]) == 0);
	memset(&locks[lock], 0xa5, sizeof(locks[lock]));
	nbq_X_init(&locks[lock]);
}

static void begin_schedule(void)
{
	static const u64 steps[] = { 1, 100, 3000, 60000, CHECK_INTERVAL };

	random_state = seed;
	below(1);
	/* Without a node, attempts of the hybrid wait as well. */
	coros_begin(locks, LOCKS, (HOLDS_NODE ? 3 : 1) + below(6));
	coro_reads_free_nodes = true;
	cpus = 3 + below(MOST_CPUS - 2);
	locks_used = 1 + below(LOCKS);
	idle_turns = below(2) ? 4 : 60;
	test_clock(2, steps[below(5)]);
	ordered = below(2) || !DETECTS_DEADLOCKS;
	nests = below(2);
	memset(stacks, 0, sizeof(stacks));
	memset(known, 0, sizeof(known));
}

static void end_schedule(void)
{
	unsigned int i;

	/* A CPU that has a node left, to sweep the queues. */
	shim_cpu = MOST_CPUS;
	for (i = 0; i < LOCKS; i++) {
		EXPECT(nbq_X_destroy(&locks[i]) == 0);
		EXPECT(known[i].counter == known[i].acquired);
	}
	shim_cpu = 0;
	EXPECT(shim_nodes_in_use() == 0);
	exhaustions += shim_event("exhaustions");
	EXPECT(shim_event("nodes_allocated") ==
	       shim_event("nodes_freed") + shim_event("nodes_reclaimed"));
	shim_pools_start(4, 4);
}

/* Return: false if an attempt waits for ever, or anything is wrong. */
static bool run_schedule(void)
{
	unsigned int to_start = STARTED * (1 + below(MOST_ROUNDS)), running, turns, cpu;

	for (turns = 0; turns < MOST_TURNS; turns++) {
		struct stack *stack;

		cpu = below(cpus);
		stack = &stacks[cpu];
		if (to_start && may_start(stack)) {
			start(cpu);
			to_start--;
		}
		if (stack->depth)
			step(stack);
		if (!below(200))
			test_now += 200 * test_clock_step + 20000;
		if (!below(50))
			shim_pools_grow();
		if (!below(6))
			remake(below(locks_used));
		for (cpu = running = 0; cpu < cpus; cpu++)
			running += stacks[cpu].depth;
		if (test_has_failed() || (!running && !to_start))
			break;
	}
	return EXPECT(turns < MOST_TURNS) && !test_has_failed();
}

static unsigned int first_seed = 1;
static unsigned int seeds = SEEDS;

/*
 * Mutual exclusion, errors with a reason, -EDEADLK for each deadlock, an end, and no node that is
 * lost or freed twice.
 */
static void contexts_of_one_level_nest_at_random(void)
{
	for (seed = first_seed; seed < first_seed + seeds && !test_has_failed(); seed++) {
		snprintf(test_again, sizeof(test_again), "; again with %s 1 %u", program, seed);
		test_count_anew();
		begin_schedule();
		if (run_schedule())
			end_schedule();
	}
	if (test_has_failed())
		return;
	test_again[0] = '\0';
	if (seeds < SEEDS)
		return;
	EXPECT(deadlocks > SEEDS / 16 || !DETECTS_DEADLOCKS);
	EXPECT(wiped > SEEDS / 16);
	EXPECT(exhaustions > 0 || !IN_KERNEL);
	/* The algorithm's file promises no less than what is needed. */
	EXPECT(coro_most_steps_to_abandon == STEPS_TO_ABANDON);
	EXPECT(coro_most_steps_to_release == STEPS_TO_RELEASE);
}

/* A crash of a random schedule. */
static void say_seed_of_crash(void)
{
	char line[512];
	int length = snprintf(line, sizeof(line),
			      "not ok contexts_of_one_level_nest_at_random: crash%s\n",
			      test_again);

	if (test_again[0] && write(STDOUT_FILENO, line, length) != length)
		_exit(2);
}

static void on_fault(int signal)
{
	say_seed_of_crash();
	_exit(128 + signal);
}

/* Of the address sanitizer, which handles faults itself. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((__weak__));

static void catch_crashes(void)
{
	if (__sanitizer_set_death_callback) {
		__sanitizer_set_death_callback(say_seed_of_crash);
		return;
	}
	signal(SIGSEGV, on_fault);
	signal(SIGBUS, on_fault);
}

int main(int argc, char **argv)
{
	static const struct test_case cases[] = {
		TEST_CASE(contexts_of_one_level_nest_at_random),
	};

	if (argc > 1)
		seeds = strtoul(argv[1], NULL, 10);
	if (argc > 2)
		first_seed = strtoul(argv[2], NULL, 10);
	program = argv[0];
	locks = coros_map_locks();
	catch_crashes();
	return test_main(cases, 1);
}
