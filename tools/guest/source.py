# SPDX-License-Identifier: GPL-2.0
"""A Linux source tree to build the user-mode kernel from."""

import os
from pathlib import Path
import re
import shutil

from base.building import cache_folder, cached, digest, run_logged
from base.common import Unavailable, fit_for_kbuild, output_of, say
from base.setup import PREFERRED_SERIES, tree_version
from guest.debian import NoNetwork, kept_in, suites_of_main_archive, unpacked

SUITES = ("trixie-backports", "sid", "forky")	# where it is looked for
NEW_ENOUGH = r"(6\.(19|[2-9]\d)|[7-9]\.\d+|\d\d+\.\d+)"	# the same, for the name of a package

# Made by a build inside the tree; a build outside the tree must not see them.
MADE_FOLDERS = re.compile(r"\.git|include/config|include/generated|"
                          r"arch/[^/]+/include/generated")
MADE_FILES = (".o", ".a", ".ko", ".cmd", ".mod", ".mod.c", ".order", ".d",
              ".so", ".dbg", ".symvers")


class Source:
    """A tree with its version, and what tells it from other trees."""

    def __init__(self, path, identity):
        self.path = Path(path)
        self.version = tree_version(self.path)
        self.identity = identity


def get_source():
    """The tree to build from: the user's, a cached one, or Debian's."""
    given = os.environ.get("KSRC")
    if given:
        return users_source(Path(given))
    return debians_source()


def source_version():
    """That of the tree that is there already; * if none is."""
    kept = os.environ.get("KSRC") or kept_source()
    return tree_version(Path(kept).absolute()) if kept else "*"


# A tree of the user's

def users_source(tree):
    tree = fit_for_kbuild(tree.absolute(), "KSRC")
    tree_version(tree)
    files = tree_files(tree)
    state = []
    for name in files:
        try:
            status = os.lstat(tree / name)
        except FileNotFoundError:
            continue
        state.append(f"{name} {status.st_size} {status.st_mtime_ns}")
    identity = digest(tree, *state)
    if not was_built_in(tree):
        return Source(tree, identity)

    say(f"{tree} has been built in; using its sources through links")

    def link(folder):
        made = set()
        for name in files:
            parent = os.path.dirname(name)
            if parent not in made:
                (folder / parent).mkdir(parents=True, exist_ok=True)
                made.add(parent)
            os.symlink(tree / name, folder / name)
        return ["Makefile"]

    return Source(cached(cache_folder("source") / f"links-{identity}", link),
                  identity)


def was_built_in(tree):
    """Whether kbuild would refuse the tree as not clean."""
    return any((tree / name).exists() for name in (".config", "include/config")) \
        or any(tree.glob("arch/*/include/generated"))


def tree_files(tree):
    """A tree's sources, without what a build in it has made."""
    if (tree / ".git").exists():
        listed = output_of(["git", "-C", tree, "ls-files", "-z", "--cached",
                            "--others", "--exclude-standard"])
        if listed:
            return sorted(name for name in listed.split("\0") if name)
    found = []
    for folder, folders, files in os.walk(tree):
        inside = os.path.relpath(folder, tree)
        prefix = "" if inside == "." else inside + "/"
        folders[:] = [name for name in folders
                      if not MADE_FOLDERS.fullmatch(prefix + name)]
        found += [prefix + name for name in files
                  if not name.endswith(MADE_FILES)
                  and prefix + name not in (".config", ".config.old")]
        found += [prefix + name for name in folders
                  if os.path.islink(os.path.join(folder, name))]
    return sorted(found)


# Debian's

def kept_source():
    """The newest of the preferred series in the cache, else the newest; None without one."""
    place = cache_folder("source")
    return kept_in(place, f"linux-source-{PREFERRED_SERIES}_*") or \
        (kept_in(place, "linux-source-*") if "NBQ_KERNEL" not in os.environ else None)


def debians_source():
    """Of the preferred series, else of the newest that there is: kept, or fetched."""
    wanted = [re.escape(PREFERRED_SERIES)]
    if "NBQ_KERNEL" not in os.environ:
        wanted.append(NEW_ENOUGH)
    kept = kept_source()
    while not kept:
        try:
            kept = fetched_source(f"linux-source-{wanted.pop(0)}")
        except Unavailable as reason:
            if not wanted or isinstance(reason, NoNetwork):
                raise
    return Source(kept, kept.name)


def fetched_source(pattern):
    suites = map(suites_of_main_archive, SUITES)
    return unpacked("source", f"linux-source-{PREFERRED_SERIES}_*",
                    "Linux source to build the user-mode kernel from (KSRC=FOLDER names a tree "
                    "of 6.19 or later)", suites, pattern, lambda _, package: [package],
                    source_files, megabytes=160)


def source_files(folder):
    """Unpack the archive in an unpacked package: 1.7 GB."""
    archive = next((folder / "usr/src").glob("linux-source-*.tar.*"))
    run_logged(["tar", "-C", folder, "--strip-components=1", "-xf", archive],
               folder.parent / f"{folder.name}.log", "unpacking the source")
    shutil.rmtree(folder / "usr/src")
    shutil.rmtree(folder / "usr/share")
    return [folder / name for name in ("Makefile", "Kconfig", "Kbuild",
                                       "kernel/locking/qspinlock.c")]
