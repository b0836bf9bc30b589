// SPDX-License-Identifier: GPL-2.0
/*
 * The public operations of every lock type, in one context: patience, the clock,
 * abandoned nodes, the advisory queries, and misuse. Preemption, interrupts and bottom
 * halves: contexts_test.c.
 *
 * Other contexts in the queue are moved by hand, before the operation or in the middle of a
 * clock read. Pictures are of their nodes, see EXPECT_SHAPE(): the operation's own comes
 * from the pool of the CPU.
 *
 * The types differ in the node that is abandoned or released as the tail: it stays for the
 * next context to find, or it is freed; and in which contexts have a node and are counted: all,
 * or only waiters, at once or, where newcomers steal, after a while.
 */
#include <linux/irqflags.h>
#include <linux/preempt.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "../nbqlock/relax.h"
#include "common.h"

/* 1 where a node that is abandoned as the tail stays in the queue, else 0 */
static unsigned int stays(struct kunit *test)
{
	return nbq_type(test)->traits->tail_stays;
}

/* The reverse */
static unsigned int goes(struct kunit *test)
{
	return !stays(test);
}

/* Nodes of a holder, which stay in the lock when it is released */
static unsigned int holders_nodes(struct kunit *test)
{
	return nbq_type(test)->traits->holder_nodes;
}

/* One timeout of a tail, with so many nodes */
#define EXPECT_TIMEOUT(test, nodes)					\
	EXPECT_TOTAL(test, .timeouts = 1, .nodes_allocated = nodes,	\
		     .nodes_freed = (nodes) * goes(test), .nodes_abandoned = stays(test))

/* Unlock at once, so that the case may go on and fail as it likes. */
static int unlock_if_acquired(struct kunit *test, int ret)
{
	if (!ret)
		nbq_type(test)->unlock(nbq_lock(test));
	return ret;
}

static int try_for(struct kunit *test, ktime_t patience)
{
	return unlock_if_acquired(test, nbq_type(test)->lock_timeout(nbq_lock(test), patience));
}

static int try_until(struct kunit *test, ktime_t deadline)
{
	return unlock_if_acquired(test, nbq_type(test)->lock_until(nbq_lock(test), deadline));
}

/* Other contexts, in the middle of a clock read */

static void contenders_release(void *arg)
{
	struct nbq_fixture *fixture = arg;

	nbq_contender_release(fixture, &fixture->contenders[0]);
}

/* Patience */

/* By a clock that starts at 1000 and goes in steps of 10 */
static const struct wait_case {
	const char *desc;
	ktime_t time;
	/* The read that ends it, and whether that leaves time to enqueue to one that may steal */
	u64 ends;
	bool enqueues;
} patience_cases[] = {
	{ "1_ns", 1, 1010 },
	{ "one_step", 10, 1010 },
	{ "one_step_and_1_ns", 11, 1020 },
	{ "ten_steps", 100, 1100, true },
}, deadline_cases[] = {
	{ "least", KTIME_MIN, 1000 },
	{ "negative", -1, 1000 },
	{ "zero", 0, 1000 },
	{ "already_past", 999, 1000 },
	{ "now", 1000, 1000 },
	{ "in_1_ns", 1001, 1010 },
	{ "in_one_step", 1010, 1010 },
	{ "in_one_step_and_1_ns", 1011, 1020 },
};

NBQ_TYPES_PARAM(patience, patience_cases);
NBQ_TYPES_PARAM(deadline, deadline_cases);

/* Nothing but the holder is in the queue, and what stays of contenders. */
static void expect_no_waiter(struct kunit *test)
{
	void *lock = nbq_lock(test);

	KUNIT_EXPECT_EQ(test, nbq_type(test)->tail(lock) == nbq_type(test)->holder(lock),
			goes(test));
}

/* The lock is free: [], or with what stays of the last holder, A. */
static void expect_idle(struct kunit *test)
{
	struct nbq_node *tail = nbq_type(test)->tail(nbq_lock(test));

	KUNIT_EXPECT_FALSE(test, nbq_type(test)->is_locked(nbq_lock(test)));
	KUNIT_EXPECT_EQ(test, !tail, !holders_nodes(test));
	if (tail)
		KUNIT_EXPECT_EQ(test, nbq_type(test)->letter(tail), 'A');
}

