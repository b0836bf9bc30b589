# SPDX-License-Identifier: GPL-2.0
"""Changes of a text, each at a place that is found exactly once; C items and macros."""

import re

from testbed.c_text import without_comments
from testbed.common import Trouble


class Edit:
    """Lines put at a place of a text. where: a regular expression, by lines."""

    def __init__(self, where, lines, after=False, instead=False):
        self.where = where
        self.lines = lines
        self.after = after
        self.instead = instead

    def apply(self, name, text):
        """The text with the lines. name: of the text, for the message."""
        found = list(re.finditer(self.where, text, re.MULTILINE))
        if len(found) != 1:
            raise Trouble(f"{name} has {len(found)} places, not 1, like \"{self.where}\": "
                          "adapt tools/upstream/layout.py")
        start, end = found[0].span()
        if self.instead:
            return text[:start] + found[0].expand(self.lines) + text[end:]
        at = end if self.after else start
        return text[:at] + self.lines + text[at:]


def before(where, lines):
    return Edit(where, lines)


def after(where, lines):
    return Edit(where, lines, after=True)


def instead(where, lines):
    r"""A replacement; \1 stands for a group of @where."""
    return Edit(where, lines, instead=True)


def gone(where):
    return instead(where, "")


def edited(name, text, edits):
    for edit in edits:
        text = edit.apply(name, text)
    return text


# C

class Item:
    """A whole item of C, with the comment above it, to be taken out: a definition or a macro.

    start: how its first line begins.
    """

    def __init__(self, start):
        self.start = start

    def place(self, name, lines):
        """Its first and its last line."""
        found = [number for number, line in enumerate(lines) if line.startswith(self.start)]
        if len(found) != 1:
            raise Trouble(f"{name} has {len(found)} items, not 1, that begin with "
                          f"\"{self.start}\": adapt tools/upstream/layout.py")
        return comment_above(lines, found[0]), end_of_item(lines, found[0])

    def taken(self, name, text):
        """The item by itself."""
        lines = text.splitlines(keepends=True)
        first, last = self.place(name, lines)
        return "".join(lines[first:last + 1])

    def apply(self, name, text):
        lines = text.splitlines(keepends=True)
        first, last = self.place(name, lines)
        # Of two blank lines one is left.
        if last + 1 < len(lines) and not lines[last + 1].strip() and \
                (not first or not lines[first - 1].strip()):
            last += 1
        return "".join(lines[:first] + lines[last + 1:])


def items(*starts):
    return [Item(start) for start in starts]


def comment_above(lines, number):
    """The first line of the comment that ends right above this line; or this one."""
    at = number - 1
    # An attribute or a return type of its own line.
    while at >= 0 and re.match(r"(VISIBLE_IF_KUNIT|static[\w ]*|__\w+\(.*\))$", lines[at]):
        at -= 1
    if at < 0 or not lines[at].rstrip().endswith("*/"):
        return at + 1
    while not lines[at].lstrip().startswith("/*"):
        at -= 1
    return at


def end_of_item(lines, number):
    """The last line of the item that begins at this one."""
    if lines[number].startswith("#define"):
        while lines[number].rstrip().endswith("\\"):
            number += 1
        return number
    depth, seen = 0, ""
    for code in without_comments("".join(lines[number:])).splitlines():
        code = re.sub(r'"(\\.|[^"\\])*"', "", code).rstrip()
        depth += sum(map(code.count, "({[")) - sum(map(code.count, ")}]"))
        seen = code or seen
        if depth == 0 and (seen.endswith(";") or seen == "}"):
            break
        number += 1
    # What a function is exported by is a part of it.
    while number + 1 < len(lines) and lines[number + 1].startswith("EXPORT_"):
        number += 1
    return number


class Macro:
    """A macro of several lines, to be written out."""

    def __init__(self, text, name):
        found = re.search(rf"^#define {name}\(([^)]*)\)((?:.*\\\n)*.*\n)", text, re.MULTILINE)
        if not found:
            raise Trouble(f"there is no macro {name}()")
        self.name = name
        self.parameters = [word.strip() for word in found[1].split(",")]
        self.body = "\n".join(re.sub(r"[ \t]*\\?$", "", line)
                              for line in found[2].split("\n")).strip()

    def expand(self, arguments):
        """The body with arguments for the parameters, as the preprocessor puts them."""
        named = dict(zip(self.parameters, arguments, strict=True))
        words = "|".join(map(re.escape, named))
        text = re.sub(rf"(?<!#)#[ \t]*({words})\b", lambda match: f'"{named[match[1]]}"',
                      self.body)
        text = re.sub(rf"\b({words})\b", lambda match: named[match[1]], text)
        return re.sub(r"[ \t]*##[ \t]*", "", text)

    def written_out(self, text):
        """A text with each call of the macro written out; not its definition."""
        call = re.compile(rf"(?<!#define )\b{self.name}\(([^()]*)\)")
        return call.sub(lambda match: self.expand(
            [word.strip() for word in match[1].split(",")]), text)


LONGEST = 100


def width_of(line):
    return len(line.expandtabs(8))


def aligned(text):
    """Code whose lines are no longer than LONGEST and go on below what they are within."""
    made, opened = [], None
    for line in text.splitlines():
        if opened is not None:
            line = "\t" * (opened // 8) + " " * (opened % 8) + line.lstrip()
        while width_of(line) > LONGEST:
            fits = [comma.end(1) for comma in re.finditer("(,) ", line)
                    if width_of(line[:comma.end(1)]) <= LONGEST]
            if not fits or open_column(line[:fits[-1]]) is None:
                break
            made.append(line[:fits[-1]])
            opened = open_column(made[-1])
            line = "\t" * (opened // 8) + " " * (opened % 8) + line[fits[-1]:].lstrip()
        made.append(line)
        column = open_column(line)
        opened = column if column is not None and line.endswith(",") else None
    return "\n".join(made) + "\n"


def open_column(line):
    """The column behind the last parenthesis that a line leaves open; or None."""
    stack = []
    for at, letter in enumerate(line):
        if letter == "(":
            stack.append(width_of(line[:at + 1]))
        elif letter == ")" and stack:
            stack.pop()
    return stack[-1] if stack else None


def blank_lines(text):
    """No two blank lines in a row, none at either end of a block of C."""
    text = re.sub(r"\n{3,}", "\n\n", text)
    return text.strip("\n") + "\n"
