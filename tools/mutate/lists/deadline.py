# SPDX-License-Identifier: GPL-2.0
"""Mistakes in patience: when it starts, when the clock is read, when it is over."""

from mutate.kinds import HostTests
from mutate.mutant import Mutant, mutants

DEADLINE = {"host": HostTests("smoke TYPE gcc asan"), "kunit": ("nbq_deadline",)}
WHO_WAITS = {"host": HostTests("smoke TYPE gcc asan", "deadlock TYPE gcc plain"),
             "kunit": ("nbq_clh_lockdep",)}

MUTANTS = [*mutants("deadline.h", DEADLINE, (
    ("deadline: clock read at every ninth poll",
     "#define NBQ_POLLS_PER_CLOCK	8\n", "#define NBQ_POLLS_PER_CLOCK	9\n"),
    ("deadline: clock read at every poll",
     "	if (deadline->polls++ % NBQ_POLLS_PER_CLOCK)\n		return false;\n", ""),
    ("deadline: clock not read at the first poll",
     "	if (deadline->polls++ % NBQ_POLLS_PER_CLOCK)\n",
     "	if (++deadline->polls % NBQ_POLLS_PER_CLOCK)\n"),
    ("deadline: polls are not counted",
     "	if (deadline->polls++ % NBQ_POLLS_PER_CLOCK)\n",
     "	if (deadline->polls % NBQ_POLLS_PER_CLOCK)\n"),
    ("deadline: clock is read and ignored",
     "	return now >= deadline->at;\n", "	return false;\n"),
    ("deadline: over at the first look at the clock",
     "	return now >= deadline->at;\n", "	return true;\n"),
    ("deadline: over a nanosecond late",
     "	return now >= deadline->at;\n", "	return now > deadline->at;\n"),
    ("deadline: patience starts again at every look at the clock",
     "	deadline->patience = 0;\n", ""),
    ("deadline: patience never starts",
     "	if (deadline->patience)\n		nbq_deadline_start(deadline, now);\n", ""),
    ("deadline: patience starts with the attempt",
     "	return (struct nbq_deadline){ .patience = patience };\n",
     "	return nbq_deadline_at((ktime_t)nbq_clock_ns() + patience);\n"),
    ("deadline: patience counts from the start of time",
     "		deadline->at = now + deadline->patience;\n",
     "		deadline->at = deadline->patience;\n"),
    ("deadline: sum past the end of time is not never",
     "	if (deadline->patience > KTIME_MAX - now)\n", "	if (false)\n"),
    ("deadline: sum at the end of time is past it",
     "	if (deadline->patience > KTIME_MAX - now)\n",
     "	if (deadline->patience >= KTIME_MAX - now)\n",
     {Mutant.ANY: "the same: that sum is KTIME_MAX"}),
    ("deadline: patience of 0 looks at the clock",
     "	if (patience <= 0)\n", "	if (patience < 0)\n"),
    ("deadline: negative patience looks at the clock",
     "	if (patience <= 0)\n", "	if (patience == 0)\n"),
    ("deadline: patience for ever is a sum",
     "	if (patience == KTIME_MAX)\n		return nbq_deadline_at(KTIME_MAX);\n", ""),
    ("deadline: never is compared with the clock",
     "		if (deadline->at == KTIME_MAX)\n			return false;\n", ""),
    ("deadline: no patience is compared with the clock",
     "		if (deadline->at == KTIME_MIN)\n			return true;\n", ""),
)), *mutants("deadline.h", WHO_WAITS, (
    ("deadline: everybody has patience",
     "	return !deadline->patience && deadline->at == KTIME_MIN;\n", "	return false;\n"),
    ("deadline: nobody has patience",
     "	return !deadline->patience && deadline->at == KTIME_MIN;\n", "	return true;\n"),
    ("deadline: patience does not count as such",
     "	return !deadline->patience && deadline->at == KTIME_MIN;\n",
     "	return deadline->at == KTIME_MIN;\n",
     {Mutant.ANY: "the same: at is 0 while there is a patience"}),
))]