static void expect_timeout_behind_a_holder(struct kunit *test, int (*try)(struct kunit *, ktime_t))
{
	const struct wait_case *wait = nbq_value(test);

	nbq_fixture_hold(test);
	nbq_fake_start(1000, 10);

	/* Before and after: H */
	KUNIT_EXPECT_EQ(test, try(test, wait->time), -ETIMEDOUT);
	EXPECT_ENDED_AT(test, wait->ends);
	EXPECT_SHAPE(test, "H");
	expect_no_waiter(test);
	EXPECT_TIMEOUT(test, wait->enqueues || !nbq_type(test)->traits->steals);
}

static void patience_is_spent_to_the_nanosecond(struct kunit *test)
{
	expect_timeout_behind_a_holder(test, try_for);
}

static void deadline_is_kept_to_the_nanosecond(struct kunit *test)
{
	expect_timeout_behind_a_holder(test, try_until);
}

#if NBQ_RELAX_MAX_NS
/* Not only one wait by hardware at its longest */
#define LONG_WAIT_NS	(20 * NBQ_RELAX_MAX_NS)

static void long_wait_is_by_hardware(struct kunit *test)
{
	struct nbq_fixture *fixture = test->priv;
	unsigned int attempts = 10;
	u64 before = 0, after = 0;

	if (!nbq_relax_is_bounded())
		kunit_skip(test, "no wait by hardware that has a bound");
	nbq_fixture_hold(test);
	nbq_fixture_enqueue(test);
	/* It shows life for as long as this may take. */
	fixture->pool.heartbeat = nbq_clock_ns() + NSEC_PER_SEC;
	KUNIT_ASSERT_EQ(test, nbq_event_read("hardware_waits", &before), 0);

	/* Before and after: H w; in between: H w x. A CPU may be preempted by its host. */
	do {
		KUNIT_EXPECT_EQ(test, try_for(test, LONG_WAIT_NS), -ETIMEDOUT);
		KUNIT_ASSERT_EQ(test, nbq_event_read("hardware_waits", &after), 0);
	} while (after == before && --attempts);
	KUNIT_EXPECT_GT(test, after, before);
}

#define HARDWARE_CASES	KUNIT_CASE_PARAM(long_wait_is_by_hardware, type_gen_params),
#else
#define HARDWARE_CASES
#endif

/* A lock that an attempt without patience cannot have */
static const struct busy_case {
	const char *desc;	/* its picture */
	unsigned int waiters;	/* how many came after the holder */
	bool abandons;		/* the last of them but one has abandoned its node */
	bool released;		/* the holder has released the lock */
} busy_cases[] = {
	{ "H", 0, false, false },
	{ "HW", 1, false, false },
	{ "HLW", 2, true, false },
	{ "AW", 1, false, true },
	{ "ALW", 2, true, true },
};

NBQ_TYPES_PARAM(busy, busy_cases);

static void *copy_of(struct kunit *test, const void *memory, size_t size)
{
	void *copy = kunit_kzalloc(test, size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, copy);
	return memcpy(copy, memory, size);
}

static const struct nbq_operation tries[] = {
	{ "trylock", TRY, PLAIN },
	{ "lock_timeout_0", TIMEOUT, PLAIN, 0 },
	{ "lock_timeout_negative", TIMEOUT, PLAIN, -1 },
	{ "lock_timeout_least", TIMEOUT, PLAIN, KTIME_MIN },
};

static void failed_try_writes_to_neither_lock_nor_nodes(struct kunit *test)
{
	const struct busy_case *busy = nbq_value(test);
	const struct nbq_lock_type *type = nbq_type(test);
	struct nbq_fixture *fixture = test->priv;
	unsigned long flags;
	void *lock, *nodes;
	unsigned int i;
	bool steals;
	int ret;

	/* A newcomer may steal the lock, which changes nothing for long. */
	steals = busy->released && type->traits->steals;
	nbq_fake_start(1000, 10);
	nbq_fixture_hold(test);
	for (i = 0; i < busy->waiters; i++)
		nbq_fixture_enqueue(test);
	if (busy->abandons)
		nbq_contender_abandon(fixture, &fixture->contenders[1]);
	if (busy->released)
		nbq_contender_release(fixture, &fixture->contenders[0]);
	EXPECT_SHAPE(test, busy->desc);
	lock = copy_of(test, fixture->lock, type->size);
	nodes = copy_of(test, fixture->nodes, sizeof(fixture->nodes));

	for (i = 0; i < ARRAY_SIZE(tries); i++) {
		ret = type->take(&tries[i], fixture->lock, &flags);
		if (!ret)
			type->drop(&tries[i], fixture->lock, flags);
		KUNIT_EXPECT_EQ_MSG(test, ret, steals ? 0 : -EBUSY, "%s", tries[i].desc);
		/* An acquisition that succeeds makes the lock known to lockdep. */
		KUNIT_EXPECT_TRUE(test, steals || !memcmp(fixture->lock, lock, type->size));
		KUNIT_EXPECT_EQ(test, memcmp(fixture->nodes, nodes, sizeof(fixture->nodes)), 0);
		EXPECT_TOTAL(test, .failed_tries = !steals);
	}
	EXPECT_ENDED_AT_ONCE(test);
}

