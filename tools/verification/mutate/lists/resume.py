# SPDX-License-Identifier: GPL-2.0
"""Mistakes in resuming the place of an earlier attempt."""

from verification.mutate.kinds import HostTests, OFF_THE_STEPS, STEPS
from verification.mutate.mutant import mutants

# The host's have more than one lock, and memory that is one again.
HOST = OFF_THE_STEPS
POLICY = {"host": HostTests("steps spin gcc asan")}
# Of a lock that keeps a node which was not abandoned.
RESTS = {"host": HostTests("steps swap gcc asan")}
SAME_LEVEL = ("only in a context that has interrupted another of its own level at this very "
              "point, and has used that node in between")

RESUME = "	if (cmpxchg(&node->prev, pred, NULL) != pred)\n		return NULL;\n"
SKIP = "	return cmpxchg_acquire(&pred->prev, prev, NBQ_RECYCLED) == prev;\n"
NOTE = "	WRITE_ONCE(pool->abandoned_in, pool->abandoned_in | nbq_abandoned_bit(lock));\n"
TAKEN = "	node->abandoned_seq = node->alloc_seq;\n"
NOTE_LOCK = "	WRITE_ONCE(node->lock, lock);\n" + TAKEN + NOTE
MCS_RESUME = ("	if (READ_ONCE(node->next) != state ||\n"
              "	    cmpxchg(&node->next, state, NULL) != state)\n		return NULL;\n")
SWAP_RESUME = ("	if (READ_ONCE(node->next) != NBQ_LEAVING ||\n"
               "	    cmpxchg(&node->next, NBQ_LEAVING, NULL) != NBQ_LEAVING)\n"
               "		return NULL;\n")
ELSEWHERE = "	if (unlikely(READ_ONCE(node->lock) != lock)) {\n"

