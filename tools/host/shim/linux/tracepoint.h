/* SPDX-License-Identifier: GPL-2.0 */
/* No tracing on the host: a tracepoint is counted, if a test has a use for that. */
#ifndef SHIM_LINUX_TRACEPOINT_H
#define SHIM_LINUX_TRACEPOINT_H

#include <trace/events/lock.h>

void shim_trace(const char *name);

#define TP_PROTO(...)	__VA_ARGS__

#define TRACE_EVENT(name, prototype, ...)				\
	static inline void trace_##name(prototype) { shim_trace(#name); }	\
	static inline bool trace_##name##_enabled(void)			\
	{ return shim_contention_is_traced; }

#endif
