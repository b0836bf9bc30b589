// SPDX-License-Identifier: GPL-2.0
/*
 * The queue of each strict queue lock: a case for each transition, from a queue that is drawn
 * before it to one that is drawn after it, with the counts that users read. Other contexts
 * take all the steps by hand, one whole operation at a time; each order of the steps is the
 * explorer's.
 *
 * Pictures, see EXPECT_SHAPE(): from the front to the tail, H holds, W waits, L is abandoned,
 * A is available, a dot is free. Contenders: the holder, then w, x, y as they enqueue.
 */
#include "common.h"

static struct nbq_node *tail_of(struct kunit *test)
{
	struct nbq_bench *bench = test->priv;

	return bench->row->tail(bench->lock);
}

/* 1 where an abandoned tail stays in the queue, else 0 */
static unsigned int stays(struct kunit *test)
{
	struct nbq_bench *bench = test->priv;

	return bench->row->facts->tail_stays;
}

/* A queue of so many: the first holds. Their allocations are counted. */
static struct nbq_contender *queue_of(struct kunit *test, unsigned int size)
{
	struct nbq_bench *bench = test->priv;
	unsigned int i;

	for (i = 0; i < size; i++)
		nbq_bench_enqueue(test);
	KUNIT_ASSERT_EQ(test, bench->contenders[0].state, HOLDING);
	EXPECT_COUNTED(test, .nodes_allocated = size);
	return bench->contenders;
}

static void enqueue_finds_the_tail_as_its_predecessor(struct kunit *test)
{
	struct nbq_contender *holder, *w, *x;

	/* before: []; after: H */
	EXPECT_SHAPE(test, "");
	holder = nbq_bench_enqueue(test);
	EXPECT_SHAPE(test, "H");
	KUNIT_EXPECT_NULL(test, holder->pred);
	KUNIT_EXPECT_PTR_EQ(test, tail_of(test), holder->node);

	/* after: H w x */
	w = nbq_bench_enqueue(test);
	x = nbq_bench_enqueue(test);
	EXPECT_SHAPE(test, "HWW");
	KUNIT_EXPECT_PTR_EQ(test, w->pred, holder->node);
	KUNIT_EXPECT_PTR_EQ(test, x->pred, w->node);
	KUNIT_EXPECT_PTR_EQ(test, tail_of(test), x->node);
	EXPECT_COUNTED(test, .nodes_allocated = 3);
}

static void release_without_a_successor_frees_the_lock(struct kunit *test)
{
	struct nbq_contender *holder = queue_of(test, 1);

	/* before: H; after: [], or A where the node stays */
	KUNIT_EXPECT_EQ(test, nbq_contender_release(test->priv, holder), !stays(test));
	EXPECT_SHAPE(test, "r");
	KUNIT_EXPECT_PTR_EQ(test, tail_of(test), stays(test) ? holder->node : NULL);
	EXPECT_COUNTED(test, .nodes_freed = !stays(test));
}

static void release_grants_the_lock_to_the_successor(struct kunit *test)
{
	struct nbq_contender *holder = queue_of(test, 2), *w = holder + 1;

	/* before: H w; after: A w */
	KUNIT_EXPECT_FALSE(test, nbq_contender_poll(test->priv, w));
	KUNIT_EXPECT_FALSE(test, nbq_contender_release(test->priv, holder));
	EXPECT_SHAPE(test, "AW");
	EXPECT_COUNTED(test);

	/* after: H */
	KUNIT_EXPECT_TRUE(test, nbq_contender_poll(test->priv, w));
	EXPECT_SHAPE(test, ".H");
	KUNIT_EXPECT_PTR_EQ(test, tail_of(test), w->node);
	EXPECT_COUNTED(test, .nodes_reclaimed = 1);
}

static void abandoned_node_is_skipped_by_its_successor(struct kunit *test)
{
	struct nbq_contender *holder = queue_of(test, 3), *w = holder + 1, *x = holder + 2;

	/* before: H w x; after: H L x */
	KUNIT_EXPECT_FALSE(test, nbq_contender_abandon(test->priv, w));
	EXPECT_SHAPE(test, "HLW");
	KUNIT_EXPECT_PTR_EQ(test, tail_of(test), x->node);
	EXPECT_COUNTED(test, .nodes_abandoned = 1);

	/* after: H x */
	KUNIT_EXPECT_FALSE(test, nbq_contender_poll(test->priv, x));
	EXPECT_SHAPE(test, "H.W");
	KUNIT_EXPECT_PTR_EQ(test, x->pred, holder->node);
	EXPECT_COUNTED(test, .nodes_reclaimed = 1);
}

static void abandoned_nodes_in_a_row_are_skipped(struct kunit *test)
{
	struct nbq_contender *holder = queue_of(test, 5);

	/* before: H w x y z; after: H w L L z */
	nbq_contender_abandon(test->priv, holder + 2);
	nbq_contender_abandon(test->priv, holder + 3);
	EXPECT_SHAPE(test, "HWLLW");
	EXPECT_COUNTED(test, .nodes_abandoned = 2);

	/* after: H w z */
	KUNIT_EXPECT_FALSE(test, nbq_contender_poll(test->priv, holder + 4));
	EXPECT_SHAPE(test, "HW..W");
	KUNIT_EXPECT_PTR_EQ(test, holder[4].pred, holder[1].node);
	EXPECT_COUNTED(test, .nodes_reclaimed = 2);
}

