// SPDX-License-Identifier: GPL-2.0
/*
 * nbq_spin_lock_unless(): when the condition is asked for, what the attempt returns, and what is
 * left in the queue.
 *
 * Contexts elsewhere are moved by hand, in the middle of a call of the condition. Pictures: as in
 * spin_test.c.
 */
#include <linux/debug_locks.h>
#include <linux/lockdep.h>
#include <linux/preempt.h>

#include "../nbqlock/bare_spin.h"
#include "common.h"

/* A condition that comes true */
struct condition {
	struct kunit *test;		/* the case */
	unsigned int true_at;		/* with which call; 0: never */
	struct nbq_contender *joins;	/* who enqueues then, or NULL */
	unsigned int asked;		/* how often it was called */
	unsigned int preemptible;	/* ... with preemption on */
	unsigned int polls;		/* of the attempt up to the last call */
	unsigned int most_polls;	/* from one call to the next */
};

static bool is_true(void *arg)
{
	struct condition *condition = arg;
	struct nbq_fixture *fixture = condition->test->priv;
	const struct nbq_wait *wait = READ_ONCE(nbq_this_pool()->waiter);

	condition->asked++;
	condition->preemptible += !preempt_count() && IS_ENABLED(CONFIG_PREEMPT_COUNT);
	if (wait) {
		condition->most_polls = max(condition->most_polls, wait->polls - condition->polls);
		condition->polls = wait->polls;
	}
	if (condition->asked != condition->true_at)
		return false;
	if (condition->joins) {
		nbq_contender_enqueue(fixture, condition->joins);
		nbq_contender_link(fixture, condition->joins);
	}
	return true;
}

static struct nbq_spin *lock_of(struct kunit *test)
{
	return nbq_lock(test);
}

static int try_unless(struct condition *condition, ktime_t patience)
{
	struct nbq_spin *lock = lock_of(condition->test);
	struct nbq_context before = nbq_context_now(), after;
	int ret;

	condition->asked = 0;
	condition->polls = 0;
	ret = nbq_spin_lock_unless(lock, patience, is_true, condition);
	if (!ret)
		nbq_spin_unlock(lock);
	after = nbq_context_now();
	nbq_context_restore(before);
	nbq_expect_context(condition->test, after, before);
	KUNIT_EXPECT_EQ(condition->test, condition->preemptible, 0);
	return ret;
}

static void free_lock_is_acquired_whatever_the_condition(struct kunit *test)
{
	struct condition condition = { .test = test, .true_at = 1 };

	nbq_fake_start(1000, 10);
	KUNIT_EXPECT_EQ(test, try_unless(&condition, 100), 0);
	KUNIT_EXPECT_EQ(test, try_unless(&condition, KTIME_MAX), 0);
	KUNIT_EXPECT_EQ(test, try_unless(&condition, 0), 0);
	KUNIT_EXPECT_EQ(test, condition.asked, 0);
	EXPECT_ENDED_AT_ONCE(test);
	EXPECT_TOTAL(test);
}

static void held_lock_is_busy_without_patience(struct kunit *test)
{
	struct condition condition = { .test = test, .true_at = 1 };

	nbq_fixture_hold(test);
	nbq_fake_start(1000, 10);
	KUNIT_EXPECT_EQ(test, try_unless(&condition, 0), -EBUSY);
	KUNIT_EXPECT_EQ(test, try_unless(&condition, -1), -EBUSY);
	KUNIT_EXPECT_EQ(test, condition.asked, 0);
	EXPECT_ENDED_AT_ONCE(test);
	EXPECT_TOTAL(test, .failed_tries = 2);
}

static void lock_of_the_own_context_is_a_deadlock(struct kunit *test)
{
	struct condition condition = { .test = test, .true_at = 1 };
	int ret;

	nbq_type(test)->notrack(lock_of(test));
	nbq_spin_lock(lock_of(test));
	ret = try_unless(&condition, KTIME_MAX);
	nbq_spin_unlock(lock_of(test));
	KUNIT_EXPECT_EQ(test, ret, -EDEADLK);
	KUNIT_EXPECT_EQ(test, condition.asked, 0);
	EXPECT_TOTAL(test, .deadlocks = 1);
}

#define LONG_NS		1000000

/* By a clock that starts at 1000 and goes in steps of 10 */
static const struct stop_case {
	const char *desc;
	ktime_t patience;
	unsigned int true_at;
	bool enqueues;
} stop_cases[] = {
	{ "first_poll", LONG_NS, 1 },
	{ "newcomer", LONG_NS, 2 },
	{ "in_queue", LONG_NS, 4, true },
	{ "in_queue_for_long", LONG_NS, 50, true },
	{ "first_without_end", KTIME_MAX, 1, true },
	{ "later_without_end", KTIME_MAX, 20, true },
};

