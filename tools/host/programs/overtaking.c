// SPDX-License-Identifier: GPL-2.0
/*
 * The hybrid's bound on overtaking, laid out by hand: attempts that begin late, while a waiter that
 * runs has a request that stands. And a free lock while the clock stands.
 *
 * In the pictures W waits, w does at another lock that has the same queues, L is abandoned, A is
 * AVAILABLE; the tail is on the right.
 */
#include <string.h>

#include <linux/errno.h>
#include <linux/hash.h>

#include "coro.h"
#include "test.h"

#define PATIENT_NS	20000
#define UNIT_NS		8192	/* of the time of a request */
#define PATIENCE	1000000	/* in which all of a case happens */
#define MANY		1000
#define MANY_POLLS	1000	/* more than it takes to read the clock, and to request */
#define SOME_POLLS	500	/* not so many that the lock seems to be idle */
#define POLLS_WHILE_IT_STANDS	1100	/* the clock: more than until a lock is idle */

/* The lock, and others that have its two queues. */
#define LOCKS		3U
static struct nbq_X many_locks[1024];
static struct nbq_X *lock, *others[LOCKS - 1];

static void choose_locks(void)
{
	unsigned int i, found = 0;

	lock = &many_locks[0];
	for (i = 1; found < LOCKS - 1; i++) {
		if (nbq_X_tail(&many_locks[i]) == nbq_X_tail(lock))
			others[found++] = &many_locks[i];
	}
}

static u32 *second_tail(void)
{
	return &nbq_other_queue_of(NULL, lock)->tail;
}

static void begin(void)
{
	choose_locks();
	coros_begin(many_locks, sizeof(many_locks) / sizeof(many_locks[0]), 16);
	test_clock(1, 0);
}

/* The next waiter skips what is abandoned. */
static void end(void)
{
	nbq_X_lock(lock);
	ENQUEUE(lock, KTIME_MAX, 8);
	nbq_X_unlock(lock);
	EXPECT_END(0, 8);
	EXPECT(!*nbq_X_tail(lock) && !*second_tail());
	EXPECT(shim_nodes_in_use() == 0);
}

static void poll_times(struct coro *coro, unsigned int times)
{
	while (times-- && coro->doing == ACQUIRING)
		coro_until(coro, SHIM_OP_RELAX, CORO_ANYWHERE);
}

/* CPU 1 is at the head, has waited for long, and requests the lock. */
static void request_handoff(void)
{
	lock->state.request = 0;
	test_now += PATIENT_NS;
	poll_times(&coros[1], MANY_POLLS);
	EXPECT(has_handoff_request(lock));
}

static void request_now(u8 turn)
{
	lock->state.handoff = 0x80 | (test_now / UNIT_NS & 0x7f);
	lock->state.turn = turn;
}

/* Attempts without patience, or whose patience is over at once, that have begun late. */
static unsigned int overtaken_by_many(ktime_t patience)
{
	unsigned int i, overtaken = 0;

	for (i = 0; i < MANY; i++)
		overtaken += try_as(lock, patience, 5, 0) == 0;
	return overtaken;
}

/* H W    after: H W L, and so many L behind one another */
static void abandon_behind(unsigned int nodes)
{
	unsigned int cpu;

	for (cpu = 2; cpu <= nodes + 2; cpu++)
		ENQUEUE(lock, 1, cpu);
	test_now += 2;
	for (cpu = 2; cpu <= nodes + 2; cpu++)
		EXPECT(coro_until_abandon(&coros[cpu]));
	for (cpu = 2; cpu <= nodes + 2; cpu++)
		EXPECT_END(-ETIMEDOUT, cpu);
}

/* before: []    after: A L L, and the lock is free, with a request of now */
static void leave_abandoned(unsigned int nodes)
{
	nbq_X_lock(lock);
	ENQUEUE(lock, 2, 1);
	abandon_behind(nodes);
	EXPECT_END(-ETIMEDOUT, 1);
	nbq_X_unlock(lock);
	request_now(NBQ_TURN_MACHINE);
	EXPECT(*nbq_X_tail(lock));
}

/* before: W L L */
static void attempt_without_patience_does_not_pass_a_waiter(void)
{
	unsigned int nodes;

	for (nodes = 1; nodes < 5; nodes++) {
		begin();
		nbq_X_lock(lock);
		ENQUEUE(lock, KTIME_MAX, 1);
		abandon_behind(nodes);
		request_handoff();
		nbq_X_unlock(lock);
		EXPECT(overtaken_by_many(0) == 0);
		EXPECT_END(0, 1);
		EXPECT(overtaken_by_many(PATIENCE) == MANY);
		end();
	}
}

/* before and after: A L L, and a request that has not expired. */
static void attempt_without_patience_passes_abandoned_nodes(void)
{
	unsigned int nodes;

	for (nodes = 1; nodes < 5; nodes++) {
		begin();
		leave_abandoned(nodes);
		EXPECT(try_as(lock, 0, 5, 0) == 0);
		EXPECT(*nbq_X_tail(lock));
		EXPECT(overtaken_by_many(PATIENCE) == MANY);
		end();
	}
}

/* first queue: w, which comes and goes    second: W, or W L */
static void wait_in_the_second_queue(unsigned int abandoned)
{
	begin();
	nbq_X_lock(lock);
	nbq_X_lock(others[0]);
	ENQUEUE(others[0], KTIME_MAX, 6);
	ENQUEUE(lock, KTIME_MAX, 1);
	if (abandoned)
		abandon_behind(abandoned);
	nbq_X_unlock(others[0]);
	EXPECT_END(0, 6);
	EXPECT(!*nbq_X_tail(lock) && *second_tail());
}

