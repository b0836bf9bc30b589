/* SPDX-License-Identifier: GPL-2.0 */
/* How many CPUs there are. */
#ifndef SHIM_LINUX_CPUMASK_H
#define SHIM_LINUX_CPUMASK_H

#include <host.h>

#define nr_cpu_ids	((unsigned int)SHIM_CPUS)
#define for_each_possible_cpu(cpu)					\
	for ((cpu) = SHIM_CPU_NUMBER(0); SHIM_CPU_INDEX(cpu) < nr_cpu_ids; \
	     (cpu) = SHIM_CPU_NUMBER(SHIM_CPU_INDEX(cpu) + 1))
#define cpu_active(cpu)		(SHIM_CPU_INDEX(cpu) != shim_moving_cpu)
#define cpu_online(cpu)		(cpu_active(cpu) && SHIM_CPU_INDEX(cpu) != shim_stopped_cpu)

#endif
