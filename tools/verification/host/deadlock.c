// SPDX-License-Identifier: GPL-2.0
/*
 * -EDEADLK: whenever a wait cannot end, and at no other time. The explorer tries each wait of
 * its configurations; here are longer chains, stale publications, and random ones.
 */
#include <stdio.h>
#include <string.h>

#include <linux/errno.h>

#include "coro.h"
#include "test.h"

#include <nbqlock/wait.h>

/* Longer than all the time that passes, unless a test moves the clock by it. */
#define PATIENCE	(1LL << 50)
#define SEARCH_INTERVAL	2000000
#define NMI_LEVEL	3
#define SOME_POLLS	500	/* accesses: it has enqueued and published its holder */
/* As many as all contexts need that can proceed. */
#define ROUNDS		300
#define MOST_ACCESSES	40

#define MOST_LOCKS	SHIM_CPUS

static struct nbq_X locks[MOST_LOCKS];

static void begin(void)
{
	unsigned int i;

	nbq_deadlock_checks = true;
	/* Without places and events of the case before. */
	shim_pools_start(16, 16);
	for (i = 0; i < MOST_LOCKS; i++)
		nbq_X_init(&locks[i]);
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

/* It stops with the first access after it has enqueued, before it has published anything. */
static void start_unpublished(struct coro *coro, unsigned int cpu, ktime_t patience)
{
	coro_start_task(coro, &locks[0], cpu, patience);
	EXPECT(coro_until(coro, SHIM_OP_XCHG, nbq_X_enqueues_at(&locks[0])));
	coro_steps(coro, 1);
}

/* An NMI that interrupts whatever this thread has below. */
static void expect_deadlock_of_nmi(void)
{
	shim_level = NMI_LEVEL;
	EXPECT(nbq_X_lock_until(&locks[0], 1) == -EDEADLK);
	shim_level = 0;
}

/* H w: w has enqueued, and not yet published that it waits behind H. */
static void holder_below_is_detected_before_publication(void)
{
	struct coro waiter;

	begin();
	nbq_X_lock(&locks[0]);
	start_unpublished(&waiter, 1, KTIME_MAX);
	expect_deadlock_of_nmi();
	nbq_X_unlock(&locks[0]);
	EXPECT(coro_finish(&waiter) == 0);
	end();
}

#if IS_FIFO
static void start_holder(struct coro *coro, unsigned int cpu)
{
	coro_start_task(coro, &locks[0], cpu, KTIME_MAX);
	EXPECT(coro_until_held(coro));
}

/* H v w: v is below the NMI, and w has enqueued and not yet published that it waits behind v. */
static void waiter_below_is_detected_before_publication(void)
{
	struct coro holder, below, waiter;

	begin();
	start_holder(&holder, 2);
	coro_start_task(&below, &locks[0], 0, KTIME_MAX);
	EXPECT(coro_until_queued(&below));
	start_unpublished(&waiter, 1, KTIME_MAX);
	expect_deadlock_of_nmi();
	EXPECT(coro_finish(&holder) == 0);
	EXPECT(coro_finish(&below) == 0);
	EXPECT(coro_finish(&waiter) == 0);
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

static struct owner owners[MOST_LOCKS + 1];

static struct owner *start_owner(unsigned int cpu, unsigned int level,
				 struct nbq_X *held, struct nbq_X *wanted)
{
	owner_start(&owners[cpu], cpu, level, held, wanted);
	return &owners[cpu];
}

/* A task that holds the first. */
static struct owner *start_holding(unsigned int cpu, struct nbq_X *held, struct nbq_X *wanted)
{
	struct owner *owner = start_owner(cpu, 0, held, wanted);

	owner_until_held(owner);
	return owner;
}

/* An NMI above that CPU's context, which holds nothing. */
static struct coro *start_nmi(unsigned int place, unsigned int cpu, struct nbq_X *wanted)
{
	struct owner *nmi = &owners[place];

	owner_start(nmi, cpu, NMI_LEVEL, wanted, NULL);
	nmi->coro.critical_section = NULL;
	return &nmi->coro;
}

#define NO_CONTEXT	MOST_LOCKS

/* Which of the first has got -EDEADLK? */
static unsigned int failed_owner(unsigned int number)
{
	unsigned int i;

	for (i = 0; i < number; i++) {
		if (owners[i].ret == -EDEADLK ||
		    (owners[i].coro.ended && owners[i].coro.ret == -EDEADLK))
			return i;
	}
	return NO_CONTEXT;
}

/* In so many turns */
static void finish_all(unsigned int number, unsigned int turns)
{
	owners_finish(owners, number, turns);
	end();
}

/*
 * The first owners are a cycle. The one that closes it polls for long; and, where it does not
 * detect that alone, all in turn. The one that does lets go: the others get what they want.
 */
static void expect_cycle(unsigned int number, unsigned int closes)
{
	unsigned int turns, failed, i;

	coro_steps(&owners[closes].coro, MANY_ACCESSES);
	for (turns = 0; turns < 4 * number && !HOLDS_NODE; turns++) {
		if (failed_owner(number) != NO_CONTEXT)
			break;
		coro_steps(&owners[turns % number].coro, MANY_ACCESSES);
	}
	failed = failed_owner(number);
	EXPECT(HOLDS_NODE ? failed == closes : failed != NO_CONTEXT);
	finish_all(number, 10 * number);
	for (i = 0; i < number; i++)
		EXPECT(i == failed || owners[i].ret == 0);
}

/* Each holds one lock and wants the next one's; the last wants the first's. */
static void cycle_of_any_length_is_detected(void)
{
	unsigned int length, i;

	for (length = 2; length <= MOST_LOCKS; length++) {
		begin();
		for (i = 0; i < length; i++)
			start_holding(i, &locks[i], &locks[(i + 1) % length]);
		/* All but the last wait for long: nothing to be found yet. */
		for (i = 0; i < length - 1; i++) {
			coro_steps(&owners[i].coro, MANY_ACCESSES);
			EXPECT(owners[i].ret == 1);
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
		start_holding(2 + i, &locks[i], &locks[2 + i]);
	for (i = 0; i < 2; i++) {
		start_holding(i, &locks[i], &locks[i + 1]);
		coro_steps(&owners[i].coro, SOME_POLLS);
		EXPECT(coro_finish(&owners[3 + i].coro) == 0);
	}
	start_holding(2, &locks[2], &locks[0]);
	expect_cycle(3, 2);
}
#endif

/*
 * Checks of contexts that proceed. 0 holds A and wants B, 1 holds B and wants C, 2 holds C and
 * wants A: 0 finds that, and begins the epoch of its second walk. Before that, and at each
 * access of that walk, others proceed: it is no deadlock.
 */

#define CHECK_ACCESSES	40	/* more than the second walk makes */

/* It has held C, and wants A without holding anything. */
static void wait_for_wanted(struct coro *coro)
{
	struct owner *owner = (struct owner *)coro;

	coro->lock = owner->wanted;
	coro->critical_section = NULL;
	coro->patience = KTIME_MAX;
}

/* C, and after it D. */
static void want_two(struct coro *coro)
{
	struct owner *owner = (struct owner *)coro;

	owner_want(coro);
	owner->wanted++;
	owner_want(coro);
}

static void start_circle_of_three(void)
{
	struct owner *checker = start_owner(0, NMI_LEVEL, &locks[0], &locks[1]);
	struct owner *next = start_owner(1, 0, &locks[1], &locks[2]);
	struct owner *last = start_owner(2, 0, &locks[2], &locks[0]);

	next->coro.critical_section = want_two;
	last->coro.attempts = 2;
	last->coro.after_release = wait_for_wanted;
	last->patience = PATIENCE;
	owner_until_held(last);
	owner_until_held(next);
	coro_until_poll(&next->coro);
	owner_until_held(checker);
	coro_until_poll(&last->coro);
	/* The one that holds D. */
	start_holding(3, &locks[3], &locks[4]);

	EXPECT(coro_until(&checker->coro, SHIM_OP_ADD, CORO_ANYWHERE));
	test_now += 2 * PATIENCE;
}

/* 0 goes on with its check, and detects no deadlock. */
static void expect_no_deadlock(void)
{
	coro_steps(&owners[0].coro, MANY_ACCESSES);
	EXPECT(owners[0].ret == 1);
	finish_all(4, 60);
	EXPECT(owners[0].ret == 0 && owners[1].ret == 0);
}

/* It stops with the next access. With a hybrid, one that holds no lock publishes nothing. */
static void until_published(struct coro *coro)
{
	unsigned int n;

	for (n = 0; n < SOME_POLLS && !shim_has_published(coro->cpu, coro->level); n++)
		coro_steps(coro, 1);
}

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
		EXPECT(coro_until_held(&owners[2].coro));
		coro_steps(&owners[0].coro, n);
		until_published(&owners[2].coro);
		expect_no_deadlock();
	}
}

/*
 * 0 holds A and wants B, 1 holds B and wants A. When the epoch of 0's check begins, 1 has released
 * B and waits for A again, since an earlier epoch.
 */
static void former_holder_that_waits_is_no_cycle(void)
{
	struct owner *checker, *former;

	begin();
	checker = start_owner(0, NMI_LEVEL, &locks[0], &locks[1]);
	former = start_owner(1, NMI_LEVEL, &locks[1], &locks[0]);
	former->coro.attempts = 2;
	former->coro.after_release = wait_for_wanted;
	former->patience = PATIENCE;
	owner_until_held(former);
	owner_until_held(checker);
	coro_until_poll(&former->coro);
	EXPECT(coro_until(&checker->coro, SHIM_OP_ADD, CORO_ANYWHERE));
	owners_begin_epoch(&locks[8], &locks[9]);
	test_now += 2 * PATIENCE;
	EXPECT(coro_until_held(&former->coro));
	coro_until_poll(&former->coro);
	finish_all(2, 60);
	EXPECT(checker->ret == 0);
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
		EXPECT(coro_until_held(&owners[2].coro));
		coro_until_poll(&owners[2].coro);
		coro_steps(&owners[0].coro, n);
		coro_until_poll(&owners[1].coro);
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
		struct owner *checker;

		begin();
		checker = start_owner(0, NMI_LEVEL, &locks[0], &locks[1]);
		checker->coro.critical_section = NULL;
		checker->coro.attempts = 2;
		checker->coro.after_release = wait_for_wanted;
		EXPECT(coro_until_held(&checker->coro));
		owners_begin_epoch(&locks[8], &locks[9]);
		start_holding(2, &locks[2], &locks[0]);
		coro_steps(&owners[2].coro, SOME_POLLS);
		owners_begin_epoch(&locks[8], &locks[9]);
		start_holding(3, &locks[1], &locks[4]);

		coro_steps(&checker->coro, n / 4);
		EXPECT(!coro_until_poll(&owners[3].coro));
		coro_steps(&checker->coro, n % 4);
		start_owner(1, 0, &locks[1], &locks[2]);
		coro_until_poll(&owners[1].coro);
		coro_until_poll(&owners[1].coro);
		coro_steps(&checker->coro, MANY_ACCESSES);
		EXPECT(checker->coro.ret == 0);
		finish_all(4, 60);
		EXPECT(owners[1].ret == 0 && owners[2].ret == 0);
	}
}

/*
 * 0 holds D and wants B; 1 holds B and wants C; 2 holds C and wants A; 3 wants D, and has held A
 * until then. 2 has not polled since.
 */
static void lock_released_by_another_is_no_cycle(void)
{
	struct owner *checker, *released;

	coro_reads_free_nodes = true;
	begin();
	checker = start_owner(0, NMI_LEVEL, &locks[3], &locks[1]);
	owner_until_held(checker);
	released = start_owner(3, 0, &locks[0], &locks[3]);
	released->coro.critical_section = NULL;
	released->coro.attempts = 2;
	released->coro.after_release = wait_for_wanted;
	EXPECT(coro_until_held(&released->coro));
	start_holding(1, &locks[1], &locks[2]);
	start_holding(2, &locks[2], &locks[0]);
	coro_steps(&owners[2].coro, SOME_POLLS);
	owners_begin_epoch(&locks[8], &locks[9]);

	coro_steps(&released->coro, SOME_POLLS);
	coro_steps(&checker->coro, SOME_POLLS);
	coro_steps(&owners[1].coro, SOME_POLLS);
	owners_begin_epoch(&locks[8], &locks[9]);
	coro_steps(&released->coro, MANY_ACCESSES);
	coro_steps(&owners[1].coro, MANY_ACCESSES);
	coro_steps(&checker->coro, MANY_ACCESSES);
	EXPECT(failed_owner(4) == NO_CONTEXT);
	finish_all(4, 60);
	EXPECT(failed_owner(4) == NO_CONTEXT);
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
	start_holding(0, &locks[1], &locks[2]);
	start_holding(2, &locks[2], &locks[0]);
	coro_steps(&owners[0].coro, SOME_POLLS);
	above = start_nmi(1, 0, &locks[0]);
	EXPECT(coro_until_held(above));
	owners_begin_epoch(&locks[8], &locks[9]);
	coro_steps(&owners[2].coro, SOME_POLLS);
	EXPECT(!coro_until_poll(above));
	coro_steps(&owners[0].coro, MANY_ACCESSES);
	EXPECT(failed_owner(3) == NO_CONTEXT);
	finish_all(3, 60);
	EXPECT(failed_owner(3) == NO_CONTEXT);
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
		struct coro holder, task, waiter, *nmi;

		begin();
		start_holder(&holder, 3);
		start_unpublished(&task, 1, KTIME_MAX);
		EXPECT(coro_finish(&holder) == 0);
		coro_start_task(&waiter, &locks[0], 0, KTIME_MAX);
		waiter.level = NMI_LEVEL;
		EXPECT(coro_until_poll(&waiter));
		nmi = start_nmi(0, 1, &locks[0]);
		coro_steps(nmi, n);
		coro_steps(&waiter, MANY_ACCESSES);
		EXPECT(!waiter.ended);
		coro_steps(nmi, MANY_ACCESSES);
		EXPECT(nmi->ended && nmi->ret == -EDEADLK);
		coro_finish(nmi);
		EXPECT(coro_finish(&task) == 0);
		EXPECT(coro_finish(&waiter) == 0);
		end();
	}
}
#endif

