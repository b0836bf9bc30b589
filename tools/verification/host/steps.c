// SPDX-License-Identifier: GPL-2.0
/*
 * Interleavings laid out by hand: several CPUs, one access at a time.
 *
 * A queue is drawn as in the algorithms' files: H holds, W waits, L has left, A
 * has handed over; the tail is on the right. Where leaving at the tail leaves a
 * node behind (type.h), an L more is there than drawn.
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

/* All who wait now have run out of patience when they look next. */
static void expire_patience(void)
{
	clock_now += 2 * PATIENCE;
}

#if !IS_FIFO
/* A head that has timed out may have asked newcomers to queue. */
static void expire_requests(void)
{
	clock_now += 2 * NBQ_SPIN_HANDOFF_NS;
}
#endif

static void start(struct coro *coro, unsigned int cpu)
{
	memset(coro, 0, sizeof(*coro));
	coro->lock = &lock;
	coro->cpu = cpu;
	coro->patience = PATIENCE;
	coro->attempts = 1;
	coro_start(coro);
}

/* It looks at its predecessor in vain, in the queue: some look at the lock before. */
static void start_waiting(struct coro *coro, unsigned int cpu)
{
	start(coro, cpu);
	EXPECT(coro_until(coro, SHIM_OP_XCHG, &lock.tail));
	EXPECT(coro_until_poll(coro));
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
/* Of these: who stood in front of them was the holder, or one that had waited. */
#define SKIPPED	(ABANDONED - !HOLDS_NODE)

/* before: H    after: H L L, and nobody waits. (Hybrid: the first was the head.) */
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
/* before: A L L, and nobody holds    after: the same, and H */
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

/* A lock of whose places, and of lock's, a pool notes the same bit */
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
 * An attempt of this CPU that looks for places in vain: it has none any more, although a lock
 * at rest may keep its node.
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
 * before: H W B    B leaves twice after it has come back: it stays in the queue, and leaves the
 * lock's line alone. Then it gets the lock, and waits and leaves as the tail once more.
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
	/* One that stands behind does not let the first attempt go as the tail. */
	start_waiting(&behind, 3);
	expire_patience();
	while (!shim_event("nodes_resumed") && coro_until_poll(&back))
		EXPECT(!back.ended);
	accesses = back.lock_accesses;
	expire_patience();
	while (shim_event("nodes_resumed") < 2 && coro_until_poll(&back))
		EXPECT(!back.ended);
	/* One that others may pass looks at the lock, as those in front seem to be stalled. */
	EXPECT(!IS_FIFO || back.lock_accesses == accesses);
	EXPECT(shim_event("nodes_abandoned") == 2);
	EXPECT(coro_finish(&behind) == -ETIMEDOUT);
	nbq_X_unlock(&lock);
	EXPECT(coro_finish(&first) == 0);
	EXPECT(coro_until_held(&back));
	EXPECT(shim_event("nodes_allocated") == ALLOCS_NODE + 3);
	EXPECT(coro_finish(&back) == 0);
	end();
}

/* before: H    Its CPU has resumed before with the node that B has; B leaves as the tail. */
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

/* before: H W B W    B leaves, comes back, and gets the lock, or leaves and is skipped. */
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

/* before: H W B W    B comes back, the last one leaves; B's node may rest with the lock. */
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

/* before: H W B W    B leaves, and uses other locks before it comes back */
static void place_survives_attempts_at_other_lock(void)
{
	struct nbq_X *other = lock_with_same_hash();
	struct coro first, back, behind;

	begin();
	nbq_X_lock(&lock);
	start_without_timeout(&first, 1);
	start_waiting(&back, 2);
	start_without_timeout(&behind, 3);
	expire_patience();
	EXPECT(coro_finish(&back) == -ETIMEDOUT);
	nbq_X_init(other);
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

/* Attempts of the CPUs whose nodes abandon_two_nodes() leaves: none resumes one. */
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
 * H W: the holder stops before each of its accesses in turn, and the waiter
 * goes as far as it can: it takes the lock, releases it, destroys it and wipes
 * its memory. Then the holder goes on.
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

#ifdef TYPE_IS_HYBRID
/*
 * Who may take a free hybrid lock, and from when on: in polls and in time, of which
 * nbqlock/spin.c has the numbers. They are part of what is promised, so given once more.
 */

#define POLLS_BEFORE_QUEUE		(IS_FIFO ? 0 : 16)
#define PATIENT_NS		20000
#define IDLE_NS			2000
#define STALLED_NS		50000
#define CHECK_PRED_NS		100000
/* A waiter reads the clock once in so many polls, and the head within so many. */
#define POLLS_PER_TICK		64
/* One without a node searches its pool once in so many. */
#define POLLS_PER_SEARCH	16

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

/* A W W W: the first does not run, and the third comes when it has not for long */
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
	if (IS_FIFO) {
		EXPECT(TICKS_IN_VAIN(&second));
		EXPECT(TICKS_IN_VAIN(&third));
		EXPECT(coro_finish(&first) == 0);
		EXPECT(coro_finish(&second) == 0);
	} else {
		EXPECT(poll_times(&second, POLLS_PER_TICK + 1) <= POLLS_PER_TICK);
		EXPECT(second.doing == HOLDING);
		/* It has left the queue, and its node there. */
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
		return;
	}
	EXPECT(coro_finish(&third) == 0);
	end();
}

