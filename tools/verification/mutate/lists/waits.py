# SPDX-License-Identifier: GPL-2.0
"""Mistakes in deadlock checks."""

from verification.mutate.kinds import HostTests, NESTING, WAITS
from verification.mutate.mutant import Mutant, mutants

RECHECK = (
    "		if (waiting && !is_same_wait(waiting, blocker, epoch))\n"
    "			return false;\n")

OWN = "	return READ_ONCE(nbq_deadlock_checks) && wait->checks && is_own(wait);\n"
NONE = "	if (nbq_deadline_is_none(wait->deadline))\n		return false;\n"

CHECK = ("	if (checks && READ_ONCE(nbq_deadlock_checks) && wait->checks &&\n"
          "	    is_deadlock(wait, pred, word))\n		return true;\n")

FOUND_LATER = {"explorer": "found all the same, by the next check"}
# Some configurations have as many contexts, but take too long for a mutant.
MORE_CONTEXTS = {"explorer": "needs more contexts than its quick configurations have"}
# In what is counted, and in whether checks are made.
COUNTS = {"host": HostTests("smoke TYPE gcc asan", "steps TYPE gcc asan",
                            "deadlock TYPE gcc plain")}

HELD_HERE = "	while (!nbq_held_find(pool, wait->lock)) {\n"

