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
#include <linux/string.h>

#include "common.h"

/**
 * struct use - one use of a guard, and what is seen from within
 * @guard: for the guard
 * @row: the type of the lock
 * @lock: the lock
 * @in: the context in the block
 * @out: the context after the block, if its last statement was run
 * @held: the lock was held in the block
 * @held_after: whether it was after the block
 */
struct use {
	struct nbq_guard_use guard;
	const struct nbq_row *row;
	const void *lock;
	struct nbq_context in;
	struct nbq_context out;
	bool held;
	bool held_after;
};

static void observe(struct nbq_guard_use *guard)
{
	struct use *use = container_of(guard, struct use, guard);

	if (guard->afters) {
		use->out = nbq_context_now();
		use->held_after = use->row->is_locked(use->lock);
	} else {
		use->in = nbq_context_now();
		use->held = use->row->is_locked(use->lock);
	}
}

static struct use use_of(struct kunit *test, ktime_t time)
{
	struct nbq_bench *bench = test->priv;

	return (struct use){
		.guard = { .time = time, .observe = observe },
		.row = bench->row,
		.lock = bench->lock,
	};
}

/* Positions in the row */
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

static void guard_desc(const struct guard_case *guard, char *desc)
{
	strscpy(desc, guard->desc, KUNIT_PARAM_DESC_SIZE);
}

