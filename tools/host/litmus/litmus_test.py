# SPDX-License-Identifier: GPL-2.0
"""A litmus test as a file: the accesses that it names, and what it claims of each.

An access that stands for one of the code has that one's name in a comment behind it, as
Documentation/ordering.rst has it in its table, and what the test needs of its order:

	r0 = smp_load_acquire(prev);	// clh-poll: acquire
	r1 = xchg(tail, node);		// clh-enqueue: release, acquire spare
	smp_store_release(prev, 1);	// clh-abandon-prev

Without an order that is needed the bad outcome is possible. Without one that is "spare"
it is not: something else does the same. Some are "shared": without one of them it is not
possible, without all of them it is. A name alone needs nothing in this test. "marked" is
a WRITE_ONCE() that must not be plain, "atomic" a swap that must be one.

What the head of a file says after "Result:" is how it ends as shipped.

Two locks that do the same have a test in common: "// mcs-link, swap-link: acquire".

"caller" is the name of what the code does not have: a barrier or a counter of those who use
the locks.
"""

from dataclasses import dataclass
from pathlib import Path
import re

from base.c_text import arguments_at
from base.common import Failure
from host.litmus.primitives import FAMILIES, PLAIN, SPLIT, WEAKENED, replaced, split

FOLDER = Path(__file__).resolve().parent
NEEDED, SPARE, SHARED = "needed", "spare", "shared"
CALLER = "caller"
NAMES = rf"(?:[a-z]+(?:-[a-z]+)+|{CALLER})"
MARK = re.compile(rf"// (?P<names>{NAMES}(?:, {NAMES})*)(?:: (?P<needs>.*))?$")
NEED = re.compile(r"(acquire|release|full|read|write|marked|atomic)(?: (spare|shared))?")
CALL = re.compile(rf"\b({'|'.join({*sum(FAMILIES, ())} - {PLAIN})})(?=\()")


@dataclass(frozen=True)
class Mark:
    """An access that stands for one of the code, in each lock that has it."""

    line: int
    thread: str
    names: tuple
    primitive: str
    needs: tuple		# (order, NEEDED, SPARE or SHARED)


class LitmusTest:
    """The text of a test, and of its variants."""

    def __init__(self, name, text):
        self.name = name
        self.lines = text.splitlines()
        self.marks = [self.mark(number, line) for number, line in enumerate(self.lines)
                      if "// " in line and MARK.search(line)]
        result = re.search(r"^ \* Result: (Never|Sometimes)$", text, re.MULTILINE)
        if not result:
            raise Failure(f"{name}: no result in its head")
        self.result = result[1].lower()
        unread = [line.strip() for line in self.lines
                  if "//" in line and not MARK.search(line) and not line.startswith("P")]
        if unread:
            raise Failure(f"{name}: not a name of an access: {unread[0]}")

    def mark(self, number, line):
        found = MARK.search(line)
        call = CALL.search(line)
        if not call:
            raise Failure(f"{self.name}: no access known here: {line.strip()}")
        needs = []
        for words in found["needs"].split(", ") if found["needs"] else ():
            need = NEED.fullmatch(words)
            if not need or (call[1], need[1]) not in WEAKENED:
                raise Failure(f"{self.name}: {call[1]} has no such order: {words}")
            needs.append((need[1], need[2] or NEEDED))
        threads = [text.partition("(")[0] for text in self.lines[:number]
                   if re.match(r"P\d+\(", text)]
        return Mark(number, threads[-1] if threads else "P0",
                    tuple(found["names"].split(", ")), call[1], tuple(needs))

    def needs(self, kinds):
        """(mark, order) of all accesses whose order is one of these kinds."""
        return [(mark, order) for mark in self.marks for order, kind in mark.needs
                if kind in kinds]

    def text(self, primitives=None):
        """The test, with other primitives at some marks: {mark: primitive}."""
        lines = list(self.lines)
        for mark, primitive in (primitives or {}).items():
            lines[mark.line] = self.changed(lines[mark.line], mark, primitive)
        return "\n".join(lines) + "\n"

    @staticmethod
    def changed(line, mark, primitive):
        call = CALL.search(line)
        _, end = arguments_at(line, call.end())
        if primitive == SPLIT:
            begin, result = re.match(r"(\s*)(\w+) = ", line).groups()
            return begin + split(result, line[call.start():end], mark.primitive) + line[end:]
        new = replaced(line[call.start():end], mark.primitive, primitive)
        return line[:call.start()] + new + line[end:].replace(";", "", not new)

    def locks(self):
        """How many locks have it in common."""
        return max((len(mark.names) for mark in self.marks), default=1)


def litmus_tests():
    """All tests, by name."""
    paths = sorted(FOLDER.glob("*/*.litmus"))
    return {name: LitmusTest(name, path.read_text()) for name, path in
            ((str(path.relative_to(FOLDER).with_suffix("")), path) for path in paths)}
