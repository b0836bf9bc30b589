// SPDX-License-Identifier: GPL-2.0
/*
 * The queue of the hybrid: CLH-NB (Scott, "Non-Blocking Timeout in Scalable Queue-Based Spin
 * Locks", PODC 2002), in which the head of the queue is handed over instead of a lock. What is
 * different from clh_nb.c: the tail is a number, and a place has no critical section.
 *
 * States of a node, by prev
 *
 *	                  +-- abandon or dequeue, as tail --------> free
 *	  enqueue         |                                          ^
 *	free --> NULL ----+-- abandon --> (pred) --> RECYCLED ------>|
 *	        waits     |             abandoned     a successor    |
 *	          ^       |              |            skips it       |
 *	          +-------|--- resume ---+                           |
 *	                  |                                          |
 *	                  +-- dequeue --> AVAILABLE ---------------->+
 *	                       as head               a successor becomes the head
 *
 * Own steps on shared memory: at most 2 to abandon (swap the tail, then free the node or store
 * prev; 1 from a resumed place).
 *
 * Assumptions
 *	A node is allocated by its own CPU only (node.c); its memory stays a node.
 *	Only the nodes with which a pool began can be encoded in a tail.
 */
#include <linux/atomic.h>

#include "internal.h"
#include "spin_queue.h"
#include "spin_word.h"
#include "trace.h"

/*
 * Enqueue.
 *
 *	[]	-> node			NULL
 *	.. pred	-> .. pred node		pred
 *
 * Return: the predecessor; NULL: the node is the head.
 */
struct nbq_node *nbq_spin_enqueue(const union nbq_bare_spin *lock, u32 *tail,
				  struct nbq_node *node)
{
	WRITE_ONCE(node->wants, lock);
	/*
	 * Marked: a waiter that was behind this node in its last life, and has put it back
	 * into the tail, may still poll it. It reads NULL either way.
	 */
	WRITE_ONCE(node->prev, NULL);
	/*
	 * Fully ordered. RELEASE: prev = NULL is seen by the successor, which gets the node
	 * from the tail and polls prev. ACQUIRE, pairs with the predecessor's enqueue: its
	 * prev = NULL; and with the swap in nbq_spin_abandon(), which puts a predecessor
	 * back.
	 */
	return nbq_decode_tail(xchg(tail, nbq_encode_tail(node)));
}
EXPORT_SYMBOL_IF_KUNIT(nbq_spin_enqueue);

/*
 * Poll the predecessor.
 *
 * Return: NULL: it waits. NBQ_AVAILABLE: the node is the head. A node: the predecessor was
 * abandoned, and that node is its predecessor.
 */
struct nbq_node *nbq_spin_poll(const struct nbq_node *pred)
{
	/*
	 * ACQUIRE, pairs with the RELEASE stores in nbq_spin_abandon() and
	 * nbq_spin_dequeue_head(). Without it, pred could be freed before its owner's last
	 * accesses to it.
	 */
	return smp_load_acquire(&pred->prev);
}
EXPORT_SYMBOL_IF_KUNIT(nbq_spin_poll);

/*
 * Skip a predecessor that was abandoned: .. prev L node -> .. prev node; or that was the head:
 * A node -> node. Only the CPU of an abandoned node knows of it, besides; unless that has
 * resumed the place, it is reclaimed.
 *
 * Return: the new predecessor; NULL: the node is the head; or the old one, which waits again.
 */
struct nbq_node *nbq_spin_skip(struct nbq_node *node, struct nbq_node *pred,
			       struct nbq_node *prev)
{
	if (prev != NBQ_AVAILABLE) {
		if (!nbq_node_skip(pred, prev))
			return pred;
		trace_nbq_reclaim(pred);
	}
	nbq_node_reclaim(pred, &node->pool->events);
	return prev == NBQ_AVAILABLE ? NULL : prev;
}
EXPORT_SYMBOL_IF_KUNIT(nbq_spin_skip);

/*
 * Abandon the place, at any position but the head.
 *
 *	.. pred W	-> .. pred		the tail: true
 *	.. pred W succ	-> .. pred L succ	not the tail: false
 *
 * Return: true if the node was freed; else a successor reclaims it, and it must not be
 * accessed.
 */
bool nbq_spin_abandon(u32 *tail, struct nbq_node *node, struct nbq_node *pred)
{
	u32 number = nbq_encode_tail(node);

	/*
	 * RELEASE, pairs with the ACQUIRE of a later nbq_spin_enqueue(), which gets pred from
	 * the tail instead of this node: what made pred visible here is visible there.
	 */
	if (!node->resumed &&
	    cmpxchg_release(tail, number, nbq_encode_tail(pred)) == number) {
		nbq_node_free_own(node);
		return true;
	}
	node->resumed = false;
	if (node->lock)
		nbq_note_abandoned(node, node->lock);
	/*
	 * RELEASE, pairs with the ACQUIRE in nbq_spin_poll(): as above, for the successor
	 * that continues at pred. The last access to the node.
	 */
	smp_store_release(&node->prev, pred);
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(nbq_spin_abandon);

/*
 * Dequeue the head, with the lock or without.
 *
 *	W		-> []			the tail: true
 *	W succ ..	-> A succ ..		not the tail: false
 *
 * @has_successor: the tail was seen to be another node, and is not swapped. If all waiters
 * behind have given up since, the tail is an AVAILABLE node: the next to enqueue is the head.
 *
 * Return: true if the node was freed; else the successor reclaims it, and it must not be
 * accessed.
 */
bool nbq_spin_dequeue_head(u32 *tail, struct nbq_node *node, bool has_successor)
{
	u32 number = nbq_encode_tail(node);

	node->resumed = false;
	/* RELEASE, and spare: the next to enqueue reads nothing of this node. */
	if (!has_successor && cmpxchg_release(tail, number, 0) == number) {
		nbq_node_free_own(node);
		return true;
	}
	/*
	 * RELEASE, pairs with the ACQUIRE in nbq_spin_poll(): the accesses to the node are over
	 * before the successor reclaims it.
	 */
	smp_store_release(&node->prev, NBQ_AVAILABLE);
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(nbq_spin_dequeue_head);
