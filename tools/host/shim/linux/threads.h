/* SPDX-License-Identifier: GPL-2.0 */
/* How many CPUs there can be. */
#ifndef SHIM_LINUX_THREADS_H
#define SHIM_LINUX_THREADS_H

#include <host.h>

#define NR_CPUS		SHIM_CPUS

#endif
