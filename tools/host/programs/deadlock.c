// SPDX-License-Identifier: GPL-2.0
/*
 * -EDEADLK: whenever a wait cannot end, and at no other time. The explorer tries each wait of
 * its configurations; here are longer chains and stale publications. schedules.c has random ones.
 */
#include <linux/errno.h>

#include "coro.h"
#include "test.h"

#include <nbqlock/wait.h>

/* Longer than all the time that passes, unless a test moves the clock by it. */
#define PATIENCE	(1LL << 50)
#define SEARCH_INTERVAL	2000000
#define SOME_POLLS	500	/* accesses: it has enqueued and published its holder */
#define MOST_ACCESSES	40

#define MOST_LOCKS	SHIM_CPUS

static struct nbq_X locks[MOST_LOCKS];

static void begin(void)
{
	coros_begin(locks, MOST_LOCKS, 16);
	nbq_deadlock_checks = true;
	/* Each reading is late enough for the next search for a deadlock (nbqlock/wait.c). */
	test_clock(1 + SEARCH_INTERVAL, SEARCH_INTERVAL);
}

static void end(void)
{
	unsigned int i;

	for (i = 0; i < MOST_LOCKS; i++)
		EXPECT(nbq_X_destroy(&locks[i]) == 0);
	EXPECT(shim_nodes_in_use() == 0);
}

/*
 * It waits for the first lock, and stops with the first access after it has enqueued,
 * before it has published anything.
 */
static struct coro *start_unpublished(unsigned int number, ktime_t patience)
{
	struct coro *coro = coros_start(number, &locks[0], patience);

	EXPECT(coro_until(coro, SHIM_OP_XCHG, nbq_X_enqueues_at(&locks[0])));
	coro_steps(coro, 1);
	return coro;
}

/* An NMI that interrupts whatever this thread has below. */
static void expect_deadlock_of_nmi(void)
{
	shim_level = CORO_NMI_LEVEL;
	EXPECT(nbq_X_lock_until(&locks[0], 1) == -EDEADLK);
	shim_level = 0;
}

/* H w: w has enqueued, and not yet published that it waits behind H. */
static void holder_below_is_detected_before_publication(void)
{
	begin();
	nbq_X_lock(&locks[0]);
	start_unpublished(1, KTIME_MAX);
	expect_deadlock_of_nmi();
	nbq_X_unlock(&locks[0]);
	EXPECT_END(0, 1);
	end();
}

#if IS_FIFO
/* H v w: v is below the NMI, and w has enqueued and not yet published that it waits behind v. */
static void waiter_below_is_detected_before_publication(void)
{
	begin();
	coros_start_holder(2, &locks[0], NULL);
	ENQUEUE(&locks[0], KTIME_MAX, 0);
	start_unpublished(1, KTIME_MAX);
	expect_deadlock_of_nmi();
	EXPECT_END(0, 2, 0, 1);
	end();
}
#endif

/* Cycles: contexts that hold a lock and want another. */

static void checks_can_be_switched_off(void)
{
	begin();
	nbq_X_lock(&locks[0]);
	nbq_deadlock_checks = false;
	EXPECT(nbq_X_lock_until(&locks[0], 1) == -ETIMEDOUT);
	nbq_deadlock_checks = true;
	EXPECT(nbq_X_lock_until(&locks[0], 1) == -EDEADLK);
	EXPECT(shim_event("timeouts") == 1 && shim_event("deadlocks") == 1);
	nbq_X_unlock(&locks[0]);
	end();
}

#define NO_CONTEXT	COROS

/* Which of the first has got -EDEADLK? */
static unsigned int failed_context(unsigned int number)
{
	unsigned int i;

	for (i = 0; i < number; i++) {
		if (coros[i].wanted_ret == -EDEADLK || (coros[i].ended && coros[i].ret == -EDEADLK))
			return i;
	}
	return NO_CONTEXT;
}

/* In so many turns */
static void finish_all(unsigned int turns)
{
	coros_finish(turns);
	end();
}

/*
 * The first contexts are a cycle. The one that closes it polls for long; and, where it does not
 * detect that alone, all in turn. The one that does lets go: the others get what they want.
 */
