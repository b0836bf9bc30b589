// SPDX-License-Identifier: GPL-2.0
/*
 * A model of HMCS of two levels: an MCS lock for each socket, whose head contends for an MCS lock
 * of all sockets.
 *
 * Source: Milind Chabbi, Michael Fagan and John Mellor-Crummey, "High Performance Locks for
 * Multi-level NUMA Systems", PPoPP 2015: the lock for two levels, of which the general one is
 * made.
 *
 * Modelled
 *	The algorithm as printed, with a socket as the lower level and the machine as the root. A
 *	holder passes both locks to the next waiter of its socket, and counts these passes in the
 *	waiter's status; after THRESHOLD of them, or without such a waiter, it releases the root
 *	and leaves the next head of the socket to acquire it anew.
 *
 * Left out
 *	More than two levels (cores that share a cache); the paper tunes the threshold for each
 *	level and machine, here it is fixed. Each tail and each node has a cache line of its own.
 *
 * What tail points to in struct stress_queue is the lock; no store changes that line.
 */
#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/preempt.h>
#include <linux/processor.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include <nbqlock/stress/papers/own_node.h>

#include "models.h"

/* The count with which a holder releases the root: it began with COHORT_START. */
#define THRESHOLD	64UL

/*
 * Values of status. Up to THRESHOLD, it says that its owner holds the lock, and how many of the
 * socket have had it in a row.
 */
#define COHORT_START	1UL
#define ACQUIRE_ROOT	(~0UL - 1)
#define WAIT		(~0UL)

struct hmcs_node {
	struct hmcs_node *next;
	unsigned long status;
} ____cacheline_aligned_in_smp;

/* An MCS lock: of the root, or of a socket. */
struct hmcs_queue {
	struct hmcs_node *tail;	/* the newest node, NULL while the queue is empty */
} ____cacheline_aligned_in_smp;

/* The lower level. */
struct hmcs_socket {
	struct hmcs_queue queue;	/* of the socket's waiters */
	/* the socket's own, in the root's queue; used by the head of queue */
	struct hmcs_node node;
};

struct hmcs {
	struct hmcs_queue root;
	unsigned int count;
	struct hmcs_socket sockets[];
};

static int hmcs_init(struct stress_lock *lock, unsigned int index)
{
	unsigned int count = simulate_sockets();
	struct hmcs *hmcs;

	hmcs = kzalloc(sizeof(*hmcs) + count * sizeof(hmcs->sockets[0]), GFP_KERNEL);
	if (!hmcs)
		return -ENOMEM;
	hmcs->count = count;
	lock->queue.tail = hmcs;
	return 0;
}

static int hmcs_enter(struct stress_lock *lock, struct stress_waiter *me)
{
	return own_node_enter(me, sizeof(struct hmcs_node));
}

static struct hmcs_socket *this_socket(struct hmcs *hmcs)
{
	return &hmcs->sockets[simulate_socket_of(raw_smp_processor_id())];
}

/*
 * Enqueue, and wait unless the queue is empty.
 *
 * Return: the status that the predecessor has left; WAIT if there was none.
 */
static unsigned long wait_in_queue(struct hmcs_queue *queue, struct hmcs_node *node)
{
	struct hmcs_node *pred;
	unsigned long status;

	WRITE_ONCE(node->next, NULL);
	WRITE_ONCE(node->status, WAIT);
	/*
	 * Fully ordered. ACQUIRE, pairs with the RELEASE swap in pass_on() when it reads NULL: the
	 * last critical section is over. RELEASE: a successor's next comes after the NULL above.
	 */
	pred = xchg(&queue->tail, node);
	if (!pred)
		return WAIT;
	/* RELEASE, pairs with the ACQUIREs of next: a status that is passed comes after WAIT. */
	smp_store_release(&pred->next, node);
	/* ACQUIRE, pairs with the RELEASE of status in pass_on() and hmcs_unlock(). */
	while ((status = smp_load_acquire(&node->status)) == WAIT)
		cpu_relax();
	return status;
}

/* Leave the queue: give a status to the successor, if there is one. */
static void pass_on(struct hmcs_queue *queue, struct hmcs_node *node, unsigned long status)
{
	/* ACQUIRE, here and below, pairs with the RELEASE of next in wait_in_queue(). */
	struct hmcs_node *succ = smp_load_acquire(&node->next);

	if (!succ) {
		/* RELEASE, pairs with the swap in wait_in_queue(). */
		if (cmpxchg_release(&queue->tail, node, NULL) == node)
			return;
		while (!(succ = smp_load_acquire(&node->next)))
			cpu_relax();
	}
	/* RELEASE, pairs with the ACQUIRE of status in wait_in_queue(). */
	smp_store_release(&succ->status, status);
}

static int hmcs_lock(struct stress_lock *lock, struct stress_waiter *me, ktime_t patience)
{
	struct hmcs *hmcs = lock->queue.tail;
	struct hmcs_socket *socket;
	struct hmcs_node *node = me->own;

	preempt_disable();
	socket = this_socket(hmcs);
	/* With a count from the predecessor the root is held. */
	if (wait_in_queue(&socket->queue, node) < ACQUIRE_ROOT)
		return 0;
	WRITE_ONCE(node->status, COHORT_START);
	wait_in_queue(&hmcs->root, &socket->node);
	return 0;
}

static void hmcs_unlock(struct stress_lock *lock, struct stress_waiter *me)
{
	struct hmcs *hmcs = lock->queue.tail;
	struct hmcs_socket *socket = this_socket(hmcs);
	struct hmcs_node *node = me->own;
	unsigned long passes = READ_ONCE(node->status);
	struct hmcs_node *succ;

	if (passes < THRESHOLD) {
		/* ACQUIRE, pairs with the RELEASE of next in wait_in_queue(). */
		succ = smp_load_acquire(&node->next);
		if (succ) {
			/* RELEASE, pairs with the ACQUIRE of status in wait_in_queue(). */
			smp_store_release(&succ->status, passes + 1);
			goto out;
		}
	}
	/* The root first: the next head of the socket uses the same node there. */
	pass_on(&hmcs->root, &socket->node, COHORT_START);
	pass_on(&socket->queue, node, ACQUIRE_ROOT);
out:
	preempt_enable();
}

/* Return: 0, or -EBUSY if a CPU is still in a queue. */
static int hmcs_destroy(struct stress_lock *lock)
{
	struct hmcs *hmcs = lock->queue.tail;
	unsigned int i;

	if (hmcs->root.tail)
		return -EBUSY;
	for (i = 0; i < hmcs->count; i++) {
		if (hmcs->sockets[i].queue.tail)
			return -EBUSY;
	}
	kfree(hmcs);
	return 0;
}

/* Not free_after_unlock: the socket's queue is left after the root is released. */
const struct stress_ops model_hmcs = {
	.name = "hmcs",
	.meaning = "a model of HMCS, an MCS lock of sockets over MCS locks of CPUs",
	.patience = STRESS_WAITS_FOR_EVER,
	.init = hmcs_init,
	.enter = hmcs_enter,
	.lock = hmcs_lock,
	.unlock = hmcs_unlock,
	.destroy = hmcs_destroy,
	.exit = own_node_exit,
};
