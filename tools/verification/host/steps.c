// SPDX-License-Identifier: GPL-2.0
/*
 * Interleavings of several CPUs, one access at a time: those that sanitizers are to see, and
 * bounds on own steps. The explorer has all interleavings.
 *
 * In the pictures H holds, W waits, L is abandoned, A is AVAILABLE; the tail is on the right.
 * Where an abandoned tail stays (type.h), there is an L more than drawn.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <asm/mmiowb.h>
#include <linux/errno.h>
#include <linux/hash.h>

#include "coro.h"
#include "test.h"

/* Much longer than any of the times by which a lock goes. */
#define PATIENCE	1000000000
#define ROUNDS		9000

static struct nbq_X lock;
static u64 clock_now;

static u64 fake_clock(void)
{
	return clock_now;
}

/* Each waiter times out at its next clock read. */
static void expire_patience(void)
{
	clock_now += 2 * PATIENCE;
}

#if !IS_FIFO
/* A head that has timed out may have left a request for a handoff. */
static void expire_requests(void)
{
	clock_now += 2 * NBQ_SPIN_HANDOFF_NS;
}
#endif

static void start_at(struct coro *coro, unsigned int cpu, struct nbq_X *at)
{
	memset(coro, 0, sizeof(*coro));
	coro->lock = at;
	coro->cpu = cpu;
	coro->patience = PATIENCE;
	coro->attempts = 1;
	coro_start(coro);
}

static void start(struct coro *coro, unsigned int cpu)
{
	start_at(coro, cpu, &lock);
}

/* It polls its predecessor: a newcomer of the hybrid polls the lock before. */
static void start_waiting_at(struct coro *coro, unsigned int cpu, struct nbq_X *at)
{
	start_at(coro, cpu, at);
	EXPECT(coro_until(coro, SHIM_OP_XCHG, &at->tail));
	EXPECT(coro_until_poll(coro));
}

static void start_waiting(struct coro *coro, unsigned int cpu)
{
	start_waiting_at(coro, cpu, &lock);
}

/* The same, and it never runs out of patience. */
static void start_without_timeout(struct coro *coro, unsigned int cpu)
{
	start(coro, cpu);
	coro->patience = KTIME_MAX;
	EXPECT(coro_until(coro, SHIM_OP_XCHG, &lock.tail));
	EXPECT(coro_until_poll(coro));
}

/* An attempt without patience, as a whole; releases at once. */
static bool try(unsigned int cpu)
{
	unsigned int self = shim_cpu;
	bool got;

	shim_cpu = cpu;
	got = nbq_X_trylock(&lock);
	if (got)
		nbq_X_unlock(&lock);
	shim_cpu = self;
	return got;
}

static unsigned int changes;

static void count_changes(enum shim_op op, const void *address)
{
	changes += op != SHIM_OP_LOAD && op != SHIM_OP_RELAX && is_own_step(&lock, address);
}

/* The same, which fails and changes nothing that others read. */
static __attribute__((__unused__)) bool fails_reading_only(unsigned int cpu)
{
	bool got;

	changes = 0;
	shim_hook = count_changes;
	got = try(cpu);
	shim_hook = NULL;
	return !got && !changes;
}

/* Nobody uses the lock any more: it has all nodes that are in use. */
static void end(void)
{
	EXPECT(nbq_X_destroy(&lock) == 0);
	EXPECT(!lock.tail);
	EXPECT(shim_nodes_in_use() == 0);
}

static void begin(void)
{
	nbq_X_init(&lock);
	clock_now = 1;
	shim_clock = fake_clock;
}

#define ABANDONED	(2 + ABANDONED_TAIL_STAYS)
/* Of these: behind the holder, or behind a waiter. */
#define SKIPPED	(ABANDONED - !HOLDS_NODE)

/* before: H    after: H L L, without waiters. (Hybrid: the first was the head.) */
static void abandon_two_nodes(void)
{
	struct coro first, second, third;

	start_waiting(&first, 1);
	start_waiting(&second, 2);
	start_waiting(&third, 3);
	expire_patience();
	EXPECT(coro_until_abandon(&third));
	EXPECT(coro_finish(&second) == -ETIMEDOUT);
	EXPECT(coro_finish(&first) == -ETIMEDOUT);
	EXPECT(coro_finish(&third) == -ETIMEDOUT);
	EXPECT(shim_event("nodes_abandoned") == ABANDONED);
	EXPECT(shim_nodes_in_use() == HOLDS_NODE + ABANDONED);
}

#if IS_FIFO
/* before: A L L    after: H */
static void trylock_skips_abandoned_nodes_of_free_lock(void)
{
	begin();
	nbq_X_lock(&lock);
	abandon_two_nodes();
	nbq_X_unlock(&lock);
	EXPECT(!nbq_X_is_locked(&lock));
	EXPECT(!nbq_X_is_contended(&lock));
	EXPECT(try(4));
	EXPECT(shim_event("most_skipped") == SKIPPED);
	EXPECT(shim_walks(SKIPPED) == 1);
	EXPECT(shim_event("nodes_reclaimed") == ABANDONED + HOLDS_NODE);
	EXPECT(shim_nodes_in_use() == NODES_KEPT);
	end();
}

