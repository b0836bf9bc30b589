# SPDX-License-Identifier: GPL-2.0
"""The mutants that no test notices, each with its reason.

In the list survivors.txt a reason, lines that begin with "#", stands above the names of the
mutants that it is of; an empty line comes before the next reason.
"""

from collections import Counter
from pathlib import Path

from base.common import Failure

LIST = Path(__file__).with_name("survivors.txt")


def parse(text):
    """{name of a mutant: why it survives}."""
    reasons = {}
    names = Counter()
    for paragraph in text.split("\n\n"):
        lines = paragraph.strip("\n").splitlines()
        reason = " ".join(line[1:].strip() for line in lines if line.startswith("#"))
        entries = [line for line in lines if line and not line.startswith("#")]
        if entries and not reason:
            raise Failure(f"a survivor has no reason: {entries[0]}")
        names.update(entries)
        reasons.update(dict.fromkeys(entries, reason))
    twice = [name for name, number in names.items() if number > 1]
    if twice:
        raise Failure(f"a survivor stands twice in the list: {twice[0]}")
    return reasons


def survivors():
    return parse(LIST.read_text())


def stale(reasons, mutants):
    """Names that are no mutant's any more."""
    known = {mutant.name for mutant in mutants}
    return [name for name in reasons if name not in known]
