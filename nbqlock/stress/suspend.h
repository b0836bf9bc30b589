/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Attempts that are suspended by an interrupt, see suspend.c.
 */
#ifndef _STRESS_SUSPEND_H
#define _STRESS_SUSPEND_H

#include <linux/types.h>

struct contender;
struct stress_run;
struct stress_suspended;
struct suspension;

int stress_suspend_create(struct stress_run *run);
void stress_suspend_stop(struct stress_run *run);
void stress_suspend_free(struct stress_run *run);
struct stress_suspended stress_suspend_sum_up(const struct stress_run *run);
bool stress_suspend_happened(const struct stress_run *run);
u64 stress_suspend_interval_ns(const struct stress_run *run);

bool stress_suspend_begin(struct suspension *suspension);
bool stress_suspend_is_inside(const struct suspension *suspension);
bool stress_suspend_end(struct suspension *suspension);

#endif
