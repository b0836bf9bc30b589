# SPDX-License-Identifier: GPL-2.0
"""The tables of Documentation/ordering.rst: a row for each ordered access of the code.

A line whose access is "the same" goes on with the row above it: another order, or another
partner. Which files a table is about stands in the title above it.
"""

from dataclasses import dataclass, field
import re

from testbed.c_text import arguments_at
from testbed.common import PROJECT, Trouble
from verification.litmus.accesses import MARKED, accesses, is_ordered
from verification.litmus.litmus_test import CALLER, NEEDED, SHARED, litmus_tests
from verification.litmus.primitives import family, location

PAGE = PROJECT / "Documentation/ordering.rst"
COLUMNS = ("name", "access", "order", "pairs with", "without it", "tests")
CELL = re.compile(r"^   (\*| ) - (.*(?:\n       .*)*)", re.MULTILINE)
ACCESS = re.compile(r"``(.+?)`` in ``(\w+)\(\)``")
ORDER = re.compile(r"(none|acquire|release|full|write|marked|atomic)(, spare)?")
TEST = re.compile(r"``([a-z-]+/[A-Za-z0-9-]+)``")


@dataclass
class Claim:
    """What a line of the table says of an access: an order, and what shows it."""

    order: str
    spare: bool
    tests: tuple


@dataclass
class Row:
    """An access of the table, with all that is said of it."""

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


def lines_of(table):
    """The lines of one list-table, each as {column: text}."""
    line = []
    for mark, text in CELL.findall(table):
        if mark == "*" and line:
            yield line
            line = []
        line.append(plain(text))
    if line:
        yield line


def read_rows(text):
    """All rows of the page."""
    rows = []
    sections = re.split(r"^(.+)\n=+\n", text, flags=re.MULTILINE)
    for title, body in zip(sections[1::2], sections[2::2]):
        files = tuple(name.removeprefix("nbqlock/") for name in
                      re.findall(r"``([\w./]+\.[ch])``", title))
        for line in lines_of(body) if ".. list-table::" in body else ():
            if line[0].lower() != COLUMNS[0]:
                read_line(dict(zip(COLUMNS, line)), files, rows)
    return rows


def read_line(line, files, rows):
    if len(line) != len(COLUMNS):
        raise Trouble(f"ordering.rst: not a cell for each column: {line}")
    name = line["name"].strip("`")
    if line["access"] != "the same":
        rows.append(Row(name, files, *read_access(line["access"])))
    elif not rows or rows[-1].name != name:
        raise Trouble(f"ordering.rst: {name}: the same as what?")
    order = ORDER.fullmatch(line["order"])
    if not order:
        raise Trouble(f"ordering.rst: {name}: not an order: {line['order']}")
    rows[-1].claims.append(Claim(order[1], bool(order[2]), tuple(TEST.findall(line["tests"]))))


def read_access(cell):
    """(function, primitive, arguments)."""
    access = ACCESS.fullmatch(cell)
    if not access:
        raise Trouble(f"ordering.rst: not an access in a function: {cell}")
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
