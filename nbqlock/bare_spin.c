// SPDX-License-Identifier: GPL-2.0
/*
 * The hybrid: a spinlock that one compare-and-swap takes and one store releases, with a queue
 * that a waiter can abandon at any time.
 *
 * The lock word (spin_word.h) names the holder. Contexts that find it held enqueue (spin_queue.c).
 * The nodes do not hand over the lock, but the head of the queue; the head competes for the lock.
 * So a context has a node only while it waits, and polls nothing but its predecessor's node. Only
 * the holder, newcomers and heads of queues access the lock's line. If sockets are wanted, each
 * has a queue, and they take turns (spin_turns.c):
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
 *	A newcomer, which steals it: so a waiter whose CPU is preempted keeps no other context
 *	from the lock. But a head that has waited for PATIENT_NS requests a handoff. Upon that
 *	newcomers enqueue, and the head takes the lock with a request for its successor.
 *	The acting head: a waiter whose predecessor is stalled. A predecessor counts as stalled
 *	if its heartbeat is older than STALLED_NS, if the hypervisor says so, or if this is an
 *	interrupt above it. The acting head competes as the head does, until the predecessor's
 *	state changes. With the lock it abandons its node. Its successor finds the same stalled
 *	predecessor, and acts next.
 *	A newcomer in spite of a request, if the lock is free for IDLE_NS: then the context that
 *	it was requested for is stalled. Or if the request has expired: it is a time that a
 *	running head renews, void after HANDOFF_UNITS. A waiter that gives up lets it expire,
 *	since it may be the request of another waiter, too.
 *	An attempt without patience in spite of a request, if no context waits: it looks past
 *	abandoned nodes.
 *	So the running waiters of a socket are served in order. Newcomers can steal from a
 *	running waiter during its POLLS_BEFORE_QUEUE polls, for the first PATIENT_NS after them,
 *	and until the head's next clock read (POLLS_AS_HEAD polls). Later they can only while
 *	its predecessors are stalled, as far as acting heads let them.
 * Mutual exclusion rests on the holder alone, whatever the policy.
 *
 * Locks whose addresses have the same hash share queues. A waiter enqueues in the next queue of the
 * table if the last waiter there waits for this lock, and that of the first queue does not; or if
 * that of the first queue waits for another lock, and the next queue has no waiter. A waiter whose
 * predecessor waits for another lock acts as head: no lock waits for another.
 *
 * Only abandoned nodes of a lock outlive an attempt. They name the lock by its address, which is
 * compared and never followed. So the memory may become anything when no context uses the lock. If
 * it becomes another lock, a place that is resumed there is a place in that lock's queue: the
 * address is the same.
 *
 * Prior art
 *	A word that one compare-and-swap takes, with a queue behind it, accessed in parts of
 *	several sizes: qspinlock. Stealing until a queued waiter forbids it: the paravirtual
 *	qspinlock (qspinlock_paravirt.h, "hybrid PV queued/unfair lock"). Handoff: rwsem
 *	(RWSEM_FLAG_HANDOFF). A bound on stealing: Fissile locks (Dice, Kogan, 2020). The
 *	heartbeat: the published time of MCS-TP and CLH-TP (He, Scherer, Scott, 2005). A table
 *	of queues by a hash of addresses: futexes, bit_waitqueue(). -EDEADLK from a spinlock:
 *	rqspinlock. What is added: a queue that a waiter can abandon at any position, in a
 *	bounded number of own steps, without any other CPU; a request that expires; and a
 *	waiter in the middle that acts as head when its predecessor is stalled.
 *
 * Assumption: preemption is off from the start of a wait to the unlock.
 */
#include <linux/atomic.h>
#include <linux/errno.h>

#include "bare_spin.h"
#include "internal.h"
#include "relax.h"
#include "spin_policy.h"
#include "spin_queue.h"
#include "spin_turns.h"
#include "spin_word.h"

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

