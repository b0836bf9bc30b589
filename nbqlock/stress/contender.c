// SPDX-License-Identifier: GPL-2.0
/*
 * An iteration of a contender: non-critical section, attempt with a drawn patience, critical
 * section, release; after a failure, perhaps another attempt.
 */
#include <linux/bottom_half.h>
#include <linux/irqflags.h>
#include <linux/preempt.h>

#include "run.h"

/*
 * Busy work of 0.5 to 1.5 times ncs_ns, or until the stop. It may be long, and the kernel may not
 * preempt.
 */
static void noncritical_section(struct contender *contender)
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

/* Wait outside of the lock for a time, or until the stop. */
static void delay(const struct stress_run *run, u64 ns)
{
	u64 end = stress_clock_ns() + ns;

	while (stress_clock_ns() < end && !READ_ONCE(run->stop)) {
		cpu_relax();
		cond_resched();
	}
}

/* Every stall_every-th critical section is longer, as if the holder were preempted. */
static void stall(struct contender *contender)
{
	const struct stress_params *params = &contender->run->params;
	u64 end;

	if (!params->stall_every || --contender->until_stall)
		return;
	contender->until_stall = params->stall_every;
	end = stress_clock_ns() + params->stall_ns;
	while (stress_clock_ns() < end)
		cpu_relax();
}

/*
 * The check of mutual exclusion. The barriers keep the compiler from merging accesses between
 * which a second holder must be able to get in.
 */
static void check_enter(struct contender *contender, struct lock_ref *ref)
{
	struct guarded *guarded = ref->target.guarded;

	if (guarded->holder)
		contender->violations++;
	guarded->holder = contender->id;
	ref->counter = guarded->counter;
	ref->acquired++;
	barrier();
}

static void check_exit(struct contender *contender, struct lock_ref *ref)
{
	struct guarded *guarded = ref->target.guarded;
	int cpu = raw_smp_processor_id();

	barrier();
	if (guarded->cpu >= 0 && guarded->cpu != cpu)
		guarded->handoffs++;
	guarded->cpu = cpu;
	guarded->counter = ref->counter + 1;
	if (guarded->holder != contender->id)
		contender->violations++;
	guarded->holder = 0;
}

/* The lock that is taken last. */
static struct lock_ref *last_ref(const struct contender *contender)
{
	return contender->order[contender->count - 1];
}

/* Of a chain, check_enter() was called for the other locks already. */
static void critical_section(struct contender *contender, struct lock_ref *last)
{
	struct stress_run *run = contender->run;

	check_enter(contender, last);
	if (run->cs_loops)
		stress_busy(run->cs_loops);
	stall(contender);
}

static u64 random_u64(struct contender *contender)
{
	u64 high = prandom_u32_state(&contender->random);

	return high << 32 | prandom_u32_state(&contender->random);
}

/* From 0 to @ceil - 1. */
static u32 random_below(struct contender *contender, u32 ceil)
{
	return reciprocal_scale(prandom_u32_state(&contender->random), ceil);
}

/* In ns, as nbq_clh_lock_timeout() takes it. */
static ktime_t draw_patience(struct contender *contender)
{
	const struct stress_params *params = &contender->run->params;
	const struct stress_range *range = &params->patience_ns;

	if (params->impatient_permille &&
	    random_below(contender, 1000) < params->impatient_permille)
		return params->impatient_ns;
	if (range->low == range->high)
		return range->low;
	return range->low + mul_u64_u64_shr(range->high - range->low + 1,
					    random_u64(contender), 64);
}

/* A failure that is not counted fails the run. */
static void count_failure(struct contender *contender, int error)
{
	switch (error) {
	case -ETIMEDOUT:
	case -EBUSY:		/* no patience */
		contender->counts.timeouts++;
		break;
	case -ENOMEM:
		contender->counts.no_node++;
		break;
	case -EDEADLK:
		contender->counts.deadlocks++;
		break;
	}
}

/*
 * Release the first @count locks, the last one first. @watch runs only for an attempt that
 * acquired all of them.
 */
static void release(struct contender *contender, unsigned int count,
		    const struct stopwatch *watch)
{
	const struct stress_ops *ops = contender->run->params.lock;

	while (count--) {
		struct lock_ref *ref = contender->order[count];

		check_exit(contender, ref);
		ref->target.guarded->released = stress_stopwatch_stamp(watch);
		ops->unlock(ref->target.lock, &ref->waiter);
	}
}

/* A patience that is over, or infinite, is its own deadline. */
static ktime_t deadline_after(ktime_t patience)
{
	ktime_t now;

	if (patience <= 0 || patience == KTIME_MAX)
		return patience;
	now = stress_clock_ns();
	return patience > KTIME_MAX - now ? KTIME_MAX : now + patience;
}

