// SPDX-License-Identifier: GPL-2.0
/*
 * The hybrid. First its queue: a case for each transition, from a queue that is
 * drawn before it to one that is drawn after it, with the counts. Then which context takes the
 * lock, and when: the operations, with other contexts that move in the middle of a read of the
 * clock. That is read for a deadline at every NBQ_POLLS_PER_CLOCK-th poll, for all else at
 * every 64th, when a waiter enqueues, and to check a request.
 *
 * Pictures: from the front to the tail, W waits, the first of them at the head, L is
 * abandoned, A was the head and has left the queue, a dot is free. Nodes: w, x, y as they are
 * enqueued. The holder has none.
 */
#include <linux/cpumask.h>
#include <linux/overflow.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/stddef.h>
#include <linux/string.h>

#include "../nbqlock/relax.h"
#include "common.h"

static struct nbq_spin *lock_of(struct kunit *test)
{
	struct nbq_bench *bench = test->priv;

	return bench->lock;
}

static struct nbq_node *tail_of(struct kunit *test)
{
	struct nbq_bench *bench = test->priv;

	return bench->row->tail(bench->lock);
}

/* The queue */

static struct nbq_node *enqueue(struct kunit *test, struct nbq_node **pred)
{
	struct nbq_node *node = nbq_bench_alloc(test);

	*pred = nbq_spin_enqueue(&lock_of(test)->bare, nbq_tail_of(lock_of(test)), node);
	return node;
}

static bool abandon(struct kunit *test, struct nbq_node *node, struct nbq_node *pred)
{
	return nbq_spin_abandon(nbq_tail_of(lock_of(test)), node, pred);
}

static bool dequeue_head(struct kunit *test, struct nbq_node *node)
{
	return nbq_spin_dequeue_head(nbq_tail_of(lock_of(test)), node, false);
}

/* Skip abandoned nodes, as a waiter does. Return: NULL: at the head. */
static struct nbq_node *skip_abandoned(struct nbq_node *node, struct nbq_node *pred)
{
	struct nbq_node *prev;

	while (pred && (prev = nbq_spin_poll(pred)))
		pred = nbq_spin_skip(node, pred, prev);
	return pred;
}

static void first_to_enqueue_is_the_head(struct kunit *test)
{
	struct nbq_node *w, *x, *pred;

	/* before: []; after: w */
	EXPECT_PICTURE(test, "");
	w = enqueue(test, &pred);
	EXPECT_PICTURE(test, "W");
	KUNIT_EXPECT_NULL(test, pred);
	KUNIT_EXPECT_FALSE(test, nbq_spin_is_locked(lock_of(test)));

	/* after: w x */
	x = enqueue(test, &pred);
	EXPECT_PICTURE(test, "WW");
	KUNIT_EXPECT_PTR_EQ(test, pred, w);
	KUNIT_EXPECT_NULL(test, nbq_spin_poll(pred));
	KUNIT_EXPECT_PTR_EQ(test, tail_of(test), x);
	EXPECT_COUNTED(test, .nodes_allocated = 2);
}

/* By the swap of the tail alone: nothing is published in it. */
static void abandoned_tail_is_freed(struct kunit *test)
{
	struct nbq_node *w, *x, *pred;

	/* before: w x; after: w */
	w = enqueue(test, &pred);
	x = enqueue(test, &pred);
	KUNIT_EXPECT_TRUE(test, abandon(test, x, pred));
	EXPECT_PICTURE(test, "W.");
	KUNIT_EXPECT_PTR_EQ(test, tail_of(test), w);
	KUNIT_EXPECT_NULL(test, x->prev);
	EXPECT_COUNTED(test, .nodes_allocated = 2, .nodes_freed = 1);
}

static void abandoned_nodes_are_skipped_by_their_successor(struct kunit *test)
{
	struct nbq_node *node[4], *pred[4];
	int i;

	/* before: w x y z; after: w L L z */
	for (i = 0; i < 4; i++)
		node[i] = enqueue(test, &pred[i]);
	KUNIT_EXPECT_FALSE(test, abandon(test, node[1], pred[1]));
	KUNIT_EXPECT_FALSE(test, abandon(test, node[2], pred[2]));
	EXPECT_PICTURE(test, "WLLW");
	KUNIT_EXPECT_PTR_EQ(test, nbq_spin_poll(node[2]), node[1]);
	EXPECT_COUNTED(test, .nodes_allocated = 4);

	/* after: w z */
	KUNIT_EXPECT_PTR_EQ(test, skip_abandoned(node[3], pred[3]), node[0]);
	EXPECT_PICTURE(test, "W..W");
	EXPECT_COUNTED(test, .nodes_reclaimed = 2);
}

static void head_without_a_successor_empties_the_queue(struct kunit *test)
{
	struct nbq_node *w, *pred;

	/* before: w; after: [] */
	w = enqueue(test, &pred);
	KUNIT_EXPECT_TRUE(test, dequeue_head(test, w));
	EXPECT_PICTURE(test, ".");
	KUNIT_EXPECT_EQ(test, *nbq_tail_of(lock_of(test)), 0);
	EXPECT_COUNTED(test, .nodes_allocated = 1, .nodes_freed = 1);
}

static void waiter_behind_the_head_becomes_the_head(struct kunit *test)
{
	struct nbq_node *w, *x, *y, *pred, *x_pred;

	/* before: w L y; after: A L y */
	w = enqueue(test, &pred);
	x = enqueue(test, &x_pred);
	y = enqueue(test, &pred);
	abandon(test, x, x_pred);
	KUNIT_EXPECT_FALSE(test, dequeue_head(test, w));
	EXPECT_PICTURE(test, "ALW");
	KUNIT_EXPECT_PTR_EQ(test, tail_of(test), y);
	EXPECT_COUNTED(test, .nodes_allocated = 3);

	/* after: y */
	KUNIT_EXPECT_NULL(test, skip_abandoned(y, pred));
	EXPECT_PICTURE(test, "..W");
	EXPECT_COUNTED(test, .nodes_reclaimed = 2);
}

/* Encoded contexts and nodes */

static void every_context_is_encoded_differently(struct kunit *test)
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

static void last_context_of_the_last_cpu_can_be_encoded(struct kunit *test)
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
	/* The inlined acquisition swaps in a holder alone. */
	KUNIT_EXPECT_EQ(test, one.all, 1);
}

/* The most that a pool may begin with */
#define MOST_ENCODABLE	(U16_MAX + 1)

static const unsigned int index_cases[] = { 0, 1, 4095, 32768, U16_MAX };

static void index_desc(const unsigned int *index, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u", *index);
}

KUNIT_ARRAY_PARAM(index, index_cases, index_desc);

static void encoded_tail_is_decoded_to_its_node(struct kunit *test)
{
	const unsigned int *index = test->param_value;
	struct nbq_bench *bench = test->priv;
	struct nbq_node *w, *pred, *w_pred;
	struct nbq_encodable *many;

	many = kunit_kzalloc(test, struct_size(many, nodes, MOST_ENCODABLE), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, many);
	many->size = MOST_ENCODABLE;
	memcpy(many->nodes, bench->encodable->nodes,
	       NBQ_BENCH_NODES * sizeof(many->nodes[0]));
	bench->pool.encodable = many;
	w = nbq_bench_alloc(test);
	w->index = *index;
	many->nodes[*index] = w;

	/* before: []; after: w x */
	w_pred = nbq_spin_enqueue(&lock_of(test)->bare, nbq_tail_of(lock_of(test)), w);
	KUNIT_EXPECT_NULL(test, w_pred);
	KUNIT_EXPECT_EQ(test, *nbq_tail_of(lock_of(test)),
			*index << 16 | nbq_context_of(&bench->pool));
	enqueue(test, &pred);
	KUNIT_EXPECT_PTR_EQ(test, pred, w);
}

