// SPDX-License-Identifier: GPL-2.0
/*
 * MCS-NB step by step: every transition by hand from a queue that is drawn
 * before and after it, with the state of each node and the counts.
 *
 * One context takes all the parts here, so these cases say what a step does
 * and not how two steps at the same moment are ordered.
 *
 * Pictures: from the front to the tail, H holds, W waits, L has left
 * (LEAVING), T has left (TRANSIENT), A is AVAILABLE, R has left and only the one
 * in front still has to tell it, a dot is free. Nodes: the holder's, then w, x,
 * y by arrival. "H > w": H knows w. Whoever finds A, L or T swaps itself into its
 * next, so from then on it looks like W: only its finder knows what it has said.
 */
#include <linux/string.h>

#include "common.h"

static struct nbq_queue_lock *lock_of(struct kunit *test)
{
	struct nbq_bench *bench = test->priv;
	struct nbq_mcs *lock = bench->lock;

	return &lock->queue;
}

/* Join, and become known to the one in front, which has nothing to say. */
static struct nbq_node *arrive(struct kunit *test, struct nbq_node **pred)
{
	struct nbq_node *node = nbq_bench_enqueue_node(test, pred);

	if (*pred)
		KUNIT_ASSERT_NULL(test, nbq_mcs_link(node, *pred));
	return node;
}

/* Joining */

static void first_to_join_finds_no_predecessor(struct kunit *test)
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
	KUNIT_EXPECT_NULL(test, nbq_mcs_link(w, pred));
	KUNIT_EXPECT_PTR_EQ(test, holder->next, w);
	KUNIT_EXPECT_NULL(test, nbq_mcs_poll(w));
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
	node->status = NBQ_RECYCLED;
	pred = nbq_mcs_enqueue(lock, node);
	KUNIT_EXPECT_NULL(test, node->next);
	nbq_mcs_link(node, pred);
	KUNIT_EXPECT_NULL(test, nbq_mcs_poll(node));
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
	return words->known ? nbq_mcs_poll(node) : nbq_mcs_link(node, pred);
}

static void releasing_predecessor_says_available(struct kunit *test)
{
	const struct words *words = test->param_value;
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *holder, *w, *pred;

	holder = arrive(test, &pred);
	w = nbq_bench_enqueue_node(test, &pred);
	if (words->known)
		nbq_mcs_link(w, pred);

	/* before: H w; after: A w */
	KUNIT_EXPECT_FALSE(test, nbq_mcs_release(lock, holder));
	EXPECT_PICTURE(test, "AW");
	KUNIT_EXPECT_NULL(test, nbq_held_find(holder->pool, lock));
	KUNIT_EXPECT_PTR_EQ(test, lock->tail, w);
	EXPECT_COUNTED(test, .nodes_allocated = 2);
	KUNIT_EXPECT_PTR_EQ(test, hear(words, w, pred), NBQ_AVAILABLE);

	/* after: H */
	nbq_mcs_granted(lock, w, pred);
	EXPECT_PICTURE(test, ".H");
	EXPECT_COUNTED(test, .nodes_reclaimed = 1);
}

static void forgotten_leaver_says_leaving(struct kunit *test)
{
	const struct words *words = test->param_value;
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *holder, *w, *x, *pred, *w_pred;

	holder = arrive(test, &pred);
	w = arrive(test, &w_pred);
	x = nbq_bench_enqueue_node(test, &pred);
	if (words->known)
		nbq_mcs_link(x, pred);
	EXPECT_COUNTED(test, .nodes_allocated = 3);

	/* before: H > w x; after: H L x */
	KUNIT_EXPECT_FALSE(test, nbq_mcs_abandon(lock, w, w_pred));
	EXPECT_PICTURE(test, "HLW");
	KUNIT_EXPECT_NULL(test, holder->next);
	KUNIT_EXPECT_PTR_EQ(test, lock->tail, x);
	EXPECT_COUNTED(test, .nodes_abandoned = 1);
	KUNIT_EXPECT_PTR_EQ(test, hear(words, x, pred), NBQ_LEAVING);

	/* after: H x */
	KUNIT_EXPECT_PTR_EQ(test, nbq_mcs_skip(x, pred, NBQ_LEAVING), holder);
	EXPECT_PICTURE(test, "H.W");
	EXPECT_COUNTED(test, .nodes_reclaimed = 1);

	/* after: H > x */
	KUNIT_EXPECT_NULL(test, nbq_mcs_link(x, holder));
	KUNIT_EXPECT_PTR_EQ(test, holder->next, x);
	KUNIT_EXPECT_NULL(test, nbq_mcs_poll(x));
}

