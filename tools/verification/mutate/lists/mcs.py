# SPDX-License-Identifier: GPL-2.0
"""Mistakes in MCS-NB."""

from verification.mutate.kinds import STEPS, WAITS
from verification.mutate.mutant import mutants

LEAVE_CAS = ("	if (!node->resumed &&\n"
             "	    cmpxchg_release(&lock->tail, node, pred) == node) {\n")
HOLD = "	nbq_held_add(node, lock);\n"
FOLLOWED = "	node->has_successor = READ_ONCE(node->next);\n"
GIVE_BACK = "	nbq_node_reclaim_pred(node, pred);\n"
PRED_TAKEN = "	node->pred_alloc_seq = data_race(pred->alloc_seq);\n"
TELL_RECLAIM = "		nbq_node_reclaim(succ, events);\n"
FORGET = "	forgotten = cmpxchg_relaxed(&pred->next, node, NULL) == node;\n"
HAND_OVER = "	succ = xchg(&node->next, NBQ_AVAILABLE);\n"
LET_GO = "	nbq_held_del(node);\n"
LOOKS_AT_NEXT = "	if (!node->has_successor && !READ_ONCE(node->next) &&\n"
RELEASE_CAS = "	    cmpxchg_release(&lock->tail, node, NULL) == node) {\n"
WALK = "	while (state && state != NBQ_AVAILABLE) {\n"

# As the swap-only lock does, which is a lock all the same.
LEAVES_NODES = {"explorer": "nothing is broken: nodes stay in the queue, until somebody comes"}
ASKS_IN_VAIN = {"explorer": "nothing is broken: it learns once more what it knows"}