/* 1 holds B and waits for A, behind a waiter that abandons, then behind its holder 0. */
static void waiter_is_found_behind_next_predecessor(void)
{
	struct owner *waits;
	struct coro impatient;

	begin();
	owner_until_held(start_owner(0, NMI_LEVEL, &locks[0], &locks[1]));
	coro_start_task(&impatient, &locks[0], 2, PATIENCE);
	coro_until_poll(&impatient);
	waits = start_holding(1, &locks[1], &locks[0]);
	coro_until_poll(&waits->coro);
	test_now += 2 * PATIENCE;
	EXPECT(coro_finish(&impatient) == -ETIMEDOUT);
	coro_until_poll(&waits->coro);
	expect_cycle(2, 0);
}

#if IS_FIFO
/*
 * A task of 1 has enqueued and was interrupted before it published that. The NMI waits behind
 * another such waiter, which abandons; then behind its own CPU.
 */
static void interrupt_checks_behind_next_predecessor(void)
{
	struct coro holder, task, impatient, *nmi;

	begin();
	start_holder(&holder, 3);
	start_unpublished(&task, 1, KTIME_MAX);
	start_unpublished(&impatient, 2, 1);
	nmi = start_nmi(0, 1, &locks[0]);
	EXPECT(coro_until_poll(nmi));
	EXPECT(coro_until_poll(nmi));
	test_clock_step = 1;
	EXPECT(coro_finish(&impatient) == -ETIMEDOUT);

	EXPECT(!coro_until_poll(nmi) && nmi->ret == -EDEADLK);
	coro_finish(nmi);
	EXPECT(coro_finish(&holder) == 0);
	EXPECT(coro_finish(&task) == 0);
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
		start_holding(i, &locks[i], &locks[1 - i]);
	for (i = 0; i < 2; i++)
		coro_until_poll(&owners[i].coro);
	outside = start_nmi(2, 2, &locks[0]);
	outside->patience = PATIENCE;
	coro_steps(outside, MANY_ACCESSES);
	test_now += 2 * PATIENCE;
	coro_steps(outside, MANY_ACCESSES);
	EXPECT(outside->ended && coro_finish(outside) == -ETIMEDOUT);
	finish_all(2, 200);
	EXPECT(owners[0].ret == -EDEADLK || owners[1].ret == -EDEADLK);
}

