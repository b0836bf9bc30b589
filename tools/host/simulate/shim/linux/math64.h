/* SPDX-License-Identifier: GPL-2.0 */
/* Divisions of 64 bits, which the host has. */
#ifndef SHIM_LINUX_MATH64_H
#define SHIM_LINUX_MATH64_H

#include <linux/types.h>

#define div64_u64(dividend, divisor)	((u64)(dividend) / (divisor))
#define div_u64(dividend, divisor)	((u64)(dividend) / (divisor))

static inline u64 div64_u64_rem(u64 dividend, u64 divisor, u64 *remainder)
{
	*remainder = dividend % divisor;
	return dividend / divisor;
}

static inline u64 mul_u64_u64_div_u64(u64 factor, u64 other, u64 divisor)
{
	return (__uint128_t)factor * other / divisor;
}

#endif