static ktime_t time_until(ktime_t deadline)
{
	if (deadline <= 0 || deadline == KTIME_MAX)
		return deadline;
	return max_t(ktime_t, deadline - (ktime_t)stress_clock_ns(), 0);
}

static void shuffle(struct contender *contender)
{
	unsigned int i, other;

	for (i = contender->run->params.chain - 1; i; i--) {
		other = random_below(contender, i + 1);
		swap(contender->order[i], contender->order[other]);
	}
}

/* A random subset of the chain, not empty, in ascending order. */
static void choose_subset(struct contender *contender)
{
	u32 coins = prandom_u32_state(&contender->random);
	unsigned int i;

	contender->count = 0;
	for (i = 0; i < contender->run->params.chain; i++) {
		if (coins & BIT(i))
			contender->order[contender->count++] = &contender->refs[i];
	}
	if (!contender->count)
		contender->order[contender->count++] = &contender->refs[0];
}

/* Take several locks under one deadline: all or none. */
static int acquire_chain(struct contender *contender, ktime_t patience, struct stopwatch *watch)
{
	const struct stress_params *params = &contender->run->params;
	ktime_t deadline = deadline_after(patience);
	const struct stopwatch none = { .runs = false };
	unsigned int i;
	int ret;

	if (params->chain_order == CHAIN_RANDOM)
		shuffle(contender);
	else if (params->chain_order == CHAIN_ASCENDING)
		choose_subset(contender);
	for (i = 0; i < contender->count; i++) {
		struct lock_ref *ref = contender->order[i];

		if (i) {
			check_enter(contender, contender->order[i - 1]);
			patience = time_until(deadline);
		}
		if (i == contender->count - 1)
			stress_stopwatch_queue(watch);
		ret = params->lock->lock(ref->target.lock, &ref->waiter, patience);
		if (ret) {
			release(contender, i, &none);
			return ret;
		}
	}
	return 0;
}

static int acquire(struct contender *contender, ktime_t patience, struct stopwatch *watch)
{
	const struct stress_params *params = &contender->run->params;
	struct lock_ref *ref = contender->order[0];

	if (params->chain > 1)
		return acquire_chain(contender, patience, watch);
	return params->lock->lock(ref->target.lock, &ref->waiter, patience);
}

static void finish_success(struct contender *contender, const struct stopwatch *watch)
{
	const struct stress_params *params = &contender->run->params;
	bool is_last = params->free_lock && stress_admission_exit_holder(contender);

	release(contender, contender->count, watch);
	if (is_last)
		stress_admission_free(contender);
}

static void finish_failure(struct contender *contender, const struct stopwatch *watch,
			   int error, ktime_t patience)
{
	const struct stress_params *params = &contender->run->params;

	if (params->free_lock)
		stress_admission_exit(contender);
	count_failure(contender, error);
	if (!watch->runs)
		return;
	stress_timings_failure(&contender->timings, watch);
	if (error == -ETIMEDOUT || error == -EBUSY)
		stress_timings_timeout(&contender->timings, watch, params->lock, patience);
}

/* Return: false after a failure. */
static bool acquire_and_release(struct contender *contender)
{
	const struct stress_params *params = &contender->run->params;
	ktime_t patience = draw_patience(contender);
	bool is_timed = !contender->suspension.inside;
	struct stopwatch watch;
	struct lock_ref *last;
	int ret;

	if (params->free_lock && !stress_admission_enter(contender))
		return false;
	WRITE_ONCE(contender->counts.attempts, contender->counts.attempts + 1);
	stress_stopwatch_start(&watch, &contender->timings,
			       is_timed ? params->sample_every : 0,
			       &contender->order[0]->target.guarded->counter);
	ret = acquire(contender, patience, &watch);
	stress_stopwatch_stop(&watch, &contender->timings);
	if (ret) {
		finish_failure(contender, &watch, ret, patience);
		return false;
	}
	last = last_ref(contender);
	if (watch.runs)
		stress_stopwatch_enter(&watch, last->target.guarded->released);
	critical_section(contender, last);
	/* In a chain, others may hold the first lock meanwhile without passing this contender. */
	if (watch.runs && params->chain == 1)
		stress_stopwatch_passed(&watch, &contender->timings, last->counter);
	finish_success(contender, &watch);

	WRITE_ONCE(contender->counts.acquisitions, contender->counts.acquisitions + 1);
	if (watch.runs)
		stress_timings_success(&contender->timings, &watch);
	return true;
}

/*
 * From before the attempt to after the release, mask the contexts that may contend for the
 * same locks on this CPU; or, in a run with suspensions, all interrupts, unless this attempt may
 * be suspended.
 */