/*
 * Random interleavings. Interrupts check at their first poll, so all are interrupts; one more on
 * a CPU is above the first.
 */

#define OWNERS		5
#define RANDOM_ROUNDS	12000
#define MOST_TURNS	60000

static unsigned int failed;
static unsigned int random_state;
static unsigned int locks_wanted;
static bool ordered;

/* Another lock than the held one, a later one if all keep an order; or none. */
static void want_any(struct coro *coro)
{
	struct owner *owner = (struct owner *)coro;
	unsigned int held = coro->lock - locks;
	unsigned int wanted = test_random(&random_state) % locks_wanted;

	/* An interrupt has a lock that those below it never acquire. */
	if (ordered && coro->cpu == 0)
		wanted %= locks_wanted - 1;
	if (wanted == held || (ordered && wanted < held))
		return;
	owner->ret = nbq_X_lock_timeout(&locks[wanted], owner->patience);
	if (!owner->ret)
		nbq_X_unlock(&locks[wanted]);
	failed += owner->ret == -EDEADLK;
}

static struct nbq_X *lock_to_hold(const struct coro *coro)
{
	unsigned int held = test_random(&random_state) % locks_wanted;

	if (ordered && coro->level == NMI_LEVEL)
		held = locks_wanted - 1;
	else if (ordered && coro->cpu == 0)
		held %= locks_wanted - 1;
	return &locks[held];
}

