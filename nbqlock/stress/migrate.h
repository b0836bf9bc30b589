/* SPDX-License-Identifier: GPL-2.0 */
/* Migration of threads and CPU hotplug, see migrate.c. */
#ifndef _STRESS_MIGRATE_H
#define _STRESS_MIGRATE_H

#include <linux/cpumask.h>
#include <linux/types.h>

struct stress_run;

bool stress_hotplug_is_possible(const struct cpumask *cpus);

int stress_migrate_create(struct stress_run *run);
void stress_migrate_start(struct stress_run *run);
void stress_migrate_stop(struct stress_run *run);

#endif