static void leaver_that_was_told_says_transient(struct kunit *test)
{
	const struct words *words = test->param_value;
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *holder, *w, *x, *pred, *w_pred;

	holder = arrive(test, &pred);
	w = arrive(test, &w_pred);
	x = nbq_bench_enqueue_node(test, &pred);
	if (words->known)
		nbq_mcs_link(x, pred);
	EXPECT_COUNTED(test, .nodes_allocated = 3);

	/* before: H > w x, w has decided to leave when H hands over */
	KUNIT_EXPECT_FALSE(test, nbq_mcs_release(lock, holder));
	KUNIT_EXPECT_PTR_EQ(test, w->status, NBQ_AVAILABLE);
	KUNIT_EXPECT_FALSE(test, nbq_mcs_abandon(lock, w, w_pred));

	/* after: A T x */
	EXPECT_PICTURE(test, "ATW");
	EXPECT_COUNTED(test, .nodes_abandoned = 1);
	KUNIT_EXPECT_PTR_EQ(test, hear(words, x, pred), NBQ_TRANSIENT);

	/* H has told w: x is the second; after: A x */
	KUNIT_EXPECT_PTR_EQ(test, nbq_mcs_skip(x, pred, NBQ_TRANSIENT), holder);
	EXPECT_PICTURE(test, "A.W");
	EXPECT_COUNTED(test, .nodes_reclaimed = 1);
	KUNIT_EXPECT_PTR_EQ(test, nbq_mcs_link(x, holder), NBQ_AVAILABLE);

	/* after: H */
	nbq_mcs_granted(lock, x, holder);
	EXPECT_PICTURE(test, "..H");
	EXPECT_COUNTED(test, .nodes_reclaimed = 1);
}

/* Leaving as the tail */

static void leaver_at_the_tail_takes_its_node_along(struct kunit *test)
{
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *holder, *w, *pred;

	holder = arrive(test, &pred);
	w = arrive(test, &pred);

	/* before: H > w */
	KUNIT_EXPECT_TRUE(test, nbq_mcs_abandon(lock, w, pred));

	/* after: H */
	EXPECT_PICTURE(test, "H.");
	KUNIT_EXPECT_PTR_EQ(test, lock->tail, holder);
	KUNIT_EXPECT_PTR_EQ(test, nbq_held_find(holder->pool, lock), holder);
	KUNIT_EXPECT_NULL(test, holder->next);
	EXPECT_COUNTED(test, .nodes_allocated = 2, .nodes_freed = 1);
}

/* Swap before publishing: see the departures at the top of mcs_nb.c. */
static void leaver_at_the_tail_tells_nobody(struct kunit *test)
{
	struct nbq_node *w, *pred;

	arrive(test, &pred);
	w = arrive(test, &pred);

	/* before: H > w; after: H */
	nbq_mcs_abandon(lock_of(test), w, pred);
	KUNIT_EXPECT_NULL(test, w->next);
}

static void leaver_behind_a_waiter_leaves_it_as_the_tail(struct kunit *test)
{
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *w, *x, *pred;

	arrive(test, &pred);
	w = arrive(test, &pred);
	x = arrive(test, &pred);

	/* before: H > w > x */
	KUNIT_EXPECT_TRUE(test, nbq_mcs_abandon(lock, x, pred));

	/* after: H > w */
	EXPECT_PICTURE(test, "HW.");
	KUNIT_EXPECT_PTR_EQ(test, lock->tail, w);
	KUNIT_EXPECT_NULL(test, w->next);
	EXPECT_COUNTED(test, .nodes_allocated = 3, .nodes_freed = 1);
}

