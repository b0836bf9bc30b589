// SPDX-License-Identifier: GPL-2.0
/*
 * The hybrid: which context takes the lock, and when. The operations, with other contexts that
 * move in the middle of a read of the clock, and what a user sees of that: which attempt has
 * the lock, at what time of the clock, and what is counted.
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
#include "../nbqlock/spin_queue.h"
#include "common.h"

static struct nbq_spin *lock_of(struct kunit *test)
{
	return nbq_lock(test);
}

static struct nbq_node *tail_of(struct kunit *test)
{
	struct nbq_fixture *fixture = test->priv;

	return fixture->type->tail(fixture->lock);
}

static struct nbq_node *enqueue(struct kunit *test, struct nbq_node *node)
{
	return nbq_spin_enqueue(&lock_of(test)->bare, nbq_tail_of(lock_of(test)), node);
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

static void lock_is_one_word_of_4_bytes(struct kunit *test)
{
	union nbq_spin_state one = { .holder = 1 };

	KUNIT_EXPECT_EQ(test, sizeof(union nbq_bare_spin), 4);
#ifndef CONFIG_DEBUG_LOCK_ALLOC
	KUNIT_EXPECT_EQ(test, sizeof(struct nbq_spin), 4);
#endif
	/* The inlined acquisition swaps in a holder alone. */
	KUNIT_EXPECT_EQ(test, one.all, 1);
}

/* The most that a pool may begin with */
#define MOST_ENCODABLE	(U16_MAX + 1)

static const unsigned int indices[] = { 0, 1, 4095, 32768, U16_MAX };

static void encoded_tail_is_decoded_to_its_node(struct kunit *test)
{
	struct nbq_fixture *fixture = test->priv;
	u32 *tail = nbq_tail_of(lock_of(test));
	struct nbq_encodable *many;
	struct nbq_node *w, *x;
	unsigned int i;

	many = kunit_kzalloc(test, struct_size(many, nodes, MOST_ENCODABLE), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, many);
	many->size = MOST_ENCODABLE;
	for (i = 0; i < ARRAY_SIZE(indices); i++) {
		nbq_fixture_fill(fixture, NBQ_FIXTURE_NODES);
		memcpy(many->nodes, fixture->encodable->nodes,
		       NBQ_FIXTURE_NODES * sizeof(many->nodes[0]));
		fixture->pool.encodable = many;
		w = nbq_fixture_alloc(test);
		w->index = indices[i];
		many->nodes[w->index] = w;

		/* before: []; in between: w x; after: [] */
		KUNIT_EXPECT_NULL(test, enqueue(test, w));
		x = nbq_fixture_alloc(test);
		KUNIT_EXPECT_PTR_EQ(test, enqueue(test, x), w);
		KUNIT_EXPECT_TRUE(test, nbq_spin_abandon(tail, x, w, NULL));
		KUNIT_EXPECT_TRUE(test, nbq_spin_dequeue_head(tail, w, false));
	}
}

/* Making one */

static void init_evaluates_its_argument_once(struct kunit *test)
{
	struct nbq_spin locks[2], *next = locks;

	memset(locks, 0x6b, sizeof(locks));
	nbq_spin_init(next++);
	KUNIT_EXPECT_PTR_EQ(test, next, locks + 1);
	KUNIT_EXPECT_EQ(test, locks[0].state.all, 0);
	/* The other one is as it was. */
	KUNIT_EXPECT_EQ(test, locks[1].state.all, 0x6b6b6b6b);
}

static void init_key_gives_the_lock_its_class(struct kunit *test)
{
	static struct lock_class_key key;
	struct nbq_spin lock;

	memset(&lock, 0x6b, sizeof(lock));
	nbq_spin_init_key(&lock, "a_name", &key);
	KUNIT_EXPECT_EQ(test, lock.state.all, 0);
#ifdef CONFIG_DEBUG_LOCK_ALLOC
	KUNIT_EXPECT_PTR_EQ(test, lock.dep_map.key, &key);
	KUNIT_EXPECT_STREQ(test, lock.dep_map.name, "a_name");
#endif
}

/* A lock that no other context wants */

static void uncontended_acquisition_allocates_and_counts_nothing(struct kunit *test)
{
	union nbq_spin_state held;
	struct nbq_fixture *fixture = test->priv;
	unsigned int in_use;
	u16 me;
	int ret;

	nbq_fake_start(1000, 10);
	ret = nbq_spin_lock_timeout(lock_of(test), 100);
	held = lock_of(test)->state;
	me = nbq_context_of(nbq_this_pool());
	in_use = nbq_nodes_in_use(fixture);
	if (!ret)
		nbq_spin_unlock(lock_of(test));

	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_EQ(test, held.holder, me);
	KUNIT_EXPECT_EQ(test, held.request, 0);
	KUNIT_EXPECT_EQ(test, lock_of(test)->state.all, 0);
	KUNIT_EXPECT_EQ(test, *nbq_tail_of(lock_of(test)), 0);
	KUNIT_EXPECT_EQ(test, in_use, 0);
	EXPECT_ENDED_AT_ONCE(test);
	EXPECT_TOTAL(test);
}

/* Which context takes it */

/* A head, and the lock is free: w */
static struct nbq_contender *free_lock_with_a_head(struct kunit *test)
{
	struct nbq_fixture *fixture = test->priv;
	struct nbq_contender *holder = nbq_fixture_enqueue(test);
	struct nbq_contender *w = nbq_fixture_enqueue(test);

	KUNIT_ASSERT_EQ(test, holder->state, HOLDING);
	KUNIT_ASSERT_EQ(test, w->state, WAITING);
	nbq_contender_release(fixture, holder);
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

	/* Before and after: w */
	KUNIT_EXPECT_TRUE(test, try_at_once(test));
	KUNIT_EXPECT_EQ(test, try_for(test, 0), 0);
	EXPECT_PICTURE(test, "W");
	EXPECT_TOTAL(test);

