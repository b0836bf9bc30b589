# SPDX-License-Identifier: GPL-2.0
"""Orderings of memory, each weakened."""

from verification.mutate.kinds import ORDERINGS, WALKS
from verification.mutate.mutant import mutants

LEAVE_CAS = ("	if (!node->resumed &&\n"
             "	    cmpxchg_release(&lock->tail, node, pred) == node) {\n")
RELEASE_CAS = "	if (cmpxchg_release(&lock->tail, node, NULL) == node) {\n"
ABANDON = "	smp_store_release(&node->prev, pred);\n"
HAND_OVER = "	smp_store_release(&node->prev, NBQ_AVAILABLE);\n"

# Whoever destroys a lock knows that all who have left are done with it, and not
# from the lock: what tells it so has ordered their stores before. Kept for a
# destroy too early, which looks at nodes that are being left.
ONLY_MISUSE = {"host": "matters in a destroy too early only"}

# Full barriers, dependencies and other orders in the kernel's model do the same work;
# each is a row that says so in Documentation/ordering.rst, which the litmus tests check.
SPARE = {"litmus": "spare in the kernel's model: see Documentation/ordering.rst"}


SPARE_HALVES = {"mcs: tell without release", "mcs: tell without acquire",
                "mcs: hand_over without acquire", "mcs: leave without acquire",
                "mcs: step_over without acquire", "swap: tell without release",
                "swap: tell without acquire", "swap: hand_over without acquire",
                "swap: join without acquire", "swap: leave without acquire",
                "swap: step_over without release", "swap: step_over without acquire"}


def half_swaps(name, what_leaves, what_is_stepped_over):
    """Every full swap of a lock type with status words, one half taken away."""
    for weaker, missing in (("acquire", "release"), ("release", "acquire")):
        for what, old in (
                ("join", "	return xchg(&lock->tail, node);\n"),
                ("link", "	state = xchg(&pred->next, node);\n"),
                ("tell", "xchg(&succ->status, state)"),
                ("hand_over", "	succ = xchg(&node->next, NBQ_AVAILABLE);\n"),
                ("leave", what_leaves),
                ("step_over", what_is_stepped_over)):
            mutant = f"{name}: {what} without {missing}"
            yield (mutant, old, old.replace("xchg(", f"xchg_{weaker}("),
                   SPARE if mutant in SPARE_HALVES else {})


RELAXED_LOOK = ("	return smp_load_acquire(&node->status);\n",
                "	return READ_ONCE(node->status);\n")
RELAXED_IN_FRONT = ("smp_load_acquire(&node->next)", "READ_ONCE(node->next)")

