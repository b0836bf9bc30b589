# SPDX-License-Identifier: GPL-2.0
"""The variants of a litmus test, what each must end in, and what it does end in."""

from dataclasses import dataclass
import re
import subprocess

from host.litmus.accesses import MARKED, ORDERED, accesses, source_folder
from host.litmus.litmus_test import CALLER, NEEDED, SHARED, SPARE
from host.litmus.primitives import PLAIN, WEAKENED, in_model
from host.litmus.table import table

NEVER, SOMETIMES = "never", "sometimes"
SECONDS = 7200		# far more than any takes, also where there is other load
# What herd7 says of plain accesses that nothing keeps apart.
RACE = "Flag data-race"


class Code:
    """Which primitive the code has for each row of the table."""

    def __init__(self, source=None):
        source = source or source_folder()
        calls = sorted(accesses(source, ORDERED) + accesses(source, MARKED),
                       key=lambda call: (call.file, call.line))
        self.primitives = {}
        seen = {}
        for row in table():
            found = list(row.candidates(calls))
            # The second of two that are alike is the second row of that kind.
            number = seen[row.files, row.key] = seen.get((row.files, row.key), -1) + 1
            if number < len(found):
                self.primitives[row.name] = in_model(found[number].primitive)
            elif not row.arguments:
                self.primitives[row.name] = ""	# a barrier that is not there
            elif row.primitive == "WRITE_ONCE":
                self.primitives[row.name] = PLAIN

    def primitive(self, name):
        """None: the code has no such access."""
        return self.primitives.get(name)


@dataclass
class Variant:
    """A text for herd7, and what it must end in."""

    test: str
    what: str
    text: str
    expected: str
    problem: str = ""


@dataclass
class Result:
    """What came of a variant."""

    test: str
    what: str
    expected: str
    outcome: str
    seconds: float
    passed: bool
    detail: str = ""

    def __str__(self):
        line = f"{'ok' if self.passed else 'not ok'} litmus: {self.test}: " \
               f"{self.outcome}, {self.what} ({self.seconds:.2f} s)"
        return line if self.passed else f"{line}\n{self.detail}".rstrip()


def variants(test, code, only_shipped=False):
    """What is to be run for a test."""
    yield from shipped(test, code)
    if only_shipped:
        return
    for mark, order in test.needs((NEEDED,)):
        yield weakened(test, [(mark, order)], SOMETIMES)
    for mark, order in test.needs((SPARE, SHARED)):
        yield weakened(test, [(mark, order)], NEVER)
    if test.needs((SHARED,)):
        yield weakened(test, test.needs((SHARED,)), SOMETIMES)
    own = without_the_code(test)
    if own:
        yield own


def shipped(test, code):
    """With what the code has: one for all locks that have the same."""
    texts = {}
    for lock in range(test.locks()):
        names = {mark: mark.names[min(lock, len(mark.names) - 1)] for mark in test.marks
                 if not is_of_caller(mark)}
        missing = [name for name in names.values() if code.primitive(name) is None]
        if missing:
            yield Variant(test.name, "as shipped", "", test.result,
                          f"the code has no such access any more: {', '.join(missing)}")
            continue
        changed = {mark: code.primitive(name) for mark, name in names.items()
                   if code.primitive(name) != mark.primitive}
        instead = "".join(f", {code.primitive(names[mark]) or 'nothing'} for {names[mark]}"
                          for mark in changed)
        texts.setdefault(test.text(changed), f"as shipped{instead}")
    for text, what in texts.items():
        yield Variant(test.name, what, text, test.result)


def without_the_code(test):
    """What is spare because the caller does the same: the caller's orders alone do it."""
    orders = test.needs((SPARE, SHARED))
    if not any(is_of_caller(mark) for mark, _ in orders):
        return None
    code = [(mark, order) for mark, order in orders if not is_of_caller(mark)]
    return weakened(test, code, NEVER, "with the caller's orders alone") if code else None


def is_of_caller(mark):
    return mark.names == (CALLER,)


def weakened(test, orders, expected, what=None):
    primitives = {}
    for mark, order in orders:
        before = primitives.get(mark, mark.primitive)
        primitives[mark] = WEAKENED[before, order]
    what = what or "without " + " and ".join(f"{mark.names[0]}'s {order} in {mark.thread}"
                                             for mark, order in orders)
    return Variant(test.name, what, test.text(primitives), expected)


def run_variant(herd, variant):
    detail = variant.problem
    outcome = "not run"
    if not detail:
        try:
            detail = herd.run(variant.text, SECONDS)
            outcome = outcome_of(detail)
        except subprocess.TimeoutExpired:
            detail = f"no end after {SECONDS} s"
    return Result(variant.test, variant.what, variant.expected, outcome,
                  seconds_of(detail), outcome == variant.expected, detail)


def seconds_of(said):
    """By herd7's own account, which other load does not lengthen."""
    found = re.search(r"^Time \S+ ([\d.]+)$", said, re.MULTILINE)
    return float(found[1]) if found else 0.0


def outcome_of(said):
    """Never or sometimes; a race between plain accesses is a bad outcome, too."""
    observation = re.search(r"^Observation \S+ (Never|Sometimes|Always) ", said,
                            re.MULTILINE)
    if not observation:
        return "not understood"
    if "Flag " in said.replace(RACE, ""):
        return "flagged"
    return NEVER if observation[1] == "Never" and RACE not in said else SOMETIMES
