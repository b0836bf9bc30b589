// SPDX-License-Identifier: GPL-2.0
/*
 * The turns of sockets.
 *
 * While a request for a socket stands, that socket has the turn: heads of others may not take the
 * lock. A turn begins with a request. Each head that takes the lock hands the turn on to its
 * successor, with the time at which the turn began. The first head that finds it about to expire,
 * or the queue empty behind it, gives the turn to the next socket whose head awaits it. If a
 * request has expired, or the lock is free for IDLE_NS, all may take the lock: a preempted socket
 * keeps no other from it.
 *
 * A waiter is overtaken in three ways. Waiters of other sockets take the lock in their turns. Where
 * sockets have one waiter at a time, newcomers steal it until a head that awaits the turn finds the
 * request expired. And attempts with little patience need no turn. Each of these may happen again:
 * on several sockets there is no bound on overtaking.
 *
 * Prior art: lock cohorting (Dice, Marathe, Shavit, PPoPP 2012), HMCS (Chabbi, Fagan,
 * Mellor-Crummey, PPoPP 2015), CNA (Dice, Kogan, 2019).
 */
#include <linux/compiler.h>

#include "internal.h"
#include "socket.h"
#include "spin_policy.h"
#include "spin_turns.h"
#include "spin_word.h"

/* Is a waiter for this lock the last one of the queue, as far as it is looked? */
static bool ends_with_waiter(const struct nbq_queue *queue, const void *lock)
{
	const struct nbq_node *last = nbq_last_waiter(queue);

	return last && READ_ONCE(last->wants) == lock && !nbq_spin_poll(last);
}

/**
 * nbq_has_waiter() - Does a waiter for this lock stand at the end of any of its queues?
 * @lock: the lock
 *
 * Nodes that all waiters have left do not count, nor waiters of another lock that shares a queue:
 * there may be such for ever. A waiter with more abandoned nodes behind it than are passed does
 * not count either, nor one behind which one of another lock stands. A constant number of loads
 * for each socket.
 *
 * Context: Any.
 * Return: true if one does.
 */
bool nbq_has_waiter(const void *lock)
{
	struct nbq_socket *socket = NULL;
	unsigned int turn = NBQ_TURN_MACHINE;

	do {
		if (ends_with_waiter(nbq_queue_of(socket, lock), lock) ||
		    ends_with_waiter(nbq_other_queue_of(socket, lock), lock))
			return true;
		socket = nbq_socket_of_turn(++turn);
	} while (socket);
	return false;
}

/* Can heads of other queues compete for the lock? */
static bool has_rivals(const struct nbq_head *head)
{
	return nbq_has_other_sockets(READ_ONCE(head->wait->pool->socket));
}

static bool has_own_turn(const struct nbq_head *head, union nbq_spin_state state)
{
	return state.handoff && state.turn == head->place->turn;
}

static bool is_patient(const struct nbq_head *head)
{
	return nbq_has_passed(head->place->since, head->wait->now, PATIENT_NS);
}

static bool passes_turn(const struct nbq_head *head)
{
	return head->next && head->next != head->place->turn;
}

/* The queue of that socket whose head awaits the turn; NULL: none. */
static struct nbq_queue *awaiting_queue(const struct nbq_head *head,
					const struct nbq_socket *socket)
{
	struct nbq_queue *queue = nbq_queue_of(socket, head->lock);

	if (READ_ONCE(queue->awaits) == head->lock)
		return queue;
	queue = nbq_other_queue_of(socket, head->lock);
	return READ_ONCE(queue->awaits) == head->lock ? queue : NULL;
}

/*
 * Does a head await the turn of that socket? A head that is preempted does not publish a new
 * request when the last one has expired. It would not take the turn up, again and again: each time
 * the lock would be idle.
 */
static bool is_awaited(const struct nbq_head *head, const struct nbq_socket *socket)
{
	const struct nbq_queue *queue = awaiting_queue(head, socket);

	return queue && nbq_handoff_age(READ_ONCE(queue->handoff),
					head->wait->now) <= HANDOFF_UNITS;
}

