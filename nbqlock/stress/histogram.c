// SPDX-License-Identifier: GPL-2.0
/*
 * Log-linear histograms: add, merge, read a percentile or the mean.
 */
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "histogram.h"
#include "visible.h"

#define SUB_BUCKETS	BIT(HISTOGRAM_SUB_BITS)
#define LAST_BUCKET	(HISTOGRAM_BUCKETS - 1)

static unsigned int bucket_of(u64 value)
{
	unsigned int shift;

	value = min_t(u64, value, BIT_ULL(HISTOGRAM_VALUE_BITS) - 1);
	if (value < SUB_BUCKETS)
		return value;
	shift = fls64(value) - 1 - HISTOGRAM_SUB_BITS;
	return (shift << HISTOGRAM_SUB_BITS) + (unsigned int)(value >> shift);
}

/* The lowest and the highest value of a bucket; the last one is open. */
void stress_histogram_bounds(unsigned int bucket, u64 *lowest, u64 *highest)
{
	unsigned int shift = 0;

	*lowest = bucket;
	if (bucket >= 2 * SUB_BUCKETS) {
		shift = (bucket >> HISTOGRAM_SUB_BITS) - 1;
		*lowest = (u64)(SUB_BUCKETS + bucket % SUB_BUCKETS) << shift;
	}
	*highest = bucket < LAST_BUCKET ? *lowest + BIT_ULL(shift) - 1 : U64_MAX;
}
EXPORT_SYMBOL_IF_KUNIT(stress_histogram_bounds);

void stress_histogram_add(struct stress_histogram *histogram, u64 value)
{
	stress_histogram_add_many(histogram, value, 1);
}
EXPORT_SYMBOL_IF_KUNIT(stress_histogram_add);

/* @times: possibly 0. */
void stress_histogram_add_many(struct stress_histogram *histogram, u64 value, u64 times)
{
	if (!times)
		return;
	histogram->buckets[bucket_of(value)] += times;
	histogram->count += times;
	histogram->sum += value * times;
	histogram->max = max(histogram->max, value);
}
EXPORT_SYMBOL_IF_KUNIT(stress_histogram_add_many);

void stress_histogram_merge(struct stress_histogram *into, const struct stress_histogram *from)
{
	unsigned int i;

	for (i = 0; i < HISTOGRAM_BUCKETS; i++)
		into->buckets[i] += from->buckets[i];
	into->count += from->count;
	into->sum += from->sum;
	into->max = max(into->max, from->max);
}
EXPORT_SYMBOL_IF_KUNIT(stress_histogram_merge);

/* The middle of a bucket that is not empty. */
static u64 middle_of(const struct stress_histogram *histogram, unsigned int bucket)
{
	u64 lowest, highest;

	stress_histogram_bounds(bucket, &lowest, &highest);
	if (bucket == LAST_BUCKET)
		return histogram->max;
	return min(lowest + (highest - lowest + 1) / 2, histogram->max);
}

/*
 * A percentile; with 500, the median. Return: the middle of the bucket, limited by the largest
 * value; 0 without values.
 */
u64 stress_histogram_value_at(const struct stress_histogram *histogram, unsigned int permille)
{
	u64 rank = div_u64(histogram->count * permille + 999, 1000);
	u64 seen = 0;
	unsigned int i;

	for (i = 0; i < HISTOGRAM_BUCKETS; i++) {
		seen += histogram->buckets[i];
		if (seen && seen >= rank)
			return middle_of(histogram, i);
	}
	return histogram->max;
}
EXPORT_SYMBOL_IF_KUNIT(stress_histogram_value_at);

/* Rounded down; 0 without values. */
u64 stress_histogram_mean(const struct stress_histogram *histogram)
{
	return histogram->count ? div64_u64(histogram->sum, histogram->count) : 0;
}
EXPORT_SYMBOL_IF_KUNIT(stress_histogram_mean);