NBQ_ARRAY_PARAM(stop, stop_cases);

static void wait_ends_with_the_call_that_returns_true(struct kunit *test)
{
	const struct stop_case *stop = test->param_value;
	struct condition condition = { .test = test, .true_at = stop->true_at };

	/* Before and after: H */
	nbq_fixture_hold(test);
	nbq_fake_start(1000, 10);
	KUNIT_EXPECT_EQ(test, try_unless(&condition, stop->patience), -ECANCELED);
	KUNIT_EXPECT_EQ(test, condition.asked, stop->true_at);
	KUNIT_EXPECT_EQ(test, *nbq_tail_of(lock_of(test)), 0);
	EXPECT_TOTAL(test, .cancellations = 1, .nodes_allocated = stop->enqueues,
		     .nodes_freed = stop->enqueues);
}

/* Behind another waiter; at the head of the queue, by wait_ends_with_the_call_that_returns_true. */
static void waiter_in_the_middle_is_skipped_by_its_successor(struct kunit *test)
{
	struct nbq_fixture *fixture = test->priv;
	struct condition condition = { .test = test, .true_at = 20 };
	struct nbq_contender *w;

	/* Before: H w; after: H w L y; y enqueues in the last call */
	nbq_fixture_hold(test);
	w = nbq_fixture_enqueue(test);
	condition.joins = nbq_fixture_contender(fixture);
	KUNIT_ASSERT_NOT_NULL(test, condition.joins);
	nbq_fake_start(1000, 10);
	KUNIT_EXPECT_EQ(test, try_unless(&condition, KTIME_MAX), -ECANCELED);
	EXPECT_TOTAL(test, .cancellations = 1, .nodes_allocated = 1, .nodes_abandoned = 1);

	/* The next attempt resumes the place; after: H w L y */
	condition.true_at = 1;
	condition.joins = NULL;
	KUNIT_EXPECT_EQ(test, try_unless(&condition, LONG_NS), -ECANCELED);
	EXPECT_TOTAL(test, .cancellations = 1, .nodes_resumed = 1, .nodes_abandoned = 1);

	/* All of the rest get the lock in turn; after: [] */
	nbq_contender_release(fixture, &fixture->contenders[0]);
	KUNIT_EXPECT_TRUE(test, nbq_contender_poll(fixture, w));
	nbq_contender_release(fixture, w);
	KUNIT_EXPECT_TRUE(test, nbq_contender_poll(fixture, &fixture->contenders[2]));
	nbq_contender_release(fixture, &fixture->contenders[2]);
	KUNIT_EXPECT_EQ(test, try_unless(&condition, LONG_NS), 0);
}

static void condition_comes_before_the_deadline(struct kunit *test)
{
	struct condition condition = { .test = test };

	nbq_fixture_hold(test);
	nbq_fake_start(1000, 10);
	KUNIT_EXPECT_EQ(test, try_unless(&condition, 10), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, condition.asked, 2);
	EXPECT_ENDED_AT(test, 1010);
	EXPECT_TOTAL(test, .timeouts = 1);

	/* Each of its calls comes before a read; the last one in the place of that. */
	nbq_forget_attempts();
	condition.true_at = 2;
	nbq_fake_start(1000, 10);
	KUNIT_EXPECT_EQ(test, try_unless(&condition, 10), -ECANCELED);
	EXPECT_ENDED_AT(test, 1000);
}

/* By Documentation/nbqlock.rst */
#define POLLS		64
#define POLLS_FINITE	32

static void condition_is_asked_within_some_polls(struct kunit *test)
{
	struct condition condition = { .test = test, .true_at = 100 };

	nbq_fixture_hold(test);
	nbq_fake_start(1000, 10);
	KUNIT_EXPECT_EQ(test, try_unless(&condition, KTIME_MAX), -ECANCELED);
	KUNIT_EXPECT_GT(test, condition.most_polls, 0);
	KUNIT_EXPECT_LE(test, condition.most_polls, POLLS);

	condition.most_polls = 0;
	KUNIT_EXPECT_EQ(test, try_unless(&condition, LONG_NS), -ECANCELED);
	KUNIT_EXPECT_GT(test, condition.most_polls, 0);
	KUNIT_EXPECT_LE(test, condition.most_polls, POLLS_FINITE);
}

/* An interrupt asks at its first poll, as it reads the clock then. */
struct above {
	struct condition condition;
	int ret;
};

static void try_above(void *arg)
{
	struct above *above = arg;

	above->ret = try_unless(&above->condition, KTIME_MAX);
}

