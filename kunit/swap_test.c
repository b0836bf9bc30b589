// SPDX-License-Identifier: GPL-2.0
/*
 * The swap-only lock step by step: every transition by hand from a queue that
 * is drawn before and after it, with the state of each node and the counts.
 *
 * One context takes all the parts here, so these cases say what a step does
 * and not how two steps at the same moment are ordered.
 *
 * Pictures: from the front to the tail, H holds, W waits, L has left, A is
 * AVAILABLE, a dot is free. Nodes: the holder's, then w, x, y by arrival.
 * "H > w": H knows w. Whoever finds A or L swaps itself into its next, so from
 * then on it looks like W: only its finder knows what it has said.
 */
#include <linux/string.h>

#include "common.h"

static struct nbq_queue_lock *lock_of(struct kunit *test)
{
	struct nbq_bench *bench = test->priv;
	struct nbq_swap *lock = bench->lock;

	return &lock->queue;
}

/* Join, and become known to the one in front, which has nothing to say. */
static struct nbq_node *arrive(struct kunit *test, struct nbq_node **pred)
{
	struct nbq_node *node = nbq_bench_enqueue_node(test, pred);

	if (*pred)
		KUNIT_ASSERT_NULL(test, nbq_swap_link(node, *pred));
	return node;
}

/* Go on from a leaver to the one in front of it, and hear what that one says. */
static struct nbq_node *step_over(struct nbq_node *node, struct nbq_node *leaver)
{
	struct nbq_node *said = nbq_swap_link(node, leaver->prev);

	nbq_swap_skip(node, leaver, said);
	return said;
}

/* Joining */

static void first_to_join_a_new_lock_finds_no_predecessor(struct kunit *test)
{
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *holder, *pred;

	/* before: [] */
	EXPECT_PICTURE(test, "");
	holder = nbq_bench_enqueue_node(test, &pred);

	/* after: H */
	EXPECT_PICTURE(test, "H");
	KUNIT_EXPECT_NULL(test, pred);
	KUNIT_EXPECT_PTR_EQ(test, lock->tail, holder);
	EXPECT_COUNTED(test, .nodes_allocated = 1);
}

static void next_to_join_takes_the_lock_from_the_last_holder_s_node(struct kunit *test)
{
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *holder, *w, *pred;

	holder = arrive(test, &pred);
	nbq_swap_release(lock, holder);

	/* before: A */
	EXPECT_PICTURE(test, "A");
	KUNIT_EXPECT_PTR_EQ(test, lock->tail, holder);
	KUNIT_EXPECT_NULL(test, nbq_held_find(holder->pool, lock));
	EXPECT_COUNTED(test, .nodes_allocated = 1);
	w = nbq_bench_enqueue_node(test, &pred);
	KUNIT_EXPECT_PTR_EQ(test, pred, holder);
	KUNIT_EXPECT_PTR_EQ(test, nbq_swap_link(w, pred), NBQ_AVAILABLE);
	nbq_swap_granted(lock, w, pred);

	/* after: H */
	EXPECT_PICTURE(test, ".H");
	KUNIT_EXPECT_PTR_EQ(test, lock->tail, w);
	KUNIT_EXPECT_PTR_EQ(test, nbq_held_find(w->pool, lock), w);
	EXPECT_COUNTED(test, .nodes_allocated = 1, .nodes_reclaimed = 1);
}

static void joiner_is_not_known_before_it_links(struct kunit *test)
{
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *holder, *w, *pred;

	holder = nbq_bench_enqueue_node(test, &pred);

	/* before: H */
	w = nbq_bench_enqueue_node(test, &pred);

	/* after: H w */
	EXPECT_PICTURE(test, "HW");
	KUNIT_EXPECT_PTR_EQ(test, pred, holder);
	KUNIT_EXPECT_NULL(test, holder->next);
	KUNIT_EXPECT_PTR_EQ(test, lock->tail, w);
	KUNIT_EXPECT_PTR_EQ(test, nbq_held_find(holder->pool, lock), holder);

	/* after: H > w */
	KUNIT_EXPECT_NULL(test, nbq_swap_link(w, pred));
	KUNIT_EXPECT_PTR_EQ(test, holder->next, w);
	KUNIT_EXPECT_NULL(test, nbq_swap_poll(w));
	EXPECT_COUNTED(test, .nodes_allocated = 2);
}

