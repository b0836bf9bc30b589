/* SPDX-License-Identifier: GPL-2.0 */
/* The cost of operations without interference; above all, of the measurement itself. */
#ifndef _STRESS_COST_H
#define _STRESS_COST_H

#include <linux/types.h>

struct stress_params;

#define FS_PER_PS	1000UL
#define FS_PER_NS	1000000UL

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

u64 stress_cost_fs(void (*work)(void *arg, u64 times), void *arg);
int stress_costs_measure(const struct stress_params *params, struct stress_costs *costs);

#endif
