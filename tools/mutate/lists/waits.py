# SPDX-License-Identifier: GPL-2.0
"""Mistakes in who waits for whom."""

from mutate.kinds import WAITS
from mutate.mutant import mutants

LOOK_BACK = (
    "		if (waiting && (smp_load_acquire(&waiting->pred) != pred ||\n"
    "				(round && !is_older(waiting, *round))))\n"
    "			return false;\n")

MUTANTS = [*mutants("wait.c", WAITS, (
    ("wait: lock held by its own CPU is not looked for",
     "	if (holder && holder->cpu == pool->cpu)\n		return true;\n", ""),
    ("wait: lock waited for under it is not looked for",
     "	for (below = 0; below < wait->pool->level; below++) {\n",
     "	for (below = 0; below < 0; below++) {\n"),
    ("wait: any lock waited for under it will do",
     "		if (READ_ONCE(pool->waiting.pred) &&\n"
     "		    READ_ONCE(pool->waiting.lock) == wait->lock)\n",
     "		if (READ_ONCE(pool->waiting.pred))\n"),
    ("wait: holder of any CPU will do",
     "	if (holder && holder->cpu == pool->cpu)\n", "	if (holder)\n"),
    ("wait: interrupt walks as late as a task",
     "wait->pool->level ? wait->looks : wait->looks + FIRST_INTERVAL",
     "wait->looks + FIRST_INTERVAL"),
    ("wait: never walks",
     "	found = READ_ONCE(nbq_deadlock_checks) && is_cycle(wait, pred, word);\n",
     "	found = false;\n"),
    ("wait: walks once only",
     "	wait->walk_at = wait->looks + wait->interval;\n",
     "	wait->walk_at = wait->looks - 1;\n"),
    ("wait: walk is believed without a round",
     "	return comes_back(wait, pred, word, &round);\n", "	return true;\n"),
    ("wait: walk does not ask since when they wait",
     "	return (long)(READ_ONCE(waiting->since) - round) < 0;\n", "	return true;\n"),
    ("wait: walk does not see that a predecessor has spoken",
     "		if (smp_load_acquire(word))\n", "		if (false)\n"),
    ("wait: walk does not look back",
     LOOK_BACK, ""),
    ("wait: walk follows one that waits for its own CPU",
     "		if (waiting != &pool->waiting && READ_ONCE(waiting->lock) == lock)\n"
     "			return false;\n", ""),
    ("wait: walk ignores who has interrupted an owner",
     "	unsigned int above = NBQ_LEVELS - pool->level;\n", "	unsigned int above = 1;\n"),
    ("wait: walk ends too early",
     "	unsigned int steps = nr_cpu_ids;", "	unsigned int steps = 5;"),
    ("wait: note of a wait outlives it",
     "		WRITE_ONCE(wait->pool->waiting.pred, NULL);\n", ""),
    ("wait: note is not renewed behind the next predecessor",
     "	wait->check_at = wait->looks;\n}", "}"),
    ("wait: wait is as old as the last round",
     "	WRITE_ONCE(waiting->since, atomic_long_read(&rounds));\n",
     "	WRITE_ONCE(waiting->since, atomic_long_read(&rounds) - 1);\n"),
)), *mutants("wait.h", WAITS, (
    ("wait: deadlock is reported as a timeout",
     "		wait->error = -EDEADLK;\n", ""),
))]