/* Making one */

static void init_evaluates_its_argument_once(struct kunit *test)
{
	struct nbq_spin locks[2], *next = locks;

	memset(locks, 0x6b, sizeof(locks));
	nbq_spin_init(next++);
	KUNIT_EXPECT_PTR_EQ(test, next, locks + 1);
	KUNIT_EXPECT_EQ(test, locks[0].state.all, 0);
	KUNIT_EXPECT_EQ(test, locks[0].tail, 0);
	/* The other one is as it was. */
	KUNIT_EXPECT_EQ(test, locks[1].state.turn, 0x6b);
	KUNIT_EXPECT_EQ(test, locks[1].tail, 0x6b6b6b6b);
}

static void init_key_gives_the_lock_its_class(struct kunit *test)
{
	static struct lock_class_key key;
	struct nbq_spin lock;

	memset(&lock, 0x6b, sizeof(lock));
	nbq_spin_init_key(&lock, "a_name", &key);
	KUNIT_EXPECT_EQ(test, lock.state.all, 0);
	KUNIT_EXPECT_EQ(test, lock.tail, 0);
#ifdef CONFIG_DEBUG_LOCK_ALLOC
	KUNIT_EXPECT_PTR_EQ(test, lock.dep_map.key, &key);
	KUNIT_EXPECT_STREQ(test, lock.dep_map.name, "a_name");
#endif
}

/* A lock that no other context wants */

static void uncontended_acquisition_allocates_and_counts_nothing(struct kunit *test)
{
	union nbq_spin_state held;
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
	KUNIT_EXPECT_EQ(test, held.request, 0);
	KUNIT_EXPECT_EQ(test, lock_of(test)->state.all, 0);
	KUNIT_EXPECT_EQ(test, *nbq_tail_of(lock_of(test)), 0);
	KUNIT_EXPECT_EQ(test, in_use, 0);
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, 0);
	EXPECT_TOTAL(test);
}

/* Which context takes it */

/* A head, and the lock is free: w */
static struct nbq_contender *free_lock_with_a_head(struct kunit *test)
{
	struct nbq_bench *bench = test->priv;
	struct nbq_contender *holder = nbq_bench_enqueue(test);
	struct nbq_contender *w = nbq_bench_enqueue(test);

	KUNIT_ASSERT_EQ(test, holder->state, HOLDING);
	KUNIT_ASSERT_EQ(test, w->state, WAITING);
	nbq_contender_release(bench, holder);
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

static void newcomer_steals_a_free_lock(struct kunit *test)
{
	struct nbq_contender *w = free_lock_with_a_head(test);

	/* before and after: w */
	KUNIT_EXPECT_TRUE(test, try_at_once(test));
	KUNIT_EXPECT_EQ(test, try_for(test, 0), 0);
	EXPECT_PICTURE(test, "W");
	EXPECT_TOTAL(test);

	/* w takes it when it polls; after: [] */
	KUNIT_EXPECT_TRUE(test, nbq_contender_poll(test->priv, w));
	nbq_contender_release(test->priv, w);
	EXPECT_PICTURE(test, ".");
}

/* What a head writes that requests the handoff at this time */
static u8 request_of(u64 now)
{
	return 0x80 | (now >> 13 & 0x7f);
}

/* A head has requested the handoff when the clock starts. */
static void request_the_handoff(struct kunit *test)
{
	nbq_request(lock_of(test), request_of(1000));
}

static void start_with_a_request(struct kunit *test)
{
	nbq_fake_start(1000, 10);
	request_the_handoff(test);
}

static void no_steal_when_the_handoff_is_requested(struct kunit *test)
{
	struct nbq_contender *w = free_lock_with_a_head(test);

	start_with_a_request(test);

	/* before and after: w */
	KUNIT_EXPECT_FALSE(test, try_at_once(test));
	KUNIT_EXPECT_EQ(test, try_for(test, 0), -EBUSY);
	KUNIT_EXPECT_EQ(test, lock_of(test)->state.handoff, request_of(1000));

	/* w takes it when it polls, and the next newcomer steals again */
	KUNIT_EXPECT_TRUE(test, nbq_contender_poll(test->priv, w));
	nbq_contender_release(test->priv, w);
	KUNIT_EXPECT_TRUE(test, try_at_once(test));
}

/* What another context does in the middle of reads of the clock */

/**
 * struct others - a context that has its turn in the middle of reads of the clock
 * @test: the case
 * @act: what it does
 * @acquired: what a newcomer got
 * @requested: the handoff was requested at that moment
 */
struct others {
	struct kunit *test;
	void (*act)(struct others *others);
	bool acquired;
	bool requested;
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

	nbq_contender_release(bench, &bench->contenders[0]);
}

static void observe_request(struct others *others)
{
	others->requested = lock_of(others->test)->state.handoff;
}

/* The holder releases, and a newcomer is first to see it. */
static void release_to_a_newcomer(struct others *others)
{
	observe_request(others);
	release(others);
	others->acquired = try_at_once(others->test);
}

/* The head, moved by hand, takes the free lock and releases it. */
static void head_comes_and_goes(struct others *others)
{
	struct nbq_bench *bench = others->test->priv;

	if (nbq_contender_poll(bench, &bench->contenders[1]))
		nbq_contender_release(bench, &bench->contenders[1]);
}

/* The numbers of nbqlock/bare_spin.c and wait.c, stated once more: they are promised. */
#define POLLS_BEFORE_QUEUE		16
#define POLLS_PER_TICK		64
#define PATIENT_NS		20000
#define IDLE_NS			2000
#define STALLED_NS		(50000 + NBQ_RELAX_MAX_NS)
#define CHECK_PRED_NS		(100000 + NBQ_RELAX_MAX_NS)

/* As patience: this many reads, the last of which finds it over */
static ktime_t reads(unsigned int count)
{
	return 10 * (count - 1);
}

/*
 * Wait with patience for ever: the clock is read when the waiter enqueues, and at each tick.
 * Return: the state of the lock when the waiter has it.
 */
static union nbq_spin_state wait_for_it(struct kunit *test)
{
	int ret = nbq_spin_lock_timeout(lock_of(test), KTIME_MAX);
	union nbq_spin_state held = lock_of(test)->state;

