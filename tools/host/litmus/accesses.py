# SPDX-License-Identifier: GPL-2.0
"""The ordered accesses of the shipped code, as they stand in nbqlock/."""

from dataclasses import dataclass
import os
from pathlib import Path
import re

from base.c_text import arguments_at, function_at, without_comments
from base.common import PROJECT

# Who is asked for an order, or could have been: all that is atomic.
ORDERED = re.compile(
    r"\b((?:this_cpu_)?(?:try_)?(?:cmp)?xchg\w*|smp_load_acquire|(?:nbq_)?smp_store_release"
    r"|smp_store_mb|smp_[rw]?mb|smp_mb__\w+|smp_cond_load_acquire|smp_acquire__after_ctrl_dep"
    r"|[rw]?mb|atomic(?:_long|64)?_(?!notifier_)\w+|rcu_(?:dereference|assign_pointer)\w*"
    r"|(?:test_and_)?(?:set|clear|change)_bit\w*)(?=\()")
# Those that have no order. Only some have a row: whose mark is more than a habit.
MARKED = re.compile(r"\b(READ_ONCE|WRITE_ONCE|smp_cond_load_relaxed)(?=\()")


@dataclass(frozen=True)
class Access:
    """A call by which the code touches shared memory, or a barrier."""

    file: str		# below nbqlock/
    line: int
    function: str
    primitive: str
    arguments: tuple

    @property
    def expression(self):
        return f"{self.primitive}({', '.join(self.arguments)})"

    def __str__(self):
        return f"{self.expression} in {self.function}() (nbqlock/{self.file}:{self.line})"


def is_ordered(primitive):
    """Whether an access by it must have a row in the table."""
    return bool(ORDERED.match(f"{primitive}("))


def source_folder():
    """The folder that holds nbqlock/: the project's, or the one that SRC names."""
    return Path(os.environ.get("SRC", PROJECT))


def calls(file, code, pattern):
    """Calls in the text of a file, in its order."""
    for match in pattern.finditer(code):
        function = function_at(code, match.start())
        # A macro's head is not a use of it.
        if function:
            arguments, _ = arguments_at(code, match.end())
            line = code.count("\n", 0, match.start()) + 1
            yield Access(file, line, function, match[1], tuple(arguments))


def accesses(source=None, pattern=ORDERED):
    """All of nbqlock/'s own files; the stress driver is a customer and has its own."""
    folder = (source or source_folder()) / "nbqlock"
    found = []
    for path in sorted([*folder.glob("*.[ch]"), *folder.glob("bpf/*.h")]):
        if not path.name.endswith(".mod.c"):
            found += calls(str(path.relative_to(folder)), without_comments(path.read_text()),
                           pattern)
    return found
