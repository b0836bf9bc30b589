/* SPDX-License-Identifier: GPL-2.0 */
/* What a lock has for lockdep. */
#ifndef SHIM_LINUX_LOCKDEP_TYPES_H
#define SHIM_LINUX_LOCKDEP_TYPES_H

struct lock_class_key { };
struct lockdep_map {
	const char *name;
	int wait_type_inner;
	const struct lock_class_key *key;
	int held;	/* recorded so often */
};

#define LD_WAIT_SPIN	2

#endif
