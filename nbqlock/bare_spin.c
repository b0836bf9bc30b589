// SPDX-License-Identifier: GPL-2.0
/*
 * The hybrid: a spinlock that one compare-and-swap takes and one store releases, with a queue
 * for waiters, who can abandon it at any time.
 *
 * The lock word names the holder. Contexts that find it held enqueue in a CLH-NB queue
 * (spin_queue.c), but what is handed over from node to node is not the lock: it is the head of
 * the queue, which competes for the lock. So a context that takes the lock is done with its node
 * before its critical section, and has a node only while it waits.
 *
 * A waiter polls its predecessor's node and nothing else. The lock's line is for the holder,
 * for newcomers, and for the head of a queue. Each socket has a queue (socket.h), so that a
 * hand-over mostly stays on a socket; their turns are in spin_turns.c:
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
 * Mutual exclusion rests on the holder alone, whatever the policy.
 *
 * Several locks may share a queue: their addresses have the same hash. A waiter whose predecessor
 * waits for another lock is the first of its own lock, and acts as head. So no lock waits for
 * another; where locks always share a queue, more waiters poll each of them.
 *
 * What of a lock outlives an attempt is an abandoned node in such a table: it names the lock by
 * its address, which is compared and never followed. So the lock's memory may become anything, at
 * any time when no context uses the lock. If it becomes another lock, the next attempt of that CPU
 * resumes the place there: it is a place in the queue of that address.
 *
 * Prior art
 *	A word that one compare-and-swap takes, with a queue behind it, accessed in parts of
 *	several sizes: qspinlock. Stealing until a queued waiter forbids it: the paravirtual
 *	qspinlock (qspinlock_paravirt.h, "hybrid PV queued/unfair lock"). Handoff: rwsem
 *	(RWSEM_FLAG_HANDOFF). A bound on stealing: Fissile locks (Dice, Kogan, 2020). The
 *	heartbeat: the published time of MCS-TP and CLH-TP (He, Scherer, Scott, 2005). A table
 *	of queues by a hash of addresses: futexes, bit_waitqueue(). -EDEADLK from a spinlock:
 *	rqspinlock. What is added: all of this with a queue that a waiter can abandon at any
 *	position in a bounded number of its own steps, a request that expires, and a waiter in
 *	the middle that acts as head when its predecessor is stalled.
 *
 * Assumption: preemption is off from the start of a wait to the unlock.
 *
 * The lock names the holder for -EDEADLK: a deadlock check must know which CPU a waiter waits
 * for (wait.c). An attempt without a node polls as a newcomer.
 *
 * An attempt whose CPU has abandoned a node in the queue, which no successor has skipped,
 * resumes that place, as in CLH-NB, before it polls the lock: else attempts with little patience
 * would take its line from one another. It has waited since the first of these attempts
 * enqueued, and checks at once whether its predecessor is stalled. After an attempt whose
 * patience was over before it enqueued, the next of that CPU enqueues at once.
 *
 * Own steps on shared memory to release: 1.
 */
#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/processor.h>

#include "bare_spin.h"
#include "contention.h"
#include "internal.h"
#include "relax.h"
#include "spin_policy.h"
#include "spin_queue.h"
#include "spin_turns.h"
#include "spin_word.h"
#include "trace.h"

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
	return nbq_decode_tail(READ_ONCE(nbq_queue_of(nbq_socket_of_turn(turn), lock)->tail));
}

/* May a newcomer take a free lock in which this request stands? */
static bool may_steal(const union nbq_bare_spin *lock, union nbq_spin_state state,
		      const struct nbq_pool *pool, u16 context)
{
	return likely(!state.handoff) || !tail_of_turn(lock, state.turn) ||
	       nbq_handoff_has_expired(state.handoff) || interrupts_waiter(lock, pool, context);
}

/*
 * Does a context hold the lock, or does the tail of the queue that has the turn wait? By loads
 * only. The node may be free or in another queue by now; then there was a holder in between.
 */
