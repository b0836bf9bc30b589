# SPDX-License-Identifier: GPL-2.0
"""Mistakes in the list of the locks that a context holds."""

from verification.mutate.kinds import HostTests, BESIDES_STEPS, STEPS
from verification.mutate.mutant import mutants

LOCK = "	WRITE_ONCE(node->lock, lock);\n"
BELOW = "	WRITE_ONCE(node->below, pool->held);\n"
HELD = "	WRITE_ONCE(pool->held, node);\n"
FINDS = ("	while (node && READ_ONCE(node->lock) != lock)\n"
         "		node = READ_ONCE(node->below);\n	return node;\n")
LINK = "	while (unlikely(*link != node))\n		link = &(*link)->below;\n"
CONTEXTS = "			u16 context = nbq_encode_context(cpu, level);\n"

# An interrupt that comes in between attempts to acquire the lock.
HALF_MADE = {"host": HostTests("smoke TYPE gcc asan", "deadlock TYPE gcc plain"),
             "explorer": ()}

MUTANTS = [*mutants("internal.h", STEPS, (
    ("held: lock is put on the list without its name", LOCK + BELOW, BELOW),
    ("held: lock that was held before is forgotten", BELOW, "	WRITE_ONCE(node->below, NULL);\n"),
    ("held: list goes on with what was below the node before", BELOW, ""),
    ("held: lock acquired last is the one released", FINDS, "	return node;\n"),
    ("held: only the lock acquired last is compared",
     FINDS, "	return node && READ_ONCE(node->lock) == lock ? node : NULL;\n"),
    ("held: lock released takes those acquired after it off the list", LINK, ""),
    ("held: lock released takes those acquired before it off the list",
     "	WRITE_ONCE(*link, node->below);\n", "	WRITE_ONCE(*link, NULL);\n"),
)), *mutants("internal.h", HALF_MADE, (
    ("held: list is inconsistent when an interrupt comes",
     LOCK + BELOW + HELD, HELD + LOCK + BELOW),
)), *mutants("node.c", BESIDES_STEPS, (
    ("held: holder is not found", "				return context;\n", "				{ }\n"),
    ("held: holder is found by the lock acquired last only",
     "		node = READ_ONCE(node->below);\n", "		node = NULL;\n"),
    ("held: each context that holds a lock is the holder",
     "		if (READ_ONCE(node->lock) == lock)\n", "		if (READ_ONCE(node->lock))\n"),
    ("held: holder is searched on the first CPU only", CONTEXTS,
     CONTEXTS.replace("cpu, level", "0, level")),
    ("held: holder is searched among tasks only", CONTEXTS,
     CONTEXTS.replace("cpu, level", "cpu, 0")),
))]
