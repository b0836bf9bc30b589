/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Log-linear histograms of times in ns, or of other numbers.
 *
 * Each power of two is cut into 32 buckets of equal width, so that a bucket is
 * at most 1/32 of its values wide and its middle at most 1.6 % off. Below 64 a
 * bucket holds one value. Memory is fixed: adding never allocates.
 */
#ifndef _STRESS_HISTOGRAM_H
#define _STRESS_HISTOGRAM_H

#include <linux/types.h>

#define HISTOGRAM_SUB_BITS	5
/* Anything from 2^42 ns on, 73 minutes, is in the last bucket; max is exact. */
#define HISTOGRAM_VALUE_BITS	42
#define HISTOGRAM_BUCKETS						\
	((HISTOGRAM_VALUE_BITS - HISTOGRAM_SUB_BITS + 1) << HISTOGRAM_SUB_BITS)

/**
 * struct stress_histogram - how often which values were added
 * @count: of all values
 * @sum: of all values
 * @max: the largest
 * @buckets: how many values each holds
 */
struct stress_histogram {
	u64 count;
	u64 sum;
	u64 max;
	u64 buckets[HISTOGRAM_BUCKETS];
};

void stress_histogram_add(struct stress_histogram *histogram, u64 value);
void stress_histogram_add_many(struct stress_histogram *histogram, u64 value,
			       u64 times);
void stress_histogram_merge(struct stress_histogram *into,
			    const struct stress_histogram *from);
u64 stress_histogram_value_at(const struct stress_histogram *histogram,
			      unsigned int permille);
u64 stress_histogram_mean(const struct stress_histogram *histogram);
void stress_histogram_bounds(unsigned int bucket, u64 *lowest, u64 *highest);

#endif
