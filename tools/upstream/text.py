# SPDX-License-Identifier: GPL-2.0
"""Lines put into a text, each at a place that is found exactly once."""

import re

from testbed.common import Trouble


class Edit:
    """Lines put at a place of a text. where: a regular expression, by lines."""

    def __init__(self, where, lines, after=False):
        self.where = where
        self.lines = lines
        self.after = after

    def apply(self, name, text):
        """The text with the lines. name: of the text, for the message."""
        found = list(re.finditer(self.where, text, re.MULTILINE))
        if len(found) != 1:
            raise Trouble(f"{name} has {len(found)} places, not 1, like \"{self.where}\": "
                          "adapt tools/upstream/layout.py")
        at = found[0].end() if self.after else found[0].start()
        return text[:at] + self.lines + text[at:]


def before(where, lines):
    return Edit(where, lines)


def after(where, lines):
    return Edit(where, lines, after=True)


def edited(name, text, edits):
    for edit in edits:
        text = edit.apply(name, text)
    return text


def blank_lines(text):
    """No two blank lines in a row, none at either end."""
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n") + "\n"
