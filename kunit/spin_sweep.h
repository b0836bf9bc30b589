/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For tests of the hybrid, in user space, too: to find out that no context uses a lock, and to
 * give back the nodes that attempts have abandoned in its queues, so that none that is lost stays
 * unnoticed. By enqueueing, as the next waiter would.
 */
#ifndef SPIN_SWEEP_H
#define SPIN_SWEEP_H

#include "../nbqlock/spin_queue.h"

/* Return: true if a waiter of this lock was found. */
static inline bool spin_sweep_queue(const union nbq_bare_spin *lock, struct nbq_queue *queue)
{
	struct nbq_pool *pool = nbq_this_pool();
	struct nbq_node *node, *pred, *prev;
	bool found, freed;

	if (!READ_ONCE(queue->tail) || !nbq_pool_is_ready(pool))
		return false;
	node = nbq_node_alloc_encodable(pool);
	if (!node)
		return false;
	pred = nbq_spin_enqueue(lock, &queue->tail, node);
	while (pred && (prev = nbq_spin_poll(pred))) {
		struct nbq_node *last = pred;

		pred = nbq_spin_skip(node, last, prev);
		if (pred == last)
			break;
	}
	/* Whatever the last attempt with this node has left there. */
	node->stays = false;
	found = pred && READ_ONCE(pred->wants) == lock;
	freed = pred ? nbq_spin_abandon(&queue->tail, node, pred, NULL) :
		       nbq_spin_dequeue_head(&queue->tail, node, false);
	/* Only the nodes of attempts are counted. */
	pool->events.nodes_allocated -= freed;
	pool->events.nodes_freed -= freed;
	return found;
}

/* Return: 0; -EBUSY: a context holds the lock or waits for it. */
static inline int spin_sweep(union nbq_bare_spin *lock)
{
	bool busy = READ_ONCE(lock->state.holder);
	struct nbq_socket *socket = NULL;
	unsigned int turn = NBQ_TURN_MACHINE;

	/* No socket has the turn any more. */
	WRITE_ONCE(lock->state.request, 0);
	preempt_disable();
	do {
		busy |= spin_sweep_queue(lock, nbq_queue_of(socket, lock));
		busy |= spin_sweep_queue(lock, nbq_other_queue_of(socket, lock));
		socket = nbq_socket_of_turn(++turn);
	} while (socket);
	preempt_enable();
	return busy ? -EBUSY : 0;
}

#endif
