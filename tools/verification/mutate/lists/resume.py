# SPDX-License-Identifier: GPL-2.0
"""Mistakes in resuming the place of an earlier attempt."""

from verification.mutate.kinds import HostTests, BESIDES_STEPS, NESTING, STEPS
from verification.mutate.mutant import mutants

# The host tests have more than one lock, and memory that is used again.
HOST = BESIDES_STEPS
BARE = {"kunit": ("nbq_spin_bare", "nbq_spin_fifo_bare")}
POLICY = {"host": HostTests("steps spin gcc asan")}
# Of a lock that keeps a node which was not abandoned.
KEEPS_NODE = {"host": HostTests("steps swap gcc asan")}
SAME_LEVEL = ("only in a context that has interrupted another of its own level at this very "
              "point, and has used that node in between")
REFUSED = ("the swap of its state refuses a place that another attempt has, and init ends one whose "
           "record was lost; with the rule no place changes in the middle of a search")

RESUME = "	if (cmpxchg(&node->prev, pred, NULL) != pred)\n		return NULL;\n"
SKIP = "	return cmpxchg_acquire(&pred->prev, prev, NBQ_RECYCLED) == prev;\n"
RECORD = "	WRITE_ONCE(pool->abandoned_in, pool->abandoned_in | BIT(nbq_place_hash(lock)));\n"
NESTED = "	if (unlikely(node->nested))\n		return;\n"
MCS_RESUME = ("	if (READ_ONCE(node->next) != state ||\n"
              "	    cmpxchg(&node->next, state, NULL) != state)\n		return NULL;\n")
SWAP_RESUME = ("	if (READ_ONCE(node->next) != NBQ_LEAVING ||\n"
               "	    cmpxchg(&node->next, NBQ_LEAVING, NULL) != NBQ_LEAVING)\n"
               "		return NULL;\n")
ELSEWHERE = "	if (unlikely(!nbq_place_is_of(node, lock))) {\n"

