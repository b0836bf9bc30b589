// SPDX-License-Identifier: GPL-2.0
/*
 * The public verbs of CLH-NB, in one context: patience, the clock, abandoned
 * nodes, preemption and interrupts, the advisory looks, destroy and misuse.
 *
 * Whoever else is in the queue is moved by hand, before the verb or in the
 * middle of a clock read. Pictures as in clh_test.c, of the others' nodes: the
 * verb's own comes from the pool of the CPU.
 */
#include <linux/bottom_half.h>
#include <linux/irqflags.h>
#include <linux/preempt.h>
#include <linux/string.h>

#include "common.h"

static struct nbq_clh *lock_of(struct kunit *test)
{
	struct nbq_bench *bench = test->priv;

	return &bench->lock;
}

/* Somebody else holds the lock. */
static void hold(struct kunit *test)
{
	struct nbq_node *pred;

	nbq_bench_join(test, &pred);
	KUNIT_ASSERT_NULL(test, pred);
}

/* Unlock at once, so that the case may go on and fail as it likes. */
static int unlock_if_acquired(struct nbq_clh *lock, int ret)
{
	if (!ret)
		nbq_clh_unlock(lock);
	return ret;
}

/* What others do in the middle of a clock read */

static void others_hand_over(void *arg)
{
	struct nbq_clh *lock = arg;

	nbq_clh_hand_over(lock, lock->holder);
}

/* Patience */

static const struct wait_case {
	const char *desc;
	ktime_t time;
	/* reads of a clock that starts at 1000 and goes in steps of 10 */
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
	{ "least", KTIME_MIN, 0 },
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

static void patience_is_spent_to_the_nanosecond(struct kunit *test)
{
	const struct wait_case *wait = test->param_value;
	struct nbq_clh *lock = lock_of(test);
	int ret;

	hold(test);
	nbq_fake_start(1000, 10);

	/* before and after: H */
	ret = unlock_if_acquired(lock, nbq_clh_lock_timeout(lock, wait->time));
	KUNIT_EXPECT_EQ(test, ret, -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, wait->reads);
	EXPECT_PICTURE(test, "H");
	KUNIT_EXPECT_PTR_EQ(test, lock->tail, lock->holder);
	EXPECT_TOTAL(test, .timeouts = 1, .nodes_taken = 1,
		     .nodes_given_back = 1);
}

static void deadline_is_kept_to_the_nanosecond(struct kunit *test)
{
	const struct wait_case *wait = test->param_value;
	struct nbq_clh *lock = lock_of(test);
	int ret;

	hold(test);
	nbq_fake_start(1000, 10);

	/* before and after: H */
	ret = unlock_if_acquired(lock, nbq_clh_lock_until(lock, wait->time));
	KUNIT_EXPECT_EQ(test, ret, -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, wait->reads);
	EXPECT_PICTURE(test, "H");
	EXPECT_TOTAL(test, .timeouts = 1, .nodes_taken = 1,
		     .nodes_given_back = 1);
}

static void trylock_of_a_held_lock_fails_without_the_clock(struct kunit *test)
{
	struct nbq_clh *lock = lock_of(test);
	bool acquired;

	hold(test);
	nbq_fake_start(1000, 10);

	/* before and after: H */
	acquired = nbq_clh_trylock(lock);
	if (acquired)
		nbq_clh_unlock(lock);
	KUNIT_EXPECT_FALSE(test, acquired);
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, 0);
	EXPECT_PICTURE(test, "H");
	EXPECT_TOTAL(test, .timeouts = 1, .nodes_taken = 1,
		     .nodes_given_back = 1);
}

static void uncontended_acquisition_never_reads_the_clock(struct kunit *test)
{
	const struct wait_case *wait = test->param_value;
	struct nbq_clh *lock = lock_of(test);

	nbq_fake_start(1000, 10);

	/* before: []; in between: H; after: [] */
	KUNIT_EXPECT_EQ(test, 0,
			unlock_if_acquired(lock, nbq_clh_lock_timeout(lock, wait->time)));
	KUNIT_EXPECT_EQ(test, 0,
			unlock_if_acquired(lock, nbq_clh_lock_until(lock, wait->time)));
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, 0);
	KUNIT_EXPECT_NULL(test, lock->tail);
	EXPECT_TOTAL(test, .acquired_uncontended = 2, .nodes_taken = 2,
		     .nodes_given_back = 2);
}

