/* SPDX-License-Identifier: GPL-2.0 */
/* The lock types of the driver itself, and those that are registered. */
#ifndef _STRESS_OPS_H
#define _STRESS_OPS_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/version.h>

#include <nbqlock/nbqlock.h>
#include <nbqlock/stress.h>

/* Only with BPF, from Linux 6.15 on. */
#if defined(CONFIG_BPF_SYSCALL) && LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)
#include <asm/rqspinlock.h>
#define STRESS_HAS_RQSPINLOCK
#endif

struct seq_file;

/* For the memory of a run, which may be much: -ENOMEM rather than the OOM killer. */
#define STRESS_GFP	(GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/* A queue lock that is not from nbqlock. Each lock type has nodes of its own. */
struct stress_queue {
	void *tail;		/* the newest node */
	void *holder;		/* the holder's node, in locks that keep it here */
};

/* Memory for one lock of any of the driver's types. */
struct stress_lock {
	union {
#define STRESS_OURS(_name, X)	struct nbq_##X nbq_##X;
#include "lock_types_list.h"
		raw_spinlock_t raw;
#ifdef STRESS_HAS_RQSPINLOCK
		rqspinlock_t rq;
#endif
		int taken;
		struct stress_queue queue;
	};
};

/*
 * Nodes that are lost. Where places are left, a pool has one at each lock at most, which the
 * next attempt there resumes, and each queue that of one acting head, which took the lock. The next
 * waiter frees these, also in a later run, which then has freed more than it has allocated.
 */
static inline s64 stress_nodes_leaked(const struct stress_ops *ops, s64 leaked,
				      unsigned int pools, unsigned int locks)
{
	s64 left = (s64)(pools + 1) * locks;

	if (!ops->leaves_places)
		return leaked;
	return leaked > left ? leaked - left : 0;
}

#define STRESS_OURS(_name, X)	extern const struct stress_ops stress_##_name;
#define STRESS_KERNEL(_name)	extern const struct stress_ops stress_##_name;
#define STRESS_PAPER(_name)	extern const struct stress_ops stress_##_name;
#include "lock_types_list.h"

int stress_ops_start(void);
void stress_ops_stop(void);
const struct stress_ops *stress_ops_default(void);
const struct stress_ops *stress_ops_find(const char *name);
int stress_ops_get(const struct stress_ops *ops);
void stress_ops_put(const struct stress_ops *ops);
void stress_ops_log_names(void);
void stress_ops_list(struct seq_file *m);

#endif
