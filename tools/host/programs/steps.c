// SPDX-License-Identifier: GPL-2.0
/*
 * Interleavings of several CPUs, one access at a time: those that sanitizers are to see.
 * schedules.c has random ones, the explorer all.
 *
 * In the pictures H holds, W waits, L is abandoned, A is AVAILABLE; the tail is on the right.
 * Where an abandoned tail stays (type.h), there is an L more than drawn.
 */
#include <stdlib.h>
#include <string.h>

#include <linux/errno.h>
#include <linux/hash.h>

#include "coro.h"
#include "test.h"

/* Much longer than any of the times by which a lock goes. */
#define PATIENCE	1000000000
#define SOME_ACCESSES	500	/* it has enqueued, and polls */

static struct nbq_X lock;

/* Each waiter times out at its next clock read. */
static void expire_patience(void)
{
	test_now += 2 * PATIENCE;
}

/* Nobody uses the lock any more: it has all nodes that are in use. */
static void end(void)
{
	EXPECT(nbq_X_destroy(&lock) == 0);
	EXPECT(!*nbq_X_tail(&lock));
	EXPECT(shim_nodes_in_use() == 0);
}

static void begin(void)
{
	coros_forget();
	nbq_X_init(&lock);
	test_clock(1, 0);
}

/* before: []    after: H */
static void begin_held(void)
{
	begin();
	nbq_X_lock(&lock);
}

/* A lock for which pools record the same bits as for "lock". */
static struct nbq_X others[4096];

static struct nbq_X *lock_with_same_hash(void)
{
	struct nbq_X *other = others;

	while (hash_ptr(other, 6) != hash_ptr(&lock, 6) ||
	       hash_ptr(other, 10) != hash_ptr(&lock, 10)) {
		if (++other == &others[sizeof(others) / sizeof(others[0])])
			abort();
	}
	return other;
}

/*
 * An attempt of this CPU that searches for places: there are none, although a free lock may keep
 * its node.
 */
static void expect_no_place(unsigned int cpu)
{
	struct nbq_X *other = lock_with_same_hash();

	nbq_X_init(other);
	EXPECT(try_as(other, PATIENCE, cpu, 0) == 0);
	EXPECT(!shim_has_abandoned(cpu));
	EXPECT(nbq_X_destroy(other) == 0);
}

/*
 * before: H W B    B abandons twice after it has resumed: it stays in the queue and does not
 * access the lock. Then it acquires, waits, and abandons its node as the tail.
 */
static void resumed_waiter_does_not_access_lock(void)
{
	struct coro *back;
	unsigned int accesses;

	begin_held();
	ENQUEUE(&lock, KTIME_MAX, 1);
	ENQUEUE(&lock, PATIENCE, 2);
	back = &coros[2];
	back->attempts = 3;
	/* With a successor the first attempt does not dequeue. */
	ENQUEUE(&lock, PATIENCE, 3);
	expire_patience();
	while (!shim_event("nodes_resumed") && coro_until_poll(back))
		EXPECT(!back->ended);
	accesses = back->lock_accesses;
	expire_patience();
	while (shim_event("nodes_resumed") < 2 && coro_until_poll(back))
		EXPECT(!back->ended);
	/* The hybrid's accesses the lock, as those before it seem to be stalled. */
	EXPECT(!IS_FIFO || back->lock_accesses == accesses);
	EXPECT(shim_event("nodes_abandoned") == 2);
	EXPECT_END(-ETIMEDOUT, 3);
	nbq_X_unlock(&lock);
	/* The hybrid's head may request a handoff for a successor that has given up. */
	test_clock_step = 1;
	EXPECT_END(0, 1);
	EXPECT(coro_until_held(back));
	EXPECT(shim_event("nodes_allocated") == HOLDS_NODE + 3);
	EXPECT_END(0, 2);
	nbq_X_lock(&lock);
	/* The hybrid's head has no place to leave. */
	ENQUEUE(&lock, KTIME_MAX, 1);
	EXPECT(try_as(&lock, 10, 2, 0) == -ETIMEDOUT);
	EXPECT(shim_event("nodes_abandoned") == 2 + 2 * ABANDONED_TAIL_STAYS);
	/* No place is left to look for. */
	EXPECT(try_as(&lock, 10, 5, 0) == -ETIMEDOUT);
	EXPECT(!HOLDS_NODE || shim_has_abandoned(5) == ABANDONED_TAIL_STAYS);
	nbq_X_unlock(&lock);
	EXPECT_END(0, 1);
	end();
}

/*
 * before: []    The first waiter's node has had a successor: another attempt acquires and releases
 * with it. B's was resumed: another attempt abandons it as the tail, while B's other node is that
 * of another lock.
 */
