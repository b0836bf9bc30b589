# SPDX-License-Identifier: GPL-2.0
"""reStructuredText, as lists of lines, for what writes reports."""

import csv
import io
import re

from base.common import Failure


def escaped(text):
    """Text without markup. An underscore means something at a word's end only."""
    return re.sub(r"([\\*`|]|_(?!\w))", r"\\\1", str(text))


def heading(text, underline):
    return [text, underline * len(text), ""]


def paragraph(text):
    return [text, ""]


def table(heads, rows, widths=None):
    """A table; cells may have markup. A dash by itself would begin a list."""
    rows = [["\\-" if cell == "-" else cell for cell in row] for row in rows]
    lines = [".. csv-table::", "   :header-rows: 1"]
    if widths:
        lines.append(f"   :widths: {' '.join(str(width) for width in widths)}")
    text = io.StringIO()
    csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows([heads, *rows])
    return [*lines, "", *(f"   {line}" for line in text.getvalue().splitlines()), ""]


def fields(pairs):
    return [*(f":{name}: {escaped(value)}" for name, value in pairs if value not in ("", None)),
            ""]


def replace(path, text):
    """A report is made anew from the same results as often as one likes."""
    unfinished = path.with_name(f".{path.name}.new")
    try:
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(path)
    except OSError as error:
        raise Failure(f"cannot write {path}: {error.strerror}") from None
    return path