static void joiner_finds_the_last_waiter_in_front(struct kunit *test)
{
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *w, *x, *pred;

	arrive(test, &pred);
	w = arrive(test, &pred);

	/* before: H w; after: H w x */
	x = arrive(test, &pred);
	EXPECT_PICTURE(test, "HWW");
	KUNIT_EXPECT_PTR_EQ(test, pred, w);
	KUNIT_EXPECT_PTR_EQ(test, w->next, x);
	KUNIT_EXPECT_PTR_EQ(test, lock->tail, x);
}

static void joining_and_linking_forget_the_last_life_of_the_node(struct kunit *test)
{
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *node, *pred;

	arrive(test, &pred);
	node = nbq_bench_alloc(test);
	node->next = NBQ_AVAILABLE;
	node->status = NBQ_LEAVING;
	pred = nbq_swap_enqueue(lock, node);
	KUNIT_EXPECT_NULL(test, node->next);
	nbq_swap_link(node, pred);
	KUNIT_EXPECT_NULL(test, nbq_swap_poll(node));
}

/* What a predecessor says, to one that it knows and to one that it does not */

static const struct words {
	const char *desc;
	bool known;
} words_cases[] = {
	{ "in_its_next", false },
	{ "in_the_status_of_the_one_it_knows", true },
};