static void nmi_asks_at_its_first_poll(struct kunit *test)
{
	struct above above = { .condition = { .test = test, .true_at = 1 } };

	nbq_fixture_hold(test);
	nbq_fake_start(1000, 10);
	nbq_as_nmi(try_above, &above);
	KUNIT_EXPECT_EQ(test, above.ret, -ECANCELED);
	KUNIT_EXPECT_EQ(test, above.condition.most_polls, 0);
	EXPECT_TOTAL(test, .cancellations = 1);
}

static void interrupts_are_off_as_asked(struct kunit *test)
{
	struct condition condition = { .test = test, .true_at = 1 };
	bool failed_off, held_off, after_off;
	unsigned long flags;
	int failed, ret;

	nbq_fixture_hold(test);
	nbq_fake_start(1000, 10);
	failed = nbq_spin_lock_unless_irqsave(lock_of(test), LONG_NS, is_true, &condition, flags);
	failed_off = irqs_disabled();
	nbq_contender_release(test->priv, &((struct nbq_fixture *)test->priv)->contenders[0]);
	ret = nbq_spin_lock_unless_irqsave(lock_of(test), LONG_NS, is_true, &condition, flags);
	held_off = irqs_disabled();
	if (!ret)
		nbq_spin_unlock_irqrestore(lock_of(test), flags);
	after_off = irqs_disabled();
	KUNIT_EXPECT_EQ(test, failed, -ECANCELED);
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_FALSE(test, failed_off);
	KUNIT_EXPECT_TRUE(test, held_off);
	KUNIT_EXPECT_FALSE(test, after_off);
}

#ifdef CONFIG_DEBUG_LOCK_ALLOC
static bool is_recorded(void *arg)
{
	struct nbq_spin *lock = arg;

	return lock_is_held(&lock->dep_map) == LOCK_STATE_HELD;
}

/* Before the wait, and no longer. In an NMI as a trylock: else lockdep reports it. */
static void lockdep_records_the_wait(struct kunit *test)
{
	struct nbq_spin *lock = lock_of(test);

	if (!debug_locks)
		kunit_skip(test, "lockdep is off");
	nbq_fixture_hold(test);
	nbq_fake_start(1000, 10);
	KUNIT_EXPECT_EQ(test, nbq_spin_lock_unless(lock, LONG_NS, is_recorded, lock), -ECANCELED);
	KUNIT_EXPECT_FALSE(test, is_recorded(lock));
}
#endif

static void bare_lock_asks_the_same(struct kunit *test)
{
	struct condition condition = { .test = test, .true_at = 3 };
	union nbq_bare_spin *lock = &lock_of(test)->bare;
	int held, ret;

	nbq_fixture_hold(test);
	nbq_fake_start(1000, 10);
	preempt_disable();
	held = nbq_bare_spin_lock_unless(lock, KTIME_MAX, is_true, &condition);
	preempt_enable();
	KUNIT_EXPECT_EQ(test, held, -ECANCELED);
	KUNIT_EXPECT_EQ(test, condition.asked, 3);
	nbq_contender_release(test->priv, &((struct nbq_fixture *)test->priv)->contenders[0]);
	preempt_disable();
	ret = nbq_bare_spin_lock_unless(lock, LONG_NS, is_true, &condition);
	if (!ret)
		nbq_bare_spin_unlock(lock);
	preempt_enable();
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_EQ(test, condition.asked, 3);
}

static struct kunit_case unless_cases[] = {
	KUNIT_CASE(free_lock_is_acquired_whatever_the_condition),
	KUNIT_CASE(held_lock_is_busy_without_patience),
	KUNIT_CASE(lock_of_the_own_context_is_a_deadlock),
	KUNIT_CASE_PARAM(wait_ends_with_the_call_that_returns_true, stop_gen_params),
	KUNIT_CASE(waiter_in_the_middle_is_skipped_by_its_successor),
	KUNIT_CASE(condition_comes_before_the_deadline),
	KUNIT_CASE(condition_is_asked_within_some_polls),
	KUNIT_CASE(nmi_asks_at_its_first_poll),
	KUNIT_CASE(interrupts_are_off_as_asked),
#ifdef CONFIG_DEBUG_LOCK_ALLOC
	KUNIT_CASE(lockdep_records_the_wait),
#endif
	KUNIT_CASE(bare_lock_asks_the_same),
	{}
};

static struct kunit_suite unless_suite = {
	.name = "nbq_spin_unless",
	.init = nbq_fixture_init_spin,
	.exit = nbq_fixture_finish,
	.test_cases = unless_cases,
};

kunit_test_suite(unless_suite);
