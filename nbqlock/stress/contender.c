// SPDX-License-Identifier: GPL-2.0
/*
 * What a contender does in its turn: work outside, draw a patience, try to
 * acquire, be the owner, release.
 */
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/prandom.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include "busy.h"
#include "run.h"

/*
 * Busy work outside: 0.5 to 1.5 times what the knob says, or until the stop.
 * It may be long, and the kernel one that does not preempt.
 */
static void work_outside(struct contender *contender)
{
	const struct stress_run *run = contender->run;
	u64 loops = run->ncs_loops;

	if (!loops)
		return;
	loops = loops / 2 +
		mul_u64_u32_shr(loops, prandom_u32_state(&contender->random), 32);
	while (loops > run->chunk_loops && !READ_ONCE(run->stop)) {
		stress_busy(run->chunk_loops);
		loops -= run->chunk_loops;
		cond_resched();
	}
	if (!READ_ONCE(run->stop))
		stress_busy(loops);
}

/*
 * The critical section. The barriers keep the compiler from joining what a
 * second owner must be able to come in between.
 */
static void be_owner(struct contender *contender)
{
	struct stress_run *run = contender->run;
	struct guarded *guarded = &run->guarded;
	int cpu = raw_smp_processor_id();
	u64 counter;

	if (guarded->owner)
		contender->violations++;
	guarded->owner = contender->id;
	counter = guarded->counter;
	barrier();

	if (run->cs_loops)
		stress_busy(run->cs_loops);
	if (guarded->cpu >= 0 && guarded->cpu != cpu)
		guarded->handoffs++;
	guarded->cpu = cpu;

	barrier();
	guarded->counter = counter + 1;
	if (guarded->owner != contender->id)
		contender->violations++;
	guarded->owner = 0;
}

/* Of one attempt, in ns as nbq_clh_lock_timeout() takes it. */
static ktime_t draw_patience(struct contender *contender)
{
	const struct stress_knobs *knobs = &contender->run->knobs;
	u64 patience = knobs->patience_ns;
	u64 random;

	switch (knobs->patience_mode) {
	case PATIENCE_RANDOM:
		random = prandom_u32_state(&contender->random);
		random = random << 32 | prandom_u32_state(&contender->random);
		patience = mul_u64_u64_shr(2 * patience + 1, random, 64);
		return min_t(u64, patience, KTIME_MAX);
	case PATIENCE_MIXED:
		random = prandom_u32_state(&contender->random);
		/* A third each: 0, patience, for ever. */
		if (random < U32_MAX / 3)
			return 0;
		if (random < U32_MAX / 3 * 2)
			return patience;
		return KTIME_MAX;
	default:
		return patience;
	}
}

/* What is counted nowhere fails the run. */
static void gave_up(struct contender *contender, int error)
{
	switch (error) {
	case -ETIMEDOUT:
		contender->timeouts++;
		break;
	case -ENOMEM:
		contender->no_node++;
		break;
	case -EDEADLK:
		contender->deadlocks++;
		break;
	}
}

static void attempt(struct contender *contender)
{
	struct stress_run *run = contender->run;
	const struct stress_ops *ops = run->knobs.lock;
	ktime_t patience = draw_patience(contender);
	struct stopwatch watch;
	int ret;

	contender->attempts++;
	watch = stress_stopwatch_start(&contender->timings,
				       run->knobs.sample_every);
	ret = ops->lock(&run->lock, &contender->waiter, patience);
	stress_stopwatch_stop(&watch);
	if (ret) {
		gave_up(contender, ret);
		stress_timings_failure(&contender->timings, &watch);
		if (ret == -ETIMEDOUT)
			stress_timings_timeout(&contender->timings, &watch, ops,
					       patience);
		return;
	}
	stress_stopwatch_enter(&watch, &run->guarded);
	be_owner(contender);
	stress_stopwatch_leave(&watch, &run->guarded);
	ops->unlock(&run->lock, &contender->waiter);

	WRITE_ONCE(contender->acquisitions, contender->acquisitions + 1);
	stress_timings_success(&contender->timings, &watch);
}

/**
 * stress_contender_turn() - Work outside, then one attempt.
 * @contender: the caller
 */
void stress_contender_turn(struct contender *contender)
{
	work_outside(contender);
	attempt(contender);
}