	/* W takes it when it polls; after: [] */
	KUNIT_EXPECT_TRUE(test, nbq_contender_poll(test->priv, w));
	nbq_contender_release(test->priv, w);
	EXPECT_PICTURE(test, ".");
}

/* A head has requested the handoff at this time. */
static void request_the_handoff(struct kunit *test, u64 now)
{
	nbq_request(lock_of(test), 0x80 | (now >> 13 & 0x7f));
}

static void start_with_a_request(struct kunit *test)
{
	nbq_fake_start(1000, 10);
	request_the_handoff(test, 1000);
}

static void no_steal_when_the_handoff_is_requested(struct kunit *test)
{
	struct nbq_contender *w = free_lock_with_a_head(test);

	start_with_a_request(test);

	/* Before and after: w */
	KUNIT_EXPECT_FALSE(test, try_at_once(test));
	KUNIT_EXPECT_EQ(test, try_for(test, 0), -EBUSY);
	KUNIT_EXPECT_FALSE(test, try_at_once(test));

	/* W takes it when it polls, and the next newcomer steals again */
	KUNIT_EXPECT_TRUE(test, nbq_contender_poll(test->priv, w));
	nbq_contender_release(test->priv, w);
	KUNIT_EXPECT_TRUE(test, try_at_once(test));
}

/* What another context does in the middle of reads of the clock */

/* Contexts that move in the middle of reads of the clock */
struct contenders {
	struct kunit *test;				/* the case */
	void (*act)(struct contenders *contenders);	/* what they do */
	bool acquired;					/* what a newcomer got */
};

static void act_once(void *arg)
{
	struct contenders *contenders = arg;

	contenders->act(contenders);
}

static void act_at_each(void *arg)
{
	struct contenders *contenders = arg;

	contenders->act(contenders);
	nbq_fake_call(0, act_at_each, contenders);
}

static void release(struct contenders *contenders)
{
	struct nbq_fixture *fixture = contenders->test->priv;

	nbq_contender_release(fixture, &fixture->contenders[0]);
}

/* The holder releases, and a newcomer is first to see it. */
static void release_to_a_newcomer(struct contenders *contenders)
{
	release(contenders);
	contenders->acquired = try_at_once(contenders->test);
}

/* The head, moved by hand, takes the free lock and releases it. */
static void head_comes_and_goes(struct contenders *contenders)
{
	struct nbq_fixture *fixture = contenders->test->priv;

	if (nbq_contender_poll(fixture, &fixture->contenders[1]))
		nbq_contender_release(fixture, &fixture->contenders[1]);
}

/* The times of nbqlock/spin_policy.h, stated once more: they are promised. */
#define PATIENT_NS		20000
#define IDLE_NS			2000
#define STALLED_NS		(50000 + NBQ_RELAX_MAX_NS)
#define CHECK_PRED_NS		(100000 + NBQ_RELAX_MAX_NS)

/* Wait with patience for ever: the clock is read when the waiter enqueues, and at each tick. */
static void wait_for_it(struct kunit *test)
{
	int ret = nbq_spin_lock_timeout(lock_of(test), KTIME_MAX);

	nbq_fake.call = NULL;
	if (!ret)
		nbq_spin_unlock(lock_of(test));
	KUNIT_EXPECT_EQ(test, ret, 0);
}

/* When a newcomer enqueues */

#define WATCH_NS		1000

/* What is seen of a newcomer in the middle of its reads */
struct watch {
	struct contenders contenders;	/* its part */
	/* What happens in the middle of the first, or NULL */
	void (*change)(struct kunit *test);
	u64 queued;			/* the time of the first that finds it in the queue */
	u64 heartbeat;			/* of its CPU then */
	u64 oldest;	/* the most that its CPU's heartbeat was behind from then on */
};

static void watch_the_newcomer(struct contenders *contenders)
{
	struct watch *watch = container_of(contenders, struct watch, contenders);
	struct nbq_pool *pool = nbq_this_pool();

	if (nbq_fake_last() == nbq_fake.start) {
		WRITE_ONCE(pool->heartbeat, 1);
		if (watch->change)
			watch->change(contenders->test);
	}
	if (!*nbq_tail_of(lock_of(contenders->test)))
		return;
	if (!watch->queued) {
		watch->queued = nbq_fake_last();
		watch->heartbeat = READ_ONCE(pool->heartbeat);
	}
	watch->oldest = max(watch->oldest, nbq_fake_last() - READ_ONCE(pool->heartbeat));
}

static void request_now(struct kunit *test)
{
	request_the_handoff(test, nbq_fake_last());
}

/* Return: the time at which it has enqueued. */
static u64 watch_with(struct kunit *test, void (*change)(struct kunit *test))
{
	struct watch watch = {
		.contenders = { .test = test, .act = watch_the_newcomer },
		.change = change,
	};

	nbq_forget_attempts();
	nbq_fake_start(1000, 10);
	nbq_fake_call(0, act_at_each, &watch.contenders);
	KUNIT_EXPECT_EQ(test, try_for(test, WATCH_NS), -ETIMEDOUT);
	nbq_fake.call = NULL;
	EXPECT_ENDED_AT(test, 1000 + WATCH_NS);
	EXPECT_TOTAL(test, .timeouts = 1, .nodes_allocated = 1, .nodes_freed = 1);
	/* It shows life when it enqueues, and in each 2 us from then on. */
	KUNIT_EXPECT_GE(test, watch.heartbeat, 1000);
	KUNIT_EXPECT_LE(test, watch.oldest, 2040);
	return watch.queued;
}

static void newcomer_enqueues_sooner_if_a_request_stands(struct kunit *test)
{
	u64 queued;

	nbq_fixture_hold(test);
	queued = watch_with(test, NULL);
	KUNIT_EXPECT_GT(test, queued, 1000);
	KUNIT_EXPECT_LT(test, watch_with(test, request_now), queued);
}