/* Has this queue a node? With @past_abandoned: that of a waiter? */
static bool has_waiter(const struct nbq_queue *queue, bool past_abandoned)
{
	return past_abandoned ? !!nbq_last_waiter(queue) : READ_ONCE(queue->tail);
}

static bool is_waited_for(const union nbq_bare_spin *lock, u8 turn, bool past_abandoned)
{
	const struct nbq_socket *socket = nbq_socket_of_turn(turn);

	return has_waiter(nbq_queue_of(socket, lock), past_abandoned) ||
	       has_waiter(nbq_other_queue_of(socket, lock), past_abandoned);
}

/* May a newcomer take a free lock of that state? */
static bool may_steal(const union nbq_bare_spin *lock, union nbq_spin_state state,
		      const struct nbq_pool *pool, u16 context, bool past_abandoned)
{
	return likely(!state.handoff) || !is_waited_for(lock, state.turn, past_abandoned) ||
	       nbq_handoff_has_expired(state.handoff) || interrupts_waiter(lock, pool, context);
}

static bool try_steal(union nbq_bare_spin *lock, const struct nbq_pool *pool, u16 context,
		      bool past_abandoned)
{
	union nbq_spin_state state = nbq_spin_read(lock);

	return !state.holder && may_steal(lock, state, pool, context, past_abandoned) &&
	       nbq_spin_take(lock, &state, context, 0);
}

/*
 * What a newcomer does next, besides polling the lock:
 *
 *	            a request stands, or another was faster
 *	LOOKS_ON -----------------------------------------> ENQUEUES
 *	    |                                                   |
 *	    +-- POLLS_BEFORE_QUEUE polls --> no node <-- now ---+
 *	                                        |
 *	                                        v
 *	                                     STARVES	tries again after as many polls
 *
 * There is a node: it is in the queue, and no newcomer any more. While it sees the lock free it
 * stays one, since it may take the lock after IDLE_NS.
 */
enum newcomer {
	LOOKS_ON,
	ENQUEUES,
	STARVES,
};

/* Return: it is in the queue; else it starves. */
static bool try_enqueue(struct nbq_place *place, struct nbq_wait *wait, enum newcomer *newcomer)
{
	if (nbq_place_take(place, wait))
		return true;
	if (*newcomer != STARVES) {
		if (nbq_node_take_back_encodable(wait->pool) && nbq_place_take(place, wait))
			return true;
		wait->pool->events.exhaustions++;
		*newcomer = STARVES;
	}
	nbq_wait_tick_within(wait, 0);
	return false;
}

/*
 * Wait as a newcomer, which polls the lock.
 *
 * Return: 0: it has the lock; 1: it is in the queue; or an error.
 */
static int wait_as_newcomer(union nbq_bare_spin *lock, struct nbq_place *place,
			    struct nbq_wait *wait, enum newcomer newcomer)
{
	unsigned int since = 0;		/* this number of polls */
	struct nbq_idle idle = {};	/* it has seen the lock free */
	union nbq_spin_state state;

	do {
		bool hurries = false;

		if (!idle.polls && (newcomer == ENQUEUES || HAS_POLLED(wait->polls - since))) {
			if (try_enqueue(place, wait, &newcomer))
				return 1;
			since = wait->polls;
		}
		state = nbq_spin_read(lock);
		if (state.holder) {
			idle.polls = 0;
			hurries = state.handoff;
		} else if (may_steal(lock, state, wait->pool, wait->context, false) ||
			   nbq_is_idle_too_long(&idle)) {
			if (nbq_spin_take(lock, &state, wait->context, 0))
				return 0;
			hurries = true;
		}
		if (hurries && newcomer == LOOKS_ON)
			newcomer = ENQUEUES;
		if (!nbq_wait_continue_behind_holder(wait))
			return wait->error;
		nbq_relax(wait, NULL);
	} while (true);
}