static void mask_interrupts(struct contender *contender, unsigned long *flags)
{
	const struct stress_params *params = &contender->run->params;

	if (params->suspend_every_ns) {
		if (!stress_suspend_begin(contender))
			local_irq_save(*flags);
		return;
	}
	if (params->nesting != NESTING_MASKED)
		return;
	if (params->contexts & BIT(STRESS_HARDIRQ))
		local_irq_save(*flags);
	else if (params->contexts & BIT(STRESS_SOFTIRQ))
		local_bh_disable();
}

static void unmask_interrupts(struct contender *contender, unsigned long flags)
{
	const struct stress_params *params = &contender->run->params;

	if (params->suspend_every_ns) {
		if (!stress_suspend_end(contender))
			local_irq_restore(flags);
		return;
	}
	if (params->nesting != NESTING_MASKED)
		return;
	if (params->contexts & BIT(STRESS_HARDIRQ))
		local_irq_restore(flags);
	else if (params->contexts & BIT(STRESS_SOFTIRQ))
		local_bh_enable();
}

/*
 * One attempt, with the critical section if it succeeds. Sleeps only for locks that are freed.
 *
 * Return: true if the lock was acquired, and released again.
 */
static bool attempt(struct contender *contender)
{
	unsigned long flags = 0;
	bool acquired;

	mask_interrupts(contender, &flags);
	acquired = acquire_and_release(contender);
	unmask_interrupts(contender, flags);
	return acquired;
}

/* Wait until the end of a pause, if this is one, or of the run. */
static void stutter(struct stress_run *run)
{
	u64 ns = stress_run_pause_ns(run);

	if (ns)
		wait_event_hrtimeout(run->paused, READ_ONCE(run->stop), ns_to_ktime(ns));
}

/*
 * While the run is halted, wait outside of the queues.
 *
 * The fully ordered decrement comes before the next read of halt. It pairs with the barrier in
 * halt_all(). Without, halt_all() could count this thread as halted while it goes on.
 */
static void wait_while_halted(struct stress_run *run)
{
	while (READ_ONCE(run->halt) && !READ_ONCE(run->stop)) {
		atomic_inc(&run->halted);
		wait_event(run->paused, !READ_ONCE(run->halt) || READ_ONCE(run->stop));
		atomic_dec_return(&run->halted);
	}
}

/* A pause that doubles each time, up to a limit, with half of it as jitter. */
static void back_off(struct contender *contender, u64 *pause)
{
	u64 random = prandom_u32_state(&contender->random);

	*pause = min(*pause, contender->run->params.backoff_max_ns);
	delay(contender->run, *pause / 2 + ((*pause * random) >> 32));
	*pause *= 2;
}

/* In a thread: non-critical section, then one or more attempts. */
void stress_contender_iterate(struct contender *contender)
{
	struct stress_run *run = contender->run;
	const struct stress_params *params = &run->params;
	u64 pause = params->backoff_ns;

	if (params->stutter_ms)
		stutter(run);
	noncritical_section(contender);
	for (;;) {
		wait_while_halted(run);
		if (attempt(contender))
			return;
		if (params->retry == RETRY_GIVE_UP || READ_ONCE(run->stop))
			return;
		if (params->retry == RETRY_BACK_OFF)
			back_off(contender, &pause);
		/* The holder may be waiting for this CPU. */
		cond_resched();
	}
}

/* Except for its thread and timer. The memory was zeroed; run, id and context are set. */
void stress_contender_init(struct contender *contender, int numa_node)
{
	struct stress_run *run = contender->run;
	unsigned int chain = run->params.chain;
	unsigned int first = 0, i;

	if (run->params.nesting == NESTING_OWN)
		first = contender->context * chain;
	for (i = 0; i < chain; i++) {
		stress_ref_set(&contender->refs[i], run, first + i);
		contender->refs[i].waiter.numa_node = numa_node;
		contender->order[i] = &contender->refs[i];
	}
	contender->count = chain;
	contender->until_stall = run->params.stall_every;
	stress_timings_init(&contender->timings, run->params.own_clock);
	/* Contenders draw different numbers. */
	prandom_seed_state(&contender->random, run->params.seed ^
			   (contender->id * 0x9e3779b97f4a7c15ULL));
}

/* On PREEMPT_RT softirqs run in threads, at the level of tasks. */
static enum stress_context context_here(void)
{
	return interrupt_context_level() ?: !!in_serving_softirq();
}

/*
 * One attempt, in interrupt context. Sets when the next one may begin: after a pause as long as
 * this attempt, so that the interrupted context makes progress.
 */
void stress_contender_interrupt(struct contender *contender)
{
	u64 began = stress_clock_ns();
	u64 ended;

	WARN_ON_ONCE(context_here() != contender->context);
	attempt(contender);
	ended = stress_clock_ns();
	WRITE_ONCE(contender->not_before_ns, ended + (ended - began));
}
