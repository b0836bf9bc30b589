# SPDX-License-Identifier: GPL-2.0
"""Orderings of memory, each weakened."""

from verification.mutate.kinds import ORDERINGS, CHECKS
from verification.mutate.mutant import mutants

ABANDON_CAS = ("	if (!node->resumed &&\n"
             "	    cmpxchg_release(&lock->tail, node, pred) == node) {\n")
RELEASE_CAS = "	if (cmpxchg_release(&lock->tail, node, NULL) == node) {\n"
ABANDON = "	smp_store_release(&node->prev, pred);\n"
GRANT = "	smp_store_release(&node->prev, NBQ_AVAILABLE);\n"

# For an attempt without patience, which the copies for the thread sanitizer do not have. The
# caller of destroy has ordered all uses of the lock before it.
ONLY_TRY = {"host": "matters in an attempt without patience only"}

# Full barriers, dependencies and other orders in the kernel's model do the same work;
# each is a row that says so in Documentation/ordering.rst, which the litmus tests check.
SPARE = {"litmus": "spare in the kernel's model: see Documentation/ordering.rst"}


SPARE_HALVES = {"mcs: notify without release", "mcs: notify without acquire",
                "mcs: release without acquire", "mcs: abandon without acquire",
                "mcs: skip without acquire", "swap: notify without release",
                "swap: notify without acquire", "swap: release without acquire",
                "swap: enqueue without acquire", "swap: abandon without acquire",
                "swap: skip without release", "swap: skip without acquire"}


def half_resumes(name, old):
    """The swap by which a place is resumed, one half taken away."""
    return tuple((f"{name}: resume without {missing}", old,
                  old.replace("cmpxchg(", f"cmpxchg_{weaker}("))
                 for weaker, missing in (("acquire", "release"), ("release", "acquire")))


def half_swaps(name, what_abandons, what_skips):
    """Every full swap of a lock type with status words, one half taken away."""
    for weaker, missing in (("acquire", "release"), ("release", "acquire")):
        for what, old in (
                ("enqueue", "	return xchg(&lock->tail, node);\n"),
                ("link", "	state = xchg(&pred->next, node);\n"),
                ("notify", "xchg(&succ->status, state)"),
                ("release", "	succ = xchg(&node->next, NBQ_AVAILABLE);\n"),
                ("abandon", what_abandons),
                ("skip", what_skips)):
            mutant = f"{name}: {what} without {missing}"
            yield (mutant, old, old.replace("xchg(", f"xchg_{weaker}("),
                   SPARE if mutant in SPARE_HALVES else {})


RELAXED_POLL = ("	return smp_load_acquire(&node->status);\n",
                "	return READ_ONCE(node->status);\n")
RELAXED_PRED_OF = ("smp_load_acquire(&node->next)", "READ_ONCE(node->next)")

