// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts that nest on a CPU, of one level, too: an NMI in an NMI, or a probe at task level in the
 * middle of an attempt. The inner one runs to its end before the outer one goes on.
 *
 *	run nesting TYPE COMPILER VARIANT [SEEDS [FIRST]]
 *
 * With arguments: only so many random schedules, from this seed on. A schedule depends on its seed
 * alone.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/errno.h>
#include <linux/hash.h>

#include "coro.h"
#include "test.h"

/* At an address of its own, by which the hashes of the locks are the same in each run. */
#define LOCKS_ADDRESS	((void *)0x20000000)
#define LOCKS		6U

/* Longer than all the time that passes, unless a test moves the clock by it. */
#define PATIENCE	(1LL << 50)
/* Late enough for the next deadlock check. */
#define CHECK_INTERVAL	2000000
#define SOME_ACCESSES	500	/* it has enqueued, published what it waits for, and checked */
#define MOST_ACCESSES	40	/* of an attempt up to its first poll */
#define MOST_AT_END	120	/* from one clock read to the next, and to abandon */
#define MOST_TURNS	40000U

static struct nbq_X *locks;
static void map_locks(void)
{
	locks = mmap(LOCKS_ADDRESS, 4096, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (locks == MAP_FAILED)
		abort();
}

/* Nothing is left of the schedule before. */
static void begin(unsigned int nodes)
{
	struct shim_memory abandoned = shim_generations_memory();
	unsigned int i;

	coros_forget();
	coros_level = CORO_NMI_LEVEL;
	shim_pools_start(nodes, SHIM_MOST_NODES);
	memset((void *)abandoned.start, 0, abandoned.size);
	for (i = 0; i < LOCKS; i++)
		nbq_X_init(&locks[i]);
	coro_reads_free_nodes = true;
	test_clock(2, 1);
}

static void expire_patience(void)
{
	test_now += 2 * PATIENCE;
}

static void destroy_locks(void)
{
	unsigned int i;

	for (i = 0; i < LOCKS; i++)
		EXPECT(nbq_X_destroy(&locks[i]) == 0);
}

/*
 * CPU 1 has a place behind a waiter. Its next attempt makes so many accesses; meanwhile the
 * successor may skip and free the node, with which a nested attempt waits then, at this lock or
 * another one, abandons it before another waiter, and ends.
 */
static bool reuse_the_node_after(unsigned int accesses, struct nbq_X *other)
{
	struct nbq_X *lock = &locks[0];

	begin(16);
	EXPECT(nbq_X_lock_timeout(lock, KTIME_MAX) == 0);
	if (other != lock)
		EXPECT(nbq_X_lock_timeout(other, KTIME_MAX) == 0);
	ENQUEUE(lock, KTIME_MAX, 4);
	ENQUEUE(lock, PATIENCE, 1);
	ENQUEUE(lock, KTIME_MAX, 2);
	expire_patience();
	EXPECT_END(-ETIMEDOUT, 1);

	coro_steps(coros_start(1, lock, KTIME_MAX), accesses);
	coro_steps(&coros[2], MOST_ACCESSES);
	coro_steps(coros_start(CORO_ABOVE(1), other, PATIENCE), SOME_ACCESSES);
	ENQUEUE(other, KTIME_MAX, 3);
	expire_patience();
	EXPECT(coro_finish(&coros[CORO_ABOVE(1)]) != 0);

	coro_steps(&coros[1], SOME_ACCESSES);
	if (other != lock)
		nbq_X_unlock(other);
	nbq_X_unlock(lock);
	coros_finish(MOST_TURNS);
	if (test_has_failed())
		return false;
	destroy_locks();
	return EXPECT(shim_nodes_in_use() == 0);
}

static void nested_attempt_may_use_the_node_of_a_place(void)
{
	unsigned int accesses;

	for (accesses = 0; accesses < MOST_ACCESSES; accesses++) {
		if (!reuse_the_node_after(accesses, &locks[0]) ||
		    !reuse_the_node_after(accesses, &locks[1]))
			break;
	}
}

/* Not one for which a pool would remember its places together with those of the lock. */
static struct nbq_X *lock_apart_from(const struct nbq_X *lock)
{
	struct nbq_X *other = &locks[LOCKS - 1];

	while (hash_ptr(other, 6) == hash_ptr(lock, 6))
		other--;
	return other;
}

/*
 * The patience of CPU 1 at A is over, and it has made so many accesses since, to abandon its node.
 * A nested attempt abandons its node at B, before a waiter that is about to abandon, too: the node
 * stays as B's tail. Then B is no lock any more. Return: it was nested.
 */
static bool leave_places(unsigned int accesses, struct nbq_X *a, struct nbq_X *b)
{
	bool nested;

	EXPECT(nbq_X_lock_timeout(a, KTIME_MAX) == 0);
	EXPECT(nbq_X_lock_timeout(b, KTIME_MAX) == 0);
	ENQUEUE(a, KTIME_MAX, 4);
	ENQUEUE(b, KTIME_MAX, 5);
	ENQUEUE(a, PATIENCE, 1);
	ENQUEUE(a, KTIME_MAX, 2);
	expire_patience();
	nested = coro_steps(&coros[1], accesses);

	ENQUEUE(b, PATIENCE, CORO_ABOVE(1), 3);
	expire_patience();
	EXPECT(coro_until_abandon(&coros[3]));
	EXPECT_END(-ETIMEDOUT, CORO_ABOVE(1), 3, 1);
	nbq_X_unlock(b);
	nbq_X_unlock(a);
	coros_finish(MOST_TURNS);
	return nested;
}

static void no_place_of_a_nested_attempt_at_an_earlier_lock(void)
{
	struct nbq_X *a = &locks[0], *b = lock_apart_from(a);
	unsigned int accesses;
	bool nested;

	for (accesses = 0; accesses < MOST_AT_END && !test_has_failed(); accesses++) {
		begin(16);
		nested = leave_places(accesses, a, b);
		/* In the same memory, without a destroy: what stands in the queue is lost. */
		nbq_X_init(b);
		/* CPU 1 finds no place at A. */
		EXPECT(try_as(a, 1, 1, CORO_NMI_LEVEL) == 0);
		EXPECT(nbq_X_lock_timeout(b, KTIME_MAX) == 0);
		test_clock_step = 1;
		EXPECT(try_as(b, 1, 1, CORO_NMI_LEVEL) == -ETIMEDOUT);
		nbq_X_unlock(b);
		/* Nor is there one at B. */
		EXPECT(!nested || shim_event("nodes_resumed") == 0);
	}
	shim_pools_start(16, 16);
}

/*
 * The patience of CPU 1 at A is over, and it has made so many accesses since, to abandon its only
 * node. The successor skips that if it is abandoned, and a nested attempt abandons it at B then,
 * in front of another abandoned node. B is free in the end.
 */
static void abandon_the_node_elsewhere_after(unsigned int accesses)
{
	struct nbq_X *a = &locks[0], *b = lock_apart_from(a);

	begin(1);
	coros_start_holder(4, a, NULL);
	coros_start_holder(5, b, NULL);
	ENQUEUE(a, PATIENCE, 1);
	ENQUEUE(a, KTIME_MAX, 2);
	expire_patience();
	coro_steps(&coros[1], accesses);
	coro_steps(&coros[2], SOME_ACCESSES);

	coro_steps(coros_start(CORO_ABOVE(1), b, PATIENCE), SOME_ACCESSES);
	ENQUEUE(b, PATIENCE, 3, 6);
	expire_patience();
	coro_until_abandon(&coros[3]);
	coro_until_abandon(&coros[6]);
	EXPECT(coro_finish(&coros[CORO_ABOVE(1)]) != 0);
	EXPECT_END(-ETIMEDOUT, 3, 6, 1);

	EXPECT_END(0, 5);
	EXPECT(!nbq_X_is_locked(b));
	EXPECT(nbq_X_destroy(b) == 0);
	EXPECT_END(0, 4, 2);
}

static void node_abandoned_by_a_nested_attempt_stays_at_its_lock(void)
{
	unsigned int accesses;

	for (accesses = 0; accesses < MOST_AT_END && !test_has_failed(); accesses++)
		abandon_the_node_elsewhere_after(accesses);
	shim_pools_start(16, 16);
}

/*
 * CPU 2 holds C and waits for B; CPU 0 holds B and waits for A; a context of CPU 1 waits for C,
 * and one of the same level above it has A, or waits for A, behind a holder that runs.
 */
static void check_behind_nested_context(bool holds)
{
	unsigned int i;

	begin(16);
	test_clock_step = CHECK_INTERVAL;
	coros_start_holder(0, &locks[1], &locks[0]);
	coros_start_holder(2, &locks[2], &locks[1]);
	coros_start_holder(3, &locks[holds ? 3 : 0], NULL);
	coro_steps(&coros[2], SOME_ACCESSES);
	ENQUEUE(&locks[2], KTIME_MAX, 1);
	coro_steps(&coros[1], SOME_ACCESSES);
	coros_begin_epoch(&locks[4], &locks[5]);
	coro_steps(&coros[1], SOME_ACCESSES);
	if (holds)
		coros_start_holder(CORO_ABOVE(1), &locks[0], NULL);
	else
		ENQUEUE(&locks[0], KTIME_MAX, CORO_ABOVE(1));
	coros_begin_epoch(&locks[4], &locks[5]);
	for (i = 0; i < 10; i++) {
		coro_steps(&coros[0], SOME_ACCESSES);
		coro_steps(&coros[2], SOME_ACCESSES);
	}
	/* Nothing was found: the holder of A goes on, and all acquire what they want. */
	coro_until_poll(&coros[3]);
	while (!coros[CORO_ABOVE(1)].ended && i++ < MOST_TURNS)
		coro_until_poll(&coros[CORO_ABOVE(1)]);
	coros_finish(MOST_TURNS);
	EXPECT(coros[0].wanted_ret == 0 && coros[2].wanted_ret == 0);
	if (!test_has_failed())
		destroy_locks();
}

/* The hybrid's word names a level: what a nested context holds passes for the outer one's. */
#if HOLDS_NODE
static void lock_held_by_nested_context_is_no_deadlock(void)
{
	check_behind_nested_context(true);
}
#endif

static void wait_of_nested_context_is_no_deadlock(void)
{
	check_behind_nested_context(false);
}

#if !IS_FIFO
/*
 * CPU 1 is the head of A's queue, CPU 2 is behind it. A context of the same level is above the
 * head, and waits for B. When A is free, the head does not see that.
 */
static void waiter_acts_for_a_head_below_a_nested_context(void)
{
	u64 freed_at;

	begin(16);
	EXPECT(nbq_X_lock_timeout(&locks[0], KTIME_MAX) == 0);
	EXPECT(nbq_X_lock_timeout(&locks[1], KTIME_MAX) == 0);
	test_clock_step = 1000;
	ENQUEUE(&locks[0], KTIME_MAX, 1, 2);
	ENQUEUE(&locks[1], KTIME_MAX, CORO_ABOVE(1));
	nbq_X_unlock(&locks[0]);
	freed_at = test_now;
	while (!coros[2].ended && test_now - freed_at < 1000000) {
		coro_until_poll(&coros[CORO_ABOVE(1)]);
		coro_until_poll(&coros[2]);
	}
	nbq_X_unlock(&locks[1]);
	if (!EXPECT(coros[2].ended))
		return;
	EXPECT_END(0, CORO_ABOVE(1), 1, 2);
	destroy_locks();
}
#endif

/* Random schedules. */

#define MOST_CPUS	5U
#define MOST_DEPTH	3U
#define MOST_ROUNDS	3U
#define RANDOM_LOCKS	3U
#define STARTED		12U	/* started in each round */
#define SEEDS		600U

/* The contexts of a CPU that have begun and not ended, from the bottom up. Only the last runs. */
static struct stack {
	struct coro coros[MOST_DEPTH];
	unsigned int depth;
} stacks[MOST_CPUS];

/* What is known of a lock: its holder, and what only holders add to. */
static struct {
	const struct coro *holder;
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
static unsigned int nodes_lost;
static unsigned int deadlocks;
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
	while (points--) {
		shim_point(SHIM_OP_RELAX, &coro->wanted);
		EXPECT(known[lock].holder == coro);
	}
	known[lock].counter = counter + 1;
	known[lock].acquired++;
}

static void expect_reason(ktime_t patience, int ret)
{
	switch (ret) {
	case -EBUSY:
		EXPECT(patience <= 0);
		break;
	case -EDEADLK:
		/* The hybrid's holder may be a nested one: see above. */
		EXPECT((!ordered || (nests && !HOLDS_NODE)) && patience > 0);
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
	expect_reason(patience, coro->wanted_ret);
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

static void choose_next(struct coro *coro)
{
	if (coro->attempts && below(2))
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

/* Let the topmost context of the CPU run. */
static void step(struct stack *stack)
{
	struct coro *coro = &stack->coros[stack->depth - 1];

	if (coro_steps(coro, below(16) ? 1 + below(6) : 100))
		return;
	if (coro->ret)
		expect_reason(coro->patience, coro->ret);
	coro_finish(coro);
	stack->depth--;
}

static bool is_used(unsigned int lock)
{
	unsigned int cpu, place;

	for (cpu = 0; cpu < cpus; cpu++) {
		for (place = 0; place < stacks[cpu].depth; place++) {
			const struct coro *coro = &stacks[cpu].coros[place];

			if (coro->lock == &locks[lock] || coro->wanted == &locks[lock])
				return true;
		}
	}
	return false;
}

static void *copy_of(struct shim_memory memory)
{
	void *copy = malloc(memory.size);

	if (!copy)
		abort();
	return memcpy(copy, memory.start, memory.size);
}

static void put_back(struct shim_memory memory, void *copy)
{
	memcpy((void *)memory.start, copy, memory.size);
	free(copy);
}

/* The memory of the lock is freed without a destroy: what stands in its queue is lost. */
static void lose(unsigned int lock)
{
	struct shim_memory nodes = shim_nodes_memory(), pools = shim_pools_memory();
	void *nodes_before = copy_of(nodes), *pools_before = copy_of(pools);
	unsigned int in_use = shim_nodes_in_use();

	EXPECT(nbq_X_destroy(&locks[lock]) == 0);
	nodes_lost += in_use - shim_nodes_in_use();
	put_back(nodes, nodes_before);
	put_back(pools, pools_before);
}

/* An unused lock becomes another one in the same memory. */
static void remake(unsigned int lock)
{
	if (is_used(lock))
		return;
	if (!HOLDS_NODE || below(2))
		EXPECT(nbq_X_end(&locks[lock]) == 0);
	else
		lose(lock);
	memset(&locks[lock], 0xa5, sizeof(locks[lock]));
	nbq_X_init(&locks[lock]);
}

static void begin_schedule(void)
{
	static const u64 steps[] = { 1, 100, 3000, 60000, CHECK_INTERVAL };

	random_state = seed;
	below(1);
	begin(3 + below(6));
	cpus = 3 + below(MOST_CPUS - 2);
	locks_used = 1 + below(RANDOM_LOCKS);
	idle_turns = below(2) ? 4 : 60;
	test_clock_step = steps[below(5)];
	ordered = below(2);
	nests = below(2);
	nodes_lost = 0;
	memset(stacks, 0, sizeof(stacks));
	memset(known, 0, sizeof(known));
}

static void end_schedule(void)
{
	unsigned int i;

	for (i = 0; i < LOCKS; i++) {
		EXPECT(nbq_X_destroy(&locks[i]) == 0);
		EXPECT(known[i].counter == known[i].acquired);
	}
	EXPECT(shim_nodes_in_use() == nodes_lost);
	EXPECT(shim_event("nodes_allocated") ==
	       shim_event("nodes_freed") + shim_event("nodes_reclaimed") + nodes_lost);
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
		begin_schedule();
		if (run_schedule())
			end_schedule();
		if (test_has_failed())
			printf("# again: %s 1 %u\n", program, seed);
	}
	seed = 0;
	EXPECT(seeds < SEEDS || deadlocks > SEEDS / 16);
}

/* A crash of a random schedule. */
static void say_seed_of_crash(void)
{
	char line[512];
	int length = snprintf(line, sizeof(line),
			      "not ok contexts_of_one_level_nest_at_random: crash; again: %s 1 %u\n",
			      program, seed);

	if (seed && write(STDOUT_FILENO, line, length) != length)
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
		TEST_CASE(no_place_of_a_nested_attempt_at_an_earlier_lock),
		TEST_CASE(node_abandoned_by_a_nested_attempt_stays_at_its_lock),
#if HOLDS_NODE
		TEST_CASE(lock_held_by_nested_context_is_no_deadlock),
#endif
		TEST_CASE(wait_of_nested_context_is_no_deadlock),
#if !IS_FIFO
		TEST_CASE(waiter_acts_for_a_head_below_a_nested_context),
#endif
		TEST_CASE(nested_attempt_may_use_the_node_of_a_place),
		TEST_CASE(contexts_of_one_level_nest_at_random),
	};
	const unsigned int number = sizeof(cases) / sizeof(cases[0]);
	const bool random_only = argc > 1;

	if (argc > 1)
		seeds = strtoul(argv[1], NULL, 10);
	if (argc > 2)
		first_seed = strtoul(argv[2], NULL, 10);
	program = argv[0];
	map_locks();
	catch_crashes();
	if (random_only)
		return test_main(cases + number - 1, 1, 3600);
	return test_main(cases, number, 20);
}
