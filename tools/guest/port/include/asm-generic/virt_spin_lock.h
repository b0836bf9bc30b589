/* SPDX-License-Identifier: GPL-2.0 */
/*
 * qspinlock's slow path as x86 has it under a hypervisor without paravirtual locks: all waiters
 * test and set the lock word, and the queue is not used.
 *
 * For user-mode Linux, in front of kernel/locking/qspinlock.c, which takes a virt_spin_lock() of
 * the architecture where there is one.
 */
#ifndef __ASM_GENERIC_VIRT_SPIN_LOCK_H
#define __ASM_GENERIC_VIRT_SPIN_LOCK_H

#include <linux/atomic.h>
#include <linux/processor.h>
#include <asm-generic/qspinlock_types.h>

static __always_inline bool virt_spin_lock(struct qspinlock *lock)
{
	int free = 0;

	while (atomic_read(&lock->val) || !atomic_try_cmpxchg(&lock->val, &free, _Q_LOCKED_VAL)) {
		free = 0;
		cpu_relax();
	}
	return true;
}

#define virt_spin_lock virt_spin_lock

#endif
