// SPDX-License-Identifier: GPL-2.0
/*
 * The swap-only lock: a queue-based spinlock with non-blocking timeout that
 * needs no compare-and-swap, and whose waiters spin on their own node.
 *
 * William N. Scherer III and Michael L. Scott, "Non-Blocking Timeout in a
 * NUMA-Aware Queue-Based Spin Lock", 2004: the answer to whether a fair lock
 * without contention and with timeout needs a universal atomic operation.
 *
 * As in MCS-NB everyone knows the node behind, says in its own next when it is
 * done, and tells the one behind in that one's status. But a leaver neither
 * takes itself off the tail nor asks to be forgotten: it says that it leaves,
 * and that is all. Whoever comes upon it swaps itself into the next of the node
 * in front of it, and learns from what it finds there whether that one still
 * was to write to the leaver's status.
 *
 * Assumptions
 *	Preemption is off from the claim of a node to the unlock.
 *	A node is claimed by its own CPU only (node.c); its memory stays a node.
 *
 * States of a node, by next, and who moves it
 *
 *	  join
 *	free --> NULL or succ --+-- hand over --> AVAILABLE ----------> free
 *	        waits or holds  |                 a successor takes over
 *	                        +-- leave --> LEAVING ----------------> free
 *	                                      a successor steps over (1)
 *
 *	LEAVING --> NULL: resume, unless a successor steps over it.
 *
 *	(1) If the one in front has forgotten the leaver, the successor gives its
 *	    node back. If it knew it and is done, it tells it so, or will: both
 *	    swap its status, and the second gives it back.
 *
 * Below, a queue is drawn from its front to its tail: H holds, W waits, L has
 * left, A is AVAILABLE, [] is the queue of a new lock. "pred > W": pred's next
 * is W.
 *
 * Departures from the paper
 *	A new lock has no node: the first to join finds tail = NULL, as if it
 *	had found and freed the AVAILABLE dummy that the paper leaves to be
 *	imagined. So making a lock cannot fail, and a static one needs nothing.
 *	From the first release on the last holder's node stays in the lock and
 *	is that dummy.
 *	In print, release stores AVAILABLE in prev, where nobody looks. Here it
 *	swaps it into next and tells the successor, as leaving does.
 *	A waiter steps over leavers without looking at the clock. In print the
 *	clock ends the walk too, and loses a node: a free lock behind leavers is
 *	never taken by those without patience.
 *	What print does to "fool itself", storing LEAVING in the next of the new
 *	predecessor in order to swap it out again, is left out.
 *	An attempt whose CPU has left a node in the queue, which no successor has
 *	stepped over, resumes that place. So a waiter that was notified that its
 *	predecessor has left swaps itself into that one's next before it steps
 *	over it: it may wait again. And what two contexts swap into the status of an
 *	abandoned node is not the word of its predecessor any more, as in print:
 *	that may have changed since.
 *	An empty pool makes the attempt fail with -ENOMEM once the patience is
 *	over; the paper allocates.
 *
 * Own steps on shared memory: at most 4 to leave (store prev, swap next, swap
 * the successor's status, give its node back), at most 3 to release (all but the
 * first of these).
 */
#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/instruction_pointer.h>

#include "swap.h"
#include "internal.h"
#include "queue_lock.h"
#include "relax.h"
#include "trace.h"

/*
 * Enter the queue.
 *
 *	[]	-> node			NULL
 *	.. pred	-> .. pred node		pred
 *
 * Return: my predecessor, to which nbq_swap_link() must make me known; NULL:
 * the lock was new and is mine.
 */
VISIBLE_IF_KUNIT
struct nbq_node *nbq_swap_enqueue(struct nbq_queue_lock *lock, struct nbq_node *node)
{
	/*
	 * Marked, although the node is not in the queue yet: is_idle() of an attempt that
	 * has found the node in the tail in its last life may read it now.
	 */
	WRITE_ONCE(node->next, NULL);
	/*
	 * Fully ordered. RELEASE: next = NULL above comes before the swap in
	 * nbq_swap_link() of the successor that gets my node from the tail;
	 * else it could overwrite it, and the successor would be forgotten.
	 * ACQUIRE, pairs with the predecessor's own join: the same.
	 */
	return xchg(&lock->tail, node);
}
EXPORT_SYMBOL_IF_KUNIT(nbq_swap_enqueue);

