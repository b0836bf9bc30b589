/* SPDX-License-Identifier: GPL-2.0 */
/* Per-CPU data: an array with an element for each CPU. */
#ifndef SHIM_LINUX_PERCPU_H
#define SHIM_LINUX_PERCPU_H

#include <host.h>

/* Each in cache lines of its own, as the memory of a CPU is. */
#define SHIM_A_LINE(type)		\
	(sizeof(__typeof__(type)) < 64 ? 64 / sizeof(__typeof__(type)) : 1)
#define DECLARE_PER_CPU(type, name)	\
	extern __typeof__(type) name[SHIM_CPUS][SHIM_A_LINE(type)]
#define DEFINE_PER_CPU(type, name)	\
	__typeof__(type) name[SHIM_CPUS][SHIM_A_LINE(type)] __attribute__((aligned(64)))
#define per_cpu(name, cpu)		((name)[SHIM_CPU_INDEX(cpu)][0])
#define SHIM_ELEMENT(ptr)		__typeof__(***(ptr))
#define this_cpu_ptr(ptr)		\
	((SHIM_ELEMENT(ptr) *)shim_this_cpu(ptr, sizeof((*(ptr))[0])))
#define this_cpu_read(name)		per_cpu(name, raw_smp_processor_id())
#define this_cpu_write(name, value)	(per_cpu(name, raw_smp_processor_id()) = (value))

#endif