/* A newcomer at a free lock, for which a stalled head has requested the handoff */

static void expect_idle_for_long_enough(struct kunit *test)
{
	/* It reads the clock several times in a poll. */
	KUNIT_EXPECT_GE(test, nbq_fake_last(), 1000 + IDLE_NS);
	KUNIT_EXPECT_LE(test, nbq_fake_last(), 1000 + IDLE_NS + 5 * nbq_fake.step);
}

static void steal_when_a_requested_lock_stays_free(struct kunit *test)
{
	struct nbq_contender *w = free_lock_with_a_head(test);

	/* Before and after: w */
	start_with_a_request(test);
	wait_for_it(test);
	expect_idle_for_long_enough(test);
	EXPECT_TOTAL(test, .acquired_handoff = 1);
	EXPECT_PICTURE(test, "W");

	/* W goes on as if nothing had been */
	KUNIT_EXPECT_TRUE(test, nbq_contender_poll(test->priv, w));
	nbq_contender_release(test->priv, w);
}

static void take_and_release(struct contenders *contenders)
{
	struct nbq_fixture *fixture = contenders->test->priv;
	struct nbq_spin *lock = lock_of(contenders->test);

	if (nbq_fake_last() == 1300)
		lock->state.holder = nbq_context_of(&fixture->pool);
	else if (nbq_fake_last() == 1600)
		lock->state.holder = 0;
	else if (nbq_fake_last() == 1700)
		head_comes_and_goes(contenders);
}

static void newcomer_enqueues_when_a_requested_lock_is_taken(struct kunit *test)
{
	struct contenders contenders = { .test = test, .act = take_and_release };

	/* Before: w, and the lock is free; in between: w x; after: [] */
	free_lock_with_a_head(test);
	nbq_fake_start(1000, 100);
	request_the_handoff(test, 1000);
	nbq_fake_call(0, act_at_each, &contenders);
	wait_for_it(test);
	/* Outside, each poll would have read the clock, and have found the lock free. */
	EXPECT_ENDED_AT(test, 1700);
	EXPECT_TOTAL(test, .acquired_handoff = 1, .nodes_allocated = 1, .nodes_freed = 1,
		     .nodes_reclaimed = 1);
	KUNIT_EXPECT_EQ(test, *nbq_tail_of(lock_of(test)), 0);
}

/* When a head, enqueued by its second clock read, requests the handoff, and that it renews it */

static const struct handoff_case {
	const char *desc;
	u64 step;
	/* The time at which the lock becomes free, and whether a newcomer steals it then */
	u64 released;
	bool steals;
} handoff_cases[] = {
	{ "as_soon_as_it_has_a_node", 1000, 2000, true },
	{ "in_the_read_after_20000_ns", 1000, 2000 + PATIENT_NS, true },
	{ "after_20000_ns", 1000, 3000 + PATIENT_NS, false },
	{ "after_19980_ns", 999, 1000 + 22 * 999, true },
	{ "after_the_first_request_has_expired", 1000, 100000, false },
};

NBQ_ARRAY_PARAM(handoff, handoff_cases);

static void no_steal_from_a_head_that_was_patient(struct kunit *test)
{
	const struct handoff_case *handoff = test->param_value;
	struct contenders contenders = { .test = test, .act = release_to_a_newcomer };

	/* Before: w, of the operation's own; after: [] */
	nbq_fixture_hold(test);
	nbq_fake_start(1000, handoff->step);
	nbq_fake_call(handoff->released, act_once, &contenders);
	wait_for_it(test);
	EXPECT_ENDED_AT(test, handoff->released);
	KUNIT_EXPECT_EQ(test, contenders.acquired, handoff->steals);
	KUNIT_EXPECT_EQ(test, lock_of(test)->state.all, 0);
	EXPECT_TOTAL(test, .acquired_handoff = 1, .failed_tries = !contenders.acquired,
		     .nodes_allocated = 1, .nodes_freed = 1);
}

/* Whether a head that takes the lock leaves a request for its successor */

/* A head that takes the lock */
static const struct take_case {
	const char *desc;	/* what it is */
	u64 waits;		/* for how long in the queue, until the lock becomes free */
	bool followed;		/* another waiter enqueues just then */
	bool found;		/* another head has requested the handoff just then */
	bool steals;		/* a newcomer steals the lock when the head releases it */
} take_cases[] = {
	{ "patient_and_followed", PATIENT_NS, true, false, false },
	{ "patient_and_followed_with_a_request", PATIENT_NS, true, true, false },
	{ "patient", PATIENT_NS, false, false, true },
	{ "patient_with_a_request", PATIENT_NS, false, true, true },
	{ "followed", PATIENT_NS - 1000, true, false, true },
	{ "followed_with_a_request", PATIENT_NS - 1000, true, true, false },
	{ "with_a_request", PATIENT_NS - 1000, false, true, true },
};

NBQ_ARRAY_PARAM(take, take_cases);

struct taking {
	struct contenders contenders;
	const struct take_case *take;
};

static void release_to_the_head(struct contenders *contenders)
{
	const struct take_case *take = container_of(contenders, struct taking, contenders)->take;
	struct nbq_fixture *fixture = contenders->test->priv;

	if (take->followed)
		nbq_contender_enqueue(fixture, &fixture->contenders[1]);
	if (take->found)
		request_now(contenders->test);
	release(contenders);
}

/*
 * before: H; in between: H w x, w of the operation's own, enqueued at @start; after: A x. Return: a
 * newcomer steals.
 */
