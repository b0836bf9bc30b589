/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Log-linear histograms of times in ns.
 *
 * Each power of two is cut into 32 buckets of equal width, so that a bucket is
 * at most 1/32 of its values wide and its middle at most 1.6 % off. Below 64
 * ns a bucket is 1 ns wide. Memory is fixed: adding never allocates.
 */
#ifndef _STRESS_HISTOGRAM_H
#define _STRESS_HISTOGRAM_H

#include <linux/types.h>

#define HISTOGRAM_SUB_BITS	5
/* Anything above 2^42 ns, 73 minutes, counts as that long; max is exact. */
#define HISTOGRAM_VALUE_BITS	42
#define HISTOGRAM_BUCKETS						\
	((HISTOGRAM_VALUE_BITS - HISTOGRAM_SUB_BITS + 1) << HISTOGRAM_SUB_BITS)

struct stress_histogram {
	u64 count;
	u64 max;
	u64 buckets[HISTOGRAM_BUCKETS];
};

void stress_histogram_add(struct stress_histogram *histogram, u64 value);
void stress_histogram_merge(struct stress_histogram *into,
			    const struct stress_histogram *from);
u64 stress_histogram_value_at(const struct stress_histogram *histogram,
			      unsigned int permille);

#endif