static void untimed_verbs_on_a_free_lock_never_read_the_clock(struct kunit *test)
{
	struct nbq_clh *lock = lock_of(test);
	bool acquired;

	nbq_fake_start(1000, 10);
	nbq_clh_lock(lock);
	nbq_clh_unlock(lock);
	acquired = nbq_clh_trylock(lock);
	if (acquired)
		nbq_clh_unlock(lock);
	KUNIT_EXPECT_TRUE(test, acquired);
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, 0);
	EXPECT_TOTAL(test, .acquired_uncontended = 2, .nodes_taken = 2,
		     .nodes_given_back = 2);
}

static void patience_past_the_end_of_time_means_forever(struct kunit *test)
{
	struct nbq_clh *lock = lock_of(test);
	int ret;

	/* before: H, who hands over at the only read of the clock */
	hold(test);
	nbq_fake_start(1000, KTIME_MAX / 2);
	nbq_fake_call(1, others_hand_over, lock);
	ret = unlock_if_acquired(lock, nbq_clh_lock_timeout(lock, KTIME_MAX - 1));

	/* after: [] */
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, 1);
	KUNIT_EXPECT_NULL(test, lock->tail);
	EXPECT_PICTURE(test, ".");
}

static void waiter_takes_the_lock_in_the_middle_of_its_patience(struct kunit *test)
{
	struct nbq_clh *lock = lock_of(test);
	int ret;

	/* before: H, who hands over at the third of eleven reads */
	hold(test);
	nbq_fake_start(1000, 10);
	nbq_fake_call(3, others_hand_over, lock);
	ret = unlock_if_acquired(lock, nbq_clh_lock_timeout(lock, 100));

	/* after: [] */
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, 3);
	KUNIT_EXPECT_NULL(test, lock->tail);
	EXPECT_PICTURE(test, ".");
	EXPECT_TOTAL(test, .acquired_handoff = 1, .nodes_taken = 1,
		     .nodes_reclaimed = 1, .nodes_given_back = 1);
}

static void grant_during_the_last_clock_read_is_left_to_the_next(struct kunit *test)
{
	struct nbq_clh *lock = lock_of(test);
	int ret;

	/* before: H, who hands over in the read that ends the patience */
	hold(test);
	nbq_fake_start(1000, 10);
	nbq_fake_call(11, others_hand_over, lock);
	ret = unlock_if_acquired(lock, nbq_clh_lock_timeout(lock, 100));

	/* after: A */
	KUNIT_EXPECT_EQ(test, ret, -ETIMEDOUT);
	EXPECT_PICTURE(test, "A");

	/* the next one needs no patience; after: [] */
	ret = unlock_if_acquired(lock, nbq_clh_lock_timeout(lock, 0));
	KUNIT_EXPECT_EQ(test, ret, 0);
	EXPECT_PICTURE(test, ".");
	EXPECT_TOTAL(test, .timeouts = 1, .acquired_handoff = 1,
		     .nodes_taken = 2, .nodes_given_back = 2,
		     .nodes_reclaimed = 1);
}

static void locks_can_share_one_budget(struct kunit *test)
{
	struct nbq_clh *first = lock_of(test), second, third;
	struct nbq_node *node = nbq_bench_claim(test);
	int got_first, got_second, got_third;

	nbq_clh_init(&second);
	nbq_clh_init(&third);
	nbq_clh_join(&second, node);
	second.holder = node;
	hold(test);

	/* first is handed over at 1020, second is not; third is free */
	nbq_fake_start(1000, 10);
	nbq_fake_call(3, others_hand_over, first);
	got_first = nbq_clh_lock_until(first, 1050);
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, 3);
	got_second = unlock_if_acquired(&second, nbq_clh_lock_until(&second, 1050));
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, 6);
	got_third = unlock_if_acquired(&third, nbq_clh_lock_until(&third, 1050));
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, 6);
	unlock_if_acquired(first, got_first);

	KUNIT_EXPECT_EQ(test, got_first, 0);
	KUNIT_EXPECT_EQ(test, got_second, -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, got_third, 0);
}

/* Leaving the queue with others in it */

/* What others see and do: for the calls in the middle of a clock read */
struct others {
	struct nbq_clh *lock;
	struct nbq_node *node;
	struct nbq_node *pred;
	bool acquired;
};

static void others_join(void *arg)
{
	struct others *others = arg;

	others->pred = nbq_clh_join(others->lock, others->node);
}

static void others_try_the_same_lock(void *arg)
{
	struct others *others = arg;

	others->acquired = nbq_clh_trylock(others->lock);
	if (others->acquired)
		nbq_clh_unlock(others->lock);
}

