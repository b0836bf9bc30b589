# SPDX-License-Identifier: GPL-2.0
"""Copies of nbqlock/ in which some text is another.

An edit is (name of a file in nbqlock/, the text as it is, the text instead).
"""

import os
from pathlib import Path
import shutil

from base.common import PROJECT, Failure

SOURCE = Path(os.environ.get("SRC", PROJECT))


def copy_with(folder, edits):
    """Copies nbqlock/ to the folder, with edits, each of which must fit once."""
    write_copy(folder, {})
    for name, old, new in edits:
        path = folder / "nbqlock" / name
        text = path.read_text()
        if text.count(old) != 1:
            raise Failure(f"{name} has {text.count(old)} places, not 1, that read\n{old}")
        path.write_text(text.replace(old, new))


def shipped_files():
    """The locks' own files: those of the kernel, and those for BPF programs."""
    folder = SOURCE / "nbqlock"
    return sorted([*folder.glob("*.[ch]"), *folder.glob("bpf/*.h")])


def write_copy(folder, changes):
    """Makes the folder's nbqlock/ that of the project. changes: {file: what to make of its text}

    The stress driver is in it, too, whose list of lock types programs include.
    """
    if not (folder / "nbqlock/stress").exists():
        shutil.copytree(SOURCE / "nbqlock/stress", folder / "nbqlock/stress")
    for path in shipped_files():
        name = path.relative_to(SOURCE / "nbqlock")
        text = path.read_text()
        if str(name) in changes:
            text = changes[str(name)](text)
        copy = folder / "nbqlock" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if not copy.exists() or copy.read_text() != text:
            copy.write_text(text)
