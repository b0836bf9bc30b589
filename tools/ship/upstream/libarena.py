# SPDX-License-Identifier: GPL-2.0
"""A patch that adds nbq_arena_lock to libarena, in the BPF selftests of a kernel tree."""

from pathlib import Path

from base.building import locked
from base.common import BUILD, PROJECT, Failure
from guest.bpf import SELFTESTS
from guest.source import get_source
from ship.upstream.patches import Author, format_patches
from ship.upstream.series import TEXTS, Series, Tree

FOLDER = BUILD / "libarena"
INCLUDE = f"{SELFTESTS}/libarena/include"
HEADERS = ("nbq_arena_lock.h", "nbq_arena_lock_types.h")
# What they say of the project's own pages, and in that tree.
SAYS = {
    " *\n * How to use it: Documentation/arena.rst.\n": "",
    "No call ends it, but see Documentation/arena.rst before its memory\n"
    " * becomes something else.":
    "No call ends it. Before its memory becomes something else, acquire\n * and "
    "release it once: nodes that waiters have left may stand in its queue.",
}


def text_of(name):
    text = (PROJECT / "nbqlock/bpf" / name).read_text()
    for ours, theirs in SAYS.items():
        text = text.replace(ours, theirs)
    if "Documentation/" in text:
        raise Failure(f"{name} names a page of the project: adapt tools/ship/upstream/libarena.py")
    return text


def make_libarena(author, output=FOLDER, prefix="PATCH"):
    """Write the patch and its letter for the found tree. author: as "Name <address>"."""
    source = get_source()
    if not (source.path / INCLUDE).exists():
        raise Failure(f"{source.path} has no {INCLUDE}")
    tree = Tree(source)
    for name in HEADERS:
        tree.add(f"{INCLUDE}/{name}", text_of(name))
    commits = [((TEXTS / "libarena/1-lock.txt").read_text(), tree.texts)]
    letter = (TEXTS / "libarena/cover-letter.txt").read_text().replace("@VERSION@", source.version)
    output = Path(output)
    with locked(f"{output}.lock", output):
        patches = format_patches((tree.base, commits, letter), Author(str(author)), output, prefix)
    return Series(source, tree.base, patches)