static void abandoned_tail_is_freed_or_skipped_by_the_next(struct kunit *test)
{
	struct nbq_contender *holder = queue_of(test, 2), *w = holder + 1, *x;

	/* before: H w; after: H, or H L where the node stays */
	KUNIT_EXPECT_EQ(test, nbq_contender_abandon(test->priv, w), !stays(test));
	EXPECT_SHAPE(test, "Hl");
	EXPECT_COUNTED(test, .nodes_freed = !stays(test), .nodes_abandoned = stays(test));

	/* after: H x */
	x = nbq_bench_enqueue(test);
	KUNIT_EXPECT_FALSE(test, nbq_contender_poll(test->priv, x));
	KUNIT_EXPECT_PTR_EQ(test, x->pred, holder->node);
	KUNIT_EXPECT_PTR_EQ(test, tail_of(test), x->node);
	EXPECT_COUNTED(test, .nodes_allocated = 1, .nodes_reclaimed = stays(test));
}

static void release_to_an_abandoned_node_grants_the_lock_to_the_next_waiter(struct kunit *test)
{
	struct nbq_contender *holder = queue_of(test, 3), *w = holder + 1, *x = holder + 2;

	/* before: H w x; after: A L x */
	nbq_contender_abandon(test->priv, w);
	nbq_contender_release(test->priv, holder);
	EXPECT_SHAPE(test, "ALW");
	EXPECT_COUNTED(test, .nodes_abandoned = 1);

	/* after: H */
	KUNIT_EXPECT_TRUE(test, nbq_contender_poll(test->priv, x));
	EXPECT_SHAPE(test, "..H");
	EXPECT_COUNTED(test, .nodes_reclaimed = 2);
}

/* Its patience was over when the lock was granted to it. */
static void waiter_that_abandons_a_granted_lock_leaves_it_to_the_next(struct kunit *test)
{
	struct nbq_contender *holder = queue_of(test, 2), *w = holder + 1, *x;

	/* before: H w; after: A, or A L where the node stays */
	nbq_contender_release(test->priv, holder);
	KUNIT_EXPECT_EQ(test, nbq_contender_abandon(test->priv, w), !stays(test));
	EXPECT_SHAPE(test, "Al");
	EXPECT_COUNTED(test, .nodes_freed = !stays(test), .nodes_abandoned = stays(test));

	/* after: H */
	x = nbq_bench_contender(test->priv);
	KUNIT_ASSERT_NOT_NULL(test, x);
	nbq_contender_enqueue(test->priv, x);
	nbq_contender_link(test->priv, x);
	KUNIT_EXPECT_TRUE(test, nbq_contender_poll(test->priv, x));
	KUNIT_EXPECT_PTR_EQ(test, tail_of(test), x->node);
	EXPECT_COUNTED(test, .nodes_allocated = 1, .nodes_reclaimed = 1 + stays(test));
}

static void newcomer_skips_the_abandoned_nodes_of_a_free_lock(struct kunit *test)
{
	struct nbq_contender *x;

	/* before: A L L; after: H */
	nbq_bench_leave_abandoned(test, 2);
	EXPECT_SHAPE(test, "ALL");
	x = nbq_bench_enqueue(test);
	KUNIT_EXPECT_TRUE(test, nbq_contender_poll(test->priv, x));
	KUNIT_EXPECT_PTR_EQ(test, tail_of(test), x->node);
	EXPECT_COUNTED(test, .nodes_allocated = 1, .nodes_reclaimed = 3);
}

static void node_in_the_queue_is_not_allocated_again(struct kunit *test)
{
	struct nbq_contender *holder = queue_of(test, 3), *w = holder + 1, *y;

	/* before: H w x; after: H L x y */
	nbq_contender_abandon(test->priv, w);
	KUNIT_EXPECT_FALSE(test, nbq_node_try_alloc(w->node));
	y = nbq_bench_enqueue(test);
	KUNIT_EXPECT_PTR_NE(test, y->node, w->node);
	EXPECT_SHAPE(test, "HLWW");
}

#define QUEUE_CASES							\
{									\
	KUNIT_CASE(enqueue_finds_the_tail_as_its_predecessor),		\
	KUNIT_CASE(release_without_a_successor_frees_the_lock),		\
	KUNIT_CASE(release_grants_the_lock_to_the_successor),		\
	KUNIT_CASE(abandoned_node_is_skipped_by_its_successor),		\
	KUNIT_CASE(abandoned_nodes_in_a_row_are_skipped),		\
	KUNIT_CASE(abandoned_tail_is_freed_or_skipped_by_the_next),	\
	KUNIT_CASE(release_to_an_abandoned_node_grants_the_lock_to_the_next_waiter),\
	KUNIT_CASE(waiter_that_abandons_a_granted_lock_leaves_it_to_the_next),\
	KUNIT_CASE(newcomer_skips_the_abandoned_nodes_of_a_free_lock),	\
	KUNIT_CASE(node_in_the_queue_is_not_allocated_again),		\
	{}								\
}

/* KUnit writes into the cases: a copy for each type. */
#define QUEUE_SUITE(type)						\
static struct kunit_case type##_cases[] = QUEUE_CASES;			\
									\
static struct kunit_suite type##_suite = {				\
	.name = #type "_queue",						\
	.init = type##_bench_init,					\
	.exit = nbq_bench_finish,					\
	.test_cases = type##_cases,					\
};									\
									\
kunit_test_suite(type##_suite)

QUEUE_SUITE(nbq_clh);
QUEUE_SUITE(nbq_mcs);
QUEUE_SUITE(nbq_swap);
