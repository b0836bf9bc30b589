/* SPDX-License-Identifier: GPL-2.0 */
/* Roots. */
#ifndef SHIM_LINUX_MATH_H
#define SHIM_LINUX_MATH_H

#include <math.h>

/* Rounded down. */
static inline unsigned int int_sqrt64(unsigned long long value)
{
	return sqrtl(value);
}

#endif
