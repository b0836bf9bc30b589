// SPDX-License-Identifier: GPL-2.0
/*
 * Interleavings of several CPUs, one access at a time: those that sanitizers are to see, and
 * bounds on own steps. The explorer has all interleavings.
 *
 * In the pictures H holds, W waits, L is abandoned, A is AVAILABLE; the tail is on the right.
 * Where an abandoned tail stays (type.h), there is an L more than drawn.
 */
#include <sanitizer/asan_interface.h>
#include <stdlib.h>
#include <string.h>

#include <linux/errno.h>
#include <linux/hash.h>

#include "coro.h"
#include "test.h"

/* Much longer than any of the times by which a lock goes. */
#define PATIENCE	1000000000
#define ROUNDS		9000
#define SOME_ACCESSES	500	/* it has enqueued, and polls */

static struct nbq_X lock;

/* Each waiter times out at its next clock read. */
static void expire_patience(void)
{
	test_now += 2 * PATIENCE;
}

static void start(struct coro *coro, unsigned int cpu)
{
	coro_start_task(coro, &lock, cpu, PATIENCE);
}

static void start_waiting_at(struct coro *coro, unsigned int cpu, struct nbq_X *at)
{
	coro_start_task(coro, at, cpu, PATIENCE);
	EXPECT(coro_until_queued(coro));
}

static void start_waiting(struct coro *coro, unsigned int cpu)
{
	start_waiting_at(coro, cpu, &lock);
}

/* The same, and it never runs out of patience. */
static void start_without_timeout(struct coro *coro, unsigned int cpu)
{
	coro_start_task(coro, &lock, cpu, KTIME_MAX);
	EXPECT(coro_until_queued(coro));
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
	nbq_X_init(&lock);
	test_clock(1, 0);
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
	EXPECT(coro_until_queued(&back));
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
	/* The hybrid's head may request a handoff for a successor that has given up. */
	test_clock_step = 1;
	EXPECT(coro_finish(&first) == 0);
	EXPECT(coro_until_held(&back));
	EXPECT(shim_event("nodes_allocated") == HOLDS_NODE + 3);
	EXPECT(coro_finish(&back) == 0);
	nbq_X_lock(&lock);
	/* The hybrid's head has no place to leave. */
	start_without_timeout(&first, 1);
	EXPECT(try_as(&lock, 10, 2, 0) == -ETIMEDOUT);
	EXPECT(shim_event("nodes_abandoned") == 2 + 2 * ABANDONED_TAIL_STAYS);
	nbq_X_unlock(&lock);
	EXPECT(coro_finish(&first) == 0);
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
	struct owner back;

	EXPECT(try_as(&lock, PATIENCE, 1, 0) == 0);
	EXPECT(shim_nodes_in_use() == NODES_KEPT);
	nbq_X_lock(&lock);
	nbq_X_init(other);
	owner_start(&back, 2, 0, other, &lock);
	back.patience = PATIENCE;
	EXPECT(coro_steps(&back.coro, SOME_ACCESSES));
	expire_patience();
	EXPECT(coro_finish(&back.coro) == 0 && back.ret == -ETIMEDOUT);
	EXPECT(nbq_X_destroy(other) == 0);
	EXPECT(shim_event("nodes_abandoned") == abandoned + ABANDONED_TAIL_STAYS);
	nbq_X_unlock(&lock);
	end();
}

/* before: []    after: H W B W, and B has abandoned after this time. */
static void start_with_place(struct coro *first, struct coro *back, struct coro *behind, u64 ns)
{
	begin();
	shim_pools_start(2 + NODES_KEPT, 2 + NODES_KEPT);
	nbq_X_lock(&lock);
	start_waiting(first, 1);
	coro_start_task(back, &lock, 2, 1);
	EXPECT(coro_until_queued(back));
	start_waiting(behind, 3);
	test_now += ns;
	EXPECT(coro_finish(back) == -ETIMEDOUT);
}

static void resume(struct coro *back, ktime_t patience)
{
	coro_start_task(back, &lock, 2, patience);
	EXPECT(coro_until_poll(back));
	EXPECT(shim_event("nodes_resumed") == 1);
}

