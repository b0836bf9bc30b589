# SPDX-License-Identifier: GPL-2.0
"""Kinds of mistakes, by the layers that can see them: {layer: what it must know}.

host: the tests that look, of tools/verification/host, in this order, up to the first that fails:
program, "TYPE" of lock, compiler, variant, then millions of acquisitions and seconds
a case; and edits that are made besides.

explorer, litmus: nothing; they know by the lock types and by the text.

kunit: the suites that look, with * for anything; for what the host's stand-ins for the
kernel leave out, or what the suites count more exactly.
"""


class HostTests:
    def __init__(self, *tests, besides=()):
        self.tests = tests
        self.besides = besides


# In the order of steps.
STEPS = {"host": HostTests("smoke TYPE gcc asan", "steps TYPE gcc asan",
                           "threads TYPE gcc tsan 0.1 1"),
         "explorer": ()}

# In what the explorer leaves out: counts, misuse, times.
BESIDES_STEPS = {"host": STEPS["host"]}

# In what contexts of one level that nest do to each other.
NESTING = {"host": HostTests("nesting TYPE gcc asan")}

# In deadlock checks.
WAITS = {"host": HostTests("deadlock TYPE gcc plain"), "explorer": ()}

# In the ordering of memory. A thread sanitizer ignores marked accesses: those that the
# orderings alone keep apart are made plain in every copy. Deadlock checks are off there: they
# read the words of other contexts at any time, and recheck. So do an attempt without patience
# and is_contended, which do not read the tail's node there.
PLAIN = (
    ("mcs_nb.c", "READ_ONCE(pred->prev)", "pred->prev"),
    ("mcs_nb.c", "WRITE_ONCE(node->prev, pred)", "node->prev = pred"),
    ("mcs_nb.c", "WRITE_ONCE(node->status, NULL)", "node->status = NULL"),
    ("swap_nb.c", "READ_ONCE(abandoned->prev)", "abandoned->prev"),
    ("swap_nb.c", "WRITE_ONCE(node->prev, pred)", "node->prev = pred"),
    ("swap_nb.c", "WRITE_ONCE(node->status, NULL)", "node->status = NULL"),
    ("swap_nb.c", "WRITE_ONCE(node->next, NULL)", "node->next = NULL"),
    ("wait.c", "nbq_deadlock_checks __read_mostly = true;",
     "nbq_deadlock_checks __read_mostly = false;"),
    ("queue_lock.h", "	    !nbq_queue_is_idle(lock, READ_ONCE(lock->tail), ops)) {\n",
     "	    false) {\n"),
    ("queue_lock.h", "	if (nbq_queue_is_idle(lock, tail, ops))\n		return false;\n",
     "	if (!tail)\n		return false;\n"),
    ("queue_lock.h", "	if (ops->pred_of(tail))\n		return true;\n", ""),
)
ORDERINGS = {"host": HostTests("threads TYPE gcc tsan 0.1 1", "threads TYPE clang tsan 0.2 2",
                               besides=PLAIN),
             "litmus": ()}
# Of kernels of 32 bits.
STEPS_32BIT = {"host": HostTests("smoke TYPE_32bit gcc asan", "steps TYPE_32bit gcc asan")}
ORDERINGS_32BIT = {"host": HostTests("threads TYPE_32bit gcc tsan 0.1 1",
                                     "threads TYPE_32bit clang tsan 0.2 2", besides=PLAIN),
                   "litmus": ()}
# The same of deadlock checks and others, which those copies do not have.
CHECKS = {"litmus": ()}
