# SPDX-License-Identifier: GPL-2.0
"""Defects that the explorer must find: those of the algorithms as printed, and every free of
a node, dropped and doubled.

Most are mutants (tools/verification/mutate), by their names; the others are here.
"""

from verification.mutate.lists import MUTANTS
from verification.mutate.mutant import Mutant, mutants

CLH_ABANDON = ("	if (!node->resumed &&\n"
               "	    cmpxchg_release(&lock->tail, node, pred) == node) {\n")
CLH_RELEASE = "	if (cmpxchg_release(&lock->tail, node, NULL) == node) {\n"
MCS_RELEASE = "	    cmpxchg_release(&lock->tail, node, NULL) == node) {\n"
MCS_LINKED = "		}\n		nbq_node_free_own(node);\n"
MCS_SKIPPED = "		skipped++;\n		state = spin_on_pred(node, pred, nbq_mcs_link(node, pred), &wait);\n"
GRANT = "	succ = xchg(&node->next, NBQ_AVAILABLE);\n"
FREE_OWN = "		nbq_node_free_own(node);\n"

SPIN_TAKE = "	return try_cmpxchg_acquire(&lock->state.all, &state->all, taken.all);\n"
SPIN_DEQUEUE = ("	if (!has_successor && "
                "cmpxchg_release(tail, number, 0) == number) {\n")
SPIN_END = ("	freed = place->pred ? nbq_spin_abandon(place->tail, place->node, place->pred) :\n"
            "			     nbq_spin_dequeue_head(place->tail, place->node, place->has_successor);\n")
SPIN_HEAD = "	smp_store_release(&node->prev, NBQ_AVAILABLE);\n"

OWN = (
    *mutants("clh_nb.c", {}, (
        # The papers' prose: ABA with another context on the same pool.
        ("clh: abandon publishes prev before it swaps the tail, as in prose", CLH_ABANDON,
         "	smp_store_release(&node->prev, pred);\n"
         "	if (cmpxchg_release(&lock->tail, node, pred) != node) {\n"
         "		events->nodes_abandoned++;\n		return false;\n	}\n	{\n"),
        ("clh: enqueue does not reset prev", "	WRITE_ONCE(node->prev, NULL);\n", ""),
        ("clh: release frees its node twice", CLH_RELEASE,
         CLH_RELEASE + FREE_OWN),
    )),
    *mutants("mcs_nb.c", {}, (
        # As printed.
        ("mcs: timeout while nodes are skipped releases the lock", MCS_SKIPPED,
         "		skipped++;\n		if (nbq_deadline_passed(&deadline)) {\n"
         "			notify_successor(xchg(&node->next, NBQ_AVAILABLE), NBQ_AVAILABLE,\n"
         "			     &node->pool->events);\n"
         "			return nbq_wait_end(&wait, -ETIMEDOUT);\n		}\n"
         "		state = spin_on_pred(node, pred, nbq_mcs_link(node, pred), &wait);\n"),
        ("mcs: abandon of the tail frees its node twice", MCS_LINKED,
         MCS_LINKED + FREE_OWN),
        ("mcs: release frees its node twice", MCS_RELEASE,
         MCS_RELEASE + FREE_OWN),
    )),
    *mutants("swap_nb.c", {}, (
        ("swap: release stores AVAILABLE in prev, as printed", GRANT,
         "	WRITE_ONCE(node->prev, NBQ_AVAILABLE);\n	succ = NULL;\n"),
    )),
)

OWN += (
    *mutants("bare_spin.c", {}, (
        ("spin: take does not test for a holder", SPIN_TAKE,
         "	return xchg(&lock->state.all, taken.all) || true;\n"),
        ("spin: dequeue does not pass the headship", SPIN_HEAD, ""),
        ("spin: dequeue publishes before it swaps the tail", SPIN_DEQUEUE,
         "	WRITE_ONCE(node->prev, NBQ_AVAILABLE);\n" + SPIN_DEQUEUE),
        ("spin: abandon as dequeue", SPIN_END,
         "	freed = nbq_spin_dequeue_head(place->tail, place->node, place->has_successor);\n"),
        ("spin: acting head that acquires the lock stays in the queue", SPIN_END,
         "	freed = true;\n	if (!place->pred || !taken)\n	" + SPIN_END),
    )),
)


class OfOneType(Mutant):
    """A mistake that one lock type must notice."""

    def __init__(self, lock, mutant):
        super().__init__(mutant.name, mutant.file, mutant.old, mutant.new, {}, {})
        self.lock = lock

    @property
    def types(self):
        return (self.lock,)


# The policy of the hybrid, default and first come, first served.
POLICY = (
    ("spin", mutants("bare_spin.c", {}, (
        ("spin: newcomers ignore the request for a handoff",
         "	return likely(!word->state.handoff) || !tail_of_turn(lock, word->state.turn) ||\n",
         "	return true || \n"),
        ("spin: no waiter acts for the head",
         "		      has_passed(heartbeat, wait->now, STALLED_NS) ||\n", ""),
    ))),
    ("spin", mutants("wait.c", {}, (
        ("wait: epoch of an earlier wait counts",
         "	       READ_ONCE(wait->pool->waiting.blocker.tagged) &&\n", ""),
        ("wait: old epoch of a holder on this CPU counts",
         "			return !exactly_behind || is_held_here(wait, owner, held);\n",
         "			return true;\n"),
    ))),
)

