/* SPDX-License-Identifier: GPL-2.0 */
/* No lockdep on the host. */
#ifndef SHIM_LINUX_LOCKDEP_H
#define SHIM_LINUX_LOCKDEP_H

#include <linux/lockdep_types.h>

#define lockdep_init_map_wait(map, name, key, subclass, type) \
	do { (void)(name); (void)(key); } while (0)
#define lockdep_set_class_and_name(lock, key, name) \
	do { (void)(key); (void)(name); } while (0)
#define lockdep_assert(condition)				do { } while (0)
#define spin_acquire(map, subclass, trylock, ip)		do { } while (0)
#define spin_release(map, ip)					do { } while (0)
#define lock_contended(map, ip)					do { } while (0)
#define lock_acquired(map, ip)					do { } while (0)

#endif
