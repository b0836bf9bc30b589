/* SPDX-License-Identifier: GPL-2.0 */
/* The clock of linux/timekeeping.h that may be read anywhere. */
#ifndef SHIM_LINUX_TIMEKEEPING_H
#define SHIM_LINUX_TIMEKEEPING_H

#include <linux/types.h>

u64 ktime_get_mono_fast_ns(void);

#endif
