// SPDX-License-Identifier: GPL-2.0
/*
 * Mistakes with the locks of nbqlock. None blocks: there is no other context, and each
 * acquisition is timed, so that a deadlock would be over after its patience. They
 * are mistakes all the same, and the kernel must say so.
 */
#include <linux/compiler.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/processor.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/workqueue.h>

#include <nbqlock/nbqlock.h>

#include "faults.h"

#define PATIENCE	(10 * NSEC_PER_USEC)

static DEFINE_NBQ_CLH(one);
static DEFINE_NBQ_MCS(other);

/* The inner lock is of another type: to lockdep that is all one. */
static int one_then_other(void)
{
	int ret = nbq_clh_lock_timeout(&one, PATIENCE);

	if (ret)
		return ret;
	ret = nbq_mcs_lock_timeout(&other, PATIENCE);
	if (!ret)
		nbq_mcs_unlock(&other);
	nbq_clh_unlock(&one);
	return ret;
}

static int other_then_one(void)
{
	ktime_t deadline = ktime_get() + PATIENCE;
	int ret = nbq_mcs_lock_until(&other, deadline);

	if (ret)
		return ret;
	ret = nbq_clh_lock_until(&one, deadline);
	if (!ret)
		nbq_clh_unlock(&one);
	nbq_mcs_unlock(&other);
	return ret;
}

static int opposite_orders(void)
{
	return one_then_other() ?: other_then_one();
}

static DEFINE_RAW_SPINLOCK(raw);
static DEFINE_NBQ_SWAP(swap);

static int swap_in_raw(void)
{
	int ret;

	raw_spin_lock(&raw);
	ret = nbq_swap_lock_timeout(&swap, PATIENCE);
	if (!ret)
		nbq_swap_unlock(&swap);
	raw_spin_unlock(&raw);
	return ret;
}

static int opposite_to_a_spinlock(void)
{
	int ret = swap_in_raw();

	if (ret)
		return ret;
	nbq_swap_lock(&swap);
	raw_spin_lock(&raw);
	raw_spin_unlock(&raw);
	nbq_swap_unlock(&swap);
	return nbq_swap_destroy(&swap);
}

/* Two locks that were made at one place, without saying which comes first. */
static int same_class(void)
{
	struct nbq_mcs locks[2];
	int i, ret;

	for (i = 0; i < 2; i++)
		nbq_mcs_init(&locks[i]);
	nbq_mcs_lock(&locks[0]);
	ret = nbq_mcs_lock_timeout(&locks[1], PATIENCE);
	if (!ret)
		nbq_mcs_unlock(&locks[1]);
	nbq_mcs_unlock(&locks[0]);
	return ret ?: nbq_mcs_destroy(&locks[0]) ?: nbq_mcs_destroy(&locks[1]);
}

/* One lock, by a context that has it already: it comes back with an error. */
static int same_lock(void)
{
	int ret;

	nbq_clh_lock(&one);
	ret = nbq_clh_lock_timeout(&one, PATIENCE);
	if (!ret)
		nbq_clh_unlock(&one);
	nbq_clh_unlock(&one);
	return ret ? 0 : -EINVAL;
}

static DEFINE_NBQ_SPIN(spin);
static DEFINE_NBQ_SPIN(other_spin);

/* The hybrid is a lock of one word that has a fast path, and is lockdep's all the same. */
static int hybrids_in_opposite_orders(void)
{
	int ret = nbq_spin_lock_timeout(&spin, PATIENCE);

	if (ret)
		return ret;
	nbq_spin_lock(&other_spin);
	nbq_spin_unlock(&other_spin);
	nbq_spin_unlock(&spin);

	nbq_spin_lock(&other_spin);
	ret = nbq_spin_lock_until(&spin, ktime_get() + PATIENCE);
	if (!ret)
		nbq_spin_unlock(&spin);
	nbq_spin_unlock(&other_spin);
	return ret;
}

/* A debug kernel's unlock sees what others let pass. */
static int hybrid_not_held(void)
{
	nbq_spin_unlock(&spin);
	return 0;
}

/* The inverted test, in an interrupt: the failed attempt got -EDEADLK. */
static bool unlocked;

static void unlock_what_is_held_below(struct irq_work *work)
{
	if (nbq_spin_lock_timeout(&spin, PATIENCE))
		nbq_spin_unlock(&spin);
	WRITE_ONCE(unlocked, true);
}

static int inverted_test(void)
{
	static struct irq_work work = IRQ_WORK_INIT_HARD(unlock_what_is_held_below);

	nbq_spin_lock(&spin);
	irq_work_queue(&work);
	while (!READ_ONCE(unlocked))
		cpu_relax();
	nbq_spin_unlock(&spin);
	return 0;
}

/* A lock that stays held at the end of a context. */
static DEFINE_NBQ_SPIN(left);

static noinline int leave_held(void)
{
	int ret = nbq_spin_lock_timeout(&left, PATIENCE);

	barrier();	/* no tail call */
	return ret;
}

static int leave_in_thread(void *unused)
{
	return leave_held();
}

static int left_by_a_thread(void)
{
	return PTR_ERR_OR_ZERO(kthread_run(leave_in_thread, NULL, "faults_left"));
}

static void leave_in_work(struct work_struct *work)
{
	leave_held();
}

static int left_by_work(void)
{
	static DECLARE_WORK(work, leave_in_work);

	schedule_work(&work);
	return 0;
}

static void leave_in_timer(struct timer_list *timer)
{
	leave_held();
}

static int left_by_a_timer(void)
{
	static DEFINE_TIMER(timer, leave_in_timer);

	mod_timer(&timer, jiffies);
	return 0;
}

