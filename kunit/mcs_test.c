// SPDX-License-Identifier: GPL-2.0
/*
 * What MCS-NB alone has: a waiter notes that it has a successor.
 */
#include "common.h"

/* Its release then reads neither its own word nor the tail. */
static void waiter_notes_its_successor_when_it_is_granted_the_lock(struct kunit *test)
{
	struct nbq_contender *holder = nbq_fixture_enqueue(test);
	struct nbq_contender *w = nbq_fixture_enqueue(test), *x = nbq_fixture_enqueue(test);

	/* Before: H > w > x; after: A w > x, then w holds, then A x */
	nbq_contender_release(test->priv, holder);
	KUNIT_EXPECT_TRUE(test, nbq_contender_poll(test->priv, w));
	KUNIT_EXPECT_TRUE(test, w->node->has_successor);
	nbq_contender_release(test->priv, w);
	EXPECT_PICTURE(test, ".AW");
	KUNIT_EXPECT_TRUE(test, nbq_contender_poll(test->priv, x));
	KUNIT_EXPECT_FALSE(test, x->node->has_successor);
}

static int mcs_init(struct kunit *test)
{
	return nbq_fixture_init_type(test, &nbq_mcs_type);
}

static struct kunit_case mcs_cases[] = {
	KUNIT_CASE(waiter_notes_its_successor_when_it_is_granted_the_lock),
	{}
};

static struct kunit_suite mcs_suite = {
	.name = "nbq_mcs",
	.init = mcs_init,
	.exit = nbq_fixture_finish,
	.test_cases = mcs_cases,
};

kunit_test_suite(mcs_suite);
