# SPDX-License-Identifier: GPL-2.0
"""Copies of nbqlock/ in which some text is another.

An edit is (name of a file in nbqlock/, the text as it is, the text instead).
"""

import os
from pathlib import Path

from testbed.common import PROJECT, Trouble, digest

SOURCE = Path(os.environ.get("SRC", PROJECT))


def copy_with(folder, edits):
    """Copies nbqlock/ to the folder, with edits, each of which must fit once."""
    target = folder / "nbqlock"
    target.mkdir()
    for path in (SOURCE / "nbqlock").glob("*.[ch]"):
        (target / path.name).write_text(path.read_text())
    for name, old, new in edits:
        text = (target / name).read_text()
        if text.count(old) != 1:
            raise Trouble(f"{name} has {text.count(old)} places, not 1, that read\n{old}")
        (target / name).write_text(text.replace(old, new))


def identity(edit):
    """A short name for an edit of the text as it is now."""
    files = sorted((SOURCE / "nbqlock").glob("*.[ch]"))
    return digest(*edit, *(path.read_bytes() for path in files))