static void use_the_same_nodes_again(struct nbq_X *other)
{
	unsigned int abandoned = shim_event("nodes_abandoned");
	struct coro *back;

	EXPECT(try_as(&lock, PATIENCE, 1, 0) == 0);
	EXPECT(shim_nodes_in_use() == NODES_KEPT);
	nbq_X_lock(&lock);
	nbq_X_init(other);
	back = coros_start_holder(2, other, &lock);
	back->wanted_patience = PATIENCE;
	EXPECT(coro_steps(back, SOME_ACCESSES));
	expire_patience();
	EXPECT_END(0, 2);
	EXPECT(back->wanted_ret == -ETIMEDOUT);
	EXPECT(nbq_X_destroy(other) == 0);
	EXPECT(shim_event("nodes_abandoned") == abandoned + ABANDONED_TAIL_STAYS);
	nbq_X_unlock(&lock);
	end();
}

/* before: []    after: H W B W, and B has abandoned after this time. */
static void begin_with_place(u64 ns)
{
	begin();
	shim_pools_start(2 + NODES_KEPT, 2 + NODES_KEPT);
	nbq_X_lock(&lock);
	ENQUEUE(&lock, PATIENCE, 1);
	ENQUEUE(&lock, 1, 2);
	ENQUEUE(&lock, PATIENCE, 3);
	test_now += ns;
	EXPECT_END(-ETIMEDOUT, 2);
}

/* B, which is CPU 2 */
static void resume(ktime_t patience)
{
	unsigned int resumed = shim_event("nodes_resumed");

	EXPECT(coro_until_poll(coros_start(2, &lock, patience)));
	EXPECT(shim_event("nodes_resumed") == resumed + 1);
}

/* B acquires other locks before it resumes. Then it acquires, or abandons and is skipped. */
static void place_survives_attempts_at_other_lock_and_ends_with_the_wait(void)
{
	struct nbq_X *other = lock_with_same_hash();
	unsigned int leaves;

	for (leaves = 0; leaves < 2; leaves++) {
		nbq_X_init(other);
		begin_with_place(2);
		EXPECT(try_as(other, PATIENCE, 2, 0) == 0);
		EXPECT(try_as(other, KTIME_MAX, 2, 0) == 0);
		EXPECT(nbq_X_destroy(other) == 0);
		EXPECT(shim_event("nodes_resumed") == 0);
		resume(1);
		if (leaves) {
			test_now += 2;
			EXPECT_END(-ETIMEDOUT, 2);
		}
		nbq_X_unlock(&lock);
		EXPECT_END(0, 1);
		if (!leaves)
			EXPECT_END(0, 2);
		EXPECT_END(0, 3);
		use_the_same_nodes_again(other);
	}
}

/* before: H W B W    B resumes, the last one abandons; the lock may keep B's node. */
static void node_kept_by_lock_is_not_resumed(void)
{
	begin_held();
	ENQUEUE(&lock, KTIME_MAX, 1);
	ENQUEUE(&lock, PATIENCE, 2, 3);
	expire_patience();
	EXPECT_END(-ETIMEDOUT, 2);
	resume(KTIME_MAX);
	EXPECT_END(-ETIMEDOUT, 3);
	nbq_X_unlock(&lock);
	EXPECT_END(0, 1, 2);
	expect_no_place(2);
	end();
}

#if HOLDS_NODE
/* before: H B, or H B W    The holder is so many accesses into its release when B abandons. */
static void abandon_during_release(unsigned int accesses, bool followed)
{
	begin();
	shim_pools_start(16, 16);
	EXPECT(coro_until_release(coros_start(1, &lock, KTIME_MAX)));
	ENQUEUE(&lock, PATIENCE, 2);
	if (followed)
		ENQUEUE(&lock, KTIME_MAX, 3);
	coro_steps(&coros[1], accesses);
	expire_patience();
	if (coro_finish(&coros[2])) {
		EXPECT(shim_event("nodes_abandoned") == shim_nodes_in_use() - 1 - followed);
		if (followed)
			resume(KTIME_MAX);
		EXPECT_END(0, 1);
		if (followed)
			EXPECT_END(0, 2);
	} else {
		EXPECT_END(0, 1);
	}
	if (followed)
		EXPECT_END(0, 3);
	end();
}

static void waiter_abandons_at_any_step_of_a_release(void)
{
	unsigned int accesses;

	for (accesses = 0; accesses < 10; accesses++) {
		abandon_during_release(accesses, false);
		abandon_during_release(accesses, true);
	}
}
#endif

/* before: H    after: H L L, without waiters. (Hybrid: the first was the head.) */
static void abandon_two_nodes(struct nbq_X *at)
{
	ENQUEUE(at, PATIENCE, 1, 2, 3);
	expire_patience();
	EXPECT(coro_until_abandon(&coros[3]));
	EXPECT_END(-ETIMEDOUT, 2, 1, 3);
}

