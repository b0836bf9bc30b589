// SPDX-License-Identifier: GPL-2.0
/*
 * The hybrid: a spinlock that one compare-and-swap takes and one store releases,
 * with a queue, for those who must wait, that can be left at any time.
 *
 * The lock itself is a number, the holder. Those who find it held enter a queue,
 * which is CLH-NB (clh_nb.c), but what is handed from node to node there is not
 * the lock: it is the head of the queue, and with it the turn to take the lock.
 * So whoever takes the lock is done with its node before its critical section;
 * it holds a node only while it waits.
 *
 * Who may take a lock that nobody holds
 *	Newcomers, past all who wait: a waiter whose CPU does not run keeps
 *	nobody from the lock. But a waiter that has looked PATIENT_LOOKS times
 *	asks them to queue, until a context has taken the lock (handoff).
 *	The head of the queue.
 *	Another waiter, if nobody took the lock while it looked IDLE_LOOKS
 *	times, and the one in front of it gave no sign of life meanwhile: whose
 *	turn it is does not run, nor does anybody between the two. It takes the
 *	lock and then leaves the queue as if its patience were over.
 *	A newcomer, although a waiter has asked for the lock, as soon as that one
 *	shows no life: the request is a time, which the waiter renews while it
 *	runs, and which expires after HANDOFF_UNITS. A waiter that gives up lets it
 *	expire: it may be another one's, too. Within that time nothing tells a
 *	waiter that has lost its CPU from one that is about to take the lock; so
 *	an attempt with less patience fails. An interrupt above a waiter of its own
 *	CPU need not be told that this one does not run.
 *	So among waiters that run it is first come, first served, and a waiter
 *	that runs is passed by newcomers during PATIENT_LOOKS of its own looks
 *	only; besides these by those that others let pass between the moment
 *	at which one of the queue gets the lock and the next look of one that
 *	has waited as long.
 *	A lock that is made first come, first served (nbq_spin_init_fifo()) has
 *	none of this: it goes to the head, and newcomers queue as soon as anybody
 *	stands there. A head that does not run keeps all others waiting, as in the
 *	queue locks.
 * Mutual exclusion rests on the holder's number alone, whatever the policy.
 *
 * Prior art
 *	A word that one compare-and-swap takes, with a queue behind it, is qspinlock.
 *	Stealing by newcomers until a queued waiter forbids it is that of the
 *	paravirtual qspinlock (qspinlock_paravirt.h, "hybrid PV queued/unfair lock");
 *	handoff is rwsem's (RWSEM_FLAG_HANDOFF). A bound on how many pass the queue:
 *	Fissile locks (Dice, Kogan, 2020). The heartbeat takes the place of the
 *	published time of MCS-TP and CLH-TP (He, Scherer, Scott, 2005). -EDEADLK from a
 *	spinlock is rqspinlock's. What is added: all of this with a queue that a waiter
 *	can abandon from any position, in a bounded number of its own steps (CLH-NB), a
 *	request for the lock that expires, and a waiter in the middle that takes an
 *	idle lock when its predecessor is stalled. Documentation/prior-art.rst compares
 *	point by point.
 *
 * Assumptions
 *	Preemption is off from the start of a wait to the unlock.
 *	A node is claimed by its own CPU only (node.c); its memory stays a node.
 *	There are fewer CPUs than fit into a context's number (spin_type.h).
 *
 * States of a node, by prev, and who moves it
 *
 *	                  +-- leave or pass, as tail -------------> free
 *	  join            |                                          ^
 *	free --> NULL ----+-- leave --> (pred), "abandoned" -------->|
 *	        waits     |                      a successor steps   |
 *	                  |                      over it             |
 *	                  +-- pass ---> AVAILABLE ------------------>+
 *	                                         a successor becomes the head
 *
 * The tail is a number too, of 32 bits: the CPU and context level of its pool,
 * and its index there. With the holder and the two marks that makes a lock of 8
 * bytes. Half of that would do for neither: 14 bits name the holder's CPU, as many
 * and 2 more the pool, which leaves nothing for the index. The holder is there for
 * -EDEADLK only: who waits for a lock must know which CPU to suspect (wait.c).
 *
 * Only those nodes have a number with which a pool began. One without a node waits
 * outside the queue, as a newcomer that looks again and again.
 *
 * Own steps on shared memory: at most 2 to leave (swap the tail, then give the node
 * back or store prev), 1 to release.
 */
