# SPDX-License-Identifier: GPL-2.0
"""The statements of a C function, as far as rules need them."""

from dataclasses import dataclass, field
import re

WORD = re.compile(r"\w+")
LABEL = re.compile(r"(case\b[^:;?]*|default|\w+)\s*:(?!:)")
DECLARATION = re.compile(r"(?:(?:const|static|struct|union|enum|unsigned|signed|volatile)\b"
                         r"|(?:[us](?:8|16|32|64)|bool|int|long|char|void|size_t|ktime_t)\s"
                         r"|DEFINE_)")
OPEN, CLOSE = "([{", ")]}"


@dataclass
class Statement:
    """kind: the word that begins it, or "simple", "declaration" or "block".

    condition: where that of an if or a loop stands; inner: the statements in it.
    """
    kind: str
    begin: int
    end: int
    condition: tuple = None
    inner: list = field(default_factory=list)

    def flat(self):
        yield self
        for statement in self.inner:
            yield from statement.flat()


def end_of_group(code, begin):
    """Behind the bracket that closes the one at an offset."""
    depth = 0
    for place in range(begin, len(code)):
        depth += (code[place] in OPEN) - (code[place] in CLOSE)
        if depth == 0:
            return place + 1
    raise ValueError(f"no end of what opens here: {code[begin:begin + 40]!r}")


def end_of_simple(code, begin):
    """Behind the semicolon of a statement."""
    place = begin
    while code[place] != ";":
        place = end_of_group(code, place) if code[place] in OPEN else place + 1
    return place + 1


def skip_space(code, place, end):
    while place < end and code[place].isspace():
        place += 1
    return place


def one_statement(code, begin, end):
    """The statement that begins at an offset."""
    if code[begin] == "{":
        stop = end_of_group(code, begin)
        return Statement("block", begin, stop, inner=statements(code, begin + 1, stop - 1))
    word = (WORD.match(code, begin) or [""])[0]
    if word in ("if", "while", "for", "switch") or word.startswith("for_each_"):
        opens = code.index("(", begin)
        stop = end_of_group(code, opens)
        inner = one_statement(code, skip_space(code, stop, end), end)
        found = Statement(word, begin, inner.end, (opens + 1, stop - 1), [inner])
        otherwise = skip_space(code, inner.end, end)
        if word == "if" and code[otherwise:otherwise + 4] == "else":
            inner = one_statement(code, skip_space(code, otherwise + 4, end), end)
            found.inner.append(inner)
            found.end = inner.end
        return found
    if word == "do":
        inner = one_statement(code, skip_space(code, begin + 2, end), end)
        opens = code.index("(", inner.end)
        stop = end_of_group(code, opens)
        return Statement("do", begin, end_of_simple(code, stop), (opens + 1, stop - 1), [inner])
    if word in ("return", "break", "continue", "goto"):
        return Statement(word, begin, end_of_simple(code, begin))
    kind = "declaration" if DECLARATION.match(code, begin) else "simple"
    return Statement(kind, begin, end_of_simple(code, begin))


def statements(code, begin, end):
    """Those of a block, in order. Code: without comments, strings and directives."""
    found = []
    place = skip_space(code, begin, end)
    while place < end:
        label = LABEL.match(code, place)
        if label:
            place = label.end()
        else:
            found.append(one_statement(code, place, end))
            place = found[-1].end
        place = skip_space(code, place, end)
    return found
