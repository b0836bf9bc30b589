# SPDX-License-Identifier: GPL-2.0
"""Defects that the explorer must find when they are put back: those of the algorithms as
printed, and every place where a node is given back, dropped and doubled.

Most are mutants (tools/verification/mutate), by their names; the others are here.
"""

from verification.mutate.lists import MUTANTS
from verification.mutate.mutant import Mutant, mutants

CLH_LEAVE = ("	if (!node->resumed &&\n"
             "	    cmpxchg_release(&lock->tail, node, pred) == node) {\n")
CLH_RELEASE = "	if (cmpxchg_release(&lock->tail, node, NULL) == node) {\n"
MCS_RELEASE = "	    cmpxchg_release(&lock->tail, node, NULL) == node) {\n"
MCS_KNOWN = "		}\n		nbq_node_free_own(node);\n"
MCS_WALKED = "		skipped++;\n		state = spin_on_pred(node, pred, nbq_mcs_link(node, pred), &wait);\n"
HAND_OVER = "	succ = xchg(&node->next, NBQ_AVAILABLE);\n"
GIVE_BACK = "		nbq_node_free_own(node);\n"

SPIN_TAKE = "	return try_cmpxchg_acquire(&lock->state.all, &state->all, taken.all);\n"
SPIN_PASS = ("	if (!has_successor && "
             "cmpxchg_release(tail, number, 0) == number) {\n")
SPIN_LEAVES = ("	freed = place->pred ? nbq_spin_abandon(place->tail, place->node, place->pred) :\n"
               "			     nbq_spin_dequeue_head(place->tail, place->node, place->has_successor);\n")
SPIN_LEAVE = ("	if (!node->resumed &&\n"
              "	    cmpxchg_release(tail, number, encode_tail(pred)) == number) {\n")
SPIN_HEAD = "	smp_store_release(&node->prev, NBQ_AVAILABLE);\n"

OWN = (
    *mutants("clh_nb.c", {}, (
        # The papers' prose: with another context on the same pool, ABA.
        ("clh: leave publishes prev first and swaps the tail after, as in prose", CLH_LEAVE,
         "	smp_store_release(&node->prev, pred);\n"
         "	if (cmpxchg_release(&lock->tail, node, pred) != node) {\n"
         "		events->nodes_abandoned++;\n		return false;\n	}\n	{\n"),
        ("clh: join does not reset prev", "	WRITE_ONCE(node->prev, NULL);\n", ""),
        ("clh: hand_over gives its own node back twice", CLH_RELEASE,
         CLH_RELEASE + GIVE_BACK),
    )),
    *mutants("mcs_nb.c", {}, (
        # As printed: a piece of the release that is missing elsewhere.
        ("mcs: timeout in the middle of the walk hands the lock over", MCS_WALKED,
         "		skipped++;\n		if (nbq_deadline_passed(&deadline)) {\n"
         "			notify_successor(xchg(&node->next, NBQ_AVAILABLE), NBQ_AVAILABLE,\n"
         "			     &node->pool->events);\n"
         "			return nbq_wait_end(&wait, -ETIMEDOUT);\n		}\n"
         "		state = spin_on_pred(node, pred, nbq_mcs_link(node, pred), &wait);\n"),
        ("mcs: leave as tail gives its own node back twice", MCS_KNOWN,
         MCS_KNOWN + GIVE_BACK),
        ("mcs: hand_over gives its own node back twice", MCS_RELEASE,
         MCS_RELEASE + GIVE_BACK),
    )),
    *mutants("swap_nb.c", {}, (
        ("swap: release stores AVAILABLE in prev, as printed", HAND_OVER,
         "	WRITE_ONCE(node->prev, NBQ_AVAILABLE);\n	succ = NULL;\n"),
    )),
)

