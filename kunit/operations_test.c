// SPDX-License-Identifier: GPL-2.0
/*
 * The public operations of every lock type, in one context: patience, the clock,
 * abandoned nodes, preemption and interrupts, the advisory queries, destroy and
 * misuse.
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

static const struct nbq_row *row_of(struct kunit *test)
{
	struct nbq_bench *bench = test->priv;

	return bench->row;
}

static void *lock_of(struct kunit *test)
{
	struct nbq_bench *bench = test->priv;

	return bench->lock;
}

/* 1 where a node that is abandoned or released as the tail stays in the queue, else 0 */
static unsigned int stays(struct kunit *test)
{
	return row_of(test)->facts->tail_stays;
}

/* The reverse */
static unsigned int goes(struct kunit *test)
{
	return !stays(test);
}

/* Nodes of a holder, and of a waiter that has read the clock so often */
static unsigned int holders_nodes(struct kunit *test)
{
	return row_of(test)->facts->holder_nodes;
}

static unsigned int waiters_nodes(struct kunit *test, unsigned int reads)
{
	return nbq_nodes_to_wait(row_of(test)->facts, reads);
}

static unsigned int reads_to_give_up(struct kunit *test, unsigned int reads)
{
	return nbq_reads_to_give_up(row_of(test)->facts, reads);
}

/*
 * So many acquisitions without a wait, on a lock in which nothing rested before, or
 * where that, or what the lock kept last, was reclaimed besides
 */
#define EXPECT_UNCONTENDED(test, times, rests)				\
	EXPECT_TOTAL(test, .acquired_uncontended = (times) * holders_nodes(test), \
		     .nodes_allocated = (times) * holders_nodes(test),	\
		     .nodes_freed = (times) * holders_nodes(test) * goes(test), \
		     .nodes_reclaimed = ((times) - 1 + (rests)) * stays(test))

/* One timeout of a tail that has read the clock so often */
#define EXPECT_TIMEOUT(test, reads)					\
	EXPECT_TOTAL(test, .timeouts = 1,				\
		     .nodes_allocated = waiters_nodes(test, reads),		\
		     .nodes_freed = waiters_nodes(test, reads) * goes(test), \
		     .nodes_abandoned = stays(test))

/* The same of any attempt behind a holder: one without patience reads no clock. */
static void expect_failure(struct kunit *test, unsigned int reads)
{
	if (reads)
		EXPECT_TIMEOUT(test, reads);
	else
		EXPECT_TOTAL(test, .failed_tries = 1);
}

/* And what it returns */
static int failure(unsigned int reads)
{
	return reads ? -ETIMEDOUT : -EBUSY;
}

/* Unlock at once, so that the case may go on and fail as it likes. */
static int unlock_if_acquired(struct kunit *test, int ret)
{
	if (!ret)
		row_of(test)->unlock(lock_of(test));
	return ret;
}

static int try_for(struct kunit *test, ktime_t patience)
{
	return unlock_if_acquired(test, row_of(test)->lock_timeout(lock_of(test),
								   patience));
}

static int try_until(struct kunit *test, ktime_t deadline)
{
	return unlock_if_acquired(test, row_of(test)->lock_until(lock_of(test),
								 deadline));
}

/* Other contexts, in the middle of a clock read */

static void others_release(void *arg)
{
	struct nbq_bench *bench = arg;

	nbq_contender_release(bench, &bench->contenders[0]);
}

/* Patience */

static const struct wait_case {
	const char *desc;
	ktime_t time;
	/* the read of a clock that starts at 1000 and goes in steps of 10 at which it is over */
	unsigned int reads;
} patience_cases[] = {
	{ "zero", 0, 0 },
	{ "negative", -1, 0 },
	{ "least", KTIME_MIN, 0 },
	{ "1_ns", 1, 2 },
	{ "one_step", 10, 2 },
	{ "one_step_and_1_ns", 11, 3 },
	{ "ten_steps", 100, 11 },
}, deadline_cases[] = {
	{ "least", KTIME_MIN, 1 },
	{ "negative", -1, 1 },
	{ "zero", 0, 1 },
	{ "already_past", 999, 1 },
	{ "now", 1000, 1 },
	{ "in_1_ns", 1001, 2 },
	{ "in_one_step", 1010, 2 },
	{ "in_one_step_and_1_ns", 1011, 3 },
}, free_cases[] = {
	{ "zero", 0 },
	{ "negative", -1 },
	{ "least", KTIME_MIN },
	{ "1_ns", 1 },
	{ "most_but_one", KTIME_MAX - 1 },
	{ "forever", KTIME_MAX },
};

