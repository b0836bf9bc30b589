// SPDX-License-Identifier: GPL-2.0
/*
 * MCS-NB: a queue-based spinlock with non-blocking timeout, whose waiters spin
 * on their own node.
 *
 * Michael L. Scott, "Non-Blocking Timeout in Scalable Queue-Based Spin Locks",
 * PODC 2002, section 2.2; University of Rochester TR 773.
 *
 * The textbook MCS lock is a list in which everyone knows the node behind: swap
 * your own node into the tail, write its address into the next of the node that
 * the swap returned, spin on a flag in your own node until that one's owner
 * writes to it. Here the one in front can say in its next that it is done, for
 * those whom it does not know yet, and in its successor's status, for the one
 * that it knows. Whoever leaves first tries to be forgotten by the one in
 * front; if that fails, the one in front will still write to the leaver's
 * status, and the node must live until it has.
 *
 * Assumptions
 *	Preemption is off from the claim of a node to the unlock.
 *	A node is claimed by its own CPU only (node.c); its memory stays a node.
 *
 * States of a node, by next, and who moves it
 *
 *	                        +-- leave or release, as tail -------> free (1)
 *	  join                  |                                        ^
 *	free --> NULL or succ --+-- leave, forgotten --> LEAVING ------->|
 *	        waits or holds  |                a successor steps over  |
 *	                        +-- leave, known --> TRANSIENT --------->| (2)
 *	                        |                a successor steps over  |
 *	                        +-- hand over --> AVAILABLE ------------>|
 *	                                         a successor takes over
 *
 *	LEAVING and TRANSIENT --> NULL: resume, unless a successor steps over it.
 *
 *	(1) One that leaves as tail while the one in front knows it: as (2).
 *	(2) Two have to be done with the node: the one in front, which will tell
 *	    it something, and the one that steps over it or its own owner, which
 *	    says RECYCLED. Both swap its status; the second gives it back.
 *
 * Below, a queue is drawn from its front to its tail: H holds, W waits, L has
 * left (LEAVING), T has left (TRANSIENT), A is AVAILABLE, [] is the empty
 * queue. "pred > W": pred's next is W.
 *
 * Departures from the paper
 *	The report's code page is damaged and the release missing; the order of
 *	steps is the paper's prose, where that holds.
 *	A waiter steps over leavers without looking at the clock. In print the
 *	clock ends the walk too: a free lock behind leavers is then never taken
 *	by those without patience, each of whom adds a node.
 *	Leaving and releasing try to take the node off the tail first and
 *	publish only if that fails. In print it is the reverse: the lock is
 *	touched after the hand-over (whoever got it may have freed its memory),
 *	and with a nested context on the same pool the swap on the tail
 *	succeeds for a node that is somebody else's by then.
 *	The report's second kind of timeout, in the middle of the walk, is not
 *	there: the walk does not end. (Its code holds a piece of the missing
 *	release, which makes two holders.)
 *	An attempt whose CPU has left a node in the queue, which no successor has
 *	stepped over, resumes that place. So a waiter that was notified that its
 *	predecessor has left swaps itself into that one's next before it steps
 *	over it: it may wait again.
 *	An empty pool makes the attempt fail with -ENOMEM once the patience is
 *	over; the paper allocates.
 *
 * Own steps on shared memory: at most 6 to leave (store prev, be forgotten,
 * swap the tail, swap next, swap the successor's status, give its node back;
 * the paper's bound is 7), at most 5 to release (look at next, swap the tail,
 * swap next, swap the successor's status, give its node back).
 */
#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/instruction_pointer.h>

#include "mcs.h"
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
 * Return: my predecessor, to which nbq_mcs_link() must make me known; NULL: the
 * lock was free and is mine.
 */
VISIBLE_IF_KUNIT
struct nbq_node *nbq_mcs_enqueue(struct nbq_queue_lock *lock, struct nbq_node *node)
{
	/*
	 * Marked, although the node is mine alone: one who waited behind it in
	 * its last life was forgotten by it with an atomic operation, which
	 * nothing but the swaps of the tail orders before this store.
	 */
	WRITE_ONCE(node->next, NULL);
	node->has_successor = false;
	/*
	 * Fully ordered. RELEASE: next = NULL above comes before the swap in
	 * nbq_mcs_link() of the successor that gets my node from the tail;
	 * else it could be overwritten by it, and the successor forgotten.
	 * ACQUIRE, pairs with the swap of the tail in nbq_mcs_release(): a
	 * NULL hands me the lock, so the last critical section must be over in
	 * my eyes; with the predecessor's own join; and with the swap of the
	 * tail in nbq_mcs_abandon(), which puts a predecessor back, by which the
	 * leaver is forgotten.
	 */
	return xchg(&lock->tail, node);
}
EXPORT_SYMBOL_IF_KUNIT(nbq_mcs_enqueue);