static void leaver_at_the_tail_that_was_told_takes_its_node_along(struct kunit *test)
{
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *holder, *w, *x, *pred, *w_pred;

	holder = arrive(test, &pred);
	w = arrive(test, &w_pred);

	/* before: H > w, w has decided to leave when H hands over */
	KUNIT_EXPECT_FALSE(test, nbq_mcs_release(lock, holder));
	KUNIT_EXPECT_TRUE(test, nbq_mcs_abandon(lock, w, w_pred));

	/* after: A */
	EXPECT_PICTURE(test, "A.");
	KUNIT_EXPECT_PTR_EQ(test, lock->tail, holder);
	EXPECT_COUNTED(test, .nodes_allocated = 2, .nodes_freed = 1);

	/* the next one takes it: H */
	x = nbq_bench_enqueue_node(test, &pred);
	KUNIT_EXPECT_PTR_EQ(test, nbq_mcs_link(x, pred), NBQ_AVAILABLE);
	nbq_mcs_granted(lock, x, pred);
	EXPECT_PICTURE(test, ".H");
	EXPECT_COUNTED(test, .nodes_allocated = 1, .nodes_reclaimed = 1);
}

static void leaver_at_the_tail_behind_a_leaver_takes_its_node_along(struct kunit *test)
{
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *w, *x, *pred, *w_pred, *x_pred;

	arrive(test, &pred);
	w = arrive(test, &w_pred);
	x = arrive(test, &x_pred);

	/* before: H > w > x, x has decided to leave when w leaves */
	KUNIT_EXPECT_FALSE(test, nbq_mcs_abandon(lock, w, w_pred));
	KUNIT_EXPECT_PTR_EQ(test, x->status, NBQ_LEAVING);
	KUNIT_EXPECT_TRUE(test, nbq_mcs_abandon(lock, x, x_pred));

	/* after: H L */
	EXPECT_PICTURE(test, "HL.");
	KUNIT_EXPECT_PTR_EQ(test, lock->tail, w);
	EXPECT_COUNTED(test, .nodes_allocated = 3, .nodes_abandoned = 1,
		       .nodes_freed = 1);
}

/*
 * In the middle of a leave or a hand-over: the one in front has said in its
 * next that it is done, and has not yet told the one that it knows.
 */

/*
 * hand_over: look at next 1, swap next 2, tell 3 (the tail is not touched by one
 * that knows somebody). leave: store prev 1, be forgotten 2,
 * swap the tail 3, swap next 4, tell 5.
 */
/*
 * From its first step on the walker may be the last that keeps the leaver from
 * being given back, or no longer keep it: who stood in front must be known by
 * then. So the next life of the node begins just before that step, with another
 * in front of it.
 */

/* The same between two who leave: w in front of x, y behind. */

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
	{ "w_x", "wx", "HLTWW" },
	{ "x_w", "xw", "HLLWW" },
	{ "x_y", "xy", "HWLTW" },
	{ "y_x", "yx", "HWLLW" },
	{ "w_y", "wy", "HLWLW" },
	{ "w_x_y", "wxy", "HLTTW" },
	{ "w_y_x", "wyx", "HLTLW" },
	{ "x_w_y", "xwy", "HLLTW" },
	{ "x_y_w", "xyw", "HLLTW" },
	{ "y_w_x", "ywx", "HLTLW" },
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
		KUNIT_EXPECT_FALSE(test, nbq_contender_abandon(bench,
							 waiter[order->leave[i] - 'w']));
	EXPECT_PICTURE(test, order->picture);
	EXPECT_COUNTED(test, .nodes_abandoned = i);

	/* after: H, and those who stay, each knows the next */
	for (stay = 0; stay < 4; stay++) {
		if (waiter[stay]->state == WAITING)
			KUNIT_EXPECT_FALSE(test, nbq_contender_poll(bench, waiter[stay]));
	}
	EXPECT_COUNTED(test, .nodes_reclaimed = i);

	/* after: [] */
	nbq_contender_release(bench, holder);
	nbq_bench_drain(bench);
	EXPECT_PICTURE(test, ".....");
	KUNIT_EXPECT_NULL(test, lock_of(test)->tail);
	EXPECT_COUNTED(test, .nodes_reclaimed = 4 - i, .nodes_freed = 1);
}