OWN += (
    *mutants("spin.c", {}, (
        ("spin: take does not test whether somebody has taken it", SPIN_TAKE,
         "	return xchg(&lock->state.all, taken.all) || true;\n"),
        ("spin: pass does not give the head on", SPIN_HEAD, ""),
        ("spin: pass publishes before it swaps the tail", SPIN_PASS,
         "	WRITE_ONCE(node->prev, NBQ_AVAILABLE);\n" + SPIN_PASS),
        ("spin: leave as pass", SPIN_LEAVES,
         "	freed = nbq_spin_dequeue_head(place->tail, place->node, place->has_successor);\n"),
        ("spin: one that takes the lock stays in the queue", SPIN_LEAVES,
         "	freed = true;\n	if (!place->pred || !taken)\n	" + SPIN_LEAVES),
        ("spin: pass keeps its own node",
         SPIN_PASS + GIVE_BACK, SPIN_PASS),
        ("spin: pass gives its own node back twice", SPIN_PASS, SPIN_PASS + GIVE_BACK),
        ("spin: leave keeps its own node", SPIN_LEAVE + GIVE_BACK, SPIN_LEAVE),
        ("spin: leave gives its own node back twice", SPIN_LEAVE, SPIN_LEAVE + GIVE_BACK),
        ("spin: step_over keeps the leaver's node",
         "	nbq_node_reclaim(pred, &node->pool->events);\n", ""),
    )),
)


class OfOneType(Mutant):
    """A mistake that is looked for with one lock type only."""

    def __init__(self, lock, mutant):
        super().__init__(mutant.name, mutant.file, mutant.old, mutant.new, {}, {})
        self.lock = lock

    @property
    def types(self):
        return (self.lock,)


# The hybrid's policy, of which each kind has its own half.
POLICY = (
    ("spin", mutants("spin.c", {}, (
        ("spin: newcomers ignore the request to queue",
         "	return likely(!word->state.handoff) || !tail_of_turn(lock, word->state.turn) ||\n",
         "	return true || \n"),
        ("spin: no waiter acts for the head",
         "		      has_passed(heartbeat, wait->now, STALLED_NS) ||\n", ""),
    ))),
    ("fifo", mutants("spin.c", {}, (
        ("fifo: newcomers do not look whether there is a queue",
         "	return try_cmpxchg_acquire(&lock->word.all, &free.all, taken.all);\n",
         "	return try_cmpxchg_acquire(&lock->state.all, &free.state.all, taken.state.all);\n"),
        ("fifo: one in the middle takes the lock",
         "	return (!place->pred || place->acts_as_head) && poll_as_head(lock, place, wait);\n",
         "	return poll_as_head(lock, place, wait);\n"),
    ))),
    ("fifo_32bit", mutants("spin.c", {}, (
        ("fifo, 32 bits: newcomers take the lock beside the queue",
         "#else\n	return false;\n#endif\n",
         "#else\n	return !cmpxchg_acquire(&lock->state.holder, 0, context);\n#endif\n"),
    ))),
    ("spin", mutants("wait.c", {}, (
        ("wait: since of an earlier wait",
         "	       READ_ONCE(wait->pool->waiting.pred) &&\n", ""),
        ("wait: old note of a holder on this CPU is believed",
         "			return !exactly_behind || is_held_here(wait, owner, held);\n",
         "			return true;\n"),
    ))),
)

# Defects that need another configuration than the quick ones.
NEEDS = {
    "clh: leave publishes prev first and swaps the tail after, as in prose":
        "nmi_in_nmi_and_retry",
    "wait: attempt without patience looks for its own CPU in the queue":
        "nmi_above_one_of_two_waiters",
    # With one attempt each, two in front do not leave any more before the third has looked.
    "mcs: abandoned in front treated as a timeout (no skipped)": "two_of_three_twice",
    "mcs: clock ends the walk": "two_of_three_twice",
    "resume: nobody resumes": "three_twice",
    "wait: since of an earlier wait": "circle_that_was",
    "sockets: head rests for ever": "sockets_once",
    "wait: old note of a holder on this CPU is believed": "circle_that_was",
}

