/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What nbqlock/bpf/nbq_arena_lock.h takes of a BPF program's headers. An arena is memory like any
 * other here.
 */
#ifndef SHIM_BPF_BPF_HELPERS_H
#define SHIM_BPF_BPF_HELPERS_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/processor.h>
#include <linux/types.h>

#define __arena
#define __hidden
#define __ksym
#define __noinline	noinline
/* arena_lock.c has its functions and nodes: what other files get with the header goes. */
#ifndef __weak
#define __weak		__attribute__((__weak__))
#endif

/* Has the program looped as often as it may? NULL: never. */
extern bool (*shim_loop_is_over)(void);

/* As what it has on x86, where no store overtakes another access. */
#define nbq_smp_store_release(p, value)	smp_store_release(p, value)

#define can_loop	(!shim_loop_is_over || !shim_loop_is_over())

u64 bpf_ktime_get_ns(void);
u32 bpf_get_smp_processor_id(void);

#endif