static void timed_out_waiter_leaves_its_node_to_the_one_behind(struct kunit *test)
{
	struct nbq_bench *bench = test->priv;
	struct nbq_clh *lock = &bench->lock;
	struct others behind = { .lock = lock };
	struct nbq_node *prev;
	int ret;

	/* before: H; x joins in the read that ends the patience */
	hold(test);
	behind.node = nbq_bench_claim(test);
	nbq_fake_start(1000, 10);
	nbq_fake_call(11, others_join, &behind);
	ret = unlock_if_acquired(lock, nbq_clh_lock_timeout(lock, 100));

	/* after: H L x */
	KUNIT_EXPECT_EQ(test, ret, -ETIMEDOUT);
	EXPECT_TOTAL(test, .timeouts = 1, .nodes_taken = 1,
		     .nodes_abandoned = 1);
	KUNIT_ASSERT_NOT_NULL(test, behind.pred);
	KUNIT_EXPECT_FALSE(test, nbq_is_free(behind.pred));
	prev = nbq_clh_look(behind.pred);
	KUNIT_EXPECT_PTR_EQ(test, prev, lock->holder);

	/* after: H x */
	nbq_clh_step_over(behind.node, behind.pred, prev);
	KUNIT_EXPECT_TRUE(test, nbq_is_free(behind.pred));
	EXPECT_PICTURE(test, "HW");
	EXPECT_COUNTED(test, .nodes_taken = 2, .nodes_reclaimed = 1);
}

static void nested_attempt_on_the_same_lock_leaves_the_queue_whole(struct kunit *test)
{
	struct nbq_clh *lock = lock_of(test);
	struct others nested = { .lock = lock, .acquired = true };
	unsigned int read;
	int ret;

	hold(test);
	for (read = 1; read <= 11; read++) {
		nested.acquired = true;
		nbq_fake_start(1000, 10);
		nbq_fake_call(read, others_try_the_same_lock, &nested);

		/* before: H; in between: H w x, then H w; after: H */
		ret = unlock_if_acquired(lock, nbq_clh_lock_timeout(lock, 100));
		KUNIT_EXPECT_EQ(test, ret, -ETIMEDOUT);
		KUNIT_EXPECT_FALSE(test, nested.acquired);
		EXPECT_PICTURE(test, "H");
		KUNIT_EXPECT_PTR_EQ(test, lock->tail, lock->holder);
		EXPECT_TOTAL(test, .timeouts = 2, .nodes_taken = 2,
			     .nodes_given_back = 2);
	}
}

static void attempts_without_patience_do_not_pile_up_nodes(struct kunit *test)
{
	struct nbq_clh *lock = lock_of(test);
	unsigned int i, acquired = 0;

	hold(test);
	for (i = 0; i < 100; i++)
		acquired += !unlock_if_acquired(lock, nbq_clh_lock_timeout(lock, 0));

	/* before and after: H */
	KUNIT_EXPECT_EQ(test, acquired, 0);
	KUNIT_EXPECT_PTR_EQ(test, lock->tail, lock->holder);
	EXPECT_TOTAL(test, .timeouts = 100, .nodes_taken = 100,
		     .nodes_given_back = 100);
}

static void attempt_without_patience_clears_up_behind_the_holder(struct kunit *test)
{
	struct nbq_clh *lock = lock_of(test);
	struct nbq_node *node[3], *pred[3];
	int ret, i;

	hold(test);
	for (i = 0; i < 3; i++)
		node[i] = nbq_bench_join(test, &pred[i]);
	for (i = 0; i < 3; i++)
		nbq_clh_leave(lock, node[i], pred[i]);

	/* before: H L L */
	EXPECT_PICTURE(test, "HLL.");
	ret = unlock_if_acquired(lock, nbq_clh_lock_timeout(lock, 0));

	/* after: H */
	KUNIT_EXPECT_EQ(test, ret, -ETIMEDOUT);
	EXPECT_PICTURE(test, "H...");
	KUNIT_EXPECT_PTR_EQ(test, lock->tail, lock->holder);
	EXPECT_TOTAL(test, .timeouts = 1, .nodes_taken = 1,
		     .nodes_given_back = 1, .nodes_reclaimed = 2);
}

/* The verbs as a table: how to take, how long to wait, in which form */

enum how {
	TIMEOUT,
	UNTIL,
	TRY,
	LOCK,
};

enum form {
	PLAIN,
	IRQ,
	IRQSAVE,
	BH,
};

struct verb {
	const char *desc;
	enum how how;
	enum form form;
	ktime_t time;
};

static int take_plain(const struct verb *verb, struct nbq_clh *lock)
{
	if (verb->how == TIMEOUT)
		return nbq_clh_lock_timeout(lock, verb->time);
	if (verb->how == UNTIL)
		return nbq_clh_lock_until(lock, verb->time);
	if (verb->how == TRY)
		return nbq_clh_trylock(lock) ? 0 : -ETIMEDOUT;
	nbq_clh_lock(lock);
	return 0;
}

