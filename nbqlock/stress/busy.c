// SPDX-License-Identifier: GPL-2.0
/*
 * Busy work: a number of iterations of an empty loop. The loop is never inlined, so the code that
 * is measured is the code that is used, with the same alignment.
 */
#include <linux/compiler.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "busy.h"
#include "cost.h"

/* The shortest time of an iteration so far, in fs; 0: not measured */
static u64 loop_fs;

/**
 * stress_busy() - Busy work.
 * @loops: number of iterations
 */
noinline void stress_busy(u64 loops)
{
	while (loops--)
		barrier();
}

static void work(void *unused, u64 loops)
{
	stress_busy(loops);
}

/**
 * stress_busy_calibrate() - Measure the loop.
 *
 * The minimum of all measurements counts: interrupts and a slow start of the CPU only make one
 * longer. The work is the same in all runs after the best measurement.
 *
 * Context: May sleep; one caller at a time.
 */
void stress_busy_calibrate(void)
{
	loop_fs = min_not_zero(loop_fs, stress_cost_fs(work, NULL));
}

/**
 * stress_busy_loops() - Convert time to work.
 * @ns: 10^13 at most
 *
 * Return: the iterations that take @ns on a CPU at its best.
 */
u64 stress_busy_loops(u64 ns)
{
	return div64_u64(ns * FS_PER_NS, loop_fs);
}

/**
 * stress_busy_loop_ps() - The time of an iteration.
 *
 * Return: ps.
 */
u64 stress_busy_loop_ps(void)
{
	return div_u64(loop_fs, FS_PER_PS);
}