/*
 * Make myself known to a predecessor: pred node -> pred > node.
 *
 * Return: what it had to say before it knew me. NULL: nothing, it waits or
 * holds, and will tell me. NBQ_AVAILABLE: the lock is mine. NBQ_LEAVING or
 * NBQ_TRANSIENT: it has left.
 */
VISIBLE_IF_KUNIT
struct nbq_node *nbq_mcs_link(struct nbq_node *node, struct nbq_node *pred)
{
	struct nbq_node *state;

	WRITE_ONCE(node->status, NULL);
	/*
	 * Fully ordered, pairs with the swaps of next in nbq_mcs_abandon() and
	 * nbq_mcs_release(). RELEASE: status = NULL above comes before what
	 * pred, which finds me here, writes to it; else I would wait for ever.
	 * ACQUIRE: the critical section is over for whoever finds AVAILABLE,
	 * and the leaver's prev is seen by whoever finds that it has left.
	 */
	state = xchg(&pred->next, node);
	/*
	 * The swap has brought the line: nbq_node_reclaim_pred() needs no read of it. The
	 * value is used only if pred hands the lock over to this node. If this node is
	 * abandoned as the tail, pred's owner may claim pred again, which no barrier orders
	 * after this read.
	 */
	node->pred_alloc_seq = data_race(pred->alloc_seq);
	return state;
}
EXPORT_SYMBOL_IF_KUNIT(nbq_mcs_link);

/*
 * Look once at what a predecessor that knows me has told me.
 *
 * Return: as nbq_mcs_link().
 */
VISIBLE_IF_KUNIT
struct nbq_node *nbq_mcs_poll(const struct nbq_node *node)
{
	/*
	 * ACQUIRE, pairs with the swap in tell(): as in nbq_mcs_link().
	 */
	return smp_load_acquire(&node->status);
}
EXPORT_SYMBOL_IF_KUNIT(nbq_mcs_poll);

/*
 * Step over a predecessor that has left: .. prev L node -> .. prev node.
 *
 * A TRANSIENT one is not only mine to give back: the one in front of it has
 * told it something, or will yet. The later of us two gives it back.
 *
 * Return: my new predecessor, to which nbq_mcs_link() must make me known.
 */
VISIBLE_IF_KUNIT
struct nbq_node *nbq_mcs_skip(struct nbq_node *node, struct nbq_node *pred,
			      struct nbq_node *state)
{
	/* Now: after the swap of its status, pred may be somebody else's. */
	struct nbq_node *prev = READ_ONCE(pred->prev);

	trace_nbq_reclaim(pred);
	/*
	 * The swap is fully ordered, pairs with the one in tell(): both of us
	 * are done with the node before the second gives it back.
	 */
	if (state == NBQ_LEAVING ||
	    xchg(&pred->status, NBQ_RECYCLED))
		nbq_node_reclaim(pred, &node->pool->events);
	return prev;
}
EXPORT_SYMBOL_IF_KUNIT(nbq_mcs_skip);

/* The predecessor has handed the lock over: A node .. -> H .. */
VISIBLE_IF_KUNIT
void nbq_mcs_granted(struct nbq_queue_lock *lock, struct nbq_node *node,
		     struct nbq_node *pred)
{
	nbq_held_add(node, lock);
	node->resumed = false;
	/* In the line that has just been polled. */
	node->has_successor = READ_ONCE(node->next);
	nbq_node_reclaim_pred(node, pred);
}
EXPORT_SYMBOL_IF_KUNIT(nbq_mcs_granted);

/*
 * Tell the successor that I found in my next, if any, what my next says now.
 * RECYCLED: it has left, and nobody else needs its node any more.
 */
static void tell(struct nbq_node *succ, struct nbq_node *what,
		 struct nbq_events *events)
{
	/*
	 * Fully ordered. RELEASE, pairs with nbq_mcs_poll(): what came before,
	 * the critical section or my prev, is seen by whoever was told. Both,
	 * pairs with the swaps of status in nbq_mcs_skip() and
	 * nbq_mcs_abandon(), as there.
	 */
	if (succ && xchg(&succ->status, what) == NBQ_RECYCLED)
		nbq_node_reclaim(succ, events);
}

