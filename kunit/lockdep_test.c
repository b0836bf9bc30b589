// SPDX-License-Identifier: GPL-2.0
/*
 * What lockdep knows of every lock type: what is held, before the wait and after
 * it, and how locks of one class are found apart.
 *
 * A report of lockdep's would fail the whole run, and lockdep with it; so what
 * must be reported is not here but in tools/ci/faults, each in a boot of its own.
 */
#include <linux/debug_locks.h>
#include <linux/irqflags.h>
#include <linux/lockdep.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "common.h"

static const struct nbq_row *row_of(struct kunit *test)
{
	struct nbq_bench *bench = test->priv;

	return bench->row;
}

static void *lock_of(struct kunit *test)
{
	struct nbq_bench *bench = test->priv;

	return bench->lock;
}

static void needs_lockdep(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_PROVE_LOCKING))
		kunit_skip(test, "there is no lockdep in this kernel");
	KUNIT_ASSERT_TRUE_MSG(test, debug_locks,
			      "lockdep has reported something, and is off");
}

/* Nothing of what the case did was reported. */
static void expect_no_report(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, debug_locks);
}

/* What lockdep believes of the running task and one lock */
struct belief {
	int depth;
	bool held;
	bool tried;	/* taken without a wait: what it is taken below does not matter */
};

#ifdef CONFIG_LOCKDEP
static bool was_tried(const struct lockdep_map *map)
{
	int i;

	for (i = 0; i < lockdep_depth(current); i++) {
		if (current->held_locks[i].instance == map)
			return current->held_locks[i].trylock;
	}
	return false;
}
#endif

static struct belief belief_of(const struct nbq_row *row, void *lock)
{
	struct belief belief = { .depth = lockdep_depth(current) };

#ifdef CONFIG_LOCKDEP
	belief.held = lock_is_held(row->dep_map(lock)) == LOCK_STATE_HELD;
	belief.tried = was_tried(row->dep_map(lock));
#endif
	return belief;
}

static void expect_belief(struct kunit *test, struct belief belief, int depth,
			  bool held)
{
	KUNIT_EXPECT_EQ(test, belief.depth, depth);
	KUNIT_EXPECT_EQ(test, belief.held, held);
}

/* A lock of the same class as that of the bench */
static void *new_lock(struct kunit *test)
{
	void *lock = nbq_new_lock(test, row_of(test));

	row_of(test)->init(lock);
	return lock;
}

/* The operations, and whether a context that uses one is known to wait */

static const struct nbq_operation failing_operations[] = {
	{ "trylock", TRY, PLAIN },
	{ "trylock_irq", TRY, IRQ },
	{ "trylock_irqsave", TRY, IRQSAVE },
	{ "trylock_bh", TRY, BH },
	{ "lock_timeout_0", TIMEOUT, PLAIN, 0 },
	{ "lock_timeout_negative", TIMEOUT, PLAIN, -1 },
	{ "lock_timeout_nested_0", TIMEOUT, NESTED, 0 },
	{ "lock_timeout", TIMEOUT, PLAIN, 100 },
	{ "lock_timeout_irq", TIMEOUT, IRQ, 100 },
	{ "lock_timeout_irqsave", TIMEOUT, IRQSAVE, 100 },
	{ "lock_timeout_bh", TIMEOUT, BH, 100 },
	{ "lock_timeout_nested", TIMEOUT, NESTED, 100 },
	{ "lock_timeout_irqsave_nested", TIMEOUT, IRQSAVE_NESTED, 100 },
	{ "lock_until", UNTIL, PLAIN, 1100 },
	{ "lock_until_past", UNTIL, PLAIN, 1 },
	{ "lock_until_least", UNTIL, PLAIN, KTIME_MIN },
	{ "lock_until_irq", UNTIL, IRQ, 1100 },
	{ "lock_until_irqsave", UNTIL, IRQSAVE, 1100 },
	{ "lock_until_bh", UNTIL, BH, 1100 },
}, untimed_operations[] = {
	{ "lock", LOCK, PLAIN },
	{ "lock_irq", LOCK, IRQ },
	{ "lock_irqsave", LOCK, IRQSAVE },
	{ "lock_bh", LOCK, BH },
	{ "lock_nested", LOCK, NESTED },
	{ "lock_irqsave_nested", LOCK, IRQSAVE_NESTED },
}, inner_operations[] = {
	{ "lock_timeout_nested", TIMEOUT, NESTED, 100 },
	{ "lock_nested", LOCK, NESTED },
	{ "lock_timeout_irqsave_nested", TIMEOUT, IRQSAVE_NESTED, 100 },
	{ "lock_irqsave_nested", LOCK, IRQSAVE_NESTED },
	{ "trylock", TRY, PLAIN },
	{ "lock_timeout_0", TIMEOUT, PLAIN, 0 },
};

