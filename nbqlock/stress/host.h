/* SPDX-License-Identifier: GPL-2.0 */
/* The host of a virtual CPU, see host.c. */
#ifndef _STRESS_HOST_H
#define _STRESS_HOST_H

#include <linux/types.h>

bool stress_host_has_cpu_time(void);
u64 stress_host_cpu_time_ns(void);
void stress_host_sleep(u64 ns);

#endif