static void two_at_the_tail_leave_back_one_first(struct kunit *test)
{
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *holder, *w, *x, *pred, *w_pred, *x_pred;

	holder = arrive(test, &pred);
	w = arrive(test, &w_pred);
	x = arrive(test, &x_pred);

	/* before: H > w > x */
	KUNIT_EXPECT_TRUE(test, nbq_mcs_abandon(lock, x, x_pred));
	KUNIT_EXPECT_TRUE(test, nbq_mcs_abandon(lock, w, w_pred));

	/* after: H */
	EXPECT_PICTURE(test, "H..");
	KUNIT_EXPECT_PTR_EQ(test, lock->tail, holder);
	KUNIT_EXPECT_NULL(test, holder->next);
	EXPECT_COUNTED(test, .nodes_allocated = 3, .nodes_freed = 2);
}

static void joiner_between_decision_and_swap_keeps_the_leaver_in_the_queue(struct kunit *test)
{
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *holder, *w, *x, *pred, *w_pred;

	holder = arrive(test, &pred);
	w = arrive(test, &w_pred);

	/* before: H > w, and w has decided to leave; x has not linked */
	x = nbq_bench_enqueue_node(test, &pred);
	KUNIT_EXPECT_FALSE(test, nbq_mcs_abandon(lock, w, w_pred));

	/* after: H L x */
	EXPECT_PICTURE(test, "HLW");
	KUNIT_EXPECT_PTR_EQ(test, nbq_mcs_link(x, pred), NBQ_LEAVING);
	KUNIT_EXPECT_PTR_EQ(test, nbq_mcs_skip(x, pred, NBQ_LEAVING), holder);
	EXPECT_PICTURE(test, "H.W");
	EXPECT_COUNTED(test, .nodes_allocated = 3, .nodes_abandoned = 1,
		       .nodes_reclaimed = 1);
}

/* Handing over */

static void release_with_nobody_behind_empties_the_queue(struct kunit *test)
{
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *holder, *pred;

	holder = arrive(test, &pred);

	/* before: H */
	KUNIT_EXPECT_TRUE(test, nbq_mcs_release(lock, holder));

	/* after: [] */
	EXPECT_PICTURE(test, ".");
	KUNIT_EXPECT_NULL(test, lock->tail);
	KUNIT_EXPECT_NULL(test, nbq_held_find(holder->pool, lock));
	KUNIT_EXPECT_NULL(test, holder->next);
	EXPECT_COUNTED(test, .nodes_allocated = 1, .nodes_freed = 1);
}

static void release_behind_which_all_have_left_empties_the_queue(struct kunit *test)
{
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *holder, *w, *pred;

	holder = arrive(test, &pred);
	w = arrive(test, &pred);
	nbq_mcs_abandon(lock, w, pred);

	/* before: H; after: [] */
	KUNIT_EXPECT_TRUE(test, nbq_mcs_release(lock, holder));
	EXPECT_PICTURE(test, "..");
	KUNIT_EXPECT_NULL(test, lock->tail);
	EXPECT_COUNTED(test, .nodes_allocated = 2, .nodes_freed = 2);
}

static void hand_over_to_one_that_left_reaches_the_one_behind(struct kunit *test)
{
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *holder, *w, *x, *pred, *w_pred;

	holder = arrive(test, &pred);
	w = arrive(test, &w_pred);
	x = arrive(test, &pred);
	nbq_mcs_abandon(lock, w, w_pred);
	EXPECT_COUNTED(test, .nodes_allocated = 3, .nodes_abandoned = 1);

	/* before: H L x */
	KUNIT_EXPECT_FALSE(test, nbq_mcs_release(lock, holder));

	/* after: A L x */
	EXPECT_PICTURE(test, "ALW");
	KUNIT_EXPECT_PTR_EQ(test, nbq_mcs_poll(x), NBQ_LEAVING);
	pred = nbq_mcs_skip(x, pred, NBQ_LEAVING);
	EXPECT_PICTURE(test, "A.W");
	KUNIT_EXPECT_PTR_EQ(test, nbq_mcs_link(x, pred), NBQ_AVAILABLE);
	nbq_mcs_granted(lock, x, pred);

	/* after: H */
	EXPECT_PICTURE(test, "..H");
	EXPECT_COUNTED(test, .nodes_reclaimed = 2);
}

/*
 * before: H > w > x, then w holds and x leaves, as tail and forgotten. after: A; and once
 * the node is used again, it is nothing but new.
 */
