/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The operations of rqspinlock by the bare hybrid lock of nbqlock.
 *
 * What differs from the kernel's own: no table of held locks, as the holder stands in the lock, and
 * a deadlock check follows the waiters from there; a timeout at each position of the queue. A lock
 * that is all zeroes is free, as in the value of a BPF map.
 */
#ifndef __ASM_GENERIC_NBQ_RQSPINLOCK_H
#define __ASM_GENERIC_NBQ_RQSPINLOCK_H

#include <linux/types.h>
#include <nbqlock/bare_spin_types.h>

typedef union nbq_bare_spin rqspinlock_t;

/* BTF knows it by its name, and takes size and alignment from here: as of the lock. */
struct bpf_res_spin_lock {
	u32 val;
} __aligned(__alignof__(rqspinlock_t));

int nbq_res_spin_lock(rqspinlock_t *lock);
void nbq_res_spin_unlock(rqspinlock_t *lock);
int nbq_res_spin_holder(const rqspinlock_t *lock);

/**
 * res_spin_lock - acquire a lock within a patience of 1 s
 * @lock: the lock
 *
 * Return:
 * * 0		- Lock was acquired successfully.
 * * -EDEADLK	- Lock acquisition failed because of a deadlock, of however many locks.
 * * -ETIMEDOUT - Lock acquisition failed because of timeout.
 */
static __always_inline int res_spin_lock(rqspinlock_t *lock)
{
	return nbq_res_spin_lock(lock);
}

static __always_inline void res_spin_unlock(rqspinlock_t *lock)
{
	nbq_res_spin_unlock(lock);
}

#define raw_res_spin_lock_init(lock) ({ *(lock) = (rqspinlock_t){}; })

#endif /* __ASM_GENERIC_NBQ_RQSPINLOCK_H */
