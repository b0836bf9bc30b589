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

#include "actor.h"
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
static void let_patience_pass(void)
{
	clock_now += 2 * PATIENCE;
}

#if !IS_FIFO
/* A head that has timed out may have asked newcomers to queue. */
static void let_requests_expire(void)
{
	clock_now += 2 * NBQ_SPIN_HANDOFF_NS;
}
#endif

static void start(struct actor *actor, unsigned int cpu)
{
	memset(actor, 0, sizeof(*actor));
	actor->lock = &lock;
	actor->cpu = cpu;
	actor->patience = PATIENCE;
	actor->attempts = 1;
	actor_start(actor);
}

/* It looks at its predecessor in vain, in the queue: some look at the lock before. */
static void start_waiting(struct actor *actor, unsigned int cpu)
{
	start(actor, cpu);
	EXPECT(actor_until(actor, SHIM_OP_XCHG, &lock.tail));
	EXPECT(actor_until_it_polls(actor));
}

/* The same, and it never runs out of patience. */
static void start_patient(struct actor *actor, unsigned int cpu)
{
	start(actor, cpu);
	actor->patience = KTIME_MAX;
	EXPECT(actor_until(actor, SHIM_OP_XCHG, &lock.tail));
	EXPECT(actor_until_it_polls(actor));
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
static __attribute__((__unused__)) bool try_in_vain(unsigned int cpu)
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

#define ABANDONED	(2 + LEAVER_AT_TAIL_STAYS)
/* Of these: who stood in front of them was the holder, or one that had waited. */
#define WALKED_OVER	(ABANDONED - !HOLDS_NODE)

/* before: H    after: H L L, and nobody waits. (Hybrid: the first was the head.) */
static void abandon_two_nodes(void)
{
	struct actor first, second, third;

	start_waiting(&first, 1);
	start_waiting(&second, 2);
	start_waiting(&third, 3);
	let_patience_pass();
	EXPECT(actor_until_it_leaves(&third));
	EXPECT(actor_finish(&second) == -ETIMEDOUT);
	EXPECT(actor_finish(&first) == -ETIMEDOUT);
	EXPECT(actor_finish(&third) == -ETIMEDOUT);
	EXPECT(shim_event("nodes_abandoned") == ABANDONED);
	EXPECT(shim_nodes_in_use() == HOLDS_NODE + ABANDONED);
}

#if IS_FIFO
/* before: A L L    after: H */
static void trylock_walks_over_abandoned_nodes_to_a_free_lock(void)
{
	begin();
	nbq_X_lock(&lock);
	abandon_two_nodes();
	nbq_X_unlock(&lock);
	EXPECT(!nbq_X_is_locked(&lock));
	EXPECT(!nbq_X_is_contended(&lock));
	EXPECT(try(4));
	EXPECT(shim_event("most_skipped") == WALKED_OVER);
	EXPECT(shim_walks(WALKED_OVER) == 1);
	EXPECT(shim_event("nodes_reclaimed") == ABANDONED + HOLDS_NODE);
	EXPECT(shim_nodes_in_use() == NODES_AT_REST);
	end();
}

/* H L L, H W, and A W whose waiter has not noticed: the same afterwards */
static void failing_try_changes_neither_lock_nor_node(void)
{
	struct actor waiter;

	begin();
	nbq_X_lock(&lock);
	abandon_two_nodes();
	EXPECT(nbq_X_is_locked(&lock));
	EXPECT(nbq_X_is_contended(&lock));
	EXPECT(try_in_vain(4));
	nbq_X_unlock(&lock);
	end();

	begin();
	nbq_X_lock(&lock);
	start_waiting(&waiter, 1);
	EXPECT(nbq_X_is_contended(&lock));
	EXPECT(try_in_vain(4));
	nbq_X_unlock(&lock);
	/* The hybrid is free until the waiter has acquired it. */
	EXPECT(nbq_X_is_locked(&lock) == HOLDS_NODE);
	EXPECT(try_in_vain(4));
	EXPECT(actor_finish(&waiter) == 0);
	end();
}
#else
/* before: A L L, and nobody holds    after: the same, and H */
static void newcomer_takes_a_free_lock_past_abandoned_nodes(void)
{
	begin();
	nbq_X_lock(&lock);
	abandon_two_nodes();
	let_requests_expire();
	EXPECT(!try(4));
	nbq_X_unlock(&lock);
	EXPECT(!nbq_X_is_locked(&lock));
	EXPECT(try(4));
	EXPECT(shim_event("nodes_reclaimed") == 0);
	EXPECT(shim_nodes_in_use() == ABANDONED);
	end();
}

/* before: A L L    after: A L L W -> W */
static void waiter_walks_over_abandoned_nodes(void)
{
	struct actor waiter;

	begin();
	nbq_X_lock(&lock);
	abandon_two_nodes();
	start_waiting(&waiter, 4);
	EXPECT(shim_event("nodes_reclaimed") == ABANDONED);
	EXPECT(shim_nodes_in_use() == 1);
	nbq_X_unlock(&lock);
	EXPECT(actor_finish(&waiter) == 0);
	EXPECT(shim_event("most_skipped") == WALKED_OVER);
	EXPECT(shim_walks(WALKED_OVER) == 1);
	end();
}
#endif

/* before: A L L    after: [] */
static void destroy_gives_abandoned_nodes_back(void)
{
	begin();
	nbq_X_lock(&lock);
	abandon_two_nodes();
	nbq_X_unlock(&lock);
	end();
	EXPECT(shim_event("nodes_reclaimed") == ABANDONED + HOLDS_NODE);
}

/* before: A W    after: the same, then H */
static void destroy_of_a_lock_with_a_waiter_is_refused(void)
{
	struct actor waiter;

	begin();
	test_expect_warnings(1);
	nbq_X_lock(&lock);
	start_waiting(&waiter, 1);
	EXPECT(nbq_X_is_contended(&lock));
	nbq_X_unlock(&lock);
	EXPECT(nbq_X_destroy(&lock) == -EBUSY);
	EXPECT(actor_finish(&waiter) == 0);
	end();
}

/* H W: one that has waited for so long that newcomers may not pass it any more */
static void waiter_of_long_standing_leaves_in_as_few_steps(void)
{
	struct actor waiter;
	unsigned int i;

	begin();
	nbq_X_lock(&lock);
	start_waiting(&waiter, 1);
	for (i = 0; i < 1100; i++)
		EXPECT(actor_until_it_polls(&waiter));
	EXPECT(!try(2));
	let_patience_pass();
	EXPECT(actor_finish(&waiter) == -ETIMEDOUT);
	nbq_X_unlock(&lock);
	EXPECT(try(2));
	end();
}

/* A lock of whose places, and of lock's, a pool notes the same bit */
static struct nbq_X others[4096];

static struct nbq_X *lock_that_is_noted_as_the_same(void)
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
static void look_for_places_once_more(unsigned int cpu)
{
	struct nbq_X *other = lock_that_is_noted_as_the_same();

	nbq_X_init(other);
	EXPECT(try_as(other, PATIENCE, cpu, 0) == 0);
	EXPECT(!shim_has_abandoned(cpu));
	EXPECT(nbq_X_destroy(other) == 0);
}

/*
 * before: H W B    B leaves twice after it has come back: it stays in the queue, and leaves the
 * lock's line alone. Then it gets the lock, and waits and leaves as the tail once more.
 */
static void one_that_comes_back_again_and_again_leaves_the_lock_alone(void)
{
	struct actor first, back, behind;
	unsigned int accesses;

	begin();
	nbq_X_lock(&lock);
	start_patient(&first, 1);
	start(&back, 2);
	back.attempts = 4;
	EXPECT(actor_until(&back, SHIM_OP_XCHG, &lock.tail));
	EXPECT(actor_until_it_polls(&back));
	/* One that stands behind does not let the first attempt go as the tail. */
	start_waiting(&behind, 3);
	let_patience_pass();
	while (!shim_event("nodes_resumed") && actor_until_it_polls(&back))
		EXPECT(!back.ended);
	accesses = back.lock_accesses;
	let_patience_pass();
	while (shim_event("nodes_resumed") < 2 && actor_until_it_polls(&back))
		EXPECT(!back.ended);
	/* One that others may pass looks at the lock, as those in front seem to be stalled. */
	EXPECT(!IS_FIFO || back.lock_accesses == accesses);
	EXPECT(shim_event("nodes_abandoned") == 2);
	EXPECT(actor_finish(&behind) == -ETIMEDOUT);
	nbq_X_unlock(&lock);
	EXPECT(actor_finish(&first) == 0);
	EXPECT(actor_until_it_holds(&back));
	EXPECT(shim_event("nodes_allocated") == TAKES_NODE + 3);
	EXPECT(actor_finish(&back) == 0);
	end();
}

/* before: H    Its CPU has resumed before with the node that B has; B leaves as the tail. */
static void leave_as_the_tail_with_a_node_as_new(void)
{
	unsigned int abandoned = shim_event("nodes_abandoned");
	struct actor back;

	nbq_X_lock(&lock);
	start_waiting(&back, 2);
	let_patience_pass();
	EXPECT(actor_finish(&back) == -ETIMEDOUT);
	EXPECT(shim_event("nodes_abandoned") == abandoned + LEAVER_AT_TAIL_STAYS);
	nbq_X_unlock(&lock);
	end();
}

/* before: H W B W    B leaves, comes back, and gets the lock, or leaves and is skipped. */
static void node_of_one_that_came_back_is_as_new(void)
{
	struct actor first, back, behind;
	unsigned int leaves;

	for (leaves = 0; leaves < 2; leaves++) {
		unsigned int resumed = shim_event("nodes_resumed");

		begin();
		nbq_X_lock(&lock);
		start_patient(&first, 1);
		start_waiting(&back, 2);
		start_patient(&behind, 3);
		let_patience_pass();
		EXPECT(actor_finish(&back) == -ETIMEDOUT);
		start(&back, 2);
		EXPECT(actor_until_it_polls(&back));
		EXPECT(shim_event("nodes_resumed") == resumed + 1);
		if (leaves) {
			let_patience_pass();
			EXPECT(actor_finish(&back) == -ETIMEDOUT);
		}
		nbq_X_unlock(&lock);
		if (IS_FIFO)
			EXPECT(actor_finish(&first) == 0);
		if (!leaves)
			EXPECT(actor_finish(&back) == 0);
		EXPECT(actor_finish(&behind) == 0);
		if (!IS_FIFO)
			EXPECT(actor_finish(&first) == 0);
		leave_as_the_tail_with_a_node_as_new();
	}
}

/* before: H W B W    B comes back, the last one leaves; B's node may rest with the lock. */
static void node_that_rests_after_it_was_resumed_is_no_place(void)
{
	struct actor first, back, behind;

	begin();
	nbq_X_lock(&lock);
	start_patient(&first, 1);
	start_waiting(&back, 2);
	start_waiting(&behind, 3);
	let_patience_pass();
	EXPECT(actor_finish(&back) == -ETIMEDOUT);
	start(&back, 2);
	back.patience = KTIME_MAX;
	EXPECT(actor_until_it_polls(&back));
	EXPECT(shim_event("nodes_resumed") == 1);
	EXPECT(actor_finish(&behind) == -ETIMEDOUT);
	nbq_X_unlock(&lock);
	EXPECT(actor_finish(&first) == 0);
	EXPECT(actor_finish(&back) == 0);
	look_for_places_once_more(2);
	end();
}

/* before: H W B W    B leaves, and uses other locks before it comes back */
static void other_locks_do_not_touch_a_place(void)
{
	struct nbq_X *other = lock_that_is_noted_as_the_same();
	struct actor first, back, behind;

	begin();
	nbq_X_lock(&lock);
	start_patient(&first, 1);
	start_waiting(&back, 2);
	start_patient(&behind, 3);
	let_patience_pass();
	EXPECT(actor_finish(&back) == -ETIMEDOUT);
	nbq_X_init(other);
	EXPECT(try_as(other, PATIENCE, 2, 0) == 0);
	EXPECT(try_as(other, KTIME_MAX, 2, 0) == 0);
	EXPECT(nbq_X_destroy(other) == 0);
	EXPECT(shim_event("nodes_resumed") == 0);
	start(&back, 2);
	EXPECT(actor_until_it_polls(&back));
	EXPECT(shim_event("nodes_resumed") == 1);
	nbq_X_unlock(&lock);
	if (IS_FIFO)
		EXPECT(actor_finish(&first) == 0);
	EXPECT(actor_finish(&back) == 0);
	EXPECT(actor_finish(&behind) == 0);
	if (!IS_FIFO)
		EXPECT(actor_finish(&first) == 0);
	end();
}

/* Attempts of the CPUs whose nodes abandon_two_nodes() leaves: none resumes one. */
static void come_back_to_a_lock_of_after(void)
{
	unsigned int cpu;

	nbq_X_lock(&lock);
	for (cpu = 1; cpu <= 3; cpu++) {
		struct actor back;

		start_waiting(&back, cpu);
		let_patience_pass();
		EXPECT(actor_finish(&back) == -ETIMEDOUT);
	}
	EXPECT(shim_event("nodes_resumed") == 0);
	nbq_X_unlock(&lock);
	EXPECT(nbq_X_destroy(&lock) == 0);
}

static void place_in_a_lock_that_was_destroyed_is_not_resumed(void)
{
	begin();
	nbq_X_lock(&lock);
	abandon_two_nodes();
	nbq_X_unlock(&lock);
	end();
	come_back_to_a_lock_of_after();
	EXPECT(shim_nodes_in_use() == 0);
}

/* It should have been destroyed: its nodes are lost, but nothing else is. */
static void place_in_a_lock_that_was_made_anew_is_not_resumed(void)
{
	unsigned int lost;

	begin();
	nbq_X_lock(&lock);
	abandon_two_nodes();
	nbq_X_unlock(&lock);
	lost = shim_nodes_in_use();
	EXPECT(lost >= ABANDONED);
	begin();
	come_back_to_a_lock_of_after();
	EXPECT(shim_nodes_in_use() == lost);
	shim_pools_start(1, 1);
}

static struct nbq_X wiped;

static void destroy_and_wipe(struct actor *actor)
{
	EXPECT(nbq_X_destroy(actor->lock) == 0);
	memset(&wiped, 0x5a, sizeof(wiped));
	memcpy(actor->lock, &wiped, sizeof(wiped));
}

/*
 * H W: the holder stops before each of its accesses in turn, and the waiter
 * goes as far as it can: it takes the lock, releases it, destroys it and wipes
 * its memory. Then the holder goes on.
 */
static void next_owner_may_destroy_the_lock_at_once(void)
{
	unsigned int n;
	bool stopped = true;

	for (n = 1; stopped; n++) {
		struct actor holder, waiter;

		begin();
		start(&holder, 0);
		EXPECT(actor_until_it_holds(&holder));
		start(&waiter, 1);
		waiter.patience = KTIME_MAX;
		waiter.out_of_lock = destroy_and_wipe;
		EXPECT(actor_until_it_polls(&waiter));
		stopped = actor_steps(&holder, n);
		actor_until_it_polls(&waiter);
		EXPECT(actor_finish(&holder) == 0);
		EXPECT(actor_finish(&waiter) == 0);
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
static unsigned int look(struct actor *actor, unsigned int times)
{
	unsigned int looks;

	for (looks = 0; looks < times; looks++) {
		actor_until(actor, SHIM_OP_RELAX, ACTOR_ANYWHERE);
		if (actor->doing != ACQUIRING)
			break;
	}
	return looks;
}

#define IN_VAIN(actor, looks)	(look(actor, looks) == (looks))
/* Until it has read the clock, and polled once more. */
#define TICKS_IN_VAIN(actor)	IN_VAIN(actor, POLLS_PER_TICK + 1)

static void start_waiting_for_ever(struct actor *actor, unsigned int cpu)
{
	start(actor, cpu);
	actor->patience = KTIME_MAX;
	EXPECT(IN_VAIN(actor, POLLS_BEFORE_QUEUE + 1));
	EXPECT(nbq_X_is_contended(&lock));
}

/* A W W W: the first does not run, and the third comes when it has not for long */
static void acting_head_takes_the_lock_and_its_successor_is_the_next_to_act(void)
{
	struct actor first, second, third;

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
		EXPECT(actor_finish(&first) == 0);
		EXPECT(actor_finish(&second) == 0);
	} else {
		EXPECT(look(&second, POLLS_PER_TICK + 1) <= POLLS_PER_TICK);
		EXPECT(second.doing == HOLDING);
		/* It has left the queue, and its node there. */
		EXPECT(shim_nodes_in_use() == 3);
		EXPECT(actor_finish(&second) == 0);
		/* The third has not waited for so long itself. */
		clock_now += STALLED_NS / 2;
		nbq_X_lock(&lock);
		EXPECT(TICKS_IN_VAIN(&third));
		nbq_X_unlock(&lock);
		EXPECT(look(&third, 1) == 0);
		EXPECT(actor_finish(&third) == 0);
		EXPECT(look(&first, 1) == 0);
		EXPECT(actor_finish(&first) == 0);
		end();
		return;
	}
	EXPECT(actor_finish(&third) == 0);
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
static void one_without_a_node_waits_as_a_newcomer(void)
{
	static DEFINE_NBQ_CLH(occupant);
	struct actor waiter, without;

	begin();
	test_pools(1, 1);
	shim_cpu = 2;
	nbq_clh_lock(&occupant);
	shim_cpu = 0;
	nbq_X_lock(&lock);
	start_waiting_for_ever(&waiter, 1);
	start(&without, 2);
	EXPECT(IN_VAIN(&without, 1000));
	EXPECT(shim_nodes_in_use() == 2);
	EXPECT(shim_event("exhaustions") == 1);
	nbq_X_unlock(&lock);
	if (IS_FIFO) {
		EXPECT(IN_VAIN(&without, 1000));
		EXPECT(actor_finish(&waiter) == 0);
	}
	if (QUEUES_IF_FREE) {
		EXPECT(IN_VAIN(&without, 1000));
		free_node_of(2, &occupant);
	}
	EXPECT(!IN_VAIN(&without, QUEUES_IF_FREE ? POLLS_PER_SEARCH : 1));
	EXPECT(actor_finish(&without) == 0);
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
		EXPECT(look(&without, 1) == 0);
		EXPECT(actor_finish(&without) == 0);
		EXPECT(actor_finish(&waiter) == 0);
	}
	if (!QUEUES_IF_FREE)
		free_node_of(2, &occupant);
	end();
}

#if !IS_FIFO
/* before: []    after: H W, and W, the head, has asked newcomers to queue */
static void start_waiting_and_ask(struct actor *waiter, unsigned int cpu)
{
	begin();
	nbq_X_lock(&lock);
	start_waiting_for_ever(waiter, cpu);
	clock_now += PATIENT_NS - 1;
	EXPECT(TICKS_IN_VAIN(waiter));
	EXPECT(!newcomers_must_queue(&lock));
	clock_now++;
	EXPECT(TICKS_IN_VAIN(waiter));
	EXPECT(newcomers_must_queue(&lock));
}

/* A W, W has asked for the lock and does not run: a newcomer takes it when it stays free */
static void lock_that_is_held_meanwhile_is_not_idle(void)
{
	struct actor waiter, newcomer;

	start_waiting_and_ask(&waiter, 1);
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
	EXPECT(actor_finish(&waiter) == 0);
	EXPECT(actor_finish(&newcomer) == 0);
	end();
}

/* H W B W: B leaves after so long, and comes back; then it may take the lock, or not. */
static void come_back_behind_one_that_is_stalled_for(u64 ns, bool acts)
{
	unsigned long resumed = shim_event("nodes_resumed");
	struct actor first, back, behind;

	begin();
	nbq_X_lock(&lock);
	start_waiting_for_ever(&first, 1);
	start(&back, 2);
	back.patience = 1;
	EXPECT(IN_VAIN(&back, POLLS_BEFORE_QUEUE + 1));
	start_waiting_for_ever(&behind, 3);
	clock_now += ns;
	EXPECT(actor_finish(&back) == -ETIMEDOUT);
	start(&back, 2);
	EXPECT(IN_VAIN(&back, 1));
	EXPECT(shim_event("nodes_resumed") == resumed + 1);
	nbq_X_unlock(&lock);
	EXPECT(IN_VAIN(&back, 1) != acts);
	if (acts)
		EXPECT(actor_finish(&back) == 0);
	EXPECT(actor_finish(&first) == 0);
	if (!acts)
		EXPECT(actor_finish(&back) == 0);
	EXPECT(actor_finish(&behind) == 0);
	end();
}

/* At once: it may not wait for long enough to see that later. */
static void one_that_comes_back_acts_for_a_stalled_waiter_at_once(void)
{
	come_back_behind_one_that_is_stalled_for(STALLED_NS - 1, false);
	come_back_behind_one_that_is_stalled_for(STALLED_NS, true);
}

/* H: an attempt that was too late to enqueue; the next one does so at once, and one more not. */
static void one_that_was_too_late_to_enqueue_does_so_next_time(void)
{
	struct actor late;

	begin();
	nbq_X_lock(&lock);
	start(&late, 1);
	late.patience = 1;
	EXPECT(IN_VAIN(&late, 2));
	clock_now += 2;
	EXPECT(actor_finish(&late) == -ETIMEDOUT);
	EXPECT(!shim_event("nodes_allocated"));
	start(&late, 1);
	EXPECT(IN_VAIN(&late, 1));
	EXPECT(nbq_X_is_contended(&lock));
	nbq_X_unlock(&lock);
	EXPECT(actor_finish(&late) == 0);
	nbq_X_lock(&lock);
	start(&late, 1);
	EXPECT(IN_VAIN(&late, POLLS_BEFORE_QUEUE));
	EXPECT(!nbq_X_is_contended(&lock));
	nbq_X_unlock(&lock);
	EXPECT(actor_finish(&late) == 0);
	end();
}

/* H W B W: an attempt of B after the other is as one that has waited for all of that time. */
static void one_that_comes_back_has_waited_since_it_first_came(void)
{
	struct actor first, back, behind;

	begin();
	nbq_X_lock(&lock);
	start_waiting(&first, 1);
	start(&back, 2);
	back.patience = 1;
	EXPECT(IN_VAIN(&back, POLLS_BEFORE_QUEUE + 1));
	start_waiting_for_ever(&behind, 3);
	clock_now += PATIENT_NS;
	EXPECT(actor_finish(&back) == -ETIMEDOUT);
	EXPECT(!newcomers_must_queue(&lock));
	start(&back, 2);
	/* first is the head; B is, when it has gone. */
	EXPECT(IN_VAIN(&back, 1));
	clock_now += PATIENCE;
	EXPECT(actor_finish(&first) == -ETIMEDOUT);
	let_requests_expire();
	lock.state.handoff = 0;
	clock_now = PATIENT_NS + 2;
	EXPECT(IN_VAIN(&back, 1));
	EXPECT(newcomers_must_queue(&lock));
	nbq_X_unlock(&lock);
	EXPECT(actor_finish(&back) == 0);
	EXPECT(actor_finish(&behind) == 0);
	end();
}

static unsigned int preempted;

static bool is_preempted(unsigned int cpu)
{
	return cpu == SHIM_CPU_NUMBER(preempted);
}

/* A W W: the hypervisor says that the CPU of the first is preempted */
static void hypervisor_tells_that_a_predecessor_is_stalled(void)
{
	struct actor first, second;

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
	EXPECT(look(&second, POLLS_PER_TICK + 1) <= POLLS_PER_TICK);
	shim_vcpu_is_preempted = NULL;
	EXPECT(actor_finish(&second) == 0);
	EXPECT(actor_finish(&first) == 0);
	end();
}

#endif

#endif

static unsigned int next_random(unsigned int *state)
{
	*state = *state * 1103515245 + 12345;
	return *state >> 16;
}

#define ACTORS	5
/* Accesses during which others find it held: more, where they look before they queue. */
#define CRITICAL_SECTION	(IS_FIFO ? 1 : 12)

/* The second comes as an interrupt on the CPU of the first, on the same pool. */
static const unsigned int cpu_of[ACTORS] = { 0, 0, 1, 2, 3 };
#define INTERRUPTED	0
#define INTERRUPT	1

/* Waiters of the hybrid ask newcomers to queue after that, and some are stalled. */
#define SOME_NS		60000

static struct actor crowd[ACTORS];
static bool running[ACTORS];
static struct actor *last_user;
static unsigned int wishes;	/* turns at whose end newcomers had to queue */

static bool is_done_with_the_lock(const struct actor *actor)
{
	return actor->ended || (actor->doing == RELEASING && !actor->attempts);
}

/* Mutual exclusion; and whoever comes last knows that it does. */
static void look_around(struct actor *self)
{
	unsigned int i, done = 0;

	for (i = 0; i < CRITICAL_SECTION; i++)
		shim_point(SHIM_OP_RELAX, self);
	for (i = 0; i < ACTORS; i++) {
		EXPECT(&crowd[i] == self || crowd[i].doing != HOLDING);
		done += is_done_with_the_lock(&crowd[i]);
	}
	if (done == ACTORS - 1 && !self->attempts)
		last_user = self;
}

static void destroy_and_wipe_as_last(struct actor *self)
{
	if (self == last_user)
		destroy_and_wipe(self);
}

static void start_crowd(unsigned int *seed)
{
	unsigned int i;

	last_user = NULL;
	for (i = 0; i < ACTORS; i++) {
		start(&crowd[i], cpu_of[i]);
		crowd[i].attempts = 1 + next_random(seed) % 3;
		if (next_random(seed) % 4 == 0)
			crowd[i].patience = 0;
		crowd[i].in_lock = look_around;
		crowd[i].out_of_lock = destroy_and_wipe_as_last;
		running[i] = false;
	}
}

/*
 * Up to three accesses. But one that waits, where waiters look often before they do anything
 * but look, now and then makes as many as that takes: to enter the queue, to read the clock,
 * to act for the head, to have newcomers queue.
 */
static unsigned int accesses_in_a_turn(const struct actor *actor, unsigned int *seed)
{
	static const unsigned int long_turns[] = { 100, 100, 100, 100, 100, 100, 400, 6000 };
	unsigned int accesses = 1 + next_random(seed) % 3;

	if (!IS_FIFO && actor->doing == ACQUIRING && next_random(seed) % 8 == 0)
		accesses = long_turns[next_random(seed) % 8];
	return accesses;
}

/* Turns of one of them, to the end of all. */
static void let_the_crowd_run(unsigned int *seed)
{
	unsigned int left = ACTORS;

	while (left) {
		unsigned int i = next_random(seed) % ACTORS;
		unsigned int steps = accesses_in_a_turn(&crowd[i], seed);

		if (crowd[i].ended || (i == INTERRUPTED && running[INTERRUPT]))
			continue;
		if (next_random(seed) % 32 == 0)
			let_patience_pass();
		else if (next_random(seed) % 8 == 0)
			clock_now += SOME_NS;
		running[i] = actor_steps(&crowd[i], steps);
		wishes += !last_user && newcomers_must_queue(&lock);
		left -= !running[i];
	}
}

/*
 * Five contexts on four CPUs and the smallest pools, each access by one chosen
 * at random; time passes now and then. What each does in the end must not
 * depend on it: one owner at a time, all nodes back, and no access to the lock
 * after somebody else could destroy it.
 */
static void random_interleavings_keep_one_owner_and_lose_no_node(void)
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
		start_crowd(&seed);
		let_the_crowd_run(&seed);
		for (i = 0; i < ACTORS; i++) {
			got += crowd[i].acquired;
			actor_finish(&crowd[i]);
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
	EXPECT(IS_FIFO ? wishes == 0 : wishes > round);
	/* The algorithm's file promises no less than what is needed. */
	EXPECT(actor_most_steps_to_leave == STEPS_TO_LEAVE);
	EXPECT(actor_most_steps_to_release == STEPS_TO_RELEASE);
}

int main(void)
{
	static const struct test_case cases[] = {
#if IS_FIFO
		TEST_CASE(trylock_walks_over_abandoned_nodes_to_a_free_lock),
		TEST_CASE(failing_try_changes_neither_lock_nor_node),
#else
		TEST_CASE(newcomer_takes_a_free_lock_past_abandoned_nodes),
		TEST_CASE(waiter_walks_over_abandoned_nodes),
#endif
		TEST_CASE(destroy_gives_abandoned_nodes_back),
		TEST_CASE(destroy_of_a_lock_with_a_waiter_is_refused),
		TEST_CASE(waiter_of_long_standing_leaves_in_as_few_steps),
		TEST_CASE(one_that_comes_back_again_and_again_leaves_the_lock_alone),
		TEST_CASE(node_of_one_that_came_back_is_as_new),
		TEST_CASE(node_that_rests_after_it_was_resumed_is_no_place),
		TEST_CASE(other_locks_do_not_touch_a_place),
		TEST_CASE(place_in_a_lock_that_was_destroyed_is_not_resumed),
		TEST_CASE(place_in_a_lock_that_was_made_anew_is_not_resumed),
		TEST_CASE(next_owner_may_destroy_the_lock_at_once),
#ifdef TYPE_IS_HYBRID
		TEST_CASE(acting_head_takes_the_lock_and_its_successor_is_the_next_to_act),
		TEST_CASE(one_without_a_node_waits_as_a_newcomer),
	#if !IS_FIFO
		TEST_CASE(lock_that_is_held_meanwhile_is_not_idle),
		TEST_CASE(one_that_comes_back_acts_for_a_stalled_waiter_at_once),
		TEST_CASE(one_that_was_too_late_to_enqueue_does_so_next_time),
		TEST_CASE(one_that_comes_back_has_waited_since_it_first_came),
		TEST_CASE(hypervisor_tells_that_a_predecessor_is_stalled),
	#endif
#endif
		TEST_CASE(random_interleavings_keep_one_owner_and_lose_no_node),
	};

	return test_main(cases, sizeof(cases) / sizeof(cases[0]), 10);
}
