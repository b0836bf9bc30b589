// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of an operation without interference: it is repeated, in several trials, and the
 * shortest trial counts. Preemption stays on; an interrupt prolongs one trial, not all.
 */
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/time64.h>

#include "busy.h"
#include "cost.h"
#include "ops.h"
#include "run.h"

/*
 * Long against the granularity of clocks (user-mode Linux: 0.26 us), short against a time slice
 * of a host.
 */
#define TRIAL_NS	(100 * NSEC_PER_USEC)
#define TRIALS		8
/* While searching for the number of repetitions of a trial */
#define TRIALS_TO_FIT	3
/* More repetitions than this: the clock does not advance */
#define TIMES_MAX	BIT_ULL(24)

/* Return: ns, at least 1. */
static s64 shortest(void (*work)(void *arg, u64 times), void *arg, u64 times, unsigned int trials)
{
	s64 least = S64_MAX;

	while (trials--) {
		s64 start = stress_clock_ns();

		work(arg, times);
		least = min_t(s64, least, stress_clock_ns() - start);
		cond_resched();
	}
	return max(least, 1LL);
}

/**
 * stress_cost_fs() - Measure an operation.
 * @work: does it so many times
 * @arg: for @work
 *
 * Context: May sleep.
 * Return: the shortest time of one, in fs (10^-15 s), at least 1.
 */
u64 stress_cost_fs(void (*work)(void *arg, u64 times), void *arg)
{
	u64 times = 64;

	while (shortest(work, arg, times, TRIALS_TO_FIT) < TRIAL_NS && times < TIMES_MAX)
		times *= 2;
	return max(div64_u64(shortest(work, arg, times, TRIALS) * FS_PER_NS, times), 1ULL);
}

static void read_clock(void *unused, u64 times)
{
	while (times--)
		stress_clock_ns();
}

static int nothing_lock(union stress_lock *lock, struct stress_waiter *me, ktime_t patience)
{
	return 0;
}

static void nothing_unlock(union stress_lock *lock, struct stress_waiter *me)
{
}

static const struct stress_ops nothing = {
	.name = "nothing",
	.lock = nothing_lock,
	.unlock = nothing_unlock,
};

/* As stress_thread() does until the stop. */
static void iterate(void *arg, u64 times)
{
	struct contender *contender = arg;

	while (times-- && !READ_ONCE(contender->run->stop)) {
		stress_contender_iterate(contender);
		cond_resched();
	}
}

/* An iteration without a lock, in ps; 0 without memory. */
static u64 empty_loop_ps(const struct stress_params *params)
{
	struct stress_run *run = stress_run_alloc(params, 1);
	struct contender *contender;
	u64 ps = 0;

	if (!run)
		return 0;
	run->params.lock = &nothing;
	run->params.sample_every = 0;
	run->params.stall_every = 0;
	run->params.stutter_ms = 0;
	run->params.free_lock = 0;
	run->cs_loops = 0;
	run->ncs_loops = 0;
	contender = stress_contender_alloc(run, 0, CONTEXT_TASK, raw_smp_processor_id());
	run->contenders[0] = contender;
	if (contender)
		ps = div_u64(stress_cost_fs(iterate, contender), FS_PER_PS);
	stress_run_free(run);
	return ps;
}

/**
 * stress_costs_measure() - Measure the overhead of the measurement.
 * @params: what to run; without the lock, the work and the timing
 * @costs: the result
 *
 * Calibrates the busy work as well.
 *
 * Context: May sleep; one caller at a time.
 * Return: 0, or -ENOMEM.
 */
int stress_costs_measure(const struct stress_params *params, struct stress_costs *costs)
{
	stress_busy_calibrate();
	costs->busy_loop_ps = stress_busy_loop_ps();
	costs->clock_read_ps = div_u64(stress_cost_fs(read_clock, NULL), FS_PER_PS);
	costs->empty_loop_ps = empty_loop_ps(params);
	return costs->empty_loop_ps ? 0 : -ENOMEM;
}
