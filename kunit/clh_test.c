// SPDX-License-Identifier: GPL-2.0
/*
 * CLH-NB step by step: every transition by hand from a queue that is drawn
 * before and after it, with the state of each node and the counts.
 *
 * One context takes all the parts here, so these cases say what a step does
 * and not how two steps at the same moment are ordered.
 *
 * Pictures: from the front to the tail, H holds, W waits, L has left, A is
 * AVAILABLE, a dot is free. Nodes: the holder's, then w, x, y by arrival.
 */
#include <linux/string.h>

#include "common.h"

static struct nbq_queue_lock *lock_of(struct kunit *test)
{
	struct nbq_bench *bench = test->priv;
	struct nbq_clh *lock = bench->lock;

	return &lock->queue;
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

static void joiner_finds_the_holder_in_front(struct kunit *test)
{
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *holder, *w, *pred;

	holder = nbq_bench_enqueue_node(test, &pred);

	/* before: H */
	w = nbq_bench_enqueue_node(test, &pred);

	/* after: H w */
	EXPECT_PICTURE(test, "HW");
	KUNIT_EXPECT_PTR_EQ(test, pred, holder);
	KUNIT_EXPECT_PTR_EQ(test, lock->tail, w);
	KUNIT_EXPECT_PTR_EQ(test, nbq_held_find(holder->pool, lock), holder);
	EXPECT_COUNTED(test, .nodes_allocated = 2);
}

static void joiner_finds_the_last_waiter_in_front(struct kunit *test)
{
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *w, *x, *pred;

	nbq_bench_enqueue_node(test, &pred);
	w = nbq_bench_enqueue_node(test, &pred);

	/* before: H w */
	x = nbq_bench_enqueue_node(test, &pred);

	/* after: H w x */
	EXPECT_PICTURE(test, "HWW");
	KUNIT_EXPECT_PTR_EQ(test, pred, w);
	KUNIT_EXPECT_PTR_EQ(test, lock->tail, x);
}

static void joining_forgets_the_last_life_of_the_node(struct kunit *test)
{
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *node = nbq_bench_alloc(test);

	node->prev = NBQ_AVAILABLE;
	nbq_clh_enqueue(lock, node);

	KUNIT_EXPECT_NULL(test, nbq_clh_poll(node));
}

/* Looking */

static void waiting_predecessor_says_nothing(struct kunit *test)
{
	struct nbq_node *pred;

	nbq_bench_enqueue_node(test, &pred);
	nbq_bench_enqueue_node(test, &pred);
	nbq_bench_enqueue_node(test, &pred);

	/* before and after: H w x, x looks at w */
	KUNIT_EXPECT_NULL(test, nbq_clh_poll(pred));
	EXPECT_PICTURE(test, "HWW");
}

static void holding_predecessor_says_nothing(struct kunit *test)
{
	struct nbq_node *pred;

	nbq_bench_enqueue_node(test, &pred);
	nbq_bench_enqueue_node(test, &pred);

	/* before and after: H w, w looks at H */
	KUNIT_EXPECT_NULL(test, nbq_clh_poll(pred));
	EXPECT_PICTURE(test, "HW");
}

static void releasing_predecessor_says_available(struct kunit *test)
{
	struct nbq_node *holder, *pred;

	holder = nbq_bench_enqueue_node(test, &pred);
	nbq_bench_enqueue_node(test, &pred);
	nbq_clh_release(lock_of(test), holder);

	/* before and after: A w, w looks at A */
	KUNIT_EXPECT_PTR_EQ(test, nbq_clh_poll(pred), NBQ_AVAILABLE);
	EXPECT_PICTURE(test, "AW");
}

static void leaving_predecessor_says_who_stood_in_front_of_it(struct kunit *test)
{
	struct nbq_node *holder, *w, *pred, *w_pred;

	holder = nbq_bench_enqueue_node(test, &pred);
	w = nbq_bench_enqueue_node(test, &w_pred);
	nbq_bench_enqueue_node(test, &pred);
	nbq_clh_abandon(lock_of(test), w, w_pred);

	/* before and after: H L x, x looks at L */
	KUNIT_EXPECT_PTR_EQ(test, nbq_clh_poll(pred), holder);
	EXPECT_PICTURE(test, "HLW");
}

/* Leaving */

static void leaver_at_the_tail_takes_its_node_along(struct kunit *test)
{
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *holder, *w, *pred;

	holder = nbq_bench_enqueue_node(test, &pred);
	w = nbq_bench_enqueue_node(test, &pred);

	/* before: H w */
	KUNIT_EXPECT_TRUE(test, nbq_clh_abandon(lock, w, pred));

	/* after: H */
	EXPECT_PICTURE(test, "H.");
	KUNIT_EXPECT_PTR_EQ(test, lock->tail, holder);
	KUNIT_EXPECT_PTR_EQ(test, nbq_held_find(holder->pool, lock), holder);
	EXPECT_COUNTED(test, .nodes_allocated = 2, .nodes_freed = 1);
}

/*
 * Swap before publishing. The papers' prose has the reverse, and then the node
 * can be reclaimed and reused before the swap on the tail expects it there.
 */
static void leaver_at_the_tail_tells_nobody(struct kunit *test)
{
	struct nbq_node *w, *pred;

	nbq_bench_enqueue_node(test, &pred);
	w = nbq_bench_enqueue_node(test, &pred);

	/* before: H w; after: H */
	nbq_clh_abandon(lock_of(test), w, pred);
	KUNIT_EXPECT_NULL(test, w->prev);
}

static void leaver_behind_a_waiter_leaves_it_as_the_tail(struct kunit *test)
{
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *w, *x, *pred;

	nbq_bench_enqueue_node(test, &pred);
	w = nbq_bench_enqueue_node(test, &pred);
	x = nbq_bench_enqueue_node(test, &pred);

	/* before: H w x */
	KUNIT_EXPECT_TRUE(test, nbq_clh_abandon(lock, x, pred));

	/* after: H w */
	EXPECT_PICTURE(test, "HW.");
	KUNIT_EXPECT_PTR_EQ(test, lock->tail, w);
	EXPECT_COUNTED(test, .nodes_allocated = 3, .nodes_freed = 1);
}

static void leaver_behind_the_holder_is_stepped_over(struct kunit *test)
{
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *holder, *w, *x, *pred, *w_pred, *prev;

	holder = nbq_bench_enqueue_node(test, &pred);
	w = nbq_bench_enqueue_node(test, &w_pred);
	x = nbq_bench_enqueue_node(test, &pred);
	EXPECT_COUNTED(test, .nodes_allocated = 3);

	/* before: H w x */
	KUNIT_EXPECT_FALSE(test, nbq_clh_abandon(lock, w, w_pred));

	/* after: H L x */
	EXPECT_PICTURE(test, "HLW");
	KUNIT_EXPECT_PTR_EQ(test, lock->tail, x);
	EXPECT_COUNTED(test, .nodes_abandoned = 1);

	prev = nbq_clh_poll(pred);
	KUNIT_EXPECT_PTR_EQ(test, nbq_clh_skip(x, pred, prev), holder);

	/* after: H x */
	EXPECT_PICTURE(test, "H.W");
	EXPECT_COUNTED(test, .nodes_reclaimed = 1);
}

static void leaver_between_waiters_is_stepped_over(struct kunit *test)
{
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *w, *x, *y, *pred, *x_pred, *prev;

	nbq_bench_enqueue_node(test, &pred);
	w = nbq_bench_enqueue_node(test, &pred);
	x = nbq_bench_enqueue_node(test, &x_pred);
	y = nbq_bench_enqueue_node(test, &pred);
	EXPECT_COUNTED(test, .nodes_allocated = 4);

	/* before: H w x y */
	KUNIT_EXPECT_FALSE(test, nbq_clh_abandon(lock, x, x_pred));

	/* after: H w L y */
	EXPECT_PICTURE(test, "HWLW");

	prev = nbq_clh_poll(pred);
	KUNIT_EXPECT_PTR_EQ(test, nbq_clh_skip(y, pred, prev), w);

	/* after: H w y */
	EXPECT_PICTURE(test, "HW.W");
	KUNIT_EXPECT_NULL(test, nbq_clh_poll(w));
	EXPECT_COUNTED(test, .nodes_abandoned = 1, .nodes_reclaimed = 1);
}

/* Step over leavers for as long as there are any, as a waiter does. */
static struct nbq_node *walk(struct nbq_node *node, struct nbq_node *pred)
{
	struct nbq_node *prev = nbq_clh_poll(pred);

