/* SPDX-License-Identifier: GPL-2.0 */
/* Time in ns, signed. */
#ifndef SHIM_LINUX_KTIME_H
#define SHIM_LINUX_KTIME_H

#include <linux/types.h>

typedef s64 ktime_t;

#define KTIME_MAX	((s64)~((u64)1 << 63))
#define KTIME_MIN	(-KTIME_MAX - 1)

#endif
