# SPDX-License-Identifier: GPL-2.0
"""Mistakes in who waits for whom."""

from verification.mutate.kinds import HostTests, WAITS
from verification.mutate.mutant import Mutant, mutants

LOOK_BACK = (
    "		if (waiting && (smp_load_acquire(&waiting->pred) != pred ||\n"
    "				(epoch && !is_older(waiting, *epoch))))\n"
    "			return false;\n")

NONE_FIRST = ("		if (nbq_deadline_is_none(wait->deadline))\n"
              "			return false;\n")
OWN_SECOND = ("		if (READ_ONCE(nbq_deadlock_checks) && wait->checks && is_own(wait))\n"
              "			return true;\n")

SEARCH = ("	if (checks && READ_ONCE(nbq_deadlock_checks) && wait->checks &&\n"
          "	    is_deadlock(wait, pred, word))\n		return true;\n")

TOLD_LATER = {"explorer": "told all the same, by the next walk"}
# Some configurations have as many contexts, but take too long for a mutant.
MORE_CONTEXTS = {"explorer": "needs more contexts than its quick configurations have"}
# What is counted, and what is not looked for: when, and whether at all.
COUNTS = {"host": HostTests("smoke TYPE gcc asan", "steps TYPE gcc asan",
                            "deadlock TYPE gcc plain")}

HELD_HERE = "	while (!nbq_held_find(pool, wait->lock)) {\n"

