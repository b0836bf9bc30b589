// SPDX-License-Identifier: GPL-2.0
/*
 * The hybrid, both kinds. First its queue, step by step: every transition by hand
 * from a queue that is drawn before and after it, with the counts. Then who may take
 * the lock, and when: the verbs, with others who move in the middle of a read of the
 * clock, which is made at every NBQ_POLLS_PER_CLOCK-th look.
 *
 * Pictures: from the front to the tail, W waits, the first of them at the head, L has
 * left, A was the head and has passed that on, a dot is free. Nodes: w, x, y by
 * arrival. Whoever holds the lock has none.
 */
#include <linux/cpumask.h>
#include <linux/overflow.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/stddef.h>
#include <linux/string.h>

#include "common.h"

static struct nbq_spin *lock_of(struct kunit *test)
{
	struct nbq_bench *bench = test->priv;

	return bench->lock;
}

static bool passes(struct kunit *test)
{
	struct nbq_bench *bench = test->priv;

	return bench->row->facts->passes;
}

static struct nbq_node *join(struct kunit *test, struct nbq_node **pred)
{
	struct nbq_node *node = nbq_bench_claim(test);

	*pred = nbq_spin_join(lock_of(test), node);
	return node;
}

static struct nbq_node *tail_of(struct kunit *test)
{
	struct nbq_bench *bench = test->priv;

	return bench->row->tail(bench->lock);
}

/* Joining */

static void first_to_join_is_the_head(struct kunit *test)
{
	struct nbq_node *w, *pred;

	/* before: [] */
	EXPECT_PICTURE(test, "");
	w = join(test, &pred);

	/* after: w */
	EXPECT_PICTURE(test, "W");
	KUNIT_EXPECT_NULL(test, pred);
	KUNIT_EXPECT_PTR_EQ(test, tail_of(test), w);
	KUNIT_EXPECT_FALSE(test, nbq_spin_is_locked(lock_of(test)));
	EXPECT_COUNTED(test, .nodes_taken = 1);
}

static void joiner_finds_the_last_waiter_in_front(struct kunit *test)
{
	struct nbq_node *w, *x, *pred;

	w = join(test, &pred);

	/* before: w */
	x = join(test, &pred);

	/* after: w x */
	EXPECT_PICTURE(test, "WW");
	KUNIT_EXPECT_PTR_EQ(test, pred, w);
	KUNIT_EXPECT_PTR_EQ(test, tail_of(test), x);
}

static void joining_forgets_the_last_life_of_the_node(struct kunit *test)
{
	struct nbq_node *node = nbq_bench_claim(test);

	node->prev = NBQ_AVAILABLE;
	nbq_spin_join(lock_of(test), node);
	KUNIT_EXPECT_NULL(test, nbq_spin_look(node));
}

/* Looking */

static void waiting_predecessor_says_nothing(struct kunit *test)
{
	struct nbq_node *w_pred, *x_pred, *pred;

	join(test, &w_pred);
	join(test, &x_pred);
	join(test, &pred);

	/* before and after: w x y, x looks at w, y at x */
	KUNIT_EXPECT_NULL(test, nbq_spin_look(x_pred));
	KUNIT_EXPECT_NULL(test, nbq_spin_look(pred));
	EXPECT_PICTURE(test, "WWW");
}

static void leaving_predecessor_says_who_stood_in_front_of_it(struct kunit *test)
{
	struct nbq_node *w, *x, *pred, *x_pred;

	w = join(test, &pred);
	x = join(test, &x_pred);
	join(test, &pred);
	nbq_spin_leave(lock_of(test), x, x_pred);

	/* before and after: w L y, y looks at L */
	KUNIT_EXPECT_PTR_EQ(test, nbq_spin_look(pred), w);
	EXPECT_PICTURE(test, "WLW");
}

/* Leaving, from any place but the head */

static void leaver_at_the_tail_takes_its_node_along(struct kunit *test)
{
	struct nbq_node *w, *x, *pred;

	w = join(test, &pred);
	x = join(test, &pred);

	/* before: w x */
	KUNIT_EXPECT_TRUE(test, nbq_spin_leave(lock_of(test), x, pred));

	/* after: w; x has told nobody */
	EXPECT_PICTURE(test, "W.");
	KUNIT_EXPECT_PTR_EQ(test, tail_of(test), w);
	KUNIT_EXPECT_NULL(test, x->prev);
	EXPECT_COUNTED(test, .nodes_taken = 2, .nodes_given_back = 1);
}

static void leaver_between_waiters_is_stepped_over(struct kunit *test)
{
	struct nbq_node *w, *x, *y, *pred, *x_pred, *prev;

	w = join(test, &pred);
	x = join(test, &x_pred);
	y = join(test, &pred);
	EXPECT_COUNTED(test, .nodes_taken = 3);

	/* before: w x y */
	KUNIT_EXPECT_FALSE(test, nbq_spin_leave(lock_of(test), x, x_pred));

	/* after: w L y */
	EXPECT_PICTURE(test, "WLW");
	KUNIT_EXPECT_PTR_EQ(test, tail_of(test), y);
	prev = nbq_spin_look(pred);
	KUNIT_EXPECT_PTR_EQ(test, nbq_spin_step_over(y, pred, prev), w);

	/* after: w y */
	EXPECT_PICTURE(test, "W.W");
	KUNIT_EXPECT_NULL(test, nbq_spin_look(w));
	EXPECT_COUNTED(test, .nodes_reclaimed = 1);
}

/* Step over all who have left; as a waiter does. Return: NULL: now at the head. */
static struct nbq_node *walk(struct nbq_node *node, struct nbq_node *pred)
{
	struct nbq_node *prev;

	while (pred && (prev = nbq_spin_look(pred)))
		pred = nbq_spin_step_over(node, pred, prev);
	return pred;
}

static const bool back_first_cases[] = { false, true };

