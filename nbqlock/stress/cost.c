// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of operations without interference, above all of the measurement itself: each is
 * repeated, in several trials, and the shortest trial counts. Preemption stays on; an interrupt
 * prolongs one trial, not all.
 *
 * Busy work is a number of iterations of an empty loop, calibrated by such trials. The loop is
 * never inlined, so the code that is measured is the code that is used, with the same alignment.
 */
#include <linux/irqflags.h>
#include <linux/limits.h>

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

#define FS_PER_PS	1000UL
#define FS_PER_NS	1000000UL

/* The shortest time of an iteration of the busy loop so far, in fs; 0: not measured */
static u64 loop_fs;

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

/* Return: the shortest time of one of @work's operations, in fs (10^-15 s), at least 1. */
static u64 cost_fs(void (*work)(void *arg, u64 times), void *arg)
{
	u64 times = 64;

	while (shortest(work, arg, times, TRIALS_TO_FIT) < TRIAL_NS && times < TIMES_MAX)
		times *= 2;
	return max(div64_u64(shortest(work, arg, times, TRIALS) * FS_PER_NS, times), 1ULL);
}

/*
 * Busy work takes CPU time, not wall-clock time: a calibrated number of iterations. A coarse clock
 * does not prolong it, preemption does not shorten it.
 */
noinline void stress_busy(u64 loops)
{
	while (loops--)
		barrier();
}

static void be_busy(void *unused, u64 times)
{
	stress_busy(times);
}

/*
 * Measure the busy loop. The minimum of all measurements counts: interrupts and a slow start of the
 * CPU only make one longer. The work is the same in all runs after the best measurement. One caller
 * at a time.
 */
void stress_busy_calibrate(void)
{
	loop_fs = min_not_zero(loop_fs, cost_fs(be_busy, NULL));
}

/* Return: the iterations that take so long on a CPU at its best. @ns: 10^13 at most. */
u64 stress_busy_loops(u64 ns)
{
	return div64_u64(ns * FS_PER_NS, loop_fs);
}

static void read_clock(void *unused, u64 times)
{
	while (times--)
		stress_clock_ns();
}

static int nothing_lock(struct stress_lock *lock, struct stress_waiter *me, ktime_t patience)
{
	return 0;
}

static void nothing_unlock(struct stress_lock *lock, struct stress_waiter *me)
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

/* A lock that no other contender uses. */
struct pair {
	const struct stress_ops *ops;
	struct stress_lock *lock;
	struct stress_waiter *me;
	struct stress_waiter *holder;
	ktime_t patience;
};

static void acquire_and_release(const struct pair *pair, ktime_t patience, u64 times)
{
	while (times--) {
		if (!pair->ops->lock(pair->lock, pair->me, patience))
			pair->ops->unlock(pair->lock, pair->me);
	}
}

/* Without interrupts: in the run they may take a lock of this class. */
static void alone(void *arg, u64 times)
{
	const struct pair *pair = arg;
	unsigned long flags;

	local_irq_save(flags);
	acquire_and_release(pair, pair->patience, times);
	local_irq_restore(flags);
}

/* Likewise attempts without patience, while another contender holds the lock. */
static void in_vain(void *arg, u64 times)
{
	const struct pair *pair = arg;
	unsigned long flags;

	local_irq_save(flags);
	if (!pair->ops->lock(pair->lock, pair->holder, pair->patience)) {
		acquire_and_release(pair, 0, times);
		pair->ops->unlock(pair->lock, pair->holder);
	}
	local_irq_restore(flags);
}

/* What operations take beyond the calls of such that do nothing, in ps, at least 1. */
static u64 beyond_calls_ps(void (*work)(void *arg, u64 times), struct pair *pair,
			   const struct stress_ops *ops)
{
	u64 calls_fs, fs;

	pair->ops = &nothing;
	calls_fs = cost_fs(work, pair);
	pair->ops = ops;
	fs = cost_fs(work, pair);
	return fs > calls_fs ? max(div_u64(fs - calls_fs, FS_PER_PS), 1ULL) : 1;
}

/* Return: 0 or a negative errno. */
static int measure_lock(struct contender *contender, const struct stress_ops *ops,
			struct stress_costs *costs)
{
	struct pair pair = {
		.lock = contender->run->targets[0].lock,
		.me = &contender->refs[0].waiter,
		.holder = &contender->refs[1].waiter,
		.patience = contender->run->params.patience_ns.high,
	};
	int ret = ops->init(pair.lock, 0);

	if (ret)
		return ret;
	pair.holder->numa_node = pair.me->numa_node;
	if (ops->enter)
		ret = ops->enter(pair.lock, pair.me) ?: ops->enter(pair.lock, pair.holder);
	if (!ret) {
		costs->pair_ps = beyond_calls_ps(alone, &pair, ops);
		if (ops->patience == STRESS_HEEDS_PATIENCE)
			costs->failed_try_ps = beyond_calls_ps(in_vain, &pair, ops);
	}
	if (ops->destroy)
		ret = ops->destroy(pair.lock) ?: ret;
	if (ops->exit) {
		ops->exit(pair.lock, pair.me);
		ops->exit(pair.lock, pair.holder);
	}
	return ret;
}

/* As a run with one contender, which has nothing to do. Return: 0 or a negative errno. */
static int measure_alone(const struct stress_params *params, struct stress_costs *costs)
{
	struct stress_run *run = stress_run_alloc(params, 1);
	struct contender *contender;
	int ret = -ENOMEM;

	if (!run)
		return ret;
	run->params.lock = &nothing;
	run->params.sample_every = 0;
	run->params.stall_every = 0;
	run->params.suspend_every_ns = 0;
	run->params.stutter_ms = 0;
	run->params.free_lock = 0;
	run->cs_loops = 0;
	run->ncs_loops = 0;
	costs->pair_ps = 0;
	costs->failed_try_ps = 0;
	contender = stress_contender_alloc(run, 0, STRESS_TASK, raw_smp_processor_id());
	run->contenders[0] = contender;
	if (contender) {
		costs->empty_loop_ps = div_u64(cost_fs(iterate, contender), FS_PER_PS);
		/* What a run with more contenders measures is not changed by this. */
		ret = params->threads == 1 && !stress_interrupts_count(params) ?
		      measure_lock(contender, params->lock, costs) : 0;
	}
	stress_run_free(run);
	return ret;
}

/*
 * Measure the overhead of the measurement: a run without the lock, the work and the timing; and
 * the lock without those. Calibrates the busy work as well. One caller at a time.
 */
int stress_costs_measure(const struct stress_params *params, struct stress_costs *costs)
{
	stress_busy_calibrate();
	costs->busy_loop_ps = div_u64(loop_fs, FS_PER_PS);
	costs->clock_read_ps = div_u64(cost_fs(read_clock, NULL), FS_PER_PS);
	return measure_alone(params, costs);
}
