# SPDX-License-Identifier: GPL-2.0
"""Mistakes in the swap-only lock."""

from verification.mutate.kinds import STEPS, WAITS
from verification.mutate.mutant import mutants

HELD_ADD = "	nbq_held_add(node, lock);\n"
RECLAIM_PRED = "	nbq_node_reclaim_pred(node, pred);\n"
PRED_ALLOC_SEQ = "	node->pred_alloc_seq = pred->alloc_seq;\n"
RECLAIM_SUCC = "		nbq_node_reclaim(succ, events);\n"
GRANT = "	succ = xchg(&node->next, NBQ_AVAILABLE);\n"
HELD_DEL = "	nbq_held_del(node);\n"
NOTIFY = "	if (succ && xchg(&succ->status, state) == NBQ_RECYCLED)\n"
SKIP = "	if (state == abandoned || xchg(&abandoned->status, NBQ_RECYCLED))\n"

MUTANTS = [*mutants("swap_nb.c", STEPS, (
    ("swap: abandoned predecessor treated as a timeout",
     "	while (state == NBQ_LEAVING) {\n", "	if (state == NBQ_LEAVING) {\n"),
    ("swap: clock ends the skipping",
     "			state = spin_on_pred(node, pred, &wait);\n	}\n",
     "			state = spin_on_pred(node, pred, &wait);\n"
     "		if (state == NBQ_LEAVING && nbq_deadline_passed(&deadline))\n"
     "			state = NULL;\n	}\n"),
    ("swap: clock read before the poll of its own status",
     "		state = nbq_swap_poll(node);\n		if (state == NBQ_LEAVING) {\n",
     "		state = NULL;\n		if (!nbq_wait_continue(wait, pred, &node->status))\n"
     "			break;\n"
     "		state = nbq_swap_poll(node);\n		if (state == NBQ_LEAVING) {\n",
     # The others poll a free lock in vain there; this one has linked.
     {"explorer": "nothing is broken: it passes on a grant that it reads too late"}),
    ("swap: link does not reset its status",
     "	WRITE_ONCE(node->status, NULL);\n", ""),
    ("swap: link resets its status after the swap",
     "	WRITE_ONCE(node->status, NULL);\n",
     "	if (true) {\n		state = xchg(&pred->next, node);\n"
     "		WRITE_ONCE(node->status, NULL);\n	" + PRED_ALLOC_SEQ + "		return state;\n	}\n"),
    ("swap: link does not read its predecessor's alloc_seq", PRED_ALLOC_SEQ, ""),
    ("swap: link reads its predecessor's alloc_seq before the swap",
     "	WRITE_ONCE(node->status, NULL);\n", "	WRITE_ONCE(node->status, NULL);\n" + PRED_ALLOC_SEQ,
     "the same: it does not change until the node is freed; it costs a transfer"),
    ("swap: enqueue does not reset next",
     "	WRITE_ONCE(node->next, NULL);\n", ""),
    ("swap: abandon does not store prev",
     "	WRITE_ONCE(node->prev, pred);\n", ""),
    ("swap: abandon does not notify its successor",
     "	notify_successor(xchg(&node->next, NBQ_LEAVING), NBQ_LEAVING, events);\n",
     "	xchg(&node->next, NBQ_LEAVING);\n	(void)events;\n"),
    ("swap: release does not notify its successor",
     "	notify_successor(succ, NBQ_AVAILABLE, events);\n", ""),
    ("swap: notify never reclaims the successor's node",
     RECLAIM_SUCC, "	{ }\n"),
    ("swap: notify reclaims the successor's node twice",
     RECLAIM_SUCC, "	{\n" + RECLAIM_SUCC * 2 + "	}\n"),
    ("swap: notify always reclaims the successor's node",
     NOTIFY, "	if (succ)\n		xchg(&succ->status, state);\n	if (succ)\n"),
    ("swap: notify reclaims the successor's node whatever its status",
     NOTIFY, "	if (succ && xchg(&succ->status, state))\n",
     # It links after its status was reset, and is notified once.
     "the same: it is NULL or RECYCLED"),
    ("swap: skip does not reclaim an unlinked node",
     SKIP, "	if (state != abandoned && xchg(&abandoned->status, NBQ_RECYCLED))\n"),
    ("swap: skip reclaims every node at once",
     SKIP, ""),
    ("swap: skip treats an unlinked node as linked",
     SKIP, "	if (xchg(&abandoned->status, NBQ_RECYCLED))\n"),
    ("swap: skip never reclaims a linked node",
     SKIP, "	if (state != abandoned)\n		xchg(&abandoned->status, NBQ_RECYCLED);\n"
     "	if (state == abandoned)\n"),
    ("swap: skip reclaims the node twice",
     "		nbq_node_reclaim(abandoned, &node->pool->events);\n",
     "	{\n" + "		nbq_node_reclaim(abandoned, &node->pool->events);\n" * 2 + "	}\n"),
    ("swap: granted does not reclaim the predecessor's node",
     RECLAIM_PRED, ""),
    ("swap: granted reclaims the predecessor's node twice",
     RECLAIM_PRED, RECLAIM_PRED + "	nbq_node_reclaim(pred, &node->pool->events);\n"),
    ("swap: lock that was granted is not put on the list of held locks", HELD_ADD, ""),
    ("swap: prev read after the node was skipped",
     "		skipped++;\n", "		skipped++;\n		pred = READ_ONCE(abandoned->prev);\n"),
    ("swap: contention that was over when it enqueued goes on for a tracer",
     "	if (state != NBQ_AVAILABLE || deadline.announced)\n",
     "	if (state != NBQ_AVAILABLE)\n",
     {"explorer": "traces nothing"}),
    ("swap: released lock stays on the list of held locks", HELD_DEL, ""),
)), *mutants("swap_nb.c", WAITS, (
    ("swap: lock leaves the list of held locks after the handover",
     HELD_DEL, GRANT + "	notify_successor(succ, NBQ_AVAILABLE, events);\n" + HELD_DEL + "	return;\n"),
))]
