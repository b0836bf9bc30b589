// SPDX-License-Identifier: GPL-2.0
/*
 * Measures of fairness: standard deviation, and the fairness index of R. K. Jain, D.-M. W. Chiu and
 * W. R. Hawe, "A Quantitative Measure of Fairness and Discrimination for Resource Allocation in
 * Shared Computer Systems", 1984.
 *
 * Low bits are dropped if the sum of the squares would not fit in 64 bits.
 */
#include <linux/bitops.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "statistics.h"
#include "visible.h"

/* Low bits to drop, so that @count squares of values up to @max add up. */
static unsigned int excess_bits(u64 max, u64 count)
{
	unsigned int bits = fls64(max);
	unsigned int room = (64 - ilog2(count) - 1) / 2;

	return bits > room ? bits - room : 0;
}

/* Rounded down; the sum of the shares need not fit in 64 bits. */
static u64 mean(const u64 *shares, size_t count)
{
	u64 whole = 0, rest = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		u64 remainder;

		whole += div64_u64_rem(shares[i], count, &remainder);
		rest += remainder;
	}
	return whole + div64_u64(rest, count);
}

static u64 standard_deviation(const u64 *shares, size_t count, u64 range)
{
	unsigned int excess = excess_bits(range, count);
	u64 middle = mean(shares, count);
	u64 squares = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		u64 off = shares[i] > middle ? shares[i] - middle :
					       middle - shares[i];

		squares += (off >> excess) * (off >> excess);
	}
	return (u64)int_sqrt64(div64_u64(squares, count)) << excess;
}

/* The square of the sum, by the sum of the squares and the number of shares. */
static u64 jain_permille(const u64 *shares, size_t count, u64 max)
{
	/* The squares are added up @count times. */
	unsigned int excess = excess_bits(max, (u64)count * count);
	u64 sum = 0, squares = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		u64 share = shares[i] >> excess;

		sum += share;
		squares += share * share;
	}
	if (!squares)
		return 1000;
	/* To the nearest. */
	return (mul_u64_u64_div_u64(sum * sum, 2000, squares * count) + 1) / 2;
}

/* Of 1 to 2^24 shares: nothing overflows. */
struct stress_spread stress_spread_of(const u64 *shares, size_t count)
{
	struct stress_spread spread = { .min = U64_MAX };
	size_t i;

	for (i = 0; i < count; i++) {
		spread.min = min(spread.min, shares[i]);
		spread.max = max(spread.max, shares[i]);
	}
	spread.stddev = standard_deviation(shares, count, spread.max - spread.min);
	spread.jain_permille = jain_permille(shares, count, spread.max);
	return spread;
}
EXPORT_SYMBOL_IF_KUNIT(stress_spread_of);