static void successor_that_was_seen_may_leave(struct kunit *test)
{
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *holder, *w, *x, *y, *pred, *w_pred, *x_pred;

	holder = arrive(test, &pred);
	w = arrive(test, &w_pred);
	x = arrive(test, &x_pred);
	nbq_mcs_release(lock, holder);
	nbq_mcs_granted(lock, w, w_pred);
	KUNIT_EXPECT_TRUE(test, nbq_mcs_abandon(lock, x, x_pred));
	KUNIT_EXPECT_FALSE(test, nbq_mcs_release(lock, w));
	EXPECT_PICTURE(test, ".A.");

	y = nbq_bench_enqueue_node(test, &pred);
	KUNIT_EXPECT_PTR_EQ(test, pred, w);
	KUNIT_EXPECT_PTR_EQ(test, nbq_mcs_link(y, w), NBQ_AVAILABLE);
	nbq_mcs_granted(lock, y, w);
	KUNIT_EXPECT_TRUE(test, nbq_mcs_release(lock, y));
	w = nbq_bench_enqueue_node(test, &pred);
	KUNIT_EXPECT_FALSE(test, w->has_successor);
	KUNIT_EXPECT_TRUE(test, nbq_mcs_release(lock, w));
	EXPECT_PICTURE(test, "...");
}

/* Idle locks */

static void destroy_gives_back_leavers_of_both_kinds(struct kunit *test)
{
	struct nbq_queue_lock *lock = lock_of(test);

	nbq_bench_leave_abandoned(test, 3);

	/* before: A L T T; after: [] */
	EXPECT_PICTURE(test, "ALTT.");
	KUNIT_EXPECT_EQ(test, nbq_mcs_destroy(((struct nbq_bench *)test->priv)->lock), 0);
	EXPECT_PICTURE(test, ".....");
	KUNIT_EXPECT_NULL(test, lock->tail);
}

static void destroy_gives_back_leavers_that_left_back_one_first(struct kunit *test)
{
	struct nbq_bench *bench = test->priv;
	struct nbq_contender *contender[5];
	int i;

	for (i = 0; i < 5; i++)
		contender[i] = nbq_bench_enqueue(test);
	for (i = 3; i >= 1; i--)
		nbq_contender_abandon(bench, contender[i]);
	nbq_contender_release(bench, contender[0]);
	nbq_contender_abandon(bench, contender[4]);

	/* before: A L L L; after: [] */
	EXPECT_PICTURE(test, "ALLL.");
	KUNIT_EXPECT_EQ(test, nbq_mcs_destroy(bench->lock), 0);
	EXPECT_PICTURE(test, ".....");
}

/* A node is free for reuse at once, whichever way it was given back. */

static struct nbq_node *leave_as_tail(struct kunit *test)
{
	struct nbq_node *w, *pred;

	arrive(test, &pred);
	w = arrive(test, &pred);
	nbq_mcs_abandon(lock_of(test), w, pred);
	return w;
}

static struct nbq_node *leave_as_tail_when_told(struct kunit *test)
{
	struct nbq_node *holder, *w, *pred;

	holder = arrive(test, &pred);
	w = arrive(test, &pred);
	nbq_mcs_release(lock_of(test), holder);
	nbq_mcs_abandon(lock_of(test), w, pred);
	return w;
}

static struct nbq_node *release_as_tail(struct kunit *test)
{
	struct nbq_node *holder, *pred;

	holder = arrive(test, &pred);
	nbq_mcs_release(lock_of(test), holder);
	return holder;
}

static struct nbq_node *be_stepped_over(struct kunit *test)
{
	struct nbq_node *w, *x, *pred, *w_pred;

	arrive(test, &pred);
	w = arrive(test, &w_pred);
	x = arrive(test, &pred);
	nbq_mcs_abandon(lock_of(test), w, w_pred);
	nbq_mcs_skip(x, pred, NBQ_LEAVING);
	return w;
}

static struct nbq_node *be_taken_over_from(struct kunit *test)
{
	struct nbq_node *holder, *w, *pred;

	holder = arrive(test, &pred);
	w = arrive(test, &pred);
	nbq_mcs_release(lock_of(test), holder);
	nbq_mcs_granted(lock_of(test), w, pred);
	return holder;
}

static struct nbq_node *be_transient_to_destroy(struct kunit *test)
{
	struct nbq_bench *bench = test->priv;

	nbq_bench_leave_abandoned(test, 2);
	KUNIT_EXPECT_EQ(test, nbq_mcs_destroy(bench->lock), 0);
	return &bench->nodes[2];
}