static void waiter_stays_with_those_of_its_lock_in_the_second_queue(void)
{
	unsigned int abandoned;

	for (abandoned = 0; abandoned < 3; abandoned++) {
		wait_in_the_second_queue(abandoned);
		ENQUEUE(lock, KTIME_MAX, 9);
		EXPECT(!*nbq_X_tail(lock));
		request_handoff();
		nbq_X_unlock(lock);
		poll_times(&coros[9], SOME_POLLS);
		EXPECT(coros[9].doing == ACQUIRING);
		EXPECT(coro_until_held(&coros[1]));
		EXPECT_END(0, 1, 9);
		end();
	}
}

/*
 * first queue: W w, which came at the same time    second: W
 * The later one is its head at once, but has not waited for as long.
 */
static void head_of_another_queue_does_not_pass_a_request(void)
{
	begin();
	nbq_X_lock(lock);
	nbq_X_lock(others[0]);
	coros_start(6, others[0], KTIME_MAX);
	EXPECT(coro_until(&coros[6], SHIM_OP_XCHG, nbq_X_tail(lock)));
	ENQUEUE(lock, KTIME_MAX, 1);
	EXPECT(coro_until_poll(&coros[6]));
	request_handoff();
	ENQUEUE(lock, KTIME_MAX, 9);
	EXPECT(*second_tail());
	nbq_X_unlock(lock);
	poll_times(&coros[9], SOME_POLLS);
	EXPECT(coros[9].doing == ACQUIRING);
	EXPECT(coro_until_held(&coros[1]));
	EXPECT_END(0, 1, 9);
	nbq_X_unlock(others[0]);
	EXPECT_END(0, 6);
	end();
}

/*
 * first queue: W w W, which came at the same time. The last waiter began to wait much later. It
 * acts as the head at once all the same: its predecessor waits for another lock.
 */
static void head_behind_a_waiter_of_another_lock_does_not_pass_a_request(void)
{
	begin();
	nbq_X_lock(lock);
	nbq_X_lock(others[0]);
	coros_start(6, others[0], KTIME_MAX);
	EXPECT(coro_until(&coros[6], SHIM_OP_XCHG, nbq_X_tail(lock)));
	coros_start(9, lock, KTIME_MAX);
	EXPECT(coro_until(&coros[9], SHIM_OP_XCHG, nbq_X_tail(lock)));
	ENQUEUE(lock, KTIME_MAX, 1);
	EXPECT(coro_until_poll(&coros[6]));
	request_handoff();
	EXPECT(coro_until_poll(&coros[9]));
	EXPECT(!*second_tail());
	nbq_X_unlock(lock);
	poll_times(&coros[9], SOME_POLLS);
	EXPECT(coros[9].doing == ACQUIRING);
	EXPECT(coro_until_held(&coros[1]));
	EXPECT_END(0, 1);
	nbq_X_unlock(others[0]);
	EXPECT_END(0, 6, 9);
	end();
}

/* first queue: W W    second: w    The first hands the head over, with its request. */
static void head_after_a_waiter_of_its_lock_needs_not_to_wait_for_long(void)
{
	begin();
	nbq_X_lock(lock);
	nbq_X_lock(others[0]);
	ENQUEUE(lock, KTIME_MAX, 1);
	ENQUEUE(others[0], KTIME_MAX, 6);
	EXPECT(*second_tail());
	request_handoff();
	ENQUEUE(lock, KTIME_MAX, 9);
	nbq_X_unlock(lock);
	EXPECT(coro_until_held(&coros[1]));
	EXPECT_END(0, 1);
	EXPECT(has_handoff_request(lock));
	poll_times(&coros[9], SOME_POLLS);
	EXPECT(coros[9].doing == HOLDING);
	EXPECT_END(0, 9);
	nbq_X_unlock(others[0]);
	EXPECT_END(0, 6);
	end();
}

/* The clock stands: an old request may look as if it were of now for ever. */

/* A free lock that nobody waits for. */
static void expect_acquired(struct coro *coro)
{
	poll_times(coro, POLLS_WHILE_IT_STANDS);
	EXPECT(coro->doing == HOLDING);
}

/* before: A L L */
static void newcomer_takes_a_free_lock_while_the_clock_stands(void)
{
	begin();
	leave_abandoned(2);
	expect_acquired(coros_start(9, lock, KTIME_MAX));
	EXPECT_END(0, 9);
	end();
}

/* before and after: w, which this has interrupted */
static void interrupt_above_a_waiter_of_another_lock_takes_a_free_one(void)
{
	begin();
	nbq_X_lock(others[0]);
	ENQUEUE(others[0], KTIME_MAX, 9);
	EXPECT(*nbq_X_tail(lock));
	nbq_X_unlock(others[0]);
	request_now(NBQ_TURN_MACHINE);
	expect_acquired(coros_start(CORO_ABOVE(9), lock, KTIME_MAX));
	EXPECT_END(0, CORO_ABOVE(9), 9);
	end();
}

int main(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(attempt_without_patience_does_not_pass_a_waiter),
		TEST_CASE(attempt_without_patience_passes_abandoned_nodes),
		TEST_CASE(waiter_stays_with_those_of_its_lock_in_the_second_queue),
		TEST_CASE(newcomer_takes_a_free_lock_while_the_clock_stands),
		TEST_CASE(interrupt_above_a_waiter_of_another_lock_takes_a_free_one),
		TEST_CASE(head_of_another_queue_does_not_pass_a_request),
		TEST_CASE(head_behind_a_waiter_of_another_lock_does_not_pass_a_request),
		TEST_CASE(head_after_a_waiter_of_its_lock_needs_not_to_wait_for_long),
	};

	return test_main(cases, sizeof(cases) / sizeof(cases[0]));
}
