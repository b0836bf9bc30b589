# SPDX-License-Identifier: GPL-2.0
"""A Linux source tree to build the user-mode kernel from."""

import os
from pathlib import Path
import re
import shutil

from testbed.common import (Trouble, Unavailable, cache_folder, cached, digest,
                            output_of, run_logged, say)
from testbed.debian import apt_offering, kept_in, suites_of_main_archive, version_in

PREFERRED_SERIES = os.environ.get("NBQ_KERNEL", "7.2")
OLDEST = (6, 19)		# the first with SMP in user-mode Linux

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


def tree_version(tree):
    """The version that a tree's Makefile states."""
    try:
        text = (tree / "Makefile").read_text()
    except OSError:
        raise Trouble(f"{tree} is not a Linux source tree (no Makefile)") from None
    parts = {}
    for name in ("VERSION", "PATCHLEVEL", "SUBLEVEL", "EXTRAVERSION"):
        match = re.search(rf"^{name} *=[ \t]*(.*)$", text, re.MULTILINE)
        if not match:
            raise Trouble(f"{tree} is not a Linux source tree (no {name})")
        parts[name] = match.group(1).strip()
    version = "{VERSION}.{PATCHLEVEL}.{SUBLEVEL}{EXTRAVERSION}".format(**parts)
    if (int(parts["VERSION"]), int(parts["PATCHLEVEL"])) < OLDEST:
        raise Trouble(f"{tree} is Linux {version}; user-mode Linux has SMP "
                      f"since {OLDEST[0]}.{OLDEST[1]}")
    return version


def series_of(name):
    """(7, 2) for linux-source-7.2."""
    match = re.search(r"(\d+)\.(\d+)", name)
    return (int(match.group(1)), int(match.group(2)))


def get_source():
    """The tree to build from: the user's, a cached one, or Debian's."""
    given = os.environ.get("KSRC")
    if given:
        return users_source(Path(given))
    return cached_source() or fetched_source()


# A tree of the user's

def users_source(tree):
    tree = tree.absolute()
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

def cached_source():
    """A tree that was fetched earlier: the preferred series, else the newest."""
    place = cache_folder("source")
    tree = kept_in(place, f"linux-source-{PREFERRED_SERIES}_*")
    if not tree and "NBQ_KERNEL" not in os.environ:
        tree = kept_in(place, "linux-source-*")
    return Source(tree, tree.name) if tree else None


def fetched_source():
    try:
        wanted = re.escape(f"linux-source-{PREFERRED_SERIES}")
        suites = [suites_of_main_archive(suite)
                  for suite in ("trixie-backports", "sid", "forky")]
        try:
            apt, names = apt_offering(wanted, *suites)
        except Unavailable:
            if "NBQ_KERNEL" in os.environ:
                raise
            apt, names = newest_series(suites)
        return unpacked_source(apt, names[-1])
    except Unavailable as reason:
        raise Unavailable(
            f"no Linux source to build the user-mode kernel from: {reason}. "
            "Give a Linux tree of 6.19 or later with KSRC=FOLDER, or a cache "
            "filled elsewhere with NBQ_CACHE=FOLDER.") from None


def newest_series(suites):
    """The newest series in the first suite that has one new enough."""
    for suite in suites:
        try:
            apt, names = apt_offering(r"linux-source-\d+\.\d+", suite)
        except Unavailable:
            continue
        names = [name for name in names if series_of(name) >= OLDEST]
        if names:
            return apt, names
    raise Unavailable("Debian's suites offer no linux-source of 6.19 or later, "
                      "or cannot be reached")


def unpacked_source(apt, package):
    version = version_in(apt, package)

    def unpack(folder):
        say(f"fetching the source of Linux {version} (about 160 MB; 1.7 GB unpacked)")
        apt.unpack([package], folder)
        archive = next((folder / "usr/src").glob("linux-source-*.tar.*"))
        run_logged(["tar", "-C", folder, "--strip-components=1", "-xf", archive],
                   folder.parent / f"{folder.name}.log", "unpacking the source")
        shutil.rmtree(folder / "usr/src")
        shutil.rmtree(folder / "usr/share")
        return ["Makefile", "Kconfig", "Kbuild", "kernel/locking/qspinlock.c"]

    folder = cached(cache_folder("source") / f"{package}_{version}", unpack)
    return Source(folder, folder.name)