#if !HOLDS_NODE
/* A lock, free, whose waiters are in the queue of "lock". */
static struct nbq_X *lock_with_same_queue(void)
{
	struct nbq_X *other = lock_with_same_hash();

	while (nbq_X_tail(other) != nbq_X_tail(&lock)) {
		if (++other == &others[sizeof(others) / sizeof(others[0])])
			abort();
	}
	nbq_X_init(other);
	return other;
}

/* before: H    Then waiters that have given up at once; W L L; a waiter of another lock */
static void contended_is_a_lock_with_a_waiter_of_its_own(void)
{
	struct nbq_X *other = lock_with_same_queue();

	begin_held();
	abandon_two_nodes(&lock);
	EXPECT(*nbq_X_tail(&lock));
	EXPECT(!nbq_X_is_contended(&lock));
	ENQUEUE(&lock, KTIME_MAX, 4);
	EXPECT(nbq_X_is_contended(&lock));
	abandon_two_nodes(&lock);
	EXPECT(nbq_X_is_contended(&lock));
	nbq_X_unlock(&lock);
	EXPECT_END(0, 4);

	nbq_X_lock(&lock);
	shim_cpu = 5;
	nbq_X_lock(other);
	shim_cpu = 0;
	ENQUEUE(other, KTIME_MAX, 6);
	EXPECT(nbq_X_is_contended(other));
	EXPECT(!nbq_X_is_contended(&lock));
	nbq_X_unlock(&lock);
	shim_cpu = 5;
	nbq_X_unlock(other);
	shim_cpu = 0;
	EXPECT_END(0, 6);
	EXPECT(nbq_X_destroy(other) == 0);
	end();
}
#endif

/* before: free    after: free, with an abandoned node of CPU 2 */
static void abandon_place_at(struct nbq_X *at)
{
	nbq_X_init(at);
	nbq_X_lock(at);
	abandon_two_nodes(at);
	nbq_X_unlock(at);
}

static unsigned int accesses_made;

static void count_access(enum shim_op op, const void *address)
{
	accesses_made++;
}

/* The most accesses with which CPU 2 acquires and releases any of some free locks. */
static unsigned int most_accesses(void)
{
	unsigned int most = 0, i;

	for (i = 0; i <= 256; i++) {
		struct nbq_X *at = &others[sizeof(others) / sizeof(others[0]) - 1 - i];

		nbq_X_init(at);
		shim_let_look(2);
		accesses_made = 0;
		shim_hook = count_access;
		EXPECT(try_as(at, PATIENCE, 2, 0) == 0);
		shim_hook = NULL;
		EXPECT(nbq_X_destroy(at) == 0);
		/* The first one may search the pool for a node to allocate from then on. */
		if (i && accesses_made > most)
			most = accesses_made;
	}
	return most;
}

/*
 * The cost of a free lock does not grow with the locks at which its CPU has abandoned a place. (A
 * place that is gone is forgotten by a few accesses, once.)
 */
static void acquisition_costs_the_same_after_timeouts_elsewhere(void)
{
	unsigned int after_one, i;

	begin();
	shim_pools_start(64, 64);
	abandon_place_at(&others[0]);
	after_one = most_accesses();
	for (i = 1; i < 48; i++)
		abandon_place_at(&others[i]);
	EXPECT(shim_has_abandoned(2));
	EXPECT(most_accesses() <= after_one + 4);
	for (i = 0; i < 48; i++)
		EXPECT(nbq_X_destroy(&others[i]) == 0);
}

#if !HOLDS_NODE && !defined(CONFIG_DEBUG_LOCK_ALLOC)
/* The accesses with which a task of CPU 2 acquires a free lock. Inline there is one. */
static unsigned int accesses_to_acquire(struct nbq_X *at, bool until)
{
	unsigned int made;

	shim_cpu = 2;
	accesses_made = 0;
	shim_hook = count_access;
	EXPECT((until ? nbq_X_lock_until(at, KTIME_MAX) : nbq_X_lock_timeout(at, PATIENCE)) == 0);
	shim_hook = NULL;
	made = accesses_made;
	nbq_X_unlock(at);
	shim_cpu = 0;
	return made;
}

