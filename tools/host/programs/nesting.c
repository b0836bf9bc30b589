// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of one level that nest on a CPU: an NMI in an NMI, or a probe at task level in the
 * middle of an attempt. The inner one runs to its end before the outer one goes on.
 */
#include <linux/errno.h>
#include <linux/hash.h>

#include "coro.h"
#include "test.h"

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

static void begin(unsigned int nodes)
{
	coros_begin(locks, LOCKS, nodes);
	coros_level = CORO_NMI_LEVEL;
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
		/* In the same memory. */
		EXPECT(nbq_X_end(b) == 0);
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
 * in front of another abandoned node. B is free in the end: it is destroyed, perhaps after the node
 * was taken back from there.
 */
static void abandon_the_node_elsewhere_after(unsigned int accesses, bool takes_back)
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
	if (takes_back) {
		EXPECT_END(0, 4, 2);
		EXPECT(try_as(&locks[1], 1, 1, CORO_NMI_LEVEL) == 0);
	}
	EXPECT(nbq_X_destroy(b) == 0);
	EXPECT_END(0, 4, 2);
}

static void node_abandoned_by_a_nested_attempt_stays_at_its_lock(void)
{
	unsigned int accesses;

	for (accesses = 0; accesses < MOST_AT_END && !test_has_failed(); accesses++) {
		abandon_the_node_elsewhere_after(accesses, false);
		abandon_the_node_elsewhere_after(accesses, true);
	}
	shim_pools_start(16, 16);
}

/* One behind the others, for which a pool remembers its places together with those of the lock. */
static struct nbq_X *lock_together_with(const struct nbq_X *lock)
{
	struct nbq_X *other = &locks[LOCKS];

	while (hash_ptr(other, 6) != hash_ptr(lock, 6))
		other++;
	EXPECT((char *)(other + 1) <= (char *)locks + COROS_LOCKS_SIZE);
	nbq_X_init(other);
	return other;
}

/* CPU 1 has a place. During its next attempt, at another lock, a nested one abandons its node. */
static void nested_attempt_leaves_the_places_of_the_pool_as_they_are(void)
{
	struct nbq_X *a = &locks[0], *b = lock_apart_from(a), *c;

	begin(16);
	c = lock_together_with(a);
	EXPECT(nbq_X_lock_timeout(a, KTIME_MAX) == 0);
	EXPECT(nbq_X_lock_timeout(b, KTIME_MAX) == 0);
	EXPECT(nbq_X_lock_timeout(c, KTIME_MAX) == 0);
	ENQUEUE(a, KTIME_MAX, 4);
	ENQUEUE(a, PATIENCE, 1);
	ENQUEUE(a, KTIME_MAX, 2);
	ENQUEUE(c, KTIME_MAX, 5);
	expire_patience();
	EXPECT_END(-ETIMEDOUT, 1);
	ENQUEUE(b, KTIME_MAX, 1);
	ENQUEUE(c, PATIENCE, CORO_ABOVE(1));
	ENQUEUE(c, KTIME_MAX, 3);
	expire_patience();
	EXPECT_END(-ETIMEDOUT, CORO_ABOVE(1));
	nbq_X_unlock(b);
	EXPECT_END(0, 1);
	EXPECT(coro_until_poll(coros_start(1, a, KTIME_MAX)));
	EXPECT(shim_event("nodes_resumed") == 1);
	nbq_X_unlock(c);
	nbq_X_unlock(a);
	coros_finish(MOST_TURNS);
	EXPECT(nbq_X_destroy(c) == 0);
	destroy_locks();
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

int main(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(no_place_of_a_nested_attempt_at_an_earlier_lock),
		TEST_CASE(node_abandoned_by_a_nested_attempt_stays_at_its_lock),
		TEST_CASE(nested_attempt_leaves_the_places_of_the_pool_as_they_are),
#if HOLDS_NODE
		TEST_CASE(lock_held_by_nested_context_is_no_deadlock),
#endif
		TEST_CASE(wait_of_nested_context_is_no_deadlock),
#if !IS_FIFO
		TEST_CASE(waiter_acts_for_a_head_below_a_nested_context),
#endif
		TEST_CASE(nested_attempt_may_use_the_node_of_a_place),
	};

	locks = coros_map_locks();
	return test_main(cases, sizeof(cases) / sizeof(cases[0]));
}