/* H L L, H W, and A W whose waiter has not noticed: the same afterwards */
static void failing_trylock_changes_nothing(void)
{
	struct coro waiter;

	begin();
	nbq_X_lock(&lock);
	abandon_two_nodes();
	EXPECT(nbq_X_is_locked(&lock));
	EXPECT(nbq_X_is_contended(&lock));
	EXPECT(fails_reading_only(4));
	nbq_X_unlock(&lock);
	end();

	begin();
	nbq_X_lock(&lock);
	start_waiting(&waiter, 1);
	EXPECT(nbq_X_is_contended(&lock));
	EXPECT(fails_reading_only(4));
	nbq_X_unlock(&lock);
	/* The hybrid is free until the waiter has acquired it. */
	EXPECT(nbq_X_is_locked(&lock) == HOLDS_NODE);
	EXPECT(fails_reading_only(4));
	EXPECT(coro_finish(&waiter) == 0);
	end();
}
#else
/* before: A L L, free    after: the same, and H */
static void newcomer_steals_free_lock_with_abandoned_nodes(void)
{
	begin();
	nbq_X_lock(&lock);
	abandon_two_nodes();
	expire_requests();
	EXPECT(!try(4));
	nbq_X_unlock(&lock);
	EXPECT(!nbq_X_is_locked(&lock));
	EXPECT(try(4));
	EXPECT(shim_event("nodes_reclaimed") == 0);
	EXPECT(shim_nodes_in_use() == ABANDONED);
	end();
}

/* before: A L L    after: A L L W -> W */
static void waiter_skips_abandoned_nodes(void)
{
	struct coro waiter;

	begin();
	nbq_X_lock(&lock);
	abandon_two_nodes();
	start_waiting(&waiter, 4);
	EXPECT(shim_event("nodes_reclaimed") == ABANDONED);
	EXPECT(shim_nodes_in_use() == 1);
	nbq_X_unlock(&lock);
	EXPECT(coro_finish(&waiter) == 0);
	EXPECT(shim_event("most_skipped") == SKIPPED);
	EXPECT(shim_walks(SKIPPED) == 1);
	end();
}
#endif

/* before: A L L    after: [] */
static void destroy_reclaims_abandoned_nodes(void)
{
	begin();
	nbq_X_lock(&lock);
	abandon_two_nodes();
	nbq_X_unlock(&lock);
	end();
	EXPECT(shim_event("nodes_reclaimed") == ABANDONED + HOLDS_NODE);
}

/* before: A W    after: the same, then H */
static void destroy_fails_with_waiter(void)
{
	struct coro waiter;

	begin();
	test_expect_warnings(1);
	nbq_X_lock(&lock);
	start_waiting(&waiter, 1);
	EXPECT(nbq_X_is_contended(&lock));
	nbq_X_unlock(&lock);
	EXPECT(nbq_X_destroy(&lock) == -EBUSY);
	EXPECT(coro_finish(&waiter) == 0);
	end();
}

/* H W: one that has waited for so long that newcomers may not pass it any more */
static void abandon_is_bounded_after_handoff_request(void)
{
	struct coro waiter;
	unsigned int i;

	begin();
	nbq_X_lock(&lock);
	start_waiting(&waiter, 1);
	for (i = 0; i < 1100; i++)
		EXPECT(coro_until_poll(&waiter));
	EXPECT(!try(2));
	expire_patience();
	EXPECT(coro_finish(&waiter) == -ETIMEDOUT);
	nbq_X_unlock(&lock);
	EXPECT(try(2));
	end();
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
	struct coro first, back, behind;
	unsigned int accesses;

	begin();
	nbq_X_lock(&lock);
	start_without_timeout(&first, 1);
	start(&back, 2);
	back.attempts = 4;
	EXPECT(coro_until(&back, SHIM_OP_XCHG, &lock.tail));
	EXPECT(coro_until_poll(&back));
	/* With a successor the first attempt does not dequeue. */
	start_waiting(&behind, 3);
	expire_patience();
	while (!shim_event("nodes_resumed") && coro_until_poll(&back))
		EXPECT(!back.ended);
	accesses = back.lock_accesses;
	expire_patience();
	while (shim_event("nodes_resumed") < 2 && coro_until_poll(&back))
		EXPECT(!back.ended);
	/* The hybrid's accesses the lock, as those before it seem to be stalled. */
	EXPECT(!IS_FIFO || back.lock_accesses == accesses);
	EXPECT(shim_event("nodes_abandoned") == 2);
	EXPECT(coro_finish(&behind) == -ETIMEDOUT);
	nbq_X_unlock(&lock);
	EXPECT(coro_finish(&first) == 0);
	EXPECT(coro_until_held(&back));
	EXPECT(shim_event("nodes_allocated") == HOLDS_NODE + 3);
	EXPECT(coro_finish(&back) == 0);
	end();
}