/* A place of an interrupt, and then one of a task, at a lock that nobody uses any more. */
static void let_place_cost_calls(bool until)
{
	struct nbq_X *other = &others[0];
	unsigned int calls = 0;

	begin();
	while (hash_ptr(other, 6) == hash_ptr(&lock, 6))
		other++;
	nbq_X_init(other);
	coros_level = NBQ_HARDIRQ;
	abandon_place_at(&lock);
	coros_level = NBQ_TASK;
	EXPECT(accesses_to_acquire(other, until) == 1);
	EXPECT(nbq_X_destroy(&lock) == 0);

	abandon_place_at(&lock);
	while (accesses_to_acquire(other, until) > 1 && calls < 1000)
		calls++;
	EXPECT(calls > 1 && calls < 100);
	EXPECT(accesses_to_acquire(other, until) == 1);
	/* The place has not gone with it. */
	nbq_X_lock(&lock);
	resume(PATIENCE);
	expire_patience();
	EXPECT_END(-ETIMEDOUT, 2);
	nbq_X_unlock(&lock);
	end();
}

static void place_at_another_lock_does_not_cost_tasks_a_call_for_ever(void)
{
	let_place_cost_calls(false);
	let_place_cost_calls(true);
}
#endif

#define FEW_NODES	4U

#ifdef TYPE_SPIN
/*
 * CPU 1 has left the heads, CPU 2 the tails of as many queues as each has nodes: A L. No context
 * comes there any more. At another lock, which is held, each enqueues all the same.
 */
static void locks_at_rest_keep_no_node(void)
{
	struct nbq_X *at;
	unsigned int cpu;

	for (cpu = 1; cpu <= 2; cpu++) {
		begin();
		shim_pools_start(FEW_NODES, FEW_NODES);
		for (at = others; shim_nodes_in_use() < 2 * FEW_NODES; at++) {
			if (!*nbq_X_tail(at) && nbq_X_tail(at) != nbq_X_tail(&lock))
				abandon_place_at(at);
		}
		nbq_X_lock(&lock);
		ENQUEUE(&lock, PATIENCE, cpu);
		EXPECT(shim_event("exhaustions") == 0);
		EXPECT(shim_nodes_in_use() == 2 * FEW_NODES);
		expire_patience();
		EXPECT_END(-ETIMEDOUT, cpu);
		nbq_X_unlock(&lock);
		while (at-- > others)
			EXPECT(nbq_X_destroy(at) == 0);
		end();
	}
}

/* Each CPU has one node. "lock" is held, and a lock apart from it, too. Return: that. */
static struct nbq_X *begin_with_one_node(void)
{
	struct nbq_X *at = others;

	begin();
	shim_pools_start(1, 1);
	while (nbq_X_tail(at) == nbq_X_tail(&lock))
		at++;
	nbq_X_init(at);
	nbq_X_lock(&lock);
	nbq_X_lock(at);
	return at;
}

/* Each CPU waits in the queue of "lock", with its only node. */
static void expect_taken_back(const unsigned int *cpus)
{
	unsigned int exhaustions = shim_event("exhaustions");

	for (; *cpus < COROS; cpus++) {
		ENQUEUE(&lock, PATIENCE, *cpus);
		EXPECT(shim_event("exhaustions") == exhaustions);
		expire_patience();
		EXPECT_END(-ETIMEDOUT, *cpus);
	}
}

static void end_with_one_node(struct nbq_X *at)
{
	EXPECT(!*nbq_X_tail(at));
	EXPECT(nbq_X_destroy(at) == 0);
	nbq_X_unlock(&lock);
	end();
}

/* before: H    after: A L L, of CPUs 1, 2 and 3 */
static void leave_three_nodes(struct nbq_X *at)
{
	ENQUEUE(at, PATIENCE, 1, 2, 3, 4);
	expire_patience();
	EXPECT(coro_until_abandon(&coros[4]));
	EXPECT_END(-ETIMEDOUT, 3, 2, 1, 4);
	EXPECT(shim_nodes_in_use() == 3);
}

/* Twice with the same nodes. */
static void node_in_front_of_abandoned_ones_is_taken_back(void)
{
	struct nbq_X *at = begin_with_one_node();
	unsigned int i;

	for (i = 0; i < 2; i++) {
		leave_three_nodes(at);
		expect_taken_back(CORO_EACH(1, 2, 3));
	}
	nbq_X_unlock(at);
	end_with_one_node(at);
}

/*
 * A L L: CPU 2 has made so many accesses to take its node back when CPU 1 does. One of them may
 * leave its node there, until it takes that back later.
 */
static void two_cpus_take_their_nodes_back(void)
{
	unsigned int accesses;
	struct nbq_X *at;

	for (accesses = 1; accesses < 100; accesses++) {
		at = begin_with_one_node();
		leave_three_nodes(at);
		nbq_X_unlock(at);
		coro_steps(coros_start(2, &lock, PATIENCE), accesses);
		coro_steps(coros_start(1, &lock, PATIENCE), SOME_ACCESSES);
		expire_patience();
		EXPECT_END(-ETIMEDOUT, 1);
		coro_steps(&coros[2], SOME_ACCESSES);
		expire_patience();
		EXPECT_END(-ETIMEDOUT, 2);
		expect_taken_back(CORO_EACH(1, 2, 3));
		end_with_one_node(at);
	}
}

