/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's tracepoints for contention, disabled: a no-op each, and no memory access. */
#ifndef SHIM_TRACE_EVENTS_LOCK_H
#define SHIM_TRACE_EVENTS_LOCK_H

#include <stdbool.h>

#define LCB_F_SPIN	1U

#define trace_contention_begin_enabled()	false
#define trace_contention_begin(lock, flags)	((void)(lock), (void)(flags))
#define trace_contention_end(lock, ret)		((void)(lock), (void)(ret))

#endif
