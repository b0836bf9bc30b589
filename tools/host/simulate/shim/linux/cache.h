/* SPDX-License-Identifier: GPL-2.0 */
/* Cache lines of 64 bytes; what is hardly ever written shares none with what is. */
#ifndef SHIM_LINUX_CACHE_H
#define SHIM_LINUX_CACHE_H

#define ____cacheline_aligned	__attribute__((__aligned__(64)))
#define ____cacheline_aligned_in_smp	____cacheline_aligned

#define __read_mostly		____cacheline_aligned

#endif
