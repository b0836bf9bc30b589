/* SPDX-License-Identifier: GPL-2.0 */
/* nbq_arena_lock under the names of libarena's lock, for the kernel's test of that. */
#ifndef ARENA_IN_PLACE_H
#define ARENA_IN_PLACE_H

#include <nbq_arena_lock.h>

#define EOPNOTSUPP	95
#define PATIENCE_NS	1000000000ULL	/* as libarena's: until the verifier's budget is over */

#define arena_spinlock_t		struct nbq_arena_lock
#define arena_spin_lock_irqsave(lock, flags) \
	nbq_arena_lock_irqsave(lock, PATIENCE_NS, flags)
#define arena_spin_unlock_irqrestore(lock, flags) \
	nbq_arena_unlock_irqrestore(lock, flags)

#endif /* ARENA_IN_PLACE_H */
