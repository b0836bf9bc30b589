// SPDX-License-Identifier: GPL-2.0
/*
 * Mistakes with the kernel's own locks, none of which blocks here: it is the
 * order, the context or the books that lockdep and DEBUG_SPINLOCK mind.
 */
#include <linux/irq_work.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "faults.h"

static DEFINE_MUTEX(one);
static DEFINE_MUTEX(other);

static int opposite_orders(void)
{
	mutex_lock(&one);
	mutex_lock(&other);
	mutex_unlock(&other);
	mutex_unlock(&one);

	mutex_lock(&other);
	mutex_lock(&one);
	mutex_unlock(&one);
	mutex_unlock(&other);
	return 0;
}

/* Two of one class: for all that lockdep can tell, the same lock. */
static int same_class(void)
{
	raw_spinlock_t locks[2];
	int i;

	for (i = 0; i < 2; i++)
		raw_spin_lock_init(&locks[i]);
	raw_spin_lock(&locks[0]);
	raw_spin_lock(&locks[1]);
	raw_spin_unlock(&locks[1]);
	raw_spin_unlock(&locks[0]);
	return 0;
}

static DEFINE_RAW_SPINLOCK(shared_with_interrupt);

static void lock_in_interrupt(struct irq_work *work)
{
	raw_spin_lock(&shared_with_interrupt);
	raw_spin_unlock(&shared_with_interrupt);
}

/* The interrupt first, then with interrupts on: one could have come in between. */
static int interrupt_unsafe(void)
{
	static struct irq_work work = IRQ_WORK_INIT_HARD(lock_in_interrupt);

	irq_work_queue(&work);
	irq_work_sync(&work);
	raw_spin_lock(&shared_with_interrupt);
	raw_spin_unlock(&shared_with_interrupt);
	return 0;
}

/* The mutex minds nothing that it has been told to forget. */
static int released_twice(void)
{
	mutex_lock(&one);
	mutex_release(&one.dep_map, _RET_IP_);
	mutex_unlock(&one);
	return 0;
}

static int freed_while_held(void)
{
	struct mutex *lock = kzalloc(sizeof(*lock), GFP_KERNEL);

	if (!lock)
		return -ENOMEM;
	mutex_init(lock);
	mutex_lock(lock);
	kfree(lock);
	return 0;
}

static int exit_holding(void *unused)
{
	mutex_lock(&one);
	return 0;
}

static int held_at_exit(void)
{
	return faults_in_thread(exit_holding, "faults_exit");
}

static int not_in_reader(void)
{
	static int __rcu *pointer;

	return !!rcu_dereference(pointer);
}

/* Never initialised, and without a lockdep class. */
static int without_class(void)
{
	raw_spinlock_t *lock = kzalloc(sizeof(*lock), GFP_KERNEL);

	if (!lock)
		return -ENOMEM;
	raw_spin_lock(lock);
	raw_spin_unlock(lock);
	kfree(lock);
	return 0;
}

/* Its class is known, so that lockdep has nothing to say before. */
static int overwritten(void)
{
	raw_spinlock_t lock;

	raw_spin_lock_init(&lock);
#ifdef CONFIG_DEBUG_SPINLOCK
	lock.magic = 0;
#endif
	raw_spin_lock(&lock);
	raw_spin_unlock(&lock);
	return 0;
}

const struct fault locking_faults[] = {
	{ "lockdep_abba", opposite_orders },
	{ "lockdep_aa", same_class },
	{ "lockdep_irq", interrupt_unsafe },
	{ "lockdep_balance", released_twice },
	{ "lockdep_freed", freed_while_held },
	{ "lockdep_exit", held_at_exit },
	{ "lockdep_rcu", not_in_reader },
	{ "lockdep_no_class", without_class },
	{ "spinlock_magic", overwritten },
	{ }
};
