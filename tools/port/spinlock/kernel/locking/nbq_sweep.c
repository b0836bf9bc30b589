// SPDX-License-Identifier: GPL-2.0
/*
 * Sweeps the queues of all sockets, for a test that counts queue nodes: what the last waiters have
 * abandoned stays until the next one reclaims it, or a lock of the same queue is destroyed.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <nbqlock/nbqlock.h>

/* A queue is chosen by a hash of the lock's address; so many have locks in each. */
#define LOCKS 4096

static int __init nbq_sweep_init(void)
{
	struct nbq_spin *locks = kvcalloc(LOCKS, sizeof(*locks), GFP_KERNEL);
	unsigned int i, refused = 0;

	if (!locks)
		return -ENOMEM;
	for (i = 0; i < LOCKS; i++) {
		nbq_spin_init(&locks[i]);
		refused += !!nbq_spin_destroy(&locks[i]);
	}
	kvfree(locks);
	return refused ? -EBUSY : 0;
}
module_init(nbq_sweep_init);

static void __exit nbq_sweep_exit(void)
{
}
module_exit(nbq_sweep_exit);

MODULE_DESCRIPTION("Sweeps the queues of nbq_spin's sockets");
MODULE_LICENSE("GPL");