static void expect_cycle(unsigned int number, unsigned int closes)
{
	unsigned int turns, failed, i;

	coro_steps(&coros[closes], MANY_ACCESSES);
	for (turns = 0; turns < 4 * number && !HOLDS_NODE; turns++) {
		if (failed_context(number) != NO_CONTEXT)
			break;
		coro_steps(&coros[turns % number], MANY_ACCESSES);
	}
	failed = failed_context(number);
	EXPECT(HOLDS_NODE ? failed == closes : failed != NO_CONTEXT);
	finish_all(10 * number);
	for (i = 0; i < number; i++)
		EXPECT(i == failed || coros[i].wanted_ret == 0);
}

/* Each holds one lock and wants the next one's; the last wants the first's. */
static void cycle_of_any_length_is_detected(void)
{
	unsigned int length, i;

	for (length = 2; length <= MOST_LOCKS; length++) {
		begin();
		for (i = 0; i < length; i++)
			coros_start_holder(i, &locks[i], &locks[(i + 1) % length]);
		/* All but the last wait for long: nothing to be found yet. */
		for (i = 0; i < length - 1; i++) {
			coro_steps(&coros[i], MANY_ACCESSES);
			EXPECT(coros[i].wanted_ret == 1);
		}
		expect_cycle(length, length - 1);
	}
}

#if !IS_FIFO
/*
 * 0 waits for a lock, which then changes hands from 3 to 1; 1 for one that does from 4 to 2; and 2
 * for that of 0.
 */
static void cycle_of_later_holders_is_detected(void)
{
	unsigned int i;

	begin();
	for (i = 1; i < 3; i++)
		coros_start_holder(2 + i, &locks[i], &locks[2 + i]);
	for (i = 0; i < 2; i++) {
		coros_start_holder(i, &locks[i], &locks[i + 1]);
		coro_steps(&coros[i], SOME_POLLS);
		EXPECT_END(0, 3 + i);
	}
	coros_start_holder(2, &locks[2], &locks[0]);
	expect_cycle(3, 2);
}
#endif

/*
 * Checks of contexts that proceed. 0 holds A and wants B, 1 holds B and wants C, 2 holds C and
 * wants A: 0 finds that, and begins the epoch of its second walk. Before that, and at each
 * access of that walk, others proceed: it is no deadlock.
 */

#define CHECK_ACCESSES	40	/* more than the second walk makes */

/* It has held its first lock, and waits for the other without holding anything. */
static void wait_for_wanted(struct coro *coro)
{
	coro->lock = coro->wanted;
	coro->wanted = NULL;
	coro->patience = KTIME_MAX;
}

/* Its next attempt is at the lock that it wants, for which it has waited for so long before. */
static struct coro *start_for_both(unsigned int number, struct nbq_X *held, struct nbq_X *wanted,
				   ktime_t patience)
{
	struct coro *coro = coros_start_both(number, held, wanted);

	coro->wanted_patience = patience;
	coro->attempts = 2;
	coro->after_release = wait_for_wanted;
	return coro;
}

static void hold_only(struct coro *coro)
{
}

/* The same, without waiting for it while it holds the first. */
static struct coro *start_for_one_then_other(unsigned int number, struct nbq_X *first,
					     struct nbq_X *second)
{
	struct coro *coro = start_for_both(number, first, second, 0);

	coro->critical_section = hold_only;
	return coro;
}

/* An NMI on this CPU, which checks with its first poll. */
static struct coro *start_checker(unsigned int cpu, struct nbq_X *held, struct nbq_X *wanted)
{
	struct coro *coro = coros_start_both(cpu, held, wanted);

	coro->level = CORO_NMI_LEVEL;
	return coro;
}

/* C, and after it D. */
static void want_two(struct coro *coro)
{
	coro_want(coro);
	coro->wanted++;
	coro_want(coro);
}

static void start_circle_of_three(void)
{
	struct coro *checker = start_checker(0, &locks[0], &locks[1]);
	struct coro *next = coros_start_both(1, &locks[1], &locks[2]);

	next->critical_section = want_two;
	coro_until_held(start_for_both(2, &locks[2], &locks[0], PATIENCE));
	coro_until_held(next);
	coro_until_poll(next);
	coro_until_held(checker);
	coro_until_poll(&coros[2]);
	/* The one that holds D. */
	coros_start_holder(3, &locks[3], &locks[4]);

	EXPECT(coro_until(checker, SHIM_OP_ADD, CORO_ANYWHERE));
	test_now += 2 * PATIENCE;
}

