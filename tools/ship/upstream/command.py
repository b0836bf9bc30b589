# SPDX-License-Identifier: GPL-2.0
"""Writes a series of patches that adds the hybrid lock to a kernel tree.

The patches are made from the project's sources, for the tree that is found or
that KSRC names. They have the form of `git format-patch`, and `git am` applies
them to that tree.
"""

import argparse
from pathlib import Path
import shutil

from base.common import folder_can_be_written, say
from base.setup import setup
from ship.upstream import libarena
from ship.upstream.libarena import make_libarena
from ship.upstream.patches import Author, am_commands, author_of_git
from ship.upstream.series import FOLDER, make_series

VERBS = {"series": "write the patches for a kernel tree"}


def body():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="""\
If a change does not fit the tree, the tree is refused. `tools/check series`
checks the patches, as `make check` does, with KUnit; series-all adds
locktorture.

environment:
  KSRC=FOLDER       a Linux source tree to make them for (7.0 or later)
  NBQ_CACHE=FOLDER  where downloads are kept (default ~/.cache/nbqlock)""")
    parser.add_argument("--author", metavar="\"NAME <ADDRESS>\"",
                        help="author of the patches, who signs them off and maintains the code "
                        "(default: git's user)")
    parser.add_argument("--libarena", action="store_true",
                        help="instead, write a patch that adds nbq_arena_lock to the BPF selftests")
    parser.add_argument("--output", type=Path, metavar="FOLDER",
                        help="where to write them (default: build/series, build/libarena); "
                        "patches in it are removed first")
    parser.add_argument("--prefix", default="PATCH", metavar="WORDS",
                        help="first words of the subjects, such as \"RFC PATCH v2\" "
                        "(default: PATCH)")
    options = parser.parse_args()
    output = options.output or (libarena.FOLDER if options.libarena else FOLDER)
    folder_can_be_written(output)
    if options.author:
        Author(options.author)
    elif shutil.which("git"):
        author_of_git()
    setup("series", makes=["source"])
    make = make_libarena if options.libarena else make_series
    series = make(options.author or author_of_git(), output, options.prefix)
    for patch in (series.cover, *series.patches):
        print(patch)
    first, *rfc = am_commands(series.patches)
    say(f"for Linux {series.source.version}: {first}")
    for command in rfc:
        say(f"and the RFC: {command}")
    return 0