static int take_irq(const struct verb *verb, struct nbq_clh *lock)
{
	if (verb->how == TIMEOUT)
		return nbq_clh_lock_timeout_irq(lock, verb->time);
	if (verb->how == UNTIL)
		return nbq_clh_lock_until_irq(lock, verb->time);
	if (verb->how == TRY)
		return nbq_clh_trylock_irq(lock) ? 0 : -ETIMEDOUT;
	nbq_clh_lock_irq(lock);
	return 0;
}

static int take_irqsave(const struct verb *verb, struct nbq_clh *lock,
			unsigned long *flags)
{
	if (verb->how == TIMEOUT)
		return nbq_clh_lock_timeout_irqsave(lock, verb->time, *flags);
	if (verb->how == UNTIL)
		return nbq_clh_lock_until_irqsave(lock, verb->time, *flags);
	if (verb->how == TRY)
		return nbq_clh_trylock_irqsave(lock, *flags) ? 0 : -ETIMEDOUT;
	nbq_clh_lock_irqsave(lock, *flags);
	return 0;
}

static int take_bh(const struct verb *verb, struct nbq_clh *lock)
{
	if (verb->how == TIMEOUT)
		return nbq_clh_lock_timeout_bh(lock, verb->time);
	if (verb->how == UNTIL)
		return nbq_clh_lock_until_bh(lock, verb->time);
	if (verb->how == TRY)
		return nbq_clh_trylock_bh(lock) ? 0 : -ETIMEDOUT;
	nbq_clh_lock_bh(lock);
	return 0;
}

static int take(const struct verb *verb, struct nbq_clh *lock,
		unsigned long *flags)
{
	if (verb->form == IRQ)
		return take_irq(verb, lock);
	if (verb->form == IRQSAVE)
		return take_irqsave(verb, lock, flags);
	if (verb->form == BH)
		return take_bh(verb, lock);
	return take_plain(verb, lock);
}

static void drop(const struct verb *verb, struct nbq_clh *lock,
		 unsigned long flags)
{
	if (verb->form == IRQ)
		nbq_clh_unlock_irq(lock);
	else if (verb->form == IRQSAVE)
		nbq_clh_unlock_irqrestore(lock, flags);
	else if (verb->form == BH)
		nbq_clh_unlock_bh(lock);
	else
		nbq_clh_unlock(lock);
}

static const struct verb failing_verbs[] = {
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
}, untimed_verbs[] = {
	{ "lock", LOCK, PLAIN },
	{ "lock_irq", LOCK, IRQ },
	{ "lock_irqsave", LOCK, IRQSAVE },
	{ "lock_bh", LOCK, BH },
}, irqsave_verbs[] = {
	{ "lock_timeout_irqsave", TIMEOUT, IRQSAVE, 100 },
	{ "lock_until_irqsave", UNTIL, IRQSAVE, 1100 },
	{ "trylock_irqsave", TRY, IRQSAVE },
}, patient_and_impatient_verbs[] = {
	{ "trylock", TRY, PLAIN },
	{ "lock_timeout_0", TIMEOUT, PLAIN, 0 },
	{ "lock_timeout_negative", TIMEOUT, PLAIN, -1 },
	{ "lock_until_past", UNTIL, PLAIN, 1 },
	{ "lock_timeout", TIMEOUT, PLAIN, 100 },
	{ "lock_timeout_forever", TIMEOUT, PLAIN, KTIME_MAX },
	{ "lock", LOCK, PLAIN },
};

