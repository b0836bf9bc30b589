/* SPDX-License-Identifier: GPL-2.0 */
/* A request for a line ahead of its use, which changes no value. */
#ifndef SHIM_LINUX_PREFETCH_H
#define SHIM_LINUX_PREFETCH_H

#define prefetchw(address)	((void)(address))

#endif
