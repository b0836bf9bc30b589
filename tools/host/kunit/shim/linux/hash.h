/* SPDX-License-Identifier: GPL-2.0 */
/* A hash of an address, of any number of bits: the suites look for locks with the same one. */
#ifndef SHIM_LINUX_HASH_H
#define SHIM_LINUX_HASH_H

#include <stdint.h>

static inline unsigned int hash_ptr(const void *address, unsigned int bits)
{
	/* The golden ratio: Knuth, "The Art of Computer Programming", volume 3, 6.4. */
	return (uint64_t)(uintptr_t)address * 11400714819323198485ULL >> (64 - bits);
}

#endif
