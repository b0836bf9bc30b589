// SPDX-License-Identifier: GPL-2.0
/*
 * CLH-NB: a queue-based spinlock with non-blocking timeout.
 *
 * Michael L. Scott, "Non-Blocking Timeout in Scalable Queue-Based Spin Locks",
 * PODC 2002, section 2.1 and appendix; University of Rochester TR 773.
 *
 * The textbook CLH lock is a list in which everyone knows only the node in
 * front: swap your own node into the tail, spin on a flag in the node that the
 * swap returned. Here the flag is a pointer, prev, so that a node can also
 * say: "I have left; this is who stood in front of me".
 *
 * Assumptions
 *	Caches are coherent: a waiter spins on its predecessor's node.
 *	Preemption is off from the claim of a node to the unlock.
 *	A node is claimed by its own CPU only (node.c); its memory stays a node.
 *
 * States of a node, by prev, and who moves it
 *
 *	                  +-- leave, as tail --------------------> free
 *	  join            |                                         ^
 *	free --> NULL ----+-- leave --> (pred), --> RECYCLED ------>|
 *	        waiting   |             "abandoned"                 |
 *	        or holds  |              |     a successor steps    |
 *	          ^       |              |     over it              |
 *	          +-------|--- resume ---+                          |
 *	                  |                                         |
 *	                  +-- hand over --> AVAILABLE ------------->|
 *	                  |                      a successor takes  |
 *	                  |                      the lock           |
 *	                  +-- release, as tail ---------------------+
 *
 * Below, a queue is drawn from its front to its tail: H holds, W waits, L has
 * left, A is AVAILABLE, [] is the empty queue.
 *
 * Departures from the paper
 *	A waiter steps over leavers without looking at the clock, and looks
 *	only when its predecessor waits or holds. In print the clock ends the
 *	walk too: a free lock behind two leavers is then never taken by those
 *	without patience, each of whom gets one step far and adds a node.
 *	A leaver tries to take itself off the tail first and publishes prev
 *	only if that fails, as in the paper's code. The paper's prose says the
 *	reverse; then a successor can give the node back in between, and with
 *	a nested context on the same pool the swap on the tail succeeds for a
 *	node that is somebody else's by then (two holders).
 *	An attempt whose CPU has left a node in the queue, which no successor has
 *	skipped, does not enqueue: it resumes that place, and the queue does not
 *	grow. So a successor claims an abandoned node by a swap. In print each
 *	attempt adds a node, and those with little patience leave faster than
 *	anyone can skip them.
 *	An empty pool makes the attempt fail with -ENOMEM once the patience is
 *	over; the paper allocates.
 *
 * Own steps on shared memory: at most 2 to leave (1 from a place that was resumed: store
 * prev), and at most 2 to release (swap the tail, then give the node back or store prev).
 */
#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/instruction_pointer.h>

#include "clh.h"
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
 * Return: my predecessor; NULL: the lock was free and is mine.
 */
VISIBLE_IF_KUNIT
struct nbq_node *nbq_clh_enqueue(struct nbq_queue_lock *lock, struct nbq_node *node)
{
	/*
	 * Marked, although the node is mine alone: one who waited behind it in
	 * its last life, and left by swapping the tail back to it, may still
	 * be looking. It reads NULL either way.
	 */
	WRITE_ONCE(node->prev, NULL);
	/*
	 * Fully ordered. RELEASE: prev = NULL above is seen by the successor
	 * that gets my node from the tail and looks at prev (nbq_clh_poll());
	 * else it could see the AVAILABLE of the node's last life. ACQUIRE,
	 * pairs with the swap in nbq_clh_release(): a NULL hands me the
	 * lock, so the last critical section must be over in my eyes; with
	 * the predecessor's own join: its prev = NULL; and with the swap in
	 * nbq_clh_abandon(), which puts a predecessor back. Both, and full, for
	 * the rounds of wait.c: what is read after it is not older than what
	 * those who find my node see.
	 */
	return xchg(&lock->tail, node);
}
EXPORT_SYMBOL_IF_KUNIT(nbq_clh_enqueue);

