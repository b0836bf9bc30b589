/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Log-linear histograms of times in ns, or of other numbers.
 *
 * Each power of two has 32 buckets of equal width: a bucket is at most 1/32 of its values wide,
 * its middle at most 1.6 % off. Below 64 a bucket is one value. Adding never allocates.
 */
#ifndef _STRESS_HISTOGRAM_H
#define _STRESS_HISTOGRAM_H

#include <linux/types.h>

#define HISTOGRAM_SUB_BITS	5
/* Values from 2^42 ns on, 73 minutes, are in the last bucket; max is exact. */
#define HISTOGRAM_VALUE_BITS	42
#define HISTOGRAM_BUCKETS						\
	((HISTOGRAM_VALUE_BITS - HISTOGRAM_SUB_BITS + 1) << HISTOGRAM_SUB_BITS)

/* Count, sum and maximum of all values, and the count of each bucket. */
struct stress_histogram {
	u64 count;
	u64 sum;
	u64 max;
	u64 buckets[HISTOGRAM_BUCKETS];
};

void stress_histogram_add(struct stress_histogram *histogram, u64 value);
void stress_histogram_add_many(struct stress_histogram *histogram, u64 value, u64 times);
void stress_histogram_merge(struct stress_histogram *into, const struct stress_histogram *from);
u64 stress_histogram_value_at(const struct stress_histogram *histogram, unsigned int permille);
u64 stress_histogram_mean(const struct stress_histogram *histogram);
void stress_histogram_bounds(unsigned int bucket, u64 *lowest, u64 *highest);

#endif
