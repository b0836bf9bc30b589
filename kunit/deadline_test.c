// SPDX-License-Identifier: GPL-2.0
/*
 * Patience: what becomes of a ktime_t, when a waiter reads the clock, and how late a deadline can
 * be noticed.
 */

#include "common.h"

/* A task's wait for the holder of the fixture's lock. It checks for no deadlock. */
static struct nbq_wait wait_until(struct kunit *test, struct nbq_deadline *deadline)
{
	static const u16 holder;
	struct nbq_fixture *fixture = test->priv;

	return (struct nbq_wait){
		.deadline = deadline,
		.pool = &fixture->pool,
		.lock = fixture->lock,
		.held_by = &holder,
		.nested = true,
	};
}

/* Polls from one clock read to the next */
#define MOST_POLLS	32

static bool poll_again(struct nbq_wait *wait)
{
	return nbq_wait_continue_behind_holder(wait);
}

static const struct patience_case {
	const char *desc;
	ktime_t patience;
	/* The deadline after one poll, at 1000 */
	ktime_t at;
	unsigned int reads;
} patience_cases[] = {
	{ "zero", 0, 0, 0 },
	{ "minus_1", -1, -1, 0 },
	{ "least", KTIME_MIN, KTIME_MIN, 0 },
	{ "1_ns", 1, 1001, 1 },
	{ "1_s", NSEC_PER_SEC, NSEC_PER_SEC + 1000, 1 },
	{ "last_that_fits", KTIME_MAX - 1001, KTIME_MAX - 1, 1 },
	{ "sum_is_the_end_of_time", KTIME_MAX - 1000, KTIME_MAX, 1 },
	{ "sum_is_past_it", KTIME_MAX - 999, KTIME_MAX, 1 },
	{ "most_but_one", KTIME_MAX - 1, KTIME_MAX, 1 },
	{ "forever", KTIME_MAX, KTIME_MAX, 0 },
};

NBQ_ARRAY_PARAM(patience, patience_cases);

static void patience_becomes_a_deadline(struct kunit *test)
{
	const struct patience_case *p = test->param_value;
	struct nbq_deadline deadline;
	struct nbq_wait wait = wait_until(test, &deadline);
	bool waits = p->patience > 0;

	nbq_fake_start(1000, 0);
	deadline = nbq_deadline_after(p->patience);
	KUNIT_EXPECT_EQ(test, nbq_deadline_is_none(&deadline), !waits);
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, 0);

	KUNIT_EXPECT_EQ(test, poll_again(&wait), waits);
	KUNIT_EXPECT_EQ(test, deadline.at, p->at);
	KUNIT_EXPECT_EQ(test, nbq_deadline_is_none(&deadline), !waits);
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, p->reads);
}

static const struct at_case {
	const char *desc;
	ktime_t at;
	bool passed;
	unsigned int reads;
} at_cases[] = {
	{ "least", KTIME_MIN, true, 1 },
	{ "minus_1", -1, true, 1 },
	{ "zero", 0, true, 1 },
	{ "1_ns_ago", 999, true, 1 },
	{ "now", 1000, true, 1 },
	{ "1_ns_from_now", 1001, false, 1 },
	{ "most_but_one", KTIME_MAX - 1, false, 1 },
	{ "never", KTIME_MAX, false, 0 },
};

NBQ_ARRAY_PARAM(at, at_cases);

static void absolute_deadline_is_compared_with_the_clock(struct kunit *test)
{
	const struct at_case *a = test->param_value;
	struct nbq_deadline deadline = nbq_deadline_at(a->at);
	struct nbq_wait wait = wait_until(test, &deadline);

	nbq_fake_start(1000, 0);
	KUNIT_EXPECT_EQ(test, deadline.at, a->at);
	KUNIT_EXPECT_FALSE(test, nbq_deadline_is_none(&deadline));
	KUNIT_EXPECT_EQ(test, poll_again(&wait), !a->passed);
	KUNIT_EXPECT_EQ(test, deadline.at, a->at);
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, a->reads);
}

static void patience_starts_at_the_first_clock_read(struct kunit *test)
{
	struct nbq_deadline deadline;
	struct nbq_wait wait = wait_until(test, &deadline);

	nbq_fake_start(1000, 0);
	deadline = nbq_deadline_after(10);
	nbq_fake.now = 5000;
	KUNIT_EXPECT_TRUE(test, poll_again(&wait));
	KUNIT_EXPECT_EQ(test, deadline.at, 5010);
}