MUTANTS = [*mutants("mcs_nb.c", STEPS, (
    ("mcs: abandoned in front treated as a timeout (no skipped)",
     WALK, "	if (state && state != NBQ_AVAILABLE) {\n"),
    ("mcs: clock ends the walk",
     "		skipped++;\n		state = spin_on_pred(node, pred, nbq_mcs_link(node, pred), &wait);\n",
     "		skipped++;\n		state = nbq_mcs_link(node, pred);\n"
     "		if (!state && !nbq_deadline_passed(&deadline))\n"
     "			state = spin_on_pred(node, pred, NULL, &wait);\n"
     "		else if (state != NBQ_AVAILABLE && nbq_deadline_passed(&deadline))\n"
     "			state = NULL;\n"),
    ("mcs: clock looked at before its own status",
     "		state = nbq_mcs_poll(node);\n",
     "		if (!nbq_wait_continue(wait, pred, &node->status))\n			break;\n"
     "		state = nbq_mcs_poll(node);\n"),
    ("mcs: link does not reset its status",
     "	WRITE_ONCE(node->status, NULL);\n", ""),
    ("mcs: link resets its status after the swap",
     "	WRITE_ONCE(node->status, NULL);\n",
     "	if (true) {\n		state = xchg(&pred->next, node);\n"
     "		WRITE_ONCE(node->status, NULL);\n	" + PRED_TAKEN + "		return state;\n	}\n"),
    ("mcs: link does not read its predecessor's taken", PRED_TAKEN, ""),
    ("mcs: link reads its predecessor's taken before the swap",
     "	WRITE_ONCE(node->status, NULL);\n", "	WRITE_ONCE(node->status, NULL);\n" + PRED_TAKEN,
     "the same: it does not change until the node is given back; it costs a transfer"),
    ("mcs: leave does not store prev",
     "	WRITE_ONCE(node->prev, pred);\n", ""),
    ("mcs: leave does not ask to be forgotten",
     FORGET, "	forgotten = true;\n"),
    ("mcs: leave believes that it is known",
     FORGET, "	forgotten = cmpxchg_relaxed(&pred->next, node, NULL) == node;\n"
     "	forgotten = false;\n"),
    ("mcs: leave publishes before it swaps the tail",
     LEAVE_CAS, "	xchg(&node->next, forgotten ? NBQ_LEAVING : NBQ_TRANSIENT);\n"
     + LEAVE_CAS),
    ("mcs: leave never takes itself off the tail",
     LEAVE_CAS, "	if (false) {\n", LEAVES_NODES),
    ("mcs: leave swaps the tail, then asks to be forgotten",
     FORGET, "	bool swapped = cmpxchg_release(&lock->tail, node, pred) == node;\n\n"
     + FORGET.replace("	forgotten", "	forgotten", 1)
     + "	if (swapped) {\n"
     "		if (!forgotten && !xchg(&node->status, NBQ_RECYCLED)) {\n"
     "			events->nodes_abandoned++;\n			return false;\n		}\n"
     "		nbq_node_free_own(node);\n		return true;\n	}\n"),
    ("mcs: known leaver at the tail gives its node back at once",
     "		if (!forgotten && !xchg(&node->status, NBQ_RECYCLED)) {\n",
     "		if (false) {\n"),
    ("mcs: known leaver at the tail never gives its node back",
     "		if (!forgotten && !xchg(&node->status, NBQ_RECYCLED)) {\n",
     "		xchg(&node->status, NBQ_RECYCLED);\n		if (!forgotten) {\n"),
    ("mcs: leave as tail keeps its own node",
     "		}\n		nbq_node_free_own(node);\n", "		}\n"),
    ("mcs: leave says LEAVING where it is TRANSIENT",
     "	state = forgotten ? NBQ_LEAVING : NBQ_TRANSIENT;\n", "	state = NBQ_LEAVING;\n"),
    ("mcs: leave does not tell its successor",
     "	notify_successor(xchg(&node->next, state), state, events);\n",
     "	xchg(&node->next, state);\n	(void)events;\n"),
    ("mcs: tell never gives the successor's node back",
     TELL_RECLAIM, "	{ }\n"),
    ("mcs: tell gives the successor's node back twice",
     TELL_RECLAIM, "	{\n" + TELL_RECLAIM * 2 + "	}\n"),
    ("mcs: tell always gives the successor's node back",
     "	if (succ && xchg(&succ->status, state) == NBQ_RECYCLED)\n",
     "	if (succ)\n		xchg(&succ->status, state);\n	if (succ)\n"),
    ("mcs: step_over keeps the leaver's node",
     "		nbq_node_reclaim(pred, &node->pool->events);\n	return prev;\n",
     "	{ }\n	return prev;\n"),
    ("mcs: step_over gives the node back twice",
     "		nbq_node_reclaim(pred, &node->pool->events);\n	return prev;\n",
     "	{\n		nbq_node_reclaim(pred, &node->pool->events);\n"
     "		nbq_node_reclaim(pred, &node->pool->events);\n	}\n	return prev;\n"),
    ("mcs: step_over gives a TRANSIENT node back at once",
     "	if (state == NBQ_LEAVING ||\n"
     "	    xchg(&pred->status, NBQ_RECYCLED))\n", ""),
    ("mcs: step_over treats LEAVING as TRANSIENT",
     "	if (state == NBQ_LEAVING ||\n"
     "	    xchg(&pred->status, NBQ_RECYCLED))\n",
     "	if (xchg(&pred->status, NBQ_RECYCLED))\n"),
    ("mcs: step_over reads prev after the swap of status",
     "		nbq_node_reclaim(pred, &node->pool->events);\n	return prev;\n",
     "		nbq_node_reclaim(pred, &node->pool->events);\n	return READ_ONCE(pred->prev);\n"),
    ("mcs: take_over keeps the predecessor's node",
     GIVE_BACK, ""),
    ("mcs: take_over gives the node back twice",
     GIVE_BACK, GIVE_BACK + "	nbq_node_reclaim(pred, &node->pool->events);\n"),
    ("mcs: lock that was handed over is not put on the list", HOLD, ""),
    ("mcs: join does not forget that the node was followed",
     "	node->has_successor = false;\n", "", LEAVES_NODES),
    ("mcs: holder that has seen no successor does not ask for one",
     FOLLOWED, "	node->has_successor = true;\n", LEAVES_NODES),
    ("mcs: join does not reset next",
     "	WRITE_ONCE(node->next, NULL);\n", ""),
    ("mcs: hand_over keeps its own node",
     "		nbq_node_free_own(node);\n		return true;\n	}\n	/*\n"
     "	 * Fully ordered, pairs with nbq_mcs_link() and pred_of(). RELEASE: the critical\n",
     "		return true;\n	}\n	/*\n"
     "	 * Fully ordered, pairs with nbq_mcs_link() and pred_of(). RELEASE: the critical\n"),
    ("mcs: hand_over publishes before it swaps the tail",
     LOOKS_AT_NEXT,
     "	succ = xchg(&node->next, NBQ_AVAILABLE);\n	if (!succ &&\n"),
    ("mcs: hand_over never takes itself off the tail",
     LOOKS_AT_NEXT, "	if (false &&\n", LEAVES_NODES),
    ("mcs: hand_over does not look at next first",
     LOOKS_AT_NEXT, "	if (!node->has_successor &&\n", ASKS_IN_VAIN),
    ("mcs: hand_over trusts that look",
     LOOKS_AT_NEXT + RELEASE_CAS,
     "	if (!node->has_successor && !READ_ONCE(node->next)) {\n"
     "		cmpxchg_release(&lock->tail, node, NULL);\n"),
    ("mcs: hand_over does not tell its successor",
     "	notify_successor(succ, NBQ_AVAILABLE, events);\n", ""),
    ("mcs: lock that is handed over stays on the list", LET_GO, ""),
)), *mutants("mcs_nb.c", {**STEPS, "kunit": ("nbq_mcs",)}, (
    ("mcs: holder that has seen its successor asks for it",
     FOLLOWED, "", {**ASKS_IN_VAIN, "host": "nothing is broken; kunit counts the steps"}),
)), *mutants("mcs_nb.c", WAITS, (
    ("mcs: lock is taken off the list after the hand-over",
     LET_GO, LOOKS_AT_NEXT + RELEASE_CAS + "	" + LET_GO
     + "		nbq_node_free_own(node);\n		return true;\n	}\n"
     + HAND_OVER + "	notify_successor(succ, NBQ_AVAILABLE, events);\n" + LET_GO
     + "	return false;\n"),
))]