static void hold_another_next(struct coro *coro)
{
	if (coro->attempts)
		coro->lock = lock_to_hold(coro);
}

/* The last one is above the first, on its CPU. */
static void start_random_owners(void)
{
	unsigned int i;

	for (i = 0; i < OWNERS; i++) {
		start_owner(i, i == OWNERS - 1 ? NMI_LEVEL : NMI_LEVEL - 1, NULL, NULL);
		if (i == OWNERS - 1)
			owners[i].coro.cpu = 0;
		owners[i].coro.lock = lock_to_hold(&owners[i].coro);
		owners[i].coro.attempts = 1 + test_random(&random_state) % 4;
		owners[i].coro.critical_section = want_any;
		owners[i].coro.after_release = hold_another_next;
	}
}

/* Return: false if a context waits for ever. */
static bool run_owners(void)
{
	struct owner *on_top = &owners[OWNERS - 1];
	unsigned int left = OWNERS, turns = 0;
	bool has_come = false;

	while (left && turns++ < MOST_TURNS) {
		unsigned int i = test_random(&random_state) % OWNERS;

		if (owners[i].coro.ended || (i == 0 && has_come && !on_top->coro.ended))
			continue;
		has_come |= i == OWNERS - 1;
		left -= !coro_steps(&owners[i].coro,
				     1 + test_random(&random_state) % 6);
	}
	return !left;
}