/* Those that put the interrupt state back */
#define NBQ_GUARD(by, how, form)	ROW_OF_##form(by, how)
#define ROW_OF_PLAIN(by, how)
#define ROW_OF_IRQ(by, how)
#define ROW_OF_BH(by, how)
#define ROW_OF_IRQSAVE(by, how)						\
	{ #by "." #how, INDEX_##by##_##how##_IRQSAVE, how, IRQSAVE },
static const struct guard_case saving_guards[] = {
#include "guard_list.h"
};

#undef NBQ_GUARD

KUNIT_ARRAY_PARAM(any_guard, all_guards, guard_desc);
KUNIT_ARRAY_PARAM(saving_guard, saving_guards, guard_desc);
KUNIT_ARRAY_PARAM(failing_guard, guards_that_can_fail, guard_desc);

static void needs_guards(struct kunit *test)
{
	struct nbq_bench *bench = test->priv;

	if (!bench->row->guards)
		kunit_skip(test, "this kernel has no <linux/cleanup.h>");
}

/* Use the case's guard once. */
static void use_guard(struct kunit *test, struct use *use)
{
	const struct guard_case *guard = test->param_value;
	struct nbq_bench *bench = test->priv;

	bench->row->guards[guard->index](bench->lock, &use->guard);
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

/* One acquisition, and a release without a successor */
#define EXPECT_ONE_USE(test, facts)					\
	EXPECT_TOTAL(test, .acquired_uncontended = (facts)->holder_nodes,	\
		     .nodes_allocated = (facts)->holder_nodes,			\
		     .nodes_freed = (facts)->holder_nodes && !(facts)->tail_stays)

static void guard_holds_the_lock_in_its_block_as_its_name_says(struct kunit *test)
{
	const struct guard_case *guard = test->param_value;
	struct nbq_context before = nbq_context_now();
	struct nbq_bench *bench = test->priv;
	struct use use = use_of(test, KTIME_MAX);

	needs_guards(test);
	use_guard_fairly(test, &use);
	KUNIT_EXPECT_EQ(test, use.guard.blocks, 1);
	KUNIT_EXPECT_EQ(test, use.guard.err, 0);
	KUNIT_EXPECT_TRUE(test, use.held);
	nbq_expect_context(test, use.in, nbq_context_within(before, guard->form));
	KUNIT_EXPECT_FALSE(test, bench->row->is_locked(bench->lock));
	EXPECT_ONE_USE(test, bench->row->facts);
}

static void guard_leaves_interrupts_off_that_were_off(struct kunit *test)
{
	struct use use = use_of(test, KTIME_MAX);
	struct nbq_context after;

	needs_guards(test);
	local_irq_disable();
	use_guard(test, &use);
	after = nbq_context_now();
	local_irq_enable();
	if (use.guard.missing)
		kunit_skip(test, "this kernel does not have such guards");
	KUNIT_EXPECT_EQ(test, use.guard.blocks, 1);
	KUNIT_EXPECT_TRUE(test, use.in.irqs_off);
	KUNIT_EXPECT_TRUE(test, after.irqs_off);
}

static void guard_that_fails_runs_no_block_and_has_its_error(struct kunit *test)
{
	const struct guard_case *guard = test->param_value;
	struct use use = use_of(test, guard->how == UNTIL ? 1000 + 1050 : 1050);

	needs_guards(test);
	nbq_bench_hold(test);
	nbq_fake_start(1000, 10);
	use_guard_fairly(test, &use);
	KUNIT_EXPECT_EQ(test, use.guard.blocks, 0);
	KUNIT_EXPECT_EQ(test, use.guard.err,
			guard->how == TRY ? -EBUSY : -ETIMEDOUT);
	/* In steps of 10, for 1050 or not at all. */
	KUNIT_EXPECT_EQ(test, nbq_fake.reads,
			guard->how == TRY ? 0 : 106);
	EXPECT_SHAPE(test, "H");
}

static void guard_that_gets_no_node_has_its_error(struct kunit *test)
{
	const struct guard_case *guard = test->param_value;
	struct use use = use_of(test, guard->how == UNTIL ? 1000 + 1050 : 1050);
	struct nbq_bench *bench = test->priv;
	struct nbq_replaced replaced;

	needs_guards(test);
	nbq_bench_hold(test);
	nbq_fake_start(1000, 10);
	preempt_disable();
	nbq_pool_replace(&replaced, nbq_this_pool(), NULL, NULL);
	use_guard(test, &use);
	nbq_pool_restore(&replaced);
	preempt_enable();
	if (use.guard.missing)
		kunit_skip(test, "this kernel does not have such guards");
	KUNIT_EXPECT_EQ(test, use.guard.blocks, 0);
	KUNIT_EXPECT_EQ(test, use.guard.err,
			guard->how == TRY ? -EBUSY :
					    bench->row->facts->without_node);
}

/* Ways out of the block */

static const struct way_case {
	const char *desc;
	unsigned int index;
	enum nbq_way way;
	/* statements that are run after the block */
	unsigned int afters;
} all_ways[] = {
	{ "guard.its_end", 0, BY_ITS_END, 2 },
	{ "guard.return", 0, BY_RETURN, 0 },
	{ "guard.goto", 0, BY_GOTO, 1 },
	{ "guard.break", 0, BY_BREAK, 2 },
	{ "scoped_guard.its_end", 1, BY_ITS_END, 2 },
	{ "scoped_guard.return", 1, BY_RETURN, 0 },
	{ "scoped_guard.goto", 1, BY_GOTO, 1 },
	{ "scoped_guard.break", 1, BY_BREAK, 2 },
	{ "class.its_end", 2, BY_ITS_END, 2 },
	{ "class.return", 2, BY_RETURN, 0 },
	{ "class.goto", 2, BY_GOTO, 1 },
	{ "class.break", 2, BY_BREAK, 2 },
	{ "scoped_cond_guard.its_end", 3, BY_ITS_END, 2 },
	{ "scoped_cond_guard.return", 3, BY_RETURN, 0 },
	{ "scoped_cond_guard.goto", 3, BY_GOTO, 1 },
	{ "scoped_cond_guard.break", 3, BY_BREAK, 2 },
}, ways_if_it_fails[] = {
	{ "class.its_end", 2, BY_ITS_END, 2 },
	{ "class.return", 2, BY_RETURN, 0 },
	{ "class.goto", 2, BY_GOTO, 1 },
	{ "class.break", 2, BY_BREAK, 2 },
	{ "scoped_cond_guard.its_end", 3, BY_ITS_END, 2 },
	{ "scoped_cond_guard.return", 3, BY_RETURN, 0 },
	{ "scoped_cond_guard.goto", 3, BY_GOTO, 1 },
	{ "scoped_cond_guard.break", 3, BY_BREAK, 2 },
};

static void way_desc(const struct way_case *way, char *desc)
{
	strscpy(desc, way->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(any_way, all_ways, way_desc);
KUNIT_ARRAY_PARAM(failing_way, ways_if_it_fails, way_desc);

static void guard_releases_once_on_every_way_out(struct kunit *test)
{
	const struct way_case *way = test->param_value;
	struct use use = use_of(test, KTIME_MAX);
	struct nbq_bench *bench = test->priv;
	struct nbq_context before, after;

	needs_guards(test);
	if (!bench->row->ways_out[way->index])
		kunit_skip(test, "this kernel does not have such guards");
	use.guard.way = way->way;
	before = nbq_context_now();
	bench->row->ways_out[way->index](bench->lock, &use.guard);
	after = nbq_context_now();
	nbq_context_restore(before);

	KUNIT_EXPECT_EQ(test, use.guard.blocks, 1);
	KUNIT_EXPECT_TRUE(test, use.held);
	KUNIT_EXPECT_EQ(test, use.guard.afters, way->afters);
	KUNIT_EXPECT_FALSE(test, use.held_after);
	if (way->afters)
		nbq_expect_context(test, use.out, before);
	nbq_expect_context(test, after, before);
	KUNIT_EXPECT_FALSE(test, bench->row->is_locked(bench->lock));
	EXPECT_ONE_USE(test, bench->row->facts);
}

static void guard_that_fails_takes_none_of_the_ways_out(struct kunit *test)
{
	const struct way_case *way = test->param_value;
	struct use use = use_of(test, 0);
	struct nbq_bench *bench = test->priv;

	needs_guards(test);
	if (!bench->row->ways_out[way->index])
		kunit_skip(test, "this kernel does not have such guards");
	nbq_bench_hold(test);
	use.guard.way = way->way;
	bench->row->ways_out[way->index](bench->lock, &use.guard);
	KUNIT_EXPECT_EQ(test, use.guard.blocks, 0);
	KUNIT_EXPECT_EQ(test, use.guard.afters, 0);
	KUNIT_EXPECT_EQ(test, use.guard.err, -EBUSY);
	EXPECT_SHAPE(test, "H");
}

#define NBQ_SUITE_CASES							\
{									\
	KUNIT_CASE_PARAM(guard_holds_the_lock_in_its_block_as_its_name_says,\
			 any_guard_gen_params),				\
	KUNIT_CASE_PARAM(guard_leaves_interrupts_off_that_were_off,	\
			 saving_guard_gen_params),			\
	KUNIT_CASE_PARAM(guard_that_fails_runs_no_block_and_has_its_error,	\
			 failing_guard_gen_params),			\
	KUNIT_CASE_PARAM(guard_that_gets_no_node_has_its_error,		\
			 failing_guard_gen_params),			\
	KUNIT_CASE_PARAM(guard_releases_once_on_every_way_out,		\
			 any_way_gen_params),				\
	KUNIT_CASE_PARAM(guard_that_fails_takes_none_of_the_ways_out,	\
			 failing_way_gen_params),			\
	{}								\
}

#define NBQ_SUITE_SUFFIX	"_guards"
#include "lock_row_suites.h"