/*
 * Make myself known to a predecessor, in place of whomever it knew: pred node
 * -> pred > node.
 *
 * Return: what it had to say. NULL: nothing, it waits or holds, and will tell
 * me. NBQ_AVAILABLE: the lock is mine. NBQ_LEAVING: it has left. A node, that
 * of a leaver between us: as NULL, and it will not tell that one.
 */
VISIBLE_IF_KUNIT
struct nbq_node *nbq_swap_link(struct nbq_node *node, struct nbq_node *pred)
{
	struct nbq_node *state;

	WRITE_ONCE(node->status, NULL);
	/*
	 * Fully ordered, pairs with the swaps of next in nbq_swap_abandon() and
	 * nbq_swap_release(). RELEASE: status = NULL above comes before what
	 * pred, which finds me here, writes to it; else I would wait for ever.
	 * ACQUIRE: the critical section is over for whoever finds AVAILABLE,
	 * and the leaver's prev is seen by whoever finds LEAVING.
	 */
	state = xchg(&pred->next, node);
	/* The swap has brought the line: nbq_node_reclaim_pred() needs no read of it. */
	node->pred_alloc_seq = pred->alloc_seq;
	return state;
}
EXPORT_SYMBOL_IF_KUNIT(nbq_swap_link);

/*
 * Look once at what a predecessor that knows me has told me.
 *
 * Return: NULL: nothing. NBQ_AVAILABLE, NBQ_LEAVING: as nbq_swap_link().
 */
VISIBLE_IF_KUNIT
struct nbq_node *nbq_swap_poll(const struct nbq_node *node)
{
	/*
	 * ACQUIRE, pairs with the swap in tell(): as in nbq_swap_link().
	 */
	return smp_load_acquire(&node->status);
}
EXPORT_SYMBOL_IF_KUNIT(nbq_swap_poll);

/*
 * Done with a predecessor that has left, between me and the one that I am known
 * to now: .. pred L > node -> .. pred > node.
 *
 * @said: what nbq_swap_link() found in the one in front: the leaver itself, so
 * nobody but me knows it any more; or what that one tells the leaver, or will
 * yet, or NULL: it has resumed its place since it told that. The later of us two
 * gives the node back.
 */
VISIBLE_IF_KUNIT
void nbq_swap_skip(struct nbq_node *node, struct nbq_node *abandoned,
		   struct nbq_node *state)
{
	trace_nbq_reclaim(abandoned);
	/*
	 * The swap is fully ordered, pairs with the one in tell(): both of us
	 * are done with the node before the second gives it back.
	 */
	if (state == abandoned || xchg(&abandoned->status, NBQ_RECYCLED))
		nbq_node_reclaim(abandoned, &node->pool->events);
}
EXPORT_SYMBOL_IF_KUNIT(nbq_swap_skip);

/* The predecessor has handed the lock over: A node .. -> H .. */
VISIBLE_IF_KUNIT
void nbq_swap_granted(struct nbq_queue_lock *lock, struct nbq_node *node,
		      struct nbq_node *pred)
{
	nbq_held_add(node, lock);
	nbq_node_reclaim_pred(node, pred);
}
EXPORT_SYMBOL_IF_KUNIT(nbq_swap_granted);

/*
 * Tell the successor that I found in my next, if any, what my next says now.
 * RECYCLED: it has left, and the one that has stepped over it was here first.
 */
static void tell(struct nbq_node *succ, struct nbq_node *what,
		 struct nbq_events *events)
{
	/*
	 * Fully ordered. RELEASE, pairs with nbq_swap_poll(): what came before,
	 * the critical section or my prev, is seen by whoever was told. Both,
	 * pairs with the swap in nbq_swap_skip(), as there.
	 */
	if (succ && xchg(&succ->status, what) == NBQ_RECYCLED)
		nbq_node_reclaim(succ, events);
}

/* Say that the node was left, to its successor if I know it. My last access to the node. */
static void publish_abandoned(struct nbq_node *node)
{
	struct nbq_events *events = &node->pool->events;

	/*
	 * Fully ordered, pairs with nbq_swap_link(), and with pred_of() for
	 * destroy. RELEASE: prev is seen with LEAVING. ACQUIRE: the successor in
	 * next has reset its status before it is written to.
	 */
	tell(xchg(&node->next, NBQ_LEAVING), NBQ_LEAVING, events);
}