/*
 * Look at the predecessor once.
 *
 * Return: NULL: it waits or holds. NBQ_AVAILABLE: the lock is mine. A node: it
 * has left, and that node stood in front of it.
 */
VISIBLE_IF_KUNIT
struct nbq_node *nbq_clh_poll(const struct nbq_node *pred)
{
	/*
	 * ACQUIRE, pairs with the RELEASE stores of AVAILABLE in
	 * nbq_clh_release() and of a node in nbq_clh_abandon(). Without it,
	 * my critical section could begin before the last one has ended, and
	 * I could give pred back while its leaver's store is under way.
	 */
	return smp_load_acquire(&pred->prev);
}
EXPORT_SYMBOL_IF_KUNIT(nbq_clh_poll);

/*
 * Step over a predecessor that has left: .. prev L node -> .. prev node. Only I
 * and its own CPU know of it; unless that has resumed the place, I give it back.
 *
 * Return: my new predecessor; or the old one, which waits again.
 */
VISIBLE_IF_KUNIT
struct nbq_node *nbq_clh_skip(struct nbq_node *node, struct nbq_node *pred,
			      struct nbq_node *prev)
{
	if (!nbq_node_skip(pred, prev))
		return pred;
	trace_nbq_reclaim(pred);
	nbq_node_reclaim(pred, &node->pool->events);
	return prev;
}
EXPORT_SYMBOL_IF_KUNIT(nbq_clh_skip);

/* The predecessor has handed the lock over: A node .. -> H .. */
VISIBLE_IF_KUNIT
void nbq_clh_granted(struct nbq_queue_lock *lock, struct nbq_node *node,
		     struct nbq_node *pred)
{
	nbq_held_add(node, lock);
	node->resumed = false;
	nbq_node_reclaim(pred, &node->pool->events);
}
EXPORT_SYMBOL_IF_KUNIT(nbq_clh_granted);

/*
 * Leave the queue, from any position.
 *
 *	.. pred W	-> .. pred		I was the tail, true
 *	.. pred W succ	-> .. pred L succ	I was not, false
 *	.. pred W	-> .. pred L		I have resumed this place, false
 *
 * Attempts that come back again and again have little patience, and are many: from the second
 * on they leave the lock's line to those who enqueue. So a lock can keep a node of each CPU and
 * context level, which the next one there resumes.
 *
 * Return: true if the node was given back; else a successor will do it, and
 * the node must not be touched.
 */
VISIBLE_IF_KUNIT
bool nbq_clh_abandon(struct nbq_queue_lock *lock, struct nbq_node *node,
		     struct nbq_node *pred)
{
	struct nbq_events *events = &node->pool->events;

