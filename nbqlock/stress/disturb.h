/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Moving threads and CPUs during a run, see disturb.c.
 */
#ifndef _STRESS_DISTURB_H
#define _STRESS_DISTURB_H

#include <linux/cpumask.h>
#include <linux/types.h>

struct stress_run;

bool stress_hotplug_is_possible(const struct cpumask *cpus);

int stress_disturb_create(struct stress_run *run);
void stress_disturb_start(struct stress_run *run);
void stress_disturb_stop(struct stress_run *run);

#endif