/* An attempt without patience does not wait, and is in no deadlock. */
static void lock_of_the_own_context_is_a_deadlock_or_busy_at_once(struct kunit *test)
{
	const struct nbq_lock_type *type = nbq_type(test);
	void *lock = nbq_lock(test);
	int none, patient, forever;
	bool acquired;

	type->notrack(lock);
	nbq_fake_start(1000, 10);
	type->lock(lock);
	acquired = type->trylock(lock);
	none = type->lock_timeout(lock, 0);
	patient = type->lock_timeout(lock, 1000);
	forever = type->lock_timeout(lock, KTIME_MAX);
	type->unlock(lock);
	KUNIT_EXPECT_FALSE(test, acquired);
	KUNIT_EXPECT_EQ(test, none, -EBUSY);
	KUNIT_EXPECT_EQ(test, patient, -EDEADLK);
	KUNIT_EXPECT_EQ(test, forever, -EDEADLK);
	EXPECT_ENDED_AT_ONCE(test);
	EXPECT_TOTAL(test, .acquired_uncontended = holders_nodes(test), .failed_tries = 2,
		     .deadlocks = 2, .nodes_allocated = holders_nodes(test) * (2 + goes(test)),
		     .nodes_freed = 2 * holders_nodes(test) * goes(test),
		     .nodes_abandoned = 2 * stays(test), .nodes_resumed = stays(test));
}

static void grant_during_the_last_clock_read_is_left_to_the_next(struct kunit *test)
{
	/* Before: H, which releases in the read that ends the patience */
	nbq_fixture_hold(test);
	nbq_fake_start(1000, 10);
	nbq_fake_call(1100, contenders_release, test->priv);

	/* After: A */
	KUNIT_EXPECT_EQ(test, try_for(test, 100), -ETIMEDOUT);
	EXPECT_SHAPE(test, "A");
	EXPECT_TIMEOUT(test, 1);

	/* The next one needs no patience, and resumes a place that stays; after: [] or A */
	KUNIT_EXPECT_EQ(test, try_for(test, 0), 0);
	EXPECT_SHAPE(test, ".");
	EXPECT_TOTAL(test, .acquired_handoff = stays(test),
		     .acquired_uncontended = holders_nodes(test) * goes(test),
		     .nodes_allocated = holders_nodes(test) * goes(test),
		     .nodes_resumed = stays(test),
		     .nodes_reclaimed = holders_nodes(test));
}

static void *new_lock(struct kunit *test)
{
	void *lock = nbq_new_lock(test, nbq_type(test));

	nbq_type(test)->init(lock);
	return lock;
}

static void locks_can_share_one_budget(struct kunit *test)
{
	struct nbq_contender other = { .node = nbq_fixture_alloc(test) };
	void *first = nbq_lock(test), *second = new_lock(test);
	const struct nbq_lock_type *type = nbq_type(test);
	int got_first, got_second, got_third;
	void *third = new_lock(test);

	type->set_subclass(second, 1);
	type->set_subclass(third, 2);
	type->enqueue(second, &other);
	nbq_fixture_hold(test);

	/* First is released at 1020, second is not; third is free */
	nbq_fake_start(1000, 10);
	nbq_fake_call(1020, contenders_release, test->priv);
	got_first = type->lock_until(first, 1050);
	EXPECT_ENDED_AT(test, 1020);
	got_second = type->lock_until(second, 1050);
	if (!got_second)
		type->unlock(second);
	EXPECT_ENDED_AT(test, 1050);
	got_third = type->lock_until(third, 1050);
	if (!got_third)
		type->unlock(third);
	EXPECT_ENDED_AT(test, 1050);
	unlock_if_acquired(test, got_first);

	KUNIT_EXPECT_EQ(test, got_first, 0);
	KUNIT_EXPECT_EQ(test, got_second, -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, got_third, 0);
	type->release(second, other.node);
	KUNIT_EXPECT_EQ(test, type->destroy(second), 0);
	KUNIT_EXPECT_EQ(test, type->destroy(third), 0);
}

