/* SPDX-License-Identifier: GPL-2.0 */
/* The cost of operations without interference; above all, of the measurement itself. */
#ifndef _STRESS_COST_H
#define _STRESS_COST_H

#include <linux/types.h>

struct stress_params;

/**
 * struct stress_costs - the overhead of a measurement
 * @clock_read_ps: of a clock read
 * @empty_loop_ps: of an iteration without lock, work and timing
 * @busy_loop_ps: of an iteration of the busy loop
 */
struct stress_costs {
	u64 clock_read_ps;
	u64 empty_loop_ps;
	u64 busy_loop_ps;
};

int stress_costs_measure(const struct stress_params *params, struct stress_costs *costs);

/*
 * Busy work takes CPU time, not wall-clock time: a calibrated number of iterations. A coarse clock
 * does not prolong it, preemption does not shorten it.
 */
void stress_busy(u64 loops);
void stress_busy_calibrate(void);
u64 stress_busy_loops(u64 ns);

#endif