MUTANTS = [*mutants("wait.c", WAITS, (
    ("wait: lock held by its own CPU is not looked for",
     HELD_HERE, "	while (true) {\n"),
    ("wait: lock held under it is not looked for",
     HELD_HERE, "	while (pool != wait->pool || !nbq_held_find(pool, wait->lock)) {\n"),
    ("wait: lock held by the same context is not looked for",
     HELD_HERE, "	while (pool == wait->pool || !nbq_held_find(pool, wait->lock)) {\n"),
    ("wait: level of tasks is not looked at",
     "		if (!below--)\n", "		if (below-- <= 1)\n"),
    ("wait: lock waited for under it is not looked for",
     "		if (READ_ONCE(pool->waiting.pred) &&\n"
     "		    READ_ONCE(pool->waiting.lock) == wait->lock)\n			return true;\n",
     "", TOLD_LATER),
    ("wait: any lock waited for under it will do",
     "		if (READ_ONCE(pool->waiting.pred) &&\n"
     "		    READ_ONCE(pool->waiting.lock) == wait->lock)\n",
     "		if (READ_ONCE(pool->waiting.pred))\n"),
    ("wait: who holds a lock does not search",
     "(preempt_count() & PREEMPT_MASK) > 1;", "(preempt_count() & PREEMPT_MASK) > 2;"),
    ("wait: who has interrupted another does not search",
     "!IS_ENABLED(CONFIG_PREEMPT_COUNT) || is_interrupt(wait) ||",
     "!IS_ENABLED(CONFIG_PREEMPT_COUNT) ||"),
    ("wait: interrupt walks as late as a task",
     "		wait->deadlock_check_at = wait->now + (is_interrupt(wait) ? 0 : FIRST_CHECK_NS);\n",
     "		wait->deadlock_check_at = wait->now + FIRST_CHECK_NS;\n",
     # nbq_wait_check() has it walk at once when it leaves its note.
     {Mutant.ANY: "the same for all who leave a note; others are told later"}),
    ("wait: never walks", SEARCH, ""),
    ("wait: walks once only",
     "	wait->deadlock_check_at = wait->now + wait->interval;\n",
     "	wait->deadlock_check_at = KTIME_MAX;\n"),
    ("wait: walk is believed without a round",
     "	return leads_back(wait, pred, word, &epoch);\n", "	return true;\n"),
    ("wait: walk does not ask since when they wait",
     "	return (long)(READ_ONCE(waiting->since) - epoch) < 0;\n", "	return true;\n"),
    ("wait: walk does not see that a predecessor has spoken",
     "		if (!is_holder(pred) && smp_load_acquire(word))\n", "		if (false)\n"),
    ("wait: walk does not look back",
     LOOK_BACK, "", MORE_CONTEXTS),
    ("wait: walk follows one that waits for its own CPU",
     "		if (waiting != &nbq_pool_of(owner)->waiting && READ_ONCE(waiting->lock) == lock)\n"
     "			return false;\n", "",
     {"explorer": "the circle is there: who is told of it too early is not wrong"}),
    ("wait: walk ignores who has interrupted an owner",
     "	unsigned int above = NBQ_LEVELS - nbq_context_level(context);\n",
     "	unsigned int above = 1;\n"),
    ("wait: walk ends too early",
     "	unsigned int steps = nr_cpu_ids;", "	unsigned int steps = 5;", MORE_CONTEXTS),
    ("wait: note of a wait outlives it",
     "	WRITE_ONCE(wait->pool->waiting.pred, NULL);\n", ""),
    ("wait: note is not renewed behind the next predecessor",
     "	wait->check_at = wait->polls;\n	/* Time has gone", "	/* Time has gone",
     TOLD_LATER),
    ("wait: wait is as old as the last round",
     "	WRITE_ONCE(waiting->since, atomic_long_read(&epochs));\n",
     "	WRITE_ONCE(waiting->since, atomic_long_read(&epochs) - 1);\n"),
    ("wait: walk begins no round",
     "	epoch = atomic_long_inc_return(&epochs);\n",
     "	epoch = atomic_long_read(&epochs);\n"),
    ("wait: wait that began in a round counts as older",
     "	return (long)(READ_ONCE(waiting->since) - epoch) < 0;\n",
     "	return (long)(READ_ONCE(waiting->since) - epoch) <= 0;\n"),
    ("wait: rounds do not wrap",
     "	return (long)(READ_ONCE(waiting->since) - epoch) < 0;\n",
     "	return READ_ONCE(waiting->since) < epoch;\n",
     {Mutant.ANY: "the same before some 2^63 rounds"}),
    ("wait: walk does not know its own CPU",
     "		if (nbq_context_cpu(owner) == nbq_context_cpu(wait->context))\n"
     "			return !exactly_behind || is_held_here(wait, owner, held);\n", ""),
    ("wait: walk follows notes that are younger than its round",
     "		if (!pred || (epoch && !is_older(waiting, *epoch)))\n", "		if (!pred)\n",
     "the same: it looks back at each before it believes in any"),
    ("wait: walk passes the top level by",
     "	unsigned int above = NBQ_LEVELS - nbq_context_level(context);\n",
     "	unsigned int above = NBQ_LEVELS - nbq_context_level(context) - 1;\n"),
    ("wait: walk is one step shorter than there are CPUs",
     "	unsigned int steps = nr_cpu_ids;", "	unsigned int steps = nr_cpu_ids - 1;",
     MORE_CONTEXTS),
    ("wait: walk has no end",
     "	for (; pred && steps; steps--) {\n", "	for (; pred && steps; ) {\n",
     {"explorer": "who goes round for ever comes to states that it knows"}),
    ("wait: levels below are not looked at one by one",
     "		pool--;\n", ""),
    ("wait: one of the same level overwrites the note",
     "	if (!READ_ONCE(wait->pool->waiter))\n", "	if (true)\n", MORE_CONTEXTS),
    ("wait: the end of a wait does not make room for the next",
     "		WRITE_ONCE(wait->pool->waiter, NULL);\n", "		{ }\n",
     {"explorer": "nobody there is in a circle at a second wait"}),
    ("wait: interrupt does not walk behind a new neighbour",
     "		checks |= is_interrupt(wait);\n", "",
     TOLD_LATER),
    ("wait: task walks as often as an interrupt",
     "			     MAX_INTERRUPT_INTERVAL_NS : MAX_INTERVAL_NS);\n",
     "			     MAX_INTERRUPT_INTERVAL_NS : MAX_INTERRUPT_INTERVAL_NS);\n",
     {Mutant.ANY: "walks cost time, and find the same"}),
    ("wait: task searches at once",
     "		wait->deadlock_check_at = wait->now + (is_interrupt(wait) ? 0 : FIRST_CHECK_NS);\n",
     "		wait->deadlock_check_at = wait->now;\n",
     {Mutant.ANY: "walks cost time, and find the same"}),
    ("wait: walks do not become rarer",
     "	wait->interval = min(2 * wait->interval,", "	wait->interval = min(wait->interval,",
     {Mutant.ANY: "walks cost time, and find the same"}),
    ("wait: check is not asked for again",
     "	wait->check_at = wait->tick_at;\n", ""),
    ("wait: attempt without patience looks for its own CPU in the queue",
     NONE_FIRST + OWN_SECOND, OWN_SECOND + NONE_FIRST,
     {**MORE_CONTEXTS, "host": "needs one that has left the swap-only lock's queue behind a "
                               "waiter of the same CPU"}),
)), *mutants("wait.c", COUNTS, (
    ("wait: own CPU is looked at although nobody is to look",
     "		if (READ_ONCE(nbq_deadlock_checks) && wait->checks && is_own(wait))\n",
     "		if (wait->checks && is_own(wait))\n"),
    ("wait: walks are made although nobody is to walk",
     SEARCH, SEARCH.replace("READ_ONCE(nbq_deadlock_checks) && ", "")),
    ("wait: attempt without patience waits",
     "		if (nbq_deadline_is_none(wait->deadline))\n			return false;\n", ""),
    ("wait: hand-over is not counted",
     "		events->acquired_handoff++;\n", "		{ }\n"),
    ("wait: deadlock is counted as a timeout",
     "		events->deadlocks++;\n", "		events->timeouts++;\n"),
    ("wait: timeout is not counted",
     "		events->timeouts++;\n", "		{ }\n"),
    ("wait: try that came to stand in the queue is not counted",
     "	else if (ret == -EBUSY)\n		events->failed_tries++;\n", ""),
    ("wait: contention is announced twice",
     "	if (!wait->deadline->announced) {\n", "	if (true) {\n"),
    ("wait: contention goes on for a tracer after the wait",
     "	if (wait->deadline->announced)\n		nbq_contention_end(wait->lock, ret);\n", ""),
)), *mutants("wait.h", WAITS, (
    ("wait: deadlock is reported as a timeout",
     "		wait->error = -EDEADLK;\n", ""),
))]
