// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting by hardware (nbqlock/relax.h): when, how long, and in time for what follows.
 *
 * Compile with -DSHIM_ARM64. Each wait by hardware takes as long as it can, and advances the
 * clock by that; else each clock read advances it a little.
 */
#include <linux/errno.h>

#include "coro.h"
#include "test.h"

#include <nbqlock/wait.h>

/* The event stream's period at its longest: see there. */
#define LONGEST_NS		134000
#define READ_NS			5
/* Some polls, and the reads among them */
#define SOON_NS			1000
#define FIRST_CHECK_NS		50000	/* of wait.c */
#define POLLS_PER_TICK		64	/* of wait.c */
#define MS			1000000LL

static struct nbq_X lock;
/* Of the attempt that waits behind these, in the test's own context */
#define ATTEMPT_CPU		5
static u64 deadline;
static unsigned int waits;
static unsigned int all_waits;
static u64 counted;		/* before that */
static bool first_is_stalled;
static bool waits_now;		/* a coroutine, since this was reset */

static void poll_times(struct coro *coro, unsigned int times)
{
	while (times--)
		coro_until(coro, SHIM_OP_RELAX, CORO_ANYWHERE);
}

/* That of a coroutine ends when the test says so. The attempt's predecessor runs. */
static void wait_by_hardware(const void *word)
{
	if (shim_cpu != ATTEMPT_CPU) {
		waits_now = true;
		shim_point(SHIM_OP_RELAX, NULL);
		all_waits++;
		return;
	}
	all_waits++;
	test_now += LONGEST_NS;
	waits++;
	EXPECT(test_now <= deadline);
	if (!first_is_stalled)
		poll_times(&coros[1], POLLS_PER_TICK + 1);
}

/* It polls so often. */
static struct coro *start(unsigned int cpu, ktime_t patience, unsigned int polls)
{
	struct coro *coro = coros_start(cpu, &lock, patience);

	poll_times(coro, polls);
	return coro;
}

/* before: []    after: H w */
static void begin(void)
{
	coros_forget();
	nbq_X_init(&lock);
	nbq_deadlock_checks = true;
	test_clock(1, READ_NS);
	deadline = KTIME_MAX;
	waits = 0;
	all_waits = 0;
	counted = shim_event("hardware_waits");
	first_is_stalled = false;
	shim_has_event_stream = true;
	shim_hardware_wait = wait_by_hardware;
	coros_start_holder(0, &lock, NULL);
	start(1, KTIME_MAX, 2 * POLLS_PER_TICK);
}

static void end(void)
{
	EXPECT_END(0, 0, 1);
	EXPECT(nbq_X_destroy(&lock) == 0);
	EXPECT(shim_nodes_in_use() == 0);
}

/* H w, and an attempt behind w */
static int try_for(ktime_t patience, unsigned int level)
{
	if (patience != KTIME_MAX)
		deadline = test_now + patience + SOON_NS;
	return try_as(&lock, patience, ATTEMPT_CPU, level);
}

static void hardware_wait_keeps_the_deadline(void)
{
	ktime_t patience;

	for (patience = 1000; patience < 20 * MS; patience += patience / 3) {
		begin();
		EXPECT(try_for(patience, 0) == -ETIMEDOUT);
		EXPECT(test_now <= deadline);
		EXPECT(waits <= patience / LONGEST_NS);
		/* As long as there is time for one, each is a wait by hardware. */
		EXPECT((waits + 2) * (LONGEST_NS + SOON_NS) > patience);
		EXPECT(shim_event("hardware_waits") == counted + all_waits);
		end();
	}
}

/* Nothing would end it. */
static void no_wait_is_by_hardware_without_an_event_stream(void)
{
	begin();
	shim_has_event_stream = false;
	EXPECT(try_for(MS, 0) == -ETIMEDOUT);
	EXPECT(waits == 0);
	end();
}

/* They search for deadlocks more often than a wait by hardware may end. */
static void interrupts_wait_by_hardware_only_without_deadlock_checks(void)
{
	unsigned int level;

	for (level = 1; level < 4; level++) {
		begin();
		EXPECT(try_for(MS, level) == -ETIMEDOUT);
		EXPECT(waits == 0);
		nbq_deadlock_checks = false;
		EXPECT(try_for(MS, level) == -ETIMEDOUT);
		EXPECT(waits > 0);
		end();
	}
}

/* A task that searches since it holds another lock */
static void checks_go_on_while_a_task_waits_by_hardware(void)
{
	struct nbq_X other;

	begin();
	nbq_X_init(&other);
	shim_cpu = ATTEMPT_CPU;
	nbq_X_lock(&other);
	EXPECT(try_for(10 * MS, 0) == -ETIMEDOUT);
	/* Not up to the search after 200 us, and later not all the time. */
	EXPECT(waits > 40 && waits < (10 * MS - 4 * FIRST_CHECK_NS) / LONGEST_NS);
	shim_cpu = ATTEMPT_CPU;
	nbq_X_unlock(&other);
	shim_cpu = 0;
	EXPECT(nbq_X_destroy(&other) == 0);
	end();
}

