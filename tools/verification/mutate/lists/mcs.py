# SPDX-License-Identifier: GPL-2.0
"""Mistakes in MCS-NB."""

from verification.mutate.kinds import STEPS, WAITS
from verification.mutate.mutant import mutants

ABANDON_CAS = ("	if (!node->resumed &&\n"
             "	    cmpxchg_release(&lock->tail, node, pred) == node) {\n")
HELD_ADD = "	nbq_held_add(node, lock);\n"
HAS_SUCCESSOR = "	node->has_successor = READ_ONCE(node->next);\n"
RECLAIM_PRED = "	nbq_node_reclaim_pred(node, pred);\n"
PRED_ALLOC_SEQ = "	node->pred_alloc_seq = data_race(pred->alloc_seq);\n"
RECLAIM_SUCC = "		nbq_node_reclaim(succ, events);\n"
UNLINK = "	forgotten = cmpxchg_relaxed(&pred->next, node, NULL) == node;\n"
GRANT = "	succ = xchg(&node->next, NBQ_AVAILABLE);\n"
HELD_DEL = "	nbq_held_del(node);\n"
READS_NEXT = "	if (!node->has_successor && !READ_ONCE(node->next) &&\n"
RELEASE_CAS = "	    cmpxchg_release(&lock->tail, node, NULL) == node) {\n"
SKIPS = "	while (state && state != NBQ_AVAILABLE) {\n"

KEEPS_NODES = {"explorer": "nothing is broken: nodes stay in the queue until the next attempt"}
SWAPS_IN_VAIN = {"explorer": "nothing is broken: it reads once more what it knows"}

