/* SPDX-License-Identifier: GPL-2.0 */
/* The number of the CPU. */
#ifndef SHIM_LINUX_SMP_H
#define SHIM_LINUX_SMP_H

#include <host.h>

#define raw_smp_processor_id()	SHIM_CPU_NUMBER(shim_cpu)

#endif
