# SPDX-License-Identifier: GPL-2.0
"""Reports of the data race detector KCSAN: which of them have to do with us."""

import re

from testbed.common import say

# What ends a report is a line of its own; what it says of a module stands in brackets.
REPORT = re.compile(r"^[^\n]*?BUG: KCSAN: (?P<where>[^\n]*)\n.*?^[^\n]*={20,}$",
                    re.MULTILINE | re.DOTALL)
OURS = re.compile(r" \[nbq\w*\]")


def foreign_races(log):
    """The reports in which neither side was called by code of ours."""
    return [report for report in REPORT.finditer(log) if not OURS.search(report[0])]


def without_foreign_races(outcome):
    """Take races of the kernel with itself out of an outcome's log, and say so."""
    kept = outcome.log
    for report in foreign_races(outcome.log):
        say(f"  a race of the kernel with itself is passed over: {report['where']}")
        kept = kept.replace(report[0], "")
    outcome.log = kept
