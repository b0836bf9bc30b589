# SPDX-License-Identifier: GPL-2.0
"""A sparse that knows the C of the newest kernels.

Debian 12 and 13 have one that does not; their make would say so and go on without.
That of Debian's next release runs from a folder of its own, with that release's libc.
"""

from pathlib import Path
import shutil
import tempfile

from testbed.common import Trouble, Unavailable, answer_of, cache_root, cached, say
from testbed.debian import apt_offering, kept_in, suites_of_main_archive, version_in

SUITES = ("trixie-backports", "forky", "sid")
# What the kernel itself asks of it.
NEW_WORD = "static inline int same(const int *p)\n{\n\t__typeof_unqual__(*p) v = *p;\n\n" \
    "\treturn v;\n}\n"
STARTER = """#!/bin/sh
here=${0%/*}
exec "$here"/usr/lib64/ld-linux-x86-64.so.2 \\
	--library-path "$here"/usr/lib/x86_64-linux-gnu "$here"/usr/bin/sparse "$@"
"""


def knows_new_words(program):
    """Whether this sparse takes what the headers of the newest kernels say."""
    with tempfile.NamedTemporaryFile("w", suffix=".c") as file:
        file.write(NEW_WORD)
        file.flush()
        text, status = answer_of([program, file.name])
    return status == 0 and "error" not in text


def new_sparse():
    """The path of a sparse that can check the newest kernels' modules."""
    own = shutil.which("sparse")
    if own and knows_new_words(own):
        return own
    kept = kept_in(cache_root() / "sparse", "sparse_*")
    if kept:
        return kept / "sparse"
    for suite in SUITES:
        program = fetched_sparse(suite)
        if program:
            return program
    raise Unavailable("no suite of Debian has a sparse that is new enough, or none can be "
                      "reached")


def fetched_sparse(suite):
    """That of a suite; nothing, if there is none, or none that is new enough."""
    try:
        apt, _ = apt_offering("sparse", suites_of_main_archive(suite))
    except Unavailable:
        return None
    version = version_in(apt, "sparse")

    def unpack(folder):
        say(f"fetching sparse {version}")
        apt.unpack(["sparse", "libc6"], folder)
        starter = folder / "sparse"
        starter.write_text(STARTER)
        starter.chmod(0o755)
        if not knows_new_words(starter):
            raise Trouble(f"sparse {version} of {suite} does not know "
                          "__typeof_unqual__, or does not run")
        return ["sparse", "usr/bin/sparse"]

    try:
        return Path(cached(cache_root() / "sparse" / f"sparse_{version}", unpack)) / "sparse"
    except Trouble as trouble:
        say(str(trouble))
        return None
