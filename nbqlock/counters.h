/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The counted events of all locks together, as in debugfs nbqlock/, for modules that measure.
 * This is no part of the interface of the locks.
 */
#ifndef _NBQLOCK_COUNTERS_H
#define _NBQLOCK_COUNTERS_H

#include <linux/compiler.h>
#include <linux/types.h>

/*
 * Attempts are counted by the abandoned nodes that they skipped, up to this: so many that the
 * structure which counts them has a size by which it is found quickly.
 */
#define NBQ_SKIPPED_MAX	56

int __must_check nbq_event_read(const char *name, u64 *value);
void nbq_events_reset(void);
unsigned int nbq_cpu_nodes_in_use(unsigned int cpu);
void nbq_skipped_read(u64 counts[NBQ_SKIPPED_MAX + 1]);

#endif