	while (prev && prev != NBQ_AVAILABLE) {
		pred = nbq_clh_skip(node, pred, prev);
		prev = nbq_clh_poll(pred);
	}
	return pred;
}

static void neighbours_leave_front_one_first(struct kunit *test)
{
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *holder, *w, *x, *y, *pred, *w_pred, *x_pred;

	holder = nbq_bench_enqueue_node(test, &pred);
	w = nbq_bench_enqueue_node(test, &w_pred);
	x = nbq_bench_enqueue_node(test, &x_pred);
	y = nbq_bench_enqueue_node(test, &pred);
	EXPECT_COUNTED(test, .nodes_allocated = 4);

	/* before: H w x y */
	KUNIT_EXPECT_FALSE(test, nbq_clh_abandon(lock, w, w_pred));
	EXPECT_PICTURE(test, "HLWW");
	KUNIT_EXPECT_FALSE(test, nbq_clh_abandon(lock, x, x_pred));

	/* after: H L L y */
	EXPECT_PICTURE(test, "HLLW");
	EXPECT_COUNTED(test, .nodes_abandoned = 2);

	KUNIT_EXPECT_PTR_EQ(test, walk(y, pred), holder);

	/* after: H y */
	EXPECT_PICTURE(test, "H..W");
	EXPECT_COUNTED(test, .nodes_reclaimed = 2);
}

static void neighbours_leave_back_one_first(struct kunit *test)
{
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *holder, *w, *x, *y, *pred, *w_pred, *x_pred;

	holder = nbq_bench_enqueue_node(test, &pred);
	w = nbq_bench_enqueue_node(test, &w_pred);
	x = nbq_bench_enqueue_node(test, &x_pred);
	y = nbq_bench_enqueue_node(test, &pred);
	EXPECT_COUNTED(test, .nodes_allocated = 4);

	/* before: H w x y */
	KUNIT_EXPECT_FALSE(test, nbq_clh_abandon(lock, x, x_pred));
	EXPECT_PICTURE(test, "HWLW");
	KUNIT_EXPECT_FALSE(test, nbq_clh_abandon(lock, w, w_pred));

	/* after: H L L y */
	EXPECT_PICTURE(test, "HLLW");
	EXPECT_COUNTED(test, .nodes_abandoned = 2);

	KUNIT_EXPECT_PTR_EQ(test, walk(y, pred), holder);

	/* after: H y */
	EXPECT_PICTURE(test, "H..W");
	EXPECT_COUNTED(test, .nodes_reclaimed = 2);
}

static void leaver_does_not_step_over_a_leaver_that_it_has_not_seen(struct kunit *test)
{
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *holder, *w, *x, *pred, *w_pred, *x_pred;

	holder = nbq_bench_enqueue_node(test, &pred);
	w = nbq_bench_enqueue_node(test, &w_pred);
	x = nbq_bench_enqueue_node(test, &x_pred);

	/* before: H w x, and x has decided to leave when w leaves */
	KUNIT_EXPECT_FALSE(test, nbq_clh_abandon(lock, w, w_pred));
	KUNIT_EXPECT_TRUE(test, nbq_clh_abandon(lock, x, x_pred));

	/* after: H L */
	EXPECT_PICTURE(test, "HL.");
	KUNIT_EXPECT_PTR_EQ(test, lock->tail, w);
	EXPECT_COUNTED(test, .nodes_allocated = 3, .nodes_abandoned = 1,
		       .nodes_freed = 1);

	/* the next one finds its way to the holder; after: H y */
	x = nbq_bench_enqueue_node(test, &pred);
	KUNIT_EXPECT_PTR_EQ(test, pred, w);
	KUNIT_EXPECT_PTR_EQ(test, walk(x, pred), holder);
	KUNIT_EXPECT_TRUE(test, nbq_is_free(w));
	EXPECT_COUNTED(test, .nodes_allocated = 1, .nodes_reclaimed = 1);
}

static void two_at_the_tail_leave_back_one_first(struct kunit *test)
{
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *holder, *w, *x, *pred, *w_pred, *x_pred;

	holder = nbq_bench_enqueue_node(test, &pred);
	w = nbq_bench_enqueue_node(test, &w_pred);
	x = nbq_bench_enqueue_node(test, &x_pred);

	/* before: H w x */
	KUNIT_EXPECT_TRUE(test, nbq_clh_abandon(lock, x, x_pred));
	KUNIT_EXPECT_TRUE(test, nbq_clh_abandon(lock, w, w_pred));

	/* after: H */
	EXPECT_PICTURE(test, "H..");
	KUNIT_EXPECT_PTR_EQ(test, lock->tail, holder);
	EXPECT_COUNTED(test, .nodes_allocated = 3, .nodes_freed = 2);
}

static void joiner_between_decision_and_swap_keeps_the_leaver_in_the_queue(struct kunit *test)
{
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *holder, *w, *x, *pred, *w_pred;

	holder = nbq_bench_enqueue_node(test, &pred);
	w = nbq_bench_enqueue_node(test, &w_pred);

	/* before: H w, and w has decided to leave */
	KUNIT_EXPECT_NULL(test, nbq_clh_poll(w_pred));
	x = nbq_bench_enqueue_node(test, &pred);
	KUNIT_EXPECT_PTR_EQ(test, pred, w);
	KUNIT_EXPECT_FALSE(test, nbq_clh_abandon(lock, w, w_pred));

	/* after: H L x */
	EXPECT_PICTURE(test, "HLW");
	KUNIT_EXPECT_PTR_EQ(test, walk(x, pred), holder);
	EXPECT_PICTURE(test, "H.W");
	EXPECT_COUNTED(test, .nodes_allocated = 3, .nodes_abandoned = 1,
		       .nodes_reclaimed = 1);
}

static void leaver_to_whom_the_lock_was_handed_over_leaves_it_to_the_next(struct kunit *test)
{
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *holder, *w, *x, *pred, *w_pred;

	holder = nbq_bench_enqueue_node(test, &pred);
	w = nbq_bench_enqueue_node(test, &w_pred);

	/* before: H w, and w has decided to leave when H hands over */
	KUNIT_EXPECT_FALSE(test, nbq_clh_release(lock, holder));
	KUNIT_EXPECT_TRUE(test, nbq_clh_abandon(lock, w, w_pred));

	/* after: A */
	EXPECT_PICTURE(test, "A.");
	KUNIT_EXPECT_PTR_EQ(test, lock->tail, holder);

	/* the next one takes it: H */
	x = nbq_bench_enqueue_node(test, &pred);
	KUNIT_EXPECT_PTR_EQ(test, nbq_clh_poll(pred), NBQ_AVAILABLE);
	nbq_clh_granted(lock, x, pred);
	EXPECT_PICTURE(test, ".H");
	EXPECT_COUNTED(test, .nodes_allocated = 3, .nodes_freed = 1,
		       .nodes_reclaimed = 1);
}

/* Handing over */

static void release_with_nobody_behind_empties_the_queue(struct kunit *test)
{
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *holder, *pred;

	holder = nbq_bench_enqueue_node(test, &pred);

	/* before: H */
	KUNIT_EXPECT_TRUE(test, nbq_clh_release(lock, holder));

	/* after: [] */
	EXPECT_PICTURE(test, ".");
	KUNIT_EXPECT_NULL(test, lock->tail);
	KUNIT_EXPECT_NULL(test, nbq_held_find(holder->pool, lock));
	KUNIT_EXPECT_NULL(test, holder->prev);
	EXPECT_COUNTED(test, .nodes_allocated = 1, .nodes_freed = 1);
}

static void waiter_takes_over_from_the_releaser(struct kunit *test)
{
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *holder, *w, *pred;

	holder = nbq_bench_enqueue_node(test, &pred);
	w = nbq_bench_enqueue_node(test, &pred);
	EXPECT_COUNTED(test, .nodes_allocated = 2);

	/* before: H w */
	KUNIT_EXPECT_FALSE(test, nbq_clh_release(lock, holder));

	/* after: A w */
	EXPECT_PICTURE(test, "AW");
	KUNIT_EXPECT_NULL(test, nbq_held_find(holder->pool, lock));
	KUNIT_EXPECT_PTR_EQ(test, lock->tail, w);
	EXPECT_COUNTED(test);

	KUNIT_EXPECT_PTR_EQ(test, nbq_clh_poll(pred), NBQ_AVAILABLE);
	nbq_clh_granted(lock, w, pred);

	/* after: H */
	EXPECT_PICTURE(test, ".H");
	KUNIT_EXPECT_PTR_EQ(test, lock->tail, w);
	EXPECT_COUNTED(test, .nodes_reclaimed = 1);
}

static void hand_over_to_one_that_left_reaches_the_one_behind(struct kunit *test)
{
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *holder, *w, *x, *pred, *w_pred;

	holder = nbq_bench_enqueue_node(test, &pred);
	w = nbq_bench_enqueue_node(test, &w_pred);
	x = nbq_bench_enqueue_node(test, &pred);
	nbq_clh_abandon(lock, w, w_pred);
	EXPECT_COUNTED(test, .nodes_allocated = 3, .nodes_abandoned = 1);

	/* before: H L x */
	KUNIT_EXPECT_FALSE(test, nbq_clh_release(lock, holder));

	/* after: A L x */
	EXPECT_PICTURE(test, "ALW");
	pred = walk(x, pred);
	EXPECT_PICTURE(test, "A.W");
	KUNIT_EXPECT_PTR_EQ(test, nbq_clh_poll(pred), NBQ_AVAILABLE);
	nbq_clh_granted(lock, x, pred);

	/* after: H */
	EXPECT_PICTURE(test, "..H");
	EXPECT_COUNTED(test, .nodes_reclaimed = 2);
}

static void late_joiner_takes_over_behind_abandoned_nodes(struct kunit *test)
{
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_bench *bench = test->priv;
	struct nbq_node *node, *pred;

	nbq_bench_leave_abandoned(test, 2);

	/* before: A L L, nobody in the queue */
	EXPECT_PICTURE(test, "ALL.");
	node = nbq_bench_enqueue_node(test, &pred);
	KUNIT_EXPECT_PTR_EQ(test, pred, &bench->nodes[2]);
	pred = walk(node, pred);
	KUNIT_EXPECT_PTR_EQ(test, nbq_clh_poll(pred), NBQ_AVAILABLE);
	nbq_clh_granted(lock, node, pred);

	/* after: H */
	EXPECT_PICTURE(test, "...H");
	KUNIT_EXPECT_TRUE(test, nbq_clh_release(lock, node));
	EXPECT_PICTURE(test, "....");
	EXPECT_COUNTED(test, .nodes_allocated = 1, .nodes_reclaimed = 3,
		       .nodes_freed = 1);
}

static void releaser_touches_nothing_after_the_hand_over(struct kunit *test)
{
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *holder, *w, *pred;
	unsigned char poison[sizeof(*lock)];

	holder = nbq_bench_enqueue_node(test, &pred);
	w = nbq_bench_enqueue_node(test, &pred);

	/* before: H w */
	nbq_clh_release(lock, holder);
	nbq_clh_granted(lock, w, pred);
	nbq_clh_release(lock, w);

	/* after: [], and the lock's memory is something else now */
	memset(poison, 0x6b, sizeof(poison));
	memset(lock, 0x6b, sizeof(*lock));
	EXPECT_PICTURE(test, "..");

	/* both nodes serve another lock */
	memset(&((struct nbq_bench *)test->priv)->pool.events, 0,
	       sizeof(struct nbq_events));
	KUNIT_EXPECT_PTR_EQ(test, nbq_bench_alloc(test), w);
	KUNIT_EXPECT_PTR_EQ(test, nbq_bench_alloc(test), holder);
	KUNIT_EXPECT_EQ(test, memcmp(lock, poison, sizeof(poison)), 0);
	memset(lock, 0, sizeof(*lock));
}

/* A context that interrupts a leaver and shares its pool */

static void nested_context_before_the_swap_gets_another_node(struct kunit *test)
{
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *holder, *w, *nested, *pred, *w_pred;

	holder = nbq_bench_enqueue_node(test, &pred);
	w = nbq_bench_enqueue_node(test, &w_pred);

	/* before: H w, and w has decided to leave */
	nested = nbq_bench_enqueue_node(test, &pred);
	KUNIT_EXPECT_PTR_NE(test, nested, w);
	KUNIT_EXPECT_PTR_EQ(test, pred, w);
	EXPECT_PICTURE(test, "HWW");

	/* the nested context cannot wait for w, which it has interrupted */
	KUNIT_EXPECT_NULL(test, nbq_clh_poll(pred));
	KUNIT_EXPECT_TRUE(test, nbq_clh_abandon(lock, nested, pred));
	KUNIT_EXPECT_TRUE(test, nbq_clh_abandon(lock, w, w_pred));

	/* after: H */
	EXPECT_PICTURE(test, "H..");
	KUNIT_EXPECT_PTR_EQ(test, lock->tail, holder);
	EXPECT_COUNTED(test, .nodes_allocated = 3, .nodes_freed = 2);
}

static void nested_context_after_the_swap_may_get_the_node(struct kunit *test)
{
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *holder, *w, *nested, *pred;

	holder = nbq_bench_enqueue_node(test, &pred);
	w = nbq_bench_enqueue_node(test, &pred);
	nbq_clh_abandon(lock, w, pred);

	/* before: H */
	nested = nbq_bench_enqueue_node(test, &pred);

	/* after: H w, w in its second life */
	KUNIT_EXPECT_PTR_EQ(test, nested, w);
	KUNIT_EXPECT_PTR_EQ(test, pred, holder);
	EXPECT_PICTURE(test, "HW");
}

static void nested_context_never_gets_an_abandoned_node(struct kunit *test)
{
	struct nbq_queue_lock *lock = lock_of(test);
	struct nbq_node *w, *x, *nested, *pred, *w_pred, *nested_pred;

	nbq_bench_enqueue_node(test, &pred);
	w = nbq_bench_enqueue_node(test, &w_pred);
	x = nbq_bench_enqueue_node(test, &pred);
	nbq_clh_abandon(lock, w, w_pred);

	/* before: H L x */
	nested = nbq_bench_enqueue_node(test, &nested_pred);

	/* after: H L x y */
	KUNIT_EXPECT_PTR_NE(test, nested, w);
	KUNIT_EXPECT_PTR_EQ(test, nested_pred, x);
	EXPECT_PICTURE(test, "HLWW");
}

/* A node is free for reuse at once, whichever way it was given back. */

static struct nbq_node *leave_as_tail(struct kunit *test)
{
	struct nbq_node *w, *pred;

