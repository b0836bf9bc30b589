/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Busy work that takes CPU time, not time by the clock: so many passes of an
 * empty loop, whose speed is measured. A clock that moves in large steps does
 * not make it longer; a CPU that is taken away does not make it shorter.
 */
#ifndef _STRESS_BUSY_H
#define _STRESS_BUSY_H

#include <linux/types.h>

void stress_busy(u64 loops);
void stress_busy_calibrate(void);
u64 stress_busy_loops(u64 ns);
u64 stress_busy_loop_ps(void);

#endif
