// SPDX-License-Identifier: GPL-2.0
/*
 * The hybrid: a spinlock that one compare-and-swap takes and one store releases, with a queue
 * for waiters, who can abandon it at any time.
 *
 * The lock word names the holder. Contexts that find it held enqueue in a CLH-NB queue (Scott,
 * "Non-Blocking Timeout in Scalable Queue-Based Spin Locks", PODC 2002), but what is handed over
 * from node to node is not the lock: it is the head of the queue, which competes for the lock. So
 * a context that takes the lock is done with its node before its critical section, and has a node
 * only while it waits.
 *
 * A waiter polls its predecessor's node and nothing else. The lock's line is for the holder,
 * for newcomers, and for the head of a queue. Each socket has a queue (socket.h), so that a
 * hand-over mostly stays on a socket:
 *
 *	lock  <-- newcomers (POLLS_BEFORE_QUEUE polls, then they enqueue)
 *	  ^
 *	  +------ head <-- waiter <-- stalled <-- waiter <-- waiter <-- tail   socket 0,
 *	  |                                         |                          which has
 *	  +-----------------------------------------+  acts as head            the turn
 *
 *	          head <-- waiter <-- tail                                     socket 1
 *	         (awaits the turn: polls its own queue's line)
 *
 * Which contexts may take a free lock
 *	The head of the queue.
 *	A newcomer steals it: a waiter whose CPU is preempted keeps no other context from the
 *	lock. But a head that has waited for PATIENT_NS requests a handoff, upon which
 *	newcomers enqueue, and takes the lock with a request for its successor.
 *	The acting head: a waiter whose predecessor is stalled. It is taken to be stalled if
 *	its heartbeat is older than STALLED_NS, or if the hypervisor says so, or if this is
 *	an interrupt above it. The acting head competes as the head does, until the
 *	predecessor's state changes; with the lock, it abandons its node, and its successor,
 *	which finds the same stalled predecessor, acts next.
 *	A newcomer steals it in spite of a request, if the lock is free for IDLE_NS: then the
 *	context that it was requested for is stalled. Or if the request has expired: it is a
 *	time, renewed by a head that runs, and void after HANDOFF_UNITS. A waiter that gives
 *	up lets it expire: it may be that of another waiter, too. A newcomer whose patience
 *	is below IDLE_NS fails meanwhile, and so does a waiter whose patience ends before
 *	its predecessor counts as stalled.
 *	So the waiters of a socket that run are served in order. Newcomers steal from a waiter
 *	that runs during its POLLS_BEFORE_QUEUE polls, the first PATIENT_NS after them, and
 *	the polls up to the head's next clock read (POLLS_AS_HEAD); later only while its
 *	predecessors are stalled, and what acting heads let them.
 *	The head of a socket without the turn may not take it while a request for another
 *	socket stands. A turn begins with a request and lasts TURN_UNITS; each head that takes
 *	the lock hands the turn on to its successor, with the time at which it began. The
 *	first head that finds it over, or the queue empty behind it, gives it to the next
 *	socket whose head awaits it. A request that has expired, or a lock that is free for
 *	IDLE_NS, is open to all, so that a preempted socket keeps no other from the lock.
 *	Waiters of other sockets take the lock in their turns, newcomers steal it where
 *	sockets have one waiter at a time, until a head that awaits the turn finds the
 *	request expired, and attempts with little patience need no turn. All that may come
 *	again: on several sockets there is no bound on overtaking.
 * Mutual exclusion rests on the holder alone, whatever the policy.
 *
 * Several locks may share a queue of a socket: their addresses have the same hash. A waiter
 * whose predecessor waits for another lock is the first of its own lock, and acts as head. So no
 * lock waits for another; where locks always share a queue, more waiters poll each of them.
 *
 * Prior art
 *	A word that one compare-and-swap takes, with a queue behind it, accessed in parts of
 *	several sizes: qspinlock. Stealing until a queued waiter forbids it: the paravirtual
 *	qspinlock (qspinlock_paravirt.h, "hybrid PV queued/unfair lock"). Handoff: rwsem
 *	(RWSEM_FLAG_HANDOFF). A bound on stealing: Fissile locks (Dice, Kogan, 2020). The
 *	heartbeat: the published time of MCS-TP and CLH-TP (He, Scherer, Scott, 2005). A queue
 *	for each socket, with turns of bounded length: lock cohorting (Dice, Marathe, Shavit,
 *	PPoPP 2012), HMCS (Chabbi, Fagan, Mellor-Crummey, PPoPP 2015), CNA (Dice, Kogan,
 *	2019). A table of queues by a hash of addresses: futexes, bit_waitqueue(). -EDEADLK
 *	from a spinlock: rqspinlock. What is added: all of this with a queue that a waiter
 *	can abandon at any position in a bounded number of its own steps, a request that
 *	expires, and a waiter in the middle that acts as head when its predecessor is stalled.
 *
 * Assumptions
 *	Preemption is off from the start of a wait to the unlock.
 *	A node is allocated by its own CPU only (node.c); its memory stays a node.
 *	There are fewer CPUs than NBQ_CONTEXT_CPU_BITS can encode.
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
 * A tail is encoded in 32 bits: the CPU and context level of the node's pool, and its index
 * there. The lock names the holder for -EDEADLK: a deadlock check must know which CPU a waiter
 * waits for (wait.c).
 *
 * Only the nodes with which a pool began can be encoded. An attempt without a node polls as a
 * newcomer.
 *
 * An attempt whose CPU has abandoned a node in the queue, which no successor has skipped,
 * resumes that place, as in CLH-NB, before it polls the lock: else attempts with little patience
 * would take its line from one another. It has waited since the first of these attempts
 * enqueued, and checks at once whether its predecessor is stalled. After an attempt whose
 * patience was over before it enqueued, the next of that CPU enqueues at once.
 *
 * Own steps on shared memory: at most 2 to abandon (swap the tail, then free the node or store
 * prev; 1 from a resumed place), 1 to release.
 */