	nbq_bench_enqueue_node(test, &pred);
	w = nbq_bench_enqueue_node(test, &pred);
	nbq_clh_abandon(lock_of(test), w, pred);
	return w;
}

static struct nbq_node *release_as_tail(struct kunit *test)
{
	struct nbq_node *holder, *pred;

	holder = nbq_bench_enqueue_node(test, &pred);
	nbq_clh_release(lock_of(test), holder);
	return holder;
}

static struct nbq_node *be_stepped_over(struct kunit *test)
{
	struct nbq_node *w, *x, *pred, *w_pred;

	nbq_bench_enqueue_node(test, &pred);
	w = nbq_bench_enqueue_node(test, &w_pred);
	x = nbq_bench_enqueue_node(test, &pred);
	nbq_clh_abandon(lock_of(test), w, w_pred);
	nbq_clh_skip(x, pred, nbq_clh_poll(pred));
	return w;
}

static struct nbq_node *be_taken_over_from(struct kunit *test)
{
	struct nbq_node *holder, *w, *pred;

	holder = nbq_bench_enqueue_node(test, &pred);
	w = nbq_bench_enqueue_node(test, &pred);
	nbq_clh_release(lock_of(test), holder);
	nbq_clh_granted(lock_of(test), w, pred);
	return holder;
}

static struct nbq_node *be_available_to_destroy(struct kunit *test)
{
	struct nbq_bench *bench = test->priv;

