# SPDX-License-Identifier: GPL-2.0
"""Mistakes in CLH-NB."""

from verification.mutate.kinds import STEPS, WAITS
from verification.mutate.mutant import mutants

LEAVE_CAS = ("	if (!node->resumed &&\n"
             "	    cmpxchg_release(&lock->tail, node, pred) == node) {\n")
RELEASE_CAS = "	if (cmpxchg_release(&lock->tail, node, NULL) == node) {\n"
ABANDON = "	smp_store_release(&node->prev, pred);\n"
HAND_OVER = "	smp_store_release(&node->prev, NBQ_AVAILABLE);\n"
HOLD = "	nbq_held_add(node, lock);\n"
RESUMED_NO_MORE = "	node->resumed = false;\n"
TAKE_OVER = HOLD + RESUMED_NO_MORE + "	nbq_node_reclaim(pred, &node->pool->events);\n"
WALKS = "			skipped++;\n			continue;\n"
LET_GO = "	nbq_held_del(node);\n"

MUTANTS = [*mutants("clh_nb.c", STEPS, (
    ("clh: abandoned in front treated as a timeout (no skipped)",
     WALKS, "			skipped++;\n			break;\n"),
    ("clh: clock ends the walk",
     WALKS, "			skipped++;\n			if (nbq_deadline_passed(wait->deadline))\n"
     "				break;\n			continue;\n"),
    ("clh: clock looked at before the predecessor",
     "	while ((prev = nbq_clh_poll(*pred)) != NBQ_AVAILABLE) {\n",
     "	prev = NULL;\n	while (nbq_wait_continue(wait, *pred, &(*pred)->prev) &&\n"
     "	       (prev = nbq_clh_poll(*pred)) != NBQ_AVAILABLE) {\n"),
    ("clh: leave publishes prev before it swaps the tail",
     LEAVE_CAS, ABANDON + LEAVE_CAS),
    ("clh: leave never takes itself off the tail",
     LEAVE_CAS, "	if (false) {\n"),
    ("clh: leave abandons without saying who stood in front",
     ABANDON, ""),
    ("clh: leave gives its node back twice",
     LEAVE_CAS, LEAVE_CAS + "		nbq_node_free_own(node);\n"),
    ("clh: leave keeps its own node",
     LEAVE_CAS + "		nbq_node_free_own(node);\n", LEAVE_CAS),
    ("clh: take_over keeps the predecessor's node",
     TAKE_OVER, HOLD + RESUMED_NO_MORE),
    ("clh: take_over gives the node back twice",
     TAKE_OVER, TAKE_OVER + "	nbq_node_reclaim(pred, &node->pool->events);\n"),
    ("clh: step_over keeps the leaver's node",
     "	nbq_node_reclaim(pred, &node->pool->events);\n	return prev;\n",
     "	return prev;\n"),
    ("clh: step_over gives the node back twice",
     "	nbq_node_reclaim(pred, &node->pool->events);\n	return prev;\n",
     "	nbq_node_reclaim(pred, &node->pool->events);\n"
     "	nbq_node_reclaim(pred, &node->pool->events);\n	return prev;\n"),
    ("clh: hand_over keeps its own node",
     RELEASE_CAS + "		nbq_node_free_own(node);\n", RELEASE_CAS),
    ("clh: hand_over publishes before it swaps the tail",
     RELEASE_CAS, HAND_OVER + RELEASE_CAS),
    ("clh: lock that was handed over is not put on the list", HOLD, ""),
    ("clh: lock that is handed over stays on the list", LET_GO, ""),
)), *mutants("clh_nb.c", WAITS, (
    ("clh: lock is taken off the list after the hand-over",
     LET_GO, RELEASE_CAS + "	" + LET_GO
     + "		nbq_node_free_own(node);\n		return true;\n	}\n"
     + HAND_OVER + LET_GO + "	return false;\n"),
))]