MUTANTS = [*mutants("internal.h", STEPS, (
    ("resume: node is resumed although a successor has skipped it",
     RESUME, "	WRITE_ONCE(node->prev, NULL);\n"),
    ("resume: node is skipped although its place was resumed",
     SKIP, "	WRITE_ONCE(pred->prev, NBQ_RECYCLED);\n	return true;\n"),
    ("resume: skipped node counts as abandoned",
     "	return (unsigned long)node > (unsigned long)NBQ_RECYCLED;\n",
     "	return (unsigned long)node >= (unsigned long)NBQ_RECYCLED;\n"),
)), *mutants("internal.h", HOST, (
    ("resume: abandoned node does not record its lock",
     "	WRITE_ONCE(node->lock, lock);\n" + NESTED, NESTED),
    ("resume: pool does not record that a node was abandoned", RECORD, ""),
    ("resume: pool does not remember the place",
     "	pool->places[nbq_place_hash(lock)] = node;\n", ""),
    ("resume: CPU does not record that a node was abandoned",
     "	this_cpu_or(__nbq_levels_abandoned, 1U << pool->level);\n", "",
     {"host": "the queue locks read the pool; the hybrid's mistake is one of speed"}),
    ("resume: place has no generation",
     "	node->generation = nbq_generation_begin(lock);\n", ""),
    ("resume: init does not end the generation of places",
     "		cmpxchg_relaxed(generation, now, now + 1);\n", "		{ }\n"),
    ("resume: resumed waiter that abandons its node swaps the tail",
     "	node->resumed = true;\n	return pred;\n", "	return pred;\n",
     {"host": "swap-only does not swap the tail"}),
)), *mutants("internal.h", NESTING, (
    ("resume: nested attempt resumes a place",
     "	if (!nbq_attempt_enter(pool)) {\n", "	nbq_attempt_enter(pool);\n	{\n", REFUSED),
    ("resume: nested attempt notes its place", NESTED, "", REFUSED),
    ("resume: node abandoned in another queue is resumed", ELSEWHERE, "	if (false) {\n",
     SAME_LEVEL),
    ("nesting: node of a nested attempt is not marked",
     "	WRITE_ONCE(node->nested, pool->attempts);\n", ""),
    ("nesting: resumed node stays that of a nested attempt",
     "	WRITE_ONCE(node->nested, false);\n", "",
     "a deadlock with it lasts until the patience ends, as with a nested attempt"),
    ("nesting: attempt counts as nested after it has ended", "	pool->attempts--;\n", ""),
)), *mutants("node.c", HOST, (
    ("resume: node of any queue is checked for an abandon in this one",
     "	if (stands && nbq_place_is_of(node, lock))\n",
     "	if (stands)\n", "the same: its lock is checked again"),
    ("resume: freed node counts as abandoned",
     "	return node->abandoned_seq == taken && READ_ONCE(node->free_seq) != taken;\n",
     "	return node->abandoned_seq == taken;\n"),
    ("resume: places are recorded for ever",
     "	unsigned long left = pool->abandoned_in & ~BIT(nbq_place_hash(lock));\n",
     "	unsigned long left = pool->abandoned_in;\n"),
    ("resume: place at another lock is forgotten, too",
     "	if (!stands || READ_ONCE(node->lock) == lock)\n", "	if (true)\n"),
)), *mutants("node.c", KEEPS_NODE, (
    ("resume: node that was allocated again counts as abandoned",
     "	return node->abandoned_seq == taken && READ_ONCE(node->free_seq) != taken;\n",
     "	return READ_ONCE(node->free_seq) != taken;\n"),
)), *mutants("internal.h", KEEPS_NODE, (
    ("resume: resumed node counts as abandoned",
     "	node->abandoned_seq = node->alloc_seq - 1;\n", ""),
)), *mutants("queue_lock.h", HOST, (
    ("resume: init does not forget the places of an earlier lock",
     "	nbq_forget_places(lock);\n", ""),
    ("resume: no place is resumed", "	node = nbq_resume(pool, lock, ops->resume, &pred);\n",
     "	node = NULL;\n"),
    ("resume: attempt that finds its node free does not search for an abandoned one",
     "nbq_contention_is_traced() ||\n		     nbq_may_have_abandoned(pool, lock)))\n",
     "nbq_contention_is_traced()))\n"),
)), *mutants("clh_nb.c", HOST, (
    ("clh: resumed waiter that abandons its node swaps the tail",
     "	if (!node->resumed &&\n	    cmpxchg_release(&lock->tail, node, pred) == node) {\n",
     "	if (cmpxchg_release(&lock->tail, node, pred) == node) {\n"),
    ("clh: resumed flag outlives the wait",
     "	nbq_held_add(node, lock);\n	node->resumed = false;\n", "	nbq_held_add(node, lock);\n"),
    ("clh: resumed flag outlives the abandon",
     "	node->resumed = false;\n	nbq_note_abandoned(node, lock);\n", "	nbq_note_abandoned(node, lock);\n"),
)), *mutants("clh_nb.c", STEPS, (
    ("clh: resumed predecessor counts as skipped",
     "	if (!nbq_node_skip(pred, prev))\n		return pred;\n",
     "	nbq_node_skip(pred, prev);\n"),
)), *mutants("mcs_nb.c", STEPS, (
    ("mcs: node is resumed although a successor has linked to it",
     MCS_RESUME, "	if (READ_ONCE(node->next) != state)\n		return NULL;\n"
     "	WRITE_ONCE(node->next, NULL);\n"),
    ("mcs: notified waiter does not check whether the predecessor has resumed",
     "			state = nbq_mcs_link(node, pred);\n		}\n", "		}\n"),
    ("mcs: linked waiter links again when it resumes",
     "			   node->known ? NULL : nbq_mcs_link(node, pred));\n",
     "			   nbq_mcs_link(node, pred));\n"),
    ("mcs: unlinked waiter does not link when it resumes",
     "			   node->known ? NULL : nbq_mcs_link(node, pred));\n",
     "			   NULL);\n"),
)), *mutants("mcs_nb.c", HOST, (
    ("mcs: waiter that abandoned a linked node does not resume",
     "	node->known = !forgotten;\n", "	node->known = false;\n"),
    ("mcs: resumed waiter that abandons its node swaps the tail",
     "	if (!node->resumed &&\n	    cmpxchg_release(&lock->tail, node, pred) == node) {\n",
     "	if (cmpxchg_release(&lock->tail, node, pred) == node) {\n"),
    ("mcs: resumed flag outlives the wait",
     "	nbq_held_add(node, lock);\n	node->resumed = false;\n", "	nbq_held_add(node, lock);\n"),
)), *mutants("mcs_nb.c", NESTING, (
    ("mcs: node abandoned in another queue is resumed", ELSEWHERE, "	if (false) {\n", SAME_LEVEL),
)), *mutants("swap_nb.c", STEPS, (
    ("swap: node is resumed although a successor has linked to it",
     SWAP_RESUME, "	if (READ_ONCE(node->next) != NBQ_LEAVING)\n		return NULL;\n"
     "	WRITE_ONCE(node->next, NULL);\n"),
    ("swap: notified waiter does not check whether the predecessor has resumed",
     "			state = nbq_swap_link(node, pred);\n		}\n", "		}\n"),
    ("swap: abandoned node behind a resumed one counts as the end of the wait",
     "		if (!state || state == abandoned)\n", "		if (state == abandoned)\n"),
)), *mutants("swap_nb.c", NESTING, (
    ("swap: node abandoned in another queue is resumed", ELSEWHERE, "	if (false) {\n"),
)), *mutants("spin.c", HOST, (
    ("spin: init does not forget the places of an earlier lock",
     "	nbq_forget_places(lock);\n", ""),
)), *mutants("bare_spin.c", BARE, (
    ("bare: abandoned place is noted",
     "taken || wait->deadline->forgets_place ? NULL : lock", "taken ? NULL : lock"),
    ("bare: place of an exported operation is resumed", " && !deadline->forgets_place &&", " &&"),
    ("bare: attempts are those of the exported operations",
     "	deadline.forgets_place = true;\n", ""),
    ("bare: attempt without patience resumes a place",
     "(nbq_deadline_is_none(&deadline) && !deadline.forgets_place)",
     "(nbq_deadline_is_none(&deadline))"),
    ("bare: wait without end ends at a deadlock",
     "	while (unlikely(acquire_for_seat(lock, nbq_deadline_at(KTIME_MAX))))\n",
     "	if (unlikely(acquire_for_seat(lock, nbq_deadline_at(KTIME_MAX))))\n"),
    ("bare: attempt enqueues before it searches its own CPU",
     "	if (nbq_wait_is_own(&wait)) {\n",
     "	poll(lock, &place, &wait);\n	if (nbq_wait_is_own(&wait)) {\n"),
)), *mutants("bare_spin.c", HOST, (
    ("spin: no place is resumed",
     "	if (!place->node)\n		return false;\n	wait->in_order",
     "	if (true)\n		return false;\n	wait->in_order"),
    ("spin: resumed predecessor counts as skipped",
     "		if (!nbq_node_skip(pred, prev))\n			return pred;\n",
     "		nbq_node_skip(pred, prev);\n"),
)), *mutants("bare_spin.c", POLICY, (
    ("spin: resumed waiter has waited since then only",
     "		place->since = place->node->since;\n", ""),
    ("spin: resumed waiter does not check its predecessor's heartbeat",
     "		place->since = place->node->since;\n		check_pred(lock, place, wait);\n",
     "		place->since = place->node->since;\n"),
    ("spin: attempt after one that was too late to enqueue does not enqueue at once",
     "nbq_deadline_is_none(wait->deadline) ||\n			    wait->pool->late_for == lock;\n",
     "nbq_deadline_is_none(wait->deadline);\n"),
    ("spin: enqueued attempt stays late for ever", "	WRITE_ONCE(pool->late_for, NULL);\n", ""),
))]