/* H W B W W    B resumes its place and acquires; the last two give up: A L */
static void node_of_a_resumed_place_is_taken_back(void)
{
	struct nbq_X *at = begin_with_one_node();

	ENQUEUE(at, KTIME_MAX, 1);
	ENQUEUE(at, PATIENCE, 2, 3, 4);
	expire_patience();
	EXPECT_END(-ETIMEDOUT, 2);
	EXPECT(coro_until_poll(coros_start(2, at, KTIME_MAX)));
	EXPECT(shim_event("nodes_resumed") == 1);
	EXPECT(coro_until_abandon(&coros[4]));
	EXPECT_END(-ETIMEDOUT, 3);
	nbq_X_unlock(at);
	EXPECT_END(0, 1, 2);
	EXPECT_END(-ETIMEDOUT, 4);
	EXPECT(shim_nodes_in_use() == 2);
	expect_taken_back(CORO_EACH(2, 3));
	end_with_one_node(at);
}
#endif

#if HOLDS_NODE
#define ABANDONED	(2 + ABANDONED_TAIL_STAYS)

/*
 * As many locks as each CPU has nodes are at rest with one of each: A L L. CPU 0 has left the
 * heads, CPU 2 the tails or what was in front of these. Each CPU acquires as many locks all the
 * same.
 */
static void locks_at_rest_keep_no_node(void)
{
	struct nbq_X *free_locks = &others[FEW_NODES];
	unsigned int cpu, i;

	for (cpu = 0; cpu <= 2; cpu++) {
		begin();
		shim_pools_start(FEW_NODES, FEW_NODES);
		for (i = 0; i < FEW_NODES; i++) {
			abandon_place_at(&others[i]);
			nbq_X_init(&free_locks[i]);
		}
		EXPECT(shim_nodes_in_use() == FEW_NODES * (HOLDS_NODE + ABANDONED));

		shim_cpu = cpu;
		for (i = 0; i < FEW_NODES; i++)
			EXPECT(nbq_X_trylock(&free_locks[i]));
		EXPECT(shim_event("exhaustions") == FEW_NODES);
		EXPECT(shim_event("failed_tries") == 0);
		EXPECT(shim_nodes_in_use() == FEW_NODES);
		EXPECT(!nbq_X_trylock(&lock));
		for (i = 0; i < FEW_NODES; i++) {
			EXPECT(!*nbq_X_tail(&others[i]));
			nbq_X_unlock(&free_locks[i]);
			EXPECT(nbq_X_destroy(&free_locks[i]) == 0);
		}
		shim_cpu = 0;
		end();
	}
}

/* Those of a lock that is held, or waited for, stay where they are. */
static void nodes_of_a_held_lock_are_not_taken_back(void)
{
	struct nbq_node *tail;

	begin();
	shim_pools_start(1, 1);
	nbq_X_init(&others[0]);
	shim_cpu = 4;
	nbq_X_lock(&others[0]);
	shim_cpu = 0;
	abandon_two_nodes(&others[0]);
	tail = *nbq_X_tail(&others[0]);

	shim_cpu = 1;
	EXPECT(!nbq_X_trylock(&lock));
	EXPECT(shim_event("exhaustions") == 1);
	EXPECT(*nbq_X_tail(&others[0]) == tail && nbq_X_is_locked(&others[0]));
	shim_cpu = 4;
	nbq_X_unlock(&others[0]);
	shim_cpu = 1;
	EXPECT(nbq_X_trylock(&lock));
	nbq_X_unlock(&lock);
	shim_cpu = 0;
	EXPECT(nbq_X_destroy(&others[0]) == 0);
	end();
}

static void expect_spare_not_used(void)
{
	unsigned int i;

	shim_cpu = 1;
	for (i = 0; i < 3; i++) {
		EXPECT(nbq_X_lock_timeout(&others[0], PATIENCE) == 0);
		EXPECT(!shim_is_spare(*nbq_X_tail(&others[0])));
		nbq_X_unlock(&others[0]);
	}
}

/*
 * Another CPU takes the lock between the look at it and the swap of its tail: the spare node waits
 * behind, gives up, and is lost to no one. No later attempt holds the lock with it.
 */
