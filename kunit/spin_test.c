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
	KUNIT_EXPECT_EQ(test, try_for(test, 0), passes(test) ? 0 : -ETIMEDOUT);
	EXPECT_PICTURE(test, "W");
	if (passes(test))
		EXPECT_TOTAL(test);
	else
		EXPECT_TOTAL(test, .timeouts = 2, .nodes_taken = 2,
			     .nodes_given_back = 2);

	/* w has it when it looks; after: [] */
	KUNIT_EXPECT_TRUE(test, nbq_actor_advance(test->priv, w));
	nbq_actor_release(test->priv, w);
	EXPECT_PICTURE(test, ".");
}

static void newcomer_does_not_pass_a_waiter_that_has_asked(struct kunit *test)
{
	struct nbq_actor *w = free_lock_with_a_head(test);

	lock_of(test)->state.handoff = 1;

	/* before and after: w */
	KUNIT_EXPECT_FALSE(test, try_at_once(test));
	KUNIT_EXPECT_EQ(test, try_for(test, 0), -ETIMEDOUT);
	KUNIT_EXPECT_TRUE(test, lock_of(test)->state.handoff);

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

/* Reads of a clock that starts at 1000 and goes in steps of 10, until this look */
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
		KUNIT_EXPECT_EQ(test, try_for(test, i == 1 ? 0 : reads(i)),
				-ETIMEDOUT);
		EXPECT_TOTAL(test, .timeouts = 1, .nodes_taken = queues,
			     .nodes_given_back = queues);
	}
}

/* At which look newcomers are asked to queue, to the read */
static void waiter_asks_newcomers_to_queue_when_it_was_patient(struct kunit *test)
{
	unsigned int patient = READS_BEFORE(PATIENT_LOOKS) + 1;
	struct others others = { .test = test, .act = look_if_asked };
	unsigned int read, steps;

	hold(test);
	for (read = patient - 1; read <= patient; read++) {
		nbq_fake_start(1000, 10);
		nbq_fake_call(read, act_once, &others);
		nbq_steps_start(NULL, NULL);
		KUNIT_EXPECT_EQ(test, try_for(test, reads(patient + 1)), -ETIMEDOUT);
		steps = nbq_steps_stop();
		KUNIT_EXPECT_EQ(test, others.asked, passes(test) && read == patient);

		/* Its wish goes with it: one step more. */
		KUNIT_EXPECT_EQ(test, steps, 2 + passes(test));
		KUNIT_EXPECT_EQ(test, lock_of(test)->state.handoff, 0);
		EXPECT_TOTAL(test, .timeouts = 1, .nodes_taken = 1,
			     .nodes_given_back = 1);
	}
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
	bool queues = !passes(test);

	/* before: w, of the verb's own; after: [] */
	hold(test);
	nbq_fake_start(1000, 10);
	nbq_fake_call(READS_BEFORE(ask->looks), act_once, &others);
	KUNIT_EXPECT_EQ(test, try_for(test, reads(200)), 0);
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, READS_BEFORE(ask->looks));
	KUNIT_EXPECT_EQ(test, others.asked, asks);
	KUNIT_EXPECT_EQ(test, others.acquired, passes(test) && !asks);
	KUNIT_EXPECT_EQ(test, lock_of(test)->state.handoff, 0);
	EXPECT_TOTAL(test, .acquired_handoff = 1, .timeouts = asks || queues,
		     .nodes_taken = 1 + queues, .nodes_given_back = 1 + queues);
}

/* At a lock that nobody takes: whoever should is held to be away, or is waited for */

/* Behind the head, when it has a node and glances at the lock the first time */
#define LOOKS_UNTIL_DEPUTY	(LOOKS_PER_GLANCE + IDLE_LOOKS)

