# SPDX-License-Identifier: GPL-2.0
"""Which lines of nbqlock/ a commit has changed."""

import re

from base.common import Failure, output_of
from host.mutate.edits import SOURCE

HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@")


def git(*words):
    return output_of(["git", "-C", SOURCE, *words])


def default_base():
    """Where the branch has left main; on main, what the last commit or the work tree changed."""
    head, fork = git("rev-parse", "HEAD"), git("merge-base", "HEAD", "main")
    if fork and fork != head:
        return fork.strip()
    return "HEAD" if git("diff", "--name-only", "HEAD", "--", "nbqlock") else "HEAD~1"


def changed_lines(base=None):
    """{file: set of numbers of lines} that differ from a commit's. A cut counts as its edges."""
    base = base or default_base()
    diff = git("diff", "-U0", "--no-ext-diff", "--relative", base, "--", "nbqlock")
    if diff is None:
        raise Failure(f"git knows no commit {base}")
    return lines_of(diff)


def lines_of(diff):
    changed, file = {}, ""
    for line in diff.splitlines():
        if line.startswith("+++ "):
            file = line.partition("/nbqlock/")[2]
        hunk = HUNK.match(line)
        if hunk:
            first, number = int(hunk[1]), int(hunk[2] or 1)
            changed.setdefault(file, set()).update(
                range(first, first + number) if number else (first, first + 1))
    return changed
