/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A hash of an address, as the number of a bit. It is never one of the lowest 14 bits of half a
 * word, as the explorer would take that for the number of a CPU.
 */
#ifndef SHIM_LINUX_HASH_H
#define SHIM_LINUX_HASH_H

#include <stdint.h>

static inline unsigned int hash_ptr(const void *address, unsigned int bits)
{
	/* The golden ratio: Knuth, "The Art of Computer Programming", volume 3, 6.4. */
	uint64_t hash = (uint64_t)(uintptr_t)address * 11400714819323198485ULL;

	/* Of so few there is one. */
	if (bits < 5)
		return 0;
	return (1U << bits) - 18 + (hash >> 32) % 18;
}

#endif