static void back_first_desc(const bool *back_first, char *desc)
{
	strscpy(desc, *back_first ? "back_one_first" : "front_one_first",
		KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(back_first, back_first_cases, back_first_desc);

static void neighbours_leave(struct kunit *test)
{
	const bool *back_first = test->param_value;
	struct nbq_node *node[4], *pred[4];
	int i;

	for (i = 0; i < 4; i++)
		node[i] = join(test, &pred[i]);

	/* before: w x y z */
	for (i = 0; i < 2; i++) {
		int leaver = *back_first ? 2 - i : 1 + i;

		KUNIT_EXPECT_FALSE(test, nbq_spin_leave(lock_of(test), node[leaver],
							pred[leaver]));
	}

	/* after: w L L z */
	EXPECT_PICTURE(test, "WLLW");
	KUNIT_EXPECT_PTR_EQ(test, walk(node[3], pred[3]), node[0]);

	/* after: w z */
	EXPECT_PICTURE(test, "W..W");
	EXPECT_COUNTED(test, .nodes_taken = 4, .nodes_reclaimed = 2);
}

static void joiner_between_decision_and_swap_keeps_the_leaver_in_the_queue(struct kunit *test)
{
	struct nbq_node *w, *x, *y, *pred, *x_pred;

	w = join(test, &pred);
	x = join(test, &x_pred);

	/* before: w x, and x has decided to leave */
	KUNIT_EXPECT_NULL(test, nbq_spin_look(x_pred));
	y = join(test, &pred);
	KUNIT_EXPECT_PTR_EQ(test, pred, x);
	KUNIT_EXPECT_FALSE(test, nbq_spin_leave(lock_of(test), x, x_pred));

	/* after: w L y, then w y */
	EXPECT_PICTURE(test, "WLW");
	KUNIT_EXPECT_PTR_EQ(test, walk(y, pred), w);
	EXPECT_PICTURE(test, "W.W");
}

/* Passing: the head, with the lock or without */

static void head_that_passes_with_nobody_behind_empties_the_queue(struct kunit *test)
{
	struct nbq_node *w, *pred;

	w = join(test, &pred);

	/* before: w */
	KUNIT_EXPECT_TRUE(test, nbq_spin_pass(lock_of(test), w));

	/* after: [] */
	EXPECT_PICTURE(test, ".");
	KUNIT_EXPECT_EQ(test, lock_of(test)->tail, 0);
	KUNIT_EXPECT_NULL(test, w->prev);
	EXPECT_COUNTED(test, .nodes_taken = 1, .nodes_given_back = 1);
}

static void waiter_behind_the_head_becomes_the_head(struct kunit *test)
{
	struct nbq_node *w, *x, *pred;

	w = join(test, &pred);
	x = join(test, &pred);
	EXPECT_COUNTED(test, .nodes_taken = 2);

	/* before: w x */
	KUNIT_EXPECT_FALSE(test, nbq_spin_pass(lock_of(test), w));

	/* after: A x */
	EXPECT_PICTURE(test, "AW");
	KUNIT_EXPECT_PTR_EQ(test, tail_of(test), x);
	EXPECT_COUNTED(test);
	KUNIT_EXPECT_PTR_EQ(test, nbq_spin_look(pred), NBQ_AVAILABLE);
	KUNIT_EXPECT_NULL(test, nbq_spin_step_over(x, pred, NBQ_AVAILABLE));

	/* after: x */
	EXPECT_PICTURE(test, ".W");
	EXPECT_COUNTED(test, .nodes_reclaimed = 1);
	KUNIT_EXPECT_TRUE(test, nbq_spin_pass(lock_of(test), x));
	EXPECT_PICTURE(test, "..");
}

static void head_reaches_the_one_behind_a_leaver(struct kunit *test)
{
	struct nbq_node *w, *x, *y, *pred, *x_pred;

	w = join(test, &pred);
	x = join(test, &x_pred);
	y = join(test, &pred);
	nbq_spin_leave(lock_of(test), x, x_pred);

	/* before: w L y */
	KUNIT_EXPECT_FALSE(test, nbq_spin_pass(lock_of(test), w));

	/* after: A L y */
	EXPECT_PICTURE(test, "ALW");
	KUNIT_EXPECT_NULL(test, walk(y, pred));

	/* after: y */
	EXPECT_PICTURE(test, "..W");
	EXPECT_COUNTED(test, .nodes_taken = 3, .nodes_reclaimed = 2);
}

static void leaver_to_whom_the_head_was_passed_leaves_it_to_the_next(struct kunit *test)
{
	struct nbq_node *w, *x, *pred, *x_pred;

	w = join(test, &pred);
	x = join(test, &x_pred);

	/* before: w x, and x has decided to leave when w passes */
	KUNIT_EXPECT_FALSE(test, nbq_spin_pass(lock_of(test), w));
	KUNIT_EXPECT_TRUE(test, nbq_spin_leave(lock_of(test), x, x_pred));

	/* after: A */
	EXPECT_PICTURE(test, "A.");
	KUNIT_EXPECT_PTR_EQ(test, tail_of(test), w);

	/* the next one is the head */
	x = join(test, &pred);
	KUNIT_EXPECT_PTR_EQ(test, pred, w);
	KUNIT_EXPECT_NULL(test, walk(x, pred));
	EXPECT_PICTURE(test, ".W");
}

/* A context that interrupts a leaver and shares its pool */

static void nested_context_gets_the_leaver_s_node_after_the_swap_only(struct kunit *test)
{
	struct nbq_node *w, *x, *nested, *pred, *x_pred;

	w = join(test, &pred);
	x = join(test, &x_pred);

	/* before: w x, and x has decided to leave */
	nested = join(test, &pred);
	KUNIT_EXPECT_PTR_NE(test, nested, x);
	KUNIT_EXPECT_TRUE(test, nbq_spin_leave(lock_of(test), nested, pred));
	KUNIT_EXPECT_TRUE(test, nbq_spin_leave(lock_of(test), x, x_pred));

	/* after: w; then w x, x in its second life */
	EXPECT_PICTURE(test, "W..");
	nested = join(test, &pred);
	KUNIT_EXPECT_PTR_EQ(test, pred, w);
	KUNIT_EXPECT_FALSE(test, nbq_is_free(nested));
}

static void nested_context_never_gets_an_abandoned_node(struct kunit *test)
{
	struct nbq_node *w, *x, *nested, *pred, *nested_pred;

	w = join(test, &pred);
	x = join(test, &pred);
	nbq_spin_pass(lock_of(test), w);

	/* before: A x; after: A x y */
	nested = join(test, &nested_pred);
	KUNIT_EXPECT_PTR_NE(test, nested, w);
	KUNIT_EXPECT_PTR_EQ(test, nested_pred, x);
	EXPECT_PICTURE(test, "AWW");
}

/* Numbers */

static void every_context_has_a_number_of_its_own(struct kunit *test)
{
	unsigned int cpu, level, wrong = 0;
	u16 context;

	for_each_possible_cpu(cpu) {
		for (level = 0; level < NBQ_LEVELS; level++) {
			struct nbq_pool *pool = &per_cpu(nbq_pools, cpu)[level];
			struct nbq_pool same = { .cpu = cpu, .level = level };

			context = nbq_context_of(&same);
			wrong += !context || nbq_pool_of(context) != pool;
		}
	}
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

static void last_context_of_the_last_cpu_fits(struct kunit *test)
{
	struct nbq_pool last = {
		.cpu = (1U << NBQ_CONTEXT_CPU_BITS) - 2,
		.level = NBQ_LEVELS - 1,
	};

	KUNIT_EXPECT_EQ(test, nbq_context_of(&last), U16_MAX);
}

static void lock_is_one_word_of_8_bytes(struct kunit *test)
{
	union nbq_spin_state one = { .holder = 1 };

	KUNIT_EXPECT_EQ(test, offsetofend(struct nbq_spin, tail), 8);
#ifndef CONFIG_DEBUG_LOCK_ALLOC
	KUNIT_EXPECT_EQ(test, sizeof(struct nbq_spin), 8);
#endif
	/* What is inline swaps a holder in as a number. */
	KUNIT_EXPECT_EQ(test, one.all, 1);
}

/* As many as a pool may begin with */
#define MOST_NUMBERS	(U16_MAX + 1)

static const unsigned int index_cases[] = { 0, 1, 4095, 32768, U16_MAX };

static void index_desc(const unsigned int *index, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u", *index);
}

KUNIT_ARRAY_PARAM(index, index_cases, index_desc);

static void node_is_found_by_its_number(struct kunit *test)
{
	const unsigned int *index = test->param_value;
	struct nbq_bench *bench = test->priv;
	struct nbq_node *w, *pred, *w_pred;
	struct nbq_numbered *many;

	many = kunit_kzalloc(test, struct_size(many, nodes, MOST_NUMBERS), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, many);
	many->size = MOST_NUMBERS;
	memcpy(many->nodes, bench->numbered->nodes,
	       NBQ_BENCH_NODES * sizeof(many->nodes[0]));
	bench->pool.numbered = many;
	w = nbq_bench_claim(test);
	w->index = *index;
	many->nodes[*index] = w;

	/* before: []; after: w x */
	w_pred = nbq_spin_join(lock_of(test), w);
	KUNIT_EXPECT_NULL(test, w_pred);
	KUNIT_EXPECT_EQ(test, lock_of(test)->tail,
			*index << 16 | nbq_context_of(&bench->pool));
	join(test, &pred);
	KUNIT_EXPECT_PTR_EQ(test, pred, w);
}

/* Making one that is first come, first served, whatever the suite's kind */

static void init_fifo_evaluates_its_argument_once(struct kunit *test)
{
	struct nbq_spin locks[2], *next = locks;
	u8 fifo;

	memset(locks, 0x6b, sizeof(locks));
	nbq_spin_init_fifo(next++);
	KUNIT_EXPECT_PTR_EQ(test, next, locks + 1);
	fifo = locks[0].state.fifo;
	locks[0].state.fifo = 0;
	KUNIT_EXPECT_EQ(test, fifo, 1);
	KUNIT_EXPECT_EQ(test, locks[0].state.all, 0);
	KUNIT_EXPECT_EQ(test, locks[0].tail, 0);
	/* The other one is as it was. */
	KUNIT_EXPECT_EQ(test, locks[1].state.fifo, 0x6b);
	KUNIT_EXPECT_EQ(test, locks[1].tail, 0x6b6b6b6b);
}

static void init_fifo_key_gives_the_lock_its_class(struct kunit *test)
{
	static struct lock_class_key key;
	struct nbq_spin lock;

	memset(&lock, 0x6b, sizeof(lock));
	nbq_spin_init_fifo_key(&lock, "a_name", &key);
	KUNIT_EXPECT_EQ(test, lock.state.fifo, 1);
	KUNIT_EXPECT_EQ(test, lock.state.holder, 0);
	KUNIT_EXPECT_EQ(test, lock.state.handoff, 0);
	KUNIT_EXPECT_EQ(test, lock.tail, 0);
#ifdef CONFIG_DEBUG_LOCK_ALLOC
	KUNIT_EXPECT_PTR_EQ(test, lock.dep_map.key, &key);
	KUNIT_EXPECT_STREQ(test, lock.dep_map.name, "a_name");
#endif
}

/* A lock that nobody else wants */

static void uncontended_acquisition_takes_and_counts_nothing(struct kunit *test)
{
	union nbq_spin_state free = lock_of(test)->state, held;
	struct nbq_bench *bench = test->priv;
	unsigned int in_use;
	u16 me;
	int ret;

	nbq_fake_start(1000, 10);
	ret = nbq_spin_lock_timeout(lock_of(test), 100);
	held = lock_of(test)->state;
	me = nbq_context_of(nbq_this_pool());
	in_use = nbq_nodes_in_use(bench);
	if (!ret)
		nbq_spin_unlock(lock_of(test));

	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_EQ(test, held.holder, me);
	KUNIT_EXPECT_EQ(test, held.handoff, 0);
	KUNIT_EXPECT_EQ(test, held.fifo, !passes(test));
	KUNIT_EXPECT_EQ(test, lock_of(test)->state.all, free.all);
	KUNIT_EXPECT_EQ(test, lock_of(test)->tail, 0);
	KUNIT_EXPECT_EQ(test, in_use, 0);
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, 0);
	EXPECT_TOTAL(test);
}

/* Who may take it */

/* Somebody waits at the head, and the lock is free: w */
static struct nbq_actor *free_lock_with_a_head(struct kunit *test)
{
	struct nbq_bench *bench = test->priv;
	struct nbq_actor *holder = nbq_bench_arrive(test);
	struct nbq_actor *w = nbq_bench_arrive(test);

	KUNIT_ASSERT_EQ(test, holder->part, HOLDS);
	KUNIT_ASSERT_EQ(test, w->part, WAITS);
	nbq_actor_release(bench, holder);
	EXPECT_PICTURE(test, "W");
	return w;
}

static int try_for(struct kunit *test, ktime_t patience)
{
	int ret = nbq_spin_lock_timeout(lock_of(test), patience);

	if (!ret)
		nbq_spin_unlock(lock_of(test));
	return ret;
}

static bool try_at_once(struct kunit *test)
{
	bool acquired = nbq_spin_trylock(lock_of(test));

	if (acquired)
		nbq_spin_unlock(lock_of(test));
	return acquired;
}

static void newcomer_passes_a_waiter_of_a_free_lock_or_queues(struct kunit *test)
{
	struct nbq_actor *w = free_lock_with_a_head(test);

	/* before and after: w */
	KUNIT_EXPECT_EQ(test, try_at_once(test), passes(test));
	KUNIT_EXPECT_EQ(test, try_for(test, 0), passes(test) ? 0 : -EBUSY);
	EXPECT_PICTURE(test, "W");
	EXPECT_TOTAL(test, .failed_tries = 2 * !passes(test));

	/* w has it when it looks; after: [] */
	KUNIT_EXPECT_TRUE(test, nbq_actor_advance(test->priv, w));
	nbq_actor_release(test->priv, w);
	EXPECT_PICTURE(test, ".");
}

/* What a waiter of the first kind writes that requests a handoff at this time */
static u8 request_of(u64 now)
{
	return 0x80 | (now >> 13 & 0x7f);
}

/* The clock starts, and a waiter of the first kind requests a handoff just then. */
static void start_with_a_request(struct kunit *test)
{
	nbq_fake_start(1000, 10);
	if (passes(test))
		lock_of(test)->state.handoff = request_of(1000);
}

static void newcomer_does_not_pass_a_waiter_that_has_asked(struct kunit *test)
{
	struct nbq_actor *w = free_lock_with_a_head(test);

	start_with_a_request(test);

	/* before and after: w */
	KUNIT_EXPECT_FALSE(test, try_at_once(test));
	KUNIT_EXPECT_EQ(test, try_for(test, 0), -EBUSY);
	KUNIT_EXPECT_EQ(test, lock_of(test)->state.handoff,
			passes(test) ? request_of(1000) : 0);

	/* w has it when it looks, and the next newcomer may pass again */
	KUNIT_EXPECT_TRUE(test, nbq_actor_advance(test->priv, w));
	nbq_actor_release(test->priv, w);
	KUNIT_EXPECT_TRUE(test, try_at_once(test));
}

/* What others do in the middle of each read of the clock, from one read on */

/**
 * struct others - somebody whose turn comes in the middle of the reads of the clock
 * @test: the case
 * @act: what they do
 * @acquired: what a newcomer got
 * @asked: newcomers were asked to queue at that moment
 */
struct others {
	struct kunit *test;
	void (*act)(struct others *others);
	bool acquired;
	bool asked;
};

static void act_once(void *arg)
{
	struct others *others = arg;

	others->act(others);
}

static void act_at_each(void *arg)
{
	struct others *others = arg;

	others->act(others);
	nbq_fake_call(nbq_fake.reads + 1, act_at_each, others);
}

static void release(struct others *others)
{
	struct nbq_bench *bench = others->test->priv;

	nbq_actor_release(bench, &bench->actors[0]);
}

static void look_if_asked(struct others *others)
{
	others->asked = lock_of(others->test)->state.handoff;
}

/* The holder releases, and a newcomer is first to see it. */
static void release_to_a_newcomer(struct others *others)
{
	look_if_asked(others);
	release(others);
	others->acquired = try_at_once(others->test);
}

static void beat(struct others *others)
{
	struct nbq_bench *bench = others->test->priv;

	bench->nodes[0].beats++;
}

static void take_or_release(struct others *others)
{
	struct nbq_bench *bench = others->test->priv;
	struct nbq_spin *lock = lock_of(others->test);

	lock->state.holder = lock->state.holder ? 0 : nbq_context_of(&bench->pool);
}

/*
 * Reads of a clock that starts at 1000 and goes in steps of 10, until this look: those
 * by which patience ends. Requests of a handoff are made and judged by others.
 */
#define READS_BEFORE(look)	DIV_ROUND_UP(look, NBQ_POLLS_PER_CLOCK)

/* The numbers of nbqlock/spin.c: part of what is promised, so given once more. */
#define LOOKS_WITHOUT_NODE	16
#define PATIENT_LOOKS		1024
#define IDLE_LOOKS		64
#define LOOKS_PER_GLANCE	32

/* As patience: this many reads, the last of which finds it over */
static ktime_t reads(unsigned int count)
{
	return 10 * (count - 1);
}

static void hold(struct kunit *test)
{
	struct nbq_actor *holder = nbq_bench_arrive(test);

	KUNIT_ASSERT_EQ(test, holder->part, HOLDS);
}

static void waiter_takes_a_node_when_it_has_looked_for_a_while(struct kunit *test)
{
	unsigned int most = READS_BEFORE(LOOKS_WITHOUT_NODE), i;

	hold(test);
	for (i = 1; i <= most + 1; i++) {
		bool queues = !passes(test) || i > most;

		nbq_fake_start(1000, 10);
		KUNIT_EXPECT_EQ(test, nbq_spin_lock_until(lock_of(test), 1000 + reads(i)),
				-ETIMEDOUT);
		KUNIT_EXPECT_EQ(test, nbq_fake.reads, i);
		EXPECT_TOTAL(test, .timeouts = 1, .nodes_taken = queues,
			     .nodes_given_back = queues);
	}
}

/* The read by which the one that asks does so; the next one finds the request there */
#define REQUEST_READ		(READS_BEFORE(PATIENT_LOOKS) + 1)

/* At which look newcomers are asked to queue, to the read */
static void waiter_asks_newcomers_to_queue_when_it_was_patient(struct kunit *test)
{
	struct others others = { .test = test, .act = look_if_asked };
	unsigned int read, steps;
	u8 request = 0;

	if (passes(test))
		request = request_of(1000 + reads(REQUEST_READ));
	hold(test);
	for (read = REQUEST_READ; read <= REQUEST_READ + 1; read++) {
		lock_of(test)->state.handoff = 0;
		nbq_fake_start(1000, 10);
		nbq_fake_call(read, act_once, &others);
		nbq_steps_start(NULL, NULL);
		KUNIT_EXPECT_EQ(test, try_for(test, reads(REQUEST_READ + 1)), -ETIMEDOUT);
		steps = nbq_steps_stop();
		KUNIT_EXPECT_EQ(test, nbq_fake.reads, REQUEST_READ + 1);
		KUNIT_EXPECT_EQ(test, others.asked, passes(test) && read > REQUEST_READ);

		/* The request may be another waiter's as well: it is left to expire. */
		KUNIT_EXPECT_EQ(test, steps, 2);
		KUNIT_EXPECT_EQ(test, lock_of(test)->state.handoff, request);
		EXPECT_TOTAL(test, .timeouts = 1, .nodes_taken = 1,
			     .nodes_given_back = 1);
	}
}

/* As long as it runs; a request of the same time is not written again. */
static void waiter_renews_its_request(struct kunit *test)
{
	unsigned int most = REQUEST_READ + 100;
	u8 request = 0;

	/* One unit of the clock passes at every tenth read or so. */
	hold(test);
	nbq_fake_start(1000, (1 << 13) / 10);
	KUNIT_EXPECT_EQ(test, try_for(test, (most - 1) * nbq_fake.step), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, most);
	if (passes(test))
		request = request_of(nbq_fake.now);
	/* The last beat may have been one unit ago. */
	KUNIT_EXPECT_LE(test, (u8)(request - lock_of(test)->state.handoff), 1);
}

static const struct ask_case {
	const char *desc;
	/* after how many looks of the waiter the lock becomes free */
	unsigned int looks;
} ask_cases[] = {
	{ "as_soon_as_it_has_a_node", LOOKS_WITHOUT_NODE + 8 },
	{ "just_before_it_has_asked", PATIENT_LOOKS - 1 },
	{ "when_it_has_asked", PATIENT_LOOKS + 1 },
};

static void ask_desc(const struct ask_case *ask, char *desc)
{
	strscpy(desc, ask->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(ask, ask_cases, ask_desc);

static void newcomer_and_patient_waiter_at_a_lock_that_becomes_free(struct kunit *test)
{
	const struct ask_case *ask = test->param_value;
	bool asks = passes(test) && ask->looks > PATIENT_LOOKS;
	struct others others = { .test = test, .act = release_to_a_newcomer };

	/* before: w, of the verb's own; after: [] */
	hold(test);
	nbq_fake_start(1000, 10);
	nbq_fake_call(READS_BEFORE(ask->looks) + asks, act_once, &others);
	KUNIT_EXPECT_EQ(test, try_for(test, reads(200)), 0);
	/* One to ask, and one of the newcomer, to judge that */
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, READS_BEFORE(ask->looks) + 2 * asks);
	KUNIT_EXPECT_EQ(test, others.asked, asks);
	KUNIT_EXPECT_EQ(test, others.acquired, passes(test) && !asks);
	KUNIT_EXPECT_EQ(test, lock_of(test)->state.handoff, 0);
	EXPECT_TOTAL(test, .acquired_handoff = 1, .failed_tries = !others.acquired,
		     .nodes_taken = 1, .nodes_given_back = 1);
}

/* A waiter that has requested a handoff, and is stalled when the lock becomes free */

/*
 * The clock of newcomers, who poll once in 25 ns: not so often that one of the waiter's
 * own CPU, as they are here, would look whether that is a deadlock.
 */
#define NEWCOMER_STEP		(NBQ_POLLS_PER_CLOCK * 25)
/* More reads than one makes that gives up before it has a node */
#define NEWCOMER_READS		20

/**
 * struct stall_case - a newcomer at a lock that is free, but for a stalled waiter
 * @desc: what it is
 * @start: the clock when the waiter comes
 * @patience: of the newcomer
 * @expired: it comes when the request has just expired; else just before
 * @nmi: it interrupts the waiter; else it is of another CPU
 * @steals: what it gets where newcomers may pass waiters
 * @queues: what it gets where they never do
 */
static const struct stall_case {
	const char *desc;
	u64 start;
	ktime_t patience;
	bool expired;
	bool nmi;
	int steals;
	int queues;
} stall_cases[] = {
	{ "try_before", 1000, 0, false, false, -EBUSY, -EBUSY },
	{ "100_ns_before", 1000, 100, false, false, -ETIMEDOUT, -ETIMEDOUT },
	{ "1000_ns_before", 1000, 1000, false, false, -ETIMEDOUT, -ETIMEDOUT },
	{ "try_after", 1000, 0, true, false, 0, -EBUSY },
	{ "100_ns_after", 1000, 100, true, false, 0, -ETIMEDOUT },
	{ "1000_ns_after", 1000, 1000, true, false, 0, -ETIMEDOUT },
	/* The bits of the request wrap meanwhile. */
	{ "try_before_wrap", 127 << 13, 0, false, false, -EBUSY, -EBUSY },
	{ "try_after_wrap", 127 << 13, 0, true, false, 0, -EBUSY },
	{ "nmi_try", 1000, 0, false, true, 0, -EBUSY },
	{ "nmi_100_ns", 1000, 100, false, true, 0, -EDEADLK },
};

static void stall_desc(const struct stall_case *stall, char *desc)
{
	strscpy(desc, stall->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(stall, stall_cases, stall_desc);

/**
 * struct stall - the turn of others while the waiter is stalled
 * @others: its part
 * @patience: of the newcomer
 * @expires: in so many ns the request does
 * @nmi: the newcomer interrupts the waiter
 * @ret: what it got
 */
struct stall {
	struct others others;
	ktime_t patience;
	u64 expires;
	bool nmi;
	int ret;
};

static void try_above(void *arg)
{
	struct stall *stall = arg;

	stall->ret = try_for(stall->others.test, stall->patience);
}

static void release_and_stall(struct others *others)
{
	struct stall *stall = container_of(others, struct stall, others);

	release(others);
	nbq_fake.now += stall->expires;
	nbq_fake.step = NEWCOMER_STEP;
	if (stall->nmi)
		nbq_as_nmi(try_above, stall);
	else
		try_above(stall);
	nbq_fake.step = 10;
}

static void newcomer_gets_a_free_lock_from_a_stalled_waiter_in_time(struct kunit *test)
{
	const struct stall_case *row = test->param_value;
	struct nbq_bench *bench = test->priv;
	struct stall stall = {
		.others = { .test = test, .act = release_and_stall },
		.patience = row->patience,
		.nmi = row->nmi,
	};
	u64 request, expiry;

	/* Newcomers are in the waiter's own context, to lockdep. */
	bench->row->excuse(bench->lock);
	hold(test);
	nbq_fake_start(row->start, 10);
	nbq_fake_call(REQUEST_READ + 1, act_once, &stall.others);
	request = row->start + reads(REQUEST_READ);
	expiry = ((request >> 13) + 3) << 13;
	KUNIT_EXPECT_LE(test, expiry, request + NBQ_SPIN_HANDOFF_NS);
	/* The clock is one step further when others have their turn. */
	stall.expires = expiry - (request + 20);
	if (!row->expired)
		stall.expires -= 1 + (row->patience ? NEWCOMER_READS * NEWCOMER_STEP : 0);

	/* before: w, of the verb's own, which requests and is stalled; after: [] */
	KUNIT_EXPECT_EQ(test, try_for(test, NSEC_PER_SEC), 0);
	KUNIT_EXPECT_EQ(test, stall.ret, passes(test) ? row->steals : row->queues);
	KUNIT_EXPECT_EQ(test, lock_of(test)->state.handoff, 0);
	KUNIT_EXPECT_EQ(test, lock_of(test)->tail, 0);
}

/* Two locks: the CPU waits for one, and what interrupts it tries the other one. */
struct other_lock {
	struct others others;
	struct nbq_spin lock;
	bool acquired;
};

static void try_other_lock(void *arg)
{
	struct other_lock *other = arg;

	other->acquired = nbq_spin_trylock(&other->lock);
	if (other->acquired)
		nbq_spin_unlock(&other->lock);
}

static void nmi_tries_other_lock(struct others *others)
{
	nbq_as_nmi(try_other_lock, container_of(others, struct other_lock, others));
}

static void interrupt_above_a_waiter_of_another_lock_queues(struct kunit *test)
{
	struct nbq_bench *bench = test->priv;
	struct other_lock *other;
	struct nbq_node *w;

	other = kunit_kzalloc(test, sizeof(*other), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, other);
	bench->row->init_unwatched(&other->lock);
	other->others.test = test;
	other->others.act = nmi_tries_other_lock;
	other->acquired = true;
	w = nbq_bench_claim(test);
	nbq_spin_join(&other->lock, w);
	if (passes(test))
		other->lock.state.handoff = request_of(1000);

	/* before and after: w, elsewhere */
	hold(test);
	nbq_fake_start(1000, 10);
	nbq_fake_call(3, act_once, &other->others);
	KUNIT_EXPECT_EQ(test, try_for(test, 100), -ETIMEDOUT);
	KUNIT_EXPECT_FALSE(test, other->acquired);
	KUNIT_EXPECT_TRUE(test, nbq_spin_pass(&other->lock, w));
}

static void request_outlives_one_of_two_waiters_that_asked(struct kunit *test)
{
	struct nbq_bench *bench = test->priv;
	struct nbq_actor *w;
	bool acquired;

	/* before: H w, and w has asked */
	hold(test);
	w = nbq_bench_arrive(test);
	start_with_a_request(test);

	/* in between: H w x; x asks, too, and gives up; after: H w */
	KUNIT_EXPECT_EQ(test, try_for(test, reads(REQUEST_READ + 100)), -ETIMEDOUT);
	EXPECT_PICTURE(test, "W");

	/* w would have the lock */
	nbq_actor_release(bench, &bench->actors[0]);
	acquired = try_at_once(test);
	KUNIT_EXPECT_FALSE(test, acquired);
	KUNIT_EXPECT_TRUE(test, nbq_actor_advance(bench, w));
	nbq_actor_release(bench, w);
	KUNIT_EXPECT_TRUE(test, try_at_once(test));
}

static void request_is_void_when_all_have_gone(struct kunit *test)
{
	/* before and after: []; in between: H w, which asks and gives up */
	hold(test);
	nbq_fake_start(1000, 10);
	KUNIT_EXPECT_EQ(test, try_for(test, reads(REQUEST_READ + 1)), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, !!lock_of(test)->state.handoff, passes(test));
	lock_of(test)->state.holder = 0;
	KUNIT_EXPECT_TRUE(test, try_at_once(test));
	KUNIT_EXPECT_EQ(test, lock_of(test)->state.handoff, 0);
}

/* At a lock that nobody takes: whoever should is held to be away, or is waited for */

/* Behind the head, when it has a node and glances at the lock the first time */
#define LOOKS_UNTIL_DEPUTY	(LOOKS_PER_GLANCE + IDLE_LOOKS)

/* Reads of one outside the queue: at first, and at each look, whether the request holds */
#define JUDGEMENTS(looks)	(1 + (looks))

static void deputy_takes_an_idle_lock_if_the_one_in_front_stands_still(struct kunit *test)
{
	struct nbq_actor *w = free_lock_with_a_head(test);
	int ret;

	/* before: w; in between: w x */
	start_with_a_request(test);
	ret = try_for(test, reads(100));

	/* after: w */
	EXPECT_PICTURE(test, "W");
	if (passes(test)) {
		KUNIT_EXPECT_EQ(test, ret, 0);
		KUNIT_EXPECT_EQ(test, nbq_fake.reads,
				READS_BEFORE(LOOKS_UNTIL_DEPUTY) +
				JUDGEMENTS(LOOKS_WITHOUT_NODE));
		EXPECT_TOTAL(test, .acquired_handoff = 1, .nodes_taken = 1,
			     .nodes_given_back = 1);
	} else {
		KUNIT_EXPECT_EQ(test, ret, -ETIMEDOUT);
		EXPECT_TOTAL(test, .timeouts = 1, .nodes_taken = 1,
			     .nodes_given_back = 1);
	}
	KUNIT_EXPECT_EQ(test, lock_of(test)->state.handoff, 0);

	/* w goes on as if nothing had been */
	KUNIT_EXPECT_TRUE(test, nbq_actor_advance(test->priv, w));
	nbq_actor_release(test->priv, w);
}

static const struct sign_case {
	const char *desc;
	void (*act)(struct others *others);
	/* reads, to judge the request of a free lock, before its patience starts */
	unsigned int before;
} sign_cases[] = {
	{ "the_one_in_front_beats", beat, 2 },
	{ "somebody_takes_it_now_and_then", take_or_release, 1 },
};

static void sign_desc(const struct sign_case *sign, char *desc)
{
	strscpy(desc, sign->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(sign, sign_cases, sign_desc);

static void nobody_takes_it_for_one_that_lives(struct kunit *test)
{
	const struct sign_case *sign = test->param_value;
	struct others others = { .test = test, .act = sign->act };
	struct nbq_actor *w = free_lock_with_a_head(test);

	/* before and after: w; in between: w x */
	start_with_a_request(test);
	nbq_fake_call(1, act_at_each, &others);
	KUNIT_EXPECT_EQ(test, try_for(test, reads(100)), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, 100 + passes(test) * sign->before);
	EXPECT_PICTURE(test, "W");
	lock_of(test)->state.holder = 0;
	KUNIT_EXPECT_TRUE(test, nbq_actor_advance(test->priv, w));
	nbq_actor_release(test->priv, w);
}

static void waiter_that_can_be_passed_has_a_heartbeat(struct kunit *test)
{
	struct nbq_node *node;
	unsigned long before;
	int first, second;

	hold(test);
	nbq_fake_start(1000, 10);
	preempt_disable();
	/* The node that it took last is the one that it takes next. */
	first = try_for(test, reads(4));
	node = nbq_this_pool()->hint;
	before = node->beats;
	second = try_for(test, reads(1 + READS_BEFORE(IDLE_LOOKS)));
	preempt_enable();
	KUNIT_EXPECT_EQ(test, first, -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, second, -ETIMEDOUT);
	/* First come, first served, no successor acts for a stalled predecessor. */
	if (!passes(test)) {
		KUNIT_EXPECT_EQ(test, node->beats, before);
		return;
	}
	KUNIT_EXPECT_GE(test, node->beats - before, 2);
	KUNIT_EXPECT_LE(test, node->beats - before, IDLE_LOOKS / 8);
}

/* Without a node */

/**
 * struct nodes - what a CPU's pool consists of for one attempt
 * @numbered: how many of its nodes have a number; they come first
 * @size: how many it has, or 0
 * @hint: which of them was taken last
 */
struct nodes {
	unsigned int numbered;
	unsigned int size;
	unsigned int hint;
};

static int try_with_nodes(struct kunit *test, const struct nodes *nodes, ktime_t patience)
{
	struct nbq_numbered *numbered;
	struct nbq_node *node;
	struct nbq_lent lent;
	unsigned int i;
	int ret;

	node = kunit_kzalloc(test, 2 * sizeof(*node), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, node);
	numbered = nbq_number(test, node, nodes->numbered);
	KUNIT_ASSERT_NOT_NULL(test, numbered);
	preempt_disable();
	for (i = 0; i < nodes->size; i++) {
		node[i].pool = nbq_this_pool();
		node[i].cpu = node[i].pool->cpu;
		node[i].index = i;
		node[i].next_in_pool = i + 1 < nodes->size ? &node[i + 1] : NULL;
	}
	nbq_lend(&lent, nbq_this_pool(), nodes->size ? node : NULL, numbered);
	if (nodes->hint)
		nbq_this_pool()->hint = &node[nodes->hint];
	ret = try_for(test, patience);
	nbq_take_back(&lent);
	preempt_enable();
	for (i = 0; i < nodes->size; i++)
		KUNIT_EXPECT_TRUE(test, nbq_is_free(&node[i]));
	return ret;
}

static void one_without_a_node_waits_outside(struct kunit *test)
{
	static const struct nodes none;
	int without_node = passes(test) ? -ETIMEDOUT : -ENOMEM;

	/* before and after: H */
	hold(test);
	nbq_fake_start(1000, 10);
	KUNIT_EXPECT_EQ(test, try_with_nodes(test, &none, reads(11)), without_node);
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, 11);
	KUNIT_EXPECT_EQ(test, lock_of(test)->tail, 0);
	EXPECT_TOTAL(test, .exhaustions = 1, .timeouts = passes(test));
}

static void one_without_a_node_has_the_lock_when_it_is_free(struct kunit *test)
{
	struct others others = { .test = test, .act = release };
	static const struct nodes none;

	/* before: H, who releases at the sixth read; after: [] */
	hold(test);
	nbq_fake_start(1000, 10);
	nbq_fake_call(6, act_once, &others);
	KUNIT_EXPECT_EQ(test, try_with_nodes(test, &none, reads(11)), 0);
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, 6);
	EXPECT_TOTAL(test, .acquired_handoff = 1, .exhaustions = 1);
}

static void free_lock_needs_no_node(struct kunit *test)
{
	static const struct nodes none;

	KUNIT_EXPECT_EQ(test, try_with_nodes(test, &none, 0), 0);
	EXPECT_TOTAL(test);
}

static void one_without_a_node_respects_those_in_the_queue(struct kunit *test)
{
	struct nbq_actor *w = free_lock_with_a_head(test);
	static const struct nodes none;
	int ret;

	/* before: w, which stands still; after: the same */
	start_with_a_request(test);
	ret = try_with_nodes(test, &none, reads(100));
	KUNIT_EXPECT_EQ(test, ret, passes(test) ? 0 : -ENOMEM);
	KUNIT_EXPECT_EQ(test, nbq_fake.reads,
			passes(test) ? READS_BEFORE(IDLE_LOOKS) +
				       JUDGEMENTS(IDLE_LOOKS + 1) : 100);
	EXPECT_PICTURE(test, "W");
	KUNIT_EXPECT_TRUE(test, nbq_actor_advance(test->priv, w));
	nbq_actor_release(test->priv, w);
}

static void node_without_a_number_is_not_used(struct kunit *test)
{
	static const struct nodes grown = { .numbered = 0, .size = 1 };

	/* before and after: H */
	hold(test);
	nbq_fake_start(1000, 10);
	KUNIT_EXPECT_EQ(test, try_with_nodes(test, &grown, reads(11)),
			passes(test) ? -ETIMEDOUT : -ENOMEM);
	KUNIT_EXPECT_EQ(test, lock_of(test)->tail, 0);
}

static void node_with_a_number_is_found_behind_a_hint_without(struct kunit *test)
{
	static const struct nodes mixed = { .numbered = 1, .size = 2, .hint = 1 };

	/* before and after: H */
	hold(test);
	nbq_fake_start(1000, 10);
	KUNIT_EXPECT_EQ(test, try_with_nodes(test, &mixed, reads(4)), -ETIMEDOUT);
	EXPECT_TOTAL(test, .timeouts = 1, .nodes_taken = 1, .nodes_given_back = 1);
}

/* Many nodes, all in use but for one that becomes free now and then */

#define MANY_NODES		256

/**
 * struct search - the searches of one attempt, as seen at each read of the clock
 * @test: the case
 * @pool: the pool of the attempt
 * @node: a node of it that is free, or NULL
 * @freed_at: the read at which it became free
 * @used_at: the first read that has found it in use
 */
struct search {
	struct kunit *test;
	struct nbq_pool *pool;
	struct nbq_node *node;
	unsigned int freed_at;
	unsigned int used_at;
};

static void free_one_or_look(void *arg)
{
	struct search *search = arg;

	if (nbq_fake.reads == search->freed_at)
		nbq_node_give_back(search->node);
	else if (nbq_fake.reads > search->freed_at && !search->used_at &&
		 !nbq_is_free(search->node))
		search->used_at = nbq_fake.reads;
	nbq_fake_call(nbq_fake.reads + 1, free_one_or_look, arg);
}

/* Return: the read that finds the last node taken, if it is free from @freed_at on. */
static unsigned int search_with(struct kunit *test, struct nbq_node *node,
				struct nbq_numbered *numbered, unsigned int freed_at)
{
	struct search search = {
		.test = test,
		.node = &node[MANY_NODES - 1],
		.freed_at = freed_at,
	};
	unsigned int i, wants_growth;
	struct nbq_lent lent;
	int ret;

	preempt_disable();
	search.pool = nbq_this_pool();
	for (i = 0; i < MANY_NODES; i++) {
		node[i].pool = search.pool;
		node[i].cpu = search.pool->cpu;
		node[i].index = i;
		node[i].next_in_pool = i + 1 < MANY_NODES ? &node[i + 1] : NULL;
		node[i].taken = node[i].given + 1;
	}
	nbq_lend(&lent, search.pool, node, numbered);
	search.pool->wants_growth = 0;
	nbq_fake_start(1000, 10);
	nbq_fake_call(1, free_one_or_look, &search);
	ret = try_for(test, reads(21));
	nbq_fake.call_at = 0;
	wants_growth = search.pool->wants_growth;
	search.pool->wants_growth = 1;
	nbq_take_back(&lent);
	preempt_enable();

	KUNIT_EXPECT_EQ(test, ret, -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, 21);
	KUNIT_EXPECT_EQ(test, wants_growth, 0);
	KUNIT_EXPECT_TRUE(test, nbq_is_free(search.node));
	/* The first search of one that newcomers may pass is the one before read 3. */
	EXPECT_TOTAL(test, .timeouts = 1, .nodes_taken = 1, .nodes_given_back = 1,
		     .exhaustions = !passes(test) || freed_at > 2);
	return search.used_at;
}

/*
 * The clock is read at each look whose number is a multiple of 8, and such a pool is
 * searched before each other one of these: so at most one search is between two reads,
 * however many nodes it looks at. It asks for no growth, which would not help.
 */
static void pool_without_a_free_node_is_searched_once_in_two_reads(struct kunit *test)
{
	struct nbq_numbered *numbered;
	unsigned int read, searched;
	struct nbq_node *node;

	node = kunit_kcalloc(test, MANY_NODES, sizeof(*node), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, node);
	numbered = nbq_number(test, node, MANY_NODES);
	KUNIT_ASSERT_NOT_NULL(test, numbered);
	hold(test);
	for (read = 1; read <= 10; read++) {
		/* Searches come just before the reads 1, 3, 5 and so on. */
		searched = (read | 1) + 2 * (read & 1);
		KUNIT_EXPECT_EQ(test, search_with(test, node, numbered, read), searched);
	}
}

/* What a timeout leaves behind */

static void join_behind(struct others *others)
{
	struct nbq_bench *bench = others->test->priv;

	nbq_actor_join(bench, &bench->actors[1]);
}

static void timeout_at_the_head_abandons_its_node(struct kunit *test)
{
	struct others others = { .test = test, .act = join_behind };
	struct nbq_bench *bench = test->priv;
	struct nbq_actor *x;

	/* before: H; x joins at the last read */
	hold(test);
	x = nbq_bench_come(bench);
	KUNIT_ASSERT_NOT_NULL(test, x);
	nbq_fake_start(1000, 10);
	nbq_fake_call(11, act_once, &others);
	KUNIT_EXPECT_EQ(test, try_for(test, reads(11)), -ETIMEDOUT);
	EXPECT_TOTAL(test, .timeouts = 1, .nodes_taken = 1, .nodes_abandoned = 1);
	nbq_actor_link(bench, x);
	KUNIT_EXPECT_FALSE(test, nbq_actor_advance(bench, x));
	EXPECT_PICTURE(test, "W");
}

/* Waiting for oneself */

static const struct own_case {
	const char *desc;
	ktime_t patience;
} own_cases[] = {
	{ "patient", 1000 },
	{ "forever", KTIME_MAX },
};

static void own_desc(const struct own_case *own, char *desc)
{
	strscpy(desc, own->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(own, own_cases, own_desc);

static void holder_that_would_wait_for_itself_is_told_at_the_first_look(struct kunit *test)
{
	const struct own_case *own = test->param_value;
	struct nbq_bench *bench = test->priv;
	int ret;

	bench->row->excuse(bench->lock);
	nbq_fake_start(1000, 10);
	nbq_spin_lock(lock_of(test));
	ret = nbq_spin_lock_timeout(lock_of(test), own->patience);
	nbq_spin_unlock(lock_of(test));

	KUNIT_EXPECT_EQ(test, ret, -EDEADLK);
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, 0);
	KUNIT_EXPECT_EQ(test, lock_of(test)->tail, 0);
	EXPECT_TOTAL(test, .deadlocks = 1, .nodes_taken = !passes(test),
		     .nodes_given_back = !passes(test));
}

#define SPIN_CASES							\
{									\
	KUNIT_CASE(first_to_join_is_the_head),				\
	KUNIT_CASE(joiner_finds_the_last_waiter_in_front),		\
	KUNIT_CASE(joining_forgets_the_last_life_of_the_node),		\
	KUNIT_CASE(waiting_predecessor_says_nothing),			\
	KUNIT_CASE(leaving_predecessor_says_who_stood_in_front_of_it),	\
	KUNIT_CASE(leaver_at_the_tail_takes_its_node_along),		\
	KUNIT_CASE(leaver_between_waiters_is_stepped_over),		\
	KUNIT_CASE_PARAM(neighbours_leave, back_first_gen_params),	\
	KUNIT_CASE(joiner_between_decision_and_swap_keeps_the_leaver_in_the_queue),\
	KUNIT_CASE(head_that_passes_with_nobody_behind_empties_the_queue),\
	KUNIT_CASE(waiter_behind_the_head_becomes_the_head),		\
	KUNIT_CASE(head_reaches_the_one_behind_a_leaver),		\
	KUNIT_CASE(leaver_to_whom_the_head_was_passed_leaves_it_to_the_next),\
	KUNIT_CASE(nested_context_gets_the_leaver_s_node_after_the_swap_only),\
	KUNIT_CASE(nested_context_never_gets_an_abandoned_node),	\
	KUNIT_CASE(every_context_has_a_number_of_its_own),		\
	KUNIT_CASE(last_context_of_the_last_cpu_fits),			\
	KUNIT_CASE(lock_is_one_word_of_8_bytes),			\
	KUNIT_CASE_PARAM(node_is_found_by_its_number, index_gen_params),\
	KUNIT_CASE(init_fifo_evaluates_its_argument_once),		\
	KUNIT_CASE(init_fifo_key_gives_the_lock_its_class),		\
	KUNIT_CASE(uncontended_acquisition_takes_and_counts_nothing),	\
	KUNIT_CASE(newcomer_passes_a_waiter_of_a_free_lock_or_queues),	\
	KUNIT_CASE(newcomer_does_not_pass_a_waiter_that_has_asked),	\
	KUNIT_CASE(waiter_takes_a_node_when_it_has_looked_for_a_while),	\
	KUNIT_CASE(waiter_asks_newcomers_to_queue_when_it_was_patient),	\
	KUNIT_CASE(waiter_renews_its_request),				\
	KUNIT_CASE_PARAM(newcomer_gets_a_free_lock_from_a_stalled_waiter_in_time,\
			 stall_gen_params),				\
	KUNIT_CASE(interrupt_above_a_waiter_of_another_lock_queues),	\
	KUNIT_CASE(request_outlives_one_of_two_waiters_that_asked),	\
	KUNIT_CASE(request_is_void_when_all_have_gone),			\
	KUNIT_CASE_PARAM(newcomer_and_patient_waiter_at_a_lock_that_becomes_free,\
			 ask_gen_params),				\
	KUNIT_CASE(deputy_takes_an_idle_lock_if_the_one_in_front_stands_still),\
	KUNIT_CASE_PARAM(nobody_takes_it_for_one_that_lives, sign_gen_params),\
	KUNIT_CASE(waiter_that_can_be_passed_has_a_heartbeat),				\
	KUNIT_CASE(one_without_a_node_waits_outside),			\
	KUNIT_CASE(one_without_a_node_has_the_lock_when_it_is_free),	\
	KUNIT_CASE(free_lock_needs_no_node),				\
	KUNIT_CASE(one_without_a_node_respects_those_in_the_queue),	\
	KUNIT_CASE(node_without_a_number_is_not_used),			\
	KUNIT_CASE(node_with_a_number_is_found_behind_a_hint_without),	\
	KUNIT_CASE(pool_without_a_free_node_is_searched_once_in_two_reads),\
	KUNIT_CASE(timeout_at_the_head_abandons_its_node),		\
	KUNIT_CASE_PARAM(holder_that_would_wait_for_itself_is_told_at_the_first_look,\
			 own_gen_params),				\
	{}								\
}

/* KUnit writes into the cases: a copy for each kind. */
#define SPIN_SUITE(kind)						\
static struct kunit_case kind##_cases[] = SPIN_CASES;			\
									\
static struct kunit_suite kind##_suite = {				\
	.name = #kind,							\
	.init = kind##_bench_init,					\
	.exit = nbq_bench_exit,						\
	.test_cases = kind##_cases,					\
};									\
									\
kunit_test_suite(kind##_suite)

SPIN_SUITE(nbq_spin);
SPIN_SUITE(nbq_spin_fifo);
