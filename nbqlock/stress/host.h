/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the host of a virtual CPU knows and can do, see host.c.
 */
#ifndef _STRESS_HOST_H
#define _STRESS_HOST_H

#include <linux/types.h>

bool stress_host_counts(void);
u64 stress_host_ran_ns(void);
void stress_host_rest(u64 ns);

#endif