/*
 * The turn after another one: of the next socket, in the order of their numbers, whose head awaits
 * it. If there is none, that of the running context, a head.
 */
static u8 next_turn(const struct nbq_head *head, u8 turn)
{
	unsigned int i = READ_ONCE(nbq_sockets_number);

	while (i--) {
		struct nbq_socket *socket = nbq_socket_of_turn(turn + 1);

		turn = socket ? turn + 1 : NBQ_TURN_SOCKET;
		socket = socket ?: nbq_socket_of_turn(turn);
		if (turn == head->place->turn || is_awaited(head, socket))
			return turn;
	}
	return head->place->turn;
}

/*
 * When a queue drains that had more than one waiter, choose the next turn: while the lock is held,
 * if there is time. Else newcomers would steal the lock until a head that awaits the turn polls it
 * again. (With one waiter a socket there would be no turns at all, and each hand-over would be one
 * between sockets.)
 */
static void choose_next_turn(struct nbq_head *head, union nbq_spin_state state)
{
	const struct nbq_place *place = head->place;

	if (!head->next && has_rivals(head) && has_own_turn(head, state) &&
	    place->was_behind && !place->has_successor)
		head->next = next_turn(head, place->turn);
}

/* The head of that socket may compete now. */
static void notify_socket(const struct nbq_head *head, u8 turn)
{
	struct nbq_queue *queue = awaiting_queue(head, nbq_socket_of_turn(turn));

	if (queue)
		WRITE_ONCE(queue->notified, head->lock);
}

/* The turn that a head requests: its own, or that of the next socket after the holder's. */
static u8 turn_to_request(const struct nbq_head *head, union nbq_spin_state state)
{
	const struct nbq_socket *socket;

	if (!has_rivals(head))
		return head->place->turn;
	socket = READ_ONCE(nbq_pool_of(state.holder)->socket);
	return socket ? next_turn(head, socket->turn) : head->place->turn;
}

/*
 * Request a handoff, unless a request stands. When that of its own socket is about to expire, the
 * turn is over: the request is for the next socket that awaits one, or for its own again. Only
 * while the lock is held: in a free one, a new request would keep another acting head from taking
 * it. By a store: a holder that acquires again and again would make a compare-and-swap fail for
 * ever.
 */
static void request_handoff(struct nbq_head *head, union nbq_spin_state state)
{
	u64 now = head->wait->now;
	u8 turn;

	if (state.handoff &&
	    nbq_handoff_age(state.handoff, now) + has_own_turn(head, state) < HANDOFF_UNITS)
		return;
	if (!is_patient(head))
		return;
	turn = turn_to_request(head, state);
	if (state.request == nbq_request_at(now, turn))
		return;
	WRITE_ONCE(head->lock->state.request, nbq_request_at(now, turn));
	if (turn != head->place->turn)
		notify_socket(head, turn);
}

/**
 * nbq_head_awaits_turn() - Is it the turn of another socket?
 * @head: the head
 *
 * A head whose socket does not have the turn leaves the lock's line alone until the request of
 * the other socket has expired, or its own socket is notified. So does an acting head.
 *
 * Return: true if it is not to poll the lock.
 */
bool nbq_head_awaits_turn(struct nbq_head *head)
{
	struct nbq_queue *queue = head->place->queue;

	if (!head->place->turn || READ_ONCE(queue->awaits) != head->lock)
		return false;
	head->awaits = true;
	nbq_wait_tick_within(head->wait, POLLS_AS_HEAD);
	if (READ_ONCE(queue->notified) == head->lock) {
		WRITE_ONCE(queue->notified, NULL);
		WRITE_ONCE(queue->awaits, NULL);
		return false;
	}
	return nbq_handoff_age(READ_ONCE(queue->handoff), head->wait->now) < HANDOFF_UNITS;
}

