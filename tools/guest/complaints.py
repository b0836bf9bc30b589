# SPDX-License-Identifier: GPL-2.0
"""The words in which a kernel complains, whichever part of it does.

A line is enough: a report's first line names its kind. tools/module/faults provokes a
report of each kind, and the step "guest" has the lines as kernels print them.
"""

import re

from base.common import say

WORDS = (
    # The kernel's own code: WARN_ON(), BUG(), lockdep, KASAN, KCSAN, the scheduler, the
    # watchdogs and many more begin so; user-mode Linux has a BUG() of its own.
    r"\bWARNING: ", r"\bBUG: ", r"kernel BUG at", r"BUG \S+ \(.*\): ",
    # Faults: x86, arm64, user-mode Linux. A number in brackets counts them.
    r"\bOops\b", r"Unable to handle kernel", r"Internal error: ",
    r"general protection fault", r"Kernel mode (fault|signal)", r"\[#\d+\]",
    r"Kernel panic", r"Call [Tt]race:",
    # Locks and contexts.
    r"[Pp]ossible (circular|recursive|irq|interrupt) ", r"inconsistent (lock state|\{)",
    r"-unsafe lock order", r"bad (unlock balance|contention) detected",
    r"still has locks held", r"held lock freed",
    r"lock held when returning", r"Nested lock was not taken", r"Invalid wait context",
    r"INFO: (trying to register non-static key|lockdep is turned off)",
    r"turning off the locking correctness validator",
    r"scheduling (while atomic|in a non-blocking)", r"sleeping function called from invalid",
    r"corrupted preempt_count", r"preempt(ion)? (leak|imbalance)",
    r"returned with disabled interrupts", r"entered softirq .* with preempt_count",
    # RCU, and tasks or CPUs that do not come back.
    r"suspicious RCU", r"INFO: rcu", r"kthread (timer wakeup|starved)",
    r"INFO: task", r"soft lockup", r"hard LOCKUP", r"non-responsive CSD lock",
    # Memory, counts, lists, arithmetic.
    r"unreferenced object 0x", r"new suspected memory leaks",
    r"kmemleak: .*(detector disabled|Cannot |[Mm]emory pool empty)",
    r"\bUBSAN: ", r"refcount_t: ", r"list_(add|del) corruption", r"ODEBUG: ",
    # Unexpected interrupts.
    r"Uhhuh\. NMI received", r"irq \d+: nobody cared",
)
COMPLAINTS = re.compile("|".join(WORDS))


def complaints(log):
    """The lines of a kernel log in which the kernel complains."""
    return [line for line in log.splitlines()
            if COMPLAINTS.search(line)]


# What kernels complain of before they have a first process, and so before they load a
# module: (what, the report).
KNOWN = (
    # By kmemleak, RCU has a part in freeing memory; too early for a CPU that starts. The
    # report is of that CPU's idle task; how far its trace goes depends on where the host
    # has put the stack, so that os_start_secondary() is not always in it.
    ("user-mode Linux frees memory on a CPU that is not online yet", re.compile(
        r"^[^\n]*WARNING: suspicious RCU usage\n(?:[^\n]*\n){1,3}?"
        r"[^\n]*Callback enqueued on offline CPU!!\n(?:[^\n]*\n){1,8}?"
        r"[^\n]*no locks held by swapper/[1-9]\d*/0\.\n(?:[^\n]*\n){1,10}?"
        r"[^\n]*Call Trace:\n(?:[^\n]*>\] \? [^\n]*\n)*",
        re.MULTILINE)),
)
FIRST_PROCESS = "Run /init as init process"


def without_known(log):
    """A kernel log without known complaints of its start. Returns (log, what they were)."""
    start, mark, rest = log.partition(FIRST_PROCESS)
    whats = []
    for what, report in KNOWN:
        start, times = report.subn("", start)
        whats += [what] * bool(times)
    return start + mark + rest, whats


# Reports of the data race detector KCSAN: which of them have to do with us

# What ends a report is a line of its own; what it says of a module stands in brackets.
RACE = re.compile(r"^[^\n]*?BUG: KCSAN: (?P<where>[^\n]*)\n.*?^[^\n]*={20,}$",
                    re.MULTILINE | re.DOTALL)
OURS = re.compile(r" \[nbq\w*\]")


def foreign_races(log):
    """The reports in which neither side was called by code of ours."""
    return [report for report in RACE.finditer(log) if not OURS.search(report[0])]


def without_foreign_races(outcome):
    """Take races of the kernel with itself out of an outcome's log, and say so."""
    kept = outcome.log
    for report in foreign_races(outcome.log):
        say(f"  a race of the kernel with itself is passed over: {report['where']}")
        kept = kept.replace(report[0], "")
    outcome.log = kept
