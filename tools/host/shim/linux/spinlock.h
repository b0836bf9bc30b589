/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's own locks are not on the host; only their size matters here. */
#ifndef SHIM_LINUX_SPINLOCK_H
#define SHIM_LINUX_SPINLOCK_H

/* What comes with it in the kernel, and is taken from there. */
#include <linux/atomic.h>

struct raw_spinlock {
	unsigned int word;
};

#define raw_spinlock_t	struct raw_spinlock

#endif