/* Say that the node was left, to its successor if I know it. My last access to the node. */
static void publish_abandoned(struct nbq_node *node, struct nbq_node *what)
{
	struct nbq_events *events = &node->pool->events;

	/*
	 * Fully ordered, pairs with nbq_mcs_link(), and with pred_of() for
	 * destroy. RELEASE: prev, and that the predecessor has forgotten this
	 * node, are seen with @what. ACQUIRE: the successor in next has
	 * reset its status before I write to it.
	 */
	tell(xchg(&node->next, what), what, events);
}

/*
 * Leave the queue, from any position.
 *
 *	.. pred W	-> .. pred		I was the tail and am forgotten: true
 *	.. pred > W	-> .. pred > (W)	I was the tail and am known: true if
 *						pred has told me already
 *	.. pred W succ	-> .. pred L succ	I am forgotten: false
 *	.. pred > W succ -> .. pred > T succ	I am known: false
 *
 * Known: the predecessor has said in its next that it is done, but not told me
 * yet, or I have not looked.
 *
 * Return: true if the node was given back; else somebody else will do it, and
 * the node must not be touched.
 */
VISIBLE_IF_KUNIT
bool nbq_mcs_abandon(struct nbq_queue_lock *lock, struct nbq_node *node,
		     struct nbq_node *pred)
{
	struct nbq_events *events = &node->pool->events;
	struct nbq_node *what;
	bool forgotten;

	WRITE_ONCE(node->prev, pred);
	/*
	 * Be forgotten. Needs no order of its own: whoever links to pred next
	 * has come to it by the swap of the tail or of next below, which are
	 * RELEASE. If it fails, pred is done and will write to my status.
	 */
	forgotten = cmpxchg_relaxed(&pred->next, node, NULL) == node;
	/*
	 * RELEASE, pairs with the ACQUIRE of a later nbq_mcs_enqueue(), which
	 * gets pred from the tail instead of me: it finds me forgotten, and
	 * whatever made pred visible to me is visible to it. My node cannot have
	 * been freed and reused meanwhile: no context knows that I leave.
	 */
	if (!node->resumed &&
	    cmpxchg_release(&lock->tail, node, pred) == node) {
		/*
		 * Fully ordered, pairs with the swap in tell(), by which pred
		 * has told me or will: as in nbq_mcs_skip().
		 */
		if (!forgotten && !xchg(&node->status, NBQ_RECYCLED)) {
			events->nodes_abandoned++;
			return false;
		}
		nbq_node_free_own(node);
		return true;
	}
	what = forgotten ? NBQ_LEAVING : NBQ_TRANSIENT;
	node->resumed = false;
	node->known = !forgotten;
	nbq_note_abandoned(node, lock);
	publish_abandoned(node, what);
	events->nodes_abandoned++;
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(nbq_mcs_abandon);

/*
 * Resume the place of an earlier attempt.
 *
 *	.. pred L succ		-> .. pred W succ	to be made known to pred
 *	.. pred > T succ	-> .. pred > W succ
 *
 * Return: the predecessor; NULL: the node does not stand in the queue of this lock, or its
 * successor has been there first.
 */
VISIBLE_IF_KUNIT
struct nbq_node *nbq_mcs_resume(struct nbq_node *node, const void *lock)
{
	struct nbq_node *what = node->known ? NBQ_TRANSIENT : NBQ_LEAVING;
	struct nbq_node *pred = READ_ONCE(node->prev);

