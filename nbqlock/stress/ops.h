/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The lock types under test, each behind the same four verbs.
 */
#ifndef _STRESS_OPS_H
#define _STRESS_OPS_H

#include <linux/ktime.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include <nbqlock/nbqlock.h>

struct seq_file;

/* Memory for one lock of any type. */
union stress_lock {
	struct nbq_clh clh;
	raw_spinlock_t raw;
};

/**
 * struct stress_ops - a lock type
 * @name: what debugfs ``lock`` takes
 * @meaning: one line for people
 * @can_time_out: heeds the patience; else @lock waits for ever
 * @uses_nodes: takes queue nodes from the pools of nbqlock
 * @init: make an unlocked lock
 * @destroy: the lock is not used any more; 0 or a negative errno; may be NULL
 * @lock: 0: held, preemption off; -ETIMEDOUT: the patience is over; -ENOMEM:
 *	so is it, and no queue node could be had. Patience is in ns as for
 *	nbq_clh_lock_timeout().
 * @unlock: by the thread that holds it
 */
struct stress_ops {
	const char *name;
	const char *meaning;
	bool can_time_out;
	bool uses_nodes;
	void (*init)(union stress_lock *lock);
	int (*destroy)(union stress_lock *lock);
	int (*lock)(union stress_lock *lock, ktime_t patience);
	void (*unlock)(union stress_lock *lock);
};

const struct stress_ops *stress_ops_default(void);
const struct stress_ops *stress_ops_find(const char *name);
void stress_ops_log_names(void);
void stress_ops_list(struct seq_file *m);

#endif
