# SPDX-License-Identifier: GPL-2.0
"""Mistakes in the queues and turns of sockets, which the host tests do not have."""

from verification.mutate.mutant import mutants

TURNS = {"kunit": ("nbq_sockets",)}
EXPLORED = {"explorer": ()}
OPERATIONS = {"kunit": ("nbq_spin_operations",)}

NOTIFIED = "	if (READ_ONCE(place->queue->notified) == lock) {\n"
AWAITS = "	return age_of(READ_ONCE(place->queue->handoff), wait->now) < HANDOFF_UNITS;\n"
OVER = "	     age_of(state.handoff, wait->now) >= TURN_UNITS))\n"
SWEEPS = "!is_in_order(lock) && !is_swept(lock)"
DEQUEUES = ("	freed = pred ? nbq_spin_abandon(&queue->tail, node, pred) :\n"
        "		      nbq_spin_dequeue_head(&queue->tail, node, false);\n")
FOUND = "	found = pred && READ_ONCE(pred->wants) == lock;\n"

MUTANTS = [*mutants("bare_spin.c", TURNS, (
    ("sockets: all enqueue in the lock itself",
     "wait->in_order ? NULL : READ_ONCE(wait->pool->socket);\n", "NULL;\n"),
    ("sockets: waiter behind one of another lock waits for it",
     "(READ_ONCE(place->pred->wants) != lock ||\n", "(false ||\n"),
    ("sockets: head that is notified awaits its turn",
     NOTIFIED, "	if (false) {\n"),
    ("sockets: queue that drains does not end the turn",
     "(place->was_behind && !place->has_successor) ||\n", "false ||\n"),
    ("sockets: queue of one waiter that drains ends the turn",
     "(place->was_behind && !place->has_successor) ||\n", "!place->has_successor ||\n"),
    ("sockets: turn is never over", OVER, "	     false))\n"),
    ("sockets: turn is over at once", OVER, "	     true))\n"),
    ("sockets: socket that gets the turn is not notified",
     "			notify_socket(lock, place->next);\n", "			{ }\n"),
    ("sockets: head that has dequeued awaits the turn",
     "		WRITE_ONCE(place->queue->awaits, NULL);\n	/* An acting head", "		{ }\n	/* One that leaves"),
    ("sockets: turn passes to a socket whose head does not await it",
     "	return READ_ONCE(queue->awaits) == lock &&\n", "	return true &&\n"),
    ("sockets: turn passes to a socket whose head is preempted",
     "	       age_of(READ_ONCE(queue->handoff), now) <= HANDOFF_UNITS;\n", "	       true;\n"),
    ("sockets: head that gives up awaits the turn",
     "	if (place->awaits && READ_ONCE(", "	if (taken && place->awaits && READ_ONCE("),
    ("sockets: attempts with little patience wait for a turn",
     "(nbq_has_other_sockets(socket) && HAS_LITTLE_PATIENCE(wait))", "false"),
    ("sockets: turn that is passed is not counted",
     "			wait->pool->events.turns_passed++;\n", ""),
    ("sockets: destroy skips no abandoned node",
     "	while (pred && (prev = nbq_spin_poll(pred))) {\n		struct nbq_node *last = pred;\n\n"
     "		pred = nbq_spin_skip(node, last, prev);\n",
     "	while (!pred && (prev = nbq_spin_poll(pred))) {\n		struct nbq_node *last = pred;\n\n"
     "		pred = nbq_spin_skip(node, last, prev);\n"),
    ("sockets: destroy takes any waiter for one of its lock", FOUND, "	found = pred;\n"),
)), *mutants("bare_spin.c", OPERATIONS, (
    ("sockets: destroy does not find a waiter", FOUND, "	found = false;\n"),
)), *mutants("bare_spin.c", EXPLORED, (
    ("sockets: head awaits its turn for ever", AWAITS, "	return true;\n",
     {"explorer": "with three contexts on two sockets: one of its defects"}),
    ("sockets: destroy stays in the queue", DEQUEUES, "	freed = true;\n"),
)), *mutants("bare_spin.c", {**OPERATIONS, **EXPLORED}, (
    ("sockets: destroy does not sweep the queues", SWEEPS, "false"),
))]
