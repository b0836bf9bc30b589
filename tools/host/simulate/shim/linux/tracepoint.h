/* SPDX-License-Identifier: GPL-2.0 */
/* Tracepoints, disabled: a no-op each, and no memory access. */
#ifndef SHIM_LINUX_TRACEPOINT_H
#define SHIM_LINUX_TRACEPOINT_H

#include <stdbool.h>

#define TP_PROTO(...)	__VA_ARGS__

#define TRACE_EVENT(name, prototype, ...)				\
	static inline void trace_##name(prototype) { }			\
	static inline bool trace_##name##_enabled(void) { return false; }

#endif