MUTANTS = [*mutants("mcs_nb.c", STEPS, (
    ("mcs: abandoned predecessor treated as a timeout",
     SKIPS, "	if (state && state != NBQ_AVAILABLE) {\n"),
    ("mcs: clock ends the skipping",
     "		skipped++;\n		state = spin_on_pred(node, pred, nbq_mcs_link(node, pred), &wait);\n",
     "		skipped++;\n		state = nbq_mcs_link(node, pred);\n"
     "		if (!state && !nbq_deadline_passed(&deadline))\n"
     "			state = spin_on_pred(node, pred, NULL, &wait);\n"
     "		else if (state != NBQ_AVAILABLE && nbq_deadline_passed(&deadline))\n"
     "			state = NULL;\n"),
    ("mcs: clock read before the poll of its own status",
     "		state = nbq_mcs_poll(node);\n",
     "		if (!nbq_wait_continue(wait, pred, &node->status))\n			break;\n"
     "		state = nbq_mcs_poll(node);\n"),
    ("mcs: link does not reset its status",
     "	WRITE_ONCE(node->status, NULL);\n", ""),
    ("mcs: link resets its status after the swap",
     "	WRITE_ONCE(node->status, NULL);\n",
     "	if (true) {\n		state = xchg(&pred->next, node);\n"
     "		WRITE_ONCE(node->status, NULL);\n	" + PRED_ALLOC_SEQ + "		return state;\n	}\n"),
    ("mcs: link does not read its predecessor's alloc_seq", PRED_ALLOC_SEQ, ""),
    ("mcs: link reads its predecessor's alloc_seq before the swap",
     "	WRITE_ONCE(node->status, NULL);\n", "	WRITE_ONCE(node->status, NULL);\n" + PRED_ALLOC_SEQ,
     "the same: it does not change until the node is freed; it costs a transfer"),
    ("mcs: abandon does not store prev",
     "	WRITE_ONCE(node->prev, pred);\n", ""),
    ("mcs: abandon does not unlink itself",
     UNLINK, "	forgotten = true;\n"),
    ("mcs: abandon assumes that it is linked",
     UNLINK, "	forgotten = cmpxchg_relaxed(&pred->next, node, NULL) == node;\n"
     "	forgotten = false;\n"),
    ("mcs: abandon publishes before it swaps the tail",
     ABANDON_CAS, "	xchg(&node->next, forgotten ? NBQ_LEAVING : NBQ_TRANSIENT);\n"
     + ABANDON_CAS),
    ("mcs: abandon never swaps the tail",
     ABANDON_CAS, "	if (false) {\n", KEEPS_NODES),
    ("mcs: abandon swaps the tail before it unlinks itself",
     UNLINK, "	bool swapped = cmpxchg_release(&lock->tail, node, pred) == node;\n\n"
     + UNLINK.replace("	forgotten", "	forgotten", 1)
     + "	if (swapped) {\n"
     "		if (!forgotten && !xchg(&node->status, NBQ_RECYCLED)) {\n"
     "			events->nodes_abandoned++;\n			return false;\n		}\n"
     "		nbq_node_free_own(node);\n		return true;\n	}\n"),
    ("mcs: linked waiter that abandons the tail frees its node at once",
     "		if (!forgotten && !xchg(&node->status, NBQ_RECYCLED)) {\n",
     "		if (false) {\n"),
    ("mcs: linked waiter that abandons the tail never frees its node",
     "		if (!forgotten && !xchg(&node->status, NBQ_RECYCLED)) {\n",
     "		xchg(&node->status, NBQ_RECYCLED);\n		if (!forgotten) {\n"),
    ("mcs: abandon of the tail does not free its node",
     "		}\n		nbq_node_free_own(node);\n", "		}\n"),
    ("mcs: abandon publishes LEAVING for TRANSIENT",
     "	state = forgotten ? NBQ_LEAVING : NBQ_TRANSIENT;\n", "	state = NBQ_LEAVING;\n"),
    ("mcs: abandon does not notify its successor",
     "	notify_successor(xchg(&node->next, state), state, events);\n",
     "	xchg(&node->next, state);\n	(void)events;\n"),
    ("mcs: notify never reclaims the successor's node",
     RECLAIM_SUCC, "	{ }\n"),
    ("mcs: notify reclaims the successor's node twice",
     RECLAIM_SUCC, "	{\n" + RECLAIM_SUCC * 2 + "	}\n"),
    ("mcs: notify always reclaims the successor's node",
     "	if (succ && xchg(&succ->status, state) == NBQ_RECYCLED)\n",
     "	if (succ)\n		xchg(&succ->status, state);\n	if (succ)\n"),
    ("mcs: skip does not reclaim the abandoned node",
     "		nbq_node_reclaim(pred, &node->pool->events);\n	return prev;\n",
     "	{ }\n	return prev;\n"),
    ("mcs: skip reclaims the node twice",
     "		nbq_node_reclaim(pred, &node->pool->events);\n	return prev;\n",
     "	{\n		nbq_node_reclaim(pred, &node->pool->events);\n"
     "		nbq_node_reclaim(pred, &node->pool->events);\n	}\n	return prev;\n"),
    ("mcs: skip reclaims a TRANSIENT node at once",
     "	if (state == NBQ_LEAVING ||\n"
     "	    xchg(&pred->status, NBQ_RECYCLED))\n", ""),
    ("mcs: skip treats LEAVING as TRANSIENT",
     "	if (state == NBQ_LEAVING ||\n"
     "	    xchg(&pred->status, NBQ_RECYCLED))\n",
     "	if (xchg(&pred->status, NBQ_RECYCLED))\n"),
    ("mcs: skip reads prev after the swap of status",
     "		nbq_node_reclaim(pred, &node->pool->events);\n	return prev;\n",
     "		nbq_node_reclaim(pred, &node->pool->events);\n	return READ_ONCE(pred->prev);\n"),
    ("mcs: granted does not reclaim the predecessor's node",
     RECLAIM_PRED, ""),
    ("mcs: granted reclaims the predecessor's node twice",
     RECLAIM_PRED, RECLAIM_PRED + "	nbq_node_reclaim(pred, &node->pool->events);\n"),
    ("mcs: lock that was granted is not put on the list of held locks", HELD_ADD, ""),
    ("mcs: enqueue does not clear has_successor",
     "	node->has_successor = false;\n", "", KEEPS_NODES),
    ("mcs: holder that has seen no successor does not swap the tail",
     HAS_SUCCESSOR, "	node->has_successor = true;\n", KEEPS_NODES),
    ("mcs: enqueue does not reset next",
     "	WRITE_ONCE(node->next, NULL);\n", ""),
    ("mcs: release does not free its node",
     "		nbq_node_free_own(node);\n		return true;\n	}\n	/*\n"
     "	 * Fully ordered, pairs with nbq_mcs_link() and pred_of(). RELEASE: the critical\n",
     "		return true;\n	}\n	/*\n"
     "	 * Fully ordered, pairs with nbq_mcs_link() and pred_of(). RELEASE: the critical\n"),
    ("mcs: release publishes before it swaps the tail",
     READS_NEXT,
     "	succ = xchg(&node->next, NBQ_AVAILABLE);\n	if (!succ &&\n"),
    ("mcs: release never swaps the tail",
     READS_NEXT, "	if (false &&\n", KEEPS_NODES),
    ("mcs: release does not read next first",
     READS_NEXT, "	if (!node->has_successor &&\n", SWAPS_IN_VAIN),
    ("mcs: release relies on that read",
     READS_NEXT + RELEASE_CAS,
     "	if (!node->has_successor && !READ_ONCE(node->next)) {\n"
     "		cmpxchg_release(&lock->tail, node, NULL);\n"),
    ("mcs: release does not notify its successor",
     "	notify_successor(succ, NBQ_AVAILABLE, events);\n", ""),
    ("mcs: released lock stays on the list of held locks", HELD_DEL, ""),
)), *mutants("mcs_nb.c", {**STEPS, "kunit": ("nbq_mcs",)}, (
    ("mcs: holder that has seen its successor swaps the tail",
     HAS_SUCCESSOR, "", {**SWAPS_IN_VAIN, "host": "nothing is broken; kunit reads the note"}),
)), *mutants("mcs_nb.c", WAITS, (
    ("mcs: lock leaves the list of held locks after the handover",
     HELD_DEL, READS_NEXT + RELEASE_CAS + "	" + HELD_DEL
     + "		nbq_node_free_own(node);\n		return true;\n	}\n"
     + GRANT + "	notify_successor(succ, NBQ_AVAILABLE, events);\n" + HELD_DEL
     + "	return false;\n"),
))]
