// SPDX-License-Identifier: GPL-2.0
/*
 * Busy work, as long as so many passes of an empty loop take.
 *
 * The loop is one function that is never inlined, so that it is the same code,
 * aligned in the same way, when it is measured and when it is used.
 */
#include <linux/compiler.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "busy.h"
#include "cost.h"

/* A pass, in fs: the least that was ever measured. 0: nothing was yet. */
static u64 loop_fs;

/**
 * stress_busy() - Work.
 * @loops: how long, in what stress_busy_loops() returns
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
 * What is measured later counts if it is less: something has disturbed the
 * measurement before, or the CPU had yet to speed up. So the work is the same
 * in all runs that come after the best one.
 *
 * Context: May sleep; one caller at a time.
 */
void stress_busy_calibrate(void)
{
	loop_fs = min_not_zero(loop_fs, stress_cost_fs(work, NULL));
}

/**
 * stress_busy_loops() - How much work is that?
 * @ns: a time, 10^13 at most
 *
 * Return: how many passes take that time on a CPU at its best.
 */
u64 stress_busy_loops(u64 ns)
{
	return div64_u64(ns * FS_PER_NS, loop_fs);
}

/**
 * stress_busy_loop_ps() - What is a pass of the loop worth?
 *
 * Return: ps.
 */
u64 stress_busy_loop_ps(void)
{
	return div_u64(loop_fs, FS_PER_PS);
}
