// SPDX-License-Identifier: GPL-2.0
/*
 * CLH: the queue lock that CLH-NB is based on.
 *
 * Craig, "Building FIFO and Priority-Queueing Spin Locks from Atomic Swap", University of
 * Washington TR 93-02-02, 1993; Magnusson, Landin and Hagersten, "Queue Locks on Cache Coherent
 * Multiprocessors", IPPS 1994.
 *
 * Correct as published. A thread swaps its node into the tail and spins on the node of its
 * predecessor; after the grant the holder owns both, and keeps the predecessor's for its next
 * attempt. So nodes migrate between threads (and NUMA nodes), and an idle lock keeps one: init
 * allocates the first.
 *
 * The tail is the newest node; holder is not used.
 */
#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/preempt.h>
#include <linux/processor.h>
#include <linux/slab.h>

#include <nbqlock/stress/ops.h>

#include "own_node.h"

struct clh_node {
	bool succ_must_wait;
} ____cacheline_aligned_in_smp;

/**
 * struct clh_thread - what a thread keeps between the operations
 * @node: for its next attempt, or in the queue now
 * @pred: of the holder: its own node after the release
 */
struct clh_thread {
	struct clh_node *node;
	struct clh_node *pred;
} ____cacheline_aligned_in_smp;

static int clh_init(struct stress_lock *lock, unsigned int index)
{
	struct clh_node *node = kzalloc(sizeof(*node), GFP_KERNEL);

	lock->queue.tail = node;
	return node ? 0 : -ENOMEM;
}

static int clh_enter(struct stress_lock *lock, struct stress_waiter *me)
{
	struct clh_thread *thread;

	thread = kzalloc_node(sizeof(*thread), GFP_KERNEL, me->numa_node);
	if (!thread)
		return -ENOMEM;
	thread->node = kzalloc_node(sizeof(*thread->node), GFP_KERNEL, me->numa_node);
	me->own = thread;
	me->nodes.max = 1;
	return thread->node ? 0 : -ENOMEM;
}

static int clh_lock(struct stress_lock *lock, struct stress_waiter *me, ktime_t patience)
{
	struct clh_thread *thread = me->own;

	preempt_disable();
	WRITE_ONCE(thread->node->succ_must_wait, true);
	/* Fully ordered: the successor that reads the node sees succ_must_wait. */
	thread->pred = xchg(&lock->queue.tail, thread->node);
	/* ACQUIRE: the last critical section is over. Pairs with the RELEASE in clh_unlock(). */
	while (smp_load_acquire(&thread->pred->succ_must_wait))
		cpu_relax();
	return 0;
}

static void clh_unlock(struct stress_lock *lock, struct stress_waiter *me)
{
	struct clh_thread *thread = me->own;
	struct clh_node *node = thread->node;

	thread->node = thread->pred;
	/* RELEASE: the critical section is over. Pairs with the ACQUIRE in clh_lock(). */
	smp_store_release(&node->succ_must_wait, false);
	preempt_enable();
}

/* All nodes are distinct: each thread has one, and this is the last. */
static int clh_destroy(struct stress_lock *lock)
{
	struct clh_node *node = lock->queue.tail;

	/* Held: the holder frees both nodes when it exits. */
	if (node->succ_must_wait)
		return -EBUSY;
	kfree(node);
	return 0;
}

static void clh_exit(struct stress_lock *lock, struct stress_waiter *me)
{
	struct clh_thread *thread = me->own;

	if (!thread)
		return;
	/* Equal after a release, distinct in the holder. */
	if (thread->pred != thread->node)
		kfree(thread->pred);
	kfree(thread->node);
	kfree(thread);
}

const struct stress_ops stress_clh = {
	.name = "clh",
	.meaning = "CLH, the queue lock of Craig and of Landin and Hagersten",
	.size = sizeof(struct stress_lock),
	.patience = STRESS_WAITS_FOR_EVER,
	.free_after_unlock = true,
	.init = clh_init,
	.enter = clh_enter,
	.lock = clh_lock,
	.unlock = clh_unlock,
	.destroy = clh_destroy,
	.exit = clh_exit,
	.count_nodes = first_node_count,
};
