/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's types by its BTF, and what programs need besides: kernel_types.h is made by
 * tools/studies/rqspinlock/selftest.py.
 */
#ifndef SELFTEST_VMLINUX_H
#define SELFTEST_VMLINUX_H

#include "kernel_types.h"
#include <bpf/bpf_helpers.h>

/*
 * Declared by kernel_types.h itself where pahole (1.26) marks the kernel's functions for
 * programs, and bpftool (7.5) declares them.
 */
#ifdef NO_KFUNCS
int bpf_res_spin_lock(struct bpf_res_spin_lock *lock) __ksym;
void bpf_res_spin_unlock(struct bpf_res_spin_lock *lock) __ksym;
int bpf_res_spin_lock_irqsave(struct bpf_res_spin_lock *lock, unsigned long *flags) __ksym;
void bpf_res_spin_unlock_irqrestore(struct bpf_res_spin_lock *lock, unsigned long *flags) __ksym;
void bpf_local_irq_save(unsigned long *flags) __ksym;
void bpf_local_irq_restore(unsigned long *flags) __ksym;
void *bpf_rdonly_cast(const void *object, u32 type) __ksym;
void *bpf_obj_new_impl(u64 type, void *meta) __ksym;

/* Without those marks the kernel does not hide the second argument of its bpf_obj_new(). */
static __always_inline void *bpf_obj_new(u64 type)
{
	return bpf_obj_new_impl(type, NULL);
}
#endif

/* A kernel without a table of held locks: so large the test expects it to be. */
#ifdef NO_HELD_TABLE
struct rqspinlock_held {
	void *locks[31];
};
#endif

#endif /* SELFTEST_VMLINUX_H */