static void wait_desc(const struct wait_case *wait, char *desc)
{
	strscpy(desc, wait->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(patience, patience_cases, wait_desc);
KUNIT_ARRAY_PARAM(deadline, deadline_cases, wait_desc);
KUNIT_ARRAY_PARAM(free, free_cases, wait_desc);

/* Nothing but the holder is in the queue, and what stays of others. */
static void expect_no_waiter(struct kunit *test)
{
	void *lock = lock_of(test);

	KUNIT_EXPECT_EQ(test, row_of(test)->tail(lock) == row_of(test)->holder(lock),
			goes(test));
}

/* The lock is free: [], or with what stays of the last holder, A. */
static void expect_idle(struct kunit *test)
{
	struct nbq_node *tail = row_of(test)->tail(lock_of(test));

	KUNIT_EXPECT_FALSE(test, row_of(test)->is_locked(lock_of(test)));
	KUNIT_EXPECT_EQ(test, !tail, goes(test));
	if (tail)
		KUNIT_EXPECT_EQ(test, row_of(test)->letter(tail), 'A');
}

static void patience_is_spent_to_the_nanosecond(struct kunit *test)
{
	const struct wait_case *wait = test->param_value;

	nbq_bench_hold(test);
	nbq_fake_start(1000, 10);

	/* before and after: H */
	KUNIT_EXPECT_EQ(test, try_for(test, wait->time), failure(wait->reads));
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, reads_to_give_up(test, wait->reads));
	EXPECT_SHAPE(test, "H");
	if (wait->reads)
		expect_no_waiter(test);
	expect_failure(test, wait->reads);
}

static void deadline_is_kept_to_the_nanosecond(struct kunit *test)
{
	const struct wait_case *wait = test->param_value;

	nbq_bench_hold(test);
	nbq_fake_start(1000, 10);

	/* before and after: H */
	KUNIT_EXPECT_EQ(test, try_until(test, wait->time), failure(wait->reads));
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, reads_to_give_up(test, wait->reads));
	EXPECT_SHAPE(test, "H");
	expect_failure(test, wait->reads);
}

#if NBQ_RELAX_MAX_NS
/* Not only one wait by hardware at its longest */
#define LONG_WAIT_NS	(20 * NBQ_RELAX_MAX_NS)

static void long_wait_is_by_hardware(struct kunit *test)
{
	struct nbq_bench *bench = test->priv;
	unsigned int attempts = 10;
	u64 before = 0, after = 0;

	if (!nbq_relax_is_bounded())
		kunit_skip(test, "no wait by hardware that has a bound");
	nbq_bench_hold(test);
	nbq_bench_enqueue(test);
	/* It shows life for as long as this may take. */
	bench->pool.heartbeat = nbq_clock_ns() + NSEC_PER_SEC;
	KUNIT_ASSERT_EQ(test, nbq_event_read("hardware_waits", &before), 0);

	/* before and after: H w; in between: H w x. A CPU may be preempted by its host. */
	do {
		KUNIT_EXPECT_EQ(test, try_for(test, LONG_WAIT_NS), -ETIMEDOUT);
		KUNIT_ASSERT_EQ(test, nbq_event_read("hardware_waits", &after), 0);
	} while (after == before && --attempts);
	KUNIT_EXPECT_GT(test, after, before);
}

#define HARDWARE_CASES	KUNIT_CASE(long_wait_is_by_hardware),
#else
#define HARDWARE_CASES
#endif

static bool try_at_once(struct kunit *test)
{
	bool acquired = row_of(test)->trylock(lock_of(test));

	if (acquired)
		row_of(test)->unlock(lock_of(test));
	return acquired;
}

static void trylock_of_a_held_lock_fails_without_the_clock(struct kunit *test)
{
	nbq_bench_hold(test);
	nbq_fake_start(1000, 10);

	/* before and after: H */
	KUNIT_EXPECT_FALSE(test, try_at_once(test));
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, 0);
	EXPECT_SHAPE(test, "H");
	expect_failure(test, 0);
}

/* A lock that is busy, and the bytes that a failed try must not change */

/**
 * struct busy_case - a lock that an attempt without patience cannot have
 * @desc: its picture
 * @waiters: how many came after the holder
 * @abandons: the last of them but one has abandoned its node
 * @released: the holder has released the lock
 */
static const struct busy_case {
	const char *desc;
	unsigned int waiters;
	bool abandons;
	bool released;
} busy_cases[] = {
	{ "H", 0, false, false },
	{ "HW", 1, false, false },
	{ "HLW", 2, true, false },
	{ "AW", 1, false, true },
	{ "ALW", 2, true, true },
};

static void busy_desc(const struct busy_case *busy, char *desc)
{
	strscpy(desc, busy->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(busy, busy_cases, busy_desc);

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
	const struct busy_case *busy = test->param_value;
	const struct nbq_row *row = row_of(test);
	struct nbq_bench *bench = test->priv;
	unsigned long flags;
	void *lock, *nodes;
	unsigned int i;
	bool steals;
	int ret;

	/* A newcomer may steal the lock, which changes nothing for long. */
	steals = busy->released && row->facts->steals;
	nbq_fake_start(1000, 10);
	nbq_bench_hold(test);
	for (i = 0; i < busy->waiters; i++)
		nbq_bench_enqueue(test);
	if (busy->abandons)
		nbq_contender_abandon(bench, &bench->contenders[1]);
	if (busy->released)
		nbq_contender_release(bench, &bench->contenders[0]);
	EXPECT_SHAPE(test, busy->desc);
	lock = copy_of(test, bench->lock, row->size);
	nodes = copy_of(test, bench->nodes, sizeof(bench->nodes));

	for (i = 0; i < ARRAY_SIZE(tries); i++) {
		ret = row->take(&tries[i], bench->lock, &flags);
		if (!ret)
			row->drop(&tries[i], bench->lock, flags);
		KUNIT_EXPECT_EQ_MSG(test, ret, steals ? 0 : -EBUSY, "%s", tries[i].desc);
		/* An acquisition that succeeds makes the lock known to lockdep. */
		KUNIT_EXPECT_TRUE(test, steals || !memcmp(bench->lock, lock, row->size));
		KUNIT_EXPECT_EQ(test, memcmp(bench->nodes, nodes, sizeof(bench->nodes)), 0);
		EXPECT_TOTAL(test, .failed_tries = !steals);
	}
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, 0);
}

