// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's own locks.
 *
 * rqspinlock is the resilient queued spinlock of Kumar Kartikeya Dwivedi, 2025, made for BPF: an
 * attempt fails after a quarter of a second at the head of the queue, or in a deadlock. It takes
 * no patience. Where the kernel's spinlocks are not queued, and in virtual machines without a
 * paravirtual spinlock, it is a test-and-set lock with a timeout of one second. An interrupt
 * whose own CPU holds the lock gets -EDEADLK at once, from a table of each CPU.
 */
#include <linux/errno.h>
#include <linux/lockdep.h>
#include <linux/processor.h>

#include "ops.h"

static struct lock_class_key raw_keys[STRESS_LOCKS_MAX];

static int raw_init(struct stress_lock *lock, unsigned int index)
{
	raw_spin_lock_init(&lock->raw);
	lockdep_set_class_and_name(&lock->raw, &raw_keys[index], "stress_raw");
	return 0;
}

/*
 * Static checkers want a function to release what it acquires. Here the caller gets the lock:
 * __release() and __acquire() tell them so, and do nothing.
 */
static int raw_lock(struct stress_lock *lock, struct stress_waiter *me, ktime_t patience)
{
	raw_spin_lock(&lock->raw);
	__release(&lock->raw);
	return 0;
}

static int raw_trylock(struct stress_lock *lock, struct stress_waiter *me, ktime_t patience)
{
	struct stress_timer timer = { .patience = patience };

	while (!raw_spin_trylock(&lock->raw)) {
		if (stress_timer_is_over(&timer))
			return -ETIMEDOUT;
		cpu_relax();
	}
	__release(&lock->raw);
	return 0;
}

static void raw_unlock(struct stress_lock *lock, struct stress_waiter *me)
{
	__acquire(&lock->raw);
	raw_spin_unlock(&lock->raw);
}

const struct stress_ops stress_raw_spinlock = {
	.name = "raw_spinlock",
	.meaning = "the kernel's own lock, raw_spin_lock()",
	.size = sizeof(struct stress_lock),
	.patience = STRESS_WAITS_FOR_EVER,
	.free_after_unlock = true,
	.init = raw_init,
	.lock = raw_lock,
	.unlock = raw_unlock,
};

const struct stress_ops stress_raw_trylock = {
	.name = "raw_trylock",
	.meaning = "raw_spin_trylock() in a loop until the patience is over",
	.size = sizeof(struct stress_lock),
	.free_after_unlock = true,
	.highest = STRESS_NMI,
	.init = raw_init,
	.lock = raw_trylock,
	.unlock = raw_unlock,
};

#ifdef STRESS_HAS_RQSPINLOCK
static int rq_init(struct stress_lock *lock, unsigned int index)
{
	raw_res_spin_lock_init(&lock->rq);
	return 0;
}

static int rq_lock(struct stress_lock *lock, struct stress_waiter *me, ktime_t patience)
{
	return raw_res_spin_lock(&lock->rq);
}

static void rq_unlock(struct stress_lock *lock, struct stress_waiter *me)
{
	raw_res_spin_unlock(&lock->rq);
}

const struct stress_ops stress_rqspinlock = {
	.name = "rqspinlock",
	.meaning = "the kernel's resilient spinlock, raw_res_spin_lock()",
	.size = sizeof(struct stress_lock),
	.patience = STRESS_HAS_OWN_TIMEOUT,
	.free_after_unlock = true,
	.highest = STRESS_NMI,
	.init = rq_init,
	.lock = rq_lock,
	.unlock = rq_unlock,
};
#endif
