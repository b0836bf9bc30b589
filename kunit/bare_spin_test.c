// SPDX-License-Identifier: GPL-2.0
/*
 * The bare layer of the hybrid: what its operations do and what they leave alone, and what
 * becomes of a place when the lock's memory becomes another lock.
 *
 * Contexts elsewhere are moved by hand, in the middle of a read of the clock.
 */
#include <linux/cpumask.h>
#include <linux/preempt.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "../nbqlock/bare_spin.h"
#include "common.h"

static union nbq_bare_spin *lock_of(struct kunit *test)
{
	struct nbq_fixture *fixture = test->priv;
	struct nbq_spin *lock = fixture->lock;

	return &lock->bare;
}

static int attempt(struct kunit *test, s64 patience)
{
	int ret;

	preempt_disable();
	ret = nbq_bare_spin_lock_timeout(lock_of(test), patience);
	if (!ret)
		nbq_bare_spin_unlock(lock_of(test));
	preempt_enable();
	return ret;
}

/* As a lock of the kernel is defined, and as memory that was never initialised is */
static void zeroes_are_a_free_lock(struct kunit *test)
{
	static union nbq_bare_spin defined = NBQ_BARE_SPIN_INIT;

	KUNIT_EXPECT_EQ(test, sizeof(defined), 4);
	KUNIT_EXPECT_EQ(test, defined.all, 0);
	preempt_disable();
	KUNIT_EXPECT_TRUE(test, nbq_bare_spin_trylock(&defined));
	nbq_bare_spin_unlock(&defined);
	KUNIT_EXPECT_EQ(test, defined.all, 0);
	preempt_enable();
}

static void operations_leave_preemption_to_the_caller(struct kunit *test)
{
	union nbq_bare_spin *lock = lock_of(test);
	int before, held[3], after[3];

	preempt_disable();
	before = preempt_count();
	nbq_bare_spin_lock(lock);
	held[0] = preempt_count();
	nbq_bare_spin_unlock(lock);
	after[0] = preempt_count();
	held[1] = nbq_bare_spin_trylock(lock) ? preempt_count() : -1;
	nbq_bare_spin_unlock(lock);
	after[1] = preempt_count();
	held[2] = nbq_bare_spin_lock_timeout(lock, 100) ? -1 : preempt_count();
	nbq_bare_spin_unlock(lock);
	after[2] = preempt_count();
	preempt_enable();
	for (int i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, held[i], before);
		KUNIT_EXPECT_EQ(test, after[i], before);
	}
}

static void held_lock_says_so_and_refuses(struct kunit *test)
{
	struct nbq_contender *holder = nbq_fixture_hold(test);
	bool acquired;

	/* Before and after: H */
	nbq_fake_start(1000, 10);
	KUNIT_EXPECT_TRUE(test, nbq_bare_spin_is_locked(lock_of(test)));
	KUNIT_EXPECT_FALSE(test, nbq_bare_spin_is_contended(lock_of(test)));
	preempt_disable();
	acquired = nbq_bare_spin_trylock(lock_of(test));
	preempt_enable();
	KUNIT_EXPECT_FALSE(test, acquired);
	KUNIT_EXPECT_EQ(test, attempt(test, 0), -EBUSY);
	EXPECT_ENDED_AT_ONCE(test);
	KUNIT_EXPECT_EQ(test, attempt(test, 100), -ETIMEDOUT);
	nbq_contender_release(test->priv, holder);
	KUNIT_EXPECT_FALSE(test, nbq_bare_spin_is_locked(lock_of(test)));
	KUNIT_EXPECT_EQ(test, attempt(test, 0), 0);
}

/* Preemption is off once for each lock, as below the kernel's spinlocks. */
static void lock_of_the_own_cpu_is_a_deadlock(struct kunit *test)
{
	int own, tried;

	preempt_disable();
	nbq_bare_spin_lock(lock_of(test));
	preempt_disable();
	own = nbq_bare_spin_lock_timeout(lock_of(test), 100);
	tried = nbq_bare_spin_trylock(lock_of(test));
	preempt_enable();
	nbq_bare_spin_unlock(lock_of(test));
	preempt_enable();
	KUNIT_EXPECT_EQ(test, own, -EDEADLK);
	KUNIT_EXPECT_FALSE(test, tried);
}

static void release_elsewhere(void *arg)
{
	struct nbq_fixture *fixture = arg;

	nbq_contender_release(fixture, &fixture->contenders[0]);
}

/* A lock of the task, for which the holder elsewhere waits, until it releases its own one */
static union nbq_bare_spin awaited_elsewhere;
static struct nbq_node *silent;

static void end_cycle_elsewhere(void *arg)
{
	nbq_fixture_open_cycle(arg);
	release_elsewhere(arg);
}

