/* SPDX-License-Identifier: GPL-2.0 */
/* No lockdep on the host. */
#ifndef SHIM_LINUX_LOCKDEP_H
#define SHIM_LINUX_LOCKDEP_H

struct lock_class_key { };
struct lockdep_map {
	const char *name;
	int wait_type_inner;
};

#define LD_WAIT_SPIN	2

#define lockdep_init_map_wait(map, name, key, subclass, type) \
	do { (void)(name); (void)(key); } while (0)
#define lockdep_set_class_and_name(lock, key, name) \
	do { (void)(key); (void)(name); } while (0)
#define spin_acquire_nest(map, subclass, trylock, nest, ip)	do { } while (0)
#define spin_release(map, ip)					do { } while (0)
#define lock_contended(map, ip)					do { } while (0)
#define lock_acquired(map, ip)					do { } while (0)

#endif