static bool take_as_head(struct kunit *test, const struct take_case *take, u64 start)
{
	struct taking taking = {
		.contenders = { .test = test, .act = release_to_the_head },
		.take = take,
	};
	struct nbq_fixture *fixture = test->priv;
	bool steals;

	nbq_fixture_hold(test);
	KUNIT_ASSERT_NOT_NULL(test, nbq_fixture_contender(fixture));
	nbq_fake_start(start - 1000, 1000);
	nbq_fake_call(start + take->waits, act_once, &taking.contenders);
	wait_for_it(test);
	EXPECT_ENDED_AT(test, start + take->waits);
	EXPECT_TOTAL(test, .acquired_handoff = 1, .nodes_allocated = 1,
		     .nodes_freed = !take->followed);
	/* Where nobody follows, the lock is as it was in the beginning. */
	if (!take->followed)
		KUNIT_EXPECT_EQ(test, lock_of(test)->state.all, 0);
	steals = try_at_once(test);
	/* X is the head now, and takes the lock when it polls */
	if (take->followed) {
		KUNIT_EXPECT_TRUE(test, nbq_contender_poll(fixture, &fixture->contenders[1]));
		nbq_contender_release(fixture, &fixture->contenders[1]);
	}
	nbq_read_events(&fixture->total);
	return steals;
}

static void head_takes_the_lock_with_a_request_for_its_successor(struct kunit *test)
{
	const struct take_case *take = test->param_value;

	KUNIT_EXPECT_EQ(test, take_as_head(test, take, 2000), take->steals);
}

/* By bits 4 to 6 of the time at which it has enqueued */
static void head_leaves_a_found_request_seven_times_in_eight(struct kunit *test)
{
	static const struct take_case take = { .waits = 1000, .followed = true, .found = true };
	unsigned int i;

	for (i = 0; i < 16; i++) {
		nbq_fixture_fill(test->priv, NBQ_FIXTURE_NODES);
		KUNIT_EXPECT_EQ_MSG(test, take_as_head(test, &take, 1024 + 16 * i + 15),
				    i % 8 == 0, "%u", i);
	}
}

/* A head that has requested the handoff, and is stalled when the lock becomes free */

/* The clock of newcomers, which poll once in 50 ns where they check the request */
#define NEWCOMER_STEP		25
/* More reads than one makes that gives up or finds the lock to be idle */
#define NEWCOMER_READS		130