/* A task checks 50 us after its first tick: several times until the holder releases. */
static void wait_without_end_goes_on_after_a_deadlock(struct kunit *test)
{
	struct nbq_fixture *fixture = test->priv;
	struct nbq_events before = {}, after = {};
	u16 holder;

	if (nr_cpu_ids == 1)
		kunit_skip(test, "needs a second CPU");
	/* Before: H; in between: H w; after: w holds */
	nbq_fixture_hold(test);
	nbq_read_events(&before);
	nbq_fake_start(1000, 10000);
	nbq_fake_call(390000, end_cycle_elsewhere, fixture);
	preempt_disable();
	nbq_fixture_close_cycle(fixture, &awaited_elsewhere, &silent);
	preempt_disable();
	nbq_bare_spin_lock(lock_of(test));
	holder = lock_of(test)->state.holder;
	preempt_enable();
	if (nbq_context_cpu(holder) == raw_smp_processor_id())
		nbq_bare_spin_unlock(lock_of(test));
	KUNIT_EXPECT_EQ(test, nbq_context_cpu(holder), raw_smp_processor_id());
	preempt_enable();
	nbq_fixture_open_cycle(fixture);
	nbq_read_events(&after);
	KUNIT_EXPECT_EQ(test, after.deadlocks, before.deadlocks + 1);
	KUNIT_EXPECT_EQ(test, after.acquired_handoff, before.acquired_handoff + 1);
}

/* An interrupt of a wait attempts the same lock */
struct above {
	struct kunit *test;	/* the case */
	bool without_nodes;	/* the pool of its context has none */
	int ret;		/* what it gets */
};

static void attempt_above(void *arg)
{
	struct nbq_replaced replaced;
	struct above *above = arg;

	if (above->without_nodes)
		nbq_pool_replace(&replaced, nbq_this_pool(), NULL, NULL);
	above->ret = attempt(above->test, 100);
	if (above->without_nodes)
		nbq_pool_restore(&replaced);
}

static void interrupt_the_wait(void *arg)
{
	nbq_as_nmi(attempt_above, arg);
}

/* It may take the lock before the waiter: it is in no deadlock. */
static void interrupt_above_its_own_cpus_waiter_times_out(struct kunit *test)
{
	struct above above = { .test = test };
	int i;

	/* Before and after: H; in between: H w, and the interrupt of w */
	nbq_fixture_hold(test);
	for (i = 0; i < 2; i++) {
		above.without_nodes = i;
		nbq_fake_start(1000, 10);
		nbq_fake_call(1020, interrupt_the_wait, &above);
		KUNIT_EXPECT_EQ(test, attempt(test, 100), -ETIMEDOUT);
		KUNIT_EXPECT_EQ(test, above.ret, -ETIMEDOUT);
	}
}

static void enqueue_behind(void *arg)
{
	struct nbq_fixture *fixture = arg;

	nbq_contender_enqueue(fixture, &fixture->contenders[fixture->count - 1]);
}

/* A head requests the handoff when it has waited for 20 us, all its attempts together. */
static void resumed_place_keeps_its_age(struct kunit *test)
{
	struct nbq_fixture *fixture = test->priv;

	/* before: H w; in between: H w L y; after: H y */
	nbq_fixture_hold(test);
	nbq_fixture_enqueue(test);
	KUNIT_ASSERT_NOT_NULL(test, nbq_fixture_contender(fixture));
	nbq_fake_start(1000000, 10);
	nbq_fake_call(1000100, enqueue_behind, fixture);
	KUNIT_EXPECT_EQ(test, attempt(test, 100), -ETIMEDOUT);
	nbq_contender_abandon(fixture, &fixture->contenders[1]);
	KUNIT_EXPECT_EQ(test, attempt(test, 1000), -ETIMEDOUT);
	EXPECT_TOTAL(test, .timeouts = 2, .nodes_allocated = 1, .nodes_resumed = 1,
		     .nodes_abandoned = 2, .nodes_reclaimed = 1);
	KUNIT_EXPECT_EQ(test, lock_of(test)->state.request, 0);
	nbq_fixture_drain(fixture);
}

static struct kunit_case bare_cases[] = {
	KUNIT_CASE(zeroes_are_a_free_lock),
	KUNIT_CASE(operations_leave_preemption_to_the_caller),
	KUNIT_CASE(held_lock_says_so_and_refuses),
	KUNIT_CASE(lock_of_the_own_cpu_is_a_deadlock),
	KUNIT_CASE(wait_without_end_goes_on_after_a_deadlock),
	KUNIT_CASE(interrupt_above_its_own_cpus_waiter_times_out),
	KUNIT_CASE(resumed_place_keeps_its_age),
	{}
};

static struct kunit_suite bare_suite = {
	.name = "nbq_spin_bare",
	.init = nbq_fixture_init_spin,
	.exit = nbq_fixture_finish,
	.test_cases = bare_cases,
};

kunit_test_suite(bare_suite);