/* What a failed attempt reports: nbq_X_lock_timeout_info() */

static int try_with_info(struct kunit *test, ktime_t patience, struct nbq_timeout *info)
{
	memset(info, 0x6b, sizeof(*info));
	return unlock_if_acquired(test, nbq_type(test)->lock_timeout_info(nbq_lock(test), patience,
									 info));
}

/* The clock is read once before the attempt and once after it. */
static void expect_waited(struct kunit *test, const struct nbq_timeout *info)
{
	KUNIT_EXPECT_EQ(test, info->waited_ns, nbq_fake_last() - nbq_fake.start);
}

static void timeout_info_of_an_acquisition_is_untouched(struct kunit *test)
{
	struct nbq_timeout info, before;

	memset(&before, 0x6b, sizeof(before));
	nbq_fake_start(1000, 10);
	KUNIT_EXPECT_EQ(test, try_with_info(test, 100, &info), 0);
	KUNIT_EXPECT_EQ(test, memcmp(&info, &before, sizeof(info)), 0);
	KUNIT_EXPECT_EQ(test, try_with_info(test, 0, &info), 0);
	KUNIT_EXPECT_EQ(test, memcmp(&info, &before, sizeof(info)), 0);
}

/* The head of the queue has not taken the free lock yet. */
static void timeout_info_without_a_holder_has_no_cpu(struct kunit *test)
{
	struct nbq_timeout info;

	/* Before: H w; after: A w */
	nbq_fixture_hold(test);
	nbq_fixture_enqueue(test);
	contenders_release(test->priv);
	if (nbq_type(test)->traits->steals)
		nbq_request(nbq_lock(test), 0x80);
	nbq_fake_start(1000, 10);
	KUNIT_EXPECT_EQ(test, try_with_info(test, 100, &info), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, info.holder_cpu, -1);
	KUNIT_EXPECT_GE(test, info.waited_ns, 100);
	expect_waited(test, &info);
}

/* In this context, so that the attempts end at once; the CPU is that of the case. */
static void timeout_info_has_the_holder_s_cpu_and_level(struct kunit *test)
{
	struct nbq_timeout patient, impatient;
	const struct nbq_lock_type *type = nbq_type(test);
	int patient_ret, impatient_ret, cpu;
	u64 waited;

	type->notrack(nbq_lock(test));
	type->lock(nbq_lock(test));
	cpu = raw_smp_processor_id();
	nbq_fake_start(1000, 10);
	patient_ret = type->lock_timeout_info(nbq_lock(test), 100, &patient);
	waited = nbq_fake_last() - nbq_fake.start;
	impatient_ret = type->lock_timeout_info(nbq_lock(test), 0, &impatient);
	type->unlock(nbq_lock(test));

	KUNIT_EXPECT_EQ(test, patient_ret, -EDEADLK);
	KUNIT_EXPECT_EQ(test, patient.holder_cpu, cpu);
	KUNIT_EXPECT_EQ(test, patient.holder_level, NBQ_TASK);
	KUNIT_EXPECT_EQ(test, patient.waited_ns, waited);
	KUNIT_EXPECT_EQ(test, impatient_ret, -EBUSY);
	KUNIT_EXPECT_EQ(test, impatient.holder_cpu, cpu);
	KUNIT_EXPECT_EQ(test, impatient.holder_level, NBQ_TASK);
	KUNIT_EXPECT_EQ(test, impatient.waited_ns, 10);
}

/* Abandoning a node with contenders in the queue */

/* What contenders see and do: for the calls in the middle of a clock read */
struct contenders {
	struct kunit *test;
	struct nbq_contender *contender;
	bool acquired;
};

static void contenders_join(void *arg)
{
	struct contenders *contenders = arg;

	nbq_contender_enqueue(contenders->test->priv, contenders->contender);
	nbq_contender_link(contenders->test->priv, contenders->contender);
}