static void verb_desc(const struct verb *verb, char *desc)
{
	strscpy(desc, verb->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(failing_verb, failing_verbs, verb_desc);
KUNIT_ARRAY_PARAM(untimed_verb, untimed_verbs, verb_desc);
KUNIT_ARRAY_PARAM(irqsave_verb, irqsave_verbs, verb_desc);
KUNIT_ARRAY_PARAM(any_verb, patient_and_impatient_verbs, verb_desc);

static void free_lock_behind_abandoned_nodes_is_taken_at_once(struct kunit *test)
{
	const struct verb *verb = test->param_value;
	struct nbq_bench *bench = test->priv;
	unsigned long flags, leavers;
	int ret;

	nbq_fake_start(1000, 10);
	for (leavers = 0; leavers <= NBQ_BENCH_NODES - 2; leavers++) {
		nbq_bench_fill(bench, NBQ_BENCH_NODES);
		nbq_bench_abandon(test, leavers);

		/* before: A L .. L */
		ret = take(verb, &bench->lock, &flags);
		if (!ret)
			drop(verb, &bench->lock, flags);

		/* after: [] */
		KUNIT_ASSERT_EQ(test, ret, 0);
		KUNIT_EXPECT_NULL(test, bench->lock.tail);
		KUNIT_EXPECT_PTR_EQ(test, NULL,
				    strpbrk(nbq_bench_picture(bench), "ALHW"));
		EXPECT_TOTAL(test, .acquired_handoff = 1, .nodes_taken = 1,
			     .nodes_reclaimed = leavers + 1,
			     .nodes_given_back = 1);
	}
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, 0);
}

static void longest_walk_is_the_most_leavers_in_front_of_one_attempt(struct kunit *test)
{
	static const unsigned int leavers[] = { 2, 5, 1 };
	static const unsigned int longest[] = { 2, 5, 5 };
	struct nbq_bench *bench = test->priv;
	u64 walk;
	int i;

	nbq_events_reset();
	for (i = 0; i < ARRAY_SIZE(leavers); i++) {
		nbq_bench_fill(bench, NBQ_BENCH_NODES);
		nbq_bench_abandon(test, leavers[i]);
		nbq_clh_lock(&bench->lock);
		nbq_clh_unlock(&bench->lock);
		KUNIT_EXPECT_EQ(test, 0, nbq_event_read("longest_walk", &walk));
		KUNIT_EXPECT_EQ(test, walk, longest[i]);
	}
}

/* Preemption, interrupts, bottom halves */

struct context {
	unsigned int preempt;
	bool irqs_off;
	bool bh_off;
};

static struct context context_now(void)
{
	return (struct context){
		.preempt = preempt_count() & PREEMPT_MASK,
		.irqs_off = irqs_disabled(),
		.bh_off = softirq_count(),
	};
}

/* Should a verb have failed here, the case must still be able to say so. */
static void mend(struct context want)
{
	if (want.irqs_off != irqs_disabled()) {
		if (want.irqs_off)
			local_irq_disable();
		else
			local_irq_enable();
	}
	if (!want.bh_off && softirq_count())
		local_bh_enable();
	while ((preempt_count() & PREEMPT_MASK) > want.preempt)
		preempt_enable();
}

static void expect_context(struct kunit *test, struct context now,
			   struct context want)
{
	KUNIT_EXPECT_EQ(test, now.preempt, want.preempt);
	KUNIT_EXPECT_EQ(test, now.irqs_off, want.irqs_off);
	KUNIT_EXPECT_EQ(test, now.bh_off, want.bh_off);
}

static void expect_holder_s_context(struct kunit *test)
{
	const struct verb *verb = test->param_value;
	struct nbq_clh *lock = lock_of(test);
	struct context before, holding, after, want;
	unsigned long flags;
	int ret;

	before = context_now();
	ret = take(verb, lock, &flags);
	holding = context_now();
	if (!ret)
		drop(verb, lock, flags);
	after = context_now();
	mend(before);

	KUNIT_EXPECT_EQ(test, ret, 0);
	want = before;
	want.preempt += PREEMPT_DISABLE_OFFSET;
	want.irqs_off = verb->form == IRQ || verb->form == IRQSAVE;
	want.bh_off = verb->form == BH;
	expect_context(test, holding, want);
	expect_context(test, after, before);
}

static void holder_has_preemption_off_and_what_the_verb_says(struct kunit *test)
{
	expect_holder_s_context(test);
}

static void untimed_holder_has_preemption_off_and_what_the_verb_says(struct kunit *test)
{
	expect_holder_s_context(test);
}

static void failure_leaves_preemption_and_interrupts_as_they_were(struct kunit *test)
{
	const struct verb *verb = test->param_value;
	struct nbq_clh *lock = lock_of(test);
	struct context before, after;
	unsigned long flags;
	int ret;

	hold(test);
	nbq_fake_start(1000, 10);
	before = context_now();
	ret = take(verb, lock, &flags);
	if (!ret)
		drop(verb, lock, flags);
	after = context_now();
	mend(before);

	KUNIT_EXPECT_EQ(test, ret, -ETIMEDOUT);
	expect_context(test, after, before);
}

static void irqsave_verbs_leave_interrupts_off_that_were_off(struct kunit *test)
{
	const struct verb *verb = test->param_value;
	struct nbq_clh *lock = lock_of(test);
	struct context failed, released;
	unsigned long flags;
	int ret;

	nbq_fake_start(1000, 10);
	local_irq_disable();
	ret = take(verb, lock, &flags);
	if (!ret)
		drop(verb, lock, flags);
	released = context_now();
	local_irq_enable();
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_TRUE(test, released.irqs_off);

	hold(test);
	local_irq_disable();
	ret = take(verb, lock, &flags);
	failed = context_now();
	local_irq_enable();
	KUNIT_EXPECT_EQ(test, ret, -ETIMEDOUT);
	KUNIT_EXPECT_TRUE(test, failed.irqs_off);
}

/* The advisory looks */

static void expect_looks(struct kunit *test, const char *picture, bool locked,
			 bool contended)
{
	struct nbq_clh *lock = lock_of(test);

	KUNIT_EXPECT_EQ_MSG(test, nbq_clh_is_locked(lock), locked, "%s", picture);
	KUNIT_EXPECT_EQ_MSG(test, nbq_clh_is_contended(lock), contended, "%s",
			    picture);
}

static void looks_tell_held_and_contended_in_every_state(struct kunit *test)
{
	struct nbq_clh *lock = lock_of(test);
	struct nbq_node *holder, *w, *x, *pred, *w_pred, *x_pred;

	expect_looks(test, "[]", false, false);
	holder = nbq_bench_join(test, &pred);
	expect_looks(test, "H", true, false);
	w = nbq_bench_join(test, &w_pred);
	expect_looks(test, "H w", true, true);
	x = nbq_bench_join(test, &x_pred);
	nbq_clh_leave(lock, w, w_pred);
	expect_looks(test, "H L x", true, true);
	nbq_clh_leave(lock, x, x_pred);
	expect_looks(test, "H L: advisory", true, true);
	nbq_clh_hand_over(lock, holder);
	expect_looks(test, "A L", false, false);
	x = nbq_bench_join(test, &x_pred);
	expect_looks(test, "A L x", false, false);
	nbq_clh_step_over(x, x_pred, nbq_clh_look(x_pred));
	nbq_clh_take_over(lock, x, holder);
	expect_looks(test, "H", true, false);
	nbq_clh_hand_over(lock, x);
	expect_looks(test, "[]", false, false);
}

static void looks_tell_what_the_verbs_did(struct kunit *test)
{
	struct nbq_clh *lock = lock_of(test);
	bool locked, contended;

	nbq_clh_lock(lock);
	locked = nbq_clh_is_locked(lock);
	contended = nbq_clh_is_contended(lock);
	nbq_clh_unlock(lock);
	KUNIT_EXPECT_TRUE(test, locked);
	KUNIT_EXPECT_FALSE(test, contended);
	expect_looks(test, "[]", false, false);
}

/* Making and destroying */

static DEFINE_NBQ_CLH(static_lock);
static struct { struct nbq_clh lock; } static_struct = {
	.lock = NBQ_CLH_INIT(static_struct.lock),
};

static void locks_defined_statically_are_free(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, nbq_clh_is_locked(&static_lock));
	KUNIT_EXPECT_FALSE(test, nbq_clh_is_locked(&static_struct.lock));
	nbq_clh_lock(&static_lock);
	nbq_clh_unlock(&static_lock);
	nbq_clh_lock(&static_struct.lock);
	nbq_clh_unlock(&static_struct.lock);
	KUNIT_EXPECT_EQ(test, nbq_clh_destroy(&static_lock), 0);
	KUNIT_EXPECT_EQ(test, nbq_clh_destroy(&static_struct.lock), 0);
}