#if HOLDS_NODE
/* H w, and H waits for what the attempt behind w holds */
static void deadlock_is_detected_at_the_first_check(void)
{
	struct nbq_X wanted;
	u64 begun;

	begin();
	EXPECT_END(0, 0, 1);
	nbq_X_init(&wanted);
	shim_cpu = ATTEMPT_CPU;
	nbq_X_lock(&wanted);
	shim_cpu = 0;
	poll_times(coros_start_both(0, &lock, &wanted), POLLS_PER_TICK);
	start(1, KTIME_MAX, POLLS_PER_TICK);
	begun = test_now;
	EXPECT(try_for(10 * MS, 0) == -EDEADLK);
	EXPECT(test_now < begun + FIRST_CHECK_NS + SOON_NS);
	shim_cpu = ATTEMPT_CPU;
	nbq_X_unlock(&wanted);
	shim_cpu = 0;
	EXPECT_END(0, 0, 1);
	EXPECT(coros[0].wanted_ret == 0);
	EXPECT(nbq_X_destroy(&wanted) == 0 && nbq_X_destroy(&lock) == 0);
}
#endif

#ifdef TYPE_SPIN
/* H w x: w is stalled, and x acts for it, when it has waited by hardware twice */
static void acting_head_does_not_wait_by_hardware(void)
{
	begin();
	first_is_stalled = true;
	EXPECT(try_for(10 * MS, 0) == -ETIMEDOUT);
	EXPECT(waits == 2);
	end();
}

/*
 * H w x y: x is stalled, and y acts for it, until x abandons the queue. Since y has read the
 * clock as the acting head, time has gone by: it does so again before it waits by hardware.
 */
static void former_acting_head_reads_the_clock_first(void)
{
	unsigned int looks;

	for (looks = 0; looks < POLLS_PER_TICK; looks += 5) {
		struct coro *acts;

		begin();
		start(2, SOON_NS, POLLS_PER_TICK);
		acts = start(3, 10 * MS, 2 * POLLS_PER_TICK);
		test_now += MS;
		poll_times(&coros[1], 2 * POLLS_PER_TICK);
		acts->lock_accesses = 0;
		poll_times(acts, 2 * POLLS_PER_TICK + looks);
		EXPECT(acts->lock_accesses > 0);

		test_now = 10 * MS - LONGEST_NS / 2;
		poll_times(&coros[1], 2 * POLLS_PER_TICK);
		EXPECT_END(-ETIMEDOUT, 2);
		waits_now = false;
		poll_times(acts, 3);
		EXPECT(!waits_now);
		test_now += MS;
		EXPECT_END(-ETIMEDOUT, 3);
		end();
	}
}

/* One wait by hardware is over: to the next. */
static void wake(struct coro *coro)
{
	unsigned int looks = 2 * POLLS_PER_TICK;

	waits_now = false;
	while (!waits_now && looks--)
		poll_times(coro, 1);
	EXPECT(waits_now);
}

/* H w x y: x and y wait by hardware, and y wakes up first each time */
static void hardware_wait_is_no_stall(void)
{
	struct coro *second, *third;
	unsigned int rounds;

	begin();
	second = start(2, KTIME_MAX, 2 * POLLS_PER_TICK);
	third = start(3, KTIME_MAX, 2 * POLLS_PER_TICK);
	third->lock_accesses = 0;
	for (rounds = 0; rounds < 20; rounds++) {
		test_now += LONGEST_NS;
		wake(third);
		wake(second);
		poll_times(&coros[1], POLLS_PER_TICK + 1);
	}
	EXPECT(third->lock_accesses == 0);
	EXPECT_END(0, 0, 1, 2, 3);
	EXPECT(nbq_X_destroy(&lock) == 0);
}
#endif

int main(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(hardware_wait_keeps_the_deadline),
		TEST_CASE(no_wait_is_by_hardware_without_an_event_stream),
		TEST_CASE(interrupts_wait_by_hardware_only_without_deadlock_checks),
		TEST_CASE(checks_go_on_while_a_task_waits_by_hardware),
#if HOLDS_NODE
		TEST_CASE(deadlock_is_detected_at_the_first_check),
#endif
#ifdef TYPE_SPIN
		TEST_CASE(acting_head_does_not_wait_by_hardware),
		TEST_CASE(former_acting_head_reads_the_clock_first),
		TEST_CASE(hardware_wait_is_no_stall),
#endif
	};

	return test_main(cases, sizeof(cases) / sizeof(cases[0]));
}