static void abandoned_node_is_skipped_by_its_successor(struct kunit *test)
{
	struct contenders behind = { .test = test };
	struct nbq_fixture *fixture = test->priv;
	struct nbq_node *left;

	/* Before: H; x enqueues in the read that ends the patience */
	nbq_fixture_hold(test);
	behind.contender = nbq_fixture_contender(fixture);
	KUNIT_ASSERT_NOT_NULL(test, behind.contender);
	nbq_fake_start(1000, 10);
	nbq_fake_call(1100, contenders_join, &behind);

	/* After: H L x */
	KUNIT_EXPECT_EQ(test, try_for(test, 100), -ETIMEDOUT);
	EXPECT_TOTAL(test, .timeouts = 1, .nodes_allocated = 1, .nodes_abandoned = 1);
	left = behind.contender->pred;
	KUNIT_ASSERT_NOT_NULL(test, left);
	KUNIT_EXPECT_FALSE(test, nbq_is_free(left));

	/* After: H x */
	KUNIT_EXPECT_FALSE(test, nbq_contender_poll(fixture, behind.contender));
	KUNIT_EXPECT_PTR_EQ(test, behind.contender->pred, fixture->type->holder(fixture->lock));
	KUNIT_EXPECT_TRUE(test, nbq_is_free(left));
	EXPECT_SHAPE(test, "HW");
	EXPECT_COUNTED(test, .nodes_allocated = 2, .nodes_reclaimed = 1,
		       .nodes_freed = !holders_nodes(test));
}

/* Resumed nodes are counted beside abandoned and reclaimed ones. */
static void next_attempt_resumes_its_abandoned_node(struct kunit *test)
{
	struct contenders behind = { .test = test };
	struct nbq_fixture *fixture = test->priv;
	unsigned int left = stays(test) || nbq_type(test)->traits->steals;

	/* Before: H w; y enqueues in the read that ends the patience */
	nbq_fake_start(1000, 10);
	nbq_fixture_hold(test);
	nbq_fixture_enqueue(test);
	behind.contender = nbq_fixture_contender(fixture);
	KUNIT_ASSERT_NOT_NULL(test, behind.contender);
	nbq_fake_start(1000, 10);
	nbq_fake_call(1100, contenders_join, &behind);

	/* After: H w L y */
	KUNIT_EXPECT_EQ(test, try_for(test, 100), -ETIMEDOUT);
	EXPECT_TOTAL(test, .timeouts = 1, .nodes_allocated = 1, .nodes_abandoned = 1);

	/* The same node, twice; after: H w L y */
	KUNIT_EXPECT_EQ(test, try_for(test, 100), -ETIMEDOUT);
	EXPECT_TOTAL(test, .timeouts = 1, .nodes_resumed = 1, .nodes_abandoned = 1);
	KUNIT_EXPECT_EQ(test, try_for(test, 100), -ETIMEDOUT);
	EXPECT_TOTAL(test, .timeouts = 1, .nodes_resumed = 1, .nodes_abandoned = 1);
	KUNIT_EXPECT_FALSE(test, nbq_is_free(behind.contender->pred));

	/* Y skips it: H w y; the next attempt takes a node, which the hybrid leaves at the tail */
	KUNIT_EXPECT_FALSE(test, nbq_contender_poll(fixture, behind.contender));
	EXPECT_SHAPE(test, "HWW");
	KUNIT_EXPECT_EQ(test, try_for(test, 100), -ETIMEDOUT);
	EXPECT_TOTAL(test, .timeouts = 1, .nodes_allocated = 1, .nodes_freed = !left,
		     .nodes_abandoned = left);
}

static void attempts_past_their_deadline_do_not_pile_up_nodes(struct kunit *test)
{
	unsigned int i, taken, acquired = 0;

	nbq_fixture_hold(test);
	for (i = 0; i < 100; i++)
		acquired += !try_until(test, 1);

	/* Before and after: H */
	KUNIT_EXPECT_EQ(test, acquired, 0);
	expect_no_waiter(test);
	/* The first of those that wait outside has been too late to enqueue. */
	taken = nbq_type(test)->traits->steals ? 99 : 100;
	EXPECT_TOTAL(test, .timeouts = 100, .nodes_allocated = goes(test) ? taken : 1,
		     .nodes_freed = taken * goes(test),
		     .nodes_abandoned = 100 * stays(test),
		     .nodes_resumed = 99 * stays(test));
}