static void init_forgets_what_was_in_the_memory(struct kunit *test)
{
	struct nbq_clh lock;

	memset(&lock, 0x6b, sizeof(lock));
	nbq_clh_init(&lock);
	KUNIT_EXPECT_NULL(test, lock.tail);
	KUNIT_EXPECT_NULL(test, lock.holder);
}

static void destroy_of_an_idle_lock_gives_nothing_back(struct kunit *test)
{
	struct nbq_clh *lock = lock_of(test);

	/* before and after: [] */
	KUNIT_EXPECT_EQ(test, nbq_clh_destroy(lock), 0);
	nbq_clh_lock(lock);
	nbq_clh_unlock(lock);
	KUNIT_EXPECT_EQ(test, nbq_clh_destroy(lock), 0);
	EXPECT_TOTAL(test, .acquired_uncontended = 1, .nodes_taken = 1,
		     .nodes_given_back = 1);
}

static void destroy_gives_back_exactly_the_abandoned_nodes(struct kunit *test)
{
	struct nbq_bench *bench = test->priv;
	unsigned int leavers;

	for (leavers = 0; leavers <= NBQ_BENCH_NODES - 2; leavers++) {
		nbq_bench_fill(bench, NBQ_BENCH_NODES);
		nbq_bench_abandon(test, leavers);

		/* before: A L .. L */
		KUNIT_EXPECT_EQ(test, nbq_clh_destroy(&bench->lock), 0);

		/* after: [] */
		KUNIT_EXPECT_NULL(test, bench->lock.tail);
		KUNIT_EXPECT_PTR_EQ(test, NULL,
				    strpbrk(nbq_bench_picture(bench), "ALHW"));
		EXPECT_TOTAL(test, .nodes_reclaimed = leavers + 1);
	}
}