/* 0 goes on with its check, and detects no deadlock. */
static void expect_no_deadlock(void)
{
	coro_steps(&coros[0], MANY_ACCESSES);
	EXPECT(coros[0].wanted_ret == 1);
	finish_all(60);
	EXPECT(coros[0].wanted_ret == 0 && coros[1].wanted_ret == 0);
}

/* It stops with the next access. With a hybrid, one that holds no lock publishes nothing. */
static void until_published(struct coro *coro)
{
	unsigned int n;

	for (n = 0; n < SOME_POLLS && !shim_has_published(coro->cpu, coro->level); n++)
		coro_steps(coro, 1);
}

#if !IS_FIFO
static struct nbq_timeout holder;

static void want_with_info(struct coro *coro)
{
	coro->wanted_ret = nbq_spin_lock_timeout_info(coro->wanted, coro->wanted_patience, &holder);
	if (!coro->wanted_ret)
		nbq_X_unlock(coro->wanted);
}

/* 0 and 1 wait for each other. 2 takes the lock of 1 over when 0 has found that, or finds it. */
static void holder_of_a_cycle_is_reported_as_it_was_judged(void)
{
	static const struct nbq_timeout from = { .holder_cpu = 1 };
	unsigned int judged = 0, n;

	for (n = 0; n < MOST_ACCESSES; n++) {
		begin();
		coros_start_holder(1, &locks[1], &locks[0]);
		coros_start_holder(0, &locks[0], &locks[1])->critical_section = want_with_info;
		coro_steps(&coros[0], SOME_POLLS);
		coros_begin_epoch(&locks[8], &locks[9]);
		until_published(&coros[1]);
		EXPECT(coro_until(&coros[0], SHIM_OP_ADD, CORO_ANYWHERE));
		coro_steps(&coros[0], n);
		shim_cpu = 2;
		EXPECT(nbq_spin_takeover(&locks[1], &from) == 0);
		shim_cpu = 0;
		coro_steps(&coros[0], MANY_ACCESSES);
		if (coros[0].wanted_ret == -EDEADLK) {
			EXPECT(holder.holder_cpu == 1);
			judged++;
		}
		shim_cpu = 2;
		nbq_X_unlock(&locks[1]);
		shim_cpu = 0;
		finish_all(20);
	}
	EXPECT(judged > 0 && judged < MOST_ACCESSES);
}
#endif

/*
 * 2 does not wait any more when the epoch begins. Then it releases C, and waits for A again:
 * behind what the check has just passed. What it publishes last is what the check finds it by.
 */
static void wait_of_the_same_epoch_is_no_cycle(void)
{
	unsigned int n;

	for (n = 0; n < CHECK_ACCESSES; n++) {
		begin();
		start_circle_of_three();
		EXPECT(coro_until_release(&coros[2]));
		coro_steps(&coros[0], n);
		until_published(&coros[2]);
		expect_no_deadlock();
	}
}

/*
 * 0 holds A and wants B, 1 holds B and wants A. When the epoch of 0's check begins, 1 has released
 * B and waits for A again, since an earlier epoch.
 */
static void former_holder_that_waits_is_no_cycle(void)
{
	struct coro *checker, *former;

	begin();
	checker = start_checker(0, &locks[0], &locks[1]);
	former = start_for_both(1, &locks[1], &locks[0], PATIENCE);
	former->level = CORO_NMI_LEVEL;
	coro_until_held(former);
	coro_until_held(checker);
	coro_until_poll(former);
	EXPECT(coro_until(checker, SHIM_OP_ADD, CORO_ANYWHERE));
	coros_begin_epoch(&locks[8], &locks[9]);
	test_now += 2 * PATIENCE;
	EXPECT(coro_until_release(former));
	coro_until_poll(former);
	finish_all(60);
	EXPECT(checker->wanted_ret == 0);
}

/*
 * 2 has released C and waits for A again when the epoch begins. Then 1 acquires C, releases it,
 * and waits for D: with the same node, perhaps.
 */
static void word_of_a_later_wait_is_no_cycle(void)
{
	unsigned int n;

	coro_reads_free_nodes = true;
	for (n = 0; n < CHECK_ACCESSES; n++) {
		begin();
		start_circle_of_three();
		EXPECT(coro_until_release(&coros[2]));
		coro_until_poll(&coros[2]);
		coro_steps(&coros[0], n);
		coro_until_poll(&coros[1]);
		expect_no_deadlock();
	}
}

