/* SPDX-License-Identifier: GPL-2.0 */
/* Warnings: printed and counted, once a place. */
#ifndef SHIM_LINUX_BUG_H
#define SHIM_LINUX_BUG_H

#include <host.h>

bool shim_warn_once(bool condition, bool *warned, const char *format, ...)
	__attribute__((__format__(__printf__, 3, 4)));

#define WARN_ONCE(condition, ...)					\
({									\
	static bool __warned;						\
									\
	shim_warn_once(condition, &__warned, __VA_ARGS__);		\
})

#endif