static void lock_at_rest_may_be_taken_during_a_visit(void)
{
	unsigned int accesses;
	bool acquired;

	for (accesses = 1; accesses < 200; accesses++) {
		begin();
		shim_pools_start(1, 1);
		abandon_place_at(&others[0]);
		coros_start(1, &lock, 0);
		coro_steps(&coros[1], accesses);
		shim_cpu = 4;
		acquired = nbq_X_trylock(&others[0]);
		coro_finish(&coros[1]);
		EXPECT(nbq_X_is_locked(&others[0]) == acquired);
		/* The visit is none of them. */
		EXPECT(shim_event("failed_tries") == !acquired + (coros[1].ret == -EBUSY));
		if (acquired)
			nbq_X_unlock(&others[0]);
		expect_spare_not_used();
		shim_cpu = 0;
		EXPECT(!nbq_X_is_locked(&others[0]));
		EXPECT(nbq_X_destroy(&others[0]) == 0);
		end();
	}
}

/* before: []    after: A L L */
static void leave_places(void)
{
	begin_held();
	abandon_two_nodes(&lock);
	EXPECT(shim_event("nodes_abandoned") == ABANDONED);
	EXPECT(shim_nodes_in_use() == HOLDS_NODE + ABANDONED);
	nbq_X_unlock(&lock);
}

/* Before and after: A L L. CPU 5 tries without patience, has read the tail, and then its state. */
static void start_try(void)
{
	leave_places();
	coros_start(5, &lock, 0);
	EXPECT(coro_until(&coros[5], SHIM_OP_LOAD, nbq_X_tail(&lock)));
	EXPECT(coro_until(&coros[5], SHIM_OP_LOAD, nbq_X_tail(&lock)));
}

static void expect_failed_try(void)
{
	unsigned int allocated = shim_event("nodes_allocated");

	EXPECT_END(-EBUSY, 5);
	EXPECT(shim_event("nodes_allocated") == allocated);
}

static void attempt_without_patience_sees_another_tail(void)
{
	start_try();
	EXPECT(coro_until_held(coros_start(4, &lock, PATIENCE)));
	expect_failed_try();
	EXPECT_END(0, 4);
	end();
}

/* The last place is resumed; the one before it is skipped, and makes another lock available. */
static void attempt_without_patience_sees_a_node_in_another_queue(void)
{
	struct nbq_X *other = lock_with_same_hash();

	nbq_X_init(other);
	start_try();
	EXPECT(coro_steps(&coros[5], 1));
	EXPECT(coro_until_held(coros_start(2, &lock, PATIENCE)));
	EXPECT(coro_until_held(coros_start(1, other, PATIENCE)));
	ENQUEUE(other, PATIENCE, 3);
	EXPECT_END(0, 1);
	expect_failed_try();
	EXPECT_END(0, 3, 2);
	EXPECT(nbq_X_destroy(other) == 0);
	end();
}

/* More than CPU 5 makes until it knows. */
#define ACCESSES_OF_TRY	10

/*
 * The lock is held all the time. CPU 5 tries without patience, and makes so many accesses while the
 * only node of CPU 1 is the tail, so many after that has made another lock available, and the rest
 * when it is the tail again.
 */
static void try_while_node_comes_back(unsigned int first, unsigned int then)
{
	struct nbq_X *other = lock_with_same_hash();

	begin();
	shim_pools_start(1, 1);
	nbq_X_init(other);
	nbq_X_lock(&lock);
	ENQUEUE(&lock, PATIENCE, 1);
	coro_steps(coros_start(5, &lock, 0), first);
	ENQUEUE(&lock, KTIME_MAX, 4);
	expire_patience();
	EXPECT_END(-ETIMEDOUT, 1);
	EXPECT(coro_steps(&coros[4], SOME_ACCESSES));

	EXPECT(coro_until_held(coros_start(1, other, PATIENCE)));
	ENQUEUE(other, PATIENCE, 2);
	EXPECT_END(0, 1);
	coro_steps(&coros[5], then);
	EXPECT_END(0, 2);
	ENQUEUE(&lock, KTIME_MAX, 1);
	expect_failed_try();

	nbq_X_unlock(&lock);
	EXPECT_END(0, 4, 1);
	EXPECT(nbq_X_destroy(other) == 0);
	end();
}

static void attempt_without_patience_sees_a_node_that_comes_back(void)
{
	unsigned int first, then;

	for (first = 0; first < ACCESSES_OF_TRY; first++) {
		for (then = 0; then < ACCESSES_OF_TRY && !test_has_failed(); then++)
			try_while_node_comes_back(first, then);
	}
}

/* A waiter comes, and the lock is released to it, when CPU 5 has made so many accesses. */
static void attempt_without_patience_sees_a_release_to_a_waiter(void)
{
	unsigned int first;

	for (first = 0; first < ACCESSES_OF_TRY; first++) {
		begin();
		shim_pools_start(1, 1);
		coros_start_holder(1, &lock, NULL);
		coro_steps(coros_start(5, &lock, 0), first);
		ENQUEUE(&lock, KTIME_MAX, 4);
		EXPECT_END(0, 1);
		expect_failed_try();
		EXPECT_END(0, 4);
		end();
	}
}