# Defects that need another configuration than the quick ones.
NEEDS = {
    "clh: abandon publishes prev before it swaps the tail, as in prose":
        "nmi_in_nmi_and_retry",
    "wait: attempt without patience searches its own CPU in the queue":
        "nmi_above_one_of_two_waiters",
    # With one attempt each, two predecessors do not abandon before the third polls.
    "mcs: abandoned predecessor treated as a timeout": "two_of_three_twice",
    "mcs: clock ends the skipping": "two_of_three_twice",
    "resume: no place is resumed": "three_twice",
    "wait: epoch of an earlier wait counts": "former_deadlock",
    "sockets: head awaits its turn for ever": "sockets_once",
    "wait: old epoch of a holder on this CPU counts": "former_deadlock",
}

OF_MUTANTS = (
    "clh: abandoned predecessor treated as a timeout",
    "clh: clock ends the skipping",
    "clh: abandon publishes prev before it swaps the tail",
    "clh: release publishes before it swaps the tail",
    "clh: abandon does not publish its predecessor",
    "clh: abandon does not free its node",
    "clh: abandon frees its node twice",
    "clh: granted does not reclaim the predecessor's node",
    "clh: granted reclaims the predecessor's node twice",
    "clh: skip does not reclaim the abandoned node",
    "clh: skip reclaims the node twice",
    "clh: release does not free its node",
    "clh: lock leaves the list of held locks after the handover",
    "mcs: abandoned predecessor treated as a timeout",
    "mcs: clock ends the skipping",
    "mcs: abandon publishes before it swaps the tail",
    "mcs: release publishes before it swaps the tail",
    "mcs: enqueue does not reset next",
    "mcs: link does not reset its status",
    "mcs: link resets its status after the swap",
    "mcs: abandon does not store prev",
    "mcs: abandon of the tail does not free its node",
    "mcs: linked waiter that abandons the tail frees its node at once",
    "mcs: linked waiter that abandons the tail never frees its node",
    "mcs: notify never reclaims the successor's node",
    "mcs: notify reclaims the successor's node twice",
    "mcs: skip does not reclaim the abandoned node",
    "mcs: skip reclaims the node twice",
    "mcs: skip reclaims a TRANSIENT node at once",
    "mcs: skip reads prev after the swap of status",
    "mcs: granted does not reclaim the predecessor's node",
    "mcs: granted reclaims the predecessor's node twice",
    "mcs: release does not free its node",
    "mcs: lock leaves the list of held locks after the handover",
    "swap: abandoned predecessor treated as a timeout",
    "swap: clock ends the skipping",
    "swap: enqueue does not reset next",
    "swap: link does not reset its status",
    "swap: link resets its status after the swap",
    "swap: notify never reclaims the successor's node",
    "swap: notify reclaims the successor's node twice",
    "swap: skip does not reclaim an unlinked node",
    "swap: skip reclaims every node at once",
    "swap: skip never reclaims a linked node",
    "swap: skip reclaims the node twice",
    "swap: granted does not reclaim the predecessor's node",
    "swap: granted reclaims the predecessor's node twice",
    "swap: prev read after the node was skipped",
    "swap: lock leaves the list of held locks after the handover",
    "spin: dequeue does not free its node",
    "spin: dequeue frees its node twice",
    "spin: abandon does not free its node",
    "spin: abandon frees its node twice",
    "spin: skip does not reclaim the predecessor's node",
    "spin: request for a handoff never expires",
    "spin: request for a handoff holds in an empty queue",
    "spin: interrupt above a waiter of its own CPU is refused",
    "spin: waiter that times out withdraws the request for a handoff",
    "try finds every lock busy",
    "try finds a lock with abandoned nodes busy",
    "deadline: try that failed is reported as a timeout",
    "wait: attempt without patience searches its own CPU in the queue",
    "destroy does not reclaim the nodes",
    "alloc tests, then sets",
    "resume: node is resumed although a successor has skipped it",
    "resume: node is skipped although its place was resumed",
    "resume: skipped node counts as abandoned",
    "resume: no place is resumed",
    "sockets: head awaits its turn for ever",
    "sockets: destroy stays in the queue",
    "sockets: destroy does not sweep the queues",
    "clh: resumed predecessor counts as skipped",
    "mcs: node is resumed although a successor has linked to it",
    "mcs: notified waiter does not check whether the predecessor has resumed",
    "mcs: linked waiter links again when it resumes",
    "mcs: unlinked waiter does not link when it resumes",
    "swap: node is resumed although a successor has linked to it",
    "swap: notified waiter does not check whether the predecessor has resumed",
)

BY_NAME = {mutant.name: mutant for mutant in MUTANTS}
DEFECTS = (*OWN, *(BY_NAME[name] for name in OF_MUTANTS),
           *(OfOneType(lock, mutant) for lock, of_lock in POLICY for mutant in of_lock))
