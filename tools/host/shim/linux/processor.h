/* SPDX-License-Identifier: GPL-2.0 */
/* A poll of a busy wait. */
#ifndef SHIM_LINUX_PROCESSOR_H
#define SHIM_LINUX_PROCESSOR_H

void shim_relax(void);

#define cpu_relax()	shim_relax()

#endif
