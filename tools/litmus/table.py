# SPDX-License-Identifier: GPL-2.0
"""The tables of Documentation/ordering.rst: a row for each ordered access of the code.

A row whose access is "the same" goes on with the one above it: another order, or another
partner. Which files a table is about stands in the title above it.
"""

from dataclasses import dataclass, field
import re

from bed.c_text import arguments_at
from bed.common import PROJECT, Trouble
from litmus.accesses import MARKED, ORDERED, accesses
from litmus.litmus_test import NEEDED, SHARED, SPARE, litmus_tests
from litmus.primitives import family, location

PAGE = PROJECT / "Documentation/ordering.rst"
COLUMNS = ("name", "access", "order", "pairs with", "without it", "tests")
CELL = re.compile(r"^   (\*| ) - ?(.*(?:\n     .*)*)", re.MULTILINE)
ACCESS = re.compile(r"``(.+?)``(?:, the (?:look back|next one),)? in ``(\w+)\(\)``")
ORDER = re.compile(r"(none|acquire|release|write|marked)(, spare)?")
TEST = re.compile(r"``([a-z-]+/[a-z-]+)``")


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
    if line["access"] != "the same":
        access = ACCESS.fullmatch(line["access"])
        if not access:
            raise Trouble(f"ordering.rst: not an access in a function: {line['access']}")
        primitive, _, rest = access[1].partition("(")
        arguments, _ = arguments_at("(" + rest, 0)
        rows.append(Row(line["name"].strip("`"), files, access[2], primitive,
                        tuple(arguments)))
    order = ORDER.fullmatch(line["order"])
    if not order or not rows:
        raise Trouble(f"ordering.rst: not an order: {line['order']}")
    rows[-1].claims.append(Claim(order[1], bool(order[2]), tuple(TEST.findall(line["tests"]))))


def table():
    return read_rows(PAGE.read_text())


# The table against the code

def compared(rows, calls):
    """What the table and the code do not say alike."""
    wrong = [f"two rows are called {name}" for name in doubles(row.name for row in rows)]
    left = list(rows)
    # Only some of the marked ones have a row: those whose mark is more than a habit.
    marked = [call for call in calls if MARKED.fullmatch(f"{call.primitive}")]
    for call in calls:
        row = next((row for row in left if call.file in row.files and row.key ==
                    (call.function, call.primitive, call.arguments)), None)
        if row:
            left.remove(row)
        else:
            wrong.append(f"no row for {call}")
    return wrong + [f"no code for the row {row}" for row in left]


def doubles(names):
    names = list(names)
    return sorted({name for name in names if names.count(name) > 1})


# The table against the tests

def judged(rows, tests):
    """What the table and the litmus tests do not say alike."""
    wrong = []
    shown = {}		# {(name, order): {test: kind}}
    for test in tests.values():
        for mark in test.marks:
            for name in mark.names:
                shown.setdefault((name, "none"), {})[test.name] = NEEDED
                for order, kind in mark.needs:
                    shown.setdefault((name, order), {})[test.name] = kind
    for row in rows:
        wrong += judged_row(row, shown)
    known = {row.name for row in rows}
    wrong += [f"{test}: no row is called {name}" for (name, _), where in shown.items()
              if name not in known for test in where]
    return wrong + [f"{test.name}: cannot fail" for test in tests.values()
                    if not test.needs((NEEDED, SHARED))]


def judged_row(row, shown):
    """The same of one row."""
    for claim in row.claims:
        found = shown.get((row.name, claim.order), {})
        yield from (f"{row.name}: {test} does not show its {claim.order}"
                    for test in claim.tests if test not in found)
        if claim.order != "none" and not claim.tests:
            yield f"{row.name}: no litmus test for its {claim.order}"
        spare = all(found.get(test) in (SPARE, SHARED) for test in claim.tests)
        if claim.order != "none" and claim.tests and spare != claim.spare:
            yield f"{row.name}: its {claim.order} is {'' if spare else 'not '}spare in " \
                  f"{', '.join(claim.tests)}"
    for (name, order), where in shown.items():
        if name == row.name and order != "none":
            listed = {test for claim in row.claims if claim.order == order
                      for test in claim.tests}
            yield from (f"{name}: its {order} does not name {test}"
                        for test in where if test not in listed)


def ordering_complaints():
    """All of that, for the project's own code; nothing if all is well."""
    return compared(table(), accesses(pattern=ORDERED)) + judged(table(), litmus_tests())