	nbq_bench_leave_abandoned(test, 1);
	KUNIT_EXPECT_EQ(test, nbq_clh_destroy(bench->lock), 0);
	return &bench->nodes[0];
}

static struct nbq_node *be_abandoned_to_destroy(struct kunit *test)
{
	struct nbq_bench *bench = test->priv;

	nbq_bench_leave_abandoned(test, 1);
	KUNIT_EXPECT_EQ(test, nbq_clh_destroy(bench->lock), 0);
	return &bench->nodes[1];
}

static const struct way_back {
	const char *desc;
	struct nbq_node *(*go)(struct kunit *test);
} ways_back[] = {
	{ "by_its_owner_leaving_as_tail", leave_as_tail },
	{ "by_its_owner_releasing_as_tail", release_as_tail },
	{ "by_a_successor_stepping_over", be_stepped_over },
	{ "by_a_successor_taking_over", be_taken_over_from },
	{ "by_destroy_as_available", be_available_to_destroy },
	{ "by_destroy_as_abandoned", be_abandoned_to_destroy },
};

static void way_back_desc(const struct way_back *way, char *desc)
{
	strscpy(desc, way->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(way_back, ways_back, way_back_desc);

static void node_given_back_works_again_at_once(struct kunit *test)
{
	const struct way_back *way = test->param_value;
	struct nbq_node *node = way->go(test);
	struct nbq_clh other;

	nbq_clh_init(&other);
	KUNIT_ASSERT_TRUE(test, nbq_is_free(node));
	KUNIT_ASSERT_TRUE(test, nbq_node_try_alloc(node));
	KUNIT_EXPECT_FALSE(test, nbq_is_free(node));

	/* before: []; after: H; after: [] */
	KUNIT_EXPECT_NULL(test, nbq_clh_enqueue(&other.queue, node));
	KUNIT_EXPECT_NULL(test, nbq_clh_poll(node));
	nbq_held_add(node, &other);
	KUNIT_EXPECT_TRUE(test, nbq_clh_release(&other.queue, node));
	KUNIT_EXPECT_TRUE(test, nbq_is_free(node));
	KUNIT_EXPECT_NULL(test, other.tail);
}

static struct kunit_case clh_cases[] = {
	KUNIT_CASE(first_to_join_finds_no_predecessor),
	KUNIT_CASE(joiner_finds_the_holder_in_front),
	KUNIT_CASE(joiner_finds_the_last_waiter_in_front),
	KUNIT_CASE(joining_forgets_the_last_life_of_the_node),
	KUNIT_CASE(waiting_predecessor_says_nothing),
	KUNIT_CASE(holding_predecessor_says_nothing),
	KUNIT_CASE(releasing_predecessor_says_available),
	KUNIT_CASE(leaving_predecessor_says_who_stood_in_front_of_it),
	KUNIT_CASE(leaver_at_the_tail_takes_its_node_along),
	KUNIT_CASE(leaver_at_the_tail_tells_nobody),
	KUNIT_CASE(leaver_behind_a_waiter_leaves_it_as_the_tail),
	KUNIT_CASE(leaver_behind_the_holder_is_stepped_over),
	KUNIT_CASE(leaver_between_waiters_is_stepped_over),
	KUNIT_CASE(neighbours_leave_front_one_first),
	KUNIT_CASE(neighbours_leave_back_one_first),
	KUNIT_CASE(leaver_does_not_step_over_a_leaver_that_it_has_not_seen),
	KUNIT_CASE(two_at_the_tail_leave_back_one_first),
	KUNIT_CASE(joiner_between_decision_and_swap_keeps_the_leaver_in_the_queue),
	KUNIT_CASE(leaver_to_whom_the_lock_was_handed_over_leaves_it_to_the_next),
	KUNIT_CASE(release_with_nobody_behind_empties_the_queue),
	KUNIT_CASE(waiter_takes_over_from_the_releaser),
	KUNIT_CASE(hand_over_to_one_that_left_reaches_the_one_behind),
	KUNIT_CASE(late_joiner_takes_over_behind_abandoned_nodes),
	KUNIT_CASE(releaser_touches_nothing_after_the_hand_over),
	KUNIT_CASE(nested_context_before_the_swap_gets_another_node),
	KUNIT_CASE(nested_context_after_the_swap_may_get_the_node),
	KUNIT_CASE(nested_context_never_gets_an_abandoned_node),
	KUNIT_CASE_PARAM(node_given_back_works_again_at_once, way_back_gen_params),
	{}
};

static struct kunit_suite clh_suite = {
	.name = "nbq_clh",
	.init = nbq_clh_bench_init,
	.exit = nbq_bench_exit,
	.test_cases = clh_cases,
};

kunit_test_suite(clh_suite);
