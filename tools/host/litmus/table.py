# SPDX-License-Identifier: GPL-2.0
"""The list of Documentation/ordering.rst: an entry for each ordered access of the code.

    ``NAME``: ``PRIMITIVE(ARGUMENTS)`` in ``FUNCTION()``
      - ORDER [and ORDER][, spare]: what is said of it. [``TEST``, ``TEST``]

Where the first line would be too long, the access is the first item. Which files the entries are
of stands in the title above them.
"""

from dataclasses import dataclass, field
import re

from base.c_text import arguments_at
from base.common import PROJECT, Failure
from host.litmus.accesses import MARKED, accesses, is_ordered
from host.litmus.litmus_test import CALLER, NEEDED, SHARED, litmus_tests
from host.litmus.primitives import family, location

PAGE = PROJECT / "Documentation/ordering.rst"
ENTRY = re.compile(r"^``([\w-]+)``(?:: (``.+))?\n((?:  .+\n)+)", re.MULTILINE)
ITEM = re.compile(r"^  - (.+(?:\n    .+)*)", re.MULTILINE)
ACCESS = re.compile(r"``(.+?)`` in ``(\w+)\(\)``")
ORDER = "none|acquire|release|full|read|write|marked|atomic"
CLAIM = re.compile(rf"((?:{ORDER})(?: and (?:{ORDER}))*)(, spare)?: .+ \[(.+)\]")
TEST = re.compile(r"``([a-z-]+/[A-Za-z0-9-]+)``")


@dataclass
class Claim:
    """What the page says of an access: an order, and what shows it."""

    order: str
    spare: bool
    tests: tuple


@dataclass
class Row:
    """An access of the page, with all that is said of it."""

    name: str
    files: tuple
    function: str
    primitive: str
    arguments: tuple
    claims: list = field(default_factory=list)

    @property
    def key(self):
        return (self.function, self.primitive, self.arguments)

    def __str__(self):
        return f"{self.primitive}({', '.join(self.arguments)}) in {self.function}() " \
               f"({self.name})"

    def is_of(self, call):
        """Whether it is this call of the code."""
        return call.file in self.files and \
            self.key == (call.function, call.primitive, call.arguments)

    def candidates(self, calls):
        """Those of the code's calls that are this access, with whatever primitive."""
        names = family(self.primitive)
        mine = (location(self.primitive, self.arguments[0]), *self.arguments[1:]) \
            if self.arguments else ()
        for call in calls:
            if call.file in self.files and call.function == self.function and \
                    set(family(call.primitive)) == set(names):
                theirs = (location(call.primitive, call.arguments[0]),
                          *call.arguments[1:]) if call.arguments else ()
                if mine == theirs:
                    yield call


def plain(cell):
    return " ".join(cell.split())


def read_rows(text):
    """All entries of the page."""
    rows = []
    sections = re.split(r"^(.+)\n=+\n", text, flags=re.MULTILINE)
    for title, body in zip(sections[1::2], sections[2::2]):
        files = tuple(name.removeprefix("nbqlock/") for name in
                      re.findall(r"``([\w./]+\.[ch])``", title))
        for name, access, items in ENTRY.findall(body) if files else ():
            rows.append(read_entry(name, access, [plain(item) for item in ITEM.findall(items)],
                                   files))
    return rows


def read_entry(name, access, items, files):
    if not access:
        access, *items = items or [""]
    return Row(name, files, *read_access(access),
               [claim for item in items for claim in read_claims(name, item)])


def read_claims(name, item):
    claim = CLAIM.fullmatch(item)
    if not claim:
        raise Failure(f"ordering.rst: {name}: not an order, what is said of it, [tests]: {item}")
    orders, spare, tests = claim.groups()
    return [Claim(order, bool(spare), tuple(TEST.findall(tests)))
            for order in orders.split(" and ")]


def read_access(cell):
    """(function, primitive, arguments)."""
    access = ACCESS.fullmatch(cell)
    if not access:
        raise Failure(f"ordering.rst: not an access in a function: {cell}")
    primitive, opening, _ = access[1].partition("(")
    arguments, _ = arguments_at(access[1], len(primitive + opening) - 1)
    return access[2], primitive, tuple(arguments)


def table():
    return read_rows(PAGE.read_text())


# The table against the code

def compared(rows, calls):
    """What the table and the code do not say alike. calls: ordered and marked ones."""
    wrong = [f"two rows are called {name}" for name in doubles(row.name for row in rows)]
    left = list(rows)
    for call in calls:
        row = next((row for row in left if row.is_of(call)), None)
        if row:
            left.remove(row)
        elif is_ordered(call.primitive):
            wrong.append(f"no row for {call}")
    return wrong + [f"no code for the row {row}" for row in left]


def doubles(names):
    names = list(names)
    return sorted({name for name in names if names.count(name) > 1})


# The table against the tests

def judged(rows, tests):
    """What the table and the litmus tests do not say alike."""
    shown = shown_by(tests)
    wrong = [complaint for row in rows for complaint in judged_row(row, shown)]
    known = {(row.name, claim.order) for row in rows for claim in row.claims}
    names = {row.name for row in rows}
    wrong += [f"no line for {name}, {order}, of {', '.join(kinds)}"
              for (name, order), kinds in shown.items()
              if (order and (name, order) not in known) or name not in names]
    return wrong + [f"{test.name}: cannot fail" for test in tests.values()
                    if test.result == "never" and not test.needs((NEEDED, SHARED))]


def shown_by(tests):
    """What tests show of orders: {(name, order): {test: kinds}}; "": the name alone."""
    shown = {}
    for test in tests.values():
        for mark in test.marks:
            for name in mark.names if mark.names != (CALLER,) else ():
                for order, kind in (("", NEEDED), *mark.needs):
                    shown.setdefault((name, order), {}).setdefault(test.name, set()).add(kind)
    return shown


def judged_row(row, shown):
    """What is wrong with what is said of one access."""
    for order in {claim.order for claim in row.claims}:
        found = shown.get((row.name, "" if order == "none" else order), {})
        for spare in (False, True):
            claims = [claim for claim in row.claims if (claim.order, claim.spare)
                      == (order, spare)]
            listed = {test for claim in claims for test in claim.tests}
            fitting = {test for test, kinds in found.items()
                       if (NEEDED not in kinds if spare else NEEDED in kinds)}
            what = f"{row.name}, {order}{', spare' if spare else ''}"
            if any(not claim.tests for claim in claims):
                yield f"{what}: no litmus test"
            yield from (f"{what}: not so in {test}" for test in sorted(listed - fitting))
            # Where it is spare, an example is enough; where nothing is needed, so is it.
            if not spare and order != "none":
                yield from (f"{what}: {test} shows it, too"
                            for test in sorted(fitting - listed))


def ordering_complaints():
    """All of that, for the project's own code; nothing if all is well."""
    rows = table()
    return compared(rows, accesses(PROJECT) + accesses(PROJECT, MARKED)) + \
        judged(rows, litmus_tests())