MUTANTS = [*mutants("internal.h", STEPS, (
    ("resume: node is resumed although a successor has skipped it",
     RESUME, "	WRITE_ONCE(node->prev, NULL);\n"),
    ("resume: node is skipped although its place was resumed",
     SKIP, "	WRITE_ONCE(pred->prev, NBQ_RECYCLED);\n	return true;\n"),
    ("resume: node that was skipped counts as left",
     "	return (unsigned long)node > (unsigned long)NBQ_RECYCLED;\n",
     "	return (unsigned long)node >= (unsigned long)NBQ_RECYCLED;\n"),
)), *mutants("internal.h", HOST, (
    ("resume: node that is left does not say in whose queue",
     NOTE_LOCK, TAKEN + NOTE),
    ("resume: pool does not note that a node was left", NOTE_LOCK,
     "	WRITE_ONCE(node->lock, lock);\n" + TAKEN),
    ("resume: pool does not note which node was left",
     "	if (!pool->last_abandoned || pool->last_abandoned->index < node->index)\n"
     "		pool->last_abandoned = node;\n", ""),
    ("resume: CPU does not note that a node was left",
     "	this_cpu_or(__nbq_levels_abandoned, 1U << pool->level);\n", "",
     {"host": "the queue locks ask the pool; the hybrid's mistake is one of speed"}),
    ("resume: it is not noted that a lock of this memory was left",
     "		WRITE_ONCE(*nbq_ever_abandoned_of(lock), true);\n", "		{ }\n"),
    ("resume: one that has resumed asks for the tail when it leaves",
     "	node->resumed = true;\n	return pred;\n", "	return pred;\n",
     {"host": "swap-only asks for no tail"}),
    ("resume: node that was left elsewhere is resumed all the same",
     ELSEWHERE, "	if (false) {\n", SAME_LEVEL),
)), *mutants("node.c", HOST, (
    ("resume: node of any queue is asked whether it was left in this one",
     "		if (READ_ONCE(node->lock) == lock && is_abandoned(node))\n",
     "		if (is_abandoned(node))\n", "the same: whose it is, is asked again"),
    ("resume: node that was given back is asked whether it was left",
     "	return node->abandoned_seq == taken && READ_ONCE(node->free_seq) != taken;\n",
     "	return node->abandoned_seq == taken;\n"),
    ("resume: places are noted for ever",
     "	unsigned long left = 0;\n", "	unsigned long left = pool->abandoned_in;\n"),
    ("resume: places of other locks are forgotten, too",
     "	if (READ_ONCE(node->lock) == lock)\n		cmpxchg_relaxed(&node->lock, lock, NULL);\n",
     "	WRITE_ONCE(node->lock, NULL);\n"),
    ("resume: place in memory that is made a lock is not forgotten",
     "				forget_if_abandoned(node, lock);\n", "				;\n"),
)), *mutants("node.c", RESTS, (
    ("resume: node that was taken again counts as left",
     "	return node->abandoned_seq == taken && READ_ONCE(node->free_seq) != taken;\n",
     "	return READ_ONCE(node->free_seq) != taken;\n"),
)), *mutants("internal.h", RESTS, (
    ("resume: node that was resumed counts as left",
     "			node->abandoned_seq = node->alloc_seq - 1;\n", ""),
)), *mutants("queue_lock.h", HOST, (
    ("resume: lock that is made does not forget who left one before it",
     "	nbq_forget_places(lock);\n", ""),
    ("resume: nobody resumes", "	node = nbq_resume(pool, lock, ops->resume, &pred);\n",
     "	node = NULL;\n"),
    ("resume: attempt that finds its node free does not look for another that it left",
     "nbq_contention_is_traced() ||\n		     pool->abandoned_in))\n",
     "nbq_contention_is_traced()))\n"),
)), *mutants("clh_nb.c", HOST, (
    ("clh: one that has resumed asks for the tail when it leaves",
     "	if (!node->resumed &&\n	    cmpxchg_release(&lock->tail, node, pred) == node) {\n",
     "	if (cmpxchg_release(&lock->tail, node, pred) == node) {\n"),
    ("clh: node that was resumed stays one when it has the lock",
     "	nbq_held_add(node, lock);\n	node->resumed = false;\n", "	nbq_held_add(node, lock);\n"),
    ("clh: node that was resumed stays one when it is left",
     "	node->resumed = false;\n	nbq_note_abandoned(node, lock);\n", "	nbq_note_abandoned(node, lock);\n"),
)), *mutants("clh_nb.c", STEPS, (
    ("clh: one in front that waits again counts as skipped",
     "	if (!nbq_node_skip(pred, prev))\n		return pred;\n",
     "	nbq_node_skip(pred, prev);\n"),
)), *mutants("mcs_nb.c", STEPS, (
    ("mcs: node is resumed although a successor has claimed it",
     MCS_RESUME, "	if (READ_ONCE(node->next) != state)\n		return NULL;\n"
     "	WRITE_ONCE(node->next, NULL);\n"),
    ("mcs: one that was told does not ask whether the one in front waits again",
     "			state = nbq_mcs_link(node, pred);\n		}\n", "		}\n"),
    ("mcs: one that is known makes itself known once more when it resumes",
     "			   node->known ? NULL : nbq_mcs_link(node, pred));\n",
     "			   nbq_mcs_link(node, pred));\n"),
    ("mcs: one that was forgotten waits as one that is known when it resumes",
     "			   node->known ? NULL : nbq_mcs_link(node, pred));\n",
     "			   NULL);\n"),
)), *mutants("mcs_nb.c", HOST, (
    ("mcs: one that was known when it left does not resume",
     "	node->known = !forgotten;\n", "	node->known = false;\n"),
    ("mcs: one that has resumed asks for the tail when it leaves",
     "	if (!node->resumed &&\n	    cmpxchg_release(&lock->tail, node, pred) == node) {\n",
     "	if (cmpxchg_release(&lock->tail, node, pred) == node) {\n"),
    ("mcs: node that was resumed stays one when it has the lock",
     "	nbq_held_add(node, lock);\n	node->resumed = false;\n", "	nbq_held_add(node, lock);\n"),
    ("mcs: node that was left elsewhere is resumed all the same",
     ELSEWHERE, "	if (false) {\n", SAME_LEVEL),
)), *mutants("swap_nb.c", STEPS, (
    ("swap: node is resumed although a successor has claimed it",
     SWAP_RESUME, "	if (READ_ONCE(node->next) != NBQ_LEAVING)\n		return NULL;\n"
     "	WRITE_ONCE(node->next, NULL);\n"),
    ("swap: one that was told does not ask whether the one in front waits again",
     "			state = nbq_swap_link(node, pred);\n		}\n", "		}\n"),
    ("swap: leaver behind one that waits again counts as the end of the wait",
     "		if (!state || state == abandoned)\n", "		if (state == abandoned)\n"),
)), *mutants("swap_nb.c", HOST, (
    ("swap: node that was left elsewhere is resumed all the same",
     ELSEWHERE, "	if (false) {\n", SAME_LEVEL),
)), *mutants("spin.c", HOST, (
    ("spin: one that comes back does not resume its place",
     "	if (!place->node)\n		return false;\n	wait->in_order",
     "	if (true)\n		return false;\n	wait->in_order"),
    ("spin: lock that is made does not forget who left one before it",
     "	nbq_forget_places(lock);\n", ""),
    ("spin: one in front that waits again counts as skipped",
     "		if (!nbq_node_skip(pred, prev))\n			return pred;\n",
     "		nbq_node_skip(pred, prev);\n"),
)), *mutants("spin.c", POLICY, (
    ("spin: one that comes back has waited since then only",
     "		place->since = place->node->since;\n", ""),
    ("spin: one that comes back does not ask whether the one in front is stalled",
     "		place->since = place->node->since;\n		check_pred(lock, place, wait);\n",
     "		place->since = place->node->since;\n"),
    ("spin: one whose last attempt was too late to enqueue waits outside once more",
     "nbq_deadline_is_none(&deadline) ||\n			       pool->late_for == lock;\n",
     "nbq_deadline_is_none(&deadline);\n"),
    ("spin: one that enqueues is late for ever", "	WRITE_ONCE(pool->late_for, NULL);\n", ""),
))]
