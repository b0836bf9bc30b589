// SPDX-License-Identifier: GPL-2.0
/*
 * The guards of every lock type: that each acquires by the operation that its class
 * names and releases once, whichever way control leaves its block, and that one that
 * fails runs no block and has its error.
 *
 * What does not compile is tested by tools/check guards.
 */
#include <linux/irqflags.h>
#include <linux/preempt.h>

#include "common.h"

/* One use of a guard, and what is seen from within */
struct use {
	struct nbq_guard_use guard;		/* for the guard */
	const struct nbq_lock_type *type;	/* the type of the lock */
	const void *lock;			/* the lock */
	struct nbq_context in;			/* the context in the block */
	struct nbq_context out;	/* the context after the block, if its last statement was run */
	bool held;				/* the lock was held in the block */
	bool held_after;			/* whether it was after the block */
};

static void observe(struct nbq_guard_use *guard)
{
	struct use *use = container_of(guard, struct use, guard);

	if (guard->afters) {
		use->out = nbq_context_now();
		use->held_after = use->type->is_locked(use->lock);
	} else {
		use->in = nbq_context_now();
		use->held = use->type->is_locked(use->lock);
	}
}

static struct use use_of(struct kunit *test, ktime_t time)
{
	struct nbq_fixture *fixture = test->priv;

	return (struct use){
		.guard = { .time = time, .observe = observe },
		.type = fixture->type,
		.lock = fixture->lock,
	};
}

/* Positions in the guards of a lock type */
enum {
#define NBQ_GUARD(by, how, form)	INDEX_##by##_##how##_##form,
#include "guard_list.h"
#undef NBQ_GUARD
};

