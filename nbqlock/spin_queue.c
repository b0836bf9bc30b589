// SPDX-License-Identifier: GPL-2.0
/*
 * The queue of the hybrid: CLH-NB (Scott, "Non-Blocking Timeout in Scalable Queue-Based Spin
 * Locks", PODC 2002). What passes from node to node is the head of the queue, not a lock. What is
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
 * Own steps, accesses to shared memory that wait for no other CPU: at most 2 to abandon (swap the
 * tail, then free the node or store prev).
 *
 * Assumptions
 *	A node is allocated by its own CPU only (node.c); its memory stays a node.
 *	Only the nodes with which a pool began can be encoded in a tail.
 */
#include <linux/atomic.h>
#include <linux/processor.h>

#include "internal.h"
#include "socket.h"
#include "spin_policy.h"
#include "spin_queue.h"
#include "spin_word.h"
#include "trace.h"

static struct nbq_queue first_queues[NBQ_QUEUES];
static struct nbq_socket first_machine = {
	.turn = NBQ_TURN_MACHINE,
	.queue_bits = NBQ_QUEUE_BITS,
	.queues = first_queues,
};

struct nbq_socket *nbq_machine = &first_machine;
EXPORT_SYMBOL_IF_KUNIT(nbq_machine);
unsigned int nbq_sockets_number;
struct nbq_socket *nbq_sockets[NBQ_SOCKETS_MAX];
EXPORT_SYMBOL_IF_KUNIT(nbq_sockets_number);
EXPORT_SYMBOL_IF_KUNIT(nbq_sockets);

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
 * The last node of the queue that is a waiter's, behind which others may be abandoned; or the one
 * up to which it was looked. A node may be in another queue by now; then there was a holder in
 * between.
 *
 * Return: the node; NULL: no context waits.
 */
const struct nbq_node *nbq_last_waiter(const struct nbq_queue *queue)
{
	const struct nbq_node *node = nbq_decode_tail(READ_ONCE(queue->tail)), *prev;
	unsigned int past;

	for (past = 0; node && past < LOOK_PAST; past++) {
		prev = nbq_spin_poll(node);
		/* One that was skipped just now was so by a waiter behind it. */
		if (!nbq_is_node(prev))
			return prev == NBQ_AVAILABLE ? NULL : node;
		node = prev;
	}
	return node;
}

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
 * @lock: the lock at which an attempt may resume it; NULL: none may
 *
 * Return: true if the node was freed; else a successor reclaims it, and it must not be
 * accessed.
 */