#include <linux/atomic.h>
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/processor.h>
#include <linux/threads.h>

#include "bare_spin.h"
#include "contention.h"
#include "internal.h"
#include "relax.h"
#include "trace.h"

/*
 * The policy: the order of acquisitions and their speed, not mutual exclusion. In time, as the
 * length of a poll differs by ten times between processors.
 */
#ifndef NBQ_SPIN_POLICY
/* Polls of a newcomer before it enqueues, unless it loses the lock to another one. */
#define POLLS_BEFORE_QUEUE	16U
/* How long a waiter has waited when it requests a handoff. */
#define PATIENT_NS	20000
/* Polls of the head from one clock read to the next. */
#define POLLS_AS_HEAD	16U
/* How long a lock is free until the head that has requested it counts as stalled. */
#define IDLE_NS		2000
/* The age of the heartbeat of a waiter that counts as stalled, also while it sleeps. */
#define STALLED_NS	(50000 + NBQ_RELAX_MAX_NS)
/*
 * How far a heartbeat may be ahead, as the clocks of two CPUs differ. Where 64 bits are written in
 * halves, one that stalls in between leaves a heartbeat that is 2^32 ns ahead.
 */
#define AHEAD_NS	2000000000
/* From one check of the predecessor's heartbeat to the next. */
#define CHECK_PRED_NS	(100000 + NBQ_RELAX_MAX_NS)
/* The age at which a request for a handoff expires, in units of 2^HANDOFF_SHIFT ns. */
#define HANDOFF_UNITS	3U
/* The length of a socket's turn, in the same units, if another socket awaits it. */
#define TURN_UNITS	2U
/* Is the patience over before the attempt could request a handoff? */
#define HAS_LITTLE_PATIENCE(wait)	\
	nbq_deadline_is_within((wait)->deadline, (wait)->now, PATIENT_NS)
static_assert(HANDOFF_UNITS << 13 == NBQ_SPIN_HANDOFF_NS);
/* Has the clock been read since the last tick? */
#define HAS_TICKED(place, wait)	((place)->ticked_at != (wait)->now)
/* Is a newcomer to enqueue? */
#define HAS_POLLED(place, wait)	((wait)->polls - (place)->newcomer_since >= POLLS_BEFORE_QUEUE)
#endif

/*
 * The time of a request for a handoff, in 7 bits of the clock, and one that says that there is
 * one. The bits wrap after a millisecond: a request that old may hold once more, for HANDOFF_UNITS
 * and the one before, which age_of() takes for a difference of clocks.
 */
#define HANDOFF_SHIFT		13
#define HANDOFF_REQUESTED	0x80U

static u8 handoff_at(u64 ns)
{
	return HANDOFF_REQUESTED | (u8)(ns >> HANDOFF_SHIFT);
}

/* The age of a request in these units. The clocks of two CPUs may differ a little. */
static unsigned int age_of(u8 handoff, u64 now)
{
	unsigned int age = (handoff_at(now) - handoff) & (HANDOFF_REQUESTED - 1);

	return age == HANDOFF_REQUESTED - 1 ? 0 : age;
}

static bool has_expired(u8 handoff)
{
	return age_of(handoff, nbq_clock_ns()) >= HANDOFF_UNITS;
}

/* A request of this time, for the waiters of that turn. */
static u16 request_at(u64 ns, u8 turn)
{
	union nbq_spin_state state = { .handoff = handoff_at(ns), .turn = turn };

	return state.request;
}

#if NR_CPUS >= 1 << NBQ_CONTEXT_CPU_BITS
#error "There are more CPUs than fit into a context's number"
#endif
static_assert(sizeof(((union nbq_bare_spin *)0)->state) == sizeof(u32));

/* The number that stands for a node in a tail; 0 stands for none. */
static u32 encode_tail(const struct nbq_node *node)
{
	return node->index << 16 | nbq_context_of(node->pool);
}

static struct nbq_node *decode_tail(u32 number)
{
	const struct nbq_encodable *encodable;

	if (!number)
		return NULL;
	/* ACQUIRE, pairs with the RELEASEs that set it: the nodes by their index. */
	encodable = smp_load_acquire(&nbq_pool_of(number & U16_MAX)->encodable);
	return encodable->nodes[number >> 16];
}

static union nbq_spin_state read_state(const union nbq_bare_spin *lock)
{
	return (union nbq_spin_state){ .all = READ_ONCE(lock->state.all) };
}

/*
 * Take the lock if it has this state, without a holder, and leave this request in it.
 * Otherwise @state becomes the state that it has.
 */
