// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of one level that nest on a CPU: an NMI in an NMI, or a probe at task level in the
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

#include "coro.h"
#include "test.h"

/* At an address of its own, by which the hashes of the locks are the same in each run. */
#define LOCKS_ADDRESS	((void *)0x20000000)
#define LOCKS		3U

static struct nbq_X *locks;
static u64 clock_now;
static u64 clock_step;

static u64 fake_clock(void)
{
	return clock_now += clock_step;
}

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
	struct shim_memory abandoned = shim_ever_abandoned_memory();
	unsigned int i;

	test_pools(nodes, SHIM_MOST_NODES);
	memset((void *)abandoned.start, 0, abandoned.size);
	for (i = 0; i < LOCKS; i++)
		nbq_X_init(&locks[i]);
	coro_reads_free_nodes = true;
	clock_now = 1;
	clock_step = 1;
	shim_clock = fake_clock;
}

/* Random schedules. */

#define MOST_CPUS	5U
#define MOST_DEPTH	3U
#define MOST_ROUNDS	3U
#define ACTORS		12U	/* started in each round */
#define MOST_TURNS	40000U
#define SEEDS		200U

/**
 * struct actor - a context that makes some attempts at locks, one inside another now and then
 * @coro: that context, with its first lock
 * @second: the lock that it wants while it holds the first; NO_LOCK: none
 * @holding: not an access: a place to stop at
 */
struct actor {
	struct coro coro;
	unsigned int second;
	char holding;
};

#define NO_LOCK		LOCKS

/* The contexts of a CPU that have begun and not ended, from the bottom up. Only the last runs. */
static struct stack {
	struct actor actors[MOST_DEPTH];
	unsigned int depth;
} stacks[MOST_CPUS];

