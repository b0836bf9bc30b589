# SPDX-License-Identifier: GPL-2.0
"""Kept results: the commits that they are of, and whether the locks are others by now."""

import functools
import re

from base.c_text import without_comments
from base.case import Case
from base.common import PROJECT, output_of

FOLDER = "Documentation/reference"
# A row of a report's table of findings: title, scenario, verdict; where it is simulated also the
# machine and the verdict on the other test bed. And a row of the page on the papers.
FINDING = re.compile(r'^   "(.*)","([\w-]+)",(?:"(.*)",".*",)?"\*\*(.*)\*\*"$', re.MULTILINE)
CLAIM = re.compile(r'^   "(.*)","(.*)","(.*)"$', re.MULTILINE)
OF_THE_PAPER = ("table1", "table1-contended", "figure5", "figure6")
LOCKS = ("nbqlock", ":(exclude)nbqlock/stress", ":(exclude)nbqlock/stress.h")
COMMIT = re.compile(r"\bcommit\W{1,4}([0-9a-f]{12})(?:-dirty)?\b", re.IGNORECASE)


def results(project=PROJECT):
    """{name: [commit]} of all that stands by itself: reports, their data, single figures."""
    folder = project / FOLDER
    return {path.relative_to(folder).as_posix():
            list(dict.fromkeys(COMMIT.findall(path.read_text(encoding="utf-8"))))
            for path in sorted(folder.rglob("*"))
            if path.is_file() and path.parent.name != "figures"}


@functools.lru_cache(maxsize=None)
def code_at(project, commit, file):
    """A file at a commit, without comments and spaces; empty if it was not there."""
    text = output_of(["git", "-C", project, "show", f"{commit}:{file}"]) or ""
    return "".join(without_comments(text).split())


@functools.lru_cache(maxsize=None)
def changed_since(project, commit):
    """The files of the locks with other code than at a commit; None if git does not have it."""
    names = output_of(["git", "-C", project, "diff", "--name-only", "--no-renames", commit, "HEAD",
                       "--", *LOCKS])
    return None if names is None else [
        name for name in names.splitlines() if name.endswith((".c", ".h"))
        and code_at(project, commit, name) != code_at(project, "HEAD", name)]


def age(commits, project=PROJECT):
    """The end of a sentence on a result: its commits, and whether the locks are others by now."""
    known = [changed_since(project, commit) for commit in commits]
    changed = {name for names in known for name in names or ()}
    if changed:
        words = f"older than the locks: {len(changed)} of their files differ"
    elif None in known:
        words = "which git does not know here: how old it is cannot be told"
    else:
        words = "the locks' code is the same"
    return f"of {', '.join(commits)}, {words}"


def findings(real, simulated):
    """{title: [verdict on real cores, verdicts simulated]} of the paper's experiments."""
    found = {}
    for column, report in enumerate((real, simulated)):
        for title, scenario, _, verdict in FINDING.findall(report):
            if scenario.removesuffix("-simulated") in OF_THE_PAPER:
                found.setdefault(title, [[], []])[column].append(verdict)
    return {title: ["; ".join(each) or "-" for each in columns]
            for title, columns in found.items()}


def papers_disagree(project=PROJECT):
    """What papers.rst says otherwise than the kept reports."""
    real, simulated, page = (
        (project / "Documentation" / name).read_text(encoding="utf-8")
        for name in ("reference/report.rst", "reference/simulated/report.rst", "papers.rst"))
    kept = findings(real, simulated)
    said = {title: columns for title, *columns in CLAIM.findall(page) if title != "finding"}
    return "".join(f"{title}: papers.rst has {said.get(title)}, the reports have "
                   f"{kept.get(title)}\n" for title in {**kept, **said}
                   if said.get(title) != kept.get(title))


def kept_results():
    """A case for each: it fails if no commit is named, not for being old."""
    for name, commits in results().items():
        what = f"is {age(commits)}" if commits else "names its commit"
        yield Case(f"docs: {name} {what}", bool(commits), f"{FOLDER}/{name} names no commit")