	/*
	 * RELEASE, pairs with the ACQUIRE of a later nbq_clh_enqueue(), which
	 * gets pred from the tail instead of me: whatever made pred visible
	 * to me is visible to it.
	 *
	 * My node cannot have been freed and reused while I expect it here:
	 * nobody has been told that I leave.
	 */
	if (!node->resumed &&
	    cmpxchg_release(&lock->tail, node, pred) == node) {
		nbq_node_free_own(node);
		return true;
	}
	node->resumed = false;
	nbq_note_abandoned(node, lock);
	/*
	 * RELEASE, pairs with the ACQUIRE in nbq_clh_poll(): as above, for
	 * the successor that goes on to pred. My last access to the node.
	 */
	smp_store_release(&node->prev, pred);
	events->nodes_abandoned++;
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(nbq_clh_abandon);

/*
 * End the critical section.
 *
 *	[H]		-> []			I was the tail, true
 *	H succ ..	-> A succ ..		I was not, false
 *
 * With the last store somebody else may take the lock, release it and free its
 * memory: neither the node nor the lock may be touched after it.
 *
 * Return: true if the node was given back; else a successor will do it.
 */
VISIBLE_IF_KUNIT
bool nbq_clh_release(struct nbq_queue_lock *lock, struct nbq_node *node)
{
	nbq_held_del(node);
	/*
	 * RELEASE, pairs with the ACQUIRE in nbq_clh_enqueue() that reads the
	 * NULL: the critical section is over for whoever finds the lock free.
	 */
	if (cmpxchg_release(&lock->tail, node, NULL) == node) {
		nbq_node_free_own(node);
		return true;
	}
	/*
	 * RELEASE, pairs with the ACQUIRE in nbq_clh_poll(): the critical
	 * section is over for whoever reads AVAILABLE.
	 */
	smp_store_release(&node->prev, NBQ_AVAILABLE);
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(nbq_clh_release);

/*
 * Spin until the lock is handed over or there is no point in waiting, and skip those in front
 * who have left. @pred becomes the last predecessor.
 *
 * Return: whether the lock was handed over.
 */
static bool spin_on_pred(struct nbq_node *node, struct nbq_node **pred, struct nbq_wait *wait)
{
	unsigned long skipped = 0;
	struct nbq_node *prev;

	/* The node first and the clock last: a late grant is still a grant. */
	while ((prev = nbq_clh_poll(*pred)) != NBQ_AVAILABLE) {
		struct nbq_node *last = *pred;

		if (prev) {
			nbq_wait_pause(wait);
			*pred = nbq_clh_skip(node, last, prev);
		}
		if (*pred != last) {
			skipped++;
			continue;
		}
		/* It waits or holds, or waits again. */
		if (!nbq_wait_continue(wait, last, &last->prev))
			break;
		nbq_relax(wait, &last->prev);
	}
	nbq_wait_pause(wait);
	nbq_count_skipped(node->pool, skipped);
	return prev == NBQ_AVAILABLE;
}

/*
 * Behind pred, until the lock is mine or the wait is over. It has an end only
 * while the predecessor waits or holds: each step of the walk gives a node back,
 * and the walk is no longer than the queue was when I joined.
 */
static noinline int wait_in_queue(struct nbq_queue_lock *lock, struct nbq_node *node,
				  struct nbq_node *pred,
				  struct nbq_deadline deadline,
				  struct lockdep_map *waits, unsigned long ip)
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

	if (!spin_on_pred(node, &pred, &wait)) {
		bool taken = nbq_clh_abandon(lock, node, pred);

		trace_nbq_abandon(lock, !taken, wait.error);
		return nbq_wait_end(&wait, wait.error);
	}
	nbq_clh_granted(lock, node, pred);
	return nbq_wait_end(&wait, 0);
}

/* See queue_lock.h: .. pred L succ -> .. pred W succ. */
static struct nbq_node *resume(struct nbq_node *node, const void *lock)
{
	return nbq_node_resume(node, lock);
}

/* See queue_lock.h. */
static int wait_resumed(struct nbq_queue_lock *lock, struct nbq_node *node, struct nbq_node *pred,
			struct nbq_deadline deadline, struct lockdep_map *waits, unsigned long ip)
{
	return wait_in_queue(lock, node, pred, deadline, waits, ip);
}

/* See queue_lock.h. */
static struct nbq_node *pred_of(const struct nbq_node *node)
{
	return nbq_clh_poll(node);
}

static void release(struct nbq_queue_lock *lock, struct nbq_node *node)
{
	nbq_clh_release(lock, node);
}

static const struct nbq_queue_ops ops = {
	.enqueue = nbq_clh_enqueue,
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

static __always_inline int acquire_timed(struct nbq_clh *lock, struct nbq_deadline deadline,
					 unsigned int subclass, unsigned long ip)
{
	struct lockdep_map *map = nbq_dep_map_of(lock);
	struct lockdep_map *waits;

	preempt_disable();
	waits = nbq_attempt_begin(map, &deadline, subclass, ip);
	return nbq_attempt_end(map, waits, acquire(&lock->queue, deadline, waits, ip), subclass,
			       ip);
}

static void acquire_untimed(struct nbq_clh *lock, unsigned int subclass, unsigned long ip)
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

void nbq_clh_init_key(struct nbq_clh *lock, const char *name, struct lock_class_key *key)
{
	nbq_queue_init(&lock->queue, name, key);
}
EXPORT_SYMBOL_GPL(nbq_clh_init_key);

int nbq_clh_lock_timeout(struct nbq_clh *lock, ktime_t patience)
{
	return acquire_timed(lock, nbq_deadline_after(patience), 0, _RET_IP_);
}
EXPORT_SYMBOL_GPL(nbq_clh_lock_timeout);

int nbq_clh_lock_until(struct nbq_clh *lock, ktime_t deadline)
{
	return acquire_timed(lock, nbq_deadline_at(deadline), 0, _RET_IP_);
}
EXPORT_SYMBOL_GPL(nbq_clh_lock_until);

int nbq_clh_lock_timeout_info(struct nbq_clh *lock, ktime_t patience,
			      struct nbq_timeout *info)
{
	u64 begin = nbq_clock_ns();
	int ret = acquire_timed(lock, nbq_deadline_after(patience), 0, _RET_IP_);

	if (ret)
		nbq_timeout_fill(info, nbq_find_holder(lock), begin);
	return ret;
}
EXPORT_SYMBOL_GPL(nbq_clh_lock_timeout_info);

bool nbq_clh_trylock(struct nbq_clh *lock)
{
	return !acquire_timed(lock, nbq_deadline_at(KTIME_MIN), 0, _RET_IP_);
}
EXPORT_SYMBOL_GPL(nbq_clh_trylock);

void nbq_clh_lock(struct nbq_clh *lock) __nbq_acquires(lock)
{
	acquire_untimed(lock, 0, _RET_IP_);
	__nbq_acquire(lock);
}
EXPORT_SYMBOL_GPL(nbq_clh_lock);

#ifdef CONFIG_DEBUG_LOCK_ALLOC
int __nbq_clh_lock_timeout_nested(struct nbq_clh *lock, ktime_t patience, unsigned int subclass)
{
	return acquire_timed(lock, nbq_deadline_after(patience), subclass, _RET_IP_);
}
EXPORT_SYMBOL_GPL(__nbq_clh_lock_timeout_nested);

void __nbq_clh_lock_nested(struct nbq_clh *lock, unsigned int subclass) __nbq_acquires(lock)
{
	acquire_untimed(lock, subclass, _RET_IP_);
	__nbq_acquire(lock);
}
EXPORT_SYMBOL_GPL(__nbq_clh_lock_nested);
#endif

void nbq_clh_unlock(struct nbq_clh *lock) __nbq_releases(lock)
{
	__nbq_release(lock);
	nbq_queue_unlock(&lock->queue, _RET_IP_, &ops);
}
EXPORT_SYMBOL_GPL(nbq_clh_unlock);

bool nbq_clh_is_locked(const struct nbq_clh *lock)
{
	return !nbq_queue_is_idle(&lock->queue, READ_ONCE(lock->tail), &ops);
}
EXPORT_SYMBOL_GPL(nbq_clh_is_locked);

bool nbq_clh_is_contended(const struct nbq_clh *lock)
{
	return nbq_queue_is_contended(&lock->queue, &ops);
}
EXPORT_SYMBOL_GPL(nbq_clh_is_contended);

int nbq_clh_destroy(struct nbq_clh *lock)
{
	return nbq_queue_destroy(&lock->queue, _RET_IP_, &ops);
}
EXPORT_SYMBOL_GPL(nbq_clh_destroy);
