# SPDX-License-Identifier: GPL-2.0
"""Mistakes in patience: when it starts, when the clock is read, when it is over."""

from verification.mutate.kinds import HostTests, STEPS
from verification.mutate.mutant import Mutant, mutants

DEADLINE = {"host": HostTests("smoke TYPE gcc asan"), "kunit": ("nbq_deadline",)}
WHO_WAITS = {"host": HostTests("smoke TYPE gcc asan", "deadlock TYPE gcc plain"),
             "kunit": ("nbq_clh_lockdep",)}

IS_NONE = "	return deadline->relative && deadline->at <= 0;\n"

ERROR = "	return nbq_deadline_is_none(deadline) ? -EBUSY : -ETIMEDOUT;\n"

MUTANTS = [*mutants("deadline.h", DEADLINE, (
    ("deadline: clock read at every 64th poll when it is far",
     "#define NBQ_POLLS_PER_CLOCK	32\n", "#define NBQ_POLLS_PER_CLOCK	64\n"),
    ("deadline: clock read at every poll",
     "	if (deadline->polls) {\n", "	if (false) {\n"),
    ("deadline: polls are not counted",
     "		deadline->polls--;\n", ""),
    ("deadline: clock read a poll late", "	deadline->polls = stride - 1;\n",
     "	deadline->polls = stride;\n"),
    ("deadline: as many polls from read to read as at first",
     "	unsigned int stride = 2 * deadline->stride;\n",
     "	unsigned int stride = deadline->stride;\n"),
    ("deadline: first polls are as many however near it is",
     "		took = NBQ_FIRST_POLLS << NBQ_FIRST_POLL_SHIFT;\n", "		took = 0;\n"),
    ("deadline: nearness makes no difference",
     "stride > NBQ_POLLS_PER_CLOCK || took > left / 2", "stride > NBQ_POLLS_PER_CLOCK"),
    ("deadline: next read as late as the deadline", "took > left / 2", "took > 2 * left"),
    ("deadline: polls are not timed", "	deadline->read_at = now;\n", ""),
    ("deadline: no limit to the polls",
     "stride > NBQ_POLLS_PER_CLOCK || took > left / 2", "took > left / 2"),
    ("deadline: no poll at all", "	while (stride > 1 && (", "	while (stride && ("),
    ("deadline: clock is read and ignored",
     "	if (now >= deadline->at)\n", "	if (false)\n"),
    ("deadline: over at the first clock read",
     "	if (now >= deadline->at)\n", "	if (true)\n"),
    ("deadline: over a nanosecond late",
     "	if (now >= deadline->at)\n", "	if (now > deadline->at)\n"),
    ("deadline: patience starts again at every clock read",
     "	deadline->relative = false;\n", ""),
    ("deadline: patience never starts",
     "	if (deadline->relative)\n		nbq_deadline_start(deadline, now);\n", ""),
    ("deadline: patience starts with the attempt",
     "	return (struct nbq_deadline){ .at = patience, .relative = true };\n",
     "	return nbq_deadline_at((ktime_t)nbq_clock_ns() + patience);\n"),
    ("deadline: patience counts from the start of time",
     "		deadline->at += now;\n", "		{ }\n"),
    ("deadline: sum past the end of time is not never",
     "	if (deadline->at > KTIME_MAX - now)\n", "	if (false)\n"),
    ("deadline: sum at the end of time is past it",
     "	if (deadline->at > KTIME_MAX - now)\n",
     "	if (deadline->at >= KTIME_MAX - now)\n",
     {Mutant.ANY: "the same: that sum is KTIME_MAX"}),
    ("deadline: patience of 0 reads the clock",
     "deadline->relative && deadline->at <= 0;", "deadline->relative && deadline->at < 0;"),
    ("deadline: negative patience reads the clock",
     "deadline->relative && deadline->at <= 0;", "deadline->relative && deadline->at == 0;"),
    ("deadline: never is compared with the clock",
     "	if (deadline->at == KTIME_MAX)\n		return false;\n", ""),
    ("deadline: no patience is compared with the clock",
     "	if (nbq_deadline_is_none(deadline))\n		return true;\n", ""),
)), *mutants("deadline.h", STEPS, (
    ("deadline: try that failed is reported as a timeout",
     ERROR, "	return nbq_deadline_is_none(deadline) ? -ETIMEDOUT : -ETIMEDOUT;\n",
     {"host": "needs another context that enqueues between two loads of the attempt"}),
    ("deadline: timeout is reported as a try that failed", ERROR,
     "	return nbq_deadline_is_none(deadline) ? -EBUSY : -EBUSY;\n"),
)), *mutants("deadline.h", WHO_WAITS, (
    ("deadline: every attempt has patience",
     IS_NONE, "	return false;\n"),
    ("deadline: no attempt has patience",
     IS_NONE, "	return true;\n"),
    ("deadline: deadline counts as a patience",
     IS_NONE, "	return deadline->at <= 0;\n", {"kunit": "no case has a deadline before boot"}),
))]