#include <asm/mmiowb.h>
#include <linux/atomic.h>
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/processor.h>
#include <linux/threads.h>

#include "contention.h"
#include "internal.h"
#include "trace.h"

/*
 * What a waiter counts in looks. They decide who comes first and how fast that is,
 * not whether the lock is one; the explorer makes them small.
 */
#ifndef NBQ_SPIN_LOOKS
/* Before it takes a node. */
#define LOOKS_WITHOUT_NODE	16U
/* Until newcomers may not pass it any more. */
#define PATIENT_LOOKS		1024U
/* At an idle lock, until whoever should take it is held to be away. */
#define IDLE_LOOKS		64U
/* Between two signs of life: so few that one falls among the above. */
#define LOOKS_PER_BEAT		16U
/* Between two looks at the lock itself, for one that is not the head. */
#define LOOKS_PER_GLANCE	32U
/* The age at which a request to queue expires, in units of 2^HANDOFF_SHIFT ns. */
#define HANDOFF_UNITS		3U
static_assert(HANDOFF_UNITS << 13 == NBQ_SPIN_HANDOFF_NS);
#endif

/*
 * When a waiter asked newcomers to queue, in 7 bits of the clock and one that says that
 * it did. The bits wrap after a millisecond: a request that was forgotten for that long
 * may hold for HANDOFF_UNITS once more.
 */
#define HANDOFF_SHIFT		13
#define HANDOFF_REQUESTED	0x80U

static u8 handoff_now(void)
{
	return HANDOFF_REQUESTED | (u8)(nbq_clock_ns() >> HANDOFF_SHIFT);
}

static bool has_expired(u8 request)
{
	unsigned int age = (handoff_now() - request) & (HANDOFF_REQUESTED - 1);

	/* The clocks of two CPUs may differ a little: -1 is a request made just now. */
	return age >= HANDOFF_UNITS && age != HANDOFF_REQUESTED - 1;
}

#if NR_CPUS >= 1 << NBQ_CONTEXT_CPU_BITS
#error "There are more CPUs than fit into a context's number"
#endif
static_assert(sizeof(((struct nbq_spin *)0)->state) == sizeof(u32));

/* The number of a node; 0 if there is none. */
static u32 number_of(const struct nbq_node *node)
{
	return node->index << 16 | nbq_context_of(node->pool);
}

static struct nbq_node *node_of(u32 number)
{
	const struct nbq_numbered *numbered;

	if (!number)
		return NULL;
	/* ACQUIRE, pairs with the RELEASEs that set it: the nodes by their index. */
	numbered = smp_load_acquire(&nbq_pool_of(number & U16_MAX)->numbered);
	return numbered->nodes[number >> 16];
}

/* Take a lock that has this state, which has no holder. */
static bool take(struct nbq_spin *lock, union nbq_spin_state state, u16 me)
{
	union nbq_spin_state mine = {
		.holder = me,
		.fifo = state.fifo,
	};

	/*
	 * ACQUIRE, pairs with the RELEASE in nbq_spin_unlock(): the last
	 * critical section is over for whoever finds the lock free.
	 */
	return try_cmpxchg_acquire(&lock->state.all, &state.all, mine.all);
}

/* Has the running context interrupted one that waits for this lock? */
static bool is_above_a_waiter(const struct nbq_spin *lock, const struct nbq_pool *pool,
			      u16 me)
{
	unsigned int below;

	for (below = nbq_context_level(me); below; below--) {
		const struct nbq_wait *waiter;

		pool--;
		/* On the stack of what has been interrupted. */
		waiter = READ_ONCE(pool->waiter);
		if (waiter && waiter->lock == lock)
			return true;
	}
	return false;
}

/* May a context that is not in the queue take a free lock of this state? */
static bool is_open(const struct nbq_spin *lock, union nbq_spin_state state,
		    const struct nbq_pool *pool, u16 me)
{
	/* Who finds nobody in the queue comes before all who join it later. */
	if (state.fifo)
		return !READ_ONCE(lock->tail);
	if (likely(!state.handoff))
		return true;
	return !READ_ONCE(lock->tail) || has_expired(state.handoff) ||
	       is_above_a_waiter(lock, pool, me);
}

/*
 * Enter the queue.
 *
 *	[]	-> node			NULL
 *	.. pred	-> .. pred node		pred
 *
 * Return: my predecessor; NULL: I am the head.
 */
