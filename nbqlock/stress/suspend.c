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
#include "run.h"

/* The timer expires after this to twice as much. Less may be over before the timer is started. */
#define SOON_NS			(20 * NSEC_PER_USEC)
/* The shortest interval, however short the suspensions are */
#define INTERVAL_NS_MIN		(10 * NSEC_PER_USEC)

/* Return: at most @most. */
static u64 draw(struct suspension *suspension, u64 most)
{
	return mul_u64_u32_shr(most, prandom_u32_state(&suspension->random), 32);
}

/*
 * The mean interval between suspensions of a thread: at least twice as long as they take, so that
 * others run meanwhile.
 */
u64 stress_suspend_interval_ns(const struct stress_run *run)
{
	const struct stress_params *params = &run->params;

	return max3(params->suspend_every_ns, 2 * params->suspend_ns, (u64)INTERVAL_NS_MIN);
}

/* 0.5 to 1.5 times the mean interval from now. */
static void set_next(struct contender *contender)
{
	struct suspension *suspension = &contender->suspension;
	u64 mean = stress_suspend_interval_ns(contender->run);

	WRITE_ONCE(suspension->next, stress_clock_ns() + mean / 2 + draw(suspension, mean));
}

/*
 * Leaves the core to the neighbours, if possible.
 *
 * Return: how long it took, in ns; a host may wake a CPU up late.
 */
static u64 delay(u64 ns)
{
	u64 start = stress_clock_ns();
	u64 now = start;

	for (; now < start + ns; now = stress_clock_ns())
		stress_yield_core(start + ns - now);
	return now - start;
}

/* Read by stress_suspend_sum_up() meanwhile. */
static void count(struct stress_suspended *suspended, u64 ns)
{
	WRITE_ONCE(suspended->count, suspended->count + 1);
	WRITE_ONCE(suspended->sum_ns, suspended->sum_ns + ns);
	WRITE_ONCE(suspended->max_ns, max(suspended->max_ns, ns));
}

/* The thread goes on when this returns. */
static enum hrtimer_restart timer_handler(struct hrtimer *timer)
{
	struct contender *contender = container_of(timer, struct contender, timer);

	/* The attempt may be over, or another thread on the CPU. */
	if (!READ_ONCE(contender->suspension.inside) || current != contender->task)
		return HRTIMER_NORESTART;
	count(&contender->suspension.suspended, delay(contender->run->params.suspend_ns));
	set_next(contender);
	return HRTIMER_NORESTART;
}

/* Of a thread, in a run with suspensions. */
void stress_suspend_setup(struct contender *contender)
{
	/* Other numbers than those of the contender itself. */
	prandom_seed_state(&contender->suspension.random, contender->run->params.seed ^
			   (contender->id * 0xd1342543de82ef95ULL));
	stress_timer_setup(&contender->timer, HRTIMER_MODE_REL_PINNED_HARD, timer_handler);
	set_next(contender);
}

/* Of all threads so far. */
struct stress_suspended stress_suspend_sum_up(const struct stress_run *run)
{
	struct stress_suspended sum = {};
	unsigned int i;

	for (i = 0; i < run->params.threads; i++) {
		const struct stress_suspended *each = &run->contenders[i]->suspension.suspended;

		sum.count += READ_ONCE(each->count);
		sum.sum_ns += READ_ONCE(each->sum_ns);
		sum.max_ns = max(sum.max_ns, READ_ONCE(each->max_ns));
	}
	return sum;
}

/*
 * An attempt of this thread begins. Return: true if it may be suspended; else interrupts must be
 * off in it.
 */
bool stress_suspend_begin(struct contender *contender)
{
	struct suspension *suspension = &contender->suspension;

	if (stress_clock_ns() < READ_ONCE(suspension->next))
		return false;
	/* The timer of an earlier attempt may still be pending. */
	if (!hrtimer_active(&contender->timer))
		hrtimer_start(&contender->timer,
			      ns_to_ktime(SOON_NS + draw(suspension, SOON_NS)),
			      HRTIMER_MODE_REL_PINNED_HARD);
	WRITE_ONCE(suspension->inside, true);
	return true;
}

/* The attempt is over, with its critical section. Return: as stress_suspend_begin() for it. */
bool stress_suspend_end(struct contender *contender)
{
	bool inside = contender->suspension.inside;

	WRITE_ONCE(contender->suspension.inside, false);
	return inside;
}
