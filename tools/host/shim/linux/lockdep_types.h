/* SPDX-License-Identifier: GPL-2.0 */
/* What a lock has for lockdep; there is none on the host. */
#ifndef SHIM_LINUX_LOCKDEP_TYPES_H
#define SHIM_LINUX_LOCKDEP_TYPES_H

struct lock_class_key { };
struct lockdep_map {
	const char *name;
	int wait_type_inner;
};

#define LD_WAIT_SPIN	2

#endif