/* Before it has read the state of the second node from the end. */
#define ACCESSES_TO_SECOND	7

/*
 * Before: A L L. CPU 5 has made so many accesses when another context acquires. Then the last two
 * nodes are one behind the other in the queue of a lock that is free.
 */
static void attempt_without_patience_sees_two_nodes_in_another_queue(void)
{
	struct nbq_X *other = lock_with_same_hash();
	unsigned int first;

	for (first = 0; first < ACCESSES_TO_SECOND; first++) {
		begin();
		shim_pools_start(1, 1);
		nbq_X_init(other);
		nbq_X_lock(&lock);
		abandon_two_nodes(&lock);
		nbq_X_unlock(&lock);
		coro_steps(coros_start(5, &lock, 0), first);
		EXPECT(coro_until_held(coros_start(4, &lock, PATIENCE)));

		coros_start_holder(1, other, NULL);
		ENQUEUE(other, PATIENCE, 2);
		expire_patience();
		EXPECT_END(-ETIMEDOUT, 2);
		EXPECT_END(0, 1);
		expect_failed_try();
		EXPECT_END(0, 4);
		EXPECT(nbq_X_destroy(other) == 0);
		end();
	}
}

/* Another context acquires the lock right before it enqueues. */
static void attempt_without_patience_enqueues_and_fails(void)
{
	begin();
	shim_pools_start(16, 16);
	coros_start(5, &lock, 0);
	EXPECT(coro_until(&coros[5], SHIM_OP_XCHG, nbq_X_enqueues_at(&lock)));
	EXPECT(coro_until_held(coros_start(4, &lock, PATIENCE)));
	EXPECT_END(-EBUSY, 5);
	EXPECT(shim_event("failed_tries") == 1);
	EXPECT_END(0, 4);
	end();
}

/* Attempts of the CPUs with abandoned nodes, which see so many frees late: none resumes one. */
static void attempt_without_resume(int late)
{
	unsigned int cpu;

	nbq_X_lock(&lock);
	for (cpu = 1; cpu <= 3; cpu++) {
		shim_age_frees(cpu, 0, late);
		ENQUEUE(&lock, PATIENCE, cpu);
		shim_age_frees(cpu, 0, -late);
		expire_patience();
		EXPECT_END(-ETIMEDOUT, cpu);
	}
	EXPECT(shim_event("nodes_resumed") == 0);
	nbq_X_unlock(&lock);
	EXPECT(nbq_X_destroy(&lock) == 0);
}

/* A CPU that has found the lock anew may read late that its node was freed. */
static void place_is_not_resumed_where_its_free_is_seen_late(void)
{
	leave_places();
	end();
	attempt_without_resume(1);
}
#endif

#ifdef TYPE_SPIN
/* The hybrid's policy, where it depends on other attempts or on the hypervisor, in time. */

#define PATIENT_NS		20000
#define STALLED_NS		50000
#define CHECK_PRED_NS		100000
#define CHECK_RESUMED_NS	20000
/* More than it takes to read the clock, to check, to request. */
#define MANY_POLLS		1000

/*
 * The lock is free. Let this CPU poll for long: either it is as its head, and acquires the lock;
 * or CPU 1 does, which is the head.
 */
static void release_to(unsigned int cpu, bool acts)
{
	struct coro *coro = &coros[cpu];
	unsigned int polls;

	nbq_X_unlock(&lock);
	for (polls = 0; polls < MANY_POLLS && coro->doing == ACQUIRING; polls++)
		coro_until(coro, SHIM_OP_RELAX, CORO_ANYWHERE);
	EXPECT((coro->doing == HOLDING) == acts);
	shim_vcpu_is_preempted = NULL;
	if (acts)
		EXPECT_END(0, cpu, 1);
	else
		EXPECT_END(0, 1, cpu);
}

/* Behind one that is stalled, at once: it may not wait for long enough to see that later. */
static void resumed_waiter_acts_for_stalled_head(void)
{
	unsigned int stalled;

	for (stalled = 0; stalled < 2; stalled++) {
		begin_with_place(STALLED_NS - !stalled);
		resume(1);
		test_now++;
		EXPECT_END(-ETIMEDOUT, 2);
		resume(PATIENCE);
		release_to(2, stalled);
		EXPECT_END(0, 3);
		end();
	}
}

