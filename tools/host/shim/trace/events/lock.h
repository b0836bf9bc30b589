/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's tracepoints for waiting, as of linux/tracepoint.h. */
#ifndef SHIM_TRACE_EVENTS_LOCK_H
#define SHIM_TRACE_EVENTS_LOCK_H

#include <linux/tracepoint.h>

#define LCB_F_SPIN	1U

TRACE_EVENT(contention_begin, TP_PROTO(void *lock, unsigned int flags));
TRACE_EVENT(contention_end, TP_PROTO(void *lock, int ret));

#endif
