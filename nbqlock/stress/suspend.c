// SPDX-License-Identifier: GPL-2.0
/*
 * An interrupt suspends a thread in the middle of an attempt now and then, wherever it is:
 * enqueuing, waiting, abandoning, holding or releasing. Its neighbours in the queue must do
 * without it.
 *
 * When the next suspension is due, the thread's next attempt starts a timer with a random delay,
 * and the interrupt that finds the thread inside an attempt stays for suspend_ns. If it comes too
 * late for that attempt, the next one starts the timer again.
 *
 * The other attempts are made with interrupts off, with no timer pending: no interrupt comes
 * between them and their deadline, so they are late only by themselves or their neighbours. An
 * attempt that may be suspended is not timed: its delay says nothing.
 *
 * What a thread and its timer share is written on one CPU only.
 */
#include <linux/compiler.h>
#include <linux/container_of.h>
#include <linux/errno.h>
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/prandom.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/time64.h>
#include <linux/version.h>

#include "host.h"
#include "run.h"
#include "timing.h"

/* The timer expires after this to twice as much. Less may be over before the timer is started. */
#define SOON_NS			(20 * NSEC_PER_USEC)
/* The shortest interval, however short the suspensions are */
#define INTERVAL_NS_MIN		(10 * NSEC_PER_USEC)

/**
 * struct suspension - of one thread
 * @timer: suspends it
 * @contender: the thread
 * @random: for the timer
 * @next: the time from which attempts may be suspended, until one was
 * @inside: the current attempt may be suspended
 * @suspended: attempts that were
 */
struct suspension {
	struct hrtimer timer;
	struct contender *contender;
	struct rnd_state random;
	u64 next;
	bool inside;
	struct stress_suspended suspended;
};

/**
 * struct stress_suspensions - those of a run
 * @count: how many there are
 * @each: the suspensions
 */
struct stress_suspensions {
	unsigned int count;
	struct suspension each[];
};

/* Return: at most @most. */
static u64 draw(struct suspension *suspension, u64 most)
{
	return mul_u64_u32_shr(most, prandom_u32_state(&suspension->random), 32);
}

/**
 * stress_suspend_interval_ns() - The mean interval between suspensions of a thread.
 * @run: the run
 *
 * At least twice as long as they take, so that others run meanwhile.
 *
 * Return: ns.
 */
u64 stress_suspend_interval_ns(const struct stress_run *run)
{
	const struct stress_params *params = &run->params;

	return max3(params->suspend_every_ns, 2 * params->suspend_ns, (u64)INTERVAL_NS_MIN);
}

/* 0.5 to 1.5 times the mean interval from now. */
static void set_next(struct suspension *suspension)
{
	u64 mean = stress_suspend_interval_ns(suspension->contender->run);

	WRITE_ONCE(suspension->next, stress_clock_ns() + mean / 2 + draw(suspension, mean));
}

/*
 * Yields the core to the neighbours, if possible.
 *
 * Return: how long it took, in ns; a host may wake a CPU up late.
 */
static u64 delay(u64 ns)
{
	u64 start = stress_clock_ns();
	u64 now = start;

	for (; now < start + ns; now = stress_clock_ns())
		stress_host_sleep(start + ns - now);
	return now - start;
}

static void count(struct stress_suspended *suspended, u64 ns)
{
	/* Read by stress_suspend_happened() meanwhile. */
	WRITE_ONCE(suspended->count, suspended->count + 1);
	suspended->sum_ns += ns;
	suspended->max_ns = max(suspended->max_ns, ns);
}

/* The thread goes on when this returns. */
static enum hrtimer_restart timer_handler(struct hrtimer *timer)
{
	struct suspension *suspension = container_of(timer, struct suspension, timer);
	const struct contender *contender = suspension->contender;

	/* The attempt may be over, or another thread on the CPU. */
	if (!READ_ONCE(suspension->inside) || current != contender->task)
		return HRTIMER_NORESTART;
	count(&suspension->suspended, delay(contender->run->params.suspend_ns));
	set_next(suspension);
	return HRTIMER_NORESTART;
}

