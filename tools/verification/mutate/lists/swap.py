# SPDX-License-Identifier: GPL-2.0
"""Mistakes in the swap-only lock."""

from verification.mutate.kinds import STEPS, WAITS
from verification.mutate.mutant import mutants

HOLD = "	nbq_hold(node, lock);\n"
GIVE_BACK = "	nbq_node_reclaim_pred(node, pred);\n"
PRED_TAKEN = "	node->pred_taken = pred->taken;\n"
TELL_RECLAIM = "		nbq_node_reclaim(succ, events);\n"
HAND_OVER = "	succ = nbq_step(xchg(&node->next, NBQ_AVAILABLE));\n"
LET_GO = "	nbq_let_go(node);\n"
TELL = "	if (succ && nbq_step(xchg(&succ->status, what)) == NBQ_RECYCLED)\n"
STEP_OVER = "	if (said == leaver || nbq_step(xchg(&leaver->status, NBQ_RECYCLED)))\n"

MUTANTS = [*mutants("swap_nb.c", STEPS, (
    ("swap: leaver in front treated as a timeout (no walk)",
     "	while (said == NBQ_LEAVING) {\n", "	if (said == NBQ_LEAVING) {\n"),
    ("swap: clock ends the walk",
     "			said = await(node, pred, &wait);\n	}\n",
     "			said = await(node, pred, &wait);\n"
     "		if (said == NBQ_LEAVING && nbq_deadline_passed(&deadline))\n"
     "			said = NULL;\n	}\n"),
    ("swap: clock looked at before its own status",
     "		said = nbq_swap_look(node);\n		if (said == NBQ_LEAVING) {\n",
     "		said = NULL;\n		if (!nbq_wait_goes_on(wait, pred, &node->status))\n"
     "			break;\n"
     "		said = nbq_swap_look(node);\n		if (said == NBQ_LEAVING) {\n",
     # The others look in vain there at a free lock; this one has linked, and knows.
     {"explorer": "nothing is broken: it passes on what it was given too late to see"}),
    ("swap: link does not reset its status",
     "	WRITE_ONCE(node->status, NULL);\n", ""),
    ("swap: link resets its status after the swap",
     "	WRITE_ONCE(node->status, NULL);\n",
     "	if (true) {\n		said = xchg(&pred->next, node);\n"
     "		WRITE_ONCE(node->status, NULL);\n	" + PRED_TAKEN + "		return said;\n	}\n"),
    ("swap: link does not read its predecessor's taken", PRED_TAKEN, ""),
    ("swap: link reads its predecessor's taken before the swap",
     "	WRITE_ONCE(node->status, NULL);\n", "	WRITE_ONCE(node->status, NULL);\n" + PRED_TAKEN,
     "the same: it does not change until the node is given back; it costs a transfer"),
    ("swap: join does not reset next",
     "	WRITE_ONCE(node->next, NULL);\n", ""),
    ("swap: leave does not store prev",
     "	nbq_step(WRITE_ONCE(node->prev, pred));\n", ""),
    ("swap: leave does not tell its successor",
     "	tell(nbq_step(xchg(&node->next, NBQ_LEAVING)), NBQ_LEAVING, events);\n",
     "	nbq_step(xchg(&node->next, NBQ_LEAVING));\n	(void)events;\n"),
    ("swap: hand_over does not tell its successor",
     "	tell(succ, NBQ_AVAILABLE, events);\n", ""),
    ("swap: tell never gives the successor's node back",
     TELL_RECLAIM, "	{ }\n"),
    ("swap: tell gives the successor's node back twice",
     TELL_RECLAIM, "	{\n" + TELL_RECLAIM * 2 + "	}\n"),
    ("swap: tell always gives the successor's node back",
     TELL, "	if (succ)\n		nbq_step(xchg(&succ->status, what));\n	if (succ)\n"),
    ("swap: tell gives it back whatever was there",
     TELL, "	if (succ && nbq_step(xchg(&succ->status, what)))\n",
     # It is linked to one in front after its status was reset, and told once.
     "the same: it is NULL or RECYCLED"),
    ("swap: step_over keeps a forgotten leaver's node",
     STEP_OVER, "	if (said != leaver && nbq_step(xchg(&leaver->status, NBQ_RECYCLED)))\n"),
    ("swap: step_over gives every node back at once",
     STEP_OVER, ""),
    ("swap: step_over treats a forgotten leaver as known",
     STEP_OVER, "	if (nbq_step(xchg(&leaver->status, NBQ_RECYCLED)))\n"),
    ("swap: step_over never gives a known leaver's node back",
     STEP_OVER, "	if (said != leaver)\n		nbq_step(xchg(&leaver->status, NBQ_RECYCLED));\n"
     "	if (said == leaver)\n"),
    ("swap: step_over gives the node back twice",
     "		nbq_node_reclaim(leaver, &node->pool->events);\n",
     "	{\n" + "		nbq_node_reclaim(leaver, &node->pool->events);\n" * 2 + "	}\n"),
    ("swap: take_over keeps the predecessor's node",
     GIVE_BACK, ""),
    ("swap: take_over gives the node back twice",
     GIVE_BACK, GIVE_BACK + "	nbq_node_reclaim(pred, &node->pool->events);\n"),
    ("swap: lock that was handed over is not put on the list", HOLD, ""),
    ("swap: prev read after the leaver was stepped over",
     "		walk++;\n", "		walk++;\n		pred = READ_ONCE(leaver->prev);\n"),
    ("swap: contention that was over when it enqueued goes on for a tracer",
     "	if (said != NBQ_AVAILABLE || deadline.announced)\n",
     "	if (said != NBQ_AVAILABLE)\n",
     {"explorer": "traces nothing"}),
    ("swap: lock that is handed over stays on the list", LET_GO, ""),
)), *mutants("swap_nb.c", WAITS, (
    ("swap: lock is taken off the list after the hand-over",
     LET_GO, HAND_OVER + "	tell(succ, NBQ_AVAILABLE, events);\n" + LET_GO + "	return;\n"),
))]
