/* SPDX-License-Identifier: GPL-2.0 */
/* Older than any kernel: nothing that came with one is there. */
#ifndef SHIM_LINUX_VERSION_H
#define SHIM_LINUX_VERSION_H

#define LINUX_VERSION_CODE		0
#define KERNEL_VERSION(a, b, c)		(((a) << 16) + ((b) << 8) + (c))

#endif
