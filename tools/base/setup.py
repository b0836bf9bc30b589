# SPDX-License-Identifier: GPL-2.0
"""What a command needs: what the environment names, and what tools/setup installs."""

import os
from pathlib import Path
import re
import subprocess

from base.building import cache_root
from base.common import PROJECT, Failure

PREFERRED_SERIES = os.environ.get("NBQ_KERNEL", "7.2")
OLDEST = (6, 19)		# the first with SMP in user-mode Linux


def tree_version(tree):
    """The version that a tree's Makefile states."""
    try:
        text = (tree / "Makefile").read_text()
    except OSError:
        raise Failure(f"{tree} is not a Linux source tree (no Makefile)") from None
    parts = {}
    for name in ("VERSION", "PATCHLEVEL", "SUBLEVEL", "EXTRAVERSION"):
        match = re.search(rf"^{name} *=[ \t]*(.*)$", text, re.MULTILINE)
        if not match:
            raise Failure(f"{tree} is not a Linux source tree (no {name})")
        parts[name] = match.group(1).strip()
    version = "{VERSION}.{PATCHLEVEL}.{SUBLEVEL}{EXTRAVERSION}".format(**parts)
    if (int(parts["VERSION"]), int(parts["PATCHLEVEL"])) < OLDEST:
        raise Failure(f"{tree} is Linux {version}; user-mode Linux has SMP "
                      f"since {OLDEST[0]}.{OLDEST[1]}")
    return version


def check_environment():
    """Refuse what the environment names if it is not there, or not what it should be."""
    given = os.environ.get("KSRC")
    if given:
        tree_version(Path(given).absolute())
    series = os.environ.get("NBQ_KERNEL", PREFERRED_SERIES)
    if not re.fullmatch(r"\d+\.\d+", series):
        raise Failure(f"NBQ_KERNEL={series}: not of the form 7.2")
    root = cache_root()
    if not os.access(root, os.W_OK | os.X_OK):
        raise Failure(f"the cache folder {root} cannot be written to; name another with "
                      "NBQ_CACHE=FOLDER")


def run_setup(words):
    return subprocess.run([PROJECT / "tools/setup", *words], check=False).returncode


def setup(*purposes, makes=()):
    """Have tools/setup install what purposes of its list need.

    makes: what will be downloaded and built then, for the announcement: that of a purpose, or rows.
    The arguments of a command have been checked when it comes to this; what the environment says
    is checked here, before anything is installed.
    """
    check_environment()
    if run_setup([*purposes, *(word for each in makes for word in ("--makes", each))]):
        raise Failure("tools/setup could not install what is missing")