static void deputy_takes_an_idle_lock_if_the_one_in_front_stands_still(struct kunit *test)
{
	struct nbq_actor *w = free_lock_with_a_head(test);
	int ret;

	if (passes(test))
		lock_of(test)->state.handoff = 1;

	/* before: w; in between: w x */
	nbq_fake_start(1000, 10);
	ret = try_for(test, reads(100));

	/* after: w */
	EXPECT_PICTURE(test, "W");
	if (passes(test)) {
		KUNIT_EXPECT_EQ(test, ret, 0);
		KUNIT_EXPECT_EQ(test, nbq_fake.reads,
				READS_BEFORE(LOOKS_UNTIL_DEPUTY));
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
} sign_cases[] = {
	{ "the_one_in_front_beats", beat },
	{ "somebody_takes_it_now_and_then", take_or_release },
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

	if (passes(test))
		lock_of(test)->state.handoff = 1;

	/* before and after: w; in between: w x */
	nbq_fake_start(1000, 10);
	nbq_fake_call(1, act_at_each, &others);
	KUNIT_EXPECT_EQ(test, try_for(test, reads(100)), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, 100);
	EXPECT_PICTURE(test, "W");
	lock_of(test)->state.holder = 0;
	KUNIT_EXPECT_TRUE(test, nbq_actor_advance(test->priv, w));
	nbq_actor_release(test->priv, w);
}

static void waiter_gives_signs_of_life(struct kunit *test)
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

	if (passes(test))
		lock_of(test)->state.handoff = 1;

	/* before: w, which stands still; after: the same */
	nbq_fake_start(1000, 10);
	ret = try_with_nodes(test, &none, reads(100));
	KUNIT_EXPECT_EQ(test, ret, passes(test) ? 0 : -ENOMEM);
	KUNIT_EXPECT_EQ(test, nbq_fake.reads,
			passes(test) ? READS_BEFORE(IDLE_LOOKS) : 100);
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
	KUNIT_EXPECT_EQ(test, try_with_nodes(test, &mixed,
					     passes(test) ? reads(4) : 0), -ETIMEDOUT);
	EXPECT_TOTAL(test, .timeouts = 1, .nodes_taken = 2, .nodes_given_back = 2);
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
	{ "impatient", 0 },
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
	bool acquired;
	int ret;

	bench->row->excuse(bench->lock);
	nbq_fake_start(1000, 10);
	nbq_spin_lock(lock_of(test));
	ret = nbq_spin_lock_timeout(lock_of(test), own->patience);
	acquired = nbq_spin_trylock(lock_of(test));
	nbq_spin_unlock(lock_of(test));

	KUNIT_EXPECT_EQ(test, ret, -EDEADLK);
	KUNIT_EXPECT_FALSE(test, acquired);
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, 0);
	KUNIT_EXPECT_EQ(test, lock_of(test)->tail, 0);
	EXPECT_TOTAL(test, .deadlocks = 2, .nodes_taken = 2 * !passes(test),
		     .nodes_given_back = 2 * !passes(test));
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
	KUNIT_CASE(uncontended_acquisition_takes_and_counts_nothing),	\
	KUNIT_CASE(newcomer_passes_a_waiter_of_a_free_lock_or_queues),	\
	KUNIT_CASE(newcomer_does_not_pass_a_waiter_that_has_asked),	\
	KUNIT_CASE(waiter_takes_a_node_when_it_has_looked_for_a_while),	\
	KUNIT_CASE(waiter_asks_newcomers_to_queue_when_it_was_patient),	\
	KUNIT_CASE_PARAM(newcomer_and_patient_waiter_at_a_lock_that_becomes_free,\
			 ask_gen_params),				\
	KUNIT_CASE(deputy_takes_an_idle_lock_if_the_one_in_front_stands_still),\
	KUNIT_CASE_PARAM(nobody_takes_it_for_one_that_lives, sign_gen_params),\
	KUNIT_CASE(waiter_gives_signs_of_life),				\
	KUNIT_CASE(one_without_a_node_waits_outside),			\
	KUNIT_CASE(one_without_a_node_has_the_lock_when_it_is_free),	\
	KUNIT_CASE(free_lock_needs_no_node),				\
	KUNIT_CASE(one_without_a_node_respects_those_in_the_queue),	\
	KUNIT_CASE(node_without_a_number_is_not_used),			\
	KUNIT_CASE(node_with_a_number_is_found_behind_a_hint_without),	\
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
