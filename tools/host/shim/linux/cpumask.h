/* SPDX-License-Identifier: GPL-2.0 */
/* How many CPUs there are. */
#ifndef SHIM_LINUX_CPUMASK_H
#define SHIM_LINUX_CPUMASK_H

#include <host.h>

#define nr_cpu_ids	((unsigned int)SHIM_CPUS)
#define for_each_possible_cpu(cpu)	for ((cpu) = 0; (cpu) < nr_cpu_ids; (cpu)++)

#endif
