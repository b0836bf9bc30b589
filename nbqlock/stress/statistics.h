/* SPDX-License-Identifier: GPL-2.0 */
/* Measures of fairness, in integers. */
#ifndef _STRESS_STATISTICS_H
#define _STRESS_STATISTICS_H

#include <linux/types.h>

/**
 * struct stress_spread - of a number of shares
 * @min: the least
 * @max: the greatest
 * @stddev: the standard deviation, rounded down
 * @jain_permille: Jain's index: 1000 for equal shares, or if all are 0; 1000 / n if one of n has
 *	all
 */
struct stress_spread {
	u64 min;
	u64 max;
	u64 stddev;
	u64 jain_permille;
};

struct stress_spread stress_spread_of(const u64 *shares, size_t count);

#endif