static const struct nbq_operation patient_and_impatient_operations[] = {
	{ "trylock", TRY, PLAIN },
	{ "lock_timeout_0", TIMEOUT, PLAIN, 0 },
	{ "lock_timeout_negative", TIMEOUT, PLAIN, -1 },
	{ "lock_until_past", UNTIL, PLAIN, 1 },
	{ "lock_timeout", TIMEOUT, PLAIN, 100 },
	{ "lock_timeout_forever", TIMEOUT, PLAIN, KTIME_MAX },
	{ "lock", LOCK, PLAIN },
};

NBQ_TYPES_PARAM(any_operation, patient_and_impatient_operations);

static void free_lock_behind_abandoned_nodes_is_taken_at_once(struct kunit *test)
{
	const struct nbq_operation *op = nbq_value(test);
	const struct nbq_lock_type *type = nbq_type(test);
	struct nbq_fixture *fixture = test->priv;
	unsigned long flags, abandoned;
	int ret;

	nbq_fake_start(1000, 10);
	for (abandoned = 0; abandoned <= NBQ_FIXTURE_NODES - 2; abandoned++) {
		unsigned int pred_of = abandoned + holders_nodes(test);
		bool at_once = holders_nodes(test) && !abandoned;
		/* Where one is in the queue that takes a free lock */
		bool queues = holders_nodes(test);

		nbq_fixture_fill(fixture, NBQ_FIXTURE_NODES);
		nbq_fixture_leave_abandoned(test, abandoned);

		/* before: A L .. L */
		ret = type->take(op, fixture->lock, &flags);
		if (!ret)
			type->drop(op, fixture->lock, flags);

		/* after: A, or unchanged where it went past them */
		KUNIT_ASSERT_EQ(test, ret, 0);
		KUNIT_EXPECT_FALSE(test, type->is_locked(fixture->lock));
		EXPECT_TOTAL(test, .acquired_handoff = queues && !at_once,
			     .acquired_uncontended = at_once, .nodes_allocated = queues,
			     .nodes_reclaimed = queues ? pred_of : 0);
		if (queues) {
			expect_idle(test);
			EXPECT_SHAPE(test, ".");
		}
		KUNIT_EXPECT_EQ(test, type->destroy(fixture->lock), 0);
		EXPECT_SHAPE(test, ".");
		EXPECT_TOTAL(test, .nodes_reclaimed = queues ? 1 : pred_of);
	}
	EXPECT_ENDED_AT_ONCE(test);
}

/*
 * H L .. L, such that the next waiter skips so many: one more where an abandoned tail does not
 * stay, and one more where the first is a head, which is not skipped.
 */
static void abandon_behind_the_holder(struct kunit *test, unsigned int abandoned)
{
	struct nbq_fixture *fixture = test->priv;
	unsigned int i;

	nbq_fixture_hold(test);
	for (i = 0; i < abandoned + goes(test) + !holders_nodes(test); i++)
		nbq_fixture_enqueue(test);
	for (i = 1; i < fixture->count; i++)
		nbq_contender_abandon(fixture, &fixture->contenders[i]);
}

static void most_skipped_is_the_most_abandoned_nodes_of_one_attempt(struct kunit *test)
{
	static const unsigned int abandoned[] = { 2, 5, 1 };
	static const unsigned int longest[] = { 2, 5, 5 };
	struct nbq_fixture *fixture = test->priv;
	u64 counts[NBQ_SKIPPED_MAX + 1];
	u64 most;
	int i;

	nbq_events_reset();
	for (i = 0; i < ARRAY_SIZE(abandoned); i++) {
		nbq_fixture_fill(fixture, NBQ_FIXTURE_NODES);
		abandon_behind_the_holder(test, abandoned[i]);
		nbq_fake_start(1000, 10);
		nbq_fake_call(1060, contenders_release, fixture);
		KUNIT_EXPECT_EQ(test, try_for(test, 100), 0);
		KUNIT_EXPECT_EQ(test, 0, nbq_event_read("most_skipped", &most));
		KUNIT_EXPECT_EQ(test, most, longest[i]);
		nbq_skipped_read(counts);
		KUNIT_EXPECT_EQ(test, counts[abandoned[i]], 1);
		KUNIT_EXPECT_EQ(test, fixture->type->destroy(fixture->lock), 0);
	}
}

/* The advisory queries */