static bool take(union nbq_bare_spin *lock, union nbq_spin_state *state, u16 context, u16 request)
{
	union nbq_spin_state taken = {
		.holder = context,
		.request = request,
	};

	/*
	 * ACQUIRE, pairs with the RELEASE in nbq_bare_spin_unlock(): the critical section before is
	 * over for the context that finds the lock free.
	 */
	return try_cmpxchg_acquire(&lock->state.all, &state->all, taken.all);
}

/* Has the running context interrupted a waiter for this lock? */
static bool interrupts_waiter(const union nbq_bare_spin *lock, const struct nbq_pool *pool,
			      u16 context)
{
	unsigned int below;

	for (below = nbq_context_level(context); below; below--) {
		const struct nbq_wait *waiter;

		pool--;
		/* On the stack of the interrupted context. */
		waiter = READ_ONCE(pool->waiter);
		if (waiter && waiter->lock == lock)
			return true;
	}
	return false;
}

/* The tail of the queue that has this turn, or its last head; NULL: none. */
static const struct nbq_node *tail_of_turn(const union nbq_bare_spin *lock, u8 turn)
{
	return decode_tail(READ_ONCE(nbq_queue_of(nbq_socket_of_turn(turn), lock)->tail));
}

/* May a newcomer take a free lock in which this request stands? */
static bool may_steal(const union nbq_bare_spin *lock, union nbq_spin_state state,
		      const struct nbq_pool *pool, u16 context)
{
	return likely(!state.handoff) || !tail_of_turn(lock, state.turn) ||
	       has_expired(state.handoff) || interrupts_waiter(lock, pool, context);
}

/*
 * Enqueue.
 *
 *	[]	-> node			NULL
 *	.. pred	-> .. pred node		pred
 *
 * Return: the predecessor; NULL: the node is the head.
 */
VISIBLE_IF_KUNIT
struct nbq_node *nbq_spin_enqueue(const union nbq_bare_spin *lock, u32 *tail,
				  struct nbq_node *node)
{
	node->resumed = false;
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
	return decode_tail(xchg(tail, encode_tail(node)));
}
EXPORT_SYMBOL_IF_KUNIT(nbq_spin_enqueue);

/*
 * Poll the predecessor.
 *
 * Return: NULL: it waits. NBQ_AVAILABLE: the node is the head. A node: the predecessor was
 * abandoned, and that node is its predecessor.
 */
