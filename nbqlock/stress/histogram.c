// SPDX-License-Identifier: GPL-2.0
/*
 * Log-linear histograms: add, merge, read a percentile.
 */
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "histogram.h"

#define SUB_BUCKETS	BIT(HISTOGRAM_SUB_BITS)

static unsigned int bucket_of(u64 value)
{
	unsigned int shift;

	value = min_t(u64, value, BIT_ULL(HISTOGRAM_VALUE_BITS) - 1);
	if (value < SUB_BUCKETS)
		return value;
	shift = fls64(value) - 1 - HISTOGRAM_SUB_BITS;
	return (shift << HISTOGRAM_SUB_BITS) + (unsigned int)(value >> shift);
}

static u64 middle_of(unsigned int bucket)
{
	unsigned int shift;
	u64 low;

	if (bucket < 2 * SUB_BUCKETS)
		return bucket;
	shift = (bucket >> HISTOGRAM_SUB_BITS) - 1;
	low = (u64)(SUB_BUCKETS + bucket % SUB_BUCKETS) << shift;
	return low + (BIT_ULL(shift) >> 1);
}

void stress_histogram_add(struct stress_histogram *histogram, u64 value)
{
	histogram->buckets[bucket_of(value)]++;
	histogram->count++;
	histogram->max = max(histogram->max, value);
}

void stress_histogram_merge(struct stress_histogram *into,
			    const struct stress_histogram *from)
{
	unsigned int i;

	for (i = 0; i < HISTOGRAM_BUCKETS; i++)
		into->buckets[i] += from->buckets[i];
	into->count += from->count;
	into->max = max(into->max, from->max);
}

/**
 * stress_histogram_value_at() - The value that a share of all do not exceed.
 * @histogram: the histogram
 * @permille: the share; 500 is the median
 *
 * Return: the value in ns, 0 if there is none at all.
 */
u64 stress_histogram_value_at(const struct stress_histogram *histogram,
			      unsigned int permille)
{
	u64 rank = div_u64(histogram->count * permille + 999, 1000);
	u64 seen = 0;
	unsigned int i;

	for (i = 0; i < HISTOGRAM_BUCKETS; i++) {
		seen += histogram->buckets[i];
		if (seen && seen >= rank)
			return min(middle_of(i), histogram->max);
	}
	return histogram->max;
}