static void expect_queries(struct kunit *test, const char *picture, bool locked, bool contended)
{
	const struct nbq_lock_type *type = nbq_type(test);
	void *lock = nbq_lock(test);

	KUNIT_EXPECT_EQ_MSG(test, type->is_locked(lock), locked, "%s", picture);
	KUNIT_EXPECT_EQ_MSG(test, type->is_contended(lock), contended, "%s", picture);
}

static void is_locked_and_is_contended_in_every_state(struct kunit *test)
{
	struct nbq_fixture *fixture = test->priv;
	struct nbq_contender *holder, *w, *x;

	expect_queries(test, "[]", false, false);
	holder = nbq_fixture_hold(test);
	expect_queries(test, "H", true, false);
	w = nbq_fixture_enqueue(test);
	fixture->pool.waiting.lock = fixture->lock;
	fixture->pool.waiting.blocker.tagged = (unsigned long)w->pred;
	expect_queries(test, "H w", true, true);
	x = nbq_fixture_enqueue(test);
	nbq_contender_abandon(fixture, w);
	expect_queries(test, "H L x", true, true);
	nbq_contender_abandon(fixture, x);
	expect_queries(test, "H L: advisory", true, holders_nodes(test));
	nbq_contender_release(fixture, holder);
	expect_queries(test, "A L", false, false);
	x = nbq_fixture_enqueue(test);
	if (nbq_type(test)->traits->steals) {
		expect_queries(test, "H past A", true, false);
	} else {
		fixture->pool.waiting.blocker.tagged = (unsigned long)x->pred;
		expect_queries(test, "A L x", true, true);
		fixture->pool.waiting.blocker.tagged = 0;
		KUNIT_EXPECT_TRUE(test, nbq_contender_poll(fixture, x));
		expect_queries(test, "H", true, false);
	}
	nbq_contender_release(fixture, x);
	expect_queries(test, "[]", false, false);
}

/* Making */

static void expect_free_and_usable(struct kunit *test, void *lock)
{
	const struct nbq_lock_type *type = nbq_type(test);

	KUNIT_EXPECT_FALSE(test, type->is_locked(lock));
	type->lock(lock);
	type->unlock(lock);
	KUNIT_EXPECT_EQ(test, type->destroy(lock), 0);
	KUNIT_EXPECT_NULL(test, type->tail(lock));
}

static void statically_defined_locks_are_free(struct kunit *test)
{
	expect_free_and_usable(test, nbq_type(test)->static_lock);
	expect_free_and_usable(test, nbq_type(test)->static_member);
}

static void init_forgets_what_was_in_the_memory(struct kunit *test)
{
	const struct nbq_lock_type *type = nbq_type(test);
	void *lock = nbq_lock(test);

	memset(lock, 0x6b, type->size);
	type->init(lock);
	KUNIT_EXPECT_NULL(test, type->tail(lock));
	KUNIT_EXPECT_NULL(test, type->holder(lock));
	KUNIT_EXPECT_FALSE(test, type->is_locked(lock));
	expect_free_and_usable(test, lock);
}

/* Misuse. Each case announces the report that it provokes. */

static void needs_checked_unlock(struct kunit *test)
{
	if (!nbq_type(test)->traits->checks_unlock)
		kunit_skip(test, "without CONFIG_DEBUG_SPINLOCK, its unlock is a store");
}

/* By a context that would hold it: with preemption off. */
static void misused_unlock(struct kunit *test)
{
	preempt_disable();
	nbq_type(test)->unlock(nbq_lock(test));
	preempt_enable();
}

static void unlock_of_a_free_lock_changes_nothing(struct kunit *test)
{
	struct nbq_context before = nbq_context_now(), after;

	needs_checked_unlock(test);
	nbq_provoke_report(test, NBQ_NOT_HELD_REPORT);
	misused_unlock(test);
	nbq_fixture_leave_abandoned(test, 1);

	/* Before and after: A L */
	misused_unlock(test);
	after = nbq_context_now();
	nbq_context_restore(before);
	KUNIT_EXPECT_EQ(test, after.preempt, before.preempt);
	EXPECT_SHAPE(test, "AL");
	EXPECT_TOTAL(test);
	EXPECT_COUNTED(test);
}