	nbq_fake.call_at = 0;
	if (!ret)
		nbq_spin_unlock(lock_of(test));
	KUNIT_EXPECT_EQ(test, ret, 0);
	return held;
}

/* The read at which such a waiter ticks so often; it enqueues at the first. */
#define TICK(number)		((number) + 1)
/* A read at which each of these cases is over, and the waiter has the lock */
#define LAST_READ		60

/* When a newcomer enqueues */

#define WATCHED_READS		13

/**
 * struct watch - what is seen in the middle of the reads of a newcomer
 * @others: its part
 * @change: what happens in the middle of the first, or NULL
 * @queued: the first read that finds it in the queue
 * @heartbeat: of its CPU, by read
 */
struct watch {
	struct others others;
	void (*change)(struct kunit *test);
	unsigned int queued;
	u64 heartbeat[WATCHED_READS + 1];
};

static void watch_the_newcomer(struct others *others)
{
	struct watch *watch = container_of(others, struct watch, others);
	struct nbq_pool *pool = nbq_this_pool();

	if (nbq_fake.reads > WATCHED_READS)
		return;
	if (nbq_fake.reads == 1) {
		WRITE_ONCE(pool->heartbeat, 1);
		if (watch->change)
			watch->change(others->test);
	}
	if (!watch->queued && *nbq_tail_of(lock_of(others->test)))
		watch->queued = nbq_fake.reads;
	watch->heartbeat[nbq_fake.reads] = READ_ONCE(pool->heartbeat);
}

/* Another context of the CPU that this is not has the lock now. */
static void change_the_holder(struct kunit *test)
{
	lock_of(test)->state.holder = nbq_encode_context(nr_cpu_ids, 0);
}

/*
 * By reads of a clock that starts at 1000 and goes in steps of 10. Between two of them are
 * twice as many polls as before, while the deadline is far: a newcomer reads it at the polls
 * 0, 1, 3, 7 and 15, when it enqueues, at once again, and so on; and as the head at each 17th
 * for the tick. The poll after that writes the heartbeat.
 */
#define MOST_TICKS		3

static const struct enqueue_case {
	const char *desc;
	void (*change)(struct kunit *test);
	/* the read by which it enqueues */
	unsigned int at;
	/* the reads of its ticks, and the first ones that find their heartbeats */
	unsigned int tick[MOST_TICKS];
	unsigned int shown[MOST_TICKS];
} enqueue_cases[] = {
	{ "after_16_polls", NULL, 6, { 8, 11 }, { 10, 12 } },
	{ "at_once_if_the_holder_changes", change_the_holder, 3, { 7, 9, 11 }, { 8, 10, 12 } },
	{ "at_once_if_the_handoff_is_requested", request_the_handoff, 3,
	  { 7, 9, 11 }, { 8, 10, 12 } },
};

static void enqueue_desc(const struct enqueue_case *enqueue, char *desc)
{
	strscpy(desc, enqueue->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(enqueue, enqueue_cases, enqueue_desc);

static u64 time_of_read(unsigned int read)
{
	return 1000 + reads(read);
}

static void newcomer_enqueues_and_has_a_heartbeat(struct kunit *test)
{
	const struct enqueue_case *enqueue = test->param_value;
	struct watch watch = {
		.others = { .test = test, .act = watch_the_newcomer },
		.change = enqueue->change,
	};
	unsigned int read, i;

	nbq_bench_hold(test);
	nbq_fake_start(1000, 10);
	nbq_fake_call(1, act_at_each, &watch.others);
	KUNIT_EXPECT_EQ(test, try_for(test, reads(WATCHED_READS)), -ETIMEDOUT);
	/* One more if that over which the patience ends is a tick's. */
	KUNIT_EXPECT_GE(test, nbq_fake.reads, WATCHED_READS);
	KUNIT_EXPECT_LE(test, nbq_fake.reads, WATCHED_READS + 1);
	EXPECT_TOTAL(test, .timeouts = 1, .nodes_allocated = 1, .nodes_freed = 1);

	KUNIT_EXPECT_EQ(test, watch.queued, enqueue->at + 1);
	for (read = 1; read <= WATCHED_READS; read++) {
		u64 want = 1;

		if (read > enqueue->at)
			want = time_of_read(enqueue->at);
		for (i = 0; i < MOST_TICKS && enqueue->tick[i]; i++) {
			if (read >= enqueue->shown[i])
				want = time_of_read(enqueue->tick[i]);
		}
		KUNIT_EXPECT_EQ_MSG(test, watch.heartbeat[read], want, "read %u", read);
	}
}

/* A newcomer at a free lock, for which a stalled head has requested the handoff */

/* Reads of such a poll: does the request hold, and for how long has the lock been free? */
#define READS_OF_IDLE_POLL	2

static const struct idle_case {
	const char *desc;
	u64 step;
	unsigned int reads;
} idle_cases[] = {
	/* One read before it waits, the poll that finds the lock free, and so many more */
	{ "polls_of_20_ns_and_a_tick", 10, 1 + (1 + 100) * READS_OF_IDLE_POLL + 1 },
	{ "after_exactly_2000_ns", 1000, 1 + (1 + 1) * READS_OF_IDLE_POLL },
	{ "not_after_1998_ns", 999, 1 + (1 + 2) * READS_OF_IDLE_POLL },
};

static void idle_desc(const struct idle_case *idle, char *desc)
{
	strscpy(desc, idle->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(idle, idle_cases, idle_desc);

static void steal_when_a_requested_lock_stays_free(struct kunit *test)
{
	const struct idle_case *idle = test->param_value;
	struct nbq_contender *w = free_lock_with_a_head(test);

	static_assert(IDLE_NS == 2 * 1000);
	/* before and after: w */
	nbq_fake_start(1000, idle->step);
	request_the_handoff(test);
	KUNIT_EXPECT_EQ(test, wait_for_it(test).handoff, 0);
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, idle->reads);
	EXPECT_TOTAL(test, .acquired_handoff = 1);
	EXPECT_PICTURE(test, "W");

	/* w goes on as if nothing had been */
	KUNIT_EXPECT_TRUE(test, nbq_contender_poll(test->priv, w));
	nbq_contender_release(test->priv, w);
}

static void take_and_release(struct others *others)
{
	struct nbq_bench *bench = others->test->priv;
	struct nbq_spin *lock = lock_of(others->test);

	if (nbq_fake.reads == 4)
		lock->state.holder = nbq_context_of(&bench->pool);
	else if (nbq_fake.reads == 7)
		lock->state.holder = 0;
	else if (nbq_fake.reads == 8)
		head_comes_and_goes(others);
}

static void newcomer_enqueues_when_a_requested_lock_is_taken(struct kunit *test)
{
	struct others others = { .test = test, .act = take_and_release };

	/* before: w, and the lock is free; in between: w x; after: [] */
	free_lock_with_a_head(test);
	nbq_fake_start(1000, 100);
	request_the_handoff(test);
	nbq_fake_call(1, act_at_each, &others);
	KUNIT_EXPECT_EQ(test, wait_for_it(test).handoff, 0);
	/* Outside, each poll would have read the clock, and have found the lock free. */
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, 8);
	EXPECT_TOTAL(test, .acquired_handoff = 1, .nodes_allocated = 1, .nodes_freed = 1,
		     .nodes_reclaimed = 1);
	KUNIT_EXPECT_EQ(test, *nbq_tail_of(lock_of(test)), 0);
}

/* When a head requests the handoff */

/**
 * struct requests - what is seen of requests in the middle of reads
 * @others: its part
 * @handoff: of the lock, by read
 */
struct requests {
	struct others others;
	u8 handoff[LAST_READ + 1];
};

static void watch_requests(struct others *others)
{
	struct requests *requests = container_of(others, struct requests, others);

	if (nbq_fake.reads > LAST_READ)
		return;
	requests->handoff[nbq_fake.reads] = lock_of(others->test)->state.handoff;
	if (nbq_fake.reads == LAST_READ)
		release(others);
}

static const struct patient_case {
	const char *desc;
	u64 step;
	/* the tick at which the head has been patient */
	unsigned int tick;
} patient_cases[] = {
	{ "after_exactly_20000_ns", 1000, 20 },
	{ "not_after_19980_ns", 999, 21 },
};

static void patient_desc(const struct patient_case *patient, char *desc)
{
	strscpy(desc, patient->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(patient, patient_cases, patient_desc);

static void patient_head_requests_the_handoff_and_renews_it(struct kunit *test)
{
	const struct patient_case *patient = test->param_value;
	struct requests requests = {
		.others = { .test = test, .act = watch_requests },
	};
	unsigned int read;

	static_assert(PATIENT_NS == 20 * 1000);
	/* before: H; in between: H w, of the operation's own; after: [] */
	nbq_bench_hold(test);
	nbq_fake_start(1000, patient->step);
	nbq_fake_call(1, act_at_each, &requests.others);
	KUNIT_EXPECT_EQ(test, wait_for_it(test).handoff, 0);
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, LAST_READ);
	for (read = 1; read <= LAST_READ; read++) {
		u8 want = 0;

		/* The poll after each tick */
		if (read > TICK(patient->tick))
			want = request_of(1000 + (read - 2) * patient->step);
		KUNIT_EXPECT_EQ_MSG(test, requests.handoff[read], want, "read %u", read);
	}
	/* More than two of them differ. */
	KUNIT_EXPECT_GE(test, (u8)(requests.handoff[LAST_READ] -
				   requests.handoff[TICK(patient->tick) + 1]), 4);
}

static const struct handoff_case {
	const char *desc;
	/* the read in whose middle the lock becomes free */
	unsigned int read;
} handoff_cases[] = {
	{ "as_soon_as_it_has_a_node", TICK(1) },
	{ "just_before_it_has_requested", TICK(20) },
	{ "when_it_has_requested", TICK(21) },
};

static void handoff_desc(const struct handoff_case *handoff, char *desc)
{
	strscpy(desc, handoff->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(handoff, handoff_cases, handoff_desc);

static void no_steal_from_a_head_that_was_patient(struct kunit *test)
{
	const struct handoff_case *handoff = test->param_value;
	bool requested = handoff->read > TICK(20);
	struct others others = { .test = test, .act = release_to_a_newcomer };

	/* before: w, of the operation's own; after: [] */
	nbq_bench_hold(test);
	nbq_fake_start(1000, 1000);
	nbq_fake_call(handoff->read, act_once, &others);
	KUNIT_EXPECT_EQ(test, wait_for_it(test).handoff, 0);
	/* And one of the newcomer, to check the request */
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, handoff->read + requested);
	KUNIT_EXPECT_EQ(test, others.requested, requested);
	KUNIT_EXPECT_EQ(test, others.acquired, !requested);
	KUNIT_EXPECT_EQ(test, lock_of(test)->state.handoff, 0);
	EXPECT_TOTAL(test, .acquired_handoff = 1, .failed_tries = !others.acquired,
		     .nodes_allocated = 1, .nodes_freed = 1);
}

/* With which request a head takes the lock */

/* Another head's, which differs from a new one */
#define FOUND_REQUEST		0xd5

enum request { NO_REQUEST, THE_FOUND_ONE, A_NEW_ONE };

/**
 * struct take_case - a head that takes the lock
 * @desc: what it is
 * @tick: the tick at which the lock becomes free
 * @followed: another waiter enqueues just then
 * @found: there is a request just then
 * @want: what is in the lock once the head has it
 */
static const struct take_case {
	const char *desc;
	unsigned int tick;
	bool followed;
	bool found;
	enum request want;
} take_cases[] = {
	{ "patient_and_followed", 20, true, false, A_NEW_ONE },
	{ "patient_and_followed_with_a_request", 20, true, true, A_NEW_ONE },
	{ "patient", 20, false, false, NO_REQUEST },
	{ "patient_with_a_request", 20, false, true, NO_REQUEST },
	{ "followed", 19, true, false, NO_REQUEST },
	{ "followed_with_a_request", 19, true, true, THE_FOUND_ONE },
	{ "with_a_request", 19, false, true, NO_REQUEST },
};

static void take_desc(const struct take_case *take, char *desc)
{
	strscpy(desc, take->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(take, take_cases, take_desc);

struct taking {
	struct others others;
	const struct take_case *take;
};

static void release_to_the_head(struct others *others)
{
	const struct take_case *take = container_of(others, struct taking, others)->take;
	struct nbq_bench *bench = others->test->priv;

	if (take->followed)
		nbq_contender_enqueue(bench, &bench->contenders[1]);
	if (take->found)
		nbq_request(lock_of(others->test), FOUND_REQUEST);
	release(others);
}

/* Return: the request that stands on the lock when the head has it. */
static u8 take_as_head(struct kunit *test, const struct take_case *take, u64 start)
{
	struct taking taking = {
		.others = { .test = test, .act = release_to_the_head },
		.take = take,
	};
	u32 tail;
	u8 handoff;
	int ret;

	nbq_fake_start(start, 1000);
	nbq_fake_call(TICK(take->tick), act_once, &taking.others);
	ret = nbq_spin_lock_timeout(lock_of(test), KTIME_MAX);
	handoff = lock_of(test)->state.handoff;
	tail = *nbq_tail_of(lock_of(test));
	if (!ret)
		nbq_spin_unlock(lock_of(test));
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, TICK(take->tick));
	KUNIT_EXPECT_EQ(test, !!tail, take->followed);
	EXPECT_TOTAL(test, .acquired_handoff = 1, .nodes_allocated = 1,
		     .nodes_freed = !take->followed);
	return handoff;
}

static void head_takes_the_lock_with_a_request_for_its_successor(struct kunit *test)
{
	const struct take_case *take = test->param_value;
	struct nbq_bench *bench = test->priv;
	u8 want = 0;

	/* before: H; in between: H w x, w of the operation's own; after: A x */
	nbq_bench_hold(test);
	KUNIT_ASSERT_NOT_NULL(test, nbq_bench_contender(bench));
	if (take->want == THE_FOUND_ONE)
		want = FOUND_REQUEST;
	else if (take->want == A_NEW_ONE)
		want = request_of(1000 + 20 * 1000);
	KUNIT_EXPECT_EQ(test, take_as_head(test, take, 1000), want);

	/* x is the head now, and takes the lock when it polls */
	if (take->followed)
		KUNIT_EXPECT_TRUE(test, nbq_contender_poll(bench, &bench->contenders[1]));
}

/* By bits 4 to 6 of the time at which it has enqueued */
static void head_leaves_a_found_request_seven_times_in_eight(struct kunit *test)
{
	static const struct take_case take = { .tick = 1, .followed = true, .found = true };
	struct nbq_bench *bench = test->priv;
	unsigned int i;

	for (i = 0; i < 16; i++) {
		u8 handoff, want = i % 8 ? FOUND_REQUEST : 0;

		nbq_bench_fill(bench, NBQ_BENCH_NODES);
		lock_of(test)->state.handoff = 0;
		nbq_bench_hold(test);
		KUNIT_ASSERT_NOT_NULL(test, nbq_bench_contender(bench));
		handoff = take_as_head(test, &take, 1024 + 16 * i + 15);
		KUNIT_EXPECT_EQ_MSG(test, handoff, want, "%u", i);
		KUNIT_EXPECT_TRUE(test, nbq_contender_poll(bench, &bench->contenders[1]));
		nbq_contender_release(bench, &bench->contenders[1]);
	}
}

/* A head that has requested the handoff, and is stalled when the lock becomes free */

/* The read by which it requests that; the next one finds the request there */
#define REQUEST_READ		TICK(20)
/* The clock of newcomers, which poll once in 50 ns where they check the request */
#define NEWCOMER_STEP		25
/* More reads than one makes that gives up or finds the lock to be idle */
#define NEWCOMER_READS		130

/**
 * struct stall_case - a newcomer at a lock that is free, but for a stalled head
 * @desc: what it is
 * @start: the clock when the head comes
 * @patience: of the newcomer
 * @expired: it comes when the request has just expired; else just before
 * @nmi: it interrupts the head; else it comes above it at its own level, and is nested
 * @ret: what it gets
 */
static const struct stall_case {
	const char *desc;
	u64 start;
	ktime_t patience;
	bool expired;
	bool nmi;
	int ret;
} stall_cases[] = {
	{ "try_before", 1000, 0, false, false, -EBUSY },
	{ "100_ns_before", 1000, 100, false, false, -ETIMEDOUT },
	{ "1000_ns_before", 1000, 1000, false, false, -ETIMEDOUT },
	/* It stays free for long enough. */
	{ "3000_ns_before", 1000, 3000, false, false, 0 },
	{ "try_after", 1000, 0, true, false, 0 },
	{ "100_ns_after", 1000, 100, true, false, 0 },
	{ "1000_ns_after", 1000, 1000, true, false, 0 },
	/* The bits of the request wrap meanwhile. */
	{ "try_before_wrap", 125 << 13, 0, false, false, -EBUSY },
	{ "try_after_wrap", 125 << 13, 0, true, false, 0 },
	{ "nmi_try", 1000, 0, false, true, 0 },
	{ "nmi_100_ns", 1000, 100, false, true, 0 },
};

static void stall_desc(const struct stall_case *stall, char *desc)
{
	strscpy(desc, stall->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(stall, stall_cases, stall_desc);

/**
 * struct stall - what others do while the head is stalled
 * @others: its part
 * @patience: of the newcomer
 * @comes_at: the time at which it comes
 * @nmi: the newcomer interrupts the head
 * @ret: what it got
 */
struct stall {
	struct others others;
	ktime_t patience;
	u64 comes_at;
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
	nbq_fake.now = stall->comes_at;
	nbq_fake.step = NEWCOMER_STEP;
	if (stall->nmi)
		nbq_as_nmi(try_above, stall);
	else
		try_above(stall);
	nbq_fake.step = 1000;
}

static void steal_when_the_head_is_stalled(struct kunit *test)
{
	const struct stall_case *row = test->param_value;
	struct nbq_bench *bench = test->priv;
	struct stall stall = {
		.others = { .test = test, .act = release_and_stall },
		.patience = row->patience,
		.nmi = row->nmi,
	};
	u64 request, expiry;

	/* Newcomers are in the head's own context, to lockdep. */
	bench->row->notrack(bench->lock);
	nbq_bench_hold(test);
	nbq_fake_start(row->start, 1000);
	nbq_fake_call(REQUEST_READ + 1, act_once, &stall.others);
	request = row->start + PATIENT_NS;
	expiry = ((request >> 13) + 3) << 13;
	KUNIT_EXPECT_LE(test, expiry, request + NBQ_SPIN_HANDOFF_NS);
	stall.comes_at = expiry;
	if (!row->expired)
		stall.comes_at -= 1 + (row->patience ? NEWCOMER_READS * NEWCOMER_STEP : 0);

	/* before: w, of the operation's own, which requests and is stalled; after: [] */
	wait_for_it(test);
	KUNIT_EXPECT_EQ(test, stall.ret, row->ret);
	KUNIT_EXPECT_EQ(test, lock_of(test)->state.handoff, 0);
	KUNIT_EXPECT_EQ(test, *nbq_tail_of(lock_of(test)), 0);
}

/* Two locks: the CPU waits for one, and what interrupts it tries the other one. */
struct other_lock {
	struct others others;
	struct nbq_spin *lock;
	bool acquired;
};

static void try_other_lock(void *arg)
{
	struct other_lock *other = arg;

	other->acquired = nbq_spin_trylock(other->lock);
	if (other->acquired)
		nbq_spin_unlock(other->lock);
}

static void nmi_tries_other_lock(struct others *others)
{
	nbq_as_nmi(try_other_lock, container_of(others, struct other_lock, others));
}

static void no_steal_by_an_interrupt_above_a_waiter_of_another_lock(struct kunit *test)
{
	struct nbq_bench *bench = test->priv;
	struct other_lock *other;
	struct nbq_node *w;

	other = kunit_kzalloc(test, sizeof(*other), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, other);
	other->lock = nbq_new_lock(test, bench->row);
	bench->row->init_unwatched(other->lock);
	other->others.test = test;
	other->others.act = nmi_tries_other_lock;
	other->acquired = true;
	w = nbq_bench_alloc(test);
	nbq_spin_enqueue(&other->lock->bare, nbq_tail_of(other->lock), w);
	nbq_request(other->lock, request_of(1000));

	/* before and after: w, elsewhere */
	nbq_bench_hold(test);
	nbq_fake_start(1000, 10);
	nbq_fake_call(3, act_once, &other->others);
	KUNIT_EXPECT_EQ(test, try_for(test, 100), -ETIMEDOUT);
	KUNIT_EXPECT_FALSE(test, other->acquired);
	KUNIT_EXPECT_TRUE(test, nbq_spin_dequeue_head(nbq_tail_of(other->lock), w, false));
}

static void request_outlives_a_waiter_that_gives_up(struct kunit *test)
{
	struct nbq_bench *bench = test->priv;
	struct nbq_contender *w;
	bool acquired;

	/* before: H w, and w has requested the handoff */
	nbq_bench_hold(test);
	w = nbq_bench_enqueue(test);
	start_with_a_request(test);

	/* in between: H w x, and x gives up; after: H w */
	KUNIT_EXPECT_EQ(test, try_for(test, reads(100)), -ETIMEDOUT);
	EXPECT_PICTURE(test, "W");

	/* w would have the lock */
	nbq_contender_release(bench, &bench->contenders[0]);
	acquired = try_at_once(test);
	KUNIT_EXPECT_FALSE(test, acquired);
	KUNIT_EXPECT_TRUE(test, nbq_contender_poll(bench, w));
	nbq_contender_release(bench, w);
	KUNIT_EXPECT_TRUE(test, try_at_once(test));
}

/* It may be another one's by then: it is left to expire, and void without a queue. */
static void request_of_a_head_that_gives_up_stays(struct kunit *test)
{
	/* before: H; in between: H w, which requests at its third tick; after: H */
	nbq_bench_hold(test);
	nbq_fake_start(1000, 1000);
	KUNIT_EXPECT_EQ(test, try_for(test, 30000), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, 31);
	KUNIT_EXPECT_EQ(test, lock_of(test)->state.handoff, request_of(28000));
	EXPECT_TOTAL(test, .timeouts = 1, .nodes_allocated = 1, .nodes_freed = 1);

	lock_of(test)->state.holder = 0;
	KUNIT_EXPECT_TRUE(test, try_at_once(test));
	KUNIT_EXPECT_EQ(test, lock_of(test)->state.handoff, 0);
}

/* A waiter whose predecessor is stalled, or is not */

/* When these waiters enqueue: their ticks are at multiples of the step from here on. */
#define ENQUEUED_AT		1000000

/**
 * struct acting - the turn of others beside a waiter that may act for the head
 * @others: its part
 * @released_at: the read in whose middle the holder releases
 * @aborts: its predecessor abandons its node just then, behind another waiter
 * @revives: the heartbeats of the waiters in front are fresh from then on
 * @handoff: of the lock, by read
 */
struct acting {
	struct others others;
	unsigned int released_at;
	bool aborts;
	bool revives;
	u8 handoff[LAST_READ + 1];
};

/* In the last of the reads the head goes on, so that the waiter gets the lock. */
static void move_in_front(struct others *others)
{
	struct acting *acting = container_of(others, struct acting, others);
	struct nbq_bench *bench = others->test->priv;

	if (nbq_fake.reads > LAST_READ)
		return;
	acting->handoff[nbq_fake.reads] = lock_of(others->test)->state.handoff;
	if (nbq_fake.reads == acting->released_at) {
		release(others);
		if (acting->aborts)
			nbq_contender_abandon(bench, &bench->contenders[2]);
	}
	if (acting->revives && nbq_fake.reads >= acting->released_at)
		bench->pool.heartbeat = nbq_fake.now;
	if (nbq_fake.reads == LAST_READ)
		head_comes_and_goes(others);
}

/* before: H w, or H w x; the operation's own waiter is behind these. */
static union nbq_spin_state wait_behind_the_head(struct kunit *test, struct acting *acting,
						 s64 heartbeat, u64 step)
{
	struct nbq_bench *bench = test->priv;
	union nbq_spin_state held;

	acting->others.test = test;
	acting->others.act = move_in_front;
	nbq_bench_hold(test);
	nbq_bench_enqueue(test);
	if (acting->aborts)
		nbq_bench_enqueue(test);
	bench->pool.heartbeat = ENQUEUED_AT + heartbeat;
	nbq_fake_start(ENQUEUED_AT, step);
	nbq_fake_call(1, act_at_each, &acting->others);
	held = wait_for_it(test);
	KUNIT_EXPECT_FALSE(test, nbq_spin_is_locked(lock_of(test)));
	return held;
}

/* The head stays in the queue if a waiter has acted for it. */
static void expect_the_head_in_front(struct kunit *test, bool acts)
{
	struct nbq_bench *bench = test->priv;

	KUNIT_EXPECT_EQ(test, nbq_is_free(bench->contenders[1].node), !acts);
	if (!acts)
		return;
	KUNIT_EXPECT_PTR_EQ(test, tail_of(test), bench->contenders[1].node);
	KUNIT_EXPECT_TRUE(test, nbq_contender_poll(bench, &bench->contenders[1]));
	nbq_contender_release(bench, &bench->contenders[1]);
}

/* From tick to tick, in most cases: then, a predecessor is checked at each of so many. */
#define STEP			10000
#define TICKS_TO_CHECK		(CHECK_PRED_NS / STEP)
static_assert(CHECK_PRED_NS % STEP == 0);

/**
 * struct check_case - the head in front of a waiter, at a free lock
 * @desc: what it is
 * @step: from tick to tick
 * @heartbeat: of its CPU, from the time at which the waiter enqueues
 * @revives: it shows life at each read
 * @tick: the tick of the waiter at which it acts for the head; 0: it does not
 */
static const struct check_case {
	const char *desc;
	u64 step;
	s64 heartbeat;
	bool revives;
	unsigned int tick;
} check_cases[] = {
	{ "stalled_for_50000_ns", STEP, CHECK_PRED_NS - STALLED_NS, false, TICKS_TO_CHECK },
	{ "stalled_for_49999_ns", STEP, CHECK_PRED_NS - STALLED_NS + 1, false, 2 * TICKS_TO_CHECK },
	{ "checked_after_100000_ns", STEP - 1, -STALLED_NS, false, TICKS_TO_CHECK + 1 },
	/* The clocks of two CPUs differ. */
	{ "ahead", STEP, 1000000, false, 0 },
	/* Half of it was written when its CPU stalled. */
	{ "torn", STEP, 1LL << 32, false, TICKS_TO_CHECK },
	{ "running", STEP, -STALLED_NS, true, 0 },
};

static void check_desc(const struct check_case *check, char *desc)
{
	strscpy(desc, check->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(check, check_cases, check_desc);

static void waiter_acts_as_head_when_its_predecessor_is_stalled(struct kunit *test)
{
	const struct check_case *check = test->param_value;
	struct acting acting = { .released_at = TICK(1), .revives = check->revives };
	bool acts = check->tick;
	union nbq_spin_state held;

	/* before: H w; in between: w x; after: w, or [] */
	held = wait_behind_the_head(test, &acting, check->heartbeat, check->step);
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, acts ? TICK(check->tick) : LAST_READ);
	KUNIT_EXPECT_EQ(test, held.handoff, 0);
	EXPECT_TOTAL(test, .acquired_handoff = 1, .nodes_allocated = 1, .nodes_freed = 1,
		     .nodes_reclaimed = !acts);
	expect_the_head_in_front(test, acts);
}

static const struct check_case successor_cases[] = {
	{ "stalled", STEP, 2 * STEP - STALLED_NS, false, 2 },
	{ "running_until_the_next_check", STEP, 2 * STEP - STALLED_NS + 1, false,
	  TICKS_TO_CHECK + 2 },
	{ "running", STEP, -STALLED_NS, true, 0 },
};

KUNIT_ARRAY_PARAM(successor, successor_cases, check_desc);

static void successor_of_an_aborted_acting_head_checks_the_same_head(struct kunit *test)
{
	const struct check_case *check = test->param_value;
	struct acting acting = {
		.released_at = TICK(2),
		.aborts = true,
		.revives = check->revives,
	};
	bool acts = check->tick;

	/* before: H w x; in between: w x y, w L y, w y; after: w, or [] */
	wait_behind_the_head(test, &acting, check->heartbeat, check->step);
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, acts ? TICK(check->tick) : LAST_READ);
	EXPECT_TOTAL(test, .acquired_handoff = 1, .nodes_allocated = 1, .nodes_freed = 1,
		     .nodes_reclaimed = 1 + !acts);
	expect_the_head_in_front(test, acts);
}

/* When its predecessor aborts and the next one runs, it does not poll the lock. */
static void acting_head_waits_again_behind_a_running_predecessor(struct kunit *test)
{
	struct acting acting = {
		.released_at = TICK(TICKS_TO_CHECK + 2),
		.aborts = true,
		.revives = true,
	};

	/* before: H w x; in between: H w x y, y acting since its check, w y; after: [] */
	wait_behind_the_head(test, &acting, -STALLED_NS, STEP);
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, LAST_READ);
	KUNIT_EXPECT_TRUE(test, acting.handoff[acting.released_at]);
}

static const struct check_case request_cases[] = {
	{ "acting", STEP, -STALLED_NS, false, TICKS_TO_CHECK },
	{ "waiting", STEP, 1000000, false, 0 },
};

KUNIT_ARRAY_PARAM(request, request_cases, check_desc);

static void acting_head_requests_the_handoff_and_a_waiter_does_not(struct kunit *test)
{
	const struct check_case *check = test->param_value;
	struct acting acting = { .released_at = TICK(30) };
	bool acts = check->tick;
	unsigned int read;

	/* before: H w; in between: H w x; after: w, or [] */
	wait_behind_the_head(test, &acting, check->heartbeat, check->step);
	for (read = 1; read <= TICK(30); read++) {
		u8 want = 0;

		if (acts && read > TICK(check->tick))
			want = request_of(ENQUEUED_AT + (read - 2) * check->step);
		KUNIT_EXPECT_EQ_MSG(test, acting.handoff[read], want, "read %u", read);
	}
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, acts ? TICK(30) : LAST_READ);
	expect_the_head_in_front(test, acts);
}

/* A head that has seen a successor does not swap the tail, although all behind have gone. */
static void leave_a_former_head(struct kunit *test)
{
	struct nbq_node *w, *x, *pred;

	/* before: w x; x abandons before w dequeues; after: A */
	w = enqueue(test, &pred);
	x = enqueue(test, &pred);
	KUNIT_EXPECT_TRUE(test, abandon(test, x, pred));
	KUNIT_EXPECT_FALSE(test, nbq_spin_dequeue_head(nbq_tail_of(lock_of(test)), w, true));
	EXPECT_PICTURE(test, "A.");
	KUNIT_EXPECT_PTR_EQ(test, tail_of(test), w);
	EXPECT_COUNTED(test, .nodes_allocated = 2, .nodes_freed = 1);
}

static const struct former_case {
	const char *desc;
	ktime_t patience;
	bool requested;
} former_cases[] = {
	{ "trylock", 0, false },
	{ "trylock_although_requested", 0, true },
	{ "patient", 1000, false },
	{ "forever", KTIME_MAX, false },
};

static void former_desc(const struct former_case *former, char *desc)
{
	strscpy(desc, former->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(former, former_cases, former_desc);

static void lock_whose_tail_is_a_former_head_is_taken_by_the_next(struct kunit *test)
{
	const struct former_case *former = test->param_value;
	bool queues = former->requested;

	/* before: A; after: [], or A where it went past that */
	leave_a_former_head(test);
	nbq_fake_start(1000, 10);
	if (former->requested)
		request_the_handoff(test);
	if (former->patience)
		KUNIT_EXPECT_EQ(test, try_for(test, former->patience), 0);
	else
		KUNIT_EXPECT_TRUE(test, try_at_once(test));
	KUNIT_EXPECT_EQ(test, lock_of(test)->state.handoff, 0);
	KUNIT_EXPECT_EQ(test, !*nbq_tail_of(lock_of(test)), queues);
	EXPECT_TOTAL(test, .acquired_handoff = queues, .nodes_allocated = queues,
		     .nodes_reclaimed = queues, .nodes_freed = queues);
}

static void lock_whose_tail_is_a_former_head_is_destroyed_without_a_leak(struct kunit *test)
{
	struct nbq_bench *bench = test->priv;

	/* before: A; after: [] */
	leave_a_former_head(test);
	KUNIT_EXPECT_EQ(test, bench->row->destroy(bench->lock), 0);
	KUNIT_EXPECT_EQ(test, *nbq_tail_of(lock_of(test)), 0);
	KUNIT_EXPECT_EQ(test, nbq_nodes_in_use(bench), 0);
	EXPECT_TOTAL(test, .nodes_reclaimed = 1);
}

/* Without a node */

/**
 * struct nodes - what a CPU's pool consists of for one attempt
 * @encodable: how many of its nodes can be encoded; they come first
 * @size: how many it has, or 0
 * @hint: which of them was taken last
 */
struct nodes {
	unsigned int encodable;
	unsigned int size;
	unsigned int hint;
};

static int try_with_nodes(struct kunit *test, const struct nodes *nodes, ktime_t patience)
{
	struct nbq_encodable *encodable;
	struct nbq_node *node;
	struct nbq_replaced replaced;
	unsigned int i;
	int ret;

	node = kunit_kzalloc(test, 2 * sizeof(*node), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, node);
	encodable = nbq_encodable_new(test, node, nodes->encodable);
	KUNIT_ASSERT_NOT_NULL(test, encodable);
	preempt_disable();
	for (i = 0; i < nodes->size; i++) {
		node[i].pool = nbq_this_pool();
		node[i].cpu = node[i].pool->cpu;
		node[i].index = i;
		node[i].next_in_pool = i + 1 < nodes->size ? &node[i + 1] : NULL;
	}
	nbq_pool_replace(&replaced, nbq_this_pool(), nodes->size ? node : NULL, encodable);
	if (nodes->hint)
		nbq_this_pool()->hint = &node[nodes->hint];
	ret = try_for(test, patience);
	nbq_pool_restore(&replaced);
	preempt_enable();
	for (i = 0; i < nodes->size; i++)
		KUNIT_EXPECT_TRUE(test, nbq_is_free(&node[i]));
	return ret;
}

static void attempt_without_a_node_waits_outside_the_queue(struct kunit *test)
{
	static const struct nodes none;

	/* before and after: H */
	nbq_bench_hold(test);
	nbq_fake_start(1000, 10);
	KUNIT_EXPECT_EQ(test, try_with_nodes(test, &none, reads(11)), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, 11);
	KUNIT_EXPECT_EQ(test, *nbq_tail_of(lock_of(test)), 0);
	EXPECT_TOTAL(test, .exhaustions = 1, .timeouts = 1);
}

static void attempt_without_a_node_takes_a_lock_that_becomes_free(struct kunit *test)
{
	struct others others = { .test = test, .act = release };
	static const struct nodes none;

	/* before: H, which releases at the sixth read; after: [] */
	nbq_bench_hold(test);
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

static void attempt_without_a_node_steals_as_a_newcomer(struct kunit *test)
{
	struct nbq_contender *w = free_lock_with_a_head(test);
	static const struct nodes none;
	int ret;

	/* before: w, which is stalled; after: the same */
	nbq_fake_start(1000, 1000);
	request_the_handoff(test);
	ret = try_with_nodes(test, &none, KTIME_MAX);
	KUNIT_EXPECT_EQ(test, ret, 0);
	/* As one that has no need of a node yet */
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, 1 + (1 + 1) * READS_OF_IDLE_POLL);
	EXPECT_PICTURE(test, "W");
	KUNIT_EXPECT_TRUE(test, nbq_contender_poll(test->priv, w));
	nbq_contender_release(test->priv, w);
}

static void node_that_cannot_be_encoded_is_not_used(struct kunit *test)
{
	static const struct nodes grown = { .encodable = 0, .size = 1 };

	/* before and after: H */
	nbq_bench_hold(test);
	nbq_fake_start(1000, 10);
	KUNIT_EXPECT_EQ(test, try_with_nodes(test, &grown, reads(11)), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, *nbq_tail_of(lock_of(test)), 0);
}

static void encodable_node_is_found_behind_a_hint_that_is_not(struct kunit *test)
{
	static const struct nodes mixed = { .encodable = 1, .size = 2, .hint = 1 };

	/* before and after: H */
	nbq_bench_hold(test);
	nbq_fake_start(1000, 10);
	KUNIT_EXPECT_EQ(test, try_with_nodes(test, &mixed, reads(8)), -ETIMEDOUT);
	EXPECT_TOTAL(test, .timeouts = 1, .nodes_allocated = 1, .nodes_freed = 1);
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

static void free_one_or_observe(void *arg)
{
	struct search *search = arg;

	if (nbq_fake.reads == search->freed_at)
		nbq_node_free(search->node);
	else if (nbq_fake.reads > search->freed_at && !search->used_at &&
		 !nbq_is_free(search->node))
		search->used_at = nbq_fake.reads;
	nbq_fake_call(nbq_fake.reads + 1, free_one_or_observe, arg);
}

/* Return: the read that finds the last node taken, if it is free from @freed_at on. */
static unsigned int search_with(struct kunit *test, struct nbq_node *node,
				struct nbq_encodable *encodable, unsigned int freed_at)
{
	struct search search = {
		.test = test,
		.node = &node[MANY_NODES - 1],
		.freed_at = freed_at,
	};
	unsigned int i, wants_growth;
	struct nbq_replaced replaced;
	int ret;

	preempt_disable();
	search.pool = nbq_this_pool();
	for (i = 0; i < MANY_NODES; i++) {
		node[i].pool = search.pool;
		node[i].cpu = search.pool->cpu;
		node[i].index = i;
		node[i].next_in_pool = i + 1 < MANY_NODES ? &node[i + 1] : NULL;
		node[i].alloc_seq = node[i].free_seq + 1;
	}
	nbq_pool_replace(&replaced, search.pool, node, encodable);
	search.pool->wants_growth = 0;
	nbq_fake_start(1000, 10);
	nbq_fake_call(1, free_one_or_observe, &search);
	ret = try_for(test, reads(21));
	nbq_fake.call_at = 0;
	wants_growth = search.pool->wants_growth;
	search.pool->wants_growth = 1;
	nbq_pool_restore(&replaced);
	preempt_enable();

	KUNIT_EXPECT_EQ(test, ret, -ETIMEDOUT);
	/* After the last of them, the read over which the patience ends is a tick's: one more. */
	KUNIT_EXPECT_EQ_MSG(test, nbq_fake.reads, 21 + (freed_at == 11), "freed at %u",
			    freed_at);
	KUNIT_EXPECT_EQ(test, wants_growth, 0);
	KUNIT_EXPECT_TRUE(test, nbq_is_free(search.node));
	/* The first search is the one before read 6. */
	EXPECT_TOTAL(test, .timeouts = 1, .nodes_allocated = 1, .nodes_freed = 1,
		     .exhaustions = freed_at > 5);
	return search.used_at;
}

/*
 * Such a pool is searched at each 16th poll, and the clock is read after that: at most one
 * search is between two reads, however many nodes there are. It requests no growth, which
 * would not help.
 */
static void pool_without_a_free_node_is_searched_once_in_two_reads(struct kunit *test)
{
	/* The read after the first search that comes after the read 1, 2, and so on */
	static const unsigned int searched[] = { 6, 6, 6, 6, 6, 7, 8, 9, 11, 11, 12 };
	struct nbq_encodable *encodable;
	struct nbq_node *node;
	unsigned int i;

	node = kunit_kcalloc(test, MANY_NODES, sizeof(*node), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, node);
	encodable = nbq_encodable_new(test, node, MANY_NODES);
	KUNIT_ASSERT_NOT_NULL(test, encodable);
	nbq_bench_hold(test);
	for (i = 0; i < ARRAY_SIZE(searched); i++)
		KUNIT_EXPECT_EQ(test, search_with(test, node, encodable, i + 1), searched[i]);
}

/* What remains after a timeout */

static void enqueue_behind(struct others *others)
{
	struct nbq_bench *bench = others->test->priv;

	nbq_contender_enqueue(bench, &bench->contenders[1]);
}

static void timeout_at_the_head_abandons_its_node(struct kunit *test)
{
	struct others others = { .test = test, .act = enqueue_behind };
	struct nbq_bench *bench = test->priv;
	struct nbq_contender *x;

	/* before: H; x enqueues at the last read */
	nbq_bench_hold(test);
	x = nbq_bench_contender(bench);
	KUNIT_ASSERT_NOT_NULL(test, x);
	nbq_fake_start(1000, 10);
	nbq_fake_call(11, act_once, &others);
	KUNIT_EXPECT_EQ(test, try_for(test, reads(11)), -ETIMEDOUT);
	EXPECT_TOTAL(test, .timeouts = 1, .nodes_allocated = 1, .nodes_abandoned = 1);
	nbq_contender_link(bench, x);
	KUNIT_EXPECT_FALSE(test, nbq_contender_poll(bench, x));
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

static void holder_that_would_wait_for_itself_fails_without_a_node(struct kunit *test)
{
	const struct own_case *own = test->param_value;
	struct nbq_bench *bench = test->priv;
	int ret;

	bench->row->notrack(bench->lock);
	nbq_fake_start(1000, 10);
	nbq_spin_lock(lock_of(test));
	ret = nbq_spin_lock_timeout(lock_of(test), own->patience);
	nbq_spin_unlock(lock_of(test));

	KUNIT_EXPECT_EQ(test, ret, -EDEADLK);
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, 0);
	KUNIT_EXPECT_EQ(test, *nbq_tail_of(lock_of(test)), 0);
	EXPECT_TOTAL(test, .deadlocks = 1);
}

static struct kunit_case spin_cases[] = {
	KUNIT_CASE(first_to_enqueue_is_the_head),
	KUNIT_CASE(abandoned_tail_is_freed),
	KUNIT_CASE(abandoned_nodes_are_skipped_by_their_successor),
	KUNIT_CASE(head_without_a_successor_empties_the_queue),
	KUNIT_CASE(waiter_behind_the_head_becomes_the_head),
	KUNIT_CASE(every_context_is_encoded_differently),
	KUNIT_CASE(last_context_of_the_last_cpu_can_be_encoded),
	KUNIT_CASE(lock_is_one_word_of_8_bytes),
	KUNIT_CASE_PARAM(encoded_tail_is_decoded_to_its_node, index_gen_params),
	KUNIT_CASE(init_evaluates_its_argument_once),
	KUNIT_CASE(init_key_gives_the_lock_its_class),
	KUNIT_CASE(uncontended_acquisition_allocates_and_counts_nothing),
	KUNIT_CASE(newcomer_steals_a_free_lock),
	KUNIT_CASE(no_steal_when_the_handoff_is_requested),
	KUNIT_CASE_PARAM(newcomer_enqueues_and_has_a_heartbeat, enqueue_gen_params),
	KUNIT_CASE_PARAM(steal_when_a_requested_lock_stays_free, idle_gen_params),
	KUNIT_CASE(newcomer_enqueues_when_a_requested_lock_is_taken),
	KUNIT_CASE_PARAM(patient_head_requests_the_handoff_and_renews_it, patient_gen_params),
	KUNIT_CASE_PARAM(no_steal_from_a_head_that_was_patient, handoff_gen_params),
	KUNIT_CASE_PARAM(head_takes_the_lock_with_a_request_for_its_successor, take_gen_params),
	KUNIT_CASE(head_leaves_a_found_request_seven_times_in_eight),
	KUNIT_CASE_PARAM(steal_when_the_head_is_stalled, stall_gen_params),
	KUNIT_CASE(no_steal_by_an_interrupt_above_a_waiter_of_another_lock),
	KUNIT_CASE(request_outlives_a_waiter_that_gives_up),
	KUNIT_CASE(request_of_a_head_that_gives_up_stays),
	KUNIT_CASE_PARAM(waiter_acts_as_head_when_its_predecessor_is_stalled, check_gen_params),
	KUNIT_CASE_PARAM(successor_of_an_aborted_acting_head_checks_the_same_head,
			 successor_gen_params),
	KUNIT_CASE(acting_head_waits_again_behind_a_running_predecessor),
	KUNIT_CASE_PARAM(acting_head_requests_the_handoff_and_a_waiter_does_not,
			 request_gen_params),
	KUNIT_CASE_PARAM(lock_whose_tail_is_a_former_head_is_taken_by_the_next, former_gen_params),
	KUNIT_CASE(lock_whose_tail_is_a_former_head_is_destroyed_without_a_leak),
	KUNIT_CASE(attempt_without_a_node_waits_outside_the_queue),
	KUNIT_CASE(attempt_without_a_node_takes_a_lock_that_becomes_free),
	KUNIT_CASE(free_lock_needs_no_node),
	KUNIT_CASE(attempt_without_a_node_steals_as_a_newcomer),
	KUNIT_CASE(node_that_cannot_be_encoded_is_not_used),
	KUNIT_CASE(encodable_node_is_found_behind_a_hint_that_is_not),
	KUNIT_CASE(pool_without_a_free_node_is_searched_once_in_two_reads),
	KUNIT_CASE(timeout_at_the_head_abandons_its_node),
	KUNIT_CASE_PARAM(holder_that_would_wait_for_itself_fails_without_a_node, own_gen_params),
	{}
};

static struct kunit_suite spin_suite = {
	.name = "nbq_spin",
	.init = nbq_spin_bench_init,
	.exit = nbq_bench_exit,
	.test_cases = spin_cases,
};

kunit_test_suite(spin_suite);