static void setup(struct suspension *suspension, struct contender *contender)
{
	suspension->contender = contender;
	/* Other numbers than those of the contender itself. */
	prandom_seed_state(&suspension->random, contender->run->params.seed ^
			   (contender->id * 0xd1342543de82ef95ULL));
#if KERNEL_VERSION(6, 13, 0) <= LINUX_VERSION_CODE
	hrtimer_setup(&suspension->timer, timer_handler, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_PINNED_HARD);
#else
	hrtimer_init(&suspension->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	suspension->timer.function = timer_handler;
#endif
	set_next(suspension);
	contender->suspension = suspension;
}

/**
 * stress_suspend_create() - Set up suspensions, if the run has them.
 * @run: the run, with its threads
 *
 * Return: 0, or a negative errno; stop and free are due in either case.
 */
int stress_suspend_create(struct stress_run *run)
{
	struct stress_suspensions *all;
	unsigned int i;

	if (!run->params.suspend_every_ns)
		return 0;
	all = kvzalloc(struct_size(all, each, run->params.threads), GFP_KERNEL);
	if (!all)
		return -ENOMEM;
	run->suspensions = all;
	for (i = 0; i < run->params.threads; i++)
		setup(&all->each[all->count++], run->contenders[i]);
	return 0;
}

/**
 * stress_suspend_stop() - Cancel all timers.
 * @run: the run, without threads; perhaps incomplete
 */
void stress_suspend_stop(struct stress_run *run)
{
	struct stress_suspensions *all = run->suspensions;
	unsigned int i;

	for (i = 0; all && i < all->count; i++)
		hrtimer_cancel(&all->each[i].timer);
}

/**
 * stress_suspend_free() - Free all suspensions.
 * @run: the run, after stress_suspend_stop()
 */
void stress_suspend_free(struct stress_run *run)
{
	kvfree(run->suspensions);
	run->suspensions = NULL;
}

/**
 * stress_suspend_sum_up() - The suspensions of all threads.
 * @run: the run
 *
 * Return: their sum.
 */
struct stress_suspended stress_suspend_sum_up(const struct stress_run *run)
{
	const struct stress_suspensions *all = run->suspensions;
	struct stress_suspended sum = {};
	unsigned int i;

	for (i = 0; all && i < all->count; i++) {
		const struct stress_suspended *each = &all->each[i].suspended;

		sum.count += each->count;
		sum.sum_ns += each->sum_ns;
		sum.max_ns = max(sum.max_ns, each->max_ns);
	}
	return sum;
}

/**
 * stress_suspend_happened() - Was an attempt suspended?
 * @run: the run, at any time
 *
 * Return: true if one was.
 */
bool stress_suspend_happened(const struct stress_run *run)
{
	const struct stress_suspensions *all = run->suspensions;
	unsigned int i;

	for (i = 0; all && i < all->count; i++) {
		if (READ_ONCE(all->each[i].suspended.count))
			return true;
	}
	return false;
}

/**
 * stress_suspend_begin() - An attempt of this thread begins.
 * @suspension: the caller's
 *
 * Return: true if it may be suspended; else interrupts must be off in it.
 */
bool stress_suspend_begin(struct suspension *suspension)
{
	if (stress_clock_ns() < READ_ONCE(suspension->next))
		return false;
	/* The timer of an earlier attempt may still be pending. */
	if (!hrtimer_active(&suspension->timer))
		hrtimer_start(&suspension->timer,
			      ns_to_ktime(SOON_NS + draw(suspension, SOON_NS)),
			      HRTIMER_MODE_REL_PINNED_HARD);
	WRITE_ONCE(suspension->inside, true);
	return true;
}

/**
 * stress_suspend_is_inside() - May the current attempt be suspended?
 * @suspension: the caller's, or NULL
 *
 * Return: the result of stress_suspend_begin() for it.
 */
bool stress_suspend_is_inside(const struct suspension *suspension)
{
	return suspension && suspension->inside;
}

/**
 * stress_suspend_end() - The attempt is over, with its critical section.
 * @suspension: the caller's
 *
 * Return: the result of stress_suspend_begin() for it.
 */
bool stress_suspend_end(struct suspension *suspension)
{
	bool inside = suspension->inside;

	WRITE_ONCE(suspension->inside, false);
	return inside;
}
