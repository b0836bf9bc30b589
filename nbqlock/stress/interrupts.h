/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Contenders in interrupts, see interrupts.c.
 */
#ifndef _STRESS_INTERRUPTS_H
#define _STRESS_INTERRUPTS_H

#include <linux/types.h>

struct stress_params;
struct stress_run;

unsigned int stress_interrupts_count(const struct stress_params *params);
int stress_interrupts_create(struct stress_run *run);
void stress_interrupts_start(struct stress_run *run);
void stress_interrupts_stop(struct stress_run *run);
void stress_interrupts_free(struct stress_run *run);

/* For hotplug. */
void stress_interrupts_cpu_down(struct stress_run *run, unsigned int cpu);
void stress_interrupts_cpu_up(struct stress_run *run, unsigned int cpu);

#endif