/* Own-CPU holders are no reason for -EDEADLK where there is no wait. */
static void failed_try_is_never_a_deadlock(struct kunit *test)
{
	const struct nbq_row *row = row_of(test);
	void *lock = lock_of(test);
	bool acquired;
	int timeout;

	row->notrack(lock);
	row->lock(lock);
	acquired = row->trylock(lock);
	timeout = row->lock_timeout(lock, 0);
	row->unlock(lock);
	KUNIT_EXPECT_FALSE(test, acquired);
	KUNIT_EXPECT_EQ(test, timeout, -EBUSY);
	EXPECT_TOTAL(test, .acquired_uncontended = holders_nodes(test),
		     .failed_tries = 2, .nodes_allocated = holders_nodes(test),
		     .nodes_freed = holders_nodes(test) * goes(test));
}

static void uncontended_acquisition_never_reads_the_clock(struct kunit *test)
{
	const struct wait_case *wait = test->param_value;

	nbq_fake_start(1000, 10);

	/* before: []; in between: H; after: [], then A where nodes stay */
	KUNIT_EXPECT_EQ(test, try_for(test, wait->time), 0);
	expect_idle(test);
	EXPECT_UNCONTENDED(test, 1, 0);
	KUNIT_EXPECT_EQ(test, try_until(test, wait->time), 0);
	expect_idle(test);
	EXPECT_UNCONTENDED(test, 1, 1);
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, 0);
}

static void untimed_operations_on_a_free_lock_never_read_the_clock(struct kunit *test)
{
	nbq_fake_start(1000, 10);
	row_of(test)->lock(lock_of(test));
	row_of(test)->unlock(lock_of(test));
	KUNIT_EXPECT_TRUE(test, try_at_once(test));
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, 0);
	EXPECT_UNCONTENDED(test, 2, 0);
}

static void waiter_is_granted_the_lock_while_it_has_patience(struct kunit *test)
{
	/* before: H, which releases at the seventh of eleven reads */
	nbq_bench_hold(test);
	nbq_fake_start(1000, 10);
	nbq_fake_call(7, others_release, test->priv);

	/* after: [] */
	KUNIT_EXPECT_EQ(test, try_for(test, 100), 0);
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, 7);
	expect_idle(test);
	EXPECT_SHAPE(test, ".");
	EXPECT_TOTAL(test, .acquired_handoff = 1, .nodes_allocated = 1,
		     .nodes_reclaimed = holders_nodes(test),
		     .nodes_freed = goes(test));
}

static void grant_during_the_last_clock_read_is_left_to_the_next(struct kunit *test)
{
	/* before: H, which releases in the read that ends the patience */
	nbq_bench_hold(test);
	nbq_fake_start(1000, 10);
	nbq_fake_call(11, others_release, test->priv);

	/* after: A */
	KUNIT_EXPECT_EQ(test, try_for(test, 100), -ETIMEDOUT);
	EXPECT_SHAPE(test, "A");
	EXPECT_TIMEOUT(test, 11);

	/* the next one needs no patience, and resumes a place that stays; after: [] */
	KUNIT_EXPECT_EQ(test, try_for(test, 0), 0);
	EXPECT_SHAPE(test, ".");
	EXPECT_TOTAL(test, .acquired_handoff = holders_nodes(test),
		     .nodes_allocated = holders_nodes(test) * goes(test),
		     .nodes_resumed = stays(test),
		     .nodes_freed = holders_nodes(test) * goes(test),
		     .nodes_reclaimed = holders_nodes(test));
}

static void *new_lock(struct kunit *test)
{
	void *lock = nbq_new_lock(test, row_of(test));

	row_of(test)->init(lock);
	return lock;
}

static void locks_can_share_one_budget(struct kunit *test)
{
	struct nbq_contender other = { .node = nbq_bench_alloc(test) };
	void *first = lock_of(test), *second = new_lock(test);
	const struct nbq_row *row = row_of(test);
	unsigned int reads = 3 + reads_to_give_up(test, 3);
	int got_first, got_second, got_third;
	void *third = new_lock(test);

	row->set_subclass(second, 1);
	row->set_subclass(third, 2);
	row->enqueue(second, &other);
	nbq_bench_hold(test);

	/* first is released at 1020, second is not; third is free */
	nbq_fake_start(1000, 10);
	nbq_fake_call(3, others_release, test->priv);
	got_first = row->lock_until(first, 1050);
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, 3);
	got_second = row->lock_until(second, 1050);
	if (!got_second)
		row->unlock(second);
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, reads);
	got_third = row->lock_until(third, 1050);
	if (!got_third)
		row->unlock(third);
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, reads);
	unlock_if_acquired(test, got_first);

	KUNIT_EXPECT_EQ(test, got_first, 0);
	KUNIT_EXPECT_EQ(test, got_second, -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, got_third, 0);
	row->release(second, other.node);
	KUNIT_EXPECT_EQ(test, row->destroy(second), 0);
	KUNIT_EXPECT_EQ(test, row->destroy(third), 0);
}

/* What a failed attempt reports: nbq_X_lock_timeout_info() */

static int try_with_info(struct kunit *test, ktime_t patience, struct nbq_timeout *info)
{
	memset(info, 0x6b, sizeof(*info));
	return unlock_if_acquired(test, row_of(test)->lock_timeout_info(lock_of(test), patience,
									info));
}

