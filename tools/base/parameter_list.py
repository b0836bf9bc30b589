# SPDX-License-Identifier: GPL-2.0
"""The parameters of the stress driver, as the rows of its parameters_list.h say."""

import ast
import operator
import re
from typing import NamedTuple

from base.c_text import TOKEN, arguments_at, without_comments
from base.common import text_of_driver

LIST = text_of_driver("parameters_list.h")
# The kernel's units and limits.
KNOWN = {"NSEC_PER_USEC": 1000, "NSEC_PER_MSEC": 10 ** 6, "MSEC_PER_SEC": 1000,
         "U32_MAX": 2 ** 32 - 1, "U64_MAX": 2 ** 64 - 1, "KTIME_MAX": 2 ** 63 - 1}
ROW = re.compile(r"^STRESS_PARAM(?=\()", re.MULTILINE)
DEFINE = re.compile(r"^#define (\w+)\s+(.+)$", re.MULTILINE)
WORD = re.compile(r'"(\w+)"')


class Parameter(NamedTuple):
    """initial: as its file prints it; None: found at the load of the module. most: None: no
    number. help: of the comment above it, shared with the next ones up to a comment.
    """
    folder: str
    name: str
    kind: str
    initial: object
    least: int
    most: int
    takes_max: bool
    words: tuple
    help: str


def number(expression, values):
    """The value of a product of numbers and names."""
    def of(node):
        if isinstance(node, ast.Name):
            return values[node.id]
        if isinstance(node, ast.BinOp):
            return {ast.Mult: operator.mul}[type(node.op)](of(node.left), of(node.right))
        return {ast.Constant: operator.attrgetter("value")}[type(node)](node)
    return of(ast.parse(expression, mode="eval").body)


def comment_before(text, place):
    """The words of the comment that ends right above a row; "" where there is another row."""
    above = [match for match in TOKEN.finditer(text, 0, place)]
    if not above or text[above[-1].end():place].strip():
        return ""
    lines = [re.sub(r"^ \* ?", "", line) for line in above[-1][0][2:-2].splitlines()]
    return "\n".join(lines).strip()


def parameters_of(text):
    """All, in order."""
    code = without_comments(text)
    values = dict(KNOWN)
    for name, expression in DEFINE.findall(code):
        values[name] = number(expression, values)
    found, said = [], ""
    for match in ROW.finditer(code):
        said = comment_before(text, match.start()) or said
        (folder, name, kind, initial, *rest), _ = arguments_at(code, match.end())
        members = dict(re.match(r"\.(\w+) = (.*)", each).groups() for each in rest)
        words = tuple(WORD.findall(members.get("words", "")))
        if kind in ("lock", "cpus", "threads"):
            initial = None
        elif words:
            initial = words[0 if kind == "contexts" else number(initial, values)]
        else:
            initial = number(initial, values)
        most = members.get("max")
        found.append(Parameter(folder, name, kind, initial, number(members.get("min", "0"), values),
                               most and number(most, values), "takes_max" in members, words, said))
    return found


PARAMETERS = parameters_of(LIST)