MUTANTS = [*mutants("clh_nb.c", ORDERINGS, (
    ("clh: release by a relaxed store",
     GRANT, "	WRITE_ONCE(node->prev, NBQ_AVAILABLE);\n"),
    ("clh: relaxed swap of the tail in release",
     RELEASE_CAS, RELEASE_CAS.replace("release", "relaxed")),
    ("clh: relaxed poll",
     "	return smp_load_acquire(&pred->prev);\n", "	return READ_ONCE(pred->prev);\n"),
    ("clh: enqueue without acquire",
     "	return xchg(&lock->tail, node);\n", "	return xchg_release(&lock->tail, node);\n"),
    ("clh: enqueue without release",
     "	return xchg(&lock->tail, node);\n", "	return xchg_acquire(&lock->tail, node);\n"),
    ("clh: relaxed swap of the tail in abandon",
     ABANDON_CAS, ABANDON_CAS.replace("release", "relaxed"),
     # The tail goes back to a node whose own enqueue released it already, and the swap
     # passes that on (a release sequence). Kept for cumulativity.
     "not needed in this model"),
    ("clh: abandon publishes prev by a relaxed store",
     ABANDON, "	WRITE_ONCE(node->prev, pred);\n",
     # The reader of this prev has enqueued behind the node, and the node behind pred: that
     # orders what is read of pred. Kept for cumulativity, too.
     "not needed in this model"),
)), *mutants("mcs_nb.c", ORDERINGS, (
    *half_swaps("mcs", "xchg(&node->next, state)", "xchg(&pred->status, NBQ_RECYCLED)"),
    ("mcs: relaxed poll", *RELAXED_POLL),
    ("mcs: linked waiter that abandons the tail swaps status without acquire",
     "xchg(&node->status, NBQ_RECYCLED)", "xchg_release(&node->status, NBQ_RECYCLED)",
     SPARE),
    ("mcs: linked waiter that abandons the tail swaps status without release",
     "xchg(&node->status, NBQ_RECYCLED)", "xchg_acquire(&node->status, NBQ_RECYCLED)",
     # The predecessor frees the node for the CPU that has abandoned it: program order. Kept
     # so that the swaps of status are alike.
     "the next user is the same CPU"),
    ("mcs: relaxed swap of the tail in abandon",
     ABANDON_CAS, ABANDON_CAS.replace("release", "relaxed"),
     # Needed: else the next enqueue may link to pred before this waiter is unlinked there,
     # and find its address. No sanitizer watches the order of two atomic operations, which
     # x86 never changes.
     {"host": "needs a machine that reorders atomic operations"}),
    ("mcs: relaxed swap of the tail in release",
     "cmpxchg_release(&lock->tail, node, NULL)", "cmpxchg_relaxed(&lock->tail, node, NULL)"),
    ("mcs: relaxed pred_of", *RELAXED_PRED_OF, ONLY_TRY),
)), *mutants("swap_nb.c", ORDERINGS, (
    *half_swaps("swap", "xchg(&node->next, NBQ_LEAVING)", "xchg(&abandoned->status, NBQ_RECYCLED)"),
    ("swap: relaxed poll", *RELAXED_POLL),
    ("swap: relaxed pred_of", *RELAXED_PRED_OF, ONLY_TRY),
)), *mutants("internal.h", ORDERINGS, (
    ("relaxed free",
     "	smp_store_release(&node->free_seq, alloc_seq);\n",
     "	WRITE_ONCE(node->free_seq, alloc_seq);\n"),
    ("alloc without acquire",
     "	unsigned long free_seq = smp_load_acquire(&node->free_seq);\n",
     "	unsigned long free_seq = READ_ONCE(node->free_seq);\n", SPARE),
)), *mutants("node.c", ORDERINGS, (
    ("new node appended by a relaxed store",
     "	smp_store_release(link, node);\n", "	WRITE_ONCE(*link, node);\n"),
    ("relaxed load of the next node", "smp_load_acquire(link)", "READ_ONCE(*link)", SPARE),
)), *mutants("internal.h", CHECKS, (
    ("relaxed load of a pool's state", "smp_load_acquire(&pool->setup)",
     "READ_ONCE(pool->setup)"),
    ("relaxed load of the counts of skipped nodes", "smp_load_acquire(&pool->skip_counts)",
     "READ_ONCE(pool->skip_counts)", SPARE),
)), *mutants("node.c", CHECKS, (
    ("pool is set up by a relaxed store",
     "smp_store_release(&pool->setup, NBQ_POOL_READY)",
     "WRITE_ONCE(pool->setup, NBQ_POOL_READY)"),
    ("relaxed load of the state of a pool that another context sets up",
     "return smp_load_acquire(&pool->setup)", "return READ_ONCE(pool->setup)"),
    ("static encodable nodes are published by a relaxed store",
     "smp_store_release(&pool->encodable, &own->encodable)",
     "WRITE_ONCE(pool->encodable, &own->encodable)"),
    ("relaxed load of the encodable nodes",
     "smp_load_acquire(&pool->encodable)", "READ_ONCE(pool->encodable)", SPARE),
)), *mutants("pool.c", CHECKS, (
    ("encodable nodes are published by a relaxed store",
     "smp_store_release(&pool->encodable, encodable)", "WRITE_ONCE(pool->encodable, encodable)"),
    ("counts of skipped nodes are published by a relaxed store",
     "smp_store_release(&pool->skip_counts, skip_counts)", "WRITE_ONCE(pool->skip_counts, skip_counts)"),
)), *mutants("internal.h", CHECKS, half_resumes("clh", "cmpxchg(&node->prev, pred, NULL)")),
           *mutants("mcs_nb.c", CHECKS, half_resumes("mcs", "cmpxchg(&node->next, state, NULL)")),
           *mutants("swap_nb.c", CHECKS,
                    half_resumes("swap", "cmpxchg(&node->next, NBQ_LEAVING, NULL)")),
           *mutants("queue_lock.h", CHECKS, (
    ("relaxed swap of the tail in destroy",
     "cmpxchg(&lock->tail, node, NULL)", "cmpxchg_relaxed(&lock->tail, node, NULL)", SPARE),
)), *mutants("wait.c", CHECKS, (
    ("wait: word published by a relaxed store",
     "smp_store_release(&waiting->word, word)", "WRITE_ONCE(waiting->word, word)", SPARE),
    ("wait: predecessor published by a relaxed store",
     "smp_store_release(&waiting->blocker.tagged, blocker.tagged)", "WRITE_ONCE(waiting->blocker.tagged, blocker.tagged)"),
    ("wait: relaxed load of the polled word",
     "smp_load_acquire(word)", "READ_ONCE(*word)"),
    ("wait: relaxed recheck",
     "smp_load_acquire(&waiting->blocker.tagged) == blocker.tagged", "READ_ONCE(waiting->blocker.tagged) == blocker.tagged"),
    ("wait: relaxed load of the predecessor",
     "blocker->tagged = smp_load_acquire(&waiting->blocker.tagged);", "blocker->tagged = READ_ONCE(waiting->blocker.tagged);"),
    ("wait: epoch begun without acquire",
     "atomic_long_inc_return(&epochs)", "atomic_long_inc_return_release(&epochs)"),
    ("wait: epoch begun without release",
     "atomic_long_inc_return(&epochs)", "atomic_long_inc_return_acquire(&epochs)"),
    ("wait: epoch begun in no order",
     "atomic_long_inc_return(&epochs)", "atomic_long_inc_return_relaxed(&epochs)"),
    ("wait: pause in no order", "	smp_wmb();\n", ""),
))]
