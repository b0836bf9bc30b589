# SPDX-License-Identifier: GPL-2.0
"""Mistakes in CLH-NB."""

from verification.mutate.kinds import STEPS, WAITS
from verification.mutate.mutant import mutants

ABANDON_CAS = ("	if (!node->resumed &&\n"
             "	    cmpxchg_release(&lock->tail, node, pred) == node) {\n")
RELEASE_CAS = "	if (cmpxchg_release(&lock->tail, node, NULL) == node) {\n"
ABANDON = "	smp_store_release(&node->prev, pred);\n"
GRANT = "	smp_store_release(&node->prev, NBQ_AVAILABLE);\n"
HELD_ADD = "	nbq_held_add(node, lock);\n"
NOT_RESUMED = "	node->resumed = false;\n"
GRANTED = HELD_ADD + NOT_RESUMED + "	nbq_node_reclaim(pred, &node->pool->events);\n"
SKIPS = "			skipped++;\n			continue;\n"
HELD_DEL = "	nbq_held_del(node);\n"

MUTANTS = [*mutants("clh_nb.c", STEPS, (
    ("clh: abandoned predecessor treated as a timeout",
     SKIPS, "			skipped++;\n			break;\n"),
    ("clh: clock ends the skipping",
     SKIPS, "			skipped++;\n			if (nbq_deadline_passed(wait->deadline))\n"
     "				break;\n			continue;\n"),
    ("clh: clock read before the poll of the predecessor",
     "	while ((prev = nbq_clh_poll(*pred)) != NBQ_AVAILABLE) {\n",
     "	prev = NULL;\n	while (nbq_wait_continue(wait, *pred, &(*pred)->prev) &&\n"
     "	       (prev = nbq_clh_poll(*pred)) != NBQ_AVAILABLE) {\n"),
    ("clh: abandon publishes prev before it swaps the tail",
     ABANDON_CAS, ABANDON + ABANDON_CAS),
    ("clh: abandon never swaps the tail",
     ABANDON_CAS, "	if (false) {\n"),
    ("clh: abandon does not publish its predecessor",
     ABANDON, ""),
    ("clh: abandon frees its node twice",
     ABANDON_CAS, ABANDON_CAS + "		nbq_node_free_own(node);\n"),
    ("clh: abandon does not free its node",
     ABANDON_CAS + "		nbq_node_free_own(node);\n", ABANDON_CAS),
    ("clh: granted does not reclaim the predecessor's node",
     GRANTED, HELD_ADD + NOT_RESUMED),
    ("clh: granted reclaims the predecessor's node twice",
     GRANTED, GRANTED + "	nbq_node_reclaim(pred, &node->pool->events);\n"),
    ("clh: skip does not reclaim the abandoned node",
     "	nbq_node_reclaim(pred, &node->pool->events);\n	return prev;\n",
     "	return prev;\n"),
    ("clh: skip reclaims the node twice",
     "	nbq_node_reclaim(pred, &node->pool->events);\n	return prev;\n",
     "	nbq_node_reclaim(pred, &node->pool->events);\n"
     "	nbq_node_reclaim(pred, &node->pool->events);\n	return prev;\n"),
    ("clh: release does not free its node",
     RELEASE_CAS + "		nbq_node_free_own(node);\n", RELEASE_CAS),
    ("clh: release publishes before it swaps the tail",
     RELEASE_CAS, GRANT + RELEASE_CAS),
    ("clh: lock that was granted is not put on the list of held locks", HELD_ADD, ""),
    ("clh: released lock stays on the list of held locks", HELD_DEL, ""),
)), *mutants("clh_nb.c", WAITS, (
    ("clh: lock leaves the list of held locks after the handover",
     HELD_DEL, RELEASE_CAS + "	" + HELD_DEL
     + "		nbq_node_free_own(node);\n		return true;\n	}\n"
     + GRANT + HELD_DEL + "	return false;\n"),
))]
