/* SPDX-License-Identifier: GPL-2.0 */
/* A request for a line ahead of its use: the CPU goes on meanwhile. */
#ifndef SHIM_LINUX_PREFETCH_H
#define SHIM_LINUX_PREFETCH_H

void simulate_prefetchw(const volatile void *address);

#define prefetchw(address)	simulate_prefetchw(address)

#endif
