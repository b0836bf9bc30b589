/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counting the events of events_list.h.
 *
 * Every pool has counters of its own, and only contexts of that pool's CPU
 * and level write to them (to "growths": only the growth), so that counting
 * is a plain increment: no atomic, no sharing, no interrupts masked. The
 * price: should two contexts of one level nest (an NMI inside an NMI), a
 * count may be lost. No lock ever acts on a count.
 */
#ifndef _NBQ_EVENTS_H
#define _NBQ_EVENTS_H

#include <linux/compiler.h>

struct nbq_events {
#define NBQ_EVENT(name, kind, meaning)	unsigned long name;
#include "events_list.h"
#undef NBQ_EVENT
};

/* Keep the larger value: for the events of the kinds MAX and PEAK. */
static inline void nbq_record(unsigned long *record, unsigned long value)
{
	if (value > READ_ONCE(*record))
		WRITE_ONCE(*record, value);
}

#endif