#define NBQ_GUARD(by, how, form)					\
	{ #by "." #how "." #form, INDEX_##by##_##how##_##form, how, form },
static const struct guard_case {
	const char *desc;
	unsigned int index;
	enum nbq_how how;
	enum nbq_form form;
} all_guards[] = {
#include "guard_list.h"
}, guards_that_can_fail[] = {
#define NBQ_ONLY_GUARDS_THAT_CAN_FAIL
#include "guard_list.h"
#undef NBQ_ONLY_GUARDS_THAT_CAN_FAIL
};

#undef NBQ_GUARD

NBQ_TYPES_PARAM(any_guard, all_guards);
NBQ_TYPES_PARAM(failing_guard, guards_that_can_fail);

static void needs_guards(struct kunit *test)
{
	struct nbq_fixture *fixture = test->priv;

	if (!fixture->type->guards)
		kunit_skip(test, "this kernel has no <linux/cleanup.h>");
}

/* Use the case's guard once. */
static void use_guard(struct kunit *test, struct use *use)
{
	const struct guard_case *guard = nbq_value(test);
	struct nbq_fixture *fixture = test->priv;

	fixture->type->guards[guard->index](fixture->lock, &use->guard);
}

/* The same; the caller's context is as before afterwards. */
static void use_guard_fairly(struct kunit *test, struct use *use)
{
	struct nbq_context before, after;

	before = nbq_context_now();
	use_guard(test, use);
	after = nbq_context_now();
	nbq_context_restore(before);
	if (use->guard.missing)
		kunit_skip(test, "this kernel does not have such guards");
	nbq_expect_context(test, after, before);
}

/* One acquisition, and a release without a successor: a node stays in the lock */
#define EXPECT_ONE_USE(test, traits)					\
	EXPECT_TOTAL(test, .acquired_uncontended = (traits)->holder_nodes,	\
		     .nodes_allocated = (traits)->holder_nodes)

static void expect_interrupts_stay_off(struct kunit *test)
{
	struct use use = use_of(test, KTIME_MAX);
	struct nbq_context after;

	local_irq_disable();
	use_guard(test, &use);
	after = nbq_context_now();
	local_irq_enable();
	KUNIT_EXPECT_TRUE(test, use.in.irqs_off);
	KUNIT_EXPECT_TRUE(test, after.irqs_off);
}

static void guard_holds_the_lock_in_its_block_as_its_name_says(struct kunit *test)
{
	const struct guard_case *guard = nbq_value(test);
	struct nbq_context before = nbq_context_now();
	struct nbq_fixture *fixture = test->priv;
	struct use use = use_of(test, KTIME_MAX);

	needs_guards(test);
	use_guard_fairly(test, &use);
	KUNIT_EXPECT_EQ(test, use.guard.blocks, 1);
	KUNIT_EXPECT_EQ(test, use.guard.err, 0);
	KUNIT_EXPECT_TRUE(test, use.held);
	nbq_expect_context(test, use.in, nbq_context_within(before, guard->form));
	KUNIT_EXPECT_FALSE(test, fixture->type->is_locked(fixture->lock));
	EXPECT_ONE_USE(test, fixture->type->traits);
	if (guard->form == IRQSAVE)
		expect_interrupts_stay_off(test);
}

static void guard_that_fails_runs_no_block_and_has_its_error(struct kunit *test)
{
	const struct guard_case *guard = nbq_value(test);
	struct use use = use_of(test, guard->how == UNTIL ? 1000 + 1050 : 1050);

	needs_guards(test);
	nbq_fixture_hold(test);
	nbq_fake_start(1000, 10);
	use_guard_fairly(test, &use);
	KUNIT_EXPECT_EQ(test, use.guard.blocks, 0);
	KUNIT_EXPECT_EQ(test, use.guard.err, guard->how == TRY ? -EBUSY : -ETIMEDOUT);
	if (guard->how == TRY)
		EXPECT_ENDED_AT_ONCE(test);
	else
		EXPECT_ENDED_AT(test, 1000 + 1050);
	EXPECT_SHAPE(test, "H");
}

static void guard_that_gets_no_node_has_its_error(struct kunit *test)
{
	const struct guard_case *guard = nbq_value(test);
	struct use use = use_of(test, guard->how == UNTIL ? 1000 + 1050 : 1050);
	struct nbq_fixture *fixture = test->priv;
	struct nbq_replaced replaced;

	needs_guards(test);
	nbq_fixture_hold(test);
	nbq_fake_start(1000, 10);
	preempt_disable();
	nbq_pool_replace(&replaced, nbq_this_pool(), NULL, NULL);
	use_guard(test, &use);
	nbq_pool_restore(&replaced);
	preempt_enable();
	if (use.guard.missing)
		kunit_skip(test, "this kernel does not have such guards");
	KUNIT_EXPECT_EQ(test, use.guard.blocks, 0);
	KUNIT_EXPECT_EQ(test, use.guard.err, guard->how == TRY ? -EBUSY :
					    fixture->type->traits->without_node);
}

/* Ways out of the block */

static const struct user_case {
	const char *desc;
	unsigned int index;	/* in the ways out of a lock type */
} users[] = {
	{ "guard", 0 },
	{ "scoped_guard", 1 },
	{ "class", 2 },
	{ "scoped_cond_guard", 3 },
}, users_that_can_fail[] = {
	{ "class", 2 },
	{ "scoped_cond_guard", 3 },
};

NBQ_TYPES_PARAM(user, users);
NBQ_TYPES_PARAM(failing_user, users_that_can_fail);

/* Use it once, with that way out. */
static struct use leave_by(struct kunit *test, enum nbq_way way, ktime_t time)
{
	const struct user_case *user = nbq_value(test);
	struct nbq_fixture *fixture = test->priv;
	struct use use = use_of(test, time);

	needs_guards(test);
	if (!fixture->type->ways_out[user->index])
		kunit_skip(test, "this kernel does not have such guards");
	use.guard.way = way;
	fixture->type->ways_out[user->index](fixture->lock, &use.guard);
	return use;
}

static void guard_releases_once_on_every_way_out(struct kunit *test)
{
	/* Statements that are run after the block */
	static const unsigned int afters[] = {
		[BY_ITS_END] = 2, [BY_RETURN] = 0, [BY_GOTO] = 1, [BY_BREAK] = 2,
	};
	struct nbq_fixture *fixture = test->priv;
	struct nbq_context before, after;
	struct use use;
	unsigned int way;

	for (way = BY_ITS_END; way <= BY_BREAK; way++) {
		before = nbq_context_now();
		use = leave_by(test, way, KTIME_MAX);
		after = nbq_context_now();
		nbq_context_restore(before);

		KUNIT_EXPECT_EQ_MSG(test, use.guard.blocks, 1, "way %u", way);
		KUNIT_EXPECT_TRUE_MSG(test, use.held, "way %u", way);
		KUNIT_EXPECT_EQ_MSG(test, use.guard.afters, afters[way], "way %u", way);
		KUNIT_EXPECT_FALSE_MSG(test, use.held_after, "way %u", way);
		if (afters[way])
			nbq_expect_context(test, use.out, before);
		nbq_expect_context(test, after, before);
		KUNIT_EXPECT_FALSE(test, fixture->type->is_locked(fixture->lock));
		EXPECT_ONE_USE(test, fixture->type->traits);
		KUNIT_EXPECT_EQ(test, fixture->type->destroy(fixture->lock), 0);
		nbq_read_events(&fixture->total);
	}
}

static void guard_that_fails_takes_none_of_the_ways_out(struct kunit *test)
{
	struct use use;
	unsigned int way;

	needs_guards(test);
	nbq_fixture_hold(test);
	for (way = BY_ITS_END; way <= BY_BREAK; way++) {
		use = leave_by(test, way, 0);
		KUNIT_EXPECT_EQ_MSG(test, use.guard.blocks, 0, "way %u", way);
		KUNIT_EXPECT_EQ_MSG(test, use.guard.afters, 0, "way %u", way);
		KUNIT_EXPECT_EQ_MSG(test, use.guard.err, -EBUSY, "way %u", way);
		EXPECT_SHAPE(test, "H");
	}
}

static struct kunit_case guards_cases[] = {
	KUNIT_CASE_PARAM(guard_holds_the_lock_in_its_block_as_its_name_says, any_guard_gen_params),
	KUNIT_CASE_PARAM(guard_that_fails_runs_no_block_and_has_its_error,
			 failing_guard_gen_params),
	KUNIT_CASE_PARAM(guard_that_gets_no_node_has_its_error, failing_guard_gen_params),
	KUNIT_CASE_PARAM(guard_releases_once_on_every_way_out, user_gen_params),
	KUNIT_CASE_PARAM(guard_that_fails_takes_none_of_the_ways_out, failing_user_gen_params),
	{}
};

static struct kunit_suite guards_suite = {
	.name = "nbq_guards",
	.init = nbq_fixture_init,
	.exit = nbq_fixture_finish,
	.test_cases = guards_cases,
};

kunit_test_suite(guards_suite);