/*
 * Leave the queue, from any position. The node stays until somebody comes upon
 * it, and must not be touched.
 *
 *	.. pred W	-> .. pred L
 *	.. pred W > succ -> .. pred L succ
 */
VISIBLE_IF_KUNIT
void nbq_swap_abandon(struct nbq_queue_lock *lock, struct nbq_node *node, struct nbq_node *pred)
{
	nbq_note_abandoned(node, lock);
	WRITE_ONCE(node->prev, pred);
	publish_abandoned(node);
	node->pool->events.nodes_abandoned++;
}
EXPORT_SYMBOL_IF_KUNIT(nbq_swap_abandon);

/*
 * Resume the place of an earlier attempt, whose node is in its predecessor's next all the
 * time, or has its message.
 *
 *	.. pred L succ	-> .. pred W succ
 *
 * Return: the predecessor; NULL: the node does not stand in the queue of this lock, or its
 * successor has been there first.
 */
VISIBLE_IF_KUNIT
struct nbq_node *nbq_swap_resume(struct nbq_node *node, const void *lock)
{
	/*
	 * Fully ordered, as the swap of the tail in nbq_swap_enqueue(), for the rounds of wait.c.
	 * Pairs with nbq_swap_link() of the successor: only one of the two gets the node. The
	 * one compare-and-swap of this lock, and not one that it could not do without.
	 */
	if (READ_ONCE(node->next) != NBQ_LEAVING ||
	    cmpxchg(&node->next, NBQ_LEAVING, NULL) != NBQ_LEAVING)
		return NULL;
	/* One of the same level that came above in between may have left it elsewhere. */
	if (unlikely(READ_ONCE(node->lock) != lock)) {
		publish_abandoned(node);
		return NULL;
	}
	return READ_ONCE(node->prev);
}
EXPORT_SYMBOL_IF_KUNIT(nbq_swap_resume);

/*
 * End the critical section.
 *
 *	[H]		-> A
 *	H > succ ..	-> A succ ..
 *
 * With the swap of next somebody else may take the lock, release it and free
 * its memory: neither the node nor the lock may be touched after it. (The
 * successor's node may: it waits for what I tell it.)
 */
VISIBLE_IF_KUNIT
void nbq_swap_release(struct nbq_queue_lock *lock, struct nbq_node *node)
{
	struct nbq_events *events = &node->pool->events;
	struct nbq_node *succ;

	nbq_held_del(node);
	/*
	 * Fully ordered, pairs with nbq_swap_link() and pred_of(). RELEASE: the
	 * critical section is over for whoever finds AVAILABLE. ACQUIRE: as in
	 * nbq_swap_abandon().
	 */
	succ = xchg(&node->next, NBQ_AVAILABLE);
	tell(succ, NBQ_AVAILABLE, events);
}
EXPORT_SYMBOL_IF_KUNIT(nbq_swap_release);

/*
 * Spin until the predecessor, which knows me, says something or there is no
 * point in waiting.
 *
 * A predecessor that has published that it left may have resumed its place since. So the
 * waiter links itself once more, and has what the predecessor's next says then: of the waiter
 * and an attempt that resumes the place, only one gets the node.
 *
 * Return: as nbq_swap_link(); NULL: the wait is over.
 */
static struct nbq_node *spin_on_pred(struct nbq_node *node, struct nbq_node *pred,
				     struct nbq_wait *wait)
{
	struct nbq_node *state;

	/* The node first and the clock last: a late grant is still a grant. */
	do {
		state = nbq_swap_poll(node);
		if (state == NBQ_LEAVING) {
			/* Before my status is that of another wait. */
			nbq_wait_pause(wait);
			state = nbq_swap_link(node, pred);
		}
		if (state || !nbq_wait_continue(wait, pred, &node->status))
			break;
		nbq_relax(wait, &node->status);
	} while (true);
	nbq_wait_pause(wait);
	return state;
}

/*
 * Behind pred, which has not said yet that the lock is mine or has just said so, until
 * it is or the wait is over. It has an end only while the predecessor waits or holds: each
 * step of the walk frees a node, and the walk is no longer than the queue was
 * when I joined.
 */