/* before: H    B's node was resumed before; B abandons it as the tail. */
static void abandon_tail_with_same_node(void)
{
	unsigned int abandoned = shim_event("nodes_abandoned");
	struct coro back;

	nbq_X_lock(&lock);
	start_waiting(&back, 2);
	expire_patience();
	EXPECT(coro_finish(&back) == -ETIMEDOUT);
	EXPECT(shim_event("nodes_abandoned") == abandoned + ABANDONED_TAIL_STAYS);
	nbq_X_unlock(&lock);
	end();
}

/* before: H W B W    B abandons, resumes, and acquires, or abandons and is skipped. */
static void resumed_flag_ends_with_the_wait(void)
{
	struct coro first, back, behind;
	unsigned int leaves;

	for (leaves = 0; leaves < 2; leaves++) {
		unsigned int resumed = shim_event("nodes_resumed");

		begin();
		nbq_X_lock(&lock);
		start_without_timeout(&first, 1);
		start_waiting(&back, 2);
		start_without_timeout(&behind, 3);
		expire_patience();
		EXPECT(coro_finish(&back) == -ETIMEDOUT);
		start(&back, 2);
		EXPECT(coro_until_poll(&back));
		EXPECT(shim_event("nodes_resumed") == resumed + 1);
		if (leaves) {
			expire_patience();
			EXPECT(coro_finish(&back) == -ETIMEDOUT);
		}
		nbq_X_unlock(&lock);
		if (IS_FIFO)
			EXPECT(coro_finish(&first) == 0);
		if (!leaves)
			EXPECT(coro_finish(&back) == 0);
		EXPECT(coro_finish(&behind) == 0);
		if (!IS_FIFO)
			EXPECT(coro_finish(&first) == 0);
		abandon_tail_with_same_node();
	}
}

/* before: H W B W    B resumes, the last one abandons; the lock may keep B's node. */
static void node_kept_by_lock_is_not_resumed(void)
{
	struct coro first, back, behind;

	begin();
	nbq_X_lock(&lock);
	start_without_timeout(&first, 1);
	start_waiting(&back, 2);
	start_waiting(&behind, 3);
	expire_patience();
	EXPECT(coro_finish(&back) == -ETIMEDOUT);
	start(&back, 2);
	back.patience = KTIME_MAX;
	EXPECT(coro_until_poll(&back));
	EXPECT(shim_event("nodes_resumed") == 1);
	EXPECT(coro_finish(&behind) == -ETIMEDOUT);
	nbq_X_unlock(&lock);
	EXPECT(coro_finish(&first) == 0);
	EXPECT(coro_finish(&back) == 0);
	expect_no_place(2);
	end();
}

/* before: H W B W    B abandons, and acquires other locks before it resumes. */
static void place_survives_attempts_at_other_lock(void)
{
	struct nbq_X *other = lock_with_same_hash();
	struct coro first, back, behind;

	begin();
	nbq_X_init(other);
	nbq_X_lock(&lock);
	start_without_timeout(&first, 1);
	start_waiting(&back, 2);
	start_without_timeout(&behind, 3);
	expire_patience();
	EXPECT(coro_finish(&back) == -ETIMEDOUT);
	EXPECT(try_as(other, PATIENCE, 2, 0) == 0);
	EXPECT(try_as(other, KTIME_MAX, 2, 0) == 0);
	EXPECT(nbq_X_destroy(other) == 0);
	EXPECT(shim_event("nodes_resumed") == 0);
	start(&back, 2);
	EXPECT(coro_until_poll(&back));
	EXPECT(shim_event("nodes_resumed") == 1);
	nbq_X_unlock(&lock);
	if (IS_FIFO)
		EXPECT(coro_finish(&first) == 0);
	EXPECT(coro_finish(&back) == 0);
	EXPECT(coro_finish(&behind) == 0);
	if (!IS_FIFO)
		EXPECT(coro_finish(&first) == 0);
	end();
}