/*
 * 0 has held A, for which 2 waits, which holds C; 2 has not polled since 0 released A. Now 0
 * wants B. During its first polls 3 releases B, and some accesses later 1 acquires it and waits
 * for C. What 2 has published is stale.
 */
static void released_lock_is_no_cycle(void)
{
	unsigned int n;

	coro_reads_free_nodes = true;
	for (n = 0; n < 4 * 2 * CHECK_ACCESSES; n++) {
		struct coro *checker;

		begin();
		checker = start_for_one_then_other(0, &locks[0], &locks[1]);
		checker->level = CORO_NMI_LEVEL;
		EXPECT(coro_until_release(checker));
		coros_begin_epoch(&locks[8], &locks[9]);
		coros_start_holder(2, &locks[2], &locks[0]);
		coro_steps(&coros[2], SOME_POLLS);
		coros_begin_epoch(&locks[8], &locks[9]);
		coros_start_holder(3, &locks[1], &locks[4]);

		coro_steps(checker, n / 4);
		EXPECT(!coro_until_poll(&coros[3]));
		coro_steps(checker, n % 4);
		coros_start_both(1, &locks[1], &locks[2]);
		coro_until_poll(&coros[1]);
		coro_until_poll(&coros[1]);
		coro_steps(checker, MANY_ACCESSES);
		EXPECT(checker->ret == 0);
		finish_all(60);
		EXPECT(coros[1].wanted_ret == 0 && coros[2].wanted_ret == 0);
	}
}

/*
 * 0 holds D and wants B; 1 holds B and wants C; 2 holds C and wants A; 3 wants D, and has held A
 * until then. 2 has not polled since.
 */
static void lock_released_by_another_is_no_cycle(void)
{
	static const unsigned int in_turn[] = { 3, 0, 1, 3, 1, 0 };
	unsigned int i;

	coro_reads_free_nodes = true;
	begin();
	coro_until_held(start_checker(0, &locks[3], &locks[1]));
	EXPECT(coro_until_release(start_for_one_then_other(3, &locks[0], &locks[3])));
	coros_start_holder(1, &locks[1], &locks[2]);
	coros_start_holder(2, &locks[2], &locks[0]);
	coro_steps(&coros[2], SOME_POLLS);
	for (i = 0; i < 6; i++) {
		if (i % 3 == 0)
			coros_begin_epoch(&locks[8], &locks[9]);
		coro_steps(&coros[in_turn[i]], i < 3 ? SOME_POLLS : MANY_ACCESSES);
	}
	EXPECT(failed_context(4) == NO_CONTEXT);
	finish_all(60);
	EXPECT(failed_context(4) == NO_CONTEXT);
}

/*
 * 0 waits, with B in its hands; an interrupt above it holds A, and ends. 2, which holds C and wants
 * A, has not polled since: for 2, that interrupt holds A. Now 0 wants C.
 */
static void ended_interrupt_is_no_cycle(void)
{
	struct coro *above;

	coro_reads_free_nodes = true;
	begin();
	coros_start_holder(0, &locks[1], &locks[2]);
	coros_start_holder(2, &locks[2], &locks[0]);
	coro_steps(&coros[0], SOME_POLLS);
	above = coros_start_holder(CORO_ABOVE(0), &locks[0], NULL);
	coros_begin_epoch(&locks[8], &locks[9]);
	coro_steps(&coros[2], SOME_POLLS);
	EXPECT(!coro_until_poll(above));
	coro_steps(&coros[0], MANY_ACCESSES);
	EXPECT(failed_context(3) == NO_CONTEXT);
	finish_all(60);
	EXPECT(failed_context(3) == NO_CONTEXT);
}

#if IS_FIFO
/*
 * A task of 1 was granted the lock and interrupted before it polled; 0 waits behind it, and the
 * NMI behind 0. The NMI fails: 0 need not, wherever the NMI is by then.
 */