static noinline int wait_longer(struct nbq_queue_lock *lock, struct nbq_node *node,
				struct nbq_node *pred,
				struct nbq_deadline deadline,
				struct lockdep_map *waits, unsigned long ip,
				struct nbq_node *state)
{
	struct nbq_wait wait = {
		.deadline = &deadline,
		.pool = node->pool,
		.me = nbq_context_of(node->pool),
		.lock = lock,
		.in_order = true,
		.error = nbq_deadline_error(&deadline),
		NBQ_WAIT_STAT(waits, ip)
	};
	unsigned long skipped = 0;

	if (!state)
		state = spin_on_pred(node, pred, &wait);
	while (state == NBQ_LEAVING) {
		struct nbq_node *abandoned = pred;

		pred = READ_ONCE(abandoned->prev);
		state = nbq_swap_link(node, pred);
		nbq_swap_skip(node, abandoned, state);
		skipped++;
		/* It waits or holds, and knows only me. */
		if (!state || state == abandoned)
			state = spin_on_pred(node, pred, &wait);
	}
	nbq_count_skipped(node->pool, skipped);

	if (!state) {
		nbq_swap_abandon(lock, node, pred);
		trace_nbq_abandon(lock, true, wait.error);
		return nbq_wait_end(&wait, wait.error);
	}
	nbq_swap_granted(lock, node, pred);
	return nbq_wait_end(&wait, 0);
}

/* Behind pred, which is mostly nothing but the last holder's node. */
static int wait_in_queue(struct nbq_queue_lock *lock, struct nbq_node *node,
			 struct nbq_node *pred, struct nbq_deadline deadline,
			 struct lockdep_map *waits, unsigned long ip)
{
	struct nbq_node *state = nbq_swap_link(node, pred);

	/* One that was announced as a wait ends as one. */
	if (state != NBQ_AVAILABLE || deadline.announced)
		return wait_longer(lock, node, pred, deadline, waits, ip, state);
	/*
	 * Where I was the last to hold the lock, that node is mine: next time the
	 * free one of the two, as the one taken last will rest in the lock.
	 */
	if (pred->pool == node->pool)
		WRITE_ONCE(node->pool->hint, pred);
	nbq_swap_granted(lock, node, pred);
	node->pool->events.acquired_uncontended++;
	return 0;
}

/* See queue_lock.h. */
static int wait_resumed(struct nbq_queue_lock *lock, struct nbq_node *node, struct nbq_node *pred,
			struct nbq_deadline deadline, struct lockdep_map *waits, unsigned long ip)
{
	return wait_longer(lock, node, pred, deadline, waits, ip, NULL);
}

/* See queue_lock.h. */
static struct nbq_node *resume(struct nbq_node *node, const void *lock)
{
	return nbq_swap_resume(node, lock);
}

/* See queue_lock.h. */
static struct nbq_node *pred_of(const struct nbq_node *node)
{
	/*
	 * ACQUIRE, pairs with the swaps of next in nbq_swap_abandon() and
	 * nbq_swap_release(): the leaver's prev.
	 */
	struct nbq_node *state = smp_load_acquire(&node->next);

	if (state == NBQ_LEAVING)
		return READ_ONCE(node->prev);
	return state == NBQ_AVAILABLE ? state : NULL;
}

static void release(struct nbq_queue_lock *lock, struct nbq_node *node)
{
	nbq_swap_release(lock, node);
}

static const struct nbq_queue_ops ops = {
	.enqueue = nbq_swap_enqueue,
	.wait = wait_in_queue,
	.resume = resume,
	.wait_resumed = wait_resumed,
	.release = release,
	.pred_of = pred_of,
};

static noinline int acquire_slowpath(struct nbq_queue_lock *lock, struct nbq_deadline deadline,
				     struct lockdep_map *waits, unsigned long ip)
{
	return nbq_queue_acquire_slowpath(lock, deadline, waits, ip, &ops);
}

static __always_inline int acquire(struct nbq_queue_lock *lock, struct nbq_deadline deadline,
				   struct lockdep_map *waits, unsigned long ip)
{
	return nbq_queue_acquire(lock, deadline, waits, ip, &ops, acquire_slowpath);
}

static __always_inline int acquire_timed(struct nbq_swap *lock, struct nbq_deadline deadline,
					 unsigned int subclass, unsigned long ip)
{
	struct lockdep_map *map = nbq_dep_map_of(lock);
	struct lockdep_map *waits;

	preempt_disable();
	waits = nbq_attempt_begin(map, &deadline, subclass, ip);
	return nbq_attempt_end(map, waits, acquire(&lock->queue, deadline, waits, ip), subclass,
			       ip);
}