/* The clock is read once before the attempt and once after it. */
static void expect_waited(struct kunit *test, const struct nbq_timeout *info)
{
	KUNIT_EXPECT_EQ(test, info->waited_ns, 10 * (nbq_fake.reads - 1));
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

	/* before: H w; after: A w */
	nbq_bench_hold(test);
	nbq_bench_enqueue(test);
	others_release(test->priv);
	if (row_of(test)->facts->steals)
		nbq_request(lock_of(test), 0x80);
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
	const struct nbq_row *row = row_of(test);
	int patient_ret, impatient_ret, cpu;
	unsigned int reads;

	row->notrack(lock_of(test));
	row->lock(lock_of(test));
	cpu = raw_smp_processor_id();
	nbq_fake_start(1000, 10);
	patient_ret = row->lock_timeout_info(lock_of(test), 100, &patient);
	reads = nbq_fake.reads;
	impatient_ret = row->lock_timeout_info(lock_of(test), 0, &impatient);
	row->unlock(lock_of(test));

	KUNIT_EXPECT_EQ(test, patient_ret, -EDEADLK);
	KUNIT_EXPECT_EQ(test, patient.holder_cpu, cpu);
	KUNIT_EXPECT_EQ(test, patient.holder_level, NBQ_TASK);
	KUNIT_EXPECT_EQ(test, patient.waited_ns, 10 * (reads - 1));
	KUNIT_EXPECT_EQ(test, impatient_ret, -EBUSY);
	KUNIT_EXPECT_EQ(test, impatient.holder_cpu, cpu);
	KUNIT_EXPECT_EQ(test, impatient.holder_level, NBQ_TASK);
	KUNIT_EXPECT_EQ(test, impatient.waited_ns, 10);
}

/* Abandoning a node with others in the queue */

/* What others see and do: for the calls in the middle of a clock read */
struct others {
	struct kunit *test;
	struct nbq_contender *contender;
	bool acquired;
};

static void others_join(void *arg)
{
	struct others *others = arg;

	nbq_contender_enqueue(others->test->priv, others->contender);
	nbq_contender_link(others->test->priv, others->contender);
}

static void abandoned_node_is_skipped_by_its_successor(struct kunit *test)
{
	struct others behind = { .test = test };
	struct nbq_bench *bench = test->priv;
	struct nbq_node *left;

	/* before: H; x enqueues in the read that ends the patience */
	nbq_bench_hold(test);
	behind.contender = nbq_bench_contender(bench);
	KUNIT_ASSERT_NOT_NULL(test, behind.contender);
	nbq_fake_start(1000, 10);
	nbq_fake_call(11, others_join, &behind);

	/* after: H L x */
	KUNIT_EXPECT_EQ(test, try_for(test, 100), -ETIMEDOUT);
	EXPECT_TOTAL(test, .timeouts = 1, .nodes_allocated = 1,
		     .nodes_abandoned = 1);
	left = behind.contender->pred;
	KUNIT_ASSERT_NOT_NULL(test, left);
	KUNIT_EXPECT_FALSE(test, nbq_is_free(left));

	/* after: H x */
	KUNIT_EXPECT_FALSE(test, nbq_contender_poll(bench, behind.contender));
	KUNIT_EXPECT_PTR_EQ(test, behind.contender->pred,
			    bench->row->holder(bench->lock));
	KUNIT_EXPECT_TRUE(test, nbq_is_free(left));
	EXPECT_SHAPE(test, "HW");
	EXPECT_COUNTED(test, .nodes_allocated = 2, .nodes_reclaimed = 1,
		       .nodes_freed = !holders_nodes(test));
}

/* Resumed nodes are counted beside abandoned and reclaimed ones. */
static void next_attempt_resumes_its_abandoned_node(struct kunit *test)
{
	struct others behind = { .test = test };
	struct nbq_bench *bench = test->priv;

	/* before: H w; y enqueues in the read that ends the patience */
	nbq_fake_start(1000, 10);
	nbq_bench_hold(test);
	nbq_bench_enqueue(test);
	behind.contender = nbq_bench_contender(bench);
	KUNIT_ASSERT_NOT_NULL(test, behind.contender);
	nbq_fake_start(1000, 10);
	nbq_fake_call(11, others_join, &behind);

	/* after: H w L y */
	KUNIT_EXPECT_EQ(test, try_for(test, 100), -ETIMEDOUT);
	EXPECT_TOTAL(test, .timeouts = 1, .nodes_allocated = 1, .nodes_abandoned = 1);

	/* the same node, twice; after: H w L y */
	KUNIT_EXPECT_EQ(test, try_for(test, 100), -ETIMEDOUT);
	EXPECT_TOTAL(test, .timeouts = 1, .nodes_resumed = 1, .nodes_abandoned = 1);
	KUNIT_EXPECT_EQ(test, try_for(test, 100), -ETIMEDOUT);
	EXPECT_TOTAL(test, .timeouts = 1, .nodes_resumed = 1, .nodes_abandoned = 1);
	KUNIT_EXPECT_FALSE(test, nbq_is_free(behind.contender->pred));

	/* y skips it: H w y; the next attempt takes a node */
	KUNIT_EXPECT_FALSE(test, nbq_contender_poll(bench, behind.contender));
	EXPECT_SHAPE(test, "HWW");
	KUNIT_EXPECT_EQ(test, try_for(test, 100), -ETIMEDOUT);
	EXPECT_TOTAL(test, .timeouts = 1, .nodes_allocated = 1,
		     .nodes_freed = goes(test), .nodes_abandoned = stays(test));
}

static void attempts_past_their_deadline_do_not_pile_up_nodes(struct kunit *test)
{
	unsigned int i, taken, acquired = 0;

	nbq_bench_hold(test);
	for (i = 0; i < 100; i++)
		acquired += !try_until(test, 1);

	/* before and after: H */
	KUNIT_EXPECT_EQ(test, acquired, 0);
	expect_no_waiter(test);
	/* Every other one of those that wait outside first has been too late to enqueue. */
	taken = waiters_nodes(test, 1) ? 100 : 50;
	EXPECT_TOTAL(test, .timeouts = 100,
		     .nodes_allocated = goes(test) ? taken : 1,
		     .nodes_freed = taken * goes(test),
		     .nodes_abandoned = 100 * stays(test),
		     .nodes_resumed = 99 * stays(test));
}

