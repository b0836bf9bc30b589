/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reports of misuse and of deadlocks, from any context and under any lock.
 */
#ifndef _NBQ_REPORT_H
#define _NBQ_REPORT_H

#include <linux/types.h>

enum nbq_report {
	NBQ_REPORT_DEADLOCK,	/* an acquisition that cannot time out */
	NBQ_REPORT_OWNER_DEAD,	/* the same, behind a holder that has stopped for good */
	NBQ_REPORT_NOT_HELD,	/* unlock of a free lock */
	NBQ_REPORT_NOT_OWNER,	/* unlock by another CPU or level than the holder's */
	NBQ_REPORT_IN_USE,	/* destroy of a lock that is held or waited for */
	NBQ_REPORTS
};

void nbq_report(enum nbq_report what, const void *lock, u16 holder, unsigned long ip);

#endif
