/* SPDX-License-Identifier: GPL-2.0 */
/* A poll of a busy wait: the time that the cost table has for it. */
#ifndef SHIM_LINUX_PROCESSOR_H
#define SHIM_LINUX_PROCESSOR_H

/* host.c has one, which is never called. */
void shim_relax(void);
/* workload.c */
void simulate_relax(void);

#define cpu_relax()	simulate_relax()

#endif
