// SPDX-License-Identifier: GPL-2.0
/*
 * A lock type for the stress driver: a ticket lock whose attempts have a patience.
 *
 * A ticket cannot be given back: all later ones wait until it was served. So a waiter that has one
 * cannot give up, and a waiter takes a ticket only if it will keep it:
 *
 *	Without a timeout it takes a ticket and waits for its turn.
 *	With one it takes a ticket only while the lock is free, so that its turn is now. Else
 *	it waits without, the longer the more tickets are ahead, until its time is up.
 *
 * So first come, first served holds among waiters without a timeout only. One with a timeout is
 * passed by all of these, and may never get a lock that is always in use.
 *
 * States: serving == next: free. Else ticket serving holds the lock, the later ones wait.
 */
#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/processor.h>

#include <nbqlock/stress.h>

/* Of a waiter without a ticket, between two reads of the lock, for each ticket ahead. */
#define POLLS_A_TICKET	16

struct stress_lock {
	atomic_t next;		/* the ticket of the next to come */
	int serving;		/* the ticket of the holder */
};

static int ticket_init(struct stress_lock *lock, unsigned int index)
{
	atomic_set(&lock->next, 0);
	lock->serving = 0;
	return 0;
}

static void wait_for_turn(struct stress_lock *lock)
{
	int ticket = atomic_fetch_inc(&lock->next);

	/* ACQUIRE: the last critical section is over. Pairs with ticket_unlock(). */
	while (smp_load_acquire(&lock->serving) != ticket)
		cpu_relax();
}

/* Return: how many tickets are ahead; 0: none, and the lock is acquired. */
static unsigned int try_to_be_next(struct stress_lock *lock)
{
	/* ACQUIRE: as above, if the lock is free. */
	int serving = smp_load_acquire(&lock->serving);
	int next = atomic_read(&lock->next);

	if (next == serving)
		next = atomic_cmpxchg(&lock->next, serving, serving + 1);
	return next - serving;
}

static int ticket_lock(struct stress_lock *lock, struct stress_waiter *me, ktime_t patience)
{
	struct stress_timer timer = { .patience = patience };
	unsigned int polls;

	preempt_disable();
	if (patience == KTIME_MAX) {
		wait_for_turn(lock);
		return 0;
	}
	while ((polls = try_to_be_next(lock) * POLLS_A_TICKET)) {
		while (polls--) {
			if (stress_timer_is_over(&timer)) {
				preempt_enable();
				return -ETIMEDOUT;
			}
			cpu_relax();
		}
	}
	return 0;
}

static void ticket_unlock(struct stress_lock *lock, struct stress_waiter *me)
{
	/* RELEASE: the critical section is over. Pairs with the ACQUIREs above. */
	smp_store_release(&lock->serving, lock->serving + 1);
	preempt_enable();
}

static const struct stress_ops ticket_ops = {
	.name = "ticket_timeout",
	.meaning = "a ticket lock; an attempt with a timeout takes no ticket before its turn",
	.size = sizeof(struct stress_lock),
	.highest = STRESS_NMI,
	.free_after_unlock = true,
	.init = ticket_init,
	.lock = ticket_lock,
	.unlock = ticket_unlock,
};

static int __init ticket_timeout_init(void)
{
	return nbq_stress_register(&ticket_ops);
}

static void __exit ticket_timeout_exit(void)
{
	nbq_stress_unregister(&ticket_ops);
}

module_init(ticket_timeout_init);
module_exit(ticket_timeout_exit);

MODULE_AUTHOR("Seed c3c653f5 maintainers <maintainers@users.noreply.a-seed-c3c653f5.example>");
MODULE_DESCRIPTION("A lock type for nbqlock's stress driver");
MODULE_LICENSE("GPL");
