# SPDX-License-Identifier: GPL-2.0
"""Mistakes in the verbs that all lock types share."""

from mutate.kinds import STEPS
from mutate.mutant import mutants

MUTANTS = [*mutants("define_lock_type.h", STEPS, (
    ("destroy keeps the nodes",
     "		nbq_node_reclaim(node, events);\n", "		(void)events;\n"),
    ("destroy looks at a node that it has given back",
     "		struct nbq_node *prev = in_front(node);\n\n"
     "		nbq_node_reclaim(node, events);\n		node = prev;\n",
     "		nbq_node_reclaim(node, events);\n		node = in_front(node);\n"),
    ("destroy of a lock with a waiter is not refused",
     "	return !tail || node == NBQ_AVAILABLE;\n", "	return true;\n"),
    ("failed attempt leaves preemption off",
     "			spin_release(waits, ip);\n		preempt_enable();\n",
     "			spin_release(waits, ip);\n"),
    ("unlock leaves preemption off",
     "	nbq_X_hand_over(lock, node);\n	preempt_enable();\n",
     "	nbq_X_hand_over(lock, node);\n"),
    ("unlock on another CPU is not noticed",
     "	if (WARN_ONCE(node->cpu != raw_smp_processor_id(),\n",
     "	if (WARN_ONCE(false,\n"),
))]
