/* SPDX-License-Identifier: GPL-2.0 */
/* What a guest knows of its virtual CPUs. */
#ifndef SHIM_LINUX_SCHED_H
#define SHIM_LINUX_SCHED_H

#include <host.h>

#define vcpu_is_preempted(cpu)	(shim_vcpu_is_preempted && shim_vcpu_is_preempted(cpu))

#endif