static void unlock_on_another_cpu_changes_nothing(struct kunit *test)
{
	struct nbq_fixture *fixture = test->priv;
	struct nbq_context before = nbq_context_now(), after;

	needs_checked_unlock(test);
	nbq_provoke_report(test, NBQ_NOT_OWNER_REPORT);
	nbq_fixture_hold(test);

	/* Before and after: H */
	misused_unlock(test);
	after = nbq_context_now();
	nbq_context_restore(before);
	KUNIT_EXPECT_EQ(test, after.preempt, before.preempt);
	EXPECT_SHAPE(test, "H");
	KUNIT_EXPECT_TRUE(test, fixture->type->is_locked(fixture->lock));
	EXPECT_COUNTED(test, .nodes_allocated = 1, .nodes_freed = !holders_nodes(test));
}

static void unlock_in_an_nmi(void *arg)
{
	struct kunit *test = arg;

	nbq_type(test)->unlock(nbq_lock(test));
}

/* As after an attempt that got -EDEADLK, and was taken for one that has acquired. */
static void unlock_above_the_holder_changes_nothing(struct kunit *test)
{
	struct nbq_context before = nbq_context_now(), after;
	bool held;

	needs_checked_unlock(test);
	nbq_provoke_report(test, NBQ_NOT_OWNER_REPORT);
	nbq_type(test)->lock(nbq_lock(test));
	nbq_as_nmi(unlock_in_an_nmi, test);
	held = nbq_type(test)->is_locked(nbq_lock(test));
	nbq_type(test)->unlock(nbq_lock(test));
	after = nbq_context_now();
	nbq_context_restore(before);

	KUNIT_EXPECT_TRUE(test, held);
	KUNIT_EXPECT_FALSE(test, nbq_type(test)->is_locked(nbq_lock(test)));
	nbq_expect_context(test, after, before);
}

KUNIT_ARRAY_PARAM(type, nbq_types, nbq_type_desc);

static struct kunit_case operations_cases[] = {
	KUNIT_CASE_PARAM(patience_is_spent_to_the_nanosecond, patience_gen_params),
	KUNIT_CASE_PARAM(deadline_is_kept_to_the_nanosecond, deadline_gen_params),
	HARDWARE_CASES
	KUNIT_CASE_PARAM(failed_try_writes_to_neither_lock_nor_nodes, busy_gen_params),
	KUNIT_CASE_PARAM(lock_of_the_own_context_is_a_deadlock_or_busy_at_once, type_gen_params),
	KUNIT_CASE_PARAM(grant_during_the_last_clock_read_is_left_to_the_next, type_gen_params),
	KUNIT_CASE_PARAM(locks_can_share_one_budget, type_gen_params),
	KUNIT_CASE_PARAM(timeout_info_of_an_acquisition_is_untouched, type_gen_params),
	KUNIT_CASE_PARAM(timeout_info_without_a_holder_has_no_cpu, type_gen_params),
	KUNIT_CASE_PARAM(timeout_info_has_the_holder_s_cpu_and_level, type_gen_params),
	KUNIT_CASE_PARAM(abandoned_node_is_skipped_by_its_successor, type_gen_params),
	KUNIT_CASE_PARAM(next_attempt_resumes_its_abandoned_node, type_gen_params),
	KUNIT_CASE_PARAM(attempts_past_their_deadline_do_not_pile_up_nodes, type_gen_params),
	KUNIT_CASE_PARAM(free_lock_behind_abandoned_nodes_is_taken_at_once,
			 any_operation_gen_params),
	KUNIT_CASE_PARAM(most_skipped_is_the_most_abandoned_nodes_of_one_attempt, type_gen_params),
	KUNIT_CASE_PARAM(is_locked_and_is_contended_in_every_state, type_gen_params),
	KUNIT_CASE_PARAM(statically_defined_locks_are_free, type_gen_params),
	KUNIT_CASE_PARAM(init_forgets_what_was_in_the_memory, type_gen_params),
	KUNIT_CASE_PARAM(unlock_of_a_free_lock_changes_nothing, type_gen_params),
	KUNIT_CASE_PARAM(unlock_on_another_cpu_changes_nothing, type_gen_params),
	KUNIT_CASE_PARAM(unlock_above_the_holder_changes_nothing, type_gen_params),
	{}
};

static struct kunit_suite operations_suite = {
	.name = "nbq_operations",
	.init = nbq_fixture_init,
	.exit = nbq_fixture_finish,
	.test_cases = operations_cases,
};

kunit_test_suite(operations_suite);