static void destroyed_lock_is_as_new(struct kunit *test)
{
	struct nbq_clh *lock = lock_of(test);
	int ret;

	nbq_bench_abandon(test, 2);
	KUNIT_EXPECT_EQ(test, nbq_clh_destroy(lock), 0);
	EXPECT_TOTAL(test, .nodes_reclaimed = 3);

	ret = unlock_if_acquired(lock, nbq_clh_lock_timeout(lock, 0));
	KUNIT_EXPECT_EQ(test, ret, 0);
	EXPECT_TOTAL(test, .acquired_uncontended = 1, .nodes_taken = 1,
		     .nodes_given_back = 1);
}

/*
 * Misuse. Each warns, which would look like a failure in the log, so these
 * need a KUnit that can keep a warning quiet.
 */
#ifdef kunit_warning_suppress

static void destroy_of_a_held_lock_touches_nothing(struct kunit *test)
{
	struct nbq_clh *lock = lock_of(test);
	struct nbq_node *holder;

	hold(test);
	holder = lock->holder;

	/* before and after: H */
	kunit_warning_suppress(test)
		KUNIT_EXPECT_EQ(test, nbq_clh_destroy(lock), -EBUSY);
	EXPECT_PICTURE(test, "H");
	KUNIT_EXPECT_PTR_EQ(test, lock->tail, holder);
	KUNIT_EXPECT_PTR_EQ(test, lock->holder, holder);
	EXPECT_TOTAL(test);

	/* the holder notices nothing; after: [] */
	KUNIT_EXPECT_TRUE(test, nbq_clh_hand_over(lock, holder));
	KUNIT_EXPECT_EQ(test, nbq_clh_destroy(lock), 0);
}

static void destroy_of_a_lock_held_through_the_verbs_is_refused(struct kunit *test)
{
	struct nbq_clh *lock = lock_of(test);
	int ret = 0;

	kunit_warning_suppress(test) {
		nbq_clh_lock(lock);
		ret = nbq_clh_destroy(lock);
		nbq_clh_unlock(lock);
	}
	KUNIT_EXPECT_EQ(test, ret, -EBUSY);
	KUNIT_EXPECT_NULL(test, lock->tail);
	EXPECT_TOTAL(test, .acquired_uncontended = 1, .nodes_taken = 1,
		     .nodes_given_back = 1);
}

static void destroy_under_a_waiter_touches_nothing(struct kunit *test)
{
	struct nbq_clh *lock = lock_of(test);
	struct nbq_node *holder, *w, *x, *pred, *w_pred, *x_pred;

	holder = nbq_bench_join(test, &pred);
	w = nbq_bench_join(test, &w_pred);
	x = nbq_bench_join(test, &x_pred);
	nbq_clh_leave(lock, w, w_pred);
	nbq_clh_hand_over(lock, holder);

	/* before and after: A L x */
	kunit_warning_suppress(test)
		KUNIT_EXPECT_EQ(test, nbq_clh_destroy(lock), -EBUSY);
	EXPECT_PICTURE(test, "ALW");
	KUNIT_EXPECT_PTR_EQ(test, lock->tail, x);
	EXPECT_TOTAL(test);
}

static void destroy_behind_a_holder_touches_no_abandoned_node(struct kunit *test)
{
	struct nbq_clh *lock = lock_of(test);
	struct nbq_node *w, *x, *pred, *w_pred, *x_pred;

	nbq_bench_join(test, &pred);
	w = nbq_bench_join(test, &w_pred);
	x = nbq_bench_join(test, &x_pred);
	nbq_clh_leave(lock, w, w_pred);
	nbq_clh_leave(lock, x, x_pred);

	/* before and after: H L */
	kunit_warning_suppress(test)
		KUNIT_EXPECT_EQ(test, nbq_clh_destroy(lock), -EBUSY);
	EXPECT_PICTURE(test, "HL.");
	KUNIT_EXPECT_PTR_EQ(test, lock->tail, w);
	EXPECT_TOTAL(test);
}

