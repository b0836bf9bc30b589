# SPDX-License-Identifier: GPL-2.0
"""Mistakes in the queue-node pools, and in what they count."""

from mutate.kinds import STEPS
from mutate.mutant import mutants

MUTANTS = [*mutants("internal.h", STEPS, (
    ("walks are not counted by their length",
     "	pool->walks[walk < NBQ_WALK_MAX ? walk - 1 : NBQ_WALK_MAX - 1]++;\n", ""),
    ("walks are counted as one longer",
     "walk < NBQ_WALK_MAX ? walk - 1 :", "walk < NBQ_WALK_MAX ? walk :"),
    ("claim tests, then sets",
     "	return cmpxchg_local(&node->taken, given, given + 1) == given;\n",
     "	WRITE_ONCE(node->taken, given + 1);\n	return true;\n"),
)), *mutants("node.c", STEPS, (
    ("empty pool fails before the patience is over",
     "	while (!node && !nbq_deadline_passed(deadline)) {\n",
     "	if (!nbq_deadline_passed(deadline)) {\n"),
))]