static void words_desc(const struct words *words, char *desc)
{
	strscpy(desc, words->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(words, words_cases, words_desc);

/* Link now if not before: what the predecessor has said. */
static struct nbq_node *hear(const struct words *words, struct nbq_node *node,
			     struct nbq_node *pred)
{
	return words->known ? nbq_swap_poll(node) : nbq_swap_link(node, pred);
}

static void releasing_predecessor_says_available(struct kunit *test)
{
	const struct words *words = test->param_value;
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *holder, *w, *pred;

	holder = arrive(test, &pred);
	w = nbq_bench_enqueue_node(test, &pred);
	if (words->known)
		nbq_swap_link(w, pred);

	/* before: H w; after: A w */
	nbq_swap_release(lock, holder);
	EXPECT_PICTURE(test, "AW");
	KUNIT_EXPECT_NULL(test, nbq_held_find(holder->pool, lock));
	KUNIT_EXPECT_PTR_EQ(test, lock->tail, w);
	EXPECT_COUNTED(test, .nodes_allocated = 2);
	KUNIT_EXPECT_PTR_EQ(test, hear(words, w, pred), NBQ_AVAILABLE);

	/* after: H */
	nbq_swap_granted(lock, w, pred);
	EXPECT_PICTURE(test, ".H");
	EXPECT_COUNTED(test, .nodes_reclaimed = 1);
}

static void leaver_says_leaving_and_who_stood_in_front_of_it(struct kunit *test)
{
	const struct words *words = test->param_value;
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *holder, *w, *x, *pred, *w_pred;

	holder = arrive(test, &pred);
	w = arrive(test, &w_pred);
	x = nbq_bench_enqueue_node(test, &pred);
	if (words->known)
		nbq_swap_link(x, pred);
	EXPECT_COUNTED(test, .nodes_allocated = 3);

	/* before: H > w x; after: H > L x */
	nbq_swap_abandon(lock_of(test), w, w_pred);
	EXPECT_PICTURE(test, "HLW");
	KUNIT_EXPECT_PTR_EQ(test, holder->next, w);
	KUNIT_EXPECT_PTR_EQ(test, lock->tail, x);
	EXPECT_COUNTED(test, .nodes_abandoned = 1);
	KUNIT_EXPECT_PTR_EQ(test, hear(words, x, pred), NBQ_LEAVING);
	KUNIT_EXPECT_PTR_EQ(test, w->prev, holder);
}

/*
 * Stepping over a leaver: the new predecessor still knew the leaver, or is done
 * and has told it so, or will.
 */

static void leaver_that_the_holder_knew_is_forgotten(struct kunit *test)
{
	struct nbq_node *holder, *w, *x, *pred, *w_pred;

	holder = arrive(test, &pred);
	w = arrive(test, &w_pred);
	x = arrive(test, &pred);
	nbq_swap_abandon(lock_of(test), w, w_pred);
	EXPECT_COUNTED(test, .nodes_allocated = 3, .nodes_abandoned = 1);

	/* before: H > L x; after: H > x */
	KUNIT_EXPECT_PTR_EQ(test, step_over(x, w), w);
	EXPECT_PICTURE(test, "H.W");
	KUNIT_EXPECT_PTR_EQ(test, holder->next, x);
	KUNIT_EXPECT_NULL(test, nbq_swap_poll(x));
	EXPECT_COUNTED(test, .nodes_reclaimed = 1);
}

static void leaver_that_a_waiter_knew_is_forgotten(struct kunit *test)
{
	struct nbq_node *w, *x, *y, *pred, *x_pred;

	arrive(test, &pred);
	w = arrive(test, &pred);
	x = arrive(test, &x_pred);
	y = arrive(test, &pred);
	nbq_swap_abandon(lock_of(test), x, x_pred);
	EXPECT_COUNTED(test, .nodes_allocated = 4, .nodes_abandoned = 1);

	/* before: H > w > L y; after: H > w > y */
	KUNIT_EXPECT_PTR_EQ(test, step_over(y, x), x);
	EXPECT_PICTURE(test, "HW.W");
	KUNIT_EXPECT_PTR_EQ(test, w->next, y);
	KUNIT_EXPECT_NULL(test, nbq_swap_poll(y));
	EXPECT_COUNTED(test, .nodes_reclaimed = 1);
}

/*
 * In the middle of a leave or a hand-over: the one in front has said in its
 * next that it is done, and has not yet told the one that it knows.
 */

/*
 * hand_over: swap next 1, tell 2. leave: store prev 1, swap next 2, tell 3.
 */
static void hand_over_to_one_that_has_left_reaches_the_one_behind(struct kunit *test)
{
	struct nbq_node *holder, *w, *x, *pred, *w_pred;

	holder = arrive(test, &pred);
	w = arrive(test, &w_pred);
	x = arrive(test, &pred);
	nbq_swap_abandon(lock_of(test), w, w_pred);
	EXPECT_COUNTED(test, .nodes_allocated = 3, .nodes_abandoned = 1);

	/* before: H > L x; after: A L x */
	nbq_swap_release(lock_of(test), holder);
	EXPECT_PICTURE(test, "ALW");
	KUNIT_EXPECT_PTR_EQ(test, w->status, NBQ_AVAILABLE);

	/* after: A > x, then H */
	KUNIT_EXPECT_PTR_EQ(test, step_over(x, w), NBQ_AVAILABLE);
	EXPECT_PICTURE(test, "W.W");
	nbq_swap_granted(lock_of(test), x, holder);
	EXPECT_PICTURE(test, "..H");
	EXPECT_COUNTED(test, .nodes_reclaimed = 2);
}

/* The same between two who leave: w in front of x, y behind. */

/* Leaving with nobody behind */

static void leaver_at_the_tail_stays_for_the_next_to_find(struct kunit *test)
{
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *holder, *w, *x, *pred, *w_pred;

	holder = arrive(test, &pred);
	w = arrive(test, &w_pred);
	EXPECT_COUNTED(test, .nodes_allocated = 2);

	/* before: H > w; after: H > L */
	nbq_swap_abandon(lock_of(test), w, w_pred);
	EXPECT_PICTURE(test, "HL");
	KUNIT_EXPECT_PTR_EQ(test, lock->tail, w);
	EXPECT_COUNTED(test, .nodes_abandoned = 1);

	/* after: H > x */
	x = nbq_bench_enqueue_node(test, &pred);
	KUNIT_EXPECT_PTR_EQ(test, pred, w);
	KUNIT_EXPECT_PTR_EQ(test, nbq_swap_link(x, pred), NBQ_LEAVING);
	KUNIT_EXPECT_PTR_EQ(test, step_over(x, w), w);
	EXPECT_PICTURE(test, "H.W");
	KUNIT_EXPECT_PTR_EQ(test, holder->next, x);
	EXPECT_COUNTED(test, .nodes_allocated = 1, .nodes_reclaimed = 1);
}

static void leaver_to_whom_the_lock_was_handed_over_leaves_it_to_the_next(struct kunit *test)
{
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *holder, *w, *x, *pred, *w_pred;

	holder = arrive(test, &pred);
	w = arrive(test, &w_pred);
	EXPECT_COUNTED(test, .nodes_allocated = 2);

	/* before: H > w, w has decided to leave when H hands over; after: A L */
	nbq_swap_release(lock, holder);
	nbq_swap_abandon(lock_of(test), w, w_pred);
	EXPECT_PICTURE(test, "AL");
	EXPECT_COUNTED(test, .nodes_abandoned = 1);

	/* after: H */
	x = nbq_bench_enqueue_node(test, &pred);
	KUNIT_EXPECT_PTR_EQ(test, nbq_swap_link(x, pred), NBQ_LEAVING);
	KUNIT_EXPECT_PTR_EQ(test, step_over(x, w), NBQ_AVAILABLE);
	nbq_swap_granted(lock, x, holder);
	EXPECT_PICTURE(test, "..H");
	EXPECT_COUNTED(test, .nodes_allocated = 1, .nodes_reclaimed = 2);
}

static void leaver_does_not_step_over_a_leaver_that_it_has_not_seen(struct kunit *test)
{
	struct nbq_node *holder, *w, *x, *y, *pred, *w_pred, *x_pred;

	holder = arrive(test, &pred);
	w = arrive(test, &w_pred);
	x = arrive(test, &x_pred);

	/* before: H > w > x, x has decided to leave when w leaves */
	nbq_swap_abandon(lock_of(test), w, w_pred);
	KUNIT_EXPECT_PTR_EQ(test, nbq_swap_poll(x), NBQ_LEAVING);
	nbq_swap_abandon(lock_of(test), x, x_pred);

	/* after: H > L L */
	EXPECT_PICTURE(test, "HLL");
	EXPECT_COUNTED(test, .nodes_allocated = 3, .nodes_abandoned = 2);

	/* the next one finds its way to the holder; after: H > y */
	y = nbq_bench_enqueue_node(test, &pred);
	KUNIT_EXPECT_PTR_EQ(test, nbq_swap_link(y, pred), NBQ_LEAVING);
	KUNIT_EXPECT_PTR_EQ(test, step_over(y, x), NBQ_LEAVING);
	KUNIT_EXPECT_PTR_EQ(test, step_over(y, w), w);
	EXPECT_PICTURE(test, "H..W");
	KUNIT_EXPECT_PTR_EQ(test, holder->next, y);
	EXPECT_COUNTED(test, .nodes_allocated = 1, .nodes_reclaimed = 2);
}

/* Neighbours that leave, in every order */

static const struct order {
	const char *desc;
	/* who of w, x, y leaves, first to last */
	const char *leave;
	/* between the holder and z, who comes after them */
	const char *picture;
} order_cases[] = {
	{ "w", "w", "HLWWW" },
	{ "x", "x", "HWLWW" },
	{ "w_x", "wx", "HLLWW" },
	{ "x_w", "xw", "HLLWW" },
	{ "x_y", "xy", "HWLLW" },
	{ "y_x", "yx", "HWLLW" },
	{ "w_y", "wy", "HLWLW" },
	{ "w_x_y", "wxy", "HLLLW" },
	{ "w_y_x", "wyx", "HLLLW" },
	{ "x_w_y", "xwy", "HLLLW" },
	{ "x_y_w", "xyw", "HLLLW" },
	{ "y_w_x", "ywx", "HLLLW" },
	{ "y_x_w", "yxw", "HLLLW" },
};

static void order_desc(const struct order *order, char *desc)
{
	strscpy(desc, order->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(order, order_cases, order_desc);

static void neighbours_leave_in_any_order(struct kunit *test)
{
	const struct order *order = test->param_value;
	struct nbq_bench *bench = test->priv;
	struct nbq_contender *holder, *waiter[4];
	unsigned int i, stay;

	holder = nbq_bench_enqueue(test);
	for (i = 0; i < 4; i++)
		waiter[i] = nbq_bench_enqueue(test);
	EXPECT_COUNTED(test, .nodes_allocated = 5);

	/* before: H > w > x > y > z */
	for (i = 0; order->leave[i]; i++)
		nbq_contender_abandon(bench, waiter[order->leave[i] - 'w']);
	EXPECT_PICTURE(test, order->picture);
	EXPECT_COUNTED(test, .nodes_abandoned = i);

	/* after: H, and those who stay, each knows the next */
	for (stay = 0; stay < 4; stay++) {
		if (waiter[stay]->state == WAITING)
			KUNIT_EXPECT_FALSE(test, nbq_contender_poll(bench, waiter[stay]));
	}
	EXPECT_COUNTED(test, .nodes_reclaimed = i);

	/* after: A, z's */
	nbq_contender_release(bench, holder);
	nbq_bench_drain(bench);
	EXPECT_PICTURE(test, "....A");
	EXPECT_COUNTED(test, .nodes_reclaimed = 4 - i);
}

/* Handing over */

static void release_with_nobody_behind_leaves_the_node_in_the_lock(struct kunit *test)
{
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *holder, *pred;

	holder = arrive(test, &pred);

	/* before: H; after: A */
	nbq_swap_release(lock, holder);
	EXPECT_PICTURE(test, "A");
	KUNIT_EXPECT_PTR_EQ(test, lock->tail, holder);
	KUNIT_EXPECT_NULL(test, nbq_held_find(holder->pool, lock));
	EXPECT_COUNTED(test, .nodes_allocated = 1);
}

/* Idle locks */

static void destroy_gives_back_the_last_holder_s_node(struct kunit *test)
{
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *holder, *pred;

	holder = arrive(test, &pred);
	nbq_swap_release(lock, holder);

	/* before: A; after: [] */
	KUNIT_EXPECT_EQ(test, nbq_swap_destroy(((struct nbq_bench *)test->priv)->lock), 0);
	EXPECT_PICTURE(test, ".");
	KUNIT_EXPECT_NULL(test, lock->tail);

	/* as new; after: H */
	holder = nbq_bench_enqueue_node(test, &pred);
	KUNIT_EXPECT_NULL(test, pred);
	EXPECT_PICTURE(test, "H");
}

static void destroy_gives_back_the_leavers_too(struct kunit *test)
{
	struct nbq_queue_lock *lock = lock_of(test);

	nbq_bench_leave_abandoned(test, 3);

	/* before: A L L L; after: [] */
	EXPECT_PICTURE(test, "ALLL");
	KUNIT_EXPECT_EQ(test, nbq_swap_destroy(((struct nbq_bench *)test->priv)->lock), 0);
	EXPECT_PICTURE(test, "....");
	KUNIT_EXPECT_NULL(test, lock->tail);
}

/* A node is free for reuse at once, whichever way it was given back. */

static struct nbq_node *be_stepped_over_and_forgotten(struct kunit *test)
{
	struct nbq_node *w, *x, *pred, *w_pred;

	arrive(test, &pred);
	w = arrive(test, &w_pred);
	x = arrive(test, &pred);
	nbq_swap_abandon(lock_of(test), w, w_pred);
	step_over(x, w);
	return w;
}

static struct nbq_node *be_told_and_stepped_over(struct kunit *test)
{
	struct nbq_node *holder, *w, *x, *pred, *w_pred;

	holder = arrive(test, &pred);
	w = arrive(test, &w_pred);
	x = arrive(test, &pred);
	nbq_swap_abandon(lock_of(test), w, w_pred);
	nbq_swap_release(lock_of(test), holder);
	step_over(x, w);
	return w;
}

static struct nbq_node *be_taken_over_from(struct kunit *test)
{
	struct nbq_node *holder, *w, *pred;

	holder = arrive(test, &pred);
	w = arrive(test, &pred);
	nbq_swap_release(lock_of(test), holder);
	nbq_swap_granted(lock_of(test), w, pred);
	return holder;
}

static struct nbq_node *be_available_to_destroy(struct kunit *test)
{
	struct nbq_bench *bench = test->priv;

	nbq_bench_leave_abandoned(test, 1);
	KUNIT_EXPECT_EQ(test, nbq_swap_destroy(bench->lock), 0);
	return &bench->nodes[0];
}

static struct nbq_node *be_abandoned_to_destroy(struct kunit *test)
{
	struct nbq_bench *bench = test->priv;

	nbq_bench_leave_abandoned(test, 1);
	KUNIT_EXPECT_EQ(test, nbq_swap_destroy(bench->lock), 0);
	return &bench->nodes[1];
}

static const struct way_back {
	const char *desc;
	struct nbq_node *(*go)(struct kunit *test);
} ways_back[] = {
	{ "by_a_successor_that_makes_it_forgotten", be_stepped_over_and_forgotten },
	{ "by_a_successor_after_it_was_told", be_told_and_stepped_over },
	{ "by_a_successor_taking_over", be_taken_over_from },
	{ "by_destroy_as_available", be_available_to_destroy },
	{ "by_destroy_as_abandoned", be_abandoned_to_destroy },
};

static void way_back_desc(const struct way_back *way, char *desc)
{
	strscpy(desc, way->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(way_back, ways_back, way_back_desc);

/* Its last life has left something in every word; nothing of that is heard. */
static void node_given_back_works_again_at_once(struct kunit *test)
{
	const struct way_back *way = test->param_value;
	struct nbq_node *node = way->go(test), *holder;
	struct nbq_swap other;

	nbq_swap_init(&other);
	KUNIT_ASSERT_TRUE(test, nbq_is_free(node));
	KUNIT_ASSERT_TRUE(test, nbq_node_try_alloc(node));
	KUNIT_EXPECT_FALSE(test, nbq_is_free(node));
	holder = nbq_bench_alloc(test);

	/* before: H; in between: H > node, then A node; after: A, node's */
	KUNIT_EXPECT_NULL(test, nbq_swap_enqueue(&other.queue, holder));
	nbq_held_add(holder, &other);
	KUNIT_EXPECT_PTR_EQ(test, nbq_swap_enqueue(&other.queue, node), holder);
	KUNIT_EXPECT_NULL(test, nbq_swap_link(node, holder));
	KUNIT_EXPECT_NULL(test, nbq_swap_poll(node));
	nbq_swap_release(&other.queue, holder);
	KUNIT_EXPECT_PTR_EQ(test, nbq_swap_poll(node), NBQ_AVAILABLE);
	nbq_swap_granted(&other.queue, node, holder);
	KUNIT_EXPECT_TRUE(test, nbq_is_free(holder));
	nbq_swap_release(&other.queue, node);
	KUNIT_EXPECT_PTR_EQ(test, other.tail, node);
	KUNIT_EXPECT_EQ(test, nbq_swap_destroy(&other), 0);
	KUNIT_EXPECT_TRUE(test, nbq_is_free(node));
}

static struct kunit_case swap_cases[] = {
	KUNIT_CASE(first_to_join_a_new_lock_finds_no_predecessor),
	KUNIT_CASE(next_to_join_takes_the_lock_from_the_last_holder_s_node),
	KUNIT_CASE(joiner_is_not_known_before_it_links),
	KUNIT_CASE(joiner_finds_the_last_waiter_in_front),
	KUNIT_CASE(joining_and_linking_forget_the_last_life_of_the_node),
	KUNIT_CASE_PARAM(releasing_predecessor_says_available, words_gen_params),
	KUNIT_CASE_PARAM(leaver_says_leaving_and_who_stood_in_front_of_it,
			 words_gen_params),
	KUNIT_CASE(leaver_that_the_holder_knew_is_forgotten),
	KUNIT_CASE(leaver_that_a_waiter_knew_is_forgotten),
	KUNIT_CASE(hand_over_to_one_that_has_left_reaches_the_one_behind),
	KUNIT_CASE(leaver_at_the_tail_stays_for_the_next_to_find),
	KUNIT_CASE(leaver_to_whom_the_lock_was_handed_over_leaves_it_to_the_next),
	KUNIT_CASE(leaver_does_not_step_over_a_leaver_that_it_has_not_seen),
	KUNIT_CASE_PARAM(neighbours_leave_in_any_order, order_gen_params),
	KUNIT_CASE(release_with_nobody_behind_leaves_the_node_in_the_lock),
	KUNIT_CASE(destroy_gives_back_the_last_holder_s_node),
	KUNIT_CASE(destroy_gives_back_the_leavers_too),
	KUNIT_CASE_PARAM(node_given_back_works_again_at_once, way_back_gen_params),
	{}
};

static struct kunit_suite swap_suite = {
	.name = "nbq_swap",
	.init = nbq_swap_bench_init,
	.exit = nbq_bench_exit,
	.test_cases = swap_cases,
};

kunit_test_suite(swap_suite);