MUTANTS = [*mutants("wait.c", WAITS, (
    ("wait: lock held by its own CPU is not found",
     HELD_HERE, "	while (true) {\n"),
    ("wait: lock held by an interrupted context is not found",
     HELD_HERE, "	while (pool != wait->pool || !nbq_held_find(pool, wait->lock)) {\n"),
    ("wait: lock held by the same context is not found",
     HELD_HERE, "	while (pool == wait->pool || !nbq_held_find(pool, wait->lock)) {\n"),
    ("wait: level of tasks is not searched",
     "		if (!below--)\n", "		if (below-- <= 1)\n"),
    ("wait: lock that an interrupted context waits for is not found",
     "		if (waits_for(pool, wait->lock))\n			return true;\n", "", FOUND_LATER),
    ("wait: any lock that an interrupted context waits for will do",
     "	return READ_ONCE(pool->waiting.blocker.tagged) && READ_ONCE(pool->waiting.lock) == lock;\n",
     "	return READ_ONCE(pool->waiting.blocker.tagged);\n"),
    ("wait: holder of a lock makes no check",
     "(preempt_count() & PREEMPT_MASK) > 1;", "(preempt_count() & PREEMPT_MASK) > 2;"),
    ("wait: interrupt makes no check",
     "!IS_ENABLED(CONFIG_PREEMPT_COUNT) || is_interrupt(wait) ||",
     "!IS_ENABLED(CONFIG_PREEMPT_COUNT) ||"),
    ("wait: interrupt checks as late as a task",
     "		wait->deadlock_check_at = wait->now + (is_interrupt(wait) ? 0 : FIRST_CHECK_NS);\n",
     "		wait->deadlock_check_at = wait->now + FIRST_CHECK_NS;\n",
     # nbq_wait_check() checks at once when it publishes.
     {Mutant.ANY: "the same for all that publish; others find it later"}),
    ("wait: no deadlock check", CHECK, ""),
    ("wait: check is made once only",
     "	wait->deadlock_check_at = wait->now + wait->interval;\n",
     "	wait->deadlock_check_at = KTIME_MAX;\n"),
    ("wait: check is made without an epoch",
     "	return leads_back(wait, blocker, word, &epoch);\n", "	return true;\n"),
    ("wait: check does not compare the epoch of a wait",
     "	return (long)(READ_ONCE(waiting->since) - epoch) < 0;\n", "	return true;\n"),
    ("wait: check does not read the polled word",
     "		if (!is_holder(blocker) && smp_load_acquire(word))\n", "		if (false)\n"),
    ("wait: check has no recheck",
     RECHECK, "", MORE_CONTEXTS),
    ("wait: check follows a waiter for its own CPU",
     "		if (waiting != &nbq_pool_of(owner)->waiting && READ_ONCE(waiting->lock) == lock)\n"
     "			return false;\n", "",
     {"explorer": "the deadlock is there: to report it too early is not wrong"}),
    ("wait: check ignores the interrupts above a holder",
     "	unsigned int above = NBQ_LEVELS - nbq_context_level(context);\n",
     "	unsigned int above = 1;\n"),
    ("wait: check ends too early",
     "	unsigned int steps = nr_cpu_ids;", "	unsigned int steps = 5;", MORE_CONTEXTS),
    ("wait: published predecessor outlives the wait",
     "	WRITE_ONCE(wait->pool->waiting.blocker.tagged, 0);\n", ""),
    ("wait: next predecessor is not published",
     "	wait->check_at = wait->polls;\n	/* Time has gone", "	/* Time has gone",
     FOUND_LATER),
    ("wait: wait is as old as the last epoch",
     "	WRITE_ONCE(waiting->since, atomic_long_read(&epochs));\n",
     "	WRITE_ONCE(waiting->since, atomic_long_read(&epochs) - 1);\n"),
    ("wait: check begins no epoch",
     "	epoch = atomic_long_inc_return(&epochs);\n",
     "	epoch = atomic_long_read(&epochs);\n"),
    ("wait: wait that began in an epoch counts as older",
     "	return (long)(READ_ONCE(waiting->since) - epoch) < 0;\n",
     "	return (long)(READ_ONCE(waiting->since) - epoch) <= 0;\n"),
    ("wait: epochs do not wrap",
     "	return (long)(READ_ONCE(waiting->since) - epoch) < 0;\n",
     "	return READ_ONCE(waiting->since) < epoch;\n",
     {Mutant.ANY: "the same before some 2^63 epochs"}),
    ("wait: check does not know its own CPU",
     "		if (nbq_context_cpu(owner) == nbq_context_cpu(wait->context))\n"
     "			return !exactly_behind || is_held_here(wait, owner, held);\n", ""),
    ("wait: check follows waits that are younger than its epoch",
     "	if (!blocker->tagged || (epoch && !is_older(waiting, *epoch)))\n", "	if (!blocker->tagged)\n",
     "the same: it rechecks each before it uses any"),
    ("wait: check skips the top level",
     "	unsigned int above = NBQ_LEVELS - nbq_context_level(context);\n",
     "	unsigned int above = NBQ_LEVELS - nbq_context_level(context) - 1;\n"),
    ("wait: check is one step shorter than there are CPUs",
     "	unsigned int steps = nr_cpu_ids;", "	unsigned int steps = nr_cpu_ids - 1;",
     MORE_CONTEXTS),
    ("wait: check has no end",
     "	for (; blocker.tagged && steps; steps--) {\n", "	for (; blocker.tagged && steps; ) {\n",
     {"explorer": "an endless check comes to states that are known"}),
    ("wait: levels below are not searched one by one",
     "		pool--;\n", ""),
    ("wait: nested context of the same level overwrites what is published",
     "	if (!wait->nested)\n", "	if (true)\n", MORE_CONTEXTS),
    ("wait: end of a wait does not clear the waiter",
     "		WRITE_ONCE(wait->pool->waiter, NULL);\n", "		{ }\n",
     {"explorer": "no configuration has a deadlock at a second wait"}),
    ("wait: interrupt does not check behind a new predecessor",
     "		checks |= is_interrupt(wait);\n", "",
     FOUND_LATER),
    ("wait: task checks as often as an interrupt",
     "			     MAX_INTERRUPT_INTERVAL_NS : MAX_INTERVAL_NS);\n",
     "			     MAX_INTERRUPT_INTERVAL_NS : MAX_INTERRUPT_INTERVAL_NS);\n",
     {Mutant.ANY: "checks cost time, and find the same"}),
    ("wait: task checks at once",
     "		wait->deadlock_check_at = wait->now + (is_interrupt(wait) ? 0 : FIRST_CHECK_NS);\n",
     "		wait->deadlock_check_at = wait->now;\n",
     {Mutant.ANY: "checks cost time, and find the same"}),
    ("wait: checks do not become rarer",
     "	wait->interval = min(2 * wait->interval,", "	wait->interval = min(wait->interval,",
     {Mutant.ANY: "checks cost time, and find the same"}),
    ("wait: check is not scheduled again",
     "	wait->check_at = wait->tick_at;\n", ""),
    ("wait: attempt without patience searches its own CPU in the queue",
     NONE + OWN, OWN,
     {**MORE_CONTEXTS, "host": "needs a node abandoned in the swap-only lock's queue behind a "
                               "waiter of the same CPU"}),
)), *mutants("wait.c", COUNTS, (
    ("wait: own CPU is searched although checks are off",
     OWN, OWN.replace("READ_ONCE(nbq_deadlock_checks) && ", "")),
    ("wait: check is made although checks are off",
     CHECK, CHECK.replace("READ_ONCE(nbq_deadlock_checks) && ", "")),
    ("wait: attempt without patience waits",
     "		if (nbq_deadline_is_none(wait->deadline))\n			return false;\n", ""),
    ("wait: handoff is not counted",
     "		events->acquired_handoff++;\n", "		{ }\n"),
    ("wait: deadlock is counted as a timeout",
     "		events->deadlocks++;\n", "		events->timeouts++;\n"),
    ("wait: timeout is not counted",
     "		events->timeouts++;\n", "		{ }\n"),
    ("wait: try that has enqueued is not counted",
     "	else if (ret == -EBUSY)\n		events->failed_tries++;\n", ""),
    ("wait: contention is announced twice",
     "	if (!wait->deadline->announced) {\n", "	if (true) {\n"),
    ("wait: contention goes on for a tracer after the wait",
     "	if (wait->deadline->announced)\n		nbq_contention_end(wait->lock, ret);\n", ""),
    ("wait: its begin is not traced with its caller and holder",
     "		trace_nbq_wait_begin(wait->lock, wait->held_by, wait->ip);\n", ""),
    ("wait: its end is not traced",
     "	if (wait->deadline->announced || ret == -EDEADLK)\n", "	if (ret == -EDEADLK)\n"),
)), *mutants("wait.h", WAITS, (
    ("wait: deadlock is reported as a timeout",
     "		wait->error = -EDEADLK;\n", ""),
)), *mutants("wait.c", NESTING, (
    ("nesting: path goes on through the node of a nested attempt",
     "		if (is_nested(blocker))\n			return false;\n", ""),
)), *mutants("wait.c", {"kunit": ("nbq_spin_fifo",)}, (
    ("nesting: lock that an attempt of its own level waits for is not found",
     "	if (wait->nested && waits_for(pool, wait->lock))\n		return true;\n", ""),
))]
