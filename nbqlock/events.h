/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The counting of the events of events_list.h.
 *
 * Every pool has its own counters, and only contexts of its CPU and level write to them. So to
 * count is a plain increment: no atomic, no shared line, no interrupts off. If two contexts of one
 * level nest (an NMI in an NMI), a count may be lost.
 * No lock ever acts on a count.
 */
#ifndef _NBQ_EVENTS_H
#define _NBQ_EVENTS_H

#include <linux/compiler.h>

#include "compat.h"

struct nbq_events {
#define NBQ_EVENT(name, kind, meaning)	unsigned long name;
#include "events_list.h"
#undef NBQ_EVENT
};

/* Keep the larger value: for events of the kinds MAX and PEAK. */
static inline void nbq_record(unsigned long *record, unsigned long value)
{
	if (value > READ_ONCE(*record))
		WRITE_ONCE(*record, value);
}

#endif