OF_MUTANTS = (
    "clh: abandoned in front treated as a timeout (no skipped)",
    "clh: clock ends the walk",
    "clh: leave publishes prev before it swaps the tail",
    "clh: hand_over publishes before it swaps the tail",
    "clh: leave abandons without saying who stood in front",
    "clh: leave keeps its own node",
    "clh: leave gives its node back twice",
    "clh: take_over keeps the predecessor's node",
    "clh: take_over gives the node back twice",
    "clh: step_over keeps the leaver's node",
    "clh: step_over gives the node back twice",
    "clh: hand_over keeps its own node",
    "clh: lock is taken off the list after the hand-over",
    "mcs: abandoned in front treated as a timeout (no skipped)",
    "mcs: clock ends the walk",
    "mcs: leave publishes before it swaps the tail",
    "mcs: hand_over publishes before it swaps the tail",
    "mcs: join does not reset next",
    "mcs: link does not reset its status",
    "mcs: link resets its status after the swap",
    "mcs: leave does not store prev",
    "mcs: leave as tail keeps its own node",
    "mcs: known leaver at the tail gives its node back at once",
    "mcs: known leaver at the tail never gives its node back",
    "mcs: tell never gives the successor's node back",
    "mcs: tell gives the successor's node back twice",
    "mcs: step_over keeps the leaver's node",
    "mcs: step_over gives the node back twice",
    "mcs: step_over gives a TRANSIENT node back at once",
    "mcs: step_over reads prev after the swap of status",
    "mcs: take_over keeps the predecessor's node",
    "mcs: take_over gives the node back twice",
    "mcs: hand_over keeps its own node",
    "mcs: lock is taken off the list after the hand-over",
    "swap: abandoned in front treated as a timeout (no skipped)",
    "swap: clock ends the walk",
    "swap: join does not reset next",
    "swap: link does not reset its status",
    "swap: link resets its status after the swap",
    "swap: tell never gives the successor's node back",
    "swap: tell gives the successor's node back twice",
    "swap: step_over keeps a forgotten leaver's node",
    "swap: step_over gives every node back at once",
    "swap: step_over never gives a known leaver's node back",
    "swap: step_over gives the node back twice",
    "swap: take_over keeps the predecessor's node",
    "swap: take_over gives the node back twice",
    "swap: prev read after the leaver was stepped over",
    "swap: lock is taken off the list after the hand-over",
    "spin: request to queue never expires",
    "spin: request to queue holds in an empty queue",
    "spin: interrupt above a waiter of its own CPU is refused",
    "spin: waiter that gives up takes the request to queue back",
    "try finds every lock busy",
    "try finds a lock busy that was left",
    "deadline: try that failed is reported as a timeout",
    "wait: attempt without patience looks for its own CPU in the queue",
    "destroy keeps the nodes",
    "claim tests, then sets",
    "resume: node is resumed although a successor has skipped it",
    "resume: node is skipped although its place was resumed",
    "resume: node that was skipped counts as left",
    "resume: nobody resumes",
    "sockets: head rests for ever",
    "sockets: destroy stays in the queue",
    "sockets: destroy leaves the queues as they are",
    "clh: one in front that waits again counts as skipped",
    "mcs: node is resumed although a successor has claimed it",
    "mcs: one that was told does not ask whether the one in front waits again",
    "mcs: one that is known makes itself known once more when it resumes",
    "mcs: one that was forgotten waits as one that is known when it resumes",
    "swap: node is resumed although a successor has claimed it",
    "swap: one that was told does not ask whether the one in front waits again",
)

BY_NAME = {mutant.name: mutant for mutant in MUTANTS}
DEFECTS = (*OWN, *(BY_NAME[name] for name in OF_MUTANTS),
           *(OfOneType(lock, mutant) for lock, of_lock in POLICY for mutant in of_lock))