/* The lock that keeps the node of a CPU's pool gives it back. */
static void free_node_of(unsigned int cpu, struct nbq_clh *occupant)
{
	shim_cpu = cpu;
	nbq_clh_unlock(occupant);
	EXPECT(nbq_clh_destroy(occupant) == 0);
	shim_cpu = 0;
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
	if (IS_FIFO) {
		EXPECT(IN_VAIN(&without, 1000));
		EXPECT(coro_finish(&waiter) == 0);
	}
	if (QUEUES_IF_FREE) {
		EXPECT(IN_VAIN(&without, 1000));
		free_node_of(2, &occupant);
	}
	EXPECT(!IN_VAIN(&without, QUEUES_IF_FREE ? POLLS_PER_SEARCH : 1));
	EXPECT(coro_finish(&without) == 0);
	if (!IS_FIFO) {
		/* It respects who has asked for it; one that does not run, not for long. */
		nbq_X_lock(&lock);
		clock_now += PATIENT_NS;
		EXPECT(TICKS_IN_VAIN(&waiter));
		start(&without, 2);
		nbq_X_unlock(&lock);
		EXPECT(IN_VAIN(&without, 1000));
		clock_now += IDLE_NS - 1;
		EXPECT(IN_VAIN(&without, 1));
		clock_now++;
		EXPECT(poll_times(&without, 1) == 0);
		EXPECT(coro_finish(&without) == 0);
		EXPECT(coro_finish(&waiter) == 0);
	}
	if (!QUEUES_IF_FREE)
		free_node_of(2, &occupant);
	end();
}

#if !IS_FIFO
/* before: []    after: H W, and W, the head, has asked newcomers to queue */
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

/* A W, W has asked for the lock and does not run: a newcomer takes it when it stays free */
static void lock_held_in_between_is_not_idle(void)
{
	struct coro waiter, newcomer;

	start_with_request(&waiter, 1);
	start(&newcomer, 2);
	nbq_X_unlock(&lock);
	EXPECT(IN_VAIN(&newcomer, 100));
	clock_now += IDLE_NS - 1;
	EXPECT(IN_VAIN(&newcomer, 1));
	/* For a moment another one has it, and the request stands. */
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

/* H W B W: B leaves after so long, and comes back; then it may take the lock, or not. */
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

/* A W W: the hypervisor says that the CPU of the first is preempted */
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

#endif

static unsigned int next_random(unsigned int *state)
{
	*state = *state * 1103515245 + 12345;
	return *state >> 16;
}

#define CONTEXTS	5
/* Accesses during which others find it held: more, where they look before they queue. */
#define CRITICAL_SECTION	(IS_FIFO ? 1 : 12)

/* The second comes as an interrupt on the CPU of the first, on the same pool. */
static const unsigned int cpu_of[CONTEXTS] = { 0, 0, 1, 2, 3 };
#define INTERRUPTED	0
#define INTERRUPT	1

/* Waiters of the hybrid ask newcomers to queue after that, and some are stalled. */
#define SOME_NS		60000

static struct coro contexts[CONTEXTS];
static bool running[CONTEXTS];
static struct coro *last_user;
static unsigned int requests;	/* turns at whose end newcomers had to queue */

static bool has_released_last(const struct coro *coro)
{
	return coro->ended || (coro->doing == RELEASING && !coro->attempts);
}

/* Mutual exclusion; and whoever comes last knows that it does. */
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
 * Up to three accesses. But one that waits, where waiters look often before they do anything
 * but look, now and then makes as many as that takes: to enter the queue, to read the clock,
 * to act for the head, to have newcomers queue.
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
 * Five contexts on four CPUs and the smallest pools, each access by one chosen
 * at random; time passes now and then. What each does in the end must not
 * depend on it: one owner at a time, all nodes back, and no access to the lock
 * after somebody else could destroy it.
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
		TEST_CASE(place_is_not_resumed_after_destroy),
		TEST_CASE(place_is_not_resumed_after_init),
		TEST_CASE(next_holder_may_free_the_lock),
#ifdef TYPE_IS_HYBRID
		TEST_CASE(steal_when_predecessor_stalled),
		TEST_CASE(waiter_without_node_stays_newcomer),
	#if !IS_FIFO
		TEST_CASE(lock_held_in_between_is_not_idle),
		TEST_CASE(resumed_waiter_acts_for_stalled_head),
		TEST_CASE(late_newcomer_enqueues_next_time),
		TEST_CASE(resumed_waiter_keeps_its_age),
		TEST_CASE(steal_when_vcpu_of_predecessor_preempted),
	#endif
#endif
		TEST_CASE(random_interleavings_keep_exclusion_and_nodes),
	};

	return test_main(cases, sizeof(cases) / sizeof(cases[0]), 10);
}