static void unlock_of_a_lock_that_nobody_holds_changes_nothing(struct kunit *test)
{
	struct nbq_clh *lock = lock_of(test);
	struct context before = context_now(), after;

	kunit_warning_suppress(test) {
		nbq_clh_unlock(lock);
		nbq_bench_abandon(test, 1);

		/* before and after: A L */
		nbq_clh_unlock(lock);
	}
	after = context_now();
	mend(before);
	KUNIT_EXPECT_EQ(test, after.preempt, before.preempt);
	EXPECT_PICTURE(test, "AL.");
	EXPECT_TOTAL(test);
	EXPECT_COUNTED(test);
}

static void unlock_on_another_cpu_than_the_holder_s_changes_nothing(struct kunit *test)
{
	struct nbq_bench *bench = test->priv;
	struct context before = context_now(), after;

	hold(test);
	bench->pool.cpu = nr_cpu_ids;

	/* before and after: H */
	kunit_warning_suppress(test)
		nbq_clh_unlock(&bench->lock);
	after = context_now();
	mend(before);
	KUNIT_EXPECT_EQ(test, after.preempt, before.preempt);
	EXPECT_PICTURE(test, "H");
	EXPECT_COUNTED(test, .nodes_taken = 1);
}

#else

static void misuse_is_refused(struct kunit *test)
{
	kunit_skip(test, "this KUnit cannot keep a warning out of the log");
}

#endif

static struct kunit_case verbs_cases[] = {
	KUNIT_CASE_PARAM(patience_is_spent_to_the_nanosecond,
			 patience_gen_params),
	KUNIT_CASE_PARAM(deadline_is_kept_to_the_nanosecond,
			 deadline_gen_params),
	KUNIT_CASE(trylock_of_a_held_lock_fails_without_the_clock),
	KUNIT_CASE_PARAM(uncontended_acquisition_never_reads_the_clock,
			 free_gen_params),
	KUNIT_CASE(untimed_verbs_on_a_free_lock_never_read_the_clock),
	KUNIT_CASE(patience_past_the_end_of_time_means_forever),
	KUNIT_CASE(waiter_takes_the_lock_in_the_middle_of_its_patience),
	KUNIT_CASE(grant_during_the_last_clock_read_is_left_to_the_next),
	KUNIT_CASE(locks_can_share_one_budget),
	KUNIT_CASE(timed_out_waiter_leaves_its_node_to_the_one_behind),
	KUNIT_CASE(nested_attempt_on_the_same_lock_leaves_the_queue_whole),
	KUNIT_CASE(attempts_without_patience_do_not_pile_up_nodes),
	KUNIT_CASE(attempt_without_patience_clears_up_behind_the_holder),
	KUNIT_CASE_PARAM(free_lock_behind_abandoned_nodes_is_taken_at_once,
			 any_verb_gen_params),
	KUNIT_CASE(longest_walk_is_the_most_leavers_in_front_of_one_attempt),
	KUNIT_CASE_PARAM(holder_has_preemption_off_and_what_the_verb_says,
			 failing_verb_gen_params),
	KUNIT_CASE_PARAM(untimed_holder_has_preemption_off_and_what_the_verb_says,
			 untimed_verb_gen_params),
	KUNIT_CASE_PARAM(failure_leaves_preemption_and_interrupts_as_they_were,
			 failing_verb_gen_params),
	KUNIT_CASE_PARAM(irqsave_verbs_leave_interrupts_off_that_were_off,
			 irqsave_verb_gen_params),
	KUNIT_CASE(looks_tell_held_and_contended_in_every_state),
	KUNIT_CASE(looks_tell_what_the_verbs_did),
	KUNIT_CASE(locks_defined_statically_are_free),
	KUNIT_CASE(init_forgets_what_was_in_the_memory),
	KUNIT_CASE(destroy_of_an_idle_lock_gives_nothing_back),
	KUNIT_CASE(destroy_gives_back_exactly_the_abandoned_nodes),
	KUNIT_CASE(destroyed_lock_is_as_new),
#ifdef kunit_warning_suppress
	KUNIT_CASE(destroy_of_a_held_lock_touches_nothing),
	KUNIT_CASE(destroy_of_a_lock_held_through_the_verbs_is_refused),
	KUNIT_CASE(destroy_under_a_waiter_touches_nothing),
	KUNIT_CASE(destroy_behind_a_holder_touches_no_abandoned_node),
	KUNIT_CASE(unlock_of_a_lock_that_nobody_holds_changes_nothing),
	KUNIT_CASE(unlock_on_another_cpu_than_the_holder_s_changes_nothing),
#else
	KUNIT_CASE(misuse_is_refused),
#endif
	{}
};

static struct kunit_suite verbs_suite = {
	.name = "nbq_clh_verbs",
	.init = nbq_bench_init,
	.exit = nbq_bench_exit,
	.test_cases = verbs_cases,
};

kunit_test_suite(verbs_suite);