static void leave_in_interrupt(struct irq_work *work)
{
	leave_held();
}

static int left_by_an_interrupt(void)
{
	static struct irq_work work = IRQ_WORK_INIT_HARD(leave_in_interrupt);

	irq_work_queue(&work);
	return 0;
}

static DEFINE_NBQ_CLH(shared_with_interrupt);

static void lock_in_interrupt(struct irq_work *work)
{
	if (!nbq_clh_lock_timeout(&shared_with_interrupt, PATIENCE))
		nbq_clh_unlock(&shared_with_interrupt);
}

/* An interrupt takes it, and a task with interrupts on. */
static int interrupt_unsafe(void)
{
	static struct irq_work work = IRQ_WORK_INIT_HARD(lock_in_interrupt);
	int ret;

	irq_work_queue(&work);
	irq_work_sync(&work);
	ret = nbq_clh_lock_timeout(&shared_with_interrupt, PATIENCE);
	if (!ret)
		nbq_clh_unlock(&shared_with_interrupt);
	return ret;
}

/*
 * After an attempt that has failed, the lock is another context's; here held by
 * another name, which lockdep has been told to forget.
 */
static int not_held_after_timeout(void)
{
	nbq_clh_lock_irq(&one);
	lock_release(&one.dep_map, _RET_IP_);
	if (nbq_clh_lock_timeout(&one, PATIENCE))
		lockdep_assert_held(&one);
	else
		nbq_clh_unlock(&one);
	lock_acquire(&one.dep_map, 0, 1, 0, 1, NULL, _RET_IP_);
	nbq_clh_unlock_irq(&one);
	return 0;
}

static int not_held(void)
{
	nbq_clh_unlock(&one);
	return 0;
}

/* Misuse of the locks, and a deadlock: what nbqlock itself reports (nbqlock/report.c) */

#define WANTED_FOR	(20 * NSEC_PER_MSEC)
#define MANY		100

static DEFINE_NBQ_CLH(first_lock);
static DEFINE_NBQ_CLH(second_lock);
static DEFINE_NBQ_MCS(third_lock);

static noinline void release_what_is_not_held(struct nbq_clh *lock)
{
	nbq_clh_unlock(lock);
	barrier();	/* no tail call: this function is the caller */
}

static void release_from_elsewhere(void *unused)
{
	nbq_mcs_unlock(&third_lock);
	barrier();
}

/* Two locks of one type, then another mistake; and then one of them without end. */
static int misuse(void)
{
	unsigned int cpu, i;
	int ret;

	release_what_is_not_held(&first_lock);
	release_what_is_not_held(&second_lock);

	nbq_mcs_lock(&third_lock);
	cpu = !smp_processor_id();
	ret = smp_call_function_single(cpu, release_from_elsewhere, NULL, true);
	if (nbq_mcs_destroy(&third_lock) != -EBUSY)
		ret = -EINVAL;
	nbq_mcs_unlock(&third_lock);

	for (i = 0; i < MANY; i++)
		release_what_is_not_held(&first_lock);
	return ret;
}

static DECLARE_COMPLETION(first_is_held);
static DECLARE_COMPLETION(second_is_held);
static DECLARE_COMPLETION(over);

/* Holds the second lock, and wants the first for as long as that is a deadlock. */
static int want_the_first(void *unused)
{
	ktime_t end = ktime_get() + NSEC_PER_SEC;
	int ret;

	wait_for_completion(&first_is_held);
	nbq_clh_lock(&second_lock);
	complete(&second_is_held);
	do {
		ret = nbq_clh_lock_timeout(&first_lock, WANTED_FOR);
		if (!ret)
			nbq_clh_unlock(&first_lock);
	} while (ret && ktime_get() < end);
	nbq_clh_unlock(&second_lock);
	complete(&over);
	return 0;
}

/* Holds the first lock, and wants the second whatever it takes. */
static int deadlock(void)
{
	struct task_struct *thread;
	int ret;

	/* Both wait with preemption off: each has a CPU to itself. */
	ret = set_cpus_allowed_ptr(current, cpumask_of(0));
	if (ret)
		return ret;
	thread = kthread_create_on_cpu(want_the_first, NULL, 1, "want_the_first/%u");
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	wake_up_process(thread);
	nbq_clh_lock(&first_lock);
	complete(&first_is_held);
	while (!try_wait_for_completion(&second_is_held))
		cpu_relax();
	nbq_clh_lock_nested(&second_lock, SINGLE_DEPTH_NESTING);
	nbq_clh_unlock(&second_lock);
	nbq_clh_unlock(&first_lock);
	wait_for_completion(&over);
	return 0;
}

const struct fault nbqlock_faults[] = {
	{ "nbq_abba", opposite_orders },
	{ "nbq_abba_raw", opposite_to_a_spinlock },
	{ "nbq_aa_class", same_class },
	{ "nbq_aa", same_lock },
	{ "nbq_irq", interrupt_unsafe },
	{ "nbq_not_held", not_held_after_timeout },
	{ "nbq_unlock", not_held },
	{ "nbq_spin_abba", hybrids_in_opposite_orders },
	{ "nbq_spin_unlock", hybrid_not_held },
	{ "nbq_spin_unlock_above", inverted_test },
	{ "nbq_left_by_init", leave_held },
	{ "nbq_left_by_thread", left_by_a_thread },
	{ "nbq_left_by_work", left_by_work },
	{ "nbq_left_by_timer", left_by_a_timer },
	{ "nbq_left_by_interrupt", left_by_an_interrupt },
	{ "nbq_misuse", misuse },
	{ "nbq_deadlock", deadlock },
	{ }
};
