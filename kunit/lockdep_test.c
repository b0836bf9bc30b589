// SPDX-License-Identifier: GPL-2.0
/*
 * What lockdep knows of every lock type: what is held, before the wait and after
 * it, and how locks of one class are found apart.
 *
 * A report of lockdep's would fail the whole run, and lockdep with it; so what
 * must be reported is not here but in tools/module/faults, each in a boot of its own.
 */
#include <linux/debug_locks.h>
#include <linux/lockdep.h>
#include <linux/preempt.h>
#include <linux/sched.h>

#include "common.h"

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

static struct belief belief_of(const struct nbq_lock_type *type, void *lock)
{
	struct belief belief = { .depth = lockdep_depth(current) };

#ifdef CONFIG_LOCKDEP
	belief.held = lock_is_held(type->dep_map(lock)) == LOCK_STATE_HELD;
	belief.tried = was_tried(type->dep_map(lock));
#endif
	return belief;
}

static void expect_belief(struct kunit *test, struct belief belief, int depth, bool held)
{
	KUNIT_EXPECT_EQ(test, belief.depth, depth);
	KUNIT_EXPECT_EQ(test, belief.held, held);
}

/* A lock of the same class as that of the fixture */
static void *new_lock(struct kunit *test)
{
	void *lock = nbq_new_lock(test, nbq_type(test));

	nbq_type(test)->init(lock);
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

NBQ_TYPES_PARAM(failing_operation, failing_operations);
NBQ_TYPES_PARAM(untimed_operation, untimed_operations);
NBQ_TYPES_PARAM(inner_operation, inner_operations);

/* An attempt without patience does not wait. */
static bool waits(const struct nbq_operation *op)
{
	return op->how == LOCK || op->how == UNTIL || (op->how == TIMEOUT && op->time > 0);
}

static void lockdep_knows_the_holder(struct kunit *test)
{
	const struct nbq_operation *op = nbq_value(test);
	const struct nbq_lock_type *type = nbq_type(test);
	int before = lockdep_depth(current);
	struct belief held, released;
	void *lock = nbq_lock(test);
	unsigned long flags;
	int ret;

	nbq_fake_start(1000, 10);
	ret = type->take(op, lock, &flags);
	held = belief_of(type, lock);
	if (!ret) {
		/* Would warn, and fail the run */
		type->assert_held(lock);
		type->drop(op, lock, flags);
	}
	released = belief_of(type, lock);

	KUNIT_EXPECT_EQ(test, ret, 0);
	expect_belief(test, held, before + 1, true);
	KUNIT_EXPECT_EQ(test, held.tried, !waits(op));
	expect_belief(test, released, before, false);
}

/* While a context waits, and after it has given up */

/* What lockdep knows in the middle of the first read of the clock */
struct observation {
	const struct nbq_lock_type *type;	/* the lock's type */
	void *lock;				/* the lock */
	struct belief belief;			/* what it knows */
	bool made;				/* the clock was read */
};

static void observe(void *arg)
{
	struct observation *observation = arg;

	observation->belief = belief_of(observation->type, observation->lock);
	observation->made = true;
}

static void waiter_is_known_while_it_waits_and_forgotten_after(struct kunit *test)
{
	struct observation waiting = { .type = nbq_type(test), .lock = nbq_lock(test) };
	const struct nbq_operation *op = nbq_value(test);
	const struct nbq_lock_type *type = nbq_type(test);
	int before = lockdep_depth(current);
	struct belief after;
	unsigned long flags;
	int ret;

	/* Before and after: H; in between: H w, or w before it enqueues */
	nbq_fixture_hold(test);
	nbq_fake_start(1000, 10);
	nbq_fake_call(0, observe, &waiting);
	ret = type->take(op, waiting.lock, &flags);
	after = belief_of(type, waiting.lock);
	if (!ret)
		type->drop(op, waiting.lock, flags);

	KUNIT_EXPECT_EQ(test, ret, nbq_operation_failure(op));
	KUNIT_EXPECT_EQ(test, waiting.made, waits(op));
	if (waiting.made)
		expect_belief(test, waiting.belief, before + 1, true);
	KUNIT_EXPECT_FALSE(test, waiting.belief.tried);
	expect_belief(test, after, before, false);
}

static void attempt_without_a_node_is_forgotten(struct kunit *test)
{
	const struct nbq_operation *op = nbq_value(test);
	int before = lockdep_depth(current);
	const struct nbq_lock_type *type = nbq_type(test);
	void *lock = nbq_lock(test);
	struct nbq_replaced replaced;
	struct belief after;
	unsigned long flags;
	int ret;

	nbq_fixture_hold(test);
	nbq_fake_start(1000, 10);
	preempt_disable();
	nbq_pool_replace(&replaced, nbq_this_pool(), NULL, NULL);
	ret = type->take(op, lock, &flags);
	after = belief_of(type, lock);
	nbq_pool_restore(&replaced);
	preempt_enable();

	KUNIT_EXPECT_NE(test, ret, 0);
	expect_belief(test, after, before, false);
}

struct nmi_attempt {
	const struct nbq_lock_type *type;
	void *lock;
	int ret;
};

static void attempt_in_nmi(void *arg)
{
	static const struct nbq_operation op = { "lock_timeout", TIMEOUT, PLAIN, 100 };
	struct nmi_attempt *attempt = arg;
	unsigned long flags;

	attempt->ret = attempt->type->take(&op, attempt->lock, &flags);
	if (!attempt->ret)
		attempt->type->drop(&op, attempt->lock, flags);
}

/* Nothing is wrong with that: its patience ends. */
static void nmi_with_patience_may_wait_for_a_lock_of_tasks(struct kunit *test)
{
	struct nmi_attempt attempt = { .type = nbq_type(test), .lock = nbq_lock(test) };

	nbq_fake_start(1000, 10);
	attempt.type->lock(attempt.lock);
	attempt.type->unlock(attempt.lock);
	nbq_as_nmi(attempt_in_nmi, &attempt);
	KUNIT_EXPECT_EQ(test, attempt.ret, 0);

	nbq_fixture_hold(test);
	nbq_as_nmi(attempt_in_nmi, &attempt);
	KUNIT_EXPECT_EQ(test, attempt.ret, -ETIMEDOUT);
}

/* Locks of one class */

/* Take inner inside outer, and give both back: 0, or what taking inner gave. */
static int nest(const struct nbq_operation *op, const struct nbq_lock_type *type,
		void *outer, void *inner)
{
	unsigned long flags;
	int ret;

	type->lock(outer);
	ret = type->take(op, inner, &flags);
	if (!ret)
		type->drop(op, inner, flags);
	type->unlock(outer);
	return ret;
}

static void lock_of_the_same_class_is_taken_by_its_subclass(struct kunit *test)
{
	void *outer = nbq_lock(test), *inner = new_lock(test);

	nbq_fake_start(1000, 10);
	KUNIT_EXPECT_EQ(test, nest(nbq_value(test), nbq_type(test), outer, inner), 0);
	KUNIT_EXPECT_EQ(test, nbq_type(test)->destroy(inner), 0);
}

static const struct nbq_operation plain = { "lock_timeout", TIMEOUT, PLAIN, 100 };

static void subclass_and_class_can_be_set(struct kunit *test)
{
	void *lock = nbq_lock(test), *sub = new_lock(test), *other = new_lock(test);
	const struct nbq_lock_type *type = nbq_type(test);

	type->set_subclass(sub, SINGLE_DEPTH_NESTING);
	type->set_class(other);
	nbq_fake_start(1000, 10);
	KUNIT_EXPECT_EQ(test, nest(&plain, type, lock, sub), 0);
	KUNIT_EXPECT_EQ(test, nest(&plain, type, lock, other), 0);
	KUNIT_EXPECT_EQ(test, type->destroy(sub), 0);
	KUNIT_EXPECT_EQ(test, type->destroy(other), 0);
}

static void untracked_locks_may_be_taken_in_any_order(struct kunit *test)
{
	void *one = nbq_lock(test), *other = new_lock(test);
	const struct nbq_lock_type *type = nbq_type(test);

	type->notrack(one);
	type->notrack(other);
	nbq_fake_start(1000, 10);
	KUNIT_EXPECT_EQ(test, nest(&plain, type, one, other), 0);
	KUNIT_EXPECT_EQ(test, nest(&plain, type, other, one), 0);
	KUNIT_EXPECT_EQ(test, type->destroy(other), 0);
}

#ifdef CONFIG_DEBUG_LOCK_ALLOC
static void every_place_that_makes_a_lock_has_a_class(struct kunit *test)
{
	const struct nbq_lock_type *type = nbq_type(test);
	struct lockdep_map *map = type->dep_map(nbq_lock(test));
	struct lockdep_map *same = type->dep_map(new_lock(test));
	void *elsewhere = new_lock(test);

	type->init_elsewhere(elsewhere);
	KUNIT_EXPECT_PTR_EQ(test, map->key, same->key);
	KUNIT_EXPECT_PTR_NE(test, map->key, type->dep_map(elsewhere)->key);
	KUNIT_EXPECT_STREQ(test, map->name, "x");
}

static void lock_is_one_that_spins(struct kunit *test)
{
	const struct nbq_lock_type *type = nbq_type(test);
	void *locks[] = { nbq_lock(test), type->static_lock, type->static_member };
	int i;

	for (i = 0; i < 3; i++) {
		struct lockdep_map *map = type->dep_map(locks[i]);

		KUNIT_EXPECT_EQ(test, map->wait_type_inner, LD_WAIT_SPIN);
		KUNIT_EXPECT_NOT_NULL(test, map->name);
	}
}
#endif

KUNIT_ARRAY_PARAM(type, nbq_types, nbq_type_desc);

static struct kunit_case lockdep_cases[] = {
	KUNIT_CASE_PARAM(lockdep_knows_the_holder, failing_operation_gen_params),
	KUNIT_CASE_PARAM(lockdep_knows_the_holder, untimed_operation_gen_params),
	KUNIT_CASE_PARAM(waiter_is_known_while_it_waits_and_forgotten_after,
			 failing_operation_gen_params),
	KUNIT_CASE_PARAM(attempt_without_a_node_is_forgotten, failing_operation_gen_params),
	KUNIT_CASE_PARAM(nmi_with_patience_may_wait_for_a_lock_of_tasks, type_gen_params),
	KUNIT_CASE_PARAM(lock_of_the_same_class_is_taken_by_its_subclass,
			 inner_operation_gen_params),
	KUNIT_CASE_PARAM(subclass_and_class_can_be_set, type_gen_params),
	KUNIT_CASE_PARAM(untracked_locks_may_be_taken_in_any_order, type_gen_params),
#ifdef CONFIG_DEBUG_LOCK_ALLOC
	KUNIT_CASE_PARAM(every_place_that_makes_a_lock_has_a_class, type_gen_params),
	KUNIT_CASE_PARAM(lock_is_one_that_spins, type_gen_params),
#endif
	{}
};

static int init_with_lockdep(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_PROVE_LOCKING))
		kunit_skip(test, "there is no lockdep in this kernel");
	KUNIT_ASSERT_TRUE_MSG(test, debug_locks, "lockdep has reported something, and is off");
	return nbq_fixture_init(test);
}

/* Nothing of what a case does is to be reported. */
static void exit_without_report(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, debug_locks);
	nbq_fixture_finish(test);
}

static struct kunit_suite lockdep_suite = {
	.name = "nbq_lockdep",
	.init = init_with_lockdep,
	.exit = exit_without_report,
	.test_cases = lockdep_cases,
};

kunit_test_suite(lockdep_suite);
