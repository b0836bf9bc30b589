/* SPDX-License-Identifier: GPL-2.0 */
/* Measures of fairness, in integers. */
#ifndef _STRESS_STATISTICS_H
#define _STRESS_STATISTICS_H

#include <linux/types.h>

/* Of a number of shares. */
struct stress_spread {
	u64 min;
	u64 max;
	u64 stddev;		/* the standard deviation, rounded down */
	u64 jain_permille;	/* 1000: equal shares, or all are 0; 1000 / n: one of n has all */
};

struct stress_spread stress_spread_of(const u64 *shares, size_t count);

#endif