/*
 * The word that a waiter polls, if it may wait by hardware: when nothing is due by the clock. Its
 * heartbeat is then as young as the clock read: the place has ticked since.
 */
static struct nbq_node *const *polled_word(const struct nbq_place *place,
					   const struct nbq_wait *wait)
{
	return place->ticked_at == wait->now ? &place->pred->prev : NULL;
}

/* Wait behind a predecessor, whose node it polls. Return: 0: it competes; or an error. */
static int wait_behind_pred(struct nbq_place *place, struct nbq_wait *wait)
{
	while (!nbq_place_competes(place, wait)) {
		/* Whatever its predecessor does, only the holder keeps a waiter from the lock. */
		if (!nbq_wait_continue_behind_holder(wait))
			return wait->error;
		nbq_relax(wait, polled_word(place, wait));
	}
	return 0;
}

/* Poll the lock as the head or the acting head. Return: true if it was taken. */
static bool poll_as_head(struct nbq_head *head)
{
	union nbq_bare_spin *lock = head->lock;
	union nbq_spin_state state;

	if (nbq_head_awaits_turn(head))
		return false;
	/* The lock first: the tail is of use only once the lock is free. */
	state = nbq_spin_read(lock);
	nbq_place_check_successor(head->place);
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
	struct nbq_head head = { .lock = lock, .place = place, .wait = wait };
	int ret = 1;

	do {
		if (poll_as_head(&head)) {
			ret = 0;
			break;
		}
		if (!nbq_wait_continue_behind_holder(wait)) {
			ret = wait->error;
			break;
		}
		nbq_relax(wait, NULL);
	} while (nbq_place_competes(place, wait));
	nbq_head_leaves(&head);
	return ret;
}

/*
 * The lock is held, or a request stands in it, or there may be a place to resume, which is before
 * the lock is polled: else attempts with little patience would take its line from one another.
 */
static noinline int acquire_slowpath(union nbq_bare_spin *lock, struct nbq_deadline deadline,
				     unsigned long ip, struct nbq_condition *unless)
{
	struct nbq_pool *pool = nbq_this_pool();
	struct nbq_wait wait = {
		.deadline = &deadline,
		.unless = unless,
		.pool = pool,
		.context = nbq_this_context(pool),
		.lock = lock,
		.held_by = &lock->state.holder,
		.error = -ETIMEDOUT,
		.ip = ip,
	};
	struct nbq_place place = {};
	bool has_given_up = pool->gave_up_at == lock;
	int ret = 1;

	nbq_place_resume(&place, &wait);
	/*
	 * An attempt after one whose patience was over enqueues without a poll of the lock, if its
	 * place is gone: else all would take the lock's line from one another.
	 */
	if (!place.node && !has_given_up && try_steal(lock, pool, wait.context, false))
		return 0;
	wait.nested = nbq_nesting_enter(pool);
	if (nbq_wait_is_own(&wait))
		ret = -EDEADLK;
	else if (!place.node)
		ret = wait_as_newcomer(lock, &place, &wait, has_given_up ? ENQUEUES : LOOKS_ON);
	while (ret > 0) {
		nbq_wait_pause(&wait);
		ret = wait_behind_pred(&place, &wait) ?: compete(lock, &place, &wait);
	}
	nbq_wait_pause(&wait);
	if (unless)
		unless->judged = wait.judged;
	WRITE_ONCE(pool->gave_up_at, ret == -ETIMEDOUT ? lock : NULL);
	if (place.node)
		nbq_place_leave(&place, &wait, ret);
	return nbq_wait_end(&wait, ret);
}

/* Take a lock in which nothing stands. */
static __always_inline bool take_uncontended(union nbq_bare_spin *lock)
{
	union nbq_spin_state state = nbq_spin_read(lock);

	return likely(!state.all) &&
	       nbq_spin_take(lock, &state, nbq_this_context(nbq_this_pool()), 0);
}

