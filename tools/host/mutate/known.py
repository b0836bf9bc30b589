# SPDX-License-Identifier: GPL-2.0
"""Mistakes of the papers' printed versions that no rule makes.

Each is found by its text; one whose text is there no more is made no more.
"""

from host.mutate.edits import SOURCE
from host.mutate.mutant import Mutant

# (file, function, what is printed, the text as it is, the text instead)
KNOWN = (
    ("swap_nb.c", "nbq_swap_release", "AVAILABLE is stored in prev",
     "	succ = xchg(&node->next, NBQ_AVAILABLE);\n",
     "	WRITE_ONCE(node->prev, NBQ_AVAILABLE);\n	succ = NULL;\n"),
    ("mcs_nb.c", "wait_linked", "a timeout while nodes are skipped releases the lock",
     "		skipped++;\n",
     "		skipped++;\n		if (nbq_deadline_passed(wait.deadline, nbq_clock_ns())) {\n"
     "			notify_successor(xchg(&node->next, NBQ_AVAILABLE), NBQ_AVAILABLE,\n"
     "					 &node->pool->events);\n"
     "			return nbq_wait_end(&wait, -ETIMEDOUT);\n		}\n"),
)


def known_mistakes():
    for file, function, what, old, new in KNOWN:
        text = (SOURCE / "nbqlock" / file).read_text()
        begin = text.find(old)
        if begin >= 0:
            yield Mutant(file, function, "printed", what, 1, begin, begin + len(old), new)