/* A newcomer at a lock that is free, but for a stalled head */
static const struct stall_case {
	const char *desc;	/* what it is */
	u64 start;		/* the clock when the head comes */
	ktime_t patience;	/* of the newcomer */
	bool expired;		/* it comes when the request has just expired; else just before */
	/* It interrupts the head; else it comes above it at its own level, and is nested */
	bool nmi;
	int ret;		/* what it gets */
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

NBQ_ARRAY_PARAM(stall, stall_cases);

/* What contenders do while the head is stalled */
struct stall {
	struct contenders contenders;	/* its part */
	ktime_t patience;		/* of the newcomer */
	u64 comes_at;			/* the time at which it comes */
	bool nmi;			/* the newcomer interrupts the head */
	int ret;			/* what it got */
};

static void try_above(void *arg)
{
	struct stall *stall = arg;

	stall->ret = try_for(stall->contenders.test, stall->patience);
}

static void release_and_stall(struct contenders *contenders)
{
	struct stall *stall = container_of(contenders, struct stall, contenders);

	release(contenders);
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
	const struct stall_case *newcomer = test->param_value;
	struct nbq_fixture *fixture = test->priv;
	struct stall stall = {
		.contenders = { .test = test, .act = release_and_stall },
		.patience = newcomer->patience,
		.nmi = newcomer->nmi,
	};
	u64 request, expiry;

	/* Newcomers are in the head's own context, to lockdep. */
	fixture->type->notrack(fixture->lock);
	nbq_fixture_hold(test);
	nbq_fake_start(newcomer->start, 1000);
	request = newcomer->start + 1000 + PATIENT_NS;
	nbq_fake_call(request + 1000, act_once, &stall.contenders);
	expiry = ((request >> 13) + 3) << 13;
	KUNIT_EXPECT_LE(test, expiry, request + NBQ_SPIN_HANDOFF_NS);
	stall.comes_at = expiry;
	if (!newcomer->expired)
		stall.comes_at -= 1 + (newcomer->patience ? NEWCOMER_READS * NEWCOMER_STEP : 0);

	/* Before: w, of the operation's own, which requests and is stalled; after: [] */
	wait_for_it(test);
	KUNIT_EXPECT_EQ(test, stall.ret, newcomer->ret);
	KUNIT_EXPECT_EQ(test, lock_of(test)->state.handoff, 0);
	KUNIT_EXPECT_EQ(test, *nbq_tail_of(lock_of(test)), 0);
}

/* Two locks: the CPU waits for one, and what interrupts it tries the other one. */
struct other_lock {
	struct contenders contenders;
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

static void nmi_tries_other_lock(struct contenders *contenders)
{
	nbq_as_nmi(try_other_lock, container_of(contenders, struct other_lock, contenders));
}

static void no_steal_by_an_interrupt_above_a_waiter_of_another_lock(struct kunit *test)
{
	struct nbq_fixture *fixture = test->priv;
	struct other_lock *other;
	struct nbq_node *w;

	other = kunit_kzalloc(test, sizeof(*other), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, other);
	other->lock = nbq_new_lock(test, fixture->type);
	nbq_init_untracked(fixture->type, other->lock);
	other->contenders.test = test;
	other->contenders.act = nmi_tries_other_lock;
	other->acquired = true;
	w = nbq_fixture_alloc(test);
	nbq_spin_enqueue(&other->lock->bare, nbq_tail_of(other->lock), w);
	nbq_request(other->lock, 0x80);

	/* Before and after: w, elsewhere */
	nbq_fixture_hold(test);
	nbq_fake_start(1000, 10);
	nbq_fake_call(1020, act_once, &other->contenders);
	KUNIT_EXPECT_EQ(test, try_for(test, 100), -ETIMEDOUT);
	KUNIT_EXPECT_FALSE(test, other->acquired);
	KUNIT_EXPECT_TRUE(test, nbq_spin_dequeue_head(nbq_tail_of(other->lock), w, false));
}

static void request_outlives_a_waiter_that_gives_up(struct kunit *test)
{
	struct nbq_fixture *fixture = test->priv;
	struct nbq_contender *w;
	bool acquired;

	/* Before: H w, and w has requested the handoff */
	nbq_fixture_hold(test);
	w = nbq_fixture_enqueue(test);
	start_with_a_request(test);

	/* In between: H w x, and x gives up; after: H w */
	KUNIT_EXPECT_EQ(test, try_for(test, 990), -ETIMEDOUT);
	EXPECT_PICTURE(test, "W");

	/* W would have the lock */
	nbq_contender_release(fixture, &fixture->contenders[0]);
	acquired = try_at_once(test);
	KUNIT_EXPECT_FALSE(test, acquired);
	KUNIT_EXPECT_TRUE(test, nbq_contender_poll(fixture, w));
	nbq_contender_release(fixture, w);
	KUNIT_EXPECT_TRUE(test, try_at_once(test));
}

/* It may be another one's by then: it is left to expire, and void without a queue. */
static void request_of_a_head_that_gives_up_is_void_without_a_queue(struct kunit *test)
{
	/* Before: H; in between: H w, which requests the handoff; after: H */
	nbq_fixture_hold(test);
	nbq_fake_start(1000, 1000);
	KUNIT_EXPECT_EQ(test, try_for(test, 30000), -ETIMEDOUT);
	EXPECT_ENDED_AT(test, 31000);
	EXPECT_TOTAL(test, .timeouts = 1, .nodes_allocated = 1, .nodes_freed = 1);

	lock_of(test)->state.holder = 0;
	KUNIT_EXPECT_TRUE(test, try_at_once(test));
	KUNIT_EXPECT_EQ(test, lock_of(test)->state.all, 0);
}

/* A waiter whose predecessor is stalled, or is not */

/* When these waiters enqueue: their ticks are at multiples of the step from here on. */
#define ENQUEUED_AT		1000000
/* A time by which each of these cases is over: the head goes on */
#define HEAD_GOES_ON		(ENQUEUED_AT + 60 * STEP)
/* From tick to tick, in most cases */
#define STEP			10000

/* The turn of others beside a waiter that may act for the head */
struct acting {
	struct contenders contenders;	/* their part */
	u64 released_at;		/* the time at which the holder releases */
	bool released;			/* it has */
	bool aborts;	/* its predecessor abandons its node just then, behind another waiter */
	bool revives;	/* the heartbeats of the waiters in front are fresh from then on */
};

/* The head goes on in the end, so that the waiter gets the lock. */
static void move_in_front(struct contenders *contenders)
{
	struct acting *acting = container_of(contenders, struct acting, contenders);
	struct nbq_fixture *fixture = contenders->test->priv;
	u64 now = nbq_fake_last();

	if (now >= acting->released_at && !acting->released) {
		acting->released = true;
		release_to_a_newcomer(contenders);
		if (acting->aborts)
			nbq_contender_abandon(fixture, &fixture->contenders[2]);
	}
	if (acting->revives && acting->released)
		fixture->pool.heartbeat = nbq_fake.now;
	if (now >= HEAD_GOES_ON && fixture->contenders[1].state == WAITING)
		head_comes_and_goes(contenders);
}

/* before: H w, or H w x; the operation's own waiter is behind these. */
static void wait_behind_the_head(struct kunit *test, struct acting *acting, s64 heartbeat, u64 step)
{
	struct nbq_fixture *fixture = test->priv;

	acting->contenders.test = test;
	acting->contenders.act = move_in_front;
	nbq_fixture_hold(test);
	nbq_fixture_enqueue(test);
	if (acting->aborts)
		nbq_fixture_enqueue(test);
	fixture->pool.heartbeat = ENQUEUED_AT + heartbeat;
	nbq_fake_start(ENQUEUED_AT, step);
	nbq_fake_call(0, act_at_each, &acting->contenders);
	wait_for_it(test);
	KUNIT_EXPECT_FALSE(test, nbq_spin_is_locked(lock_of(test)));
}

/* It has acted for the head from that tick on, or never: 0. Then, the head stays in the queue. */
static void expect_acting(struct kunit *test, unsigned int tick)
{
	struct nbq_fixture *fixture = test->priv;

	EXPECT_ENDED_AT(test, tick ? ENQUEUED_AT + tick * nbq_fake.step : HEAD_GOES_ON);
	KUNIT_EXPECT_EQ(test, nbq_is_free(fixture->contenders[1].node), !tick);
	if (!tick)
		return;
	KUNIT_EXPECT_PTR_EQ(test, tail_of(test), fixture->contenders[1].node);
	KUNIT_EXPECT_TRUE(test, nbq_contender_poll(fixture, &fixture->contenders[1]));
	nbq_contender_release(fixture, &fixture->contenders[1]);
}

/* A predecessor is checked at each of so many ticks. */
#define TICKS_TO_CHECK		(CHECK_PRED_NS / STEP)
static_assert(CHECK_PRED_NS % STEP == 0);

/* The head in front of a waiter, at a free lock */
static const struct check_case {
	const char *desc;	/* what it is */
	u64 step;		/* from tick to tick */
	s64 heartbeat;		/* of its CPU, from the time at which the waiter enqueues */
	bool revives;		/* it shows life at each read */
	/* The tick of the waiter at which it acts for the head; 0: it does not */
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

NBQ_ARRAY_PARAM(check, check_cases);

static void waiter_acts_as_head_when_its_predecessor_is_stalled(struct kunit *test)
{
	const struct check_case *check = test->param_value;
	struct acting acting = {
		.released_at = ENQUEUED_AT + check->step,
		.revives = check->revives,
	};

	/* Before: H w; in between: w x; after: w, or [] */
	wait_behind_the_head(test, &acting, check->heartbeat, check->step);
	EXPECT_TOTAL(test, .acquired_handoff = 1, .nodes_allocated = 1, .nodes_freed = 1,
		     .nodes_reclaimed = !check->tick);
	expect_acting(test, check->tick);
}

static const struct check_case successor_cases[] = {
	{ "stalled", STEP, 2 * STEP - STALLED_NS, false, 2 },
	{ "running_until_the_next_check", STEP, 2 * STEP - STALLED_NS + 1, false,
	  TICKS_TO_CHECK + 2 },
	{ "running", STEP, -STALLED_NS, true, 0 },
};

NBQ_ARRAY_PARAM(successor, successor_cases);

static void successor_of_an_aborted_acting_head_checks_the_same_head(struct kunit *test)
{
	const struct check_case *check = test->param_value;
	struct acting acting = {
		.released_at = ENQUEUED_AT + 2 * STEP,
		.aborts = true,
		.revives = check->revives,
	};

	/* Before: H w x; in between: w x y, w L y, w y; after: w, or [] */
	wait_behind_the_head(test, &acting, check->heartbeat, check->step);
	EXPECT_TOTAL(test, .acquired_handoff = 1, .nodes_allocated = 1, .nodes_freed = 1,
		     .nodes_reclaimed = 1 + !check->tick);
	expect_acting(test, check->tick);
}

/* When its predecessor aborts and the next one runs, it does not poll the lock. */
static void acting_head_waits_again_behind_a_running_predecessor(struct kunit *test)
{
	struct acting acting = {
		.released_at = ENQUEUED_AT + (TICKS_TO_CHECK + 2) * STEP,
		.aborts = true,
		.revives = true,
	};

	/* Before: H w x; in between: H w x y, y acting since its check, w y; after: [] */
	wait_behind_the_head(test, &acting, -STALLED_NS, STEP);
	expect_acting(test, 0);
}

static const struct check_case request_cases[] = {
	{ "acting", STEP, -STALLED_NS, false, 30 },
	{ "waiting", STEP, 1000000, false, 0 },
};

NBQ_ARRAY_PARAM(request, request_cases);

static void acting_head_requests_the_handoff_and_a_waiter_does_not(struct kunit *test)
{
	const struct check_case *check = test->param_value;
	struct acting acting = { .released_at = ENQUEUED_AT + 30 * STEP };

	/* Before: H w; in between: H w x; after: w, or [] */
	wait_behind_the_head(test, &acting, check->heartbeat, check->step);
	KUNIT_EXPECT_EQ(test, acting.contenders.acquired, !check->tick);
	expect_acting(test, check->tick);
}

/* Without a node */

/* What a CPU's pool consists of for one attempt */
struct nodes {
	unsigned int encodable;	/* how many of its nodes can be encoded; they come first */
	unsigned int size;	/* how many it has, or 0 */
	unsigned int hint;	/* which of them was taken last */
	u64 freed_at;		/* the first of them is in use until then; 0: it is free */
};

static void free_node(void *node)
{
	nbq_node_free(node);
}

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
	if (nodes->freed_at) {
		node[0].alloc_seq += NBQ_ALLOC_STEP;
		nbq_fake_call(nodes->freed_at, free_node, &node[0]);
	}
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

	/* Before and after: H */
	nbq_fixture_hold(test);
	nbq_fake_start(1000, 10);
	KUNIT_EXPECT_EQ(test, try_with_nodes(test, &none, 100), -ETIMEDOUT);
	EXPECT_ENDED_AT(test, 1100);
	KUNIT_EXPECT_EQ(test, *nbq_tail_of(lock_of(test)), 0);
	EXPECT_TOTAL(test, .exhaustions = 1, .timeouts = 1);
}

static void attempt_without_a_node_takes_a_lock_that_becomes_free(struct kunit *test)
{
	struct contenders contenders = { .test = test, .act = release };
	static const struct nodes none;

	/* Before: H, which releases at 1050; after: [] */
	nbq_fixture_hold(test);
	nbq_fake_start(1000, 10);
	nbq_fake_call(1050, act_once, &contenders);
	KUNIT_EXPECT_EQ(test, try_with_nodes(test, &none, 100), 0);
	EXPECT_ENDED_AT(test, 1050);
	EXPECT_TOTAL(test, .acquired_handoff = 1, .exhaustions = 1);
}

static void node_that_cannot_be_encoded_is_not_used(struct kunit *test)
{
	static const struct nodes grown = { .encodable = 0, .size = 1 };

	/* Before and after: H */
	nbq_fixture_hold(test);
	nbq_fake_start(1000, 10);
	KUNIT_EXPECT_EQ(test, try_with_nodes(test, &grown, 100), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, *nbq_tail_of(lock_of(test)), 0);
}

static void encodable_node_is_found_behind_a_hint_that_is_not(struct kunit *test)
{
	static const struct nodes mixed = { .encodable = 1, .size = 2, .hint = 1 };

	/* Before and after: H */
	nbq_fixture_hold(test);
	nbq_fake_start(1000, 10);
	KUNIT_EXPECT_EQ(test, try_with_nodes(test, &mixed, 70), -ETIMEDOUT);
	EXPECT_TOTAL(test, .timeouts = 1, .nodes_allocated = 1, .nodes_freed = 1);
}

static void node_that_becomes_free_meanwhile_is_used(struct kunit *test)
{
	static const struct nodes used = { .encodable = 1, .size = 1, .freed_at = 1050 };

	/* before and after: H */
	nbq_fixture_hold(test);
	nbq_fake_start(1000, 10);
	KUNIT_EXPECT_EQ(test, try_with_nodes(test, &used, 200), -ETIMEDOUT);
	EXPECT_ENDED_AT(test, 1200);
	EXPECT_TOTAL(test, .timeouts = 1, .nodes_allocated = 1, .nodes_freed = 1, .exhaustions = 1);
}

/* A holder that never comes back: on the fixture's CPU, which never runs */

/* Held, with a head behind the holder: w */
static struct nbq_contender *held_for_good_with_a_head(struct kunit *test)
{
	struct nbq_contender *w;

	nbq_fixture_hold(test);
	w = nbq_fixture_enqueue(test);
	KUNIT_ASSERT_EQ(test, w->state, WAITING);
	return w;
}

static int take_over(struct kunit *test, int cpu, enum nbq_level level)
{
	struct nbq_timeout info = { .holder_cpu = cpu, .holder_level = level };

	return nbq_spin_takeover(lock_of(test), &info);
}

static void takeover_is_from_the_named_holder_alone(struct kunit *test)
{
	struct nbq_context before = nbq_context_now(), after;
	union nbq_spin_state held, state;
	struct nbq_timeout info;
	int ret;

	KUNIT_EXPECT_EQ(test, take_over(test, nr_cpu_ids, NBQ_NMI), -ESTALE);
	KUNIT_EXPECT_EQ(test, lock_of(test)->state.all, 0);

	/* Before and after: w */
	held_for_good_with_a_head(test);
	nbq_fake_start(1000, 10);
	request_the_handoff(test, 1000);
	held = lock_of(test)->state;
	KUNIT_EXPECT_EQ(test, take_over(test, 0, NBQ_NMI), -ESTALE);
	KUNIT_EXPECT_EQ(test, take_over(test, nr_cpu_ids, NBQ_TASK), -ESTALE);
	KUNIT_EXPECT_EQ(test, take_over(test, -1, NBQ_TASK), -EINVAL);
	KUNIT_EXPECT_EQ(test, lock_of(test)->state.all, held.all);
	after = nbq_context_now();
	KUNIT_EXPECT_EQ(test, after.preempt, before.preempt);

	/* The named one: the request and the queue stay. */
	KUNIT_EXPECT_EQ(test, nbq_spin_lock_timeout_info(lock_of(test), 0, &info), -EBUSY);
	ret = nbq_spin_takeover(lock_of(test), &info);
	state = lock_of(test)->state;
	after = nbq_context_now();
	KUNIT_EXPECT_EQ(test, state.holder, nbq_context_of(nbq_this_pool()));
	/* Once only. */
	KUNIT_EXPECT_EQ(test, nbq_spin_takeover(lock_of(test), &info), -ESTALE);
	if (!ret)
		nbq_spin_unlock(lock_of(test));
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_EQ(test, state.request, held.request);
	KUNIT_EXPECT_EQ(test, after.preempt, before.preempt + IS_ENABLED(CONFIG_PREEMPT_COUNT));
	EXPECT_PICTURE(test, "W");
}

static void waiters_go_on_behind_a_takeover(struct kunit *test)
{
	struct nbq_contender *w = held_for_good_with_a_head(test);

	KUNIT_EXPECT_FALSE(test, nbq_contender_poll(test->priv, w));
	KUNIT_ASSERT_EQ(test, take_over(test, nr_cpu_ids, NBQ_NMI), 0);
	KUNIT_EXPECT_FALSE(test, nbq_contender_poll(test->priv, w));
	nbq_spin_unlock(lock_of(test));

	/* A newcomer, then w; after: [] */
	KUNIT_EXPECT_TRUE(test, try_at_once(test));
	KUNIT_EXPECT_TRUE(test, nbq_contender_poll(test->priv, w));
	nbq_contender_release(test->priv, w);
	EXPECT_PICTURE(test, ".");
}

/* An NMI takes the lock over from the context that it has interrupted, and releases it. */
static void take_over_and_release(void *arg)
{
	struct kunit *test = arg;

	if (!take_over(test, raw_smp_processor_id(), NBQ_TASK))
		nbq_spin_unlock(lock_of(test));
}

static void late_unlock_is_reported_and_changes_nothing(struct kunit *test)
{
	struct nbq_fixture *fixture = test->priv;
	union nbq_spin_state after_nmi, taken, after;
	u16 me;

	if (!nbq_type(test)->traits->checks_unlock)
		kunit_skip(test, "without CONFIG_DEBUG_SPINLOCK, it breaks the lock");
	nbq_provoke_report(test, NBQ_NOT_HELD_REPORT);
	nbq_spin_lock(lock_of(test));
	me = nbq_context_of(nbq_this_pool());
	nbq_as_nmi(take_over_and_release, test);
	after_nmi = lock_of(test)->state;
	nbq_spin_unlock(lock_of(test));

	/* The fixture's CPU takes it over from this one. */
	nbq_provoke_report(test, NBQ_NOT_OWNER_REPORT);
	taken.all = 0;
	taken.holder = nbq_context_of(&fixture->pool);
	WRITE_ONCE(lock_of(test)->state.all, taken.all);
	nbq_spin_unlock(lock_of(test));
	after = lock_of(test)->state;

	/* As it was before. */
	lock_of(test)->state.holder = me;
	nbq_spin_unlock(lock_of(test));
	KUNIT_EXPECT_EQ(test, after_nmi.all, 0);
	KUNIT_EXPECT_EQ(test, after.all, taken.all);
}

/* Attempts with patience, once a panic has stopped the other CPUs, or before */
static void expect_of_attempts(struct kunit *test, bool stopped, int ret)
{
	struct nbq_timeout info = { .holder_cpu = -1 };
	int by_info, until;

	nbq_fake_start(1000, 10);
	nbq_cpus_stopped = stopped;
	by_info = nbq_spin_lock_timeout_info(lock_of(test), 500, &info);
	until = nbq_spin_lock_until(lock_of(test), nbq_fake.now + 500);
	nbq_cpus_stopped = false;
	KUNIT_EXPECT_EQ(test, by_info, ret);
	KUNIT_EXPECT_EQ(test, until, ret);
	KUNIT_EXPECT_EQ(test, info.holder_cpu, nr_cpu_ids);
	KUNIT_EXPECT_EQ(test, info.holder_level, NBQ_NMI);
}

static void panic_ends_waits_for_a_stopped_cpu(struct kunit *test)
{
	struct nbq_contender *w = held_for_good_with_a_head(test);
	int ret;

	/* Before and after: w */
	expect_of_attempts(test, false, -ETIMEDOUT);
	KUNIT_EXPECT_GE(test, nbq_fake_last(), 2000);
	expect_of_attempts(test, true, -EOWNERDEAD);
	KUNIT_EXPECT_LT(test, nbq_fake_last(), 1100);
	/* One enqueues at once, as the one before was late. */
	EXPECT_TOTAL(test, .timeouts = 2, .deadlocks = 2, .nodes_allocated = 3, .nodes_freed = 3);
	EXPECT_PICTURE(test, "W");

	nbq_cpus_stopped = true;
	KUNIT_EXPECT_FALSE(test, try_at_once(test));
	KUNIT_EXPECT_EQ(test, try_for(test, 0), -EBUSY);
	nbq_cpus_stopped = false;

	/* The rest of the idiom */
	KUNIT_ASSERT_EQ(test, take_over(test, nr_cpu_ids, NBQ_NMI), 0);
	nbq_spin_unlock(lock_of(test));

	/* Free, and kept for w: no context holds it. */
	nbq_fake_start(1000, 10);
	request_the_handoff(test, 1000);
	nbq_cpus_stopped = true;
	ret = nbq_spin_lock_timeout(lock_of(test), 500);
	nbq_cpus_stopped = false;
	KUNIT_EXPECT_EQ(test, ret, -ETIMEDOUT);
	KUNIT_EXPECT_TRUE(test, nbq_contender_poll(test->priv, w));
	nbq_contender_release(test->priv, w);
}

/* The holder is a task of a CPU that is online. */
static void panic_ends_no_wait_for_a_running_cpu(struct kunit *test)
{
	union nbq_spin_state held = {};
	int ret;

	migrate_disable();
	held.holder = nbq_encode_context(nbq_other_cpu(test), NBQ_TASK);
	WRITE_ONCE(lock_of(test)->state.all, held.all);
	nbq_fake_start(1000, 10);
	nbq_cpus_stopped = true;
	ret = try_for(test, 500);
	nbq_cpus_stopped = false;
	WRITE_ONCE(lock_of(test)->state.all, 0);
	migrate_enable();
	KUNIT_EXPECT_EQ(test, ret, -ETIMEDOUT);
	EXPECT_ENDED_AT(test, 1500);
}

static struct kunit_case spin_cases[] = {
	KUNIT_CASE(every_context_is_encoded_differently),
	KUNIT_CASE(lock_is_one_word_of_4_bytes),
	KUNIT_CASE(encoded_tail_is_decoded_to_its_node),
	KUNIT_CASE(init_evaluates_its_argument_once),
	KUNIT_CASE(init_key_gives_the_lock_its_class),
	KUNIT_CASE(uncontended_acquisition_allocates_and_counts_nothing),
	KUNIT_CASE(newcomer_steals_a_free_lock),
	KUNIT_CASE(no_steal_when_the_handoff_is_requested),
	KUNIT_CASE(newcomer_enqueues_sooner_if_a_request_stands),
	KUNIT_CASE(steal_when_a_requested_lock_stays_free),
	KUNIT_CASE(newcomer_enqueues_when_a_requested_lock_is_taken),
	KUNIT_CASE_PARAM(no_steal_from_a_head_that_was_patient, handoff_gen_params),
	KUNIT_CASE_PARAM(head_takes_the_lock_with_a_request_for_its_successor, take_gen_params),
	KUNIT_CASE(head_leaves_a_found_request_seven_times_in_eight),
	KUNIT_CASE_PARAM(steal_when_the_head_is_stalled, stall_gen_params),
	KUNIT_CASE(no_steal_by_an_interrupt_above_a_waiter_of_another_lock),
	KUNIT_CASE(request_outlives_a_waiter_that_gives_up),
	KUNIT_CASE(request_of_a_head_that_gives_up_is_void_without_a_queue),
	KUNIT_CASE_PARAM(waiter_acts_as_head_when_its_predecessor_is_stalled, check_gen_params),
	KUNIT_CASE_PARAM(successor_of_an_aborted_acting_head_checks_the_same_head,
			 successor_gen_params),
	KUNIT_CASE(acting_head_waits_again_behind_a_running_predecessor),
	KUNIT_CASE_PARAM(acting_head_requests_the_handoff_and_a_waiter_does_not,
			 request_gen_params),
	KUNIT_CASE(attempt_without_a_node_waits_outside_the_queue),
	KUNIT_CASE(attempt_without_a_node_takes_a_lock_that_becomes_free),
	KUNIT_CASE(node_that_cannot_be_encoded_is_not_used),
	KUNIT_CASE(encodable_node_is_found_behind_a_hint_that_is_not),
	KUNIT_CASE(node_that_becomes_free_meanwhile_is_used),
	KUNIT_CASE(takeover_is_from_the_named_holder_alone),
	KUNIT_CASE(waiters_go_on_behind_a_takeover),
	KUNIT_CASE(late_unlock_is_reported_and_changes_nothing),
	KUNIT_CASE(panic_ends_waits_for_a_stopped_cpu),
	KUNIT_CASE(panic_ends_no_wait_for_a_running_cpu),
	{}
};

static struct kunit_suite spin_suite = {
	.name = "nbq_spin",
	.init = nbq_fixture_init_spin,
	.exit = nbq_fixture_exit,
	.test_cases = spin_cases,
};

kunit_test_suite(spin_suite);
