/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A program's surroundings, for the locks' texts in a thread of this machine: what is a call into
 * the kernel there is a call here. tools/studies/arena/load/host/speed.c has them.
 */
#ifndef ARENA_HOST_BPF_HELPERS_H
#define ARENA_HOST_BPF_HELPERS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef struct {
	int counter;
} atomic_t;

#define __weak			__attribute__((weak))
#define __hidden		__attribute__((visibility("hidden")))
#define __noinline		__attribute__((noinline))
#undef __always_inline
#define __always_inline		inline __attribute__((always_inline))
#define __ksym
#define __kconfig
#define __arena
#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define barrier()		__asm__ volatile("" ::: "memory")
#define can_loop		true
#define bpf_printk(...)		((void)0)

extern __thread unsigned int this_cpu;

static inline unsigned int bpf_get_smp_processor_id(void)
{
	return this_cpu;
}

unsigned long long bpf_ktime_get_ns(void);

#endif /* ARENA_HOST_BPF_HELPERS_H */
