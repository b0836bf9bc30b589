// SPDX-License-Identifier: GPL-2.0
/*
 * A model of the test-and-set lock that x86 puts in the place of the queued spinlock under a
 * hypervisor without paravirtual locks.
 *
 * Source: virt_spin_lock() of arch/x86/include/asm/paravirt-spinlock.h, Linux 7.2; the fast path
 * and the release of include/asm-generic/qspinlock.h.
 *
 * Modelled
 *	Every access to the word: a compare-and-swap; then polls, each followed by one more
 *	compare-and-swap if the word was free, and by cpu_relax() if the lock was not acquired.
 *	No queue, no back-off.
 */
#include <linux/preempt.h>
#include <linux/processor.h>

#include "models.h"
#include "qspinlock_word.h"

static int virt_lock(struct stress_lock *lock, struct stress_waiter *me, ktime_t patience)
{
	union qspinlock_word *word = word_of(lock);

	preempt_disable();
	/* 0 -> locked. ACQUIRE, here and below: pairs with the RELEASE in virt_unlock(). */
	if (!cmpxchg_acquire(&word->val, 0, Q_LOCKED))
		return 0;
	while (READ_ONCE(word->val) || cmpxchg(&word->val, 0, Q_LOCKED))
		cpu_relax();
	return 0;
}

static void virt_unlock(struct stress_lock *lock, struct stress_waiter *me)
{
	/* RELEASE: the critical section is over. Pairs with the ACQUIREs in virt_lock(). */
	smp_store_release(&word_of(lock)->locked, 0);
	preempt_enable();
}

const struct stress_ops model_virt_spin_lock = {
	.name = "virt_spin_lock",
	.meaning = "a model of x86's test-and-set for guests without paravirtual locks",
	.patience = STRESS_WAITS_FOR_EVER,
	.free_after_unlock = true,
	.init = qspinlock_word_init,
	.lock = virt_lock,
	.unlock = virt_unlock,
	.destroy = qspinlock_word_destroy,
};