/*
 * May waiters of this lock have come before the head that are not in front of it? Those in front of
 * a waiter of another lock, or those in the other queue, unless a waiter of this lock has handed
 * the head over. A head that has waited for long would be one of those that the request is for.
 */
static bool may_be_before(const struct nbq_head *head)
{
	const struct nbq_place *place = head->place;
	const struct nbq_queue *other = nbq_queue_of(NULL, head->lock);

	if (is_patient(head) || has_rivals(head))
		return false;
	if (place->pred)
		return READ_ONCE(place->pred->wants) != head->lock;
	if (place->queue == other)
		other = nbq_other_queue_of(NULL, head->lock);
	return !place->handed && READ_ONCE(other->tail);
}

/* May this head take a free lock of that state? In the machine's queue it needs no turn. */
bool nbq_head_may_take(struct nbq_head *head, union nbq_spin_state state)
{
	const struct nbq_place *place = head->place;

	return !state.handoff ||
	       (place->turn ? state.turn == place->turn : !may_be_before(head)) ||
	       nbq_handoff_has_expired(state.handoff) || nbq_is_idle_too_long(&head->idle);
}

/*
 * Does a head that has not waited for long hand on a request? Seven times in eight: the time at
 * which it enqueued is the random number. To hand each request on costs
 * acquisitions, to hand none on costs fairness.
 */
static inline bool hands_on_request(const struct nbq_place *place)
{
	return place->since >> 4 & 7;
}

/**
 * nbq_head_hands_on() - The request with which a head takes the lock.
 * @head: the head
 * @state: the state in which it takes the lock
 *
 * That of the next socket, if the turn of its own is over. Else that of its successor, which has
 * waited nearly as long; the turn goes on from when it began. A head that has not waited for long
 * hands on a request that it found, seven times in eight: else the last of a queue that drains
 * would find no request, no newcomer would steal from it, and it would keep the lock from all
 * others until the next request.
 *
 * Return: the request; 0: none.
 */
u16 nbq_head_hands_on(struct nbq_head *head, union nbq_spin_state state)
{
	const struct nbq_place *place = head->place;

	/*
	 * The head of the machine's queue leaves the turn to the socket that has it: else, where
	 * half of the attempts have little patience, the others wait for long.
	 */
	if (!place->turn && state.handoff && !has_own_turn(head, state))
		return state.request;
	choose_next_turn(head, state);
	if (passes_turn(head))
		return nbq_request_at(head->wait->now, head->next);
	if (!place->has_successor)
		return 0;
	if (is_patient(head)) {
		if (has_rivals(head) && !head->next && has_own_turn(head, state))
			return state.request;
		return nbq_request_at(head->wait->now, place->turn);
	}
	return has_own_turn(head, state) && hands_on_request(place) ? state.request : 0;
}

/* The head has the lock, with the request of nbq_head_hands_on(). */
void nbq_head_has_taken(const struct nbq_head *head)
{
	if (!passes_turn(head))
		return;
	notify_socket(head, head->next);
	head->wait->pool->events.turns_passed++;
}

/* A context holds the lock: request a handoff, or await the turn. */
void nbq_head_waits(struct nbq_head *head, union nbq_spin_state state)
{
	struct nbq_queue *queue = head->place->queue;

	head->idle.polls = 0;
	request_handoff(head, state);
	choose_next_turn(head, state);
	if (!head->place->turn || !state.handoff || state.turn == head->place->turn)
		return;
	/* From now on the heads of this queue leave the lock's line to that socket. */
	head->awaits = true;
	WRITE_ONCE(queue->handoff, state.handoff);
	WRITE_ONCE(queue->awaits, head->lock);
}

/* It competes no more. The next head may wait for another lock, or give up before it awaits. */
void nbq_head_leaves(const struct nbq_head *head)
{
	struct nbq_queue *queue = head->place->queue;

	if (head->awaits && READ_ONCE(queue->awaits) == head->lock)
		WRITE_ONCE(queue->awaits, NULL);
}