static void operation_desc(const struct nbq_operation *op, char *desc)
{
	strscpy(desc, op->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(failing_operation, failing_operations, operation_desc);
KUNIT_ARRAY_PARAM(untimed_operation, untimed_operations, operation_desc);
KUNIT_ARRAY_PARAM(inner_operation, inner_operations, operation_desc);

/* An attempt without patience does not wait. */
static bool waits(const struct nbq_operation *op)
{
	return op->how == LOCK || op->how == UNTIL || (op->how == TIMEOUT && op->time > 0);
}

/* Held */

static void expect_holder_is_known(struct kunit *test)
{
	const struct nbq_operation *op = test->param_value;
	const struct nbq_row *row = row_of(test);
	int before = lockdep_depth(current);
	struct belief held, released;
	void *lock = lock_of(test);
	unsigned long flags;
	int ret;

	needs_lockdep(test);
	nbq_fake_start(1000, 10);
	ret = row->take(op, lock, &flags);
	held = belief_of(row, lock);
	if (!ret) {
		/* Would warn, and fail the run */
		row->assert_held(lock);
		row->drop(op, lock, flags);
	}
	released = belief_of(row, lock);

	KUNIT_EXPECT_EQ(test, ret, 0);
	expect_belief(test, held, before + 1, true);
	KUNIT_EXPECT_EQ(test, held.tried, !waits(op));
	expect_belief(test, released, before, false);
	expect_no_report(test);
}

static void lockdep_knows_the_holder(struct kunit *test)
{
	expect_holder_is_known(test);
}

static void lockdep_knows_the_holder_that_could_not_fail(struct kunit *test)
{
	expect_holder_is_known(test);
}

/* While a context waits, and after it has given up */

/**
 * struct observation - what lockdep knows in the middle of the first read of the clock
 * @row: the lock's type
 * @lock: the lock
 * @belief: what it knows
 * @made: the clock was read
 */
struct observation {
	const struct nbq_row *row;
	void *lock;
	struct belief belief;
	bool made;
};

static void observe(void *arg)
{
	struct observation *observation = arg;

	observation->belief = belief_of(observation->row, observation->lock);
	observation->made = true;
}

static void waiter_is_known_while_it_waits_and_forgotten_after(struct kunit *test)
{
	struct observation waiting = { .row = row_of(test), .lock = lock_of(test) };
	const struct nbq_operation *op = test->param_value;
	const struct nbq_row *row = row_of(test);
	int before = lockdep_depth(current);
	struct belief after;
	unsigned long flags;
	int ret;

	needs_lockdep(test);
	/* before and after: H; in between: H w, or w before it enqueues */
	nbq_bench_hold(test);
	nbq_fake_start(1000, 10);
	nbq_fake_call(1, observe, &waiting);
	ret = row->take(op, waiting.lock, &flags);
	after = belief_of(row, waiting.lock);
	if (!ret)
		row->drop(op, waiting.lock, flags);

	KUNIT_EXPECT_EQ(test, ret, nbq_operation_failure(op));
	KUNIT_EXPECT_EQ(test, waiting.made, waits(op));
	if (waiting.made)
		expect_belief(test, waiting.belief, before + 1, true);
	KUNIT_EXPECT_FALSE(test, waiting.belief.tried);
	expect_belief(test, after, before, false);
	expect_no_report(test);
}

static void attempt_without_a_node_is_forgotten(struct kunit *test)
{
	const struct nbq_operation *op = test->param_value;
	int before = lockdep_depth(current);
	const struct nbq_row *row = row_of(test);
	void *lock = lock_of(test);
	struct nbq_replaced replaced;
	struct belief after;
	unsigned long flags;
	int ret;

	needs_lockdep(test);
	nbq_bench_hold(test);
	nbq_fake_start(1000, 10);
	preempt_disable();
	nbq_pool_replace(&replaced, nbq_this_pool(), NULL, NULL);
	ret = row->take(op, lock, &flags);
	after = belief_of(row, lock);
	nbq_pool_restore(&replaced);
	preempt_enable();

	KUNIT_EXPECT_NE(test, ret, 0);
	expect_belief(test, after, before, false);
	expect_no_report(test);
}

/* In an NMI */

struct nmi_attempt {
	const struct nbq_row *row;
	void *lock;
	int ret;
};

static void attempt_in_nmi(void *arg)
{
	static const struct nbq_operation op = { "lock_timeout", TIMEOUT, PLAIN, 100 };
	struct nmi_attempt *attempt = arg;
	unsigned long flags;

	attempt->ret = attempt->row->take(&op, attempt->lock, &flags);
	if (!attempt->ret)
		attempt->row->drop(&op, attempt->lock, flags);
}

/* Nothing is wrong with that: its patience ends. */
static void nmi_with_patience_may_wait_for_a_lock_of_tasks(struct kunit *test)
{
	struct nmi_attempt attempt = { .row = row_of(test), .lock = lock_of(test) };

	needs_lockdep(test);
	nbq_fake_start(1000, 10);
	attempt.row->lock(attempt.lock);
	attempt.row->unlock(attempt.lock);
	nbq_as_nmi(attempt_in_nmi, &attempt);
	KUNIT_EXPECT_EQ(test, attempt.ret, 0);
	expect_no_report(test);

	nbq_bench_hold(test);
	nbq_as_nmi(attempt_in_nmi, &attempt);
	KUNIT_EXPECT_EQ(test, attempt.ret, -ETIMEDOUT);
	expect_no_report(test);
}

/* Locks of one class */

/* Take inner inside outer, and give both back: 0, or what taking inner gave. */
static int nest(const struct nbq_operation *op, const struct nbq_row *row,
		void *outer, void *inner)
{
	unsigned long flags;
	int ret;

	row->lock(outer);
	ret = row->take(op, inner, &flags);
	if (!ret)
		row->drop(op, inner, flags);
	row->unlock(outer);
	return ret;
}

static void lock_of_the_same_class_is_taken_by_its_subclass(struct kunit *test)
{
	void *outer = lock_of(test), *inner = new_lock(test);

	needs_lockdep(test);
	nbq_fake_start(1000, 10);
	KUNIT_EXPECT_EQ(test, nest(test->param_value, row_of(test), outer, inner), 0);
	expect_no_report(test);
	KUNIT_EXPECT_EQ(test, row_of(test)->destroy(inner), 0);
}

static const struct nbq_operation plain = { "lock_timeout", TIMEOUT, PLAIN, 100 };

static void subclass_and_class_can_be_set(struct kunit *test)
{
	void *lock = lock_of(test), *sub = new_lock(test), *other = new_lock(test);
	const struct nbq_row *row = row_of(test);

	needs_lockdep(test);
	row->set_subclass(sub, SINGLE_DEPTH_NESTING);
	row->set_class(other);
	nbq_fake_start(1000, 10);
	KUNIT_EXPECT_EQ(test, nest(&plain, row, lock, sub), 0);
	KUNIT_EXPECT_EQ(test, nest(&plain, row, lock, other), 0);
	expect_no_report(test);
	KUNIT_EXPECT_EQ(test, row->destroy(sub), 0);
	KUNIT_EXPECT_EQ(test, row->destroy(other), 0);
}

static void untracked_locks_may_be_taken_in_any_order(struct kunit *test)
{
	void *one = lock_of(test), *other = new_lock(test);
	const struct nbq_row *row = row_of(test);

	needs_lockdep(test);
	row->notrack(one);
	row->notrack(other);
	nbq_fake_start(1000, 10);
	KUNIT_EXPECT_EQ(test, nest(&plain, row, one, other), 0);
	KUNIT_EXPECT_EQ(test, nest(&plain, row, other, one), 0);
	expect_no_report(test);
	KUNIT_EXPECT_EQ(test, row->destroy(other), 0);
}

#ifdef CONFIG_DEBUG_LOCK_ALLOC
static void every_place_that_makes_a_lock_has_a_class(struct kunit *test)
{
	const struct nbq_row *row = row_of(test);
	struct lockdep_map *map = row->dep_map(lock_of(test));
	struct lockdep_map *same = row->dep_map(new_lock(test));
	void *elsewhere = new_lock(test);

	row->init_elsewhere(elsewhere);
	KUNIT_EXPECT_PTR_EQ(test, map->key, same->key);
	KUNIT_EXPECT_PTR_NE(test, map->key, row->dep_map(elsewhere)->key);
	KUNIT_EXPECT_STREQ(test, map->name, "x");
}

static void lock_is_one_that_spins(struct kunit *test)
{
	const struct nbq_row *row = row_of(test);
	void *locks[] = { lock_of(test), row->static_lock, row->static_member };
	int i;

	for (i = 0; i < 3; i++) {
		struct lockdep_map *map = row->dep_map(locks[i]);

		KUNIT_EXPECT_EQ(test, map->wait_type_inner, LD_WAIT_SPIN);
		KUNIT_EXPECT_NOT_NULL(test, map->name);
	}
}
#else
static void every_place_that_makes_a_lock_has_a_class(struct kunit *test)
{
	needs_lockdep(test);
}

static void lock_is_one_that_spins(struct kunit *test)
{
	needs_lockdep(test);
}
#endif

#define NBQ_SUITE_CASES							\
{									\
	KUNIT_CASE_PARAM(lockdep_knows_the_holder,			\
			 failing_operation_gen_params),			\
	KUNIT_CASE_PARAM(lockdep_knows_the_holder_that_could_not_fail,	\
			 untimed_operation_gen_params),			\
	KUNIT_CASE_PARAM(waiter_is_known_while_it_waits_and_forgotten_after,\
			 failing_operation_gen_params),			\
	KUNIT_CASE_PARAM(attempt_without_a_node_is_forgotten,		\
			 failing_operation_gen_params),			\
	KUNIT_CASE(nmi_with_patience_may_wait_for_a_lock_of_tasks),	\
	KUNIT_CASE_PARAM(lock_of_the_same_class_is_taken_by_its_subclass,\
			 inner_operation_gen_params),			\
	KUNIT_CASE(subclass_and_class_can_be_set),			\
	KUNIT_CASE(untracked_locks_may_be_taken_in_any_order),		\
	KUNIT_CASE(every_place_that_makes_a_lock_has_a_class),		\
	KUNIT_CASE(lock_is_one_that_spins),				\
	{}								\
}

#define NBQ_SUITE_SUFFIX	"_lockdep"
#include "lock_row_suites.h"