	/*
	 * Fully ordered, as the swap of the tail in nbq_mcs_enqueue(), for the rounds of wait.c.
	 * Pairs with nbq_mcs_link() of the successor: only one of the two gets the node.
	 */
	if (READ_ONCE(node->next) != what ||
	    cmpxchg(&node->next, what, NULL) != what)
		return NULL;
	/* One of the same level that came above in between may have left it elsewhere. */
	if (unlikely(READ_ONCE(node->lock) != lock)) {
		publish_abandoned(node, what);
		return NULL;
	}
	node->resumed = true;
	return pred;
}
EXPORT_SYMBOL_IF_KUNIT(nbq_mcs_resume);

/*
 * End the critical section.
 *
 *	[H]		-> []			I was the tail, true
 *	H succ ..	-> A succ ..		I was not, false
 *
 * With the swap of next somebody else may take the lock, release it and free
 * its memory: neither the node nor the lock may be touched after it. (The
 * successor's node may: it waits for what I tell it.)
 *
 * Return: true if the node was given back; else a successor will do it.
 */
VISIBLE_IF_KUNIT
bool nbq_mcs_release(struct nbq_queue_lock *lock, struct nbq_node *node)
{
	struct nbq_events *events = &node->pool->events;
	struct nbq_node *succ;

	nbq_held_del(node);
	/*
	 * RELEASE, pairs with the ACQUIRE in nbq_mcs_enqueue() that reads the
	 * NULL: the critical section is over for whoever finds the lock free.
	 */
	if (!node->has_successor && !READ_ONCE(node->next) &&
	    cmpxchg_release(&lock->tail, node, NULL) == node) {
		nbq_node_free_own(node);
		return true;
	}
	/*
	 * Fully ordered, pairs with nbq_mcs_link() and pred_of(). RELEASE: the
	 * critical section is over for whoever finds AVAILABLE. ACQUIRE: as in
	 * nbq_mcs_abandon().
	 */
	succ = xchg(&node->next, NBQ_AVAILABLE);
	tell(succ, NBQ_AVAILABLE, events);
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(nbq_mcs_release);

/*
 * Spin until the predecessor says something or there is no point in waiting.
 *
 * A predecessor that has published that it left may have resumed its place since. So the
 * waiter links itself once more, and has what the predecessor's next says then: of the waiter
 * and an attempt that resumes the place, only one gets the node.
 *
 * @said: what nbq_mcs_link() has returned; NULL too, if pred knows me already
 *
 * Return: as nbq_mcs_link(); NULL: the wait is over.
 */
static struct nbq_node *spin_on_pred(struct nbq_node *node, struct nbq_node *pred,
				     struct nbq_node *state, struct nbq_wait *wait)
{
	/* The node first and the clock last: a late grant is still a grant. */
	while (!state) {
		state = nbq_mcs_poll(node);
		if (state && state != NBQ_AVAILABLE) {
			/* Before my status is that of another wait. */
			nbq_wait_pause(wait);
			state = nbq_mcs_link(node, pred);
		}
		if (state || !nbq_wait_continue(wait, pred, &node->status))
			break;
		nbq_relax(wait, &node->status);
	}
	nbq_wait_pause(wait);
	return state;
}

/*
 * Behind pred, until the lock is mine or the wait is over. It has an end only
 * while the predecessor waits or holds: each step of the walk frees a node, and
 * the walk is no longer than the queue was when I joined.
 */
static noinline int wait_behind(struct nbq_queue_lock *lock, struct nbq_node *node,
				struct nbq_node *pred, struct nbq_deadline deadline,
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

	state = spin_on_pred(node, pred, state, &wait);
	while (state && state != NBQ_AVAILABLE) {
		pred = nbq_mcs_skip(node, pred, state);
		skipped++;
		state = spin_on_pred(node, pred, nbq_mcs_link(node, pred), &wait);
	}
	nbq_count_skipped(node->pool, skipped);

	if (!state) {
		bool taken = nbq_mcs_abandon(lock, node, pred);

		trace_nbq_abandon(lock, !taken, wait.error);
		return nbq_wait_end(&wait, wait.error);
	}
	nbq_mcs_granted(lock, node, pred);
	return nbq_wait_end(&wait, 0);
}

/* See queue_lock.h. */
static int wait_in_queue(struct nbq_queue_lock *lock, struct nbq_node *node,
			 struct nbq_node *pred, struct nbq_deadline deadline,
			 struct lockdep_map *waits, unsigned long ip)
{
	return wait_behind(lock, node, pred, deadline, waits, ip, nbq_mcs_link(node, pred));
}

/* See queue_lock.h. One that pred has known all the time has what it was told. */
static int wait_resumed(struct nbq_queue_lock *lock, struct nbq_node *node, struct nbq_node *pred,
			struct nbq_deadline deadline, struct lockdep_map *waits, unsigned long ip)
{
	return wait_behind(lock, node, pred, deadline, waits, ip,
			   node->known ? NULL : nbq_mcs_link(node, pred));
}

/*
 * See queue_lock.h. Without users, the status of a TRANSIENT node was
 * told: destroy may give it back.
 */
static struct nbq_node *pred_of(const struct nbq_node *node)
{
	/*
	 * ACQUIRE, pairs with the swaps of next in nbq_mcs_abandon() and
	 * nbq_mcs_release(): the leaver's prev.
	 */
	struct nbq_node *state = smp_load_acquire(&node->next);

	if (state == NBQ_LEAVING || state == NBQ_TRANSIENT)
		return READ_ONCE(node->prev);
	return state == NBQ_AVAILABLE ? state : NULL;
}

/* See queue_lock.h. */
static struct nbq_node *resume(struct nbq_node *node, const void *lock)
{
	return nbq_mcs_resume(node, lock);
}

static void release(struct nbq_queue_lock *lock, struct nbq_node *node)
{
	nbq_mcs_release(lock, node);
}

static const struct nbq_queue_ops ops = {
	.enqueue = nbq_mcs_enqueue,
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

static __always_inline int acquire_timed(struct nbq_mcs *lock, struct nbq_deadline deadline,
					 unsigned int subclass, unsigned long ip)
{
	struct lockdep_map *map = nbq_dep_map_of(lock);
	struct lockdep_map *waits;

	preempt_disable();
	waits = nbq_attempt_begin(map, &deadline, subclass, ip);
	return nbq_attempt_end(map, waits, acquire(&lock->queue, deadline, waits, ip), subclass,
			       ip);
}

static void acquire_untimed(struct nbq_mcs *lock, unsigned int subclass, unsigned long ip)
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

void nbq_mcs_init_key(struct nbq_mcs *lock, const char *name, struct lock_class_key *key)
{
	nbq_queue_init(&lock->queue, name, key);
}
EXPORT_SYMBOL_GPL(nbq_mcs_init_key);

int nbq_mcs_lock_timeout(struct nbq_mcs *lock, ktime_t patience)
{
	return acquire_timed(lock, nbq_deadline_after(patience), 0, _RET_IP_);
}
EXPORT_SYMBOL_GPL(nbq_mcs_lock_timeout);

int nbq_mcs_lock_until(struct nbq_mcs *lock, ktime_t deadline)
{
	return acquire_timed(lock, nbq_deadline_at(deadline), 0, _RET_IP_);
}
EXPORT_SYMBOL_GPL(nbq_mcs_lock_until);

int nbq_mcs_lock_timeout_info(struct nbq_mcs *lock, ktime_t patience,
			      struct nbq_timeout *info)
{
	u64 begin = nbq_clock_ns();
	int ret = acquire_timed(lock, nbq_deadline_after(patience), 0, _RET_IP_);

	if (ret)
		nbq_timeout_fill(info, nbq_find_holder(lock), begin);
	return ret;
}
EXPORT_SYMBOL_GPL(nbq_mcs_lock_timeout_info);

bool nbq_mcs_trylock(struct nbq_mcs *lock)
{
	return !acquire_timed(lock, nbq_deadline_at(KTIME_MIN), 0, _RET_IP_);
}
EXPORT_SYMBOL_GPL(nbq_mcs_trylock);

void nbq_mcs_lock(struct nbq_mcs *lock) __nbq_acquires(lock)
{
	acquire_untimed(lock, 0, _RET_IP_);
	__nbq_acquire(lock);
}
EXPORT_SYMBOL_GPL(nbq_mcs_lock);

#ifdef CONFIG_DEBUG_LOCK_ALLOC
int __nbq_mcs_lock_timeout_nested(struct nbq_mcs *lock, ktime_t patience, unsigned int subclass)
{
	return acquire_timed(lock, nbq_deadline_after(patience), subclass, _RET_IP_);
}
EXPORT_SYMBOL_GPL(__nbq_mcs_lock_timeout_nested);

void __nbq_mcs_lock_nested(struct nbq_mcs *lock, unsigned int subclass) __nbq_acquires(lock)
{
	acquire_untimed(lock, subclass, _RET_IP_);
	__nbq_acquire(lock);
}
EXPORT_SYMBOL_GPL(__nbq_mcs_lock_nested);
#endif

void nbq_mcs_unlock(struct nbq_mcs *lock) __nbq_releases(lock)
{
	__nbq_release(lock);
	nbq_queue_unlock(&lock->queue, _RET_IP_, &ops);
}
EXPORT_SYMBOL_GPL(nbq_mcs_unlock);

bool nbq_mcs_is_locked(const struct nbq_mcs *lock)
{
	return !nbq_queue_is_idle(&lock->queue, READ_ONCE(lock->tail), &ops);
}
EXPORT_SYMBOL_GPL(nbq_mcs_is_locked);

bool nbq_mcs_is_contended(const struct nbq_mcs *lock)
{
	return nbq_queue_is_contended(&lock->queue, &ops);
}
EXPORT_SYMBOL_GPL(nbq_mcs_is_contended);

int nbq_mcs_destroy(struct nbq_mcs *lock)
{
	return nbq_queue_destroy(&lock->queue, _RET_IP_, &ops);
}
EXPORT_SYMBOL_GPL(nbq_mcs_destroy);