static void acquire_untimed(struct nbq_swap *lock, unsigned int subclass, unsigned long ip)
{
	struct nbq_deadline never = nbq_deadline_at(KTIME_MAX);
	struct lockdep_map *map = nbq_dep_map_of(lock);
	struct lockdep_map *waits;
	bool reported = false;

	preempt_disable();
	waits = nbq_attempt_begin(map, &never, subclass, ip);
	while (unlikely(acquire(&lock->queue, never, waits, ip)))
		nbq_attempt_deadlocked(lock, nbq_find_holder(lock), &reported, ip);
	nbq_attempt_end(map, waits, 0, subclass, ip);
}

void nbq_swap_init_key(struct nbq_swap *lock, const char *name, struct lock_class_key *key)
{
	nbq_queue_init(&lock->queue, name, key);
}
EXPORT_SYMBOL_GPL(nbq_swap_init_key);

int nbq_swap_lock_timeout(struct nbq_swap *lock, ktime_t patience)
{
	return acquire_timed(lock, nbq_deadline_after(patience), 0, _RET_IP_);
}
EXPORT_SYMBOL_GPL(nbq_swap_lock_timeout);

int nbq_swap_lock_until(struct nbq_swap *lock, ktime_t deadline)
{
	return acquire_timed(lock, nbq_deadline_at(deadline), 0, _RET_IP_);
}
EXPORT_SYMBOL_GPL(nbq_swap_lock_until);

int nbq_swap_lock_timeout_info(struct nbq_swap *lock, ktime_t patience,
			       struct nbq_timeout *info)
{
	u64 begin = nbq_clock_ns();
	int ret = acquire_timed(lock, nbq_deadline_after(patience), 0, _RET_IP_);

	if (ret)
		nbq_timeout_fill(info, nbq_find_holder(lock), begin);
	return ret;
}
EXPORT_SYMBOL_GPL(nbq_swap_lock_timeout_info);

bool nbq_swap_trylock(struct nbq_swap *lock)
{
	return !acquire_timed(lock, nbq_deadline_at(KTIME_MIN), 0, _RET_IP_);
}
EXPORT_SYMBOL_GPL(nbq_swap_trylock);

void nbq_swap_lock(struct nbq_swap *lock) __nbq_acquires(lock)
{
	acquire_untimed(lock, 0, _RET_IP_);
	__nbq_acquire(lock);
}
EXPORT_SYMBOL_GPL(nbq_swap_lock);

#ifdef CONFIG_DEBUG_LOCK_ALLOC
int __nbq_swap_lock_timeout_nested(struct nbq_swap *lock, ktime_t patience, unsigned int subclass)
{
	return acquire_timed(lock, nbq_deadline_after(patience), subclass, _RET_IP_);
}
EXPORT_SYMBOL_GPL(__nbq_swap_lock_timeout_nested);

void __nbq_swap_lock_nested(struct nbq_swap *lock, unsigned int subclass) __nbq_acquires(lock)
{
	acquire_untimed(lock, subclass, _RET_IP_);
	__nbq_acquire(lock);
}
EXPORT_SYMBOL_GPL(__nbq_swap_lock_nested);
#endif

void nbq_swap_unlock(struct nbq_swap *lock) __nbq_releases(lock)
{
	__nbq_release(lock);
	nbq_queue_unlock(&lock->queue, _RET_IP_, &ops);
}
EXPORT_SYMBOL_GPL(nbq_swap_unlock);

bool nbq_swap_is_locked(const struct nbq_swap *lock)
{
	return !nbq_queue_is_idle(&lock->queue, READ_ONCE(lock->tail), &ops);
}
EXPORT_SYMBOL_GPL(nbq_swap_is_locked);

bool nbq_swap_is_contended(const struct nbq_swap *lock)
{
	return nbq_queue_is_contended(&lock->queue, &ops);
}
EXPORT_SYMBOL_GPL(nbq_swap_is_contended);

int nbq_swap_destroy(struct nbq_swap *lock)
{
	return nbq_queue_destroy(&lock->queue, _RET_IP_, &ops);
}
EXPORT_SYMBOL_GPL(nbq_swap_destroy);