/*
 * The acquisition, without preemption and lockdep.
 * @ip: the caller of the operation; 0: not known
 * @unless: a condition that ends the wait, or by which the caller learns of the holder that was
 *	judged; NULL: none
 */
int nbq_bare_spin_acquire(union nbq_bare_spin *lock, struct nbq_deadline deadline,
			  unsigned long ip, struct nbq_condition *unless)
{
	if (nbq_deadline_is_none(&deadline))
		return nbq_bare_spin_trylock(lock) ? 0 : -EBUSY;
	if (likely(!nbq_may_have_abandoned(nbq_this_pool(), lock) && take_uncontended(lock)))
		return 0;
	return acquire_slowpath(lock, deadline, ip, unless);
}

/* An attempt that cannot fail has found a deadlock, or a holder that has stopped for good. */
void nbq_bare_spin_acquire_deadlocked(union nbq_bare_spin *lock, struct nbq_deadline deadline,
				      unsigned long ip)
{
	const u16 *held_by = &lock->state.holder;
	struct nbq_retries retries = nbq_retries_begin(&deadline, lock, held_by, ip);

	do {
		cpu_relax();
	} while (acquire_slowpath(lock, retries.never, ip, NULL));
	nbq_retries_end(&retries, lock, held_by, ip);
}

int nbq_bare_spin_lock_timeout(union nbq_bare_spin *lock, s64 patience_ns)
{
	return nbq_bare_spin_acquire(lock, nbq_deadline_after(patience_ns), 0, NULL);
}
EXPORT_SYMBOL_IF_KUNIT(nbq_bare_spin_lock_timeout);

int nbq_bare_spin_lock_unless(union nbq_bare_spin *lock, s64 patience_ns, nbq_stop_t stop,
			      void *arg)
{
	struct nbq_condition unless = { .stop = stop, .arg = arg };

	return nbq_bare_spin_acquire(lock, nbq_deadline_after(patience_ns), 0, &unless);
}
EXPORT_SYMBOL_IF_KUNIT(nbq_bare_spin_lock_unless);

/* Not inline: an attempt at a held lock needs no frame. */
static noinline bool try_free(union nbq_bare_spin *lock)
{
	struct nbq_pool *pool = nbq_this_pool();

	return try_steal(lock, pool, nbq_this_context(pool), true);
}

bool nbq_bare_spin_trylock(union nbq_bare_spin *lock)
{
	if (!nbq_spin_read(lock).holder && try_free(lock))
		return true;
	nbq_this_pool()->events.failed_tries++;
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(nbq_bare_spin_trylock);

void nbq_bare_spin_lock(union nbq_bare_spin *lock)
{
	struct nbq_deadline never = nbq_deadline_at(KTIME_MAX);

	if (unlikely(nbq_bare_spin_acquire(lock, never, 0, NULL)))
		nbq_bare_spin_acquire_deadlocked(lock, never, 0);
}
EXPORT_SYMBOL_IF_KUNIT(nbq_bare_spin_lock);

bool nbq_bare_spin_takeover(union nbq_bare_spin *lock, unsigned int cpu, unsigned int level)
{
	u16 holder = nbq_encode_context(cpu, level), context = nbq_this_context(nbq_this_pool());
	union nbq_spin_state state = nbq_spin_read(lock);

	/*
	 * The swap fails once for each request that a head stores meanwhile; the last one stays.
	 * Its ACQUIRE pairs with nothing: the holder has made no RELEASE.
	 */
	while (state.holder == holder) {
		if (nbq_spin_take(lock, &state, context, state.request))
			return true;
	}
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(nbq_bare_spin_takeover);

bool nbq_bare_spin_is_contended(const union nbq_bare_spin *lock)
{
	return READ_ONCE(lock->state.holder) && nbq_has_waiter(lock);
}
EXPORT_SYMBOL_IF_KUNIT(nbq_bare_spin_is_contended);
