/* SPDX-License-Identifier: GPL-2.0 */
/* No tracing on the host: a tracepoint is counted, if a test has a use for that. */
#ifndef SHIM_LINUX_TRACEPOINT_H
#define SHIM_LINUX_TRACEPOINT_H

void shim_trace(const char *name);

#define TP_PROTO(...)	__VA_ARGS__

#define TRACE_EVENT(name, prototype, ...)				\
	static inline void trace_##name(prototype) { shim_trace(#name); }

#endif