VISIBLE_IF_KUNIT
struct nbq_node *nbq_spin_join(struct nbq_spin *lock, struct nbq_node *node)
{
	/* Marked: see nbq_clh_join(). */
	WRITE_ONCE(node->prev, NULL);
	/*
	 * Fully ordered. RELEASE: prev = NULL above is seen by the successor
	 * that gets my node from the tail and looks at prev. ACQUIRE, pairs
	 * with the predecessor's own join: its prev = NULL; and with the swap
	 * in nbq_spin_leave(), which puts a predecessor back. Full, for the
	 * rounds of wait.c: what is read after it is not older than what those
	 * who find my node see.
	 */
	return node_of(xchg(&lock->tail, number_of(node)));
}
EXPORT_SYMBOL_IF_KUNIT(nbq_spin_join);

/*
 * Look at the predecessor once.
 *
 * Return: NULL: it waits. NBQ_AVAILABLE: I am the head. A node: it has left, and
 * that node stood in front of it.
 */
VISIBLE_IF_KUNIT
struct nbq_node *nbq_spin_look(const struct nbq_node *pred)
{
	/*
	 * ACQUIRE, pairs with the RELEASE stores in nbq_spin_leave() and
	 * nbq_spin_pass(). Without it, I could give pred back while its
	 * owner's last accesses to it are under way.
	 */
	return smp_load_acquire(&pred->prev);
}
EXPORT_SYMBOL_IF_KUNIT(nbq_spin_look);

/*
 * Step over a predecessor that has left: .. prev L node -> .. prev node; or that
 * was the head: A node -> node. Only I know of it, so I give it back.
 *
 * Return: my new predecessor; NULL: I am the head.
 */
VISIBLE_IF_KUNIT
struct nbq_node *nbq_spin_step_over(struct nbq_node *node, struct nbq_node *pred,
				    struct nbq_node *prev)
{
	if (prev != NBQ_AVAILABLE)
		trace_nbq_reclaim(pred);
	nbq_node_reclaim(pred, &node->pool->events);
	return prev == NBQ_AVAILABLE ? NULL : prev;
}
EXPORT_SYMBOL_IF_KUNIT(nbq_spin_step_over);

/*
 * Leave the queue, from any position but the head.
 *
 *	.. pred W	-> .. pred		I was the tail, true
 *	.. pred W succ	-> .. pred L succ	I was not, false
 *
 * Return: true if the node was given back; else a successor will do it, and
 * the node must not be touched.
 */
VISIBLE_IF_KUNIT
bool nbq_spin_leave(struct nbq_spin *lock, struct nbq_node *node,
		    struct nbq_node *pred)
{
	u32 number = number_of(node);