static bool is_busy(const union nbq_bare_spin *lock)
{
	union nbq_spin_state state = nbq_spin_read(lock);
	const struct nbq_node *tail;

	if (state.holder)
		return true;
	tail = tail_of_turn(lock, state.turn);
	return tail && !nbq_spin_poll(tail);
}

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
static void check_successor(struct nbq_place *place)
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

/* The attempt waits in the queue from now on. */
static void start_clock(struct nbq_place *place, struct nbq_wait *wait)
{
	/* The search for a node may take longer than the polls up to the next clock read. */
	wait->deadline->polls = 0;
	wait->now = nbq_clock_ns();
	place->since = wait->now;
	place->checked_at = wait->now;
	place->ticked_at = wait->now;
	publish_heartbeat(wait);
}

/* The clock has been read: publish the heartbeat, and check the predecessor's. */
static void tick(struct nbq_place *place, const struct nbq_wait *wait)
{
	place->ticked_at = wait->now;
	publish_heartbeat(wait);
	if (!place->competes && nbq_has_passed(place->checked_at, wait->now, CHECK_PRED_NS))
		check_pred(place, wait);
	/* Before it is the head, if there is time: then it is to poll the lock's line. */
	check_successor(place);
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

/* Enqueue. Return: false if there is no node. */
static bool enqueue(const union nbq_bare_spin *lock, struct nbq_place *place, struct nbq_wait *wait)
{
	struct nbq_pool *pool = wait->pool;
	struct nbq_node *node = NULL;

	if (likely(nbq_pool_is_ready(pool)))
		node = nbq_node_alloc_encodable(pool);
	if (unlikely(!node))
		return false;
	WRITE_ONCE(pool->late_for, NULL);
	WRITE_ONCE(node->nested, wait->nested);
	place->node = node;
	start_clock(place, wait);
	nbq_choose_queue(lock, place, wait);
	place->pred = nbq_spin_enqueue(lock, &place->queue->tail, node);
	place->was_behind = place->pred;
	place->competes = !place->pred || is_first_of_lock(place, wait);
	return true;
}

/* Resume the place of an earlier attempt, without an access to the lock. */
static void resume_place(const union nbq_bare_spin *lock, struct nbq_place *place,
			 struct nbq_wait *wait)
{
	place->node = nbq_resume(wait->pool, lock, nbq_node_resume, &place->pred);
	if (!place->node)
		return;
	place->queue = place->node->queue;
	place->turn = place->node->turn;
	start_clock(place, wait);
	place->since = place->node->since;
	check_pred(place, wait);
}

/*
 * Wait as a newcomer, which polls the lock.
 * @must_queue: it is to enqueue at once
 *
 * Return: 0: it has the lock; 1: it is in the queue; or an error.
 */
static int wait_as_newcomer(union nbq_bare_spin *lock, struct nbq_place *place,
			    struct nbq_wait *wait, bool must_queue)
{
	unsigned int since = 0;		/* this number of polls */
	bool starved = false;		/* it has found no node, which was counted */
	u64 idle_since = 0;		/* it has seen the lock free; 0: it was held */
	u16 last_holder = 0;
	union nbq_spin_state state;

	do {
		/* Not while it sees a free lock, which it may take after IDLE_NS. */
		if (!idle_since && (must_queue || HAS_POLLED(wait->polls - since))) {
			if (enqueue(lock, place, wait))
				return 1;
			wait->pool->events.exhaustions += !starved;
			starved = true;
			since = wait->polls;
			wait->deadline->polls = 0;
		}
		state = nbq_spin_read(lock);
		if (!state.holder && (may_steal(lock, state, wait->pool, wait->context) ||
				      nbq_is_idle_too_long(&idle_since))) {
			if (nbq_spin_take(lock, &state, wait->context, 0))
				return 0;
			/* Another context was faster. */
			must_queue = true;
		} else if (state.holder) {
			/* A request stands, or another context was faster once more. */
			must_queue |= state.handoff || (last_holder && last_holder != state.holder);
			last_holder = state.holder;
			idle_since = 0;
		}
		must_queue &= !starved;
		if (!nbq_wait_continue(wait, NULL, NULL))
			return wait->error;
		nbq_relax(wait, NULL);
	} while (true);
}

/*
 * The word that a waiter polls, if it may wait by hardware: when nothing is due by the clock. The
 * heartbeat is published at the poll after the clock was read.
 */
static struct nbq_node *const *polled_word(const struct nbq_place *place,
					   const struct nbq_wait *wait)
{
	return place->ticked_at == wait->now ? &place->pred->prev : NULL;
}

/* Wait behind a predecessor, whose node it polls. Return: 0: it competes; or an error. */
static int wait_behind_pred(struct nbq_place *place, struct nbq_wait *wait)
{
	do {
		if (HAS_TICKED(place->ticked_at, wait->now))
			tick(place, wait);
		skip_abandoned(place, wait);
		if (place->competes)
			return 0;
		/* Whatever its predecessor does, only the holder keeps a waiter from the lock. */
		if (!nbq_wait_continue(wait, NULL, NULL))
			return wait->error;
		nbq_relax(wait, polled_word(place, wait));
	} while (true);
}

/* Poll the lock as the head or the acting head. Return: true if it was taken. */
static bool poll_as_head(struct nbq_head *head)
{
	union nbq_bare_spin *lock = head->lock;
	union nbq_spin_state state;

	if (nbq_head_awaits_turn(head))
		return false;
	/* The lock before the tail. Simulated, 24 CPUs on 8 sockets: 0.92 the other way round. */
	state = nbq_spin_read(lock);
	check_successor(head->place);
	if (!state.holder && nbq_head_may_take(head, state) &&
	    nbq_spin_take(lock, &state, head->wait->context, nbq_head_hands_on(head, state))) {
		nbq_head_has_taken(head);
		return true;
	}
	/* Also if another context was faster. */
	if (state.holder)
		nbq_head_waits(head, state);
	nbq_wait_tick_within(head->wait, POLLS_AS_HEAD);
	return false;
}

/*
 * Compete for the lock as the head or the acting head.
 *
 * Return: 0: it has the lock; 1: its predecessor does not count as stalled any more; or an error.
 */
static int compete(union nbq_bare_spin *lock, struct nbq_place *place, struct nbq_wait *wait)
{
	struct nbq_head head = { .lock = lock, .place = place, .wait = wait, .renews = true };
	int ret = 1;

	do {
		if (poll_as_head(&head)) {
			ret = 0;
			break;
		}
		if (!nbq_wait_continue(wait, NULL, NULL)) {
			ret = wait->error;
			break;
		}
		nbq_relax(wait, NULL);
		if (HAS_TICKED(place->ticked_at, wait->now)) {
			tick(place, wait);
			head.renews = true;
		}
		skip_abandoned(place, wait);
	} while (place->competes);
	nbq_head_leaves(&head);
	return ret;
}

/* The wait is over, with the lock or without: dequeue or abandon. */
static int end_wait(union nbq_bare_spin *lock, struct nbq_place *place, struct nbq_wait *wait,
		    int ret)
{
	bool freed;

	if (!place->node) {
		WRITE_ONCE(wait->pool->late_for, ret == -ETIMEDOUT ? lock : NULL);
		return nbq_wait_end(wait, ret);
	}
	nbq_count_skipped(wait->pool, place->skipped);
	/* An acting head with the lock has used up its place. */
	WRITE_ONCE(place->node->lock, ret ? lock : NULL);
	place->node->queue = place->queue;
	place->node->turn = place->turn;
	place->node->since = place->since;
	freed = place->pred ?
		nbq_spin_abandon(&place->queue->tail, place->node, place->pred) :
		nbq_spin_dequeue_head(&place->queue->tail, place->node, place->has_successor);
	if (ret) {
		/* At the head, too. An acting head with the lock has not timed out. */
		wait->pool->events.nodes_abandoned += !freed;
		trace_nbq_abandon(lock, !freed, ret);
	}
	return nbq_wait_end(wait, ret);
}

/* Take a free lock in which a request stands that newcomers need not heed. */
static bool try_steal(union nbq_bare_spin *lock, const struct nbq_pool *pool, u16 context)
{
	union nbq_spin_state state = nbq_spin_read(lock);

	return !state.holder && may_steal(lock, state, pool, context) &&
	       nbq_spin_take(lock, &state, context, 0);
}

/* The lock is held, or a request stands in it, or there may be a place to resume. */
static noinline int acquire_slowpath(union nbq_bare_spin *lock, struct nbq_deadline deadline,
				     struct lockdep_map *waits, unsigned long ip)
{
	struct nbq_pool *pool = nbq_this_pool();
	struct nbq_wait wait = {
		.deadline = &deadline,
		.pool = pool,
		.context = nbq_this_context(pool),
		.lock = lock,
		.held_by = &lock->state.holder,
		.error = nbq_deadline_error(&deadline),
		NBQ_WAIT_STAT(waits, ip)
	};
	bool has_patience = !nbq_deadline_is_none(&deadline);
	struct nbq_place place = {};
	int ret = 1;

	if (has_patience)
		resume_place(lock, &place, &wait);
	if (!place.node && try_steal(lock, pool, wait.context))
		return 0;
	if (!has_patience) {
		if (is_busy(lock)) {
			pool->events.failed_tries++;
			return -EBUSY;
		}
		/* Only now. All nodes in the queue may be abandoned, which it is to find out. */
		resume_place(lock, &place, &wait);
	}
	wait.nested = nbq_attempt_enter(pool);
	if (nbq_wait_is_own(&wait))
		ret = -EDEADLK;
	else if (!place.node)
		ret = wait_as_newcomer(lock, &place, &wait,
				       !has_patience || pool->late_for == lock);
	while (ret > 0) {
		nbq_wait_pause(&wait);
		ret = wait_behind_pred(&place, &wait) ?: compete(lock, &place, &wait);
	}
	nbq_wait_pause(&wait);
	return end_wait(lock, &place, &wait, ret);
}

/* Take a lock in which nothing stands. */
static __always_inline bool take_uncontended(union nbq_bare_spin *lock)
{
	union nbq_spin_state state = nbq_spin_read(lock);

	return likely(!state.all) &&
	       nbq_spin_take(lock, &state, nbq_this_context(nbq_this_pool()), 0);
}

/*
 * The acquisition, without preemption and lockdep. An attempt with patience resumes its place, if
 * there is one, before it polls the lock.
 * @waits, @ip: for lock_stat, see nbq_wait_announce()
 */
int nbq_bare_spin_acquire(union nbq_bare_spin *lock, struct nbq_deadline deadline,
			  struct lockdep_map *waits, unsigned long ip)
{
	bool may_resume = nbq_may_have_abandoned(nbq_this_pool(), lock) &&
			  !nbq_deadline_is_none(&deadline);

	if (likely(!may_resume && take_uncontended(lock)))
		return 0;
	return acquire_slowpath(lock, deadline, waits, ip);
}

int nbq_bare_spin_lock_timeout(union nbq_bare_spin *lock, s64 patience_ns)
{
	return nbq_bare_spin_acquire(lock, nbq_deadline_after(patience_ns), NULL, 0);
}
EXPORT_SYMBOL_IF_KUNIT(nbq_bare_spin_lock_timeout);

bool nbq_bare_spin_trylock(union nbq_bare_spin *lock)
{
	return !nbq_bare_spin_acquire(lock, nbq_deadline_none(), NULL, 0);
}
EXPORT_SYMBOL_IF_KUNIT(nbq_bare_spin_trylock);

void nbq_bare_spin_lock(union nbq_bare_spin *lock)
{
	while (unlikely(nbq_bare_spin_acquire(lock, nbq_deadline_at(KTIME_MAX), NULL, 0)))
		cpu_relax();
}
EXPORT_SYMBOL_IF_KUNIT(nbq_bare_spin_lock);

bool nbq_bare_spin_is_contended(const union nbq_bare_spin *lock)
{
	return READ_ONCE(lock->state.holder) && nbq_has_queue(lock);
}
EXPORT_SYMBOL_IF_KUNIT(nbq_bare_spin_is_contended);
