/* SPDX-License-Identifier: GPL-2.0 */
/* Alignment to cache lines. */
#ifndef SHIM_LINUX_CACHE_H
#define SHIM_LINUX_CACHE_H

#define ____cacheline_aligned	__attribute__((__aligned__(64)))
#define ____cacheline_aligned_in_smp	____cacheline_aligned

#define __read_mostly

#endif
