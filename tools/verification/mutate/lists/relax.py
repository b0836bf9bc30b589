# SPDX-License-Identifier: GPL-2.0
"""Mistakes in waiting by hardware: when there is time for it, and what comes after it."""

from verification.mutate.kinds import HostTests
from verification.mutate.mutant import mutants

HARDWARE = {"host": HostTests("relax TYPE_arm64 gcc asan")}

CHECK = ("	if (wait->checks && READ_ONCE(nbq_deadlock_checks) && until > wait->deadlock_check_at)\n"
          "		return false;\n")
BOUNDED = "	return nbq_deadline_is_after(wait->deadline, until) && nbq_relax_is_bounded();\n"
IS_AFTER = ("	return deadline->at == KTIME_MAX ||"
            " (!deadline->relative && deadline->at >= time);\n")

MUTANTS = [*mutants("wait.c", HARDWARE, (
    ("relax: deadline may come during a wait by hardware",
     BOUNDED, "	return nbq_relax_is_bounded();\n"),
    ("relax: wait by hardware without an event stream",
     BOUNDED, "	return nbq_deadline_is_after(wait->deadline, until);\n"),
    ("relax: deadlock check may come due during a wait by hardware", CHECK, ""),
    ("relax: waiter that makes checks never waits by hardware",
     CHECK, CHECK.replace(" && until > wait->deadlock_check_at", "")),
    ("relax: deadlock checks that are off prevent it",
     CHECK, CHECK.replace(" && READ_ONCE(nbq_deadlock_checks)", "")),
    ("relax: clock read is used behind the next predecessor",
     "	wait->by_hardware = false;\n", ""),
)), *mutants("wait.h", HARDWARE, (
    ("relax: deadline's clock is not read after a wait",
     "	wait->deadline->polls = 0;\n", "",
     "late by some polls only: the tick's clock is read, and forbids the next"),
)), *mutants("relax.h", HARDWARE, (
    ("relax: longest wait is shorter than the event stream's period",
     "#define NBQ_RELAX_MAX_NS	140000\n", "#define NBQ_RELAX_MAX_NS	100000\n"),
    ("relax: wait by hardware is not counted",
     "		wait->pool->events.hardware_waits++;\n", ""),
    ("relax: clock is not read after a wait by hardware",
     "		nbq_wait_read_clock(wait);\n", ""),
)), *mutants("deadline.h", HARDWARE, (
    ("relax: no wait by hardware without a deadline",
     IS_AFTER, IS_AFTER.replace("deadline->at == KTIME_MAX ||", "false ||")),
)), *mutants("bare_spin.c", HARDWARE, (
    ("relax: waiter by hardware counts as stalled",
     "#define STALLED_NS	(50000 + NBQ_RELAX_MAX_NS)\n", "#define STALLED_NS	50000\n"),
    ("relax: heartbeat is published after a wait by hardware",
     "	return wait->in_order || place->ticked_at == wait->now ? &place->pred->prev : NULL;\n",
     "	return &place->pred->prev;\n"),
    ("relax: acting head waits by hardware",
     "	if (!place->pred || place->acts_as_head)\n		return NULL;\n",
     "	if (!place->pred)\n		return NULL;\n"),
))]
