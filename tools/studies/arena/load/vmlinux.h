/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's types by its BTF, and what programs need besides: kernel_types.h is made by
 * tools/studies/arena/build.py.
 */
#ifndef ARENA_VMLINUX_H
#define ARENA_VMLINUX_H

#include "kernel_types.h"
#include <bpf/bpf_helpers.h>

/* Declared by kernel_types.h itself where pahole (1.26) marks the kernel's functions. */
#ifdef NO_KFUNCS
void bpf_preempt_disable(void) __ksym;
void bpf_preempt_enable(void) __ksym;
void bpf_local_irq_save(unsigned long *flags) __ksym;
void bpf_local_irq_restore(unsigned long *flags) __ksym;
#endif

#endif /* ARENA_VMLINUX_H */
