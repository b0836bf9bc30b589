// SPDX-License-Identifier: GPL-2.0
/*
 * Destroy of the queue locks: what it reclaims, and what it refuses. The hybrid has none.
 *
 * Pictures: see operations_test.c.
 */
#include "common.h"

static void destroy_reclaims_exactly_the_abandoned_nodes(struct kunit *test)
{
	struct nbq_fixture *fixture = test->priv;
	unsigned int abandoned;

	for (abandoned = 0; abandoned <= NBQ_FIXTURE_NODES - 2; abandoned++) {
		nbq_fixture_fill(fixture, NBQ_FIXTURE_NODES);
		nbq_fixture_leave_abandoned(test, abandoned);

		/* before: A L .. L */
		KUNIT_EXPECT_EQ(test, fixture->type->destroy(fixture->lock), 0);

		/* after: [] */
		KUNIT_EXPECT_NULL(test, fixture->type->tail(fixture->lock));
		EXPECT_SHAPE(test, ".");
		EXPECT_TOTAL(test, .nodes_reclaimed = abandoned + 1);
	}
}

/* Misuse. Each case announces the report that it provokes. */

static void destroy_of_a_lock_with_a_waiter_is_refused(struct kunit *test)
{
	const struct nbq_lock_type *type = nbq_type(test);
	struct nbq_fixture *fixture = test->priv;
	struct nbq_contender *holder, *w, *x;

	nbq_provoke_report(test, NBQ_IN_USE_REPORT);
	holder = nbq_fixture_hold(test);
	w = nbq_fixture_enqueue(test);
	x = nbq_fixture_enqueue(test);
	nbq_contender_abandon(fixture, w);
	nbq_contender_release(fixture, holder);

	/* Before and after: A L x */
	KUNIT_EXPECT_EQ(test, type->destroy(fixture->lock), -EBUSY);
	EXPECT_SHAPE(test, "ALW");
	KUNIT_EXPECT_PTR_EQ(test, type->tail(fixture->lock), x->node);
	EXPECT_TOTAL(test);
}

static void destroy_of_a_held_lock_keeps_its_abandoned_nodes(struct kunit *test)
{
	const struct nbq_lock_type *type = nbq_type(test);
	struct nbq_fixture *fixture = test->priv;
	struct nbq_contender *w, *x;
	struct nbq_node *tail;

	nbq_provoke_report(test, NBQ_IN_USE_REPORT);
	nbq_fixture_hold(test);
	w = nbq_fixture_enqueue(test);
	x = nbq_fixture_enqueue(test);
	KUNIT_EXPECT_FALSE(test, nbq_contender_abandon(fixture, w));
	KUNIT_EXPECT_EQ(test, nbq_contender_abandon(fixture, x), !type->traits->tail_stays);

	/* Before and after: H L */
	tail = type->tail(fixture->lock);
	KUNIT_EXPECT_EQ(test, type->destroy(fixture->lock), -EBUSY);
	EXPECT_SHAPE(test, "HLl");
	KUNIT_EXPECT_PTR_EQ(test, type->tail(fixture->lock), tail);
	EXPECT_TOTAL(test);
}

KUNIT_ARRAY_PARAM(type, nbq_queue_types, nbq_type_desc);

static struct kunit_case destroy_cases[] = {
	KUNIT_CASE_PARAM(destroy_reclaims_exactly_the_abandoned_nodes, type_gen_params),
	KUNIT_CASE_PARAM(destroy_of_a_lock_with_a_waiter_is_refused, type_gen_params),
	KUNIT_CASE_PARAM(destroy_of_a_held_lock_keeps_its_abandoned_nodes, type_gen_params),
	{}
};

static struct kunit_suite destroy_suite = {
	.name = "nbq_destroy",
	.init = nbq_fixture_init,
	.exit = nbq_fixture_finish,
	.test_cases = destroy_cases,
};

kunit_test_suite(destroy_suite);
