// SPDX-License-Identifier: GPL-2.0
/*
 * The stress driver's histograms: which bucket a value falls into, what merging
 * does, and how far percentiles are off.
 */
#include <kunit/test.h>
#include <linux/bits.h>
#include <linux/limits.h>
#include <linux/math.h>
#include <linux/prandom.h>
#include <linux/string.h>

#include "../nbqlock/stress/histogram.h"

#define LAST_BUCKET	(HISTOGRAM_BUCKETS - 1)
/* The least value that there is no bucket of its own for. */
#define TOO_LARGE	BIT_ULL(HISTOGRAM_VALUE_BITS)

static struct stress_histogram *new_histogram(struct kunit *test)
{
	struct stress_histogram *histogram =
		kunit_kzalloc(test, sizeof(*histogram), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, histogram);
	return histogram;
}

/* Add a value, and find where. */
static unsigned int bucket_of(struct kunit *test, struct stress_histogram *histogram, u64 value)
{
	unsigned int i, found = 0, bucket = 0;

	memset(histogram, 0, sizeof(*histogram));
	stress_histogram_add(histogram, value);
	for (i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (!histogram->buckets[i])
			continue;
		bucket = i;
		found += histogram->buckets[i];
	}
	KUNIT_EXPECT_EQ_MSG(test, found, 1, "for %llu", value);
	return bucket;
}

static void buckets_follow_one_another_without_a_gap(struct kunit *test)
{
	u64 lowest, highest, next = 0;
	unsigned int i;

	for (i = 0; i < HISTOGRAM_BUCKETS; i++) {
		stress_histogram_bounds(i, &lowest, &highest);
		KUNIT_EXPECT_EQ_MSG(test, lowest, next, "bucket %u", i);
		KUNIT_EXPECT_GE_MSG(test, highest, lowest, "bucket %u", i);
		next = highest + 1;
	}
	/* There is no value above the last. */
	KUNIT_EXPECT_EQ(test, next, 0);
}

static void buckets_are_1_wide_first_and_then_a_32nd_of_their_values(struct kunit *test)
{
	u64 lowest, highest;
	unsigned int i;

	for (i = 0; i < LAST_BUCKET; i++) {
		stress_histogram_bounds(i, &lowest, &highest);
		if (lowest < 64)
			KUNIT_EXPECT_EQ_MSG(test, lowest, highest, "bucket %u", i);
		else
			KUNIT_EXPECT_LE_MSG(test, highest - lowest + 1,
					    lowest / 32, "bucket %u", i);
	}
}

static void value_falls_into_the_bucket_whose_bounds_hold_it(struct kunit *test)
{
	struct stress_histogram *histogram = new_histogram(test);
	u64 lowest, highest;
	unsigned int i;

	for (i = 0; i < HISTOGRAM_BUCKETS; i++) {
		stress_histogram_bounds(i, &lowest, &highest);
		KUNIT_EXPECT_EQ(test, bucket_of(test, histogram, lowest), i);
		KUNIT_EXPECT_EQ(test, bucket_of(test, histogram, highest), i);
		KUNIT_EXPECT_EQ(test, bucket_of(test, histogram, lowest +
						(highest - lowest) / 2), i);
	}
}

static void last_bucket_takes_all_that_is_too_large(struct kunit *test)
{
	static const u64 values[] = {
		TOO_LARGE - 1, TOO_LARGE, 2 * TOO_LARGE, BIT_ULL(63), U64_MAX,
	};
	struct stress_histogram *histogram = new_histogram(test);
	int i;

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		KUNIT_EXPECT_EQ(test, bucket_of(test, histogram, values[i]), LAST_BUCKET);
		KUNIT_EXPECT_EQ(test, histogram->max, values[i]);
		KUNIT_EXPECT_EQ(test, stress_histogram_value_at(histogram, 500), values[i]);
		KUNIT_EXPECT_EQ(test, stress_histogram_mean(histogram), values[i]);
	}
}

static void empty_histogram_has_no_values_but_0(struct kunit *test)
{
	struct stress_histogram *histogram = new_histogram(test);

	KUNIT_EXPECT_EQ(test, stress_histogram_value_at(histogram, 500), 0);
	KUNIT_EXPECT_EQ(test, stress_histogram_value_at(histogram, 1000), 0);
	KUNIT_EXPECT_EQ(test, stress_histogram_mean(histogram), 0);
}

static void count_sum_and_max_are_exact(struct kunit *test)
{
	struct stress_histogram *histogram = new_histogram(test);

	stress_histogram_add(histogram, 1000003);
	stress_histogram_add(histogram, 17);
	stress_histogram_add(histogram, 999999);
	KUNIT_EXPECT_EQ(test, histogram->count, 3);
	KUNIT_EXPECT_EQ(test, histogram->sum, 2000019);
	KUNIT_EXPECT_EQ(test, histogram->max, 1000003);
	KUNIT_EXPECT_EQ(test, stress_histogram_mean(histogram), 666673);
}

