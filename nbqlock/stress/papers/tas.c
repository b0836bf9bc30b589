// SPDX-License-Identifier: GPL-2.0
/*
 * TAS-B: test-and-test-and-set with exponential back-off, which the papers compare with.
 *
 * Anderson, "The Performance of Spin Lock Alternatives for Shared-Memory Multiprocessors", IEEE
 * TPDS 1 (1), 1990; TAS-B and TAS-B try in Scott, "Non-Blocking Timeout in Scalable Queue-Based
 * Spin Locks", PODC 2002.
 *
 * Correct as published, and unfair. The papers tuned the bounds of the back-off for their
 * machines and do not print them. The clock is also read during the back-off, so that a long
 * pause does not make the waiter late.
 */
#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/preempt.h>
#include <linux/processor.h>

#include <nbqlock/stress/ops.h>

/* In iterations of cpu_relax() */
#define BACKOFF_MIN	4U
#define BACKOFF_MAX	256U

static int tas_b_init(struct stress_lock *lock, unsigned int index)
{
	lock->taken = 0;
	return 0;
}

static bool tas_b_try(struct stress_lock *lock)
{
	/*
	 * ACQUIRE: with 0, the last critical section is over. Pairs with the RELEASE in
	 * tas_b_unlock().
	 */
	return !READ_ONCE(lock->taken) && !xchg_acquire(&lock->taken, 1);
}

/* Return: false if the patience ended during the pause. */
static bool back_off(unsigned int polls, struct stress_timer *timer)
{
	while (polls--) {
		if (stress_timer_is_over(timer))
			return false;
		cpu_relax();
	}
	return true;
}

static int tas_b_try_lock(struct stress_lock *lock, struct stress_waiter *me, ktime_t patience)
{
	struct stress_timer timer = { .patience = patience };
	unsigned int polls = BACKOFF_MIN;

	preempt_disable();
	while (!tas_b_try(lock)) {
		if (!back_off(polls, &timer)) {
			preempt_enable();
			return -ETIMEDOUT;
		}
		polls = min(2 * polls, BACKOFF_MAX);
	}
	return 0;
}

static int tas_b_lock(struct stress_lock *lock, struct stress_waiter *me, ktime_t patience)
{
	return tas_b_try_lock(lock, me, KTIME_MAX);
}

static void tas_b_unlock(struct stress_lock *lock, struct stress_waiter *me)
{
	/* RELEASE: the critical section is over. Pairs with the ACQUIRE in tas_b_try(). */
	smp_store_release(&lock->taken, 0);
	preempt_enable();
}

const struct stress_ops stress_tas_b = {
	.name = "tas_b",
	.meaning = "TAS-B, test-and-test-and-set with exponential back-off",
	.size = sizeof(struct stress_lock),
	.patience = STRESS_WAITS_FOR_EVER,
	.free_after_unlock = true,
	.init = tas_b_init,
	.lock = tas_b_lock,
	.unlock = tas_b_unlock,
};

const struct stress_ops stress_tas_b_try = {
	.name = "tas_b_try",
	.meaning = "TAS-B that gives up when the patience is over",
	.size = sizeof(struct stress_lock),
	.free_after_unlock = true,
	.highest = STRESS_NMI,
	.init = tas_b_init,
	.lock = tas_b_try_lock,
	.unlock = tas_b_unlock,
};