static void run_at_random(unsigned int seed)
{
	unsigned int i;

	random_state = seed;
	begin();
	start_random_owners();
	if (!EXPECT(run_owners())) {
		printf("# seed %u: an attempt waits for ever\n", seed);
		return;
	}
	for (i = 0; i < OWNERS; i++)
		coro_finish(&owners[i].coro);
	end();
}

static void run_rounds(unsigned int rounds, unsigned int of_locks, bool in_order)
{
	unsigned int seed;

	coro_reads_free_nodes = true;
	locks_wanted = of_locks;
	ordered = in_order;
	failed = 0;
	for (seed = 1; seed <= rounds; seed++)
		run_at_random(seed);
}

/* Any order, no timeouts: only -EDEADLK ends a deadlock. */
static void random_deadlocks_are_detected(void)
{
	run_rounds(RANDOM_ROUNDS / 4, 3, false);
	EXPECT(failed > RANDOM_ROUNDS / 16);
}

/* Locks in one order; those above keep to the later ones. */
static void random_order_is_no_deadlock(void)
{
	run_rounds(RANDOM_ROUNDS, 4, true);
	EXPECT(failed == 0);
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
		TEST_CASE(random_deadlocks_are_detected),
		TEST_CASE(random_order_is_no_deadlock),
	};

	return test_main(cases, sizeof(cases) / sizeof(cases[0]), 20);
}