static void adding_many_is_adding_one_so_often(struct kunit *test)
{
	struct stress_histogram *many = new_histogram(test);
	struct stress_histogram *ones = new_histogram(test);
	int i;

	stress_histogram_add_many(many, 12345, 7);
	stress_histogram_add_many(many, 99, 1);
	/* Not even the largest value changes. */
	stress_histogram_add_many(many, 54321, 0);
	for (i = 0; i < 7; i++)
		stress_histogram_add(ones, 12345);
	stress_histogram_add(ones, 99);
	KUNIT_EXPECT_MEMEQ(test, many, ones, sizeof(*many));
}

/* Values of all magnitudes, the same in every run. */
static u64 draw(struct rnd_state *random)
{
	u64 value = prandom_u32_state(random);

	value = value << 32 | prandom_u32_state(random);
	return value >> prandom_u32_state(random) % 64;
}

static void merging_is_adding_all_values_to_one(struct kunit *test)
{
	struct stress_histogram *parts[3], *whole = new_histogram(test);
	struct rnd_state random;
	int i;

	prandom_seed_state(&random, 4711);
	for (i = 0; i < ARRAY_SIZE(parts); i++)
		parts[i] = new_histogram(test);
	for (i = 0; i < 3000; i++) {
		u64 value = draw(&random);

		stress_histogram_add(whole, value);
		/* The last one is empty. */
		stress_histogram_add(parts[i % 2], value);
	}
	stress_histogram_merge(parts[0], parts[2]);
	stress_histogram_merge(parts[2], parts[0]);
	KUNIT_EXPECT_MEMEQ(test, parts[2], parts[0], sizeof(*whole));
	stress_histogram_merge(parts[2], parts[1]);
	KUNIT_EXPECT_MEMEQ(test, parts[2], whole, sizeof(*whole));
	KUNIT_EXPECT_EQ(test, parts[1]->count, 1500);
}

/* A share of the first values from start on, so many, step apart. */
struct share {
	u64 start;
	u64 step;
	unsigned int count;
	unsigned int permille;
};

static const struct share shares[] = {
	{ 1, 1, 1000, 500 }, { 1, 1, 1000, 900 }, { 1, 1, 1000, 990 },
	{ 1, 1, 1000, 999 }, { 1, 1, 1000, 1000 }, { 1, 1, 1000, 1 },
	{ 10, 1, 3, 500 }, { 1000000, 777, 500, 990 }, { 0, 1, 60, 500 },
	{ 123456789012, 1, 1, 999 }, { 70, 0, 100, 500 },
};

static void share_desc(const struct share *share, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u permille of %u from %llu",
		 share->permille, share->count, share->start);
}

KUNIT_ARRAY_PARAM(share, shares, share_desc);

static void percentile_is_off_by_less_than_its_bucket(struct kunit *test)
{
	const struct share *share = test->param_value;
	struct stress_histogram *histogram = new_histogram(test);
	u64 right, found, lowest, highest;
	unsigned int i, rank;

	for (i = 0; i < share->count; i++)
		stress_histogram_add(histogram, share->start + i * share->step);
	/* The first value that is no less than that share of all. */
	rank = DIV_ROUND_UP(share->count * share->permille, 1000);
	right = share->start + (rank - 1) * share->step;
	found = stress_histogram_value_at(histogram, share->permille);

	i = bucket_of(test, histogram, right);
	stress_histogram_bounds(i, &lowest, &highest);
	KUNIT_EXPECT_GE(test, found, lowest);
	KUNIT_EXPECT_LE(test, found, highest);
	if (right < 64)
		KUNIT_EXPECT_EQ(test, found, right);
}

static void no_percentile_is_more_than_the_largest_value(struct kunit *test)
{
	struct stress_histogram *histogram = new_histogram(test);

	/* The least in its bucket. */
	stress_histogram_add(histogram, BIT_ULL(20));
	KUNIT_EXPECT_EQ(test, stress_histogram_value_at(histogram, 500), BIT_ULL(20));
	KUNIT_EXPECT_EQ(test, stress_histogram_value_at(histogram, 1000), BIT_ULL(20));
}

static struct kunit_case histogram_cases[] = {
	KUNIT_CASE(buckets_follow_one_another_without_a_gap),
	KUNIT_CASE(buckets_are_1_wide_first_and_then_a_32nd_of_their_values),
	KUNIT_CASE(value_falls_into_the_bucket_whose_bounds_hold_it),
	KUNIT_CASE(last_bucket_takes_all_that_is_too_large),
	KUNIT_CASE(empty_histogram_has_no_values_but_0),
	KUNIT_CASE(count_sum_and_max_are_exact),
	KUNIT_CASE(adding_many_is_adding_one_so_often),
	KUNIT_CASE(merging_is_adding_all_values_to_one),
	KUNIT_CASE_PARAM(percentile_is_off_by_less_than_its_bucket, share_gen_params),
	KUNIT_CASE(no_percentile_is_more_than_the_largest_value),
	{}
};

static struct kunit_suite histogram_suite = {
	.name = "nbq_stress_histogram",
	.test_cases = histogram_cases,
};

kunit_test_suite(histogram_suite);
