# SPDX-License-Identifier: GPL-2.0
"""The text of C files in the kernel's style: its code, its functions, its calls."""

import re

TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'',
                   re.DOTALL)
# A body begins and ends in the first column, below the head of its function.
FUNCTION = re.compile(r"^(?P<head>[^\s#}/][^;{}]*\))[^;{}()]*\n\{\n(?P<body>.*?)^\}",
                      re.MULTILINE | re.DOTALL)


def without_comments(text):
    """Code only; strings and line numbers stay as they are."""
    def blank(match):
        word = match.group(0)
        return word if word[0] in "\"'" else re.sub(r"[^\n]", " ", word)
    return TOKEN.sub(blank, text)


def function_at(code, offset):
    """The name of the function whose body an offset is in; "" outside of all."""
    for match in FUNCTION.finditer(code):
        if match.start("body") <= offset < match.end("body"):
            return re.search(r"(\w+)\s*\(", match["head"])[1]
    return ""


def arguments_at(code, offset):
    """The arguments in the parentheses that open at an offset, and where they end."""
    depth, begin, found = 0, offset + 1, []
    for place in range(offset, len(code)):
        letter = code[place]
        depth += (letter in "([{") - (letter in ")]}")
        if depth == 0 or (depth == 1 and letter == ","):
            found.append(" ".join(code[begin:place].split()))
            begin = place + 1
        if depth == 0:
            return [argument for argument in found if argument], place + 1
    raise ValueError(f"no end of what opens here: {code[offset:offset + 40]!r}")
