/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What something costs when nothing comes in between; above all, what it costs
 * to measure.
 */
#ifndef _STRESS_COST_H
#define _STRESS_COST_H

#include <linux/types.h>

struct stress_params;

/* A femtosecond is fine enough for a pass of any loop. */
#define FS_PER_PS	1000UL
#define FS_PER_NS	1000000UL

/**
 * struct stress_costs - what it costs to measure
 * @clock_read_ps: to read the clock
 * @empty_loop_ps: a turn of a contender without a lock, without work and times
 * @busy_loop_ps: a pass of the loop that busy work is made of
 */
struct stress_costs {
	u64 clock_read_ps;
	u64 empty_loop_ps;
	u64 busy_loop_ps;
};

u64 stress_cost_fs(void (*work)(void *arg, u64 times), void *arg);
int stress_costs_measure(const struct stress_params *params,
			 struct stress_costs *costs);

#endif