static const struct way_back {
	const char *desc;
	struct nbq_node *(*go)(struct kunit *test);
} ways_back[] = {
	{ "by_its_owner_leaving_as_tail", leave_as_tail },
	{ "by_its_owner_leaving_as_tail_when_told", leave_as_tail_when_told },
	{ "by_its_owner_releasing_as_tail", release_as_tail },
	{ "by_a_successor_stepping_over", be_stepped_over },
	{ "by_a_successor_taking_over", be_taken_over_from },
	{ "by_destroy_as_transient", be_transient_to_destroy },
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
	struct nbq_mcs other;

	nbq_mcs_init(&other);
	KUNIT_ASSERT_TRUE(test, nbq_is_free(node));
	KUNIT_ASSERT_TRUE(test, nbq_node_try_alloc(node));
	KUNIT_EXPECT_FALSE(test, nbq_is_free(node));
	holder = nbq_bench_alloc(test);

	/* before: H; in between: H > node, then A node; after: [] */
	KUNIT_EXPECT_NULL(test, nbq_mcs_enqueue(&other.queue, holder));
	nbq_held_add(holder, &other);
	KUNIT_EXPECT_PTR_EQ(test, nbq_mcs_enqueue(&other.queue, node), holder);
	KUNIT_EXPECT_NULL(test, nbq_mcs_link(node, holder));
	KUNIT_EXPECT_NULL(test, nbq_mcs_poll(node));
	KUNIT_EXPECT_FALSE(test, nbq_mcs_release(&other.queue, holder));
	KUNIT_EXPECT_PTR_EQ(test, nbq_mcs_poll(node), NBQ_AVAILABLE);
	nbq_mcs_granted(&other.queue, node, holder);
	KUNIT_EXPECT_TRUE(test, nbq_mcs_release(&other.queue, node));
	KUNIT_EXPECT_TRUE(test, nbq_is_free(node));
	KUNIT_EXPECT_TRUE(test, nbq_is_free(holder));
	KUNIT_EXPECT_NULL(test, other.tail);
}

static struct kunit_case mcs_cases[] = {
	KUNIT_CASE(first_to_join_finds_no_predecessor),
	KUNIT_CASE(joiner_is_not_known_before_it_links),
	KUNIT_CASE(joiner_finds_the_last_waiter_in_front),
	KUNIT_CASE(joining_and_linking_forget_the_last_life_of_the_node),
	KUNIT_CASE_PARAM(releasing_predecessor_says_available, words_gen_params),
	KUNIT_CASE_PARAM(forgotten_leaver_says_leaving, words_gen_params),
	KUNIT_CASE_PARAM(leaver_that_was_told_says_transient, words_gen_params),
	KUNIT_CASE(leaver_at_the_tail_takes_its_node_along),
	KUNIT_CASE(leaver_at_the_tail_tells_nobody),
	KUNIT_CASE(leaver_behind_a_waiter_leaves_it_as_the_tail),
	KUNIT_CASE(leaver_at_the_tail_that_was_told_takes_its_node_along),
	KUNIT_CASE(leaver_at_the_tail_behind_a_leaver_takes_its_node_along),
	KUNIT_CASE_PARAM(neighbours_leave_in_any_order, order_gen_params),
	KUNIT_CASE(two_at_the_tail_leave_back_one_first),
	KUNIT_CASE(joiner_between_decision_and_swap_keeps_the_leaver_in_the_queue),
	KUNIT_CASE(release_with_nobody_behind_empties_the_queue),
	KUNIT_CASE(release_behind_which_all_have_left_empties_the_queue),
	KUNIT_CASE(hand_over_to_one_that_left_reaches_the_one_behind),
	KUNIT_CASE(successor_that_was_seen_may_leave),
	KUNIT_CASE(destroy_gives_back_leavers_of_both_kinds),
	KUNIT_CASE(destroy_gives_back_leavers_that_left_back_one_first),
	KUNIT_CASE_PARAM(node_given_back_works_again_at_once, way_back_gen_params),
	{}
};

static struct kunit_suite mcs_suite = {
	.name = "nbq_mcs",
	.init = nbq_mcs_bench_init,
	.exit = nbq_bench_exit,
	.test_cases = mcs_cases,
};

kunit_test_suite(mcs_suite);
