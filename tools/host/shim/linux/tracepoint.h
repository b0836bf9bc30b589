/* SPDX-License-Identifier: GPL-2.0 */
/* No tracing on the host: a tracepoint is a function that does nothing. */
#ifndef SHIM_LINUX_TRACEPOINT_H
#define SHIM_LINUX_TRACEPOINT_H

#define TP_PROTO(...)	__VA_ARGS__

#define TRACE_EVENT(name, prototype, ...)				\
	static inline void trace_##name(prototype) { }

#endif
