/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_BITOPS_H
#define SHIM_LINUX_BITOPS_H

/* The position of the highest bit, from 1; 0 if there is none. */
static inline unsigned int fls64(unsigned long long value)
{
	return value ? 64 - __builtin_clzll(value) : 0;
}

#endif