MUTANTS = [*mutants("clh_nb.c", ORDERINGS, (
    ("clh: hand over by a relaxed store",
     HAND_OVER, "	WRITE_ONCE(node->prev, NBQ_AVAILABLE);\n"),
    ("clh: relaxed swap of the tail in hand_over",
     RELEASE_CAS, RELEASE_CAS.replace("release", "relaxed")),
    ("clh: relaxed look",
     "	return smp_load_acquire(&pred->prev);\n", "	return READ_ONCE(pred->prev);\n"),
    ("clh: join without acquire",
     "	return xchg(&lock->tail, node);\n", "	return xchg_release(&lock->tail, node);\n"),
    ("clh: join without release",
     "	return xchg(&lock->tail, node);\n", "	return xchg_acquire(&lock->tail, node);\n"),
    ("clh: relaxed swap of the tail in leave",
     LEAVE_CAS, LEAVE_CAS.replace("release", "relaxed"),
     # The tail goes back to a node whose own join released it already, and the
     # swap carries that on (a release sequence). The models that the design
     # explored do without this release too; it is kept for cumulativity.
     "not needed in this model"),
    ("clh: leave publishes prev by a relaxed store",
     ABANDON, "	WRITE_ONCE(node->prev, pred);\n",
     # Whoever reads this prev has joined behind the leaver, and the leaver
     # behind pred: the joins have shown it all there is to see of pred. Kept
     # for cumulativity like the one above.
     "not needed in this model"),
)), *mutants("mcs_nb.c", ORDERINGS, (
    *half_swaps("mcs", "xchg(&node->next, state)", "xchg(&pred->status, NBQ_RECYCLED)"),
    ("mcs: relaxed look", *RELAXED_LOOK),
    ("mcs: known leaver at the tail swaps status without acquire",
     "xchg(&node->status, NBQ_RECYCLED)", "xchg_release(&node->status, NBQ_RECYCLED)",
     SPARE),
    ("mcs: known leaver at the tail swaps status without release",
     "xchg(&node->status, NBQ_RECYCLED)", "xchg_acquire(&node->status, NBQ_RECYCLED)",
     # What the leaver did to its node comes before the node's next user, to
     # whom the one in front gives it: that is the leaver's own CPU, in program
     # order. Kept so that the swaps of status are all alike.
     "the next user is the leaver's own CPU"),
    ("mcs: relaxed swap of the tail in leave",
     LEAVE_CAS, LEAVE_CAS.replace("release", "relaxed"),
     # Needed: else the next to join may find pred through the tail and link to
     # it before the leaver is forgotten there, and take the leaver's address
     # for a word of pred's. But that is the order of two atomic operations,
     # which no sanitizer watches and x86 never changes.
     {"host": "needs a machine that reorders atomic operations"}),
    ("mcs: relaxed swap of the tail in hand_over",
     "cmpxchg_release(&lock->tail, node, NULL)", "cmpxchg_relaxed(&lock->tail, node, NULL)"),
    ("mcs: relaxed pred_of", *RELAXED_IN_FRONT, ONLY_MISUSE),
)), *mutants("swap_nb.c", ORDERINGS, (
    *half_swaps("swap", "xchg(&node->next, NBQ_LEAVING)", "xchg(&abandoned->status, NBQ_RECYCLED)"),
    ("swap: relaxed look", *RELAXED_LOOK),
    ("swap: relaxed pred_of", *RELAXED_IN_FRONT, ONLY_MISUSE),
)), *mutants("internal.h", ORDERINGS, (
    ("relaxed give_back",
     "	smp_store_release(&node->free_seq, alloc_seq);\n",
     "	WRITE_ONCE(node->free_seq, alloc_seq);\n"),
    ("claim without acquire",
     "	unsigned long free_seq = smp_load_acquire(&node->free_seq);\n",
     "	unsigned long free_seq = READ_ONCE(node->free_seq);\n"),
)), *mutants("node.c", ORDERINGS, (
    ("new node appended by a relaxed store",
     "	smp_store_release(link, node);\n", "	WRITE_ONCE(*link, node);\n"),
    ("relaxed look at the next node", "smp_load_acquire(link)", "READ_ONCE(*link)", SPARE),
)), *mutants("internal.h", WALKS, (
    ("relaxed look whether a pool is set up", "smp_load_acquire(&pool->setup)",
     "READ_ONCE(pool->setup)"),
    ("relaxed look at the counts of skipped nodes", "smp_load_acquire(&pool->skip_counts)",
     "READ_ONCE(pool->skip_counts)", SPARE),
)), *mutants("node.c", WALKS, (
    ("pool is set up by a relaxed store",
     "smp_store_release(&pool->setup, NBQ_POOL_READY)",
     "WRITE_ONCE(pool->setup, NBQ_POOL_READY)"),
    ("relaxed look whether another context has set a pool up",
     "return smp_load_acquire(&pool->setup)", "return READ_ONCE(pool->setup)"),
    ("static nodes are numbered by a relaxed store",
     "smp_store_release(&pool->encodable, &own->encodable)",
     "WRITE_ONCE(pool->encodable, &own->encodable)"),
    ("relaxed look at the nodes with a number",
     "smp_load_acquire(&pool->encodable)", "READ_ONCE(pool->encodable)", SPARE),
)), *mutants("pool.c", WALKS, (
    ("nodes are numbered by a relaxed store",
     "smp_store_release(&pool->encodable, encodable)", "WRITE_ONCE(pool->encodable, encodable)"),
    ("counts of skipped nodes are published by a relaxed store",
     "smp_store_release(&pool->skip_counts, skip_counts)", "WRITE_ONCE(pool->skip_counts, skip_counts)"),
)), *mutants("queue_lock.h", WALKS, (
    ("relaxed swap of the tail in destroy",
     "cmpxchg(&lock->tail, node, NULL)", "cmpxchg_relaxed(&lock->tail, node, NULL)"),
)), *mutants("wait.c", WALKS, (
    ("wait: word published by a relaxed store",
     "smp_store_release(&waiting->word, word)", "WRITE_ONCE(waiting->word, word)", SPARE),
    ("wait: predecessor published by a relaxed store",
     "smp_store_release(&waiting->pred, pred)", "WRITE_ONCE(waiting->pred, pred)"),
    ("wait: relaxed look at the word",
     "smp_load_acquire(word)", "READ_ONCE(*word)"),
    ("wait: relaxed look back",
     "smp_load_acquire(&waiting->pred) != pred", "READ_ONCE(waiting->pred) != pred"),
    ("wait: relaxed look at what an owner waits behind",
     "pred = smp_load_acquire(&waiting->pred);", "pred = READ_ONCE(waiting->pred);"),
    ("wait: round begun without acquire",
     "atomic_long_inc_return(&epochs)", "atomic_long_inc_return_release(&epochs)"),
    ("wait: round begun without release",
     "atomic_long_inc_return(&epochs)", "atomic_long_inc_return_acquire(&epochs)"),
    ("wait: round begun in no order",
     "atomic_long_inc_return(&epochs)", "atomic_long_inc_return_relaxed(&epochs)"),
    ("wait: pause in no order", "	smp_wmb();\n", ""),
))]
