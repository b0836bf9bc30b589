// SPDX-License-Identifier: GPL-2.0
/*
 * How the stress driver says that something is shared evenly: known values,
 * and shares too large for their squares.
 */
#include <kunit/test.h>
#include <linux/limits.h>
#include <linux/math.h>
#include <linux/string.h>

#include "../nbqlock/stress/statistics.h"

/* As many as there are threads at most. */
#define MANY	4096

/* Shares whose spread is known */
struct known {
	const char *desc;		/* in words */
	unsigned int count;		/* how many shares */
	u64 shares[8];			/* all, unless they are alike */
	u64 all;			/* else: each of them */
	struct stress_spread spread;	/* what must be found */
};

static const struct known known[] = {
	{ "one of one", 1, .all = 5, .spread = { 5, 5, 0, 1000 } },
	{ "all alike", 4, .all = 1000000, .spread = { 1000000, 1000000, 0, 1000 } },
	{ "many alike", MANY, .all = 1000000, .spread = { 1000000, 1000000, 0, 1000 } },
	{ "many alike, as large as can be", MANY, .all = U64_MAX,
	  .spread = { U64_MAX, U64_MAX, 0, 1000 } },
	{ "one fewer, as large as can be", MANY - 1, .all = U64_MAX,
	  .spread = { U64_MAX, U64_MAX, 0, 1000 } },
	{ "none has any", 4, .all = 0, .spread = { 0, 0, 0, 1000 } },
	{ "one of four has all", 4, { 0, 0, 80, 0 }, .spread = { 0, 80, 34, 250 } },
	{ "one of eight has all", 8, { 7 }, .spread = { 0, 7, 2, 125 } },
	{ "half of them have all", 4, { 10, 0, 10, 0 }, .spread = { 0, 10, 5, 500 } },
	{ "1 to 8", 8, { 1, 2, 3, 4, 5, 6, 7, 8 }, .spread = { 1, 8, 2, 794 } },
	{ "2 4 4 4 5 5 7 9", 8, { 2, 4, 4, 4, 5, 5, 7, 9 }, .spread = { 2, 9, 2, 862 } },
	{ "large, little apart", 4, { 1000000000, 1000000100, 1000000000, 1000000100 },
	  .spread = { 1000000000, 1000000100, 50, 1000 } },
};

static void known_desc(const struct known *known, char *desc)
{
	strscpy(desc, known->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(known, known, known_desc);

static u64 *new_shares(struct kunit *test, unsigned int count)
{
	u64 *shares = kunit_kzalloc(test, count * sizeof(*shares), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, shares);
	return shares;
}

static void spread_of_known_shares(struct kunit *test)
{
	const struct known *known = test->param_value;
	u64 *shares = new_shares(test, known->count);
	struct stress_spread spread;
	unsigned int i;

	for (i = 0; i < known->count; i++)
		shares[i] = known->all ?: i < 8 ? known->shares[i] : 0;
	spread = stress_spread_of(shares, known->count);
	KUNIT_EXPECT_EQ(test, spread.min, known->spread.min);
	KUNIT_EXPECT_EQ(test, spread.max, known->spread.max);
	KUNIT_EXPECT_EQ(test, spread.stddev, known->spread.stddev);
	KUNIT_EXPECT_EQ(test, spread.jain_permille, known->spread.jain_permille);
}

/* Of the first one, with any number of others that have nothing. */
static void one_of_n_that_has_all_is_1_by_n(struct kunit *test)
{
	static const u64 sizes[] = { 1, 1000, U32_MAX, U64_MAX };
	u64 *shares = new_shares(test, MANY);
	unsigned int count;
	int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		shares[0] = sizes[i];
		for (count = 1; count <= MANY; count *= 2)
			KUNIT_EXPECT_EQ_MSG(test, DIV_ROUND_CLOSEST(1000, count),
					    stress_spread_of(shares, count).jain_permille,
					    "%llu, one of %u", sizes[i], count);
	}
}

/* The same with the largest shares that there are. */
static void fairness_does_not_overflow(struct kunit *test)
{
	u64 *shares = new_shares(test, MANY);
	unsigned int count, i;

	for (i = 0; i < MANY; i++)
		shares[i] = i % 2 ? U64_MAX : U64_MAX / 2;
	for (count = MANY - 5; count <= MANY; count++)
		KUNIT_EXPECT_EQ_MSG(test, 900, stress_spread_of(shares, count).jain_permille,
				    "%u shares", count);
}

/* The mean is in the middle between them. */
static void deviation_does_not_overflow(struct kunit *test)
{
	u64 *shares = new_shares(test, MANY);
	unsigned int shift, i;

	for (shift = 1; shift < 64; shift++) {
		u64 deviation = 1ULL << (shift - 1);
		u64 found;

		for (i = 0; i < MANY; i++)
			shares[i] = i % 2 ? 1ULL << shift : 0;
		found = stress_spread_of(shares, MANY).stddev;
		KUNIT_EXPECT_EQ_MSG(test, found, deviation, "2^%u", shift);
	}
}

static void deviation_of_large_values_is_right_to_a_millionth(struct kunit *test)
{
	/* Both are off the mean of 2^62 by that. */
	const u64 off = 1234567890123456789ULL;
	u64 shares[2] = { (1ULL << 62) - off, (1ULL << 62) + off };
	u64 found = stress_spread_of(shares, 2).stddev;

	KUNIT_EXPECT_LE(test, found, off);
	KUNIT_EXPECT_GE(test, found, off - off / 1000000);
}

static struct kunit_case statistics_cases[] = {
	KUNIT_CASE_PARAM(spread_of_known_shares, known_gen_params),
	KUNIT_CASE(one_of_n_that_has_all_is_1_by_n),
	KUNIT_CASE(fairness_does_not_overflow),
	KUNIT_CASE(deviation_does_not_overflow),
	KUNIT_CASE(deviation_of_large_values_is_right_to_a_millionth),
	{}
};

static struct kunit_suite statistics_suite = {
	.name = "nbq_stress_statistics",
	.test_cases = statistics_cases,
};

kunit_test_suite(statistics_suite);