/* The operations as tables: how to take, in which form, how long to wait */

static const struct nbq_operation failing_operations[] = {
	{ "lock_timeout", TIMEOUT, PLAIN, 100 },
	{ "lock_timeout_0", TIMEOUT, PLAIN, 0 },
	{ "lock_until", UNTIL, PLAIN, 1100 },
	{ "trylock", TRY, PLAIN },
	{ "lock_timeout_irq", TIMEOUT, IRQ, 100 },
	{ "lock_until_irq", UNTIL, IRQ, 1100 },
	{ "trylock_irq", TRY, IRQ },
	{ "lock_timeout_irqsave", TIMEOUT, IRQSAVE, 100 },
	{ "lock_until_irqsave", UNTIL, IRQSAVE, 1100 },
	{ "trylock_irqsave", TRY, IRQSAVE },
	{ "lock_timeout_bh", TIMEOUT, BH, 100 },
	{ "lock_until_bh", UNTIL, BH, 1100 },
	{ "trylock_bh", TRY, BH },
	{ "lock_timeout_nested", TIMEOUT, NESTED, 100 },
	{ "lock_timeout_irqsave_nested", TIMEOUT, IRQSAVE_NESTED, 100 },
	{ "lock_timeout_info_irqsave", INFO, IRQSAVE, 100 },
}, untimed_operations[] = {
	{ "lock", LOCK, PLAIN },
	{ "lock_irq", LOCK, IRQ },
	{ "lock_irqsave", LOCK, IRQSAVE },
	{ "lock_bh", LOCK, BH },
	{ "lock_nested", LOCK, NESTED },
	{ "lock_irqsave_nested", LOCK, IRQSAVE_NESTED },
}, irqsave_operations[] = {
	{ "lock_timeout_irqsave", TIMEOUT, IRQSAVE, 100 },
	{ "lock_timeout_irqsave_nested", TIMEOUT, IRQSAVE_NESTED, 100 },
	{ "lock_timeout_info_irqsave", INFO, IRQSAVE, 100 },
	{ "lock_until_irqsave", UNTIL, IRQSAVE, 1100 },
	{ "trylock_irqsave", TRY, IRQSAVE },
}, patient_and_impatient_operations[] = {
	{ "trylock", TRY, PLAIN },
	{ "lock_timeout_0", TIMEOUT, PLAIN, 0 },
	{ "lock_timeout_negative", TIMEOUT, PLAIN, -1 },
	{ "lock_until_past", UNTIL, PLAIN, 1 },
	{ "lock_timeout", TIMEOUT, PLAIN, 100 },
	{ "lock_timeout_forever", TIMEOUT, PLAIN, KTIME_MAX },
	{ "lock", LOCK, PLAIN },
};