/* B acquires other locks before it resumes. Then it acquires, or abandons and is skipped. */
static void place_survives_attempts_at_other_lock_and_ends_with_the_wait(void)
{
	struct nbq_X *other = lock_with_same_hash();
	struct coro first, back, behind;
	unsigned int leaves;

	for (leaves = 0; leaves < 2; leaves++) {
		nbq_X_init(other);
		start_with_place(&first, &back, &behind, 2);
		EXPECT(try_as(other, PATIENCE, 2, 0) == 0);
		EXPECT(try_as(other, KTIME_MAX, 2, 0) == 0);
		EXPECT(nbq_X_destroy(other) == 0);
		EXPECT(shim_event("nodes_resumed") == 0);
		resume(&back, 1);
		if (leaves) {
			test_now += 2;
			EXPECT(coro_finish(&back) == -ETIMEDOUT);
		}
		nbq_X_unlock(&lock);
		EXPECT(coro_finish(&first) == 0);
		if (!leaves)
			EXPECT(coro_finish(&back) == 0);
		EXPECT(coro_finish(&behind) == 0);
		use_the_same_nodes_again(other);
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
	resume(&back, KTIME_MAX);
	EXPECT(coro_finish(&behind) == -ETIMEDOUT);
	nbq_X_unlock(&lock);
	EXPECT(coro_finish(&first) == 0);
	EXPECT(coro_finish(&back) == 0);
	expect_no_place(2);
	end();
}

#if HOLDS_NODE
/* before: H B, or H B W    The holder is so many accesses into its release when B abandons. */
static void abandon_during_release(unsigned int accesses, bool followed)
{
	struct coro holder, back, behind;

	begin();
	shim_pools_start(16, 16);
	coro_start_task(&holder, &lock, 1, KTIME_MAX);
	EXPECT(coro_until_held(&holder));
	start_waiting(&back, 2);
	if (followed)
		start_without_timeout(&behind, 3);
	coro_steps(&holder, accesses);
	expire_patience();
	if (coro_finish(&back)) {
		EXPECT(shim_event("nodes_abandoned") == shim_nodes_in_use() - 1 - followed);
		if (followed)
			resume(&back, KTIME_MAX);
		EXPECT(coro_finish(&holder) == 0);
		EXPECT(!followed || coro_finish(&back) == 0);
	} else {
		EXPECT(coro_finish(&holder) == 0);
	}
	EXPECT(!followed || coro_finish(&behind) == 0);
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

#if HOLDS_NODE
#define ABANDONED	(2 + ABANDONED_TAIL_STAYS)

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

/* before: []    after: A L L */
static void leave_places(void)
{
	begin();
	nbq_X_lock(&lock);
	abandon_two_nodes();
	nbq_X_unlock(&lock);
}

/* Before and after: A L L. An attempt without patience has read the tail, and then its state. */
static void start_looking(struct coro *attempt)
{
	leave_places();
	coro_start_task(attempt, &lock, 5, 0);
	EXPECT(coro_until(attempt, SHIM_OP_LOAD, nbq_X_tail(&lock)));
	EXPECT(coro_until(attempt, SHIM_OP_LOAD, nbq_X_tail(&lock)));
}

static void finish_looking(struct coro *attempt)
{
	unsigned int allocated = shim_event("nodes_allocated");

	EXPECT(coro_finish(attempt) == -EBUSY);
	EXPECT(shim_event("nodes_allocated") == allocated);
}

static void attempt_without_patience_sees_another_tail(void)
{
	struct coro attempt, holder;

	start_looking(&attempt);
	start(&holder, 4);
	EXPECT(coro_until_held(&holder));
	finish_looking(&attempt);
	EXPECT(coro_finish(&holder) == 0);
	end();
}

/* The last place is resumed; the one before it is skipped, and makes another lock available. */
static void attempt_without_patience_sees_a_node_in_another_queue(void)
{
	struct nbq_X *other = lock_with_same_hash();
	struct coro attempt, holder, first, second;

	nbq_X_init(other);
	start_looking(&attempt);
	EXPECT(coro_steps(&attempt, 1));
	start(&holder, 2);
	EXPECT(coro_until_held(&holder));
	coro_start_task(&first, other, 1, PATIENCE);
	EXPECT(coro_until_held(&first));
	start_waiting_at(&second, 3, other);
	EXPECT(coro_finish(&first) == 0);
	finish_looking(&attempt);
	EXPECT(coro_finish(&second) == 0);
	EXPECT(coro_finish(&holder) == 0);
	EXPECT(nbq_X_destroy(other) == 0);
	end();
}

/* Another context acquires the lock right before it enqueues. */
static void attempt_without_patience_enqueues_and_fails(void)
{
	struct coro attempt, holder;

	begin();
	shim_pools_start(16, 16);
	coro_start_task(&attempt, &lock, 5, 0);
	EXPECT(coro_until(&attempt, SHIM_OP_XCHG, nbq_X_enqueues_at(&lock)));
	start(&holder, 4);
	EXPECT(coro_until_held(&holder));
	EXPECT(coro_finish(&attempt) == -EBUSY);
	EXPECT(shim_event("failed_tries") == 1);
	EXPECT(coro_finish(&holder) == 0);
	end();
}

/* Attempts of the CPUs with abandoned nodes, which see so many frees late: none resumes one. */
static void attempt_without_resume(int late)
{
	unsigned int cpu;

	nbq_X_lock(&lock);
	for (cpu = 1; cpu <= 3; cpu++) {
		struct coro back;

		shim_age_frees(cpu, 0, late);
		start_waiting(&back, cpu);
		shim_age_frees(cpu, 0, -late);
		expire_patience();
		EXPECT(coro_finish(&back) == -ETIMEDOUT);
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

/* It should have been destroyed: its nodes are lost, but nothing else is. */
static void place_is_not_resumed_after_init(void)
{
	unsigned int lost;

	leave_places();
	lost = shim_nodes_in_use();
	EXPECT(lost >= ABANDONED);
	begin();
	attempt_without_resume(0);
	EXPECT(shim_nodes_in_use() == lost);
	shim_pools_start(1, 1);
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

/* Let it poll for long, or until it has the lock. Return: it has. */
static bool acquires(struct coro *coro)
{
	unsigned int polls;

	for (polls = 0; polls < MANY_POLLS && coro->doing == ACQUIRING; polls++)
		coro_until(coro, SHIM_OP_RELAX, CORO_ANYWHERE);
	return coro->doing == HOLDING;
}

/* Behind one that is stalled, at once: it may not wait for long enough to see that later. */
static void resumed_waiter_acts_for_stalled_head(void)
{
	struct coro first, back, behind;
	unsigned int stalled;

	for (stalled = 0; stalled < 2; stalled++) {
		start_with_place(&first, &back, &behind, STALLED_NS - !stalled);
		resume(&back, 1);
		test_now++;
		EXPECT(coro_finish(&back) == -ETIMEDOUT);
		coro_start_task(&back, &lock, 2, PATIENCE);
		EXPECT(coro_until_poll(&back));
		nbq_X_unlock(&lock);
		EXPECT(acquires(&back) == stalled);
		if (stalled)
			EXPECT(coro_finish(&back) == 0);
		EXPECT(coro_finish(&first) == 0);
		if (!stalled)
			EXPECT(coro_finish(&back) == 0);
		EXPECT(coro_finish(&behind) == 0);
		end();
	}
}

/* An attempt of B after the other is as one that has waited for all of that time. */
static void resumed_waiter_keeps_its_age(void)
{
	struct coro first, back, behind;

	start_with_place(&first, &back, &behind, PATIENT_NS);
	resume(&back, KTIME_MAX);
	EXPECT(!has_handoff_request(&lock));
	/* first is the head; B is, when it has gone. */
	test_now += PATIENCE;
	EXPECT(coro_finish(&first) == -ETIMEDOUT);
	/* That was the request of first. */
	lock.state.handoff = 0;
	test_now = PATIENT_NS + 2;
	EXPECT(coro_until_poll(&back));
	EXPECT(has_handoff_request(&lock));
	nbq_X_unlock(&lock);
	EXPECT(coro_finish(&back) == 0);
	EXPECT(coro_finish(&behind) == 0);
	end();
}

/* The place of B is resumed while its successor is about to skip it: that skips no node. */
static void place_resumed_first_is_not_skipped(void)
{
	struct coro first, back, behind;

	start_with_place(&first, &back, &behind, 2);
	EXPECT(coro_until(&behind, SHIM_OP_CMPXCHG, CORO_ANYWHERE));
	resume(&back, KTIME_MAX);
	EXPECT(coro_until_poll(&behind));
	nbq_X_unlock(&lock);
	EXPECT(coro_finish(&first) == 0);
	EXPECT(coro_finish(&back) == 0);
	EXPECT(coro_finish(&behind) == 0);
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
	struct coro first, back, behind;
	unsigned int asks;

	for (asks = 0; asks < 2; asks++) {
		start_with_place(&first, &back, &behind, CHECK_RESUMED_NS - !asks);
		shim_vcpu_is_preempted = is_preempted;
		resume(&back, PATIENCE);
		nbq_X_unlock(&lock);
		EXPECT(acquires(&back) == asks);
		shim_vcpu_is_preempted = NULL;
		if (asks)
			EXPECT(coro_finish(&back) == 0);
		EXPECT(coro_finish(&first) == 0);
		if (!asks)
			EXPECT(coro_finish(&back) == 0);
		EXPECT(coro_finish(&behind) == 0);
		end();
	}
}

/* A W W: vcpu_is_preempted() says so of the first, whose heartbeat is young; or not. */
static void steal_when_vcpu_of_predecessor_preempted(void)
{
	struct coro first, second;
	unsigned int preempted;

	for (preempted = 0; preempted < 2; preempted++) {
		begin();
		nbq_X_lock(&lock);
		start_waiting(&first, 1);
		start_waiting(&second, 2);
		test_now += CHECK_PRED_NS - 1;
		EXPECT(!acquires(&first));
		nbq_X_unlock(&lock);
		shim_vcpu_is_preempted = preempted ? is_preempted : NULL;
		test_now++;
		EXPECT(acquires(&second) == preempted);
		shim_vcpu_is_preempted = NULL;
		if (preempted)
			EXPECT(coro_finish(&second) == 0);
		EXPECT(coro_finish(&first) == 0);
		if (!preempted)
			EXPECT(coro_finish(&second) == 0);
		end();
	}
}
#endif

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

static struct nbq_X wiped;

static void destroy_and_wipe_if_last(struct coro *self)
{
	if (self != last_user)
		return;
	EXPECT(nbq_X_end(&lock) == 0);
	memset(&wiped, 0x5a, sizeof(wiped));
	memcpy(&lock, &wiped, sizeof(wiped));
	/* With the sanitizer, a read is an error, too. */
	ASAN_POISON_MEMORY_REGION(&lock, sizeof(lock));
}

static void start_contexts(unsigned int *seed)
{
	unsigned int i;

	last_user = NULL;
	for (i = 0; i < CONTEXTS; i++) {
		start(&contexts[i], cpu_of[i]);
		contexts[i].attempts = 1 + test_random(seed) % 3;
		if (test_random(seed) % 4 == 0)
			contexts[i].patience = 0;
		contexts[i].critical_section = check_exclusion;
		contexts[i].after_release = destroy_and_wipe_if_last;
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
	unsigned int accesses = 1 + test_random(seed) % 3;

	if (!IS_FIFO && coro->doing == ACQUIRING && test_random(seed) % 8 == 0)
		accesses = long_turns[test_random(seed) % 8];
	return accesses;
}

/* Turns of one of them, to the end of all. */
static void run_contexts(unsigned int *seed)
{
	unsigned int left = CONTEXTS;

	while (left) {
		unsigned int i = test_random(seed) % CONTEXTS;
		unsigned int steps = accesses_of_turn(&contexts[i], seed);

		if (contexts[i].ended || (i == INTERRUPTED && running[INTERRUPT]))
			continue;
		if (test_random(seed) % 32 == 0)
			expire_patience();
		else if (test_random(seed) % 8 == 0)
			test_now += SOME_NS;
		running[i] = coro_steps(&contexts[i], steps);
		requests += !last_user && has_handoff_request(&lock);
		left -= !running[i];
	}
}

/* A hybrid's queue may keep the nodes with which its last user would sweep it. */
static void end_on_another_cpu(void)
{
	shim_cpu = 4;
	end();
	shim_cpu = 0;
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
			shim_pools_start(nodes, nodes);
		}
		begin();
		start_contexts(&seed);
		run_contexts(&seed);
		for (i = 0; i < CONTEXTS; i++) {
			got += contexts[i].acquired;
			coro_finish(&contexts[i]);
		}
		if (last_user) {
			ASAN_UNPOISON_MEMORY_REGION(&lock, sizeof(lock));
			EXPECT(!memcmp(&lock, &wiped, sizeof(lock)));
			nbq_X_init(&lock);
			end_on_another_cpu();
			wiped_locks++;
		} else {
			EXPECT(try_as(&lock, 0, 4, 0) == 0);
			end_on_another_cpu();
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
		TEST_CASE(resumed_waiter_does_not_access_lock),
		TEST_CASE(place_survives_attempts_at_other_lock_and_ends_with_the_wait),
		TEST_CASE(node_kept_by_lock_is_not_resumed),
#if HOLDS_NODE
		TEST_CASE(waiter_abandons_at_any_step_of_a_release),
#endif
		TEST_CASE(acquisition_costs_the_same_after_timeouts_elsewhere),
#if HOLDS_NODE
		TEST_CASE(attempt_without_patience_enqueues_and_fails),
		TEST_CASE(attempt_without_patience_sees_another_tail),
		TEST_CASE(attempt_without_patience_sees_a_node_in_another_queue),
		TEST_CASE(place_is_not_resumed_where_its_free_is_seen_late),
		TEST_CASE(place_is_not_resumed_after_init),
#endif
#ifdef TYPE_SPIN
		TEST_CASE(resumed_waiter_acts_for_stalled_head),
		TEST_CASE(resumed_waiter_keeps_its_age),
		TEST_CASE(place_resumed_first_is_not_skipped),
		TEST_CASE(resumed_waiter_acts_for_preempted_head),
		TEST_CASE(steal_when_vcpu_of_predecessor_preempted),
#endif
		TEST_CASE(random_interleavings_keep_exclusion_and_nodes),
	};

	return test_main(cases, sizeof(cases) / sizeof(cases[0]), 10);
}
