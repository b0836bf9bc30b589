# SPDX-License-Identifier: GPL-2.0
"""Mistakes in the swap-only lock."""

from verification.mutate.kinds import STEPS, WAITS
from verification.mutate.mutant import mutants

HOLD = "	nbq_held_add(node, lock);\n"
GIVE_BACK = "	nbq_node_reclaim_pred(node, pred);\n"
PRED_TAKEN = "	node->pred_alloc_seq = pred->alloc_seq;\n"
TELL_RECLAIM = "		nbq_node_reclaim(succ, events);\n"
HAND_OVER = "	succ = xchg(&node->next, NBQ_AVAILABLE);\n"
LET_GO = "	nbq_held_del(node);\n"
TELL = "	if (succ && xchg(&succ->status, state) == NBQ_RECYCLED)\n"
STEP_OVER = "	if (state == abandoned || xchg(&abandoned->status, NBQ_RECYCLED))\n"

MUTANTS = [*mutants("swap_nb.c", STEPS, (
    ("swap: abandoned in front treated as a timeout (no skipped)",
     "	while (state == NBQ_LEAVING) {\n", "	if (state == NBQ_LEAVING) {\n"),
    ("swap: clock ends the walk",
     "			state = spin_on_pred(node, pred, &wait);\n	}\n",
     "			state = spin_on_pred(node, pred, &wait);\n"
     "		if (state == NBQ_LEAVING && nbq_deadline_passed(&deadline))\n"
     "			state = NULL;\n	}\n"),
    ("swap: clock looked at before its own status",
     "		state = nbq_swap_poll(node);\n		if (state == NBQ_LEAVING) {\n",
     "		state = NULL;\n		if (!nbq_wait_continue(wait, pred, &node->status))\n"
     "			break;\n"
     "		state = nbq_swap_poll(node);\n		if (state == NBQ_LEAVING) {\n",
     # The others look in vain there at a free lock; this one has linked, and knows.
     {"explorer": "nothing is broken: it passes on what it was given too late to see"}),
    ("swap: link does not reset its status",
     "	WRITE_ONCE(node->status, NULL);\n", ""),
    ("swap: link resets its status after the swap",
     "	WRITE_ONCE(node->status, NULL);\n",
     "	if (true) {\n		state = xchg(&pred->next, node);\n"
     "		WRITE_ONCE(node->status, NULL);\n	" + PRED_TAKEN + "		return state;\n	}\n"),
    ("swap: link does not read its predecessor's taken", PRED_TAKEN, ""),
    ("swap: link reads its predecessor's taken before the swap",
     "	WRITE_ONCE(node->status, NULL);\n", "	WRITE_ONCE(node->status, NULL);\n" + PRED_TAKEN,
     "the same: it does not change until the node is given back; it costs a transfer"),
    ("swap: join does not reset next",
     "	WRITE_ONCE(node->next, NULL);\n", ""),
    ("swap: leave does not store prev",
     "	WRITE_ONCE(node->prev, pred);\n", ""),
    ("swap: leave does not tell its successor",
     "	notify_successor(xchg(&node->next, NBQ_LEAVING), NBQ_LEAVING, events);\n",
     "	xchg(&node->next, NBQ_LEAVING);\n	(void)events;\n"),
    ("swap: hand_over does not tell its successor",
     "	notify_successor(succ, NBQ_AVAILABLE, events);\n", ""),
    ("swap: tell never gives the successor's node back",
     TELL_RECLAIM, "	{ }\n"),
    ("swap: tell gives the successor's node back twice",
     TELL_RECLAIM, "	{\n" + TELL_RECLAIM * 2 + "	}\n"),
    ("swap: tell always gives the successor's node back",
     TELL, "	if (succ)\n		xchg(&succ->status, state);\n	if (succ)\n"),
    ("swap: tell gives it back whatever was there",
     TELL, "	if (succ && xchg(&succ->status, state))\n",
     # It is linked to one in front after its status was reset, and told once.
     "the same: it is NULL or RECYCLED"),
    ("swap: step_over keeps a forgotten leaver's node",
     STEP_OVER, "	if (state != abandoned && xchg(&abandoned->status, NBQ_RECYCLED))\n"),
    ("swap: step_over gives every node back at once",
     STEP_OVER, ""),
    ("swap: step_over treats a forgotten leaver as known",
     STEP_OVER, "	if (xchg(&abandoned->status, NBQ_RECYCLED))\n"),
    ("swap: step_over never gives a known leaver's node back",
     STEP_OVER, "	if (state != abandoned)\n		xchg(&abandoned->status, NBQ_RECYCLED);\n"
     "	if (state == abandoned)\n"),
    ("swap: step_over gives the node back twice",
     "		nbq_node_reclaim(abandoned, &node->pool->events);\n",
     "	{\n" + "		nbq_node_reclaim(abandoned, &node->pool->events);\n" * 2 + "	}\n"),
    ("swap: take_over keeps the predecessor's node",
     GIVE_BACK, ""),
    ("swap: take_over gives the node back twice",
     GIVE_BACK, GIVE_BACK + "	nbq_node_reclaim(pred, &node->pool->events);\n"),
    ("swap: lock that was handed over is not put on the list", HOLD, ""),
    ("swap: prev read after the leaver was stepped over",
     "		skipped++;\n", "		skipped++;\n		pred = READ_ONCE(abandoned->prev);\n"),
    ("swap: contention that was over when it enqueued goes on for a tracer",
     "	if (state != NBQ_AVAILABLE || deadline.announced)\n",
     "	if (state != NBQ_AVAILABLE)\n",
     {"explorer": "traces nothing"}),
    ("swap: lock that is handed over stays on the list", LET_GO, ""),
)), *mutants("swap_nb.c", WAITS, (
    ("swap: lock is taken off the list after the hand-over",
     LET_GO, HAND_OVER + "	notify_successor(succ, NBQ_AVAILABLE, events);\n" + LET_GO + "	return;\n"),
))]