static void operation_desc(const struct nbq_operation *op, char *desc)
{
	strscpy(desc, op->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(failing_operation, failing_operations, operation_desc);
KUNIT_ARRAY_PARAM(untimed_operation, untimed_operations, operation_desc);
KUNIT_ARRAY_PARAM(irqsave_operation, irqsave_operations, operation_desc);
KUNIT_ARRAY_PARAM(any_operation, patient_and_impatient_operations, operation_desc);

static void free_lock_behind_abandoned_nodes_is_taken_at_once(struct kunit *test)
{
	const struct nbq_operation *op = test->param_value;
	const struct nbq_row *row = row_of(test);
	struct nbq_bench *bench = test->priv;
	unsigned long flags, abandoned;
	int ret;

	nbq_fake_start(1000, 10);
	for (abandoned = 0; abandoned <= NBQ_BENCH_NODES - 2; abandoned++) {
		unsigned int pred_of = abandoned + holders_nodes(test);
		bool at_once = stays(test) && !abandoned;
		/* Where one is in the queue that takes a free lock */
		bool queues = holders_nodes(test);

		nbq_bench_fill(bench, NBQ_BENCH_NODES);
		nbq_bench_leave_abandoned(test, abandoned);

		/* before: A L .. L */
		ret = row->take(op, bench->lock, &flags);
		if (!ret)
			row->drop(op, bench->lock, flags);

		/* after: [], or unchanged where it went past them */
		KUNIT_ASSERT_EQ(test, ret, 0);
		KUNIT_EXPECT_FALSE(test, row->is_locked(bench->lock));
		EXPECT_TOTAL(test, .acquired_handoff = queues && !at_once,
			     .acquired_uncontended = at_once, .nodes_allocated = queues,
			     .nodes_reclaimed = queues ? pred_of : 0,
			     .nodes_freed = queues && goes(test));
		if (queues) {
			expect_idle(test);
			EXPECT_SHAPE(test, ".");
		}
		KUNIT_EXPECT_EQ(test, row->destroy(bench->lock), 0);
		EXPECT_SHAPE(test, ".");
		EXPECT_TOTAL(test, .nodes_reclaimed = queues ? stays(test) : pred_of);
	}
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, 0);
}

/*
 * H L .. L, such that the next waiter skips so many: one more where an abandoned tail does not
 * stay, and one more where the first is a head, which is not skipped.
 */
static void abandon_behind_the_holder(struct kunit *test, unsigned int abandoned)
{
	struct nbq_bench *bench = test->priv;
	unsigned int i;

	nbq_bench_hold(test);
	for (i = 0; i < abandoned + goes(test) + !holders_nodes(test); i++)
		nbq_bench_enqueue(test);
	for (i = 1; i < bench->count; i++)
		nbq_contender_abandon(bench, &bench->contenders[i]);
}

static void most_skipped_is_the_most_abandoned_nodes_of_one_attempt(struct kunit *test)
{
	static const unsigned int abandoned[] = { 2, 5, 1 };
	static const unsigned int longest[] = { 2, 5, 5 };
	struct nbq_bench *bench = test->priv;
	u64 counts[NBQ_SKIPPED_MAX + 1];
	u64 most;
	int i;

	nbq_events_reset();
	for (i = 0; i < ARRAY_SIZE(abandoned); i++) {
		nbq_bench_fill(bench, NBQ_BENCH_NODES);
		abandon_behind_the_holder(test, abandoned[i]);
		nbq_fake_start(1000, 10);
		nbq_fake_call(7, others_release, bench);
		KUNIT_EXPECT_EQ(test, try_for(test, 100), 0);
		KUNIT_EXPECT_EQ(test, 0, nbq_event_read("most_skipped", &most));
		KUNIT_EXPECT_EQ(test, most, longest[i]);
		nbq_skipped_read(counts);
		KUNIT_EXPECT_EQ(test, counts[abandoned[i]], 1);
		KUNIT_EXPECT_EQ(test, bench->row->destroy(bench->lock), 0);
	}
}

/* Preemption, interrupts, bottom halves */

static void expect_holder_s_context(struct kunit *test)
{
	const struct nbq_operation *op = test->param_value;
	const struct nbq_row *row = row_of(test);
	void *lock = lock_of(test);
	struct nbq_context before, holding, after;
	unsigned long flags;
	int ret;

	before = nbq_context_now();
	ret = row->take(op, lock, &flags);
	holding = nbq_context_now();
	if (!ret)
		row->drop(op, lock, flags);
	after = nbq_context_now();
	nbq_context_restore(before);

	KUNIT_EXPECT_EQ(test, ret, 0);
	nbq_expect_context(test, holding, nbq_context_within(before, op->form));
	nbq_expect_context(test, after, before);
}

static void holder_has_preemption_off_and_what_its_operation_says(struct kunit *test)
{
	expect_holder_s_context(test);
}

static void untimed_holder_has_preemption_off_and_what_its_operation_says(struct kunit *test)
{
	expect_holder_s_context(test);
}

static void failure_leaves_preemption_and_interrupts_as_they_were(struct kunit *test)
{
	const struct nbq_operation *op = test->param_value;
	const struct nbq_row *row = row_of(test);
	void *lock = lock_of(test);
	struct nbq_context before, after;
	unsigned long flags;
	int ret;

	nbq_bench_hold(test);
	nbq_fake_start(1000, 10);
	before = nbq_context_now();
	ret = row->take(op, lock, &flags);
	if (!ret)
		row->drop(op, lock, flags);
	after = nbq_context_now();
	nbq_context_restore(before);

	KUNIT_EXPECT_EQ(test, ret, nbq_operation_failure(op));
	nbq_expect_context(test, after, before);
}

static void irqsave_operations_leave_interrupts_off_that_were_off(struct kunit *test)
{
	const struct nbq_operation *op = test->param_value;
	const struct nbq_row *row = row_of(test);
	void *lock = lock_of(test);
	struct nbq_context failed, released;
	unsigned long flags;
	int ret;

	nbq_fake_start(1000, 10);
	local_irq_disable();
	ret = row->take(op, lock, &flags);
	if (!ret)
		row->drop(op, lock, flags);
	released = nbq_context_now();
	local_irq_enable();
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_TRUE(test, released.irqs_off);

	nbq_bench_hold(test);
	local_irq_disable();
	ret = row->take(op, lock, &flags);
	failed = nbq_context_now();
	local_irq_enable();
	KUNIT_EXPECT_EQ(test, ret, nbq_operation_failure(op));
	KUNIT_EXPECT_TRUE(test, failed.irqs_off);
}

/* The advisory queries */

static void expect_queries(struct kunit *test, const char *picture, bool locked,
			   bool contended)
{
	const struct nbq_row *row = row_of(test);
	void *lock = lock_of(test);

	KUNIT_EXPECT_EQ_MSG(test, row->is_locked(lock), locked, "%s", picture);
	KUNIT_EXPECT_EQ_MSG(test, row->is_contended(lock), contended, "%s",
			    picture);
}

static void is_locked_and_is_contended_in_every_state(struct kunit *test)
{
	struct nbq_bench *bench = test->priv;
	struct nbq_contender *holder, *w, *x;

	expect_queries(test, "[]", false, false);
	holder = nbq_bench_hold(test);
	expect_queries(test, "H", true, false);
	w = nbq_bench_enqueue(test);
	bench->pool.waiting.lock = bench->lock;
	bench->pool.waiting.blocker.tagged = (unsigned long)w->pred;
	expect_queries(test, "H w", true, true);
	x = nbq_bench_enqueue(test);
	nbq_contender_abandon(bench, w);
	expect_queries(test, "H L x", true, true);
	nbq_contender_abandon(bench, x);
	expect_queries(test, "H L: advisory", true, true);
	nbq_contender_release(bench, holder);
	expect_queries(test, "A L", false, false);
	x = nbq_bench_enqueue(test);
	if (row_of(test)->facts->steals) {
		expect_queries(test, "H past A: advisory", true, true);
	} else {
		bench->pool.waiting.blocker.tagged = (unsigned long)x->pred;
		expect_queries(test, "A L x", true, true);
		bench->pool.waiting.blocker.tagged = 0;
		KUNIT_EXPECT_TRUE(test, nbq_contender_poll(bench, x));
		expect_queries(test, "H", true, false);
	}
	nbq_contender_release(bench, x);
	expect_queries(test, "[]", false, false);
}

static void is_locked_and_is_contended_of_a_held_lock(struct kunit *test)
{
	const struct nbq_row *row = row_of(test);
	void *lock = lock_of(test);
	bool locked, contended;

	row->lock(lock);
	locked = row->is_locked(lock);
	contended = row->is_contended(lock);
	row->unlock(lock);
	KUNIT_EXPECT_TRUE(test, locked);
	KUNIT_EXPECT_FALSE(test, contended);
	expect_queries(test, "[]", false, false);
}

/* Making and destroying */

static void expect_free_and_usable(struct kunit *test, void *lock)
{
	const struct nbq_row *row = row_of(test);

	KUNIT_EXPECT_FALSE(test, row->is_locked(lock));
	row->lock(lock);
	row->unlock(lock);
	KUNIT_EXPECT_EQ(test, row->destroy(lock), 0);
	KUNIT_EXPECT_NULL(test, row->tail(lock));
}

static void statically_defined_locks_are_free(struct kunit *test)
{
	expect_free_and_usable(test, row_of(test)->static_lock);
	expect_free_and_usable(test, row_of(test)->static_member);
}

static void init_forgets_what_was_in_the_memory(struct kunit *test)
{
	const struct nbq_row *row = row_of(test);
	void *lock = lock_of(test);

	memset(lock, 0x6b, row->size);
	row->init(lock);
	KUNIT_EXPECT_NULL(test, row->tail(lock));
	KUNIT_EXPECT_NULL(test, row->holder(lock));
	KUNIT_EXPECT_FALSE(test, row->is_locked(lock));
	expect_free_and_usable(test, lock);
}

static void destroy_reclaims_the_node_that_a_free_lock_keeps(struct kunit *test)
{
	const struct nbq_row *row = row_of(test);
	void *lock = lock_of(test);

	/* before and after: [] */
	KUNIT_EXPECT_EQ(test, row->destroy(lock), 0);
	EXPECT_TOTAL(test);

	/* before: [], or A; after: [] */
	row->lock(lock);
	row->unlock(lock);
	expect_idle(test);
	KUNIT_EXPECT_EQ(test, row->destroy(lock), 0);
	KUNIT_EXPECT_NULL(test, row->tail(lock));
	EXPECT_UNCONTENDED(test, 1, 1);
}

static void destroy_reclaims_exactly_the_abandoned_nodes(struct kunit *test)
{
	struct nbq_bench *bench = test->priv;
	unsigned int abandoned;

	for (abandoned = 0; abandoned <= NBQ_BENCH_NODES - 2; abandoned++) {
		nbq_bench_fill(bench, NBQ_BENCH_NODES);
		nbq_bench_leave_abandoned(test, abandoned);

		/* before: A L .. L */
		KUNIT_EXPECT_EQ(test, bench->row->destroy(bench->lock), 0);

		/* after: [] */
		KUNIT_EXPECT_NULL(test, bench->row->tail(bench->lock));
		EXPECT_SHAPE(test, ".");
		EXPECT_TOTAL(test, .nodes_reclaimed = abandoned + holders_nodes(test));
	}
}

/* Misuse. Each case announces the report that it provokes. */

static void destroy_of_a_held_lock_is_refused(struct kunit *test)
{
	const struct nbq_row *row = row_of(test);
	struct nbq_bench *bench = test->priv;
	struct nbq_contender *holder;
	struct nbq_node *node;

	nbq_provoke_report(test, NBQ_IN_USE_REPORT);
	holder = nbq_bench_hold(test);
	node = holders_nodes(test) ? holder->node : NULL;

	/* before and after: H */
	KUNIT_EXPECT_EQ(test, row->destroy(bench->lock), -EBUSY);
	EXPECT_SHAPE(test, "H");
	KUNIT_EXPECT_TRUE(test, row->is_locked(bench->lock));
	KUNIT_EXPECT_PTR_EQ(test, row->tail(bench->lock), node);
	KUNIT_EXPECT_PTR_EQ(test, row->holder(bench->lock), node);
	EXPECT_TOTAL(test);

	/* the holder notices nothing; after: [] */
	KUNIT_EXPECT_EQ(test, nbq_contender_release(bench, holder), goes(test));
	KUNIT_EXPECT_EQ(test, row->destroy(bench->lock), 0);
}

static void destroy_of_a_lock_with_a_waiter_is_refused(struct kunit *test)
{
	const struct nbq_row *row = row_of(test);
	struct nbq_bench *bench = test->priv;
	struct nbq_contender *holder, *w, *x;

	nbq_provoke_report(test, NBQ_IN_USE_REPORT);
	holder = nbq_bench_hold(test);
	w = nbq_bench_enqueue(test);
	x = nbq_bench_enqueue(test);
	nbq_contender_abandon(bench, w);
	nbq_contender_release(bench, holder);

	/* before and after: A L x */
	KUNIT_EXPECT_EQ(test, row->destroy(bench->lock), -EBUSY);
	EXPECT_SHAPE(test, "ALW");
	KUNIT_EXPECT_PTR_EQ(test, row->tail(bench->lock), x->node);
	EXPECT_TOTAL(test);
}

static void destroy_of_a_held_lock_keeps_its_abandoned_nodes(struct kunit *test)
{
	const struct nbq_row *row = row_of(test);
	struct nbq_bench *bench = test->priv;
	struct nbq_contender *w, *x;
	struct nbq_node *tail;

	nbq_provoke_report(test, NBQ_IN_USE_REPORT);
	nbq_bench_hold(test);
	w = nbq_bench_enqueue(test);
	x = nbq_bench_enqueue(test);
	nbq_contender_abandon(bench, w);
	nbq_contender_abandon(bench, x);

	/* before and after: H L */
	tail = row->tail(bench->lock);
	KUNIT_EXPECT_EQ(test, row->destroy(bench->lock), -EBUSY);
	EXPECT_SHAPE(test, "HLl");
	KUNIT_EXPECT_PTR_EQ(test, row->tail(bench->lock), tail);
	EXPECT_TOTAL(test);
}

static void needs_checked_unlock(struct kunit *test)
{
	if (!row_of(test)->facts->checks_unlock)
		kunit_skip(test, "without lockdep, this type's unlock is a store");
}

/* By a context that would hold it: with preemption off. */
static void misused_unlock(struct kunit *test)
{
	preempt_disable();
	row_of(test)->unlock(lock_of(test));
	preempt_enable();
}

static void unlock_of_a_free_lock_changes_nothing(struct kunit *test)
{
	struct nbq_context before = nbq_context_now(), after;

	needs_checked_unlock(test);
	nbq_provoke_report(test, NBQ_NOT_HELD_REPORT);
	misused_unlock(test);
	nbq_bench_leave_abandoned(test, 1);

	/* before and after: A L */
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
	struct nbq_bench *bench = test->priv;
	struct nbq_context before = nbq_context_now(), after;

	needs_checked_unlock(test);
	nbq_provoke_report(test, NBQ_NOT_OWNER_REPORT);
	nbq_bench_hold(test);

	/* before and after: H */
	misused_unlock(test);
	after = nbq_context_now();
	nbq_context_restore(before);
	KUNIT_EXPECT_EQ(test, after.preempt, before.preempt);
	EXPECT_SHAPE(test, "H");
	KUNIT_EXPECT_TRUE(test, bench->row->is_locked(bench->lock));
	EXPECT_COUNTED(test, .nodes_allocated = 1,
		       .nodes_freed = !holders_nodes(test));
}

#define NBQ_SUITE_CASES							\
{									\
	KUNIT_CASE_PARAM(patience_is_spent_to_the_nanosecond,		\
			 patience_gen_params),				\
	KUNIT_CASE_PARAM(deadline_is_kept_to_the_nanosecond,		\
			 deadline_gen_params),				\
	HARDWARE_CASES							\
	KUNIT_CASE(trylock_of_a_held_lock_fails_without_the_clock),	\
	KUNIT_CASE_PARAM(failed_try_writes_to_neither_lock_nor_nodes,	\
			 busy_gen_params),				\
	KUNIT_CASE(failed_try_is_never_a_deadlock),			\
	KUNIT_CASE_PARAM(uncontended_acquisition_never_reads_the_clock,	\
			 free_gen_params),				\
	KUNIT_CASE(untimed_operations_on_a_free_lock_never_read_the_clock),	\
	KUNIT_CASE(waiter_is_granted_the_lock_while_it_has_patience),\
	KUNIT_CASE(grant_during_the_last_clock_read_is_left_to_the_next),\
	KUNIT_CASE(locks_can_share_one_budget),				\
	KUNIT_CASE(timeout_info_of_an_acquisition_is_untouched),	\
	KUNIT_CASE(timeout_info_without_a_holder_has_no_cpu),		\
	KUNIT_CASE(timeout_info_has_the_holder_s_cpu_and_level),	\
	KUNIT_CASE(abandoned_node_is_skipped_by_its_successor),	\
	KUNIT_CASE(next_attempt_resumes_its_abandoned_node),		\
	KUNIT_CASE(attempts_past_their_deadline_do_not_pile_up_nodes),	\
	KUNIT_CASE_PARAM(free_lock_behind_abandoned_nodes_is_taken_at_once,\
			 any_operation_gen_params),				\
	KUNIT_CASE(most_skipped_is_the_most_abandoned_nodes_of_one_attempt),\
	KUNIT_CASE_PARAM(holder_has_preemption_off_and_what_its_operation_says,\
			 failing_operation_gen_params),			\
	KUNIT_CASE_PARAM(untimed_holder_has_preemption_off_and_what_its_operation_says,\
			 untimed_operation_gen_params),			\
	KUNIT_CASE_PARAM(failure_leaves_preemption_and_interrupts_as_they_were,\
			 failing_operation_gen_params),			\
	KUNIT_CASE_PARAM(irqsave_operations_leave_interrupts_off_that_were_off,\
			 irqsave_operation_gen_params),			\
	KUNIT_CASE(is_locked_and_is_contended_in_every_state),	\
	KUNIT_CASE(is_locked_and_is_contended_of_a_held_lock),			\
	KUNIT_CASE(statically_defined_locks_are_free),			\
	KUNIT_CASE(init_forgets_what_was_in_the_memory),		\
	KUNIT_CASE(destroy_reclaims_the_node_that_a_free_lock_keeps),	\
	KUNIT_CASE(destroy_reclaims_exactly_the_abandoned_nodes),	\
	KUNIT_CASE(destroy_of_a_held_lock_is_refused),		\
	KUNIT_CASE(destroy_of_a_lock_with_a_waiter_is_refused),		\
	KUNIT_CASE(destroy_of_a_held_lock_keeps_its_abandoned_nodes),	\
	KUNIT_CASE(unlock_of_a_free_lock_changes_nothing),	\
	KUNIT_CASE(unlock_on_another_cpu_changes_nothing),\
	{}								\
}

#define NBQ_SUITE_SUFFIX	"_operations"
#include "lock_row_suites.h"