	/*
	 * RELEASE, pairs with the ACQUIRE of a later nbq_spin_join(), which
	 * gets pred from the tail instead of me: whatever made pred visible
	 * to me is visible to it; and with the swap in nbq_spin_destroy(), as
	 * in nbq_spin_pass().
	 */
	if (nbq_step(cmpxchg_release(&lock->tail, number, number_of(pred))) == number) {
		nbq_node_give_back_own(node);
		return true;
	}
	/*
	 * RELEASE, pairs with the ACQUIRE in nbq_spin_look(): as above, for
	 * the successor that goes on to pred, and for one that destroys the
	 * lock. My last access to the node.
	 */
	nbq_step(smp_store_release(&node->prev, pred));
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(nbq_spin_leave);

/*
 * Leave the queue as its head, with the lock or without.
 *
 *	W		-> []			I was the tail, true
 *	W succ ..	-> A succ ..		I was not, false
 *
 * Return: true if the node was given back; else the successor will do it, and
 * the node must not be touched.
 */
VISIBLE_IF_KUNIT
bool nbq_spin_pass(struct nbq_spin *lock, struct nbq_node *node)
{
	u32 number = number_of(node);

	/*
	 * RELEASE, pairs with the swap in nbq_spin_destroy(): my last access to
	 * the lock, unless I hold it, comes after all others. Without it, my
	 * request to queue could overwrite what the lock's memory is used for
	 * next.
	 */
	if (nbq_step(cmpxchg_release(&lock->tail, number, 0)) == number) {
		nbq_node_give_back_own(node);
		return true;
	}
	/*
	 * RELEASE, pairs with the ACQUIRE in nbq_spin_look(): what I did to
	 * the node is over before my successor gives it back, and what I did
	 * to the lock before it is destroyed.
	 */
	nbq_step(smp_store_release(&node->prev, NBQ_AVAILABLE));
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(nbq_spin_pass);

/**
 * struct place - where an attempt waits
 * @node: its node in the queue; NULL: it waits outside
 * @pred: who stands in front of it; NULL: nobody
 * @idle: at so many looks in a row nobody held the lock
 * @beats: @pred's signs of life at the first of these
 * @starved: it has found no node in its pool, which was counted
 */
struct place {
	struct nbq_node *node;
	struct nbq_node *pred;
	unsigned int idle;
	unsigned long beats;
	bool starved;
};

/* Nobody has taken the lock for long: does whoever should not run? */
static bool is_forsaken(struct place *place)
{
	const struct nbq_node *pred = place->pred;

	if (!place->idle && pred)
		place->beats = READ_ONCE(pred->beats);
	if (place->idle++ < IDLE_LOOKS)
		return false;
	place->idle = 0;
	return !pred || READ_ONCE(pred->beats) == place->beats;
}

/*
 * Ask newcomers to queue, or renew that. A waiter that loses the race with one that takes
 * the lock leaves a request which nobody needs; it expires, or the next take clears it.
 */
static void request_handoff(struct nbq_spin *lock, u8 request)
{
	u8 now = handoff_now();

	if (now != request)
		WRITE_ONCE(lock->state.handoff, now);
}

/*
 * Has this poll a use for the lock's line? Of those queued, first come, first served, only
 * the head's has; else each polls it now and then, lest a stalled predecessor keeps it free.
 */
static bool polls_lock(const struct place *place, unsigned int looks, bool fifo)
{
	if (!place->pred)
		return true;
	return !fifo && (place->idle || !(looks % LOOKS_PER_GLANCE));
}

/* Look at the lock, and take it if it is my turn. */
static bool glance(struct nbq_spin *lock, struct place *place, const struct nbq_wait *wait)
{
	union nbq_spin_state state = { .all = READ_ONCE(lock->state.all) };

	if (state.holder) {
		place->idle = 0;
	} else {
		bool is_my_turn = place->node ? !place->pred :
				  is_open(lock, state, wait->pool, wait->me);

		if (!is_my_turn && !state.fifo)
			is_my_turn = is_forsaken(place);
		if (is_my_turn && take(lock, state, wait->me))
			return true;
	}
	if (place->node && wait->looks >= PATIENT_LOOKS && !state.fifo &&
	    (!state.handoff || !(wait->looks % LOOKS_PER_BEAT)))
		request_handoff(lock, state.handoff);
	return false;
}

/* Enter the queue. Return: false if there is no node for it. */
static bool enter(struct nbq_spin *lock, struct place *place, struct nbq_wait *wait)
{
	struct nbq_pool *pool = wait->pool;
	struct nbq_node *node = NULL;

	if (likely(nbq_pool_is_ready(pool)))
		node = nbq_node_claim_numbered(pool);
	/* The search may take longer than the polls up to the next clock read. */
	wait->deadline->polls = 0;
	if (unlikely(!node)) {
		pool->events.exhaustions += !place->starved;
		place->starved = true;
		return false;
	}
	place->node = node;
	place->idle = 0;
	place->pred = nbq_spin_join(lock, node);
	return true;
}

/*
 * Step over those in front who have left, up to one who waits or to the head. No
 * longer than the queue was when I joined: each step gives a node back.
 *
 * Return: over how many.
 */
static unsigned long go_ahead(struct place *place, struct nbq_wait *wait)
{
	unsigned long walk = 0;
	struct nbq_node *prev;

	while (place->pred && (prev = nbq_spin_look(place->pred))) {
		nbq_wait_pause(wait);
		place->pred = nbq_spin_step_over(place->node, place->pred, prev);
		place->idle = 0;
		walk += prev != NBQ_AVAILABLE;
	}
	return walk;
}

/* The wait is over: out of the queue, with the lock or without. */
static bool go_away(struct nbq_spin *lock, struct place *place)
{
	if (!place->node)
		return true;
	return place->pred ? nbq_spin_leave(lock, place->node, place->pred) :
			     nbq_spin_pass(lock, place->node);
}

/*
 * Does a context hold the lock, or does the last one in the queue wait? By loads only. The
 * node may be free or in another queue by now; then there was a holder in between.
 */
static bool is_busy(const struct nbq_spin *lock)
{
	const struct nbq_node *tail;

	if (READ_ONCE(lock->state.holder))
		return true;
	tail = node_of(READ_ONCE(lock->tail));
	return tail && !nbq_spin_look(tail);
}

static noinline int wait_for(struct nbq_spin *lock, struct nbq_pool *pool, u16 me,
			     struct nbq_deadline deadline,
			     struct lockdep_map *waits, unsigned long ip)
{
	bool fifo = READ_ONCE(lock->state.fifo);
	/* Without patience, to find out whether all those in the queue have left it. */
	bool enqueues_at_once = fifo || nbq_deadline_is_none(&deadline);
	struct nbq_wait wait = {
		.deadline = &deadline,
		.pool = pool,
		.me = me,
		.lock = lock,
		.held_by = &lock->state.holder,
		.in_order = fifo,
		.error = nbq_deadline_error(&deadline),
		NBQ_WAIT_STAT(waits, ip)
	};
	struct place place = {};
	unsigned long walk = 0;
	bool taken, gone;

	/* Before it enqueues, which one that newcomers may pass does later. */
	if (fifo && nbq_contention_is_traced() && !nbq_deadline_is_none(&deadline) &&
	    is_busy(lock))
		nbq_wait_announce(&deadline, lock, waits, ip);
	for (;;) {
		unsigned int looks = wait.looks;
		struct nbq_node *behind;

		if (!place.node && (enqueues_at_once || looks >= LOOKS_WITHOUT_NODE) &&
		    !(looks % LOOKS_WITHOUT_NODE) && enter(lock, &place, &wait)) {
			/* From now on I may wait behind somebody else. */
			nbq_wait_pause(&wait);
		}
		walk += go_ahead(&place, &wait);
		/* The lock first and the clock last: a late turn is still a turn. */
		taken = polls_lock(&place, looks, fifo) && glance(lock, &place, &wait);
		if (taken)
			break;
		/* First come, first served, no successor asks whether this one runs. */
		if (!fifo && place.node && !(looks % LOOKS_PER_BEAT))
			WRITE_ONCE(place.node->beats, place.node->beats + 1);
		/* Without an order, only the holder can keep me waiting. */
		behind = fifo ? place.pred : NULL;
		if (!nbq_wait_goes_on(&wait, behind, behind ? &behind->prev : NULL))
			break;
		cpu_relax();
	}

	nbq_wait_pause(&wait);
	if (place.node)
		nbq_count_walk(pool, walk);
	if (taken) {
		go_away(lock, &place);
		return nbq_wait_end(&wait, 0);
	}
	if (fifo && !place.node && wait.error != -EDEADLK)
		wait.error = -ENOMEM;
	if (place.node) {
		gone = go_away(lock, &place);
		/* At the head, too. One who leaves with the lock has not timed out. */
		pool->events.nodes_abandoned += !gone;
		trace_nbq_leave(lock, !gone, wait.error);
	}
	return nbq_wait_end(&wait, wait.error);
}

/* The lock is held, or there is more to it than whether it is. */
static noinline int acquire_slowpath(struct nbq_spin *lock, struct nbq_deadline deadline,
				     struct lockdep_map *waits, unsigned long ip)
{
	union nbq_spin_state state = { .all = READ_ONCE(lock->state.all) };
	struct nbq_pool *pool = nbq_this_pool();
	u16 me = nbq_this_context(pool);

	if (!state.holder && is_open(lock, state, pool, me) && take(lock, state, me))
		return 0;
	if (nbq_deadline_is_none(&deadline) && is_busy(lock)) {
		pool->events.failed_tries++;
		return -EBUSY;
	}
	return wait_for(lock, pool, me, deadline, waits, ip);
}

/* See define_verbs.h. Inline, and all else is called: no register is saved for it. */
static __always_inline int acquire(struct nbq_spin *lock,
				   struct nbq_deadline deadline,
				   struct lockdep_map *waits, unsigned long ip)
{
	union nbq_spin_state state = { .all = READ_ONCE(lock->state.all) };

	if (likely(!state.holder && !state.handoff && !(state.fifo && READ_ONCE(lock->tail)) &&
		   take(lock, state, nbq_this_context(nbq_this_pool()))))
		return 0;
	return acquire_slowpath(lock, deadline, waits, ip);
}

static u16 context_of_holder(const struct nbq_spin *lock)
{
	return READ_ONCE(lock->state.holder);
}

#define NBQ_TYPE	nbq_spin

#ifndef CONFIG_DEBUG_LOCK_ALLOC
/* What is inline begins with these; see spin_type.h. */
#undef nbq_X_lock_timeout
#undef nbq_X_lock_until
#undef nbq_X_trylock
#undef nbq_X_lock
#define nbq_X_lock_timeout	__nbq_spin_lock_timeout
#define nbq_X_lock_until	__nbq_spin_lock_until
#define nbq_X_trylock		__nbq_spin_trylock
#define nbq_X_lock		__nbq_spin_lock
#define begin_verb()
#endif

#include "define_verbs.h"

void nbq_spin_init_key(struct nbq_spin *lock, const char *name,
		       struct lock_class_key *key)
{
	lock->state.all = 0;
	lock->tail = 0;
	lockdep_init_map_wait(&lock->dep_map, name, key, 0, LD_WAIT_SPIN);
}
EXPORT_SYMBOL_GPL(nbq_spin_init_key);

void nbq_spin_init_fifo_key(struct nbq_spin *lock, const char *name,
			    struct lock_class_key *key)
{
	nbq_spin_init_key(lock, name, key);
	lock->state.fifo = 1;
}
EXPORT_SYMBOL_GPL(nbq_spin_init_fifo_key);

#ifdef CONFIG_DEBUG_LOCK_ALLOC
void nbq_spin_unlock(struct nbq_spin *lock) __releases(lock)
{
	u16 holder = READ_ONCE(lock->state.holder);

	__release(lock);
	if (unlikely(!holder)) {
		nbq_report(NBQ_REPORT_NOT_HELD, lock, 0, _RET_IP_);
		return;
	}
	if (unlikely(nbq_context_cpu(holder) != raw_smp_processor_id())) {
		nbq_report(NBQ_REPORT_NOT_OWNER, lock, holder, _RET_IP_);
		return;
	}
	spin_release(dep_map_of(lock), _RET_IP_);
	/* Before the lock is seen to be free: writes to devices are in order. */
	mmiowb_spin_unlock();
	/*
	 * RELEASE, pairs with the ACQUIREs of those who take the lock: the
	 * critical section is over for whoever finds it free.
	 */
	nbq_step(smp_store_release(&lock->state.holder, 0));
	preempt_enable();
}
EXPORT_SYMBOL_GPL(nbq_spin_unlock);
#endif

bool nbq_spin_is_locked(const struct nbq_spin *lock)
{
	return READ_ONCE(lock->state.holder);
}
EXPORT_SYMBOL_GPL(nbq_spin_is_locked);

bool nbq_spin_is_contended(const struct nbq_spin *lock)
{
	return READ_ONCE(lock->state.holder) && READ_ONCE(lock->tail);
}
EXPORT_SYMBOL_GPL(nbq_spin_is_contended);

/* Is this queue made of nothing but leavers, behind the last head or nobody? */
static bool is_idle(const struct nbq_node *node)
{
	while (node && node != NBQ_AVAILABLE)
		node = nbq_spin_look(node);
	return node;
}

int nbq_spin_destroy(struct nbq_spin *lock)
{
	/*
	 * ACQUIRE, pairs with the RELEASE in nbq_spin_unlock(): what the last holder did
	 * is over before the lock's memory is used again. It may never have enqueued, so
	 * that the tail says nothing of it.
	 */
	u16 holder = smp_load_acquire(&lock->state.holder);
	u32 tail = READ_ONCE(lock->tail);
	struct nbq_node *node = node_of(tail);
	struct nbq_events *events;

	/*
	 * The swap is fully ordered: it pairs with the RELEASEs by which waiters left
	 * the queue, so that the lock's memory is used again, and the nodes given back,
	 * after all that these did.
	 */
	if (holder || (node && !is_idle(node)) || cmpxchg(&lock->tail, tail, 0) != tail) {
		nbq_report(NBQ_REPORT_IN_USE, lock, holder, _RET_IP_);
		return -EBUSY;
	}
	WRITE_ONCE(lock->state.handoff, 0);

	preempt_disable();
	events = &nbq_this_pool()->events;
	while (node && node != NBQ_AVAILABLE) {
		struct nbq_node *prev = nbq_spin_look(node);

		nbq_node_reclaim(node, events);
		node = prev;
	}
	preempt_enable();
	return 0;
}
EXPORT_SYMBOL_GPL(nbq_spin_destroy);
