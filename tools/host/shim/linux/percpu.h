/* SPDX-License-Identifier: GPL-2.0 */
/* Per-CPU data: an array with an element for each CPU. */
#ifndef SHIM_LINUX_PERCPU_H
#define SHIM_LINUX_PERCPU_H

#include <host.h>

#define DECLARE_PER_CPU(type, name)	extern __typeof__(type) name[SHIM_CPUS]
#define DEFINE_PER_CPU(type, name)	__typeof__(type) name[SHIM_CPUS]
#define per_cpu(name, cpu)		((name)[SHIM_CPU_INDEX(cpu)])
#define this_cpu_ptr(ptr)		\
	((__typeof__(*(ptr) + 0))shim_this_cpu(ptr, sizeof((*(ptr))[0])))

#endif