/* before: free    after: free, with an abandoned node of CPU 2 */
static void abandon_place_at(struct nbq_X *at)
{
	struct coro first, back, behind;

	nbq_X_init(at);
	nbq_X_lock(at);
	start_waiting_at(&first, 1, at);
	start_waiting_at(&back, 2, at);
	start_waiting_at(&behind, 3, at);
	expire_patience();
	EXPECT(coro_until_abandon(&behind));
	EXPECT(coro_finish(&back) == -ETIMEDOUT);
	EXPECT(coro_finish(&behind) == -ETIMEDOUT);
	EXPECT(coro_finish(&first) == -ETIMEDOUT);
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

/* The cost of a free lock does not grow with the locks at which its CPU has abandoned a place. */
static void acquisition_costs_the_same_after_timeouts_elsewhere(void)
{
	unsigned int after_one, i;

	begin();
	test_pools(64, 64);
	abandon_place_at(&others[0]);
	after_one = most_accesses();
	for (i = 1; i < 48; i++)
		abandon_place_at(&others[i]);
	EXPECT(shim_has_abandoned(2));
	EXPECT(most_accesses() == after_one);
	for (i = 0; i < 48; i++)
		EXPECT(nbq_X_destroy(&others[i]) == 0);
}

#ifdef TYPE_SWAP
/*
 * before: H W V B W    V abandons and notifies B, which abandons before it polls. V resumes; the
 * last one skips B and finds V waiting, which is not linked to it.
 */
static void abandoned_node_is_skipped_behind_resumed_one(void)
{
	struct coro first, resumed, notified, behind;

	begin();
	nbq_X_lock(&lock);
	start_without_timeout(&first, 1);
	start_waiting(&resumed, 2);
	start_waiting(&notified, 3);
	start(&behind, 4);
	behind.patience = 3LL * PATIENCE;
	EXPECT(coro_until(&behind, SHIM_OP_XCHG, &lock.tail));
	EXPECT(coro_until_poll(&behind));
	expire_patience();
	EXPECT(coro_until_abandon(&notified));
	EXPECT(coro_finish(&resumed) == -ETIMEDOUT);
	EXPECT(coro_finish(&notified) == -ETIMEDOUT);
	start(&resumed, 2);
	EXPECT(coro_until_poll(&resumed));
	EXPECT(coro_until_poll(&behind));
	EXPECT(shim_event("nodes_resumed") == 1);
	EXPECT(shim_event("nodes_reclaimed") == 1);
	nbq_X_unlock(&lock);
	EXPECT(coro_finish(&first) == 0);
	EXPECT(coro_until_poll(&behind));
	EXPECT(coro_finish(&resumed) == 0);
	EXPECT(coro_finish(&behind) == 0);
	end();
}
#endif

/* Attempts of the CPUs with abandoned nodes: none resumes one. */
static void attempt_without_resume(void)
{
	unsigned int cpu;

	nbq_X_lock(&lock);
	for (cpu = 1; cpu <= 3; cpu++) {
		struct coro back;

		start_waiting(&back, cpu);
		expire_patience();
		EXPECT(coro_finish(&back) == -ETIMEDOUT);
	}
	EXPECT(shim_event("nodes_resumed") == 0);
	nbq_X_unlock(&lock);
	EXPECT(nbq_X_destroy(&lock) == 0);
}

static void place_is_not_resumed_after_destroy(void)
{
	begin();
	nbq_X_lock(&lock);
	abandon_two_nodes();
	nbq_X_unlock(&lock);
	end();
	attempt_without_resume();
	EXPECT(shim_nodes_in_use() == 0);
}

/* A CPU that has found the lock anew may read late that its node was freed. */
static void place_is_not_resumed_where_its_free_is_seen_late(void)
{
	unsigned int cpu;

	begin();
	nbq_X_lock(&lock);
	abandon_two_nodes();
	nbq_X_unlock(&lock);
	end();
	nbq_X_lock(&lock);
	for (cpu = 1; cpu <= 3; cpu++) {
		struct coro back;

		shim_age_frees(cpu, 0, 1);
		start_waiting(&back, cpu);
		shim_age_frees(cpu, 0, -1);
		EXPECT(shim_event("nodes_resumed") == 0);
		expire_patience();
		EXPECT(coro_finish(&back) == -ETIMEDOUT);
	}
	nbq_X_unlock(&lock);
	EXPECT(nbq_X_destroy(&lock) == 0);
}

/* It should have been destroyed: its nodes are lost, but nothing else is. */
static void place_is_not_resumed_after_init(void)
{
	unsigned int lost;

	begin();
	nbq_X_lock(&lock);
	abandon_two_nodes();
	nbq_X_unlock(&lock);
	lost = shim_nodes_in_use();
	EXPECT(lost >= ABANDONED);
	begin();
	attempt_without_resume();
	EXPECT(shim_nodes_in_use() == lost);
	shim_pools_start(1, 1);
}

static struct nbq_X wiped;

static void destroy_and_wipe(struct coro *coro)
{
	EXPECT(nbq_X_destroy(coro->lock) == 0);
	memset(&wiped, 0x5a, sizeof(wiped));
	memcpy(coro->lock, &wiped, sizeof(wiped));
}

/*
 * H W: the holder stops before each access of its release in turn; the waiter acquires,
 * releases, destroys and overwrites the lock. Then the holder goes on.
 */
static void next_holder_may_free_the_lock(void)
{
	unsigned int n;
	bool stopped = true;

	for (n = 1; stopped; n++) {
		struct coro holder, waiter;

		begin();
		start(&holder, 0);
		EXPECT(coro_until_held(&holder));
		start(&waiter, 1);
		waiter.patience = KTIME_MAX;
		waiter.after_release = destroy_and_wipe;
		EXPECT(coro_until_poll(&waiter));
		stopped = coro_steps(&holder, n);
		coro_until_poll(&waiter);
		EXPECT(coro_finish(&holder) == 0);
		EXPECT(coro_finish(&waiter) == 0);
		EXPECT(!memcmp(&lock, &wiped, sizeof(lock)));
	}
}

#ifdef TYPE_SPIN
/* The hybrid's policy in polls and in time: the numbers of nbqlock/bare_spin.c once more. */

#define POLLS_BEFORE_QUEUE	16
#define PATIENT_NS		20000
#define IDLE_NS			2000
#define STALLED_NS		50000
#define CHECK_PRED_NS		100000
/* A waiter reads the clock once in so many polls, and the head within so many. */
#define POLLS_PER_TICK		64

/* Let it poll so often, or until it has the lock. Return: how often in vain. */
static unsigned int poll_times(struct coro *coro, unsigned int times)
{
	unsigned int looks;

	for (looks = 0; looks < times; looks++) {
		coro_until(coro, SHIM_OP_RELAX, CORO_ANYWHERE);
		if (coro->doing != ACQUIRING)
			break;
	}
	return looks;
}

#define IN_VAIN(coro, looks)	(poll_times(coro, looks) == (looks))
/* Until it has read the clock, and polled once more. */
#define TICKS_IN_VAIN(coro)	IN_VAIN(coro, POLLS_PER_TICK + 1)

static void start_untimed(struct coro *coro, unsigned int cpu)
{
	start(coro, cpu);
	coro->patience = KTIME_MAX;
	EXPECT(IN_VAIN(coro, POLLS_BEFORE_QUEUE + 1));
	EXPECT(nbq_X_is_contended(&lock));
}

/* A W W W: the first is stalled, and the third enqueues when it has just been stalled. */
static void steal_when_predecessor_stalled(void)
{
	struct coro first, second, third;

	begin();
	nbq_X_lock(&lock);
	start_waiting(&first, 1);
	start_waiting(&second, 2);
	clock_now += CHECK_PRED_NS - 1;
	start_waiting(&third, 3);
	nbq_X_unlock(&lock);
	EXPECT(TICKS_IN_VAIN(&second));
	clock_now++;
	EXPECT(poll_times(&second, POLLS_PER_TICK + 1) <= POLLS_PER_TICK);
	EXPECT(second.doing == HOLDING);
	/* It has abandoned its node. */
	EXPECT(shim_nodes_in_use() == 3);
	EXPECT(coro_finish(&second) == 0);
	/* The third has not waited for so long itself. */
	clock_now += STALLED_NS / 2;
	nbq_X_lock(&lock);
	EXPECT(TICKS_IN_VAIN(&third));
	nbq_X_unlock(&lock);
	EXPECT(poll_times(&third, 1) == 0);
	EXPECT(coro_finish(&third) == 0);
	EXPECT(poll_times(&first, 1) == 0);
	EXPECT(coro_finish(&first) == 0);
	end();
}

/* The lock that keeps the node of a CPU's pool is destroyed. */
static void free_node_of(unsigned int cpu, struct nbq_clh *occupant)
{
	shim_cpu = cpu;
	nbq_clh_unlock(occupant);
	EXPECT(nbq_clh_destroy(occupant) == 0);
	shim_cpu = 0;
}

/* A newcomer heeds a request for a handoff; one of a stalled head, not for long. */
static void check_newcomer_heeds_request(struct coro *waiter, struct coro *without)
{
	nbq_X_lock(&lock);
	clock_now += PATIENT_NS;
	EXPECT(TICKS_IN_VAIN(waiter));
	start(without, 2);
	nbq_X_unlock(&lock);
	EXPECT(IN_VAIN(without, 1000));
	clock_now += IDLE_NS - 1;
	EXPECT(IN_VAIN(without, 1));
	clock_now++;
	EXPECT(poll_times(without, 1) == 0);
	EXPECT(coro_finish(without) == 0);
	EXPECT(coro_finish(waiter) == 0);
}

/* An attempt whose pool is empty, beside W: on its CPU, a lock keeps the only node. */
static void waiter_without_node_stays_newcomer(void)
{
	static DEFINE_NBQ_CLH(occupant);
	struct coro waiter, without;

	begin();
	test_pools(1, 1);
	shim_cpu = 2;
	nbq_clh_lock(&occupant);
	shim_cpu = 0;
	nbq_X_lock(&lock);
	start_untimed(&waiter, 1);
	start(&without, 2);
	EXPECT(IN_VAIN(&without, 1000));
	EXPECT(shim_nodes_in_use() == 2);
	EXPECT(shim_event("exhaustions") == 1);
	nbq_X_unlock(&lock);
	EXPECT(!IN_VAIN(&without, 1));
	EXPECT(coro_finish(&without) == 0);
	check_newcomer_heeds_request(&waiter, &without);
	free_node_of(2, &occupant);
	end();
}

/* H: the lock is free when a newcomer polls it, and held when it swaps. */
static void newcomer_that_was_too_late_enqueues(void)
{
	struct coro newcomer;

	begin();
	nbq_X_lock(&lock);
	start(&newcomer, 1);
	EXPECT(coro_until_poll(&newcomer));
	nbq_X_unlock(&lock);
	EXPECT(coro_until(&newcomer, SHIM_OP_CMPXCHG, &lock.state));
	nbq_X_lock(&lock);
	EXPECT(coro_until_poll(&newcomer));
	EXPECT(coro_until_poll(&newcomer));
	EXPECT(nbq_X_is_contended(&lock));
	nbq_X_unlock(&lock);
	EXPECT(coro_finish(&newcomer) == 0);
	end();
}

/* An interrupt above a waiter of its own CPU takes the lock without it. */
static void interrupt_above_a_waiter_acts_as_head(void)
{
	struct coro waiter, interrupt;

	begin();
	nbq_X_lock(&lock);
	start_without_timeout(&waiter, 1);
	start(&interrupt, 1);
	interrupt.level = 3;
	EXPECT(coro_until(&interrupt, SHIM_OP_XCHG, &lock.tail));
	nbq_X_unlock(&lock);
	EXPECT(coro_finish(&interrupt) == 0);
	EXPECT(coro_finish(&waiter) == 0);
	end();
}

/* before: []    after: H W, and W, the head, has requested a handoff */
static void start_with_request(struct coro *waiter, unsigned int cpu)
{
	begin();
	nbq_X_lock(&lock);
	start_untimed(waiter, cpu);
	clock_now += PATIENT_NS - 1;
	EXPECT(TICKS_IN_VAIN(waiter));
	EXPECT(!has_handoff_request(&lock));
	clock_now++;
	EXPECT(TICKS_IN_VAIN(waiter));
	EXPECT(has_handoff_request(&lock));
}

/* A W, W has requested a handoff and is stalled: a newcomer steals the lock if it stays free. */
static void lock_held_in_between_is_not_idle(void)
{
	struct coro waiter, newcomer;

	start_with_request(&waiter, 1);
	start(&newcomer, 2);
	nbq_X_unlock(&lock);
	EXPECT(IN_VAIN(&newcomer, 100));
	clock_now += IDLE_NS - 1;
	EXPECT(IN_VAIN(&newcomer, 1));
	/* For a moment another context holds it, and the request stays. */
	lock.state.holder = shim_context();
	EXPECT(IN_VAIN(&newcomer, 1));
	lock.state.holder = 0;
	EXPECT(shim_nodes_in_use() == 1);
	EXPECT(IN_VAIN(&newcomer, 1));
	EXPECT(shim_nodes_in_use() == 2);
	EXPECT(coro_finish(&waiter) == 0);
	EXPECT(coro_finish(&newcomer) == 0);
	end();
}

/* H W B W: B abandons after this time and resumes; then it may steal the lock, or not. */
static void resume_behind_stalled(u64 ns, bool acts)
{
	unsigned long resumed = shim_event("nodes_resumed");
	struct coro first, back, behind;

	begin();
	nbq_X_lock(&lock);
	start_untimed(&first, 1);
	start(&back, 2);
	back.patience = 1;
	EXPECT(IN_VAIN(&back, POLLS_BEFORE_QUEUE + 1));
	start_untimed(&behind, 3);
	clock_now += ns;
	EXPECT(coro_finish(&back) == -ETIMEDOUT);
	start(&back, 2);
	EXPECT(IN_VAIN(&back, 1));
	EXPECT(shim_event("nodes_resumed") == resumed + 1);
	nbq_X_unlock(&lock);
	EXPECT(IN_VAIN(&back, 1) != acts);
	if (acts)
		EXPECT(coro_finish(&back) == 0);
	EXPECT(coro_finish(&first) == 0);
	if (!acts)
		EXPECT(coro_finish(&back) == 0);
	EXPECT(coro_finish(&behind) == 0);
	end();
}

/* At once: it may not wait for long enough to see that later. */
static void resumed_waiter_acts_for_stalled_head(void)
{
	resume_behind_stalled(STALLED_NS - 1, false);
	resume_behind_stalled(STALLED_NS, true);
}

/* H: an attempt that was too late to enqueue; the next one does so at once, and one more not. */
static void late_newcomer_enqueues_next_time(void)
{
	struct coro late;

	begin();
	nbq_X_lock(&lock);
	start(&late, 1);
	late.patience = 1;
	EXPECT(IN_VAIN(&late, 2));
	clock_now += 2;
	EXPECT(coro_finish(&late) == -ETIMEDOUT);
	EXPECT(!shim_event("nodes_allocated"));
	start(&late, 1);
	EXPECT(IN_VAIN(&late, 1));
	EXPECT(nbq_X_is_contended(&lock));
	nbq_X_unlock(&lock);
	EXPECT(coro_finish(&late) == 0);
	nbq_X_lock(&lock);
	start(&late, 1);
	EXPECT(IN_VAIN(&late, POLLS_BEFORE_QUEUE));
	EXPECT(!nbq_X_is_contended(&lock));
	nbq_X_unlock(&lock);
	EXPECT(coro_finish(&late) == 0);
	end();
}

/* H W B W: an attempt of B after the other is as one that has waited for all of that time. */
static void resumed_waiter_keeps_its_age(void)
{
	struct coro first, back, behind;

	begin();
	nbq_X_lock(&lock);
	start_waiting(&first, 1);
	start(&back, 2);
	back.patience = 1;
	EXPECT(IN_VAIN(&back, POLLS_BEFORE_QUEUE + 1));
	start_untimed(&behind, 3);
	clock_now += PATIENT_NS;
	EXPECT(coro_finish(&back) == -ETIMEDOUT);
	EXPECT(!has_handoff_request(&lock));
	start(&back, 2);
	/* first is the head; B is, when it has gone. */
	EXPECT(IN_VAIN(&back, 1));
	clock_now += PATIENCE;
	EXPECT(coro_finish(&first) == -ETIMEDOUT);
	expire_requests();
	lock.state.handoff = 0;
	clock_now = PATIENT_NS + 2;
	EXPECT(IN_VAIN(&back, 1));
	EXPECT(has_handoff_request(&lock));
	nbq_X_unlock(&lock);
	EXPECT(coro_finish(&back) == 0);
	EXPECT(coro_finish(&behind) == 0);
	end();
}

static unsigned int preempted;

static bool is_preempted(unsigned int cpu)
{
	return cpu == SHIM_CPU_NUMBER(preempted);
}

/* A W W: vcpu_is_preempted() says so of the first */
static void steal_when_vcpu_of_predecessor_preempted(void)
{
	struct coro first, second;

	begin();
	nbq_X_lock(&lock);
	start_waiting(&first, 1);
	start_waiting(&second, 2);
	clock_now += CHECK_PRED_NS - 1;
	EXPECT(TICKS_IN_VAIN(&first));
	EXPECT(TICKS_IN_VAIN(&second));
	nbq_X_unlock(&lock);
	preempted = 1;
	shim_vcpu_is_preempted = is_preempted;
	clock_now++;
	EXPECT(poll_times(&second, POLLS_PER_TICK + 1) <= POLLS_PER_TICK);
	shim_vcpu_is_preempted = NULL;
	EXPECT(coro_finish(&second) == 0);
	EXPECT(coro_finish(&first) == 0);
	end();
}

#endif

static unsigned int next_random(unsigned int *state)
{
	*state = *state * 1103515245 + 12345;
	return *state >> 16;
}

#define CONTEXTS	5
/* Accesses in a critical section: more for newcomers, which poll before they enqueue. */
#define CRITICAL_SECTION	(IS_FIFO ? 1 : 12)

/* The second is an interrupt on the CPU of the first, with the same pool. */
static const unsigned int cpu_of[CONTEXTS] = { 0, 0, 1, 2, 3 };
#define INTERRUPTED	0
#define INTERRUPT	1

/* After that waiters of the hybrid request a handoff, and some are stalled. */
#define SOME_NS		60000

static struct coro contexts[CONTEXTS];
static bool running[CONTEXTS];
static struct coro *last_user;
static unsigned int requests;	/* turns at whose end newcomers had to queue */

static bool has_released_last(const struct coro *coro)
{
	return coro->ended || (coro->doing == RELEASING && !coro->attempts);
}

/* Mutual exclusion; and the last user is known. */
static void check_exclusion(struct coro *self)
{
	unsigned int i, done = 0;

	for (i = 0; i < CRITICAL_SECTION; i++)
		shim_point(SHIM_OP_RELAX, self);
	for (i = 0; i < CONTEXTS; i++) {
		EXPECT(&contexts[i] == self || contexts[i].doing != HOLDING);
		done += has_released_last(&contexts[i]);
	}
	if (done == CONTEXTS - 1 && !self->attempts)
		last_user = self;
}

static void destroy_if_last(struct coro *self)
{
	if (self == last_user)
		destroy_and_wipe(self);
}

static void start_contexts(unsigned int *seed)
{
	unsigned int i;

	last_user = NULL;
	for (i = 0; i < CONTEXTS; i++) {
		start(&contexts[i], cpu_of[i]);
		contexts[i].attempts = 1 + next_random(seed) % 3;
		if (next_random(seed) % 4 == 0)
			contexts[i].patience = 0;
		contexts[i].critical_section = check_exclusion;
		contexts[i].after_release = destroy_if_last;
		running[i] = false;
	}
}

/*
 * Up to three accesses; but a waiter of the hybrid now and then makes as many as it takes to
 * enqueue, to read the clock, to act for the head, to request a handoff.
 */
static unsigned int accesses_of_turn(const struct coro *coro, unsigned int *seed)
{
	static const unsigned int long_turns[] = { 100, 100, 100, 100, 100, 100, 400, 6000 };
	unsigned int accesses = 1 + next_random(seed) % 3;

	if (!IS_FIFO && coro->doing == ACQUIRING && next_random(seed) % 8 == 0)
		accesses = long_turns[next_random(seed) % 8];
	return accesses;
}

/* Turns of one of them, to the end of all. */
static void run_contexts(unsigned int *seed)
{
	unsigned int left = CONTEXTS;

	while (left) {
		unsigned int i = next_random(seed) % CONTEXTS;
		unsigned int steps = accesses_of_turn(&contexts[i], seed);

		if (contexts[i].ended || (i == INTERRUPTED && running[INTERRUPT]))
			continue;
		if (next_random(seed) % 32 == 0)
			expire_patience();
		else if (next_random(seed) % 8 == 0)
			clock_now += SOME_NS;
		running[i] = coro_steps(&contexts[i], steps);
		requests += !last_user && has_handoff_request(&lock);
		left -= !running[i];
	}
}

/*
 * Five contexts on four CPUs with the smallest pools, in a random interleaving; time passes now
 * and then. The result does not depend on it: mutual exclusion, no lost node, and no access to
 * the lock after another context could destroy it.
 */
static void random_interleavings_keep_exclusion_and_nodes(void)
{
	unsigned int round, i, got = 0, wiped_locks = 0, abandoned = 0;

	for (round = 0; round < ROUNDS; round++) {
		unsigned int seed = round;

		if (round % (ROUNDS / 3) == 0) {
			unsigned int nodes = 3 - round / (ROUNDS / 3);

			EXPECT(shim_event("nodes_allocated") ==
			       shim_event("nodes_freed") +
			       shim_event("nodes_reclaimed"));
			abandoned += shim_event("nodes_abandoned");
			test_pools(nodes, nodes);
		}
		begin();
		start_contexts(&seed);
		run_contexts(&seed);
		for (i = 0; i < CONTEXTS; i++) {
			got += contexts[i].acquired;
			coro_finish(&contexts[i]);
		}
		if (last_user) {
			EXPECT(!memcmp(&lock, &wiped, sizeof(lock)));
			EXPECT(shim_nodes_in_use() == 0);
			wiped_locks++;
		} else {
			EXPECT(try(4));
			end();
		}
	}
	EXPECT(got > round);
	EXPECT(wiped_locks > round / 8);
	EXPECT(shim_event("timeouts") + shim_event("failed_tries") > round / 4);
	/* Attempts without patience abandon none where they find it held. */
	EXPECT(abandoned > round / 16);
	EXPECT(shim_event("exhaustions") > 0);
	EXPECT(IS_FIFO ? requests == 0 : requests > round);
	/* The algorithm's file promises no less than what is needed. */
	EXPECT(coro_most_steps_to_abandon == STEPS_TO_ABANDON);
	EXPECT(coro_most_steps_to_release == STEPS_TO_RELEASE);
}

int main(void)
{
	static const struct test_case cases[] = {
#if IS_FIFO
		TEST_CASE(trylock_skips_abandoned_nodes_of_free_lock),
		TEST_CASE(failing_trylock_changes_nothing),
#else
		TEST_CASE(newcomer_steals_free_lock_with_abandoned_nodes),
		TEST_CASE(waiter_skips_abandoned_nodes),
#endif
		TEST_CASE(destroy_reclaims_abandoned_nodes),
		TEST_CASE(destroy_fails_with_waiter),
		TEST_CASE(abandon_is_bounded_after_handoff_request),
		TEST_CASE(resumed_waiter_does_not_access_lock),
		TEST_CASE(resumed_flag_ends_with_the_wait),
		TEST_CASE(node_kept_by_lock_is_not_resumed),
		TEST_CASE(place_survives_attempts_at_other_lock),
		TEST_CASE(acquisition_costs_the_same_after_timeouts_elsewhere),
#ifdef TYPE_SWAP
		TEST_CASE(abandoned_node_is_skipped_behind_resumed_one),
#endif
		TEST_CASE(place_is_not_resumed_after_destroy),
		TEST_CASE(place_is_not_resumed_where_its_free_is_seen_late),
		TEST_CASE(place_is_not_resumed_after_init),
		TEST_CASE(next_holder_may_free_the_lock),
#ifdef TYPE_SPIN
		TEST_CASE(steal_when_predecessor_stalled),
		TEST_CASE(waiter_without_node_stays_newcomer),
		TEST_CASE(newcomer_that_was_too_late_enqueues),
		TEST_CASE(interrupt_above_a_waiter_acts_as_head),
		TEST_CASE(lock_held_in_between_is_not_idle),
		TEST_CASE(resumed_waiter_acts_for_stalled_head),
		TEST_CASE(late_newcomer_enqueues_next_time),
		TEST_CASE(resumed_waiter_keeps_its_age),
		TEST_CASE(steal_when_vcpu_of_predecessor_preempted),
#endif
		TEST_CASE(random_interleavings_keep_exclusion_and_nodes),
	};

	return test_main(cases, sizeof(cases) / sizeof(cases[0]), 10);
}