bool nbq_spin_abandon(u32 *tail, struct nbq_node *node, struct nbq_node *pred, const void *lock)
{
	u32 number = nbq_encode_tail(node);

	/*
	 * RELEASE, pairs with the ACQUIRE of a later nbq_spin_enqueue(), which gets pred from
	 * the tail instead of this node: what made pred visible here is visible there.
	 */
	if (!node->stays &&
	    cmpxchg_release(tail, number, nbq_encode_tail(pred)) == number) {
		nbq_node_free_own(node);
		return true;
	}
	if (lock)
		nbq_note_abandoned(node, lock, NBQ_TYPE_SPIN);
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

	/* RELEASE, spare, pairs with the next nbq_spin_enqueue(), which reads nothing of it. */
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

/*
 * Does the waiter act as head whatever its predecessor does? That waits for another lock, which
 * shares the queue; or this interrupt has come above it.
 */
static bool is_first_of_lock(const struct nbq_place *place, const struct nbq_wait *wait)
{
	return READ_ONCE(place->pred->wants) != wait->lock || place->pred->cpu == wait->pool->cpu;
}

/*
 * Is the predecessor stalled? The hypervisor is asked no more often than the heartbeat is
 * checked: if each waiter behind a stalled one acted at once, they would get in each other's way.
 */
static void check_pred(struct nbq_place *place, const struct nbq_wait *wait)
{
	u64 heartbeat = READ_ONCE(place->pred->pool->heartbeat);

	place->checked_at = wait->now;
	place->competes = is_first_of_lock(place, wait) ||
			  nbq_has_passed(heartbeat, wait->now, STALLED_NS) ||
			  nbq_has_passed(wait->now, heartbeat, AHEAD_NS) ||
			  vcpu_is_preempted(place->pred->cpu);
}

/* Has another waiter enqueued behind it? */
void nbq_place_check_successor(struct nbq_place *place)
{
	if (!place->has_successor)
		place->has_successor = READ_ONCE(place->queue->tail) !=
				       nbq_encode_tail(place->node);
}

/* A nested attempt has none: neither it nor the one that it has interrupted counts as running. */
static void publish_heartbeat(const struct nbq_wait *wait)
{
	if (likely(!wait->nested))
		WRITE_ONCE(wait->pool->heartbeat, wait->now);
}

/* The attempt is about to wait in the queue. (The search for a node may have taken long.) */
static void start_clock(struct nbq_place *place, struct nbq_wait *wait)
{
	nbq_wait_read_clock(wait);
	place->checked_at = wait->now;
	place->ticked_at = wait->now;
	publish_heartbeat(wait);
}

/* It is time to publish the heartbeat, and to check the predecessor's. */
static void beat(struct nbq_place *place, const struct nbq_wait *wait)
{
	place->ticked_at = wait->now;
	publish_heartbeat(wait);
	if (!place->competes && nbq_has_passed(place->checked_at, wait->now, CHECK_PRED_NS))
		check_pred(place, wait);
	/* Before it is the head, if there is time: then it is to poll the lock's line. */
	nbq_place_check_successor(place);
}

/*
 * Skip abandoned predecessors, up to a waiter or to the head. There are no more than the queue
 * had when this node was enqueued: each skip frees a node.
 */
static void skip_abandoned(struct nbq_place *place, struct nbq_wait *wait)
{
	unsigned long skipped = place->skipped;
	struct nbq_node *prev;

	while (place->pred && (prev = nbq_spin_poll(place->pred))) {
		struct nbq_node *last = place->pred;

		place->handed = READ_ONCE(last->wants) == wait->lock;
		nbq_wait_pause(wait);
		place->pred = nbq_spin_skip(place->node, last, prev);
		/* It has resumed its place, and waits. */
		if (place->pred == last)
			break;
		place->skipped += prev != NBQ_AVAILABLE;
	}
	if (!place->pred)
		place->competes = true;
	/* The abandoned node may have been the acting head's: then its successor acts next. */
	else if (place->skipped != skipped)
		check_pred(place, wait);
}

/* Look at the predecessor. Return: the waiter is to compete for the lock. */
bool nbq_place_competes(struct nbq_place *place, struct nbq_wait *wait)
{
	if (HAS_TICKED(place->ticked_at, wait->now))
		beat(place, wait);
	skip_abandoned(place, wait);
	return place->competes;
}

/*
 * Does an attempt at this lock wait in the second one of these queues? If waiters of the lock are
 * there, which all who enqueue in the first one later would else overtake; or if those in the first
 * one wait for another lock, and nobody in the second.
 */
static bool is_in_second(const struct nbq_queue *first, const struct nbq_queue *second,
			 const void *lock)
{
	const struct nbq_node *last = nbq_last_waiter(first), *there;

	if (last && READ_ONCE(last->wants) == lock)
		return false;
	there = nbq_last_waiter(second);
	return there ? READ_ONCE(there->wants) == lock : !!last;
}

/*
 * Choose the queue in which the attempt waits. That of the machine if the patience is over before
 * the turn of another socket: for such attempts the turn would come too late, and each head that
 * gives up would leave the lock's line to the next.
 */
static void choose_queue(struct nbq_place *place, const struct nbq_wait *wait)
{
	const struct nbq_socket *socket = READ_ONCE(wait->pool->socket);
	struct nbq_queue *second;

	if (nbq_has_other_sockets(socket) && HAS_LITTLE_PATIENCE(wait))
		socket = NULL;
	place->queue = nbq_queue_of(socket, wait->lock);
	second = nbq_other_queue_of(socket, wait->lock);
	if (is_in_second(place->queue, second, wait->lock))
		place->queue = second;
	place->turn = socket ? socket->turn : NBQ_TURN_MACHINE;
}

/*
 * The node may stay in its queue when the attempt is over: then nbq_place_take_back() finds it.
 * Noted when it waits there: before, its prev is that of its last life.
 */
static void may_stay(struct nbq_node *node)
{
	node->abandoned_seq = node->alloc_seq;
	node->type = NBQ_TYPE_SPIN;
}

/* Enqueue. Return: false if there is no node. */
bool nbq_place_take(struct nbq_place *place, struct nbq_wait *wait)
{
	struct nbq_pool *pool = wait->pool;
	struct nbq_node *node = NULL;

	if (likely(nbq_pool_is_ready(pool)))
		node = nbq_node_alloc_encodable(pool);
	if (unlikely(!node))
		return false;
	WRITE_ONCE(node->nested, wait->nested);
	node->stays = place->lost_place;
	place->node = node;
	start_clock(place, wait);
	choose_queue(place, wait);
	place->pred = nbq_spin_enqueue(wait->lock, &place->queue->tail, node);
	may_stay(node);
	/*
	 * Not from before the swap, which may wait long for the tail's line: a head with little
	 * patience would request a handoff at once.
	 */
	place->since = nbq_clock_ns();
	place->was_behind = place->pred;
	place->competes = !place->pred || is_first_of_lock(place, wait);
	return true;
}

/* Is @node directly in front of @behind, or the tail? As nbq_queue_is_next(). */
static bool is_next(const struct nbq_queue *queue, const struct nbq_node *behind,
		    unsigned long freed, const struct nbq_node *node)
{
	if (behind)
		return nbq_spin_poll(behind) == node && READ_ONCE(behind->free_seq) == freed;
	/* ACQUIRE, pairs with nbq_spin_enqueue(): of the node's states, none of its last life. */
	return nbq_decode_tail(smp_load_acquire(&queue->tail)) == node;
}

/*
 * The node directly behind this one, where all behind it are abandoned: the queue is at rest, or
 * the last waiter is in front of it. NULL: there is none, or the queue has changed meanwhile. Each
 * node is known to be in the queue, as in nbq_queue_is_idle(): else it could have any prev.
 */
static struct nbq_node *abandoned_behind(const struct nbq_queue *queue,
					 const struct nbq_node *node)
{
	struct nbq_node *behind = NULL, *at = nbq_decode_tail(READ_ONCE(queue->tail)), *prev;
	unsigned long freed, freed_behind = 0;

	while (nbq_is_node(at)) {
		/* ACQUIRE, pairs with the RELEASE in nbq_node_free_seq(): as there. */
		freed = smp_load_acquire(&at->free_seq);
		if (!is_next(queue, behind, freed_behind, at))
			return NULL;
		prev = nbq_spin_poll(at);
		if (prev == node)
			return READ_ONCE(at->free_seq) == freed ? at : NULL;
		behind = at;
		freed_behind = freed;
		at = prev;
	}
	return NULL;
}

/*
 * Take a node that was left in its queue, and is kept, out of it:
 *
 *	.. pred L	-> .. pred	the tail
 *	.. pred L succ	-> .. pred succ
 *	A		-> []
 *	A succ		-> A		succ makes the head available instead
 *
 * Return: false: it stays, since a waiter is behind it, or it was skipped.
 */
static bool take_back(struct nbq_node *node)
{
	struct nbq_node *pred = nbq_spin_poll(node), *succ;
	u32 number = nbq_encode_tail(node), before = 0;
	bool taken;

	if (pred != NBQ_AVAILABLE) {
		/*
		 * Until this is over, it waits: no successor skips it. Relaxed, pairs with
		 * nbq_node_skip(): only one of the two gets the node.
		 */
		if (!nbq_is_node(pred) || cmpxchg_relaxed(&node->prev, pred, NULL) != pred)
			return false;
		before = nbq_encode_tail(pred);
	}
	/* RELEASE, pairs with nbq_spin_enqueue(), as in nbq_spin_abandon(). */
	taken = cmpxchg_release(&node->queue->tail, number, before) == number;
	if (!taken) {
		succ = abandoned_behind(node->queue, node);
		/*
		 * Relaxed: who finds pred there has come by the tail, to which pred was swapped
		 * before. Fails if succ is not abandoned any more: its place was resumed, or taken
		 * back and freed, or a successor has skipped it.
		 */
		taken = succ && cmpxchg_relaxed(&succ->prev, node, pred) == node;
	}
	if (!taken && pred != NBQ_AVAILABLE) {
		/* RELEASE, pairs with nbq_spin_poll(), as that which abandons. */
		smp_store_release(&node->prev, pred);
	}
	return taken;
}

/**
 * nbq_place_take_back() - Take a node out of a queue at rest, where no successor comes to skip it.
 * @node: one that an attempt of this CPU and level has left there, and that is kept
 *
 * Without an access to a lock.
 *
 * Context: Any, preemption off.
 * Return: true if it is out, and to be freed.
 */
bool nbq_place_take_back(struct nbq_node *node)
{
	bool taken;

	/* Not to be resumed, unless it stays. */
	node->abandoned_seq -= NBQ_ALLOC_STEP;
	taken = take_back(node);
	if (!taken)
		node->abandoned_seq += NBQ_ALLOC_STEP;
	return taken;
}

/* Resume the place of an earlier attempt, without an access to the lock. */
void nbq_place_resume(struct nbq_place *place, struct nbq_wait *wait)
{
	/* Many attempts, each of which leaves at the tail, would take its line in turn. */
	place->lost_place = nbq_may_have_abandoned(wait->pool, wait->lock);
	place->node = nbq_resume(wait->pool, wait->lock, NBQ_TYPE_SPIN, nbq_node_resume,
				 &place->pred);
	if (!place->node)
		return;
	place->node->stays = true;
	may_stay(place->node);
	place->queue = place->node->queue;
	place->turn = place->node->turn;
	start_clock(place, wait);
	place->since = place->node->since;
	place->checked_at = place->node->checked_at;
	place->competes = place->node->competes;
	/* At each: it would take the heartbeat's line from that CPU, 1.5 misses of 5. */
	if (nbq_has_passed(place->checked_at, wait->now, CHECK_RESUMED_NS))
		check_pred(place, wait);
}

/*
 * The wait in the queue is over, with the lock or with an error: dequeue or abandon. An acting head
 * with the lock has used up its place, which no attempt resumes.
 */
void nbq_place_leave(struct nbq_place *place, struct nbq_wait *wait, int ret)
{
	struct nbq_node *node = place->node;
	const void *lock = ret ? wait->lock : NULL;
	bool freed;

	nbq_count_skipped(wait->pool, place->skipped);
	WRITE_ONCE(node->lock, lock);
	node->queue = place->queue;
	node->turn = place->turn;
	node->since = place->since;
	node->checked_at = place->checked_at;
	node->competes = place->competes;
	freed = place->pred ?
		nbq_spin_abandon(&place->queue->tail, node, place->pred, lock) :
		nbq_spin_dequeue_head(&place->queue->tail, node, place->has_successor);
	if (!ret)
		return;
	/* At the head, too. */
	wait->pool->events.nodes_abandoned += !freed;
	trace_nbq_abandon(wait->lock, !freed, ret);
}