static void only_the_waiter_behind_its_own_cpu_fails(void)
{
	unsigned int n;

	for (n = 0; n < MOST_ACCESSES; n++) {
		begin();
		coros_start_holder(3, &locks[0], NULL);
		start_unpublished(1, KTIME_MAX);
		EXPECT_END(0, 3);
		EXPECT(coro_until_poll(start_checker(0, &locks[0], NULL)));
		coro_steps(coros_start(CORO_ABOVE(1), &locks[0], KTIME_MAX), n);
		coro_steps(&coros[0], MANY_ACCESSES);
		EXPECT(!coros[0].ended);
		coro_steps(&coros[CORO_ABOVE(1)], MANY_ACCESSES);
		EXPECT(coros[CORO_ABOVE(1)].ended);
		EXPECT_END(-EDEADLK, CORO_ABOVE(1));
		EXPECT_END(0, 1, 0);
		end();
	}
}
#endif

/* 1 holds B and waits for A, behind a waiter that abandons, then behind its holder 0. */
static void waiter_is_found_behind_next_predecessor(void)
{
	begin();
	coro_until_held(start_checker(0, &locks[0], &locks[1]));
	coro_until_poll(coros_start(2, &locks[0], PATIENCE));
	coro_until_poll(coros_start_holder(1, &locks[1], &locks[0]));
	test_now += 2 * PATIENCE;
	EXPECT_END(-ETIMEDOUT, 2);
	coro_until_poll(&coros[1]);
	expect_cycle(2, 0);
}

#if IS_FIFO
/*
 * A task of 1 has enqueued and was interrupted before it published that. The NMI waits behind
 * another such waiter, which abandons; then behind its own CPU.
 */
static void interrupt_checks_behind_next_predecessor(void)
{
	struct coro *nmi;

	begin();
	coros_start_holder(3, &locks[0], NULL);
	start_unpublished(1, KTIME_MAX);
	start_unpublished(2, 1);
	nmi = coros_start(CORO_ABOVE(1), &locks[0], KTIME_MAX);
	EXPECT(coro_until_poll(nmi));
	EXPECT(coro_until_poll(nmi));
	test_clock_step = 1;
	EXPECT_END(-ETIMEDOUT, 2);

	EXPECT(!coro_until_poll(nmi));
	EXPECT_END(-EDEADLK, CORO_ABOVE(1));
	EXPECT_END(0, 3, 1);
	end();
}
#endif

/* 0 and 1 wait for each other; 2 waits for one of them: its check ends. */
static void chain_into_a_cycle_of_others_ends(void)
{
	struct coro *outside;
	unsigned int i;

	begin();
	for (i = 0; i < 2; i++)
		coros_start_holder(i, &locks[i], &locks[1 - i]);
	for (i = 0; i < 2; i++)
		coro_until_poll(&coros[i]);
	outside = coros_start(CORO_ABOVE(2), &locks[0], PATIENCE);
	coro_steps(outside, MANY_ACCESSES);
	test_now += 2 * PATIENCE;
	coro_steps(outside, MANY_ACCESSES);
	EXPECT(outside->ended);
	EXPECT_END(-ETIMEDOUT, CORO_ABOVE(2));
	finish_all(200);
	EXPECT(failed_context(2) != NO_CONTEXT);
}

int main(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(holder_below_is_detected_before_publication),
#if IS_FIFO
		TEST_CASE(waiter_below_is_detected_before_publication),
#endif
		TEST_CASE(checks_can_be_switched_off),
		TEST_CASE(cycle_of_any_length_is_detected),
#if !IS_FIFO
		TEST_CASE(cycle_of_later_holders_is_detected),
		TEST_CASE(holder_of_a_cycle_is_reported_as_it_was_judged),
#endif
		TEST_CASE(wait_of_the_same_epoch_is_no_cycle),
		TEST_CASE(former_holder_that_waits_is_no_cycle),
		TEST_CASE(word_of_a_later_wait_is_no_cycle),
		TEST_CASE(released_lock_is_no_cycle),
		TEST_CASE(lock_released_by_another_is_no_cycle),
		TEST_CASE(ended_interrupt_is_no_cycle),
		TEST_CASE(waiter_is_found_behind_next_predecessor),
#if IS_FIFO
		TEST_CASE(only_the_waiter_behind_its_own_cpu_fails),
		TEST_CASE(interrupt_checks_behind_next_predecessor),
#endif
		TEST_CASE(chain_into_a_cycle_of_others_ends),
	};

	return test_main(cases, sizeof(cases) / sizeof(cases[0]));
}