/* What is known of a lock: its holder, and what only holders add to. */
static struct {
	const struct actor *holder;
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
static unsigned int nodes_lost;
static unsigned int seed;
static const char *program;

static unsigned int below(unsigned int limit)
{
	random_state = random_state * 1103515245 + 12345;
	return (random_state >> 16) % limit;
}

/* The first lock in the order that a context above these of its CPU may wait for. */
static unsigned int first_in_order(const struct stack *stack, const struct actor *of)
{
	const struct actor *actor;
	unsigned int first = 0;

	for (actor = stack->actors; actor != of; actor++) {
		unsigned int last = actor->coro.lock - locks;

		if (actor->second != NO_LOCK && actor->second > last)
			last = actor->second;
		if (last >= first)
			first = last + 1;
	}
	return first;
}

static bool is_used_below(const struct stack *stack, const struct actor *of)
{
	const struct actor *actor;

	for (actor = stack->actors; actor != of; actor++) {
		if (actor->coro.lock == of->coro.lock)
			return true;
	}
	return false;
}

/* Without an order, only what interrupts no other context of its CPU may wait for ever. */
static ktime_t choose_patience(bool may_wait)
{
	switch (below(may_wait ? 8 : 6)) {
	case 0:
		return 0;
	case 1:
	case 2:
	case 3:
		return 1 + below(6) * clock_step;
	case 4:
		return 30 * clock_step;
	case 5:
		return 300 * clock_step;
	default:
		return KTIME_MAX;
	}
}

static void choose(struct actor *actor)
{
	struct stack *stack = &stacks[actor->coro.cpu];
	unsigned int first = ordered ? first_in_order(stack, actor) : 0;
	bool waits = first < locks_used;
	unsigned int tries = 3;

	if (!waits)
		first = 0;
	/* Mostly one that its CPU does not use below. */
	do {
		actor->coro.lock = &locks[first + below(locks_used - first)];
	} while (is_used_below(stack, actor) && --tries);
	actor->coro.patience = waits ? choose_patience(ordered || actor == stack->actors) : 0;
}

/* It holds the lock, while other CPUs run and contexts above it. */
static void hold(struct actor *actor, unsigned int lock)
{
	unsigned int counter = known[lock].counter, points = below(8) ? below(40) : below(200);

	EXPECT(!known[lock].holder);
	known[lock].holder = actor;
	while (points--) {
		shim_point(SHIM_OP_RELAX, &actor->holding);
		EXPECT(known[lock].holder == actor);
	}
	known[lock].counter = counter + 1;
	known[lock].acquired++;
}

static void expect_reason(const struct actor *actor, ktime_t patience, int ret)
{
	switch (ret) {
	case -EBUSY:
		EXPECT(patience <= 0);
		break;
	case -EDEADLK:
		EXPECT(!ordered && patience > 0);
		break;
	default:
		EXPECT(ret == 0 || ((ret == -ETIMEDOUT || ret == ERROR_WITHOUT_NODE) &&
				    patience != KTIME_MAX));
	}
}

static void want_second(struct actor *actor, unsigned int first)
{
	struct stack *stack = &stacks[actor->coro.cpu];
	unsigned int lock = below(locks_used);
	ktime_t patience;
	int ret;

	if (ordered && lock <= first)
		return;
	actor->second = lock;
	patience = actor->coro.patience <= 0 ? 0 :
		   choose_patience(ordered || actor == stack->actors);
	ret = nbq_X_lock_timeout(&locks[lock], patience);
	expect_reason(actor, patience, ret);
	if (!ret) {
		hold(actor, lock);
		known[lock].holder = NULL;
		nbq_X_unlock(&locks[lock]);
	}
	actor->second = NO_LOCK;
}

static void critical_section(struct coro *coro)
{
	struct actor *actor = (struct actor *)coro;
	unsigned int lock = coro->lock - locks;

	hold(actor, lock);
	if (!below(6))
		want_second(actor, lock);
	EXPECT(known[lock].holder == actor);
	known[lock].holder = NULL;
}

static void choose_next(struct coro *coro)
{
	if (coro->attempts && below(2))
		choose((struct actor *)coro);
}

/* An interrupt, or a context of the same level: more often the latter. */
static unsigned int choose_level(const struct stack *stack)
{
	unsigned int level;

	if (!stack->depth)
		return below(2) ? 3 : below(3);
	level = stack->actors[stack->depth - 1].coro.level;
	return below(4) ? level : level + below(4 - level);
}

static void start_actor(unsigned int cpu)
{
	struct stack *stack = &stacks[cpu];
	struct actor *actor = &stack->actors[stack->depth];
	unsigned int level = choose_level(stack);

	memset(actor, 0, sizeof(*actor));
	actor->second = NO_LOCK;
	actor->coro.cpu = cpu;
	actor->coro.level = level;
	actor->coro.attempts = 2 + below(8);
	actor->coro.critical_section = critical_section;
	actor->coro.after_release = choose_next;
	choose(actor);
	stack->depth++;
	coro_start(&actor->coro);
}

/* Let the topmost context of the CPU run. */
static void step(struct stack *stack)
{
	struct actor *actor = &stack->actors[stack->depth - 1];

	if (coro_steps(&actor->coro, below(16) ? 1 + below(6) : 100))
		return;
	if (actor->coro.ret)
		expect_reason(actor, actor->coro.patience, actor->coro.ret);
	coro_finish(&actor->coro);
	stack->depth--;
}

static bool is_used(unsigned int lock)
{
	unsigned int cpu, place;

	for (cpu = 0; cpu < cpus; cpu++) {
		for (place = 0; place < stacks[cpu].depth; place++) {
			const struct actor *actor = &stacks[cpu].actors[place];

			if (actor->coro.lock == &locks[lock] || actor->second == lock)
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
	if (below(2))
		EXPECT(nbq_X_destroy(&locks[lock]) == 0);
	else
		lose(lock);
	memset(&locks[lock], 0xa5, sizeof(locks[lock]));
	nbq_X_init(&locks[lock]);
}

static void begin_schedule(void)
{
	static const u64 clock_steps[] = { 1, 100, 3000, 60000 };

	random_state = seed;
	below(1);
	begin(3 + below(6));
	cpus = 3 + below(MOST_CPUS - 2);
	locks_used = 1 + below(LOCKS);
	idle_turns = below(2) ? 4 : 60;
	clock_step = clock_steps[below(4)];
	ordered = below(2);
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
	test_pools(4, 4);
}

/* Return: false if an attempt waits for ever, or anything is wrong. */
static bool run_actors(void)
{
	unsigned int to_start = ACTORS * (1 + below(MOST_ROUNDS)), running, turns, cpu;

	for (turns = 0; turns < MOST_TURNS; turns++) {
		struct stack *stack;

		cpu = below(cpus);
		stack = &stacks[cpu];
		if (to_start && stack->depth < MOST_DEPTH && !below(stack->depth ? 12 : idle_turns)) {
			start_actor(cpu);
			to_start--;
		}
		if (stack->depth)
			step(stack);
		if (!below(200))
			clock_now += 200 * clock_step + 20000;
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

/* Mutual exclusion, errors with a reason, an end, and no node that is lost or freed twice. */
static void contexts_of_one_level_nest_at_random(void)
{
	for (seed = first_seed; seed < first_seed + seeds && !test_has_failed(); seed++) {
		begin_schedule();
		if (run_actors())
			end_schedule();
		if (test_has_failed())
			printf("# again: %s 1 %u\n", program, seed);
	}
	seed = 0;
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
	return test_main(random_only ? &cases[number - 1] : cases, random_only ? 1 : number,
			 random_only ? 3600 : 20);
}