static void far_from_the_deadline_the_clock_is_read_at_every_32nd_poll(struct kunit *test)
{
	struct nbq_deadline deadline = nbq_deadline_after(KTIME_MAX / 2);
	struct nbq_wait wait = wait_until(test, &deadline);
	unsigned int poll, next = 0, stride = 8, reads = 0;

	nbq_fake_start(0, 1);
	for (poll = 0; poll < 1000; poll++) {
		KUNIT_EXPECT_TRUE(test, poll_again(&wait));
		if (poll == next) {
			reads++;
			next += stride;
			stride = min_t(unsigned int, 2 * stride, MOST_POLLS);
		}
		KUNIT_EXPECT_EQ(test, nbq_fake.reads, reads);
	}
}

/* As many polls as the time takes, of so many ns each, and those reads which it states. */
static void expect_in_time(struct kunit *test, u32 patience, u32 poll_ns)
{
	struct nbq_deadline deadline = nbq_deadline_after(patience);
	struct nbq_wait wait = wait_until(test, &deadline);
	unsigned int polls = DIV_ROUND_UP(patience, poll_ns), most;
	unsigned int poll = 0;

	nbq_fake_start(0, 0);
	while (poll_again(&wait)) {
		poll++;
		nbq_fake.now += poll_ns;
	}
	/* One poll late, and more only if the first polls take longer than was assumed */
	if (poll_ns <= 256 || patience >= 8 * poll_ns)
		KUNIT_EXPECT_LE_MSG(test, poll, polls, "%u ns", poll_ns);
	KUNIT_EXPECT_LT(test, poll, polls + MOST_POLLS);
	KUNIT_EXPECT_GE(test, poll, polls);
	/* At the start twice as many polls from read to read; at the end, half as many. */
	most = 4 + polls / 32 + 2 * ilog2(polls) + (poll_ns < 32 ? 8 : 0);
	KUNIT_EXPECT_LE_MSG(test, nbq_fake.reads, most, "%u ns of %u", poll_ns, patience);
}

static void near_the_deadline_the_clock_is_read_ever_more_often(struct kunit *test)
{
	u32 patience, poll_ns;

	for (patience = 100; patience < 10 * NSEC_PER_MSEC; patience *= 3) {
		for (poll_ns = 5; poll_ns < 2000; poll_ns *= 2)
			expect_in_time(test, patience, poll_ns);
	}
}

static void deadline_is_never_early_and_at_most_32_polls_late(struct kunit *test)
{
	unsigned int passes_at, poll, bound;

	/* The deadline passes just before the poll number passes_at. */
	for (passes_at = 0; passes_at < 150; passes_at++) {
		struct nbq_deadline deadline = nbq_deadline_at(1);
		struct nbq_wait wait = wait_until(test, &deadline);

		bound = passes_at + MOST_POLLS;
		nbq_fake_start(0, 0);
		for (poll = 0; poll < bound; poll++) {
			nbq_fake.now = poll >= passes_at;
			if (!poll_again(&wait))
				break;
		}
		KUNIT_EXPECT_GE(test, poll, passes_at);
		KUNIT_EXPECT_LT(test, poll, bound);
	}
}

static void without_a_fake_clock_the_kernel_s_is_read(struct kunit *test)
{
	u64 before = ktime_get_mono_fast_ns();
	u64 now = nbq_clock_ns();

	KUNIT_EXPECT_LE(test, before, now);
	KUNIT_EXPECT_LE(test, now, ktime_get_mono_fast_ns());
}

static struct kunit_case deadline_cases[] = {
	KUNIT_CASE_PARAM(patience_becomes_a_deadline, patience_gen_params),
	KUNIT_CASE_PARAM(absolute_deadline_is_compared_with_the_clock, at_gen_params),
	KUNIT_CASE(patience_starts_at_the_first_clock_read),
	KUNIT_CASE(far_from_the_deadline_the_clock_is_read_at_every_32nd_poll),
	KUNIT_CASE(near_the_deadline_the_clock_is_read_ever_more_often),
	KUNIT_CASE(deadline_is_never_early_and_at_most_32_polls_late),
	KUNIT_CASE(without_a_fake_clock_the_kernel_s_is_read),
	{}
};

static struct kunit_suite deadline_suite = {
	.name = "nbq_deadline",
	.init = nbq_fixture_init_spin,
	.exit = nbq_fixture_exit,
	.test_cases = deadline_cases,
};

kunit_test_suite(deadline_suite);
