// SPDX-License-Identifier: GPL-2.0
/*
 * What a predecessor publishes to its successor, in MCS-NB and in the swap-only lock: in its
 * own node, if it does not know the successor yet, else in the successor's. And what only
 * they have. What they share with CLH-NB: queue_test.c.
 *
 * Pictures: H holds, W waits, L is abandoned and forgotten by its predecessor, T is abandoned
 * and was notified by it (MCS-NB), A is available, a dot is free. Contenders: the holder, then
 * w, x as they enqueue. "H > w": H knows w.
 */
#include <linux/string.h>

#include "common.h"

static struct nbq_contender *enqueue(struct kunit *test)
{
	struct nbq_contender *contender = nbq_bench_contender(test->priv);

	KUNIT_ASSERT_NOT_NULL(test, contender);
	nbq_contender_enqueue(test->priv, contender);
	return contender;
}

static const struct known_case {
	const char *desc;
	bool known;
} known_cases[] = {
	{ "unknown_successor", false },
	{ "known_successor", true },
};

static void known_desc(const struct known_case *known, char *desc)
{
	strscpy(desc, known->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(known, known_cases, known_desc);

/* The last to enqueue, linked already or not yet */
static struct nbq_contender *successor(struct kunit *test)
{
	const struct known_case *known = test->param_value;

	return known->known ? nbq_bench_enqueue(test) : enqueue(test);
}

/* What its predecessor has published to it */
static struct nbq_node *notification(struct kunit *test, struct nbq_contender *x)
{
	struct nbq_bench *bench = test->priv;

	if (x->state == ENQUEUED)
		nbq_contender_link(bench, x);
	if (x->notified)
		return x->notified;
	return bench->row == &nbq_mcs_row ? nbq_mcs_poll(x->node) : nbq_swap_poll(x->node);
}

static void enqueued_node_is_unknown_until_it_is_linked(struct kunit *test)
{
	struct nbq_contender *holder = nbq_bench_enqueue(test), *w;

	/* before: H w; after: H > w */
	w = enqueue(test);
	KUNIT_EXPECT_NULL(test, holder->node->next);
	nbq_contender_link(test->priv, w);
	KUNIT_EXPECT_NULL(test, w->notified);
	KUNIT_EXPECT_PTR_EQ(test, holder->node->next, w->node);
}

static void release_publishes_available(struct kunit *test)
{
	struct nbq_contender *holder = nbq_bench_enqueue(test), *w = successor(test);

	/* before: H w; after: A w */
	nbq_contender_release(test->priv, holder);
	EXPECT_PICTURE(test, "AW");
	KUNIT_EXPECT_PTR_EQ(test, notification(test, w), NBQ_AVAILABLE);
}

static void abandoned_node_publishes_leaving(struct kunit *test)
{
	struct nbq_contender *holder = nbq_bench_enqueue(test);
	struct nbq_contender *w = nbq_bench_enqueue(test), *x = successor(test);

	/* before: H > w x; after: H L x, then H > x */
	nbq_contender_abandon(test->priv, w);
	EXPECT_PICTURE(test, "HLW");
	KUNIT_EXPECT_PTR_EQ(test, notification(test, x), NBQ_LEAVING);
	KUNIT_EXPECT_FALSE(test, nbq_contender_poll(test->priv, x));
	EXPECT_PICTURE(test, "H.W");
	KUNIT_EXPECT_PTR_EQ(test, holder->node->next, x->node);
}

/* MCS-NB: two contexts are done with such a node, and the second frees it. */
static void abandoned_node_that_was_notified_publishes_transient(struct kunit *test)
{
	struct nbq_contender *holder = nbq_bench_enqueue(test);
	struct nbq_contender *w = nbq_bench_enqueue(test), *x = successor(test);

	/* before: H > w x, and w abandons after H has released; after: A T x, then H */
	nbq_contender_release(test->priv, holder);
	KUNIT_EXPECT_FALSE(test, nbq_contender_abandon(test->priv, w));
	EXPECT_PICTURE(test, "ATW");
	KUNIT_EXPECT_PTR_EQ(test, notification(test, x), NBQ_TRANSIENT);
	EXPECT_COUNTED(test, .nodes_allocated = 3, .nodes_abandoned = 1);
	KUNIT_EXPECT_TRUE(test, nbq_contender_poll(test->priv, x));
	EXPECT_PICTURE(test, "..H");
	EXPECT_COUNTED(test, .nodes_reclaimed = 2);
}

static void predecessor_forgets_an_abandoned_tail(struct kunit *test)
{
	struct nbq_contender *holder = nbq_bench_enqueue(test), *w = nbq_bench_enqueue(test);

	/* before: H > w; after: H */
	KUNIT_EXPECT_TRUE(test, nbq_contender_abandon(test->priv, w));
	EXPECT_PICTURE(test, "H.");
	KUNIT_EXPECT_NULL(test, holder->node->next);
	/* It was freed by the swap of the tail, and has published nothing. */
	KUNIT_EXPECT_NULL(test, w->node->next);
}

/* Its release then reads neither its own word nor the tail. */
static void waiter_notes_its_successor_when_it_is_granted_the_lock(struct kunit *test)
{
	struct nbq_contender *holder = nbq_bench_enqueue(test);
	struct nbq_contender *w = nbq_bench_enqueue(test), *x = nbq_bench_enqueue(test);

	/* before: H > w > x; after: A w > x, then w holds, then A x */
	nbq_contender_release(test->priv, holder);
	KUNIT_EXPECT_TRUE(test, nbq_contender_poll(test->priv, w));
	KUNIT_EXPECT_TRUE(test, w->node->has_successor);
	nbq_contender_release(test->priv, w);
	EXPECT_PICTURE(test, ".AW");
	KUNIT_EXPECT_TRUE(test, nbq_contender_poll(test->priv, x));
	KUNIT_EXPECT_FALSE(test, x->node->has_successor);
}

static struct kunit_case mcs_cases[] = {
	KUNIT_CASE(enqueued_node_is_unknown_until_it_is_linked),
	KUNIT_CASE_PARAM(release_publishes_available, known_gen_params),
	KUNIT_CASE_PARAM(abandoned_node_publishes_leaving, known_gen_params),
	KUNIT_CASE_PARAM(abandoned_node_that_was_notified_publishes_transient, known_gen_params),
	KUNIT_CASE(predecessor_forgets_an_abandoned_tail),
	KUNIT_CASE(waiter_notes_its_successor_when_it_is_granted_the_lock),
	{}
};

static struct kunit_suite mcs_suite = {
	.name = "nbq_mcs",
	.init = nbq_mcs_bench_init,
	.exit = nbq_bench_finish,
	.test_cases = mcs_cases,
};

static struct kunit_case swap_cases[] = {
	KUNIT_CASE(enqueued_node_is_unknown_until_it_is_linked),
	KUNIT_CASE_PARAM(release_publishes_available, known_gen_params),
	KUNIT_CASE_PARAM(abandoned_node_publishes_leaving, known_gen_params),
	{}
};

static struct kunit_suite swap_suite = {
	.name = "nbq_swap",
	.init = nbq_swap_bench_init,
	.exit = nbq_bench_finish,
	.test_cases = swap_cases,
};

kunit_test_suites(&mcs_suite, &swap_suite);
