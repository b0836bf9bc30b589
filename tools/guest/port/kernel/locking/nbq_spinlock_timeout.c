// SPDX-License-Identifier: GPL-2.0
/*
 * Attempts to acquire a spinlock that give up after a time, as preemption, interrupts, lockdep and
 * lock_stat see them. The kernel-doc is in <linux/spinlock_timeout.h>.
 */
#include <linux/bottom_half.h>
#include <linux/export.h>
#include <linux/instruction_pointer.h>
#include <linux/irqflags.h>
#include <linux/lockdep.h>
#include <linux/preempt.h>
#include <linux/spinlock.h>

static __always_inline int do_acquire(raw_spinlock_t *lock, s64 patience_ns,
				      bool (*stop)(void *arg), void *arg)
	__cond_acquires(0, lock)
{
	return stop ? do_raw_spin_lock_unless(lock, patience_ns, stop, arg) :
		      do_raw_spin_lock_timeout(lock, patience_ns);
}

/* As LOCK_CONTENDED(): with lock_stat, what cannot be acquired at once counts as contended. */
static __always_inline int acquire_counted(raw_spinlock_t *lock, s64 patience_ns,
					   bool (*stop)(void *arg), void *arg, unsigned long ip)
	__cond_acquires(0, lock)
{
	if (IS_ENABLED(CONFIG_LOCK_STAT)) {
		if (do_raw_spin_trylock(lock))
			return 0;
		lock_contended(&lock->dep_map, ip);
	}
	return do_acquire(lock, patience_ns, stop, arg);
}

/* With preemption off. An attempt that no order of locks forbids. */
static __always_inline int try_acquire(raw_spinlock_t *lock, s64 patience_ns,
				       bool (*stop)(void *arg), void *arg, unsigned long ip)
	__cond_acquires(0, lock)
{
	int ret = do_acquire(lock, patience_ns, stop, arg);

	if (!ret)
		spin_acquire(&lock->dep_map, 0, 1, ip);
	return ret;
}

/*
 * With preemption off. A wait is recorded before it begins, as that of the operations which cannot
 * fail: else a deadlock that only the patience ends would never be reported. In an NMI, which
 * cannot be masked, there is no order to report.
 */
static __always_inline int acquire_unless(raw_spinlock_t *lock, s64 patience_ns,
					  bool (*stop)(void *arg), void *arg, unsigned long ip)
	__cond_acquires(0, lock)
{
	int ret;

	if (patience_ns <= 0 || in_nmi())
		return try_acquire(lock, patience_ns, stop, arg, ip);
	spin_acquire(&lock->dep_map, 0, 0, ip);
	ret = acquire_counted(lock, patience_ns, stop, arg, ip);
	if (ret)
		spin_release(&lock->dep_map, ip);
	else
		lock_acquired(&lock->dep_map, ip);
	return ret;
}

static __always_inline int acquire(raw_spinlock_t *lock, s64 patience_ns, unsigned long ip)
	__cond_acquires(0, lock)
{
	return acquire_unless(lock, patience_ns, NULL, NULL, ip);
}

int __lockfunc
_raw_spin_lock_unless(raw_spinlock_t *lock, s64 patience_ns, bool (*stop)(void *arg), void *arg)
{
	int ret;

	preempt_disable();
	ret = acquire_unless(lock, patience_ns, stop, arg, _RET_IP_);
	if (ret)
		preempt_enable();
	return ret;
}
EXPORT_SYMBOL_GPL(_raw_spin_lock_unless);

int __lockfunc _raw_spin_lock_timeout(raw_spinlock_t *lock, s64 patience_ns)
{
	int ret;

	preempt_disable();
	ret = acquire(lock, patience_ns, _RET_IP_);
	if (ret)
		preempt_enable();
	return ret;
}
EXPORT_SYMBOL_GPL(_raw_spin_lock_timeout);

int __lockfunc _raw_spin_lock_timeout_bh(raw_spinlock_t *lock, s64 patience_ns)
{
	int ret;

	__local_bh_disable_ip(_RET_IP_, SOFTIRQ_LOCK_OFFSET);
	ret = acquire(lock, patience_ns, _RET_IP_);
	if (ret)
		__local_bh_enable_ip(_RET_IP_, SOFTIRQ_LOCK_OFFSET);
	return ret;
}
EXPORT_SYMBOL_GPL(_raw_spin_lock_timeout_bh);

int __lockfunc
_raw_spin_lock_timeout_irqsave(raw_spinlock_t *lock, s64 patience_ns, unsigned long *flags)
{
	int ret;

	local_irq_save(*flags);
	preempt_disable();
	ret = acquire(lock, patience_ns, _RET_IP_);
	if (ret) {
		local_irq_restore(*flags);
		preempt_enable();
	}
	return ret;
}
EXPORT_SYMBOL_GPL(_raw_spin_lock_timeout_irqsave);

int __lockfunc
_raw_spin_trylock_timeout_irqsave(raw_spinlock_t *lock, s64 patience_ns, unsigned long *flags)
{
	int ret;

	local_irq_save(*flags);
	preempt_disable();
	ret = try_acquire(lock, patience_ns, NULL, NULL, _RET_IP_);
	if (ret) {
		local_irq_restore(*flags);
		preempt_enable();
	}
	return ret;
}
EXPORT_SYMBOL_GPL(_raw_spin_trylock_timeout_irqsave);