VISIBLE_IF_KUNIT
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
VISIBLE_IF_KUNIT
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
VISIBLE_IF_KUNIT
bool nbq_spin_abandon(u32 *tail, struct nbq_node *node, struct nbq_node *pred)
{
	u32 number = encode_tail(node);

	/*
	 * RELEASE, pairs with the ACQUIRE of a later nbq_spin_enqueue(), which gets pred from
	 * the tail instead of this node: what made pred visible here is visible there; and
	 * with that of sweep(), as in nbq_spin_dequeue_head().
	 */
	if (!node->resumed &&
	    cmpxchg_release(tail, number, encode_tail(pred)) == number) {
		nbq_node_free_own(node);
		return true;
	}
	if (node->lock)
		nbq_note_abandoned(node, node->lock);
	/*
	 * RELEASE, pairs with the ACQUIRE in nbq_spin_poll(): as above, for the successor
	 * that continues at pred, and for destroy. The last access to the node.
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
VISIBLE_IF_KUNIT
bool nbq_spin_dequeue_head(u32 *tail, struct nbq_node *node, bool has_successor)
{
	u32 number = encode_tail(node);

	/*
	 * RELEASE, pairs with the ACQUIRE in sweep(): a context that does not hold the lock
	 * accesses it for the last time here. Without it, its request could overwrite what the
	 * lock's memory is used for next.
	 */
	if (!has_successor && cmpxchg_release(tail, number, 0) == number) {
		nbq_node_free_own(node);
		return true;
	}
	/*
	 * RELEASE, pairs with the ACQUIRE in nbq_spin_poll(): the accesses to the node are over
	 * before the successor reclaims it, and those to the lock before it is destroyed.
	 */
	smp_store_release(&node->prev, NBQ_AVAILABLE);
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(nbq_spin_dequeue_head);

/**
 * struct place - where an attempt waits
 * @node: its node in the queue; NULL: it is a newcomer
 * @pred: its predecessor; NULL: none
 * @queue: its queue
 * @skipped: how many abandoned nodes it has skipped
 * @since: when it enqueued
 * @checked_at: when it checked the heartbeat of @pred last
 * @ticked_at: the clock read of its last tick
 * @idle_since: since when a newcomer has seen the lock free; 0: it was held
 * @newcomer_since: the number of polls when it became a newcomer
 * @holder: the holder that a newcomer saw last
 * @must_queue: a newcomer is to enqueue at once
 * @starved: its pool had no free node, which was counted
 * @competes: for the lock: it is the head, or acts as head
 * @renews: it may renew its request
 * @has_successor: another waiter has enqueued behind it; it may have given up since
 * @renewed: the request with which its turn began was renewed
 * @turn: what stands for its queue in the turn of the lock
 * @next: the next turn, once it was chosen; else 0
 * @was_behind: it had a predecessor when it enqueued
 * @awaits: it has published that it awaits the turn of its socket
 */
struct place {
	struct nbq_node *node;
	struct nbq_node *pred;
	struct nbq_queue *queue;
	unsigned long skipped;
	u64 since;
	u64 checked_at;
	u64 ticked_at;
	u64 idle_since;
	unsigned int newcomer_since;
	u16 holder;
	bool must_queue;
	bool starved;
	bool competes;
	bool renews;
	bool has_successor;
	bool renewed;
	bool was_behind;
	bool awaits;
	u8 turn;
	u8 next;
};

/* Has so much time passed? The clocks of two CPUs may differ a little. */
static bool has_passed(u64 since, u64 now, s64 ns)
{
	return (s64)(now - since) >= ns;
}

/* Has a newcomer seen for long that the lock is free and requested? */
static bool is_idle_too_long(struct place *place)
{
	u64 now = nbq_clock_ns();

	if (!place->idle_since)
		place->idle_since = now;
	return has_passed(place->idle_since, now, IDLE_NS);
}

/* Poll the lock as a newcomer. Return: true if it was taken. */
static bool poll_as_newcomer(union nbq_bare_spin *lock, struct place *place,
			     const struct nbq_wait *wait)
{
	union nbq_spin_state state = read_state(lock);

	if (state.holder) {
		/* A request stands, or another context was faster once more. */
		if (!place->starved &&
		    (state.handoff || (place->holder && place->holder != state.holder)))
			place->must_queue = true;
		place->holder = state.holder;
		place->idle_since = 0;
		return false;
	}
	if (!may_steal(lock, state, wait->pool, wait->context) && !is_idle_too_long(place))
		return false;
	if (take(lock, &state, wait->context, 0))
		return true;
	/* Another context was faster. */
	place->must_queue = !place->starved;
	return false;
}

/* Can heads of other queues compete for the lock? */
static bool has_other_sockets(const struct nbq_wait *wait)
{
	return nbq_has_other_sockets(READ_ONCE(wait->pool->socket));
}

static bool has_own_turn(const struct place *place, union nbq_spin_state state)
{
	return state.handoff && state.turn == place->turn;
}

/*
 * Does a head await the turn of the socket that has this queue? A head that is preempted does not
 * publish a new request when the last one has expired. It would not take the turn up, again and
 * again: each time the lock would be idle.
 */
static bool is_awaited(const union nbq_bare_spin *lock, const struct nbq_queue *queue, u64 now)
{
	return READ_ONCE(queue->awaits) == lock &&
	       age_of(READ_ONCE(queue->handoff), now) <= HANDOFF_UNITS;
}

/*
 * The turn after another one: of the next socket, in the order of their numbers, whose head awaits
 * it. If there is none, that of the running context, a head.
 */
static u8 next_turn(const union nbq_bare_spin *lock, const struct place *place, u64 now, u8 turn)
{
	unsigned int i = READ_ONCE(nbq_sockets_number);

	while (i--) {
		struct nbq_socket *socket = nbq_socket_of_turn(turn + 1);

		turn = socket ? turn + 1 : NBQ_TURN_SOCKET;
		socket = socket ?: nbq_socket_of_turn(turn);
		if (turn == place->turn || is_awaited(lock, nbq_queue_of(socket, lock), now))
			return turn;
	}
	return place->turn;
}

/*
 * If the turn of its socket is over, choose the next one: while the lock is held, if there is
 * time. The turn is also over when a queue drains that had more than one waiter: else newcomers
 * would steal the lock until a head that awaits the turn polls it again. (With one waiter a
 * socket there would be no turns at all, and each hand-over would be one between sockets.)
 */
static void choose_next_turn(const union nbq_bare_spin *lock, struct place *place,
			     const struct nbq_wait *wait, union nbq_spin_state state)
{
	if (!place->next && has_other_sockets(wait) && has_own_turn(place, state) &&
	    (place->renewed || (place->was_behind && !place->has_successor) ||
	     age_of(state.handoff, wait->now) >= TURN_UNITS))
		place->next = next_turn(lock, place, wait->now, place->turn);
}

/* The head of that socket may compete now. */
static void notify_socket(const union nbq_bare_spin *lock, u8 turn)
{
	WRITE_ONCE(nbq_queue_of(nbq_socket_of_turn(turn), lock)->notified, lock);
}

/*
 * Does a head that has not waited for long hand on a request? Seven times in eight: the time at
 * which it enqueued is the random number. Simulated, 16 CPUs on 8 sockets: always, 0.77 of the
 * acquisitions; never, a Jain's index of 0.45, not 0.95.
 */
static inline bool hands_on_request(const struct place *place)
{
	return place->since >> 4 & 7;
}

/*
 * The request with which a head takes the lock: that of the next socket, if the turn of its own
 * is over. Else that of its successor, which has waited nearly as long; the turn goes on from
 * when it began. A head that has not waited for long hands on a request that it found, seven
 * times in eight: else the last of a queue that drains would find no request, no newcomer would
 * steal from it, and it would keep the lock from all others until the next request.
 */
static u16 request_for_successor(const union nbq_bare_spin *lock, struct place *place,
				 const struct nbq_wait *wait, union nbq_spin_state state)
{
	/*
	 * The head of the machine's queue leaves the turn to the socket that has it. Simulated, 24
	 * CPUs on 8 sockets, half of the attempts with a patience of 15 us: else 0.88 of the
	 * acquisitions and 2.9 times the longest wait.
	 */
	if (!place->turn && state.handoff && !has_own_turn(place, state))
		return state.request;
	choose_next_turn(lock, place, wait, state);
	if (place->next && place->next != place->turn)
		return request_at(wait->now, place->next);
	if (!place->has_successor)
		return 0;
	if (has_passed(place->since, wait->now, PATIENT_NS)) {
		if (has_other_sockets(wait) && !place->next && has_own_turn(place, state))
			return state.request;
		return request_at(wait->now, place->turn);
	}
	return has_own_turn(place, state) && hands_on_request(place) ? state.request : 0;
}

/* The turn that a head requests: its own, or that of the next socket after the holder's. */
static u8 turn_to_request(const union nbq_bare_spin *lock, const struct place *place,
			  const struct nbq_wait *wait, union nbq_spin_state state)
{
	const struct nbq_socket *socket;

	if (!has_other_sockets(wait))
		return place->turn;
	socket = READ_ONCE(nbq_pool_of(state.holder)->socket);
	return socket ? next_turn(lock, place, wait->now, socket->turn) : place->turn;
}

/*
 * Request a handoff, or renew the request. Only while the lock is held: in a free one, a new
 * request would keep another acting head from taking it. By a store: a holder that acquires
 * again and again would make a compare-and-swap fail for ever.
 */
static void request_handoff(union nbq_bare_spin *lock, struct place *place,
			    const struct nbq_wait *wait, union nbq_spin_state state)
{
	bool renews = has_own_turn(place, state) && place->renews &&
		      state.handoff != handoff_at(wait->now);
	u8 turn;

	place->renews = false;
	if (!renews && state.handoff &&
	    (state.turn == place->turn || age_of(state.handoff, wait->now) < HANDOFF_UNITS))
		return;
	if (!has_passed(place->since, wait->now, PATIENT_NS))
		return;
	place->renewed |= renews;
	turn = renews ? place->turn : turn_to_request(lock, place, wait, state);
	WRITE_ONCE(lock->state.request, request_at(wait->now, turn));
	if (turn != place->turn)
		notify_socket(lock, turn);
}

/* From now on the heads of this queue leave the lock's line to the socket that has the turn. */
static void await_turn(const union nbq_bare_spin *lock, struct place *place, u8 handoff)
{
	place->awaits = true;
	WRITE_ONCE(place->queue->handoff, handoff);
	WRITE_ONCE(place->queue->awaits, lock);
}

/*
 * A head whose socket does not have the turn leaves the lock's line alone until the request of
 * the other socket has expired, or its own socket is notified. So does an acting head.
 */
static bool awaits_turn(const union nbq_bare_spin *lock, struct place *place, struct nbq_wait *wait)
{
	if (!place->turn || READ_ONCE(place->queue->awaits) != lock)
		return false;
	place->awaits = true;
	nbq_wait_tick_within(wait, POLLS_AS_HEAD);
	if (READ_ONCE(place->queue->notified) == lock) {
		WRITE_ONCE(place->queue->notified, NULL);
		WRITE_ONCE(place->queue->awaits, NULL);
		return false;
	}
	return age_of(READ_ONCE(place->queue->handoff), wait->now) < HANDOFF_UNITS;
}

/* Has another waiter enqueued behind it? */
static void check_successor(struct place *place)
{
	if (!place->has_successor)
		place->has_successor = READ_ONCE(place->queue->tail) != encode_tail(place->node);
}

/* May this head take a free lock in which that request stands? */
static bool may_compete(struct place *place, union nbq_spin_state state)
{
	/* A waiter in the machine's queue needs no turn. */
	return !place->turn || !state.handoff || state.turn == place->turn ||
	       has_expired(state.handoff) || is_idle_too_long(place);
}

/* Poll the lock as the head or the acting head. Return: true if it was taken. */
static bool poll_as_head(union nbq_bare_spin *lock, struct place *place, struct nbq_wait *wait)
{
	union nbq_spin_state state;

	if (awaits_turn(lock, place, wait))
		return false;
	/* The lock before the tail. Simulated, 24 CPUs on 8 sockets: 0.92 the other way round. */
	state = read_state(lock);
	check_successor(place);
	if (!state.holder && may_compete(place, state) &&
	    take(lock, &state, wait->context, request_for_successor(lock, place, wait, state))) {
		if (place->next && place->next != place->turn) {
			notify_socket(lock, place->next);
			wait->pool->events.turns_passed++;
		}
		return true;
	}
	/* Also if another context was faster. */
	if (state.holder) {
		place->idle_since = 0;
		request_handoff(lock, place, wait, state);
		choose_next_turn(lock, place, wait, state);
		if (place->turn && state.handoff && state.turn != place->turn)
			await_turn(lock, place, state.handoff);
	}
	nbq_wait_tick_within(wait, POLLS_AS_HEAD);
	return false;
}

/*
 * Does the waiter act as head whatever its predecessor does? That waits for another lock, which
 * shares the queue; or this interrupt has come above it.
 */
static bool is_first_of_lock(const union nbq_bare_spin *lock, const struct place *place,
			     const struct nbq_wait *wait)
{
	return READ_ONCE(place->pred->wants) != lock || place->pred->cpu == wait->pool->cpu;
}

/*
 * Is the predecessor stalled? The hypervisor is asked no more often than the heartbeat is
 * checked: if each waiter behind a stalled one acted at once, they would get in each other's way.
 */
static void check_pred(const union nbq_bare_spin *lock, struct place *place,
		       const struct nbq_wait *wait)
{
	u64 heartbeat = READ_ONCE(place->pred->pool->heartbeat);

	place->checked_at = wait->now;
	place->competes = is_first_of_lock(lock, place, wait) ||
			  has_passed(heartbeat, wait->now, STALLED_NS) ||
			  has_passed(wait->now, heartbeat, AHEAD_NS) ||
			  vcpu_is_preempted(place->pred->cpu);
}

/* A nested attempt has none: neither it nor the one that it has interrupted counts as running. */
static void publish_heartbeat(const struct nbq_wait *wait)
{
	if (likely(!wait->nested))
		WRITE_ONCE(wait->pool->heartbeat, wait->now);
}

/* The clock has been read: publish the heartbeat, and check the predecessor's. */
static void tick(const union nbq_bare_spin *lock, struct place *place, struct nbq_wait *wait)
{
	place->ticked_at = wait->now;
	place->renews = true;
	publish_heartbeat(wait);
	if (!place->competes && has_passed(place->checked_at, wait->now, CHECK_PRED_NS))
		check_pred(lock, place, wait);
	/* Before it is the head, if there is time: then it is to poll the lock's line. */
	check_successor(place);
}

/*
 * Choose the queue in which the attempt waits. That of the machine if the patience is over before
 * the turn of another socket: for such attempts the turn would come too late, and each head that
 * gives up would leave the lock's line to the next.
 */
static void choose_queue(const union nbq_bare_spin *lock, struct place *place,
			 const struct nbq_wait *wait)
{
	const struct nbq_socket *socket = READ_ONCE(wait->pool->socket);

	if (nbq_has_other_sockets(socket) && HAS_LITTLE_PATIENCE(wait))
		socket = NULL;
	place->queue = nbq_queue_of(socket, lock);
	place->turn = socket ? socket->turn : NBQ_TURN_MACHINE;
}

/* The attempt waits in the queue from now on. */
static void start_clock(struct place *place, struct nbq_wait *wait)
{
	/* The search for a node may take longer than the polls up to the next clock read. */
	wait->deadline->polls = 0;
	wait->now = nbq_clock_ns();
	place->since = wait->now;
	place->checked_at = wait->now;
	place->ticked_at = wait->now;
	publish_heartbeat(wait);
}

/* Enqueue. Return: false if there is no node. */
static bool enqueue(union nbq_bare_spin *lock, struct place *place, struct nbq_wait *wait)
{
	struct nbq_pool *pool = wait->pool;
	struct nbq_node *node = NULL;

	if (likely(nbq_pool_is_ready(pool)))
		node = nbq_node_alloc_encodable(pool);
	if (unlikely(!node)) {
		pool->events.exhaustions += !place->starved;
		place->starved = true;
		place->newcomer_since = wait->polls;
		place->must_queue = false;
		wait->deadline->polls = 0;
		return false;
	}
	WRITE_ONCE(pool->late_for, NULL);
	WRITE_ONCE(node->nested, wait->nested);
	/* What it was as a newcomer does not matter any more. */
	*place = (struct place){ .node = node };
	start_clock(place, wait);
	choose_queue(lock, place, wait);
	place->pred = nbq_spin_enqueue(lock, &place->queue->tail, node);
	place->was_behind = place->pred;
	place->competes = !place->pred || is_first_of_lock(lock, place, wait);
	return true;
}

/* Resume the place of an earlier attempt, without an access to the lock. Return: it has one. */
static bool resume_place(union nbq_bare_spin *lock, struct place *place, struct nbq_wait *wait)
{
	place->node = nbq_resume(wait->pool, lock, nbq_node_resume, &place->pred);
	if (!place->node)
		return false;
	place->queue = place->node->queue;
	place->turn = place->node->turn;
	start_clock(place, wait);
	place->since = place->node->since;
	check_pred(lock, place, wait);
	return true;
}

/*
 * Skip abandoned predecessors, up to a waiter or to the head. There are no more than the queue
 * had when this node was enqueued: each skip frees a node.
 */
static void skip_abandoned(const union nbq_bare_spin *lock, struct place *place,
			   struct nbq_wait *wait)
{
	unsigned long skipped = place->skipped;
	struct nbq_node *prev;

	while (place->pred && (prev = nbq_spin_poll(place->pred))) {
		struct nbq_node *last = place->pred;

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
		check_pred(lock, place, wait);
}

/* May a newcomer enqueue? Not while it sees a free lock, which it may take after IDLE_NS. */
static bool may_queue(const struct place *place, const struct nbq_wait *wait)
{
	return !place->idle_since && (place->must_queue || HAS_POLLED(place, wait));
}

/* Poll what this attempt waits for. Return: true if it has taken the lock. */
static bool poll(union nbq_bare_spin *lock, struct place *place, struct nbq_wait *wait)
{
	if (!place->node && may_queue(place, wait) && enqueue(lock, place, wait)) {
		/* From now on it may wait behind a predecessor. */
		nbq_wait_pause(wait);
	}
	if (!place->node)
		return poll_as_newcomer(lock, place, wait);
	if (HAS_TICKED(place, wait))
		tick(lock, place, wait);
	skip_abandoned(lock, place, wait);
	return place->competes && poll_as_head(lock, place, wait);
}

/*
 * The word that a waiter polls, if it may wait by hardware: behind a predecessor, when nothing
 * is due by the clock. The heartbeat is published at the poll after the clock was read.
 */
static struct nbq_node *const *polled_word(const struct place *place,
					   const struct nbq_wait *wait)
{
	if (!place->pred || place->competes)
		return NULL;
	return place->ticked_at == wait->now ? &place->pred->prev : NULL;
}

/* The wait is over, with the lock or without: dequeue or abandon. */
static int end_wait(union nbq_bare_spin *lock, struct place *place, struct nbq_wait *wait,
		    bool taken)
{
	bool freed;

	if (!place->node) {
		WRITE_ONCE(wait->pool->late_for, wait->error == -ETIMEDOUT && !taken ? lock : NULL);
		return nbq_wait_end(wait, taken ? 0 : wait->error);
	}
	nbq_count_skipped(wait->pool, place->skipped);
	/* The next head may wait for another lock, or give up before it awaits the turn. */
	if (place->awaits && READ_ONCE(place->queue->awaits) == lock)
		WRITE_ONCE(place->queue->awaits, NULL);
	/* An acting head with the lock has used up its place. */
	WRITE_ONCE(place->node->lock, taken || wait->deadline->forgets_place ? NULL : lock);
	place->node->queue = place->queue;
	place->node->turn = place->turn;
	place->node->since = place->since;
	freed = place->pred ?
		nbq_spin_abandon(&place->queue->tail, place->node, place->pred) :
		nbq_spin_dequeue_head(&place->queue->tail, place->node, place->has_successor);
	if (taken)
		return nbq_wait_end(wait, 0);
	/* At the head, too. An acting head with the lock has not timed out. */
	wait->pool->events.nodes_abandoned += !freed;
	trace_nbq_abandon(lock, !freed, wait->error);
	return nbq_wait_end(wait, wait->error);
}

/*
 * Does a context hold the lock, or does the tail of the queue that has the turn wait? By loads
 * only. The node may be free or in another queue by now; then there was a holder in between.
 */
static bool is_busy(const union nbq_bare_spin *lock)
{
	union nbq_spin_state state = read_state(lock);
	const struct nbq_node *tail;

	if (state.holder)
		return true;
	tail = tail_of_turn(lock, state.turn);
	return tail && !nbq_spin_poll(tail);
}

/* @in_old_place: wait in the place of an earlier attempt. Return: -ENOENT: there is none. */
static noinline int wait_for(union nbq_bare_spin *lock, struct nbq_pool *pool, u16 context,
			     struct nbq_deadline deadline,
			     struct lockdep_map *waits, unsigned long ip, bool in_old_place)
{
	struct nbq_wait wait = {
		.deadline = &deadline,
		.pool = pool,
		.context = context,
		.lock = lock,
		.held_by = &lock->state.holder,
		.error = nbq_deadline_error(&deadline),
		NBQ_WAIT_STAT(waits, ip)
	};
	struct place place = {
		/*
		 * A newcomer without patience is to find out whether all nodes in the queue are
		 * abandoned; or the patience of the last attempt was over before it enqueued.
		 */
		.must_queue = nbq_deadline_is_none(&deadline) || pool->late_for == lock,
	};
	bool taken;

	if (in_old_place && !resume_place(lock, &place, &wait))
		return -ENOENT;
	wait.nested = nbq_attempt_enter(pool);
	if (nbq_wait_is_own(&wait)) {
		wait.error = -EDEADLK;
		return end_wait(lock, &place, &wait, false);
	}
	/* The lock first and the clock last: a late turn is still a turn. */
	while (!(taken = poll(lock, &place, &wait))) {
		/* Whatever its predecessor does, only the holder keeps a waiter from the lock. */
		if (!nbq_wait_continue(&wait, NULL, NULL))
			break;
		nbq_relax(&wait, polled_word(&place, &wait));
	}
	nbq_wait_pause(&wait);
	return end_wait(lock, &place, &wait, taken);
}

/* Take a free lock in which a request stands that newcomers need not heed. */
static bool try_steal(union nbq_bare_spin *lock, const struct nbq_pool *pool, u16 context)
{
	union nbq_spin_state state = read_state(lock);

	return !state.holder && may_steal(lock, state, pool, context) &&
	       take(lock, &state, context, 0);
}

/* Take a lock in which nothing stands. */
static __always_inline bool take_uncontended(union nbq_bare_spin *lock)
{
	union nbq_spin_state state = read_state(lock);

	return likely(!state.all) && take(lock, &state, nbq_this_context(nbq_this_pool()), 0);
}

/* An attempt with patience resumes its place, if there is one, before it polls the lock. */
static __always_inline bool may_resume(const union nbq_bare_spin *lock,
				       const struct nbq_deadline *deadline)
{
	return nbq_may_have_abandoned(nbq_this_pool(), lock) && !deadline->forgets_place &&
	       !nbq_deadline_is_none(deadline);
}

/* The lock is held, or a request stands in it, or there may be a place to resume. */
static noinline int acquire_slowpath(union nbq_bare_spin *lock, struct nbq_deadline deadline,
				     struct lockdep_map *waits, unsigned long ip)
{
	struct nbq_pool *pool = nbq_this_pool();
	u16 context = nbq_this_context(pool);
	int ret;

	if (may_resume(lock, &deadline)) {
		ret = wait_for(lock, pool, context, deadline, waits, ip, true);
		if (ret != -ENOENT)
			return ret;
		if (take_uncontended(lock))
			return 0;
	}
	if (try_steal(lock, pool, context))
		return 0;
	if (nbq_deadline_is_none(&deadline) && is_busy(lock)) {
		pool->events.failed_tries++;
		return -EBUSY;
	}
	/* Without patience, a place is resumed only now. */
	if (nbq_deadline_is_none(&deadline) && !deadline.forgets_place) {
		ret = wait_for(lock, pool, context, deadline, waits, ip, true);
		if (ret != -ENOENT)
			return ret;
	}
	return wait_for(lock, pool, context, deadline, waits, ip, false);
}

/*
 * The acquisition, without preemption and lockdep.
 * @waits, @ip: for lock_stat, see nbq_wait_announce()
 */
int nbq_bare_spin_acquire(union nbq_bare_spin *lock, struct nbq_deadline deadline,
			  struct lockdep_map *waits, unsigned long ip)
{
	if (likely(!may_resume(lock, &deadline) && take_uncontended(lock)))
		return 0;
	return acquire_slowpath(lock, deadline, waits, ip);
}

/*
 * The memory of a lock in the kernel's own seats may become that of another one without a call. A
 * place that was abandoned in the queue of the first one must not be resumed in that of the other.
 */
static int acquire_for_seat(union nbq_bare_spin *lock, struct nbq_deadline deadline)
{
	deadline.forgets_place = true;
	return nbq_bare_spin_acquire(lock, deadline, NULL, 0);
}

int nbq_bare_spin_lock_timeout(union nbq_bare_spin *lock, s64 patience_ns)
{
	return acquire_for_seat(lock, nbq_deadline_after(patience_ns));
}
EXPORT_SYMBOL_IF_KUNIT(nbq_bare_spin_lock_timeout);

bool nbq_bare_spin_trylock(union nbq_bare_spin *lock)
{
	return !acquire_for_seat(lock, nbq_deadline_none());
}
EXPORT_SYMBOL_IF_KUNIT(nbq_bare_spin_trylock);

void nbq_bare_spin_lock(union nbq_bare_spin *lock)
{
	while (unlikely(acquire_for_seat(lock, nbq_deadline_at(KTIME_MAX))))
		cpu_relax();
}
EXPORT_SYMBOL_IF_KUNIT(nbq_bare_spin_lock);

bool nbq_bare_spin_is_contended(const union nbq_bare_spin *lock)
{
	return READ_ONCE(lock->state.holder) && nbq_has_queue(lock);
}
EXPORT_SYMBOL_IF_KUNIT(nbq_bare_spin_is_contended);

/*
 * Free what attempts have abandoned in a queue, by enqueueing in it, as it may be
 * that of other locks, too. Behind a waiter of another lock, that one does it. Without a node,
 * the next context that enqueues there does it.
 *
 * Return: true if a waiter of this lock was found.
 */
static bool sweep(const union nbq_bare_spin *lock, struct nbq_queue *queue)
{
	struct nbq_pool *pool = nbq_this_pool();
	struct nbq_node *node, *pred, *prev;
	bool found, freed;

	/*
	 * ACQUIRE, pairs with the RELEASE in nbq_spin_abandon() and nbq_spin_dequeue_head(), by
	 * which the queue became empty: the accesses to the lock before that are over.
	 */
	if (!smp_load_acquire(&queue->tail) || !nbq_pool_is_ready(pool))
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
	/* No attempt resumes this place. */
	WRITE_ONCE(node->lock, NULL);
	found = pred && READ_ONCE(pred->wants) == lock;
	freed = pred ? nbq_spin_abandon(&queue->tail, node, pred) :
		      nbq_spin_dequeue_head(&queue->tail, node, false);
	/* Only the nodes of attempts are counted. */
	if (freed) {
		pool->events.nodes_allocated--;
		pool->events.nodes_freed--;
	}
	return found;
}

/* Sweep each queue that may have its waiters. Return: false if a waiter of this lock was found. */
static bool is_swept(union nbq_bare_spin *lock)
{
	struct nbq_socket *socket = NULL;
	unsigned int turn = NBQ_TURN_MACHINE;
	bool found = false;

	/* No socket has the turn any more. */
	WRITE_ONCE(lock->state.request, 0);
	preempt_disable();
	do {
		found |= sweep(lock, nbq_queue_of(socket, lock));
		socket = nbq_socket_of_turn(++turn);
	} while (socket);
	preempt_enable();
	return !found;
}

int nbq_bare_spin_destroy(union nbq_bare_spin *lock)
{
	/*
	 * ACQUIRE, pairs with the RELEASE in nbq_bare_spin_unlock(): the critical section of the
	 * last holder is over before the lock's memory is used again. It may never have
	 * enqueued, so that the queues say nothing of it.
	 */
	u16 holder = smp_load_acquire(&lock->state.holder);

	return holder || !is_swept(lock) ? -EBUSY : 0;
}
EXPORT_SYMBOL_IF_KUNIT(nbq_bare_spin_destroy);
