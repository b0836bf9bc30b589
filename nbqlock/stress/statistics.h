/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How evenly something is shared, in integers.
 */
#ifndef _STRESS_STATISTICS_H
#define _STRESS_STATISTICS_H

#include <linux/types.h>

/**
 * struct stress_spread - of a number of shares
 * @min: the least
 * @max: the greatest
 * @stddev: their standard deviation, rounded down
 * @jain_permille: Jain's index: 1000 if all are alike, 1000 / n if one of n has
 *	all; 1000, too, if there is nothing to share
 */
struct stress_spread {
	u64 min;
	u64 max;
	u64 stddev;
	u64 jain_permille;
};

struct stress_spread stress_spread_of(const u64 *shares, size_t count);

#endif