/* An attempt of B after the other is as one that has waited for all of that time. */
static void resumed_waiter_keeps_its_age(void)
{
	begin_with_place(PATIENT_NS);
	resume(KTIME_MAX);
	EXPECT(!has_handoff_request(&lock));
	/* CPU 1 is the head; B is, when it has gone. */
	test_now += PATIENCE;
	EXPECT_END(-ETIMEDOUT, 1);
	/* That was the request of CPU 1. */
	lock.state.handoff = 0;
	test_now = PATIENT_NS + 2;
	EXPECT(coro_until_poll(&coros[2]));
	EXPECT(has_handoff_request(&lock));
	nbq_X_unlock(&lock);
	EXPECT_END(0, 2, 3);
	end();
}

/* The place of B is resumed while its successor is about to skip it: that skips no node. */
static void place_resumed_first_is_not_skipped(void)
{
	begin_with_place(2);
	EXPECT(coro_until(&coros[3], SHIM_OP_CMPXCHG, CORO_ANYWHERE));
	resume(KTIME_MAX);
	EXPECT(coro_until_poll(&coros[3]));
	nbq_X_unlock(&lock);
	EXPECT_END(0, 1, 2, 3);
	EXPECT(shim_walks(1) == 0 && shim_walks(NBQ_SKIPPED_MAX) == 0);
	end();
}

static bool is_preempted(unsigned int cpu)
{
	return cpu == SHIM_CPU_NUMBER(1);
}

/* The hypervisor is asked by an attempt that resumes so long after the last question. */
static void resumed_waiter_acts_for_preempted_head(void)
{
	unsigned int asks;

	for (asks = 0; asks < 2; asks++) {
		begin_with_place(CHECK_RESUMED_NS - !asks);
		shim_vcpu_is_preempted = is_preempted;
		resume(PATIENCE);
		release_to(2, asks);
		EXPECT_END(0, 3);
		end();
	}
}

/* H W W: vcpu_is_preempted() says so of the first, whose heartbeat is young; or not. */
static void steal_when_vcpu_of_predecessor_preempted(void)
{
	unsigned int preempted, polls;

	for (preempted = 0; preempted < 2; preempted++) {
		begin_held();
		ENQUEUE(&lock, PATIENCE, 1, 2);
		test_now += CHECK_PRED_NS - 1;
		for (polls = 0; polls < MANY_POLLS; polls++)
			EXPECT(coro_until(&coros[1], SHIM_OP_RELAX, CORO_ANYWHERE));
		shim_vcpu_is_preempted = preempted ? is_preempted : NULL;
		test_now++;
		release_to(2, preempted);
		end();
	}
}
#endif

int main(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(resumed_waiter_does_not_access_lock),
		TEST_CASE(place_survives_attempts_at_other_lock_and_ends_with_the_wait),
		TEST_CASE(node_kept_by_lock_is_not_resumed),
#if HOLDS_NODE
		TEST_CASE(waiter_abandons_at_any_step_of_a_release),
#endif
		TEST_CASE(acquisition_costs_the_same_after_timeouts_elsewhere),
		TEST_CASE(locks_at_rest_keep_no_node),
#ifdef TYPE_SPIN
		TEST_CASE(node_in_front_of_abandoned_ones_is_taken_back),
		TEST_CASE(two_cpus_take_their_nodes_back),
		TEST_CASE(node_of_a_resumed_place_is_taken_back),
#endif
#if HOLDS_NODE
		TEST_CASE(nodes_of_a_held_lock_are_not_taken_back),
		TEST_CASE(lock_at_rest_may_be_taken_during_a_visit),
		TEST_CASE(attempt_without_patience_enqueues_and_fails),
		TEST_CASE(attempt_without_patience_sees_another_tail),
		TEST_CASE(attempt_without_patience_sees_a_node_in_another_queue),
		TEST_CASE(attempt_without_patience_sees_a_node_that_comes_back),
		TEST_CASE(attempt_without_patience_sees_a_release_to_a_waiter),
		TEST_CASE(attempt_without_patience_sees_two_nodes_in_another_queue),
		TEST_CASE(place_is_not_resumed_where_its_free_is_seen_late),
#endif
#ifdef TYPE_SPIN
#ifndef CONFIG_DEBUG_LOCK_ALLOC
		TEST_CASE(place_at_another_lock_does_not_cost_tasks_a_call_for_ever),
#endif
		TEST_CASE(contended_is_a_lock_with_a_waiter_of_its_own),
		TEST_CASE(resumed_waiter_acts_for_stalled_head),
		TEST_CASE(resumed_waiter_keeps_its_age),
		TEST_CASE(place_resumed_first_is_not_skipped),
		TEST_CASE(resumed_waiter_acts_for_preempted_head),
		TEST_CASE(steal_when_vcpu_of_predecessor_preempted),
#endif
	};

	return test_main(cases, sizeof(cases) / sizeof(cases[0]));
}
