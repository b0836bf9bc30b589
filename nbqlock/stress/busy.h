/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Busy work that takes CPU time, not wall-clock time: a calibrated number of iterations. A coarse
 * clock does not prolong it, preemption does not shorten it.
 */
#ifndef _STRESS_BUSY_H
#define _STRESS_BUSY_H

#include <linux/types.h>

void stress_busy(u64 loops);
void stress_busy_calibrate(void);
u64 stress_busy_loops(u64 ns);
u64 stress_busy_loop_ps(void);

#endif
