# SPDX-License-Identifier: GPL-2.0
"""Programs for guests, which have no libraries, and a sparse: built here, or Debian's."""

import os
from pathlib import Path
import platform
import shutil
import tempfile

from base.building import cache_folder, cached, compiler_identity, digest
from base.common import Failure, Unavailable, answer_of, say
from guest.debian import own_suites, suites_of_main_archive, unpacked
from guest.kbuild import write_program

COMMAND = ("gcc", "-static", "-O2", "-Wall", "-pthread")
BUSYBOX = "busybox-static"
# What a processor is called by the kernel, and by Debian.
DEBIANS_NAMES = {"x86_64": "amd64", "aarch64": "arm64", "i386": "i386", "riscv64": "riscv64"}


def static_program(source):
    """The content of a program of one file, linked statically; built if the cache lacks it."""
    key = digest(source.read_bytes(), *COMMAND, compiler_identity())

    def build(folder):
        text, status = answer_of([*COMMAND, "-o", folder / source.stem, source])
        if status:
            raise Failure(f"{' '.join(COMMAND)} {source}: {text}")
        return [source.stem]

    folder = cached(cache_folder("programs") / f"{source.stem}-{key}", build)
    return (folder / source.stem).read_bytes()


# The programs in a guest: one file, for the guest's processor

def busybox(processor=None):
    """The content of a busybox that needs no libraries."""
    if processor and processor != platform.machine():
        return foreign_busybox(DEBIANS_NAMES[processor])
    path = shutil.which("busybox", path=os.environ.get("PATH", "") + ":/bin:/usr/bin")
    if not path:
        raise Unavailable("busybox is not installed; run tools/setup")
    content = Path(path).read_bytes()
    if b"ld-linux" in content[:4096]:
        raise Unavailable(f"{path} is not statically linked; install {BUSYBOX}")
    return content


def foreign_busybox(architecture):
    """Debian's, for another architecture: unpacked, never installed."""
    # The first of Debian's releases that has riscv64 is trixie.
    lists = [own_suites(), *map(suites_of_main_archive, ("bookworm", "trixie", "forky"))]
    folder = unpacked("busybox", f"*_{architecture}", f"busybox for {architecture}", lists,
                      BUSYBOX, lambda _, package: [package], busybox_files, architecture)
    return busybox_files(folder)[0].read_bytes()


def busybox_files(folder):
    """Debian has moved it from bin to usr/bin."""
    return [path for path in (folder / "bin/busybox", folder / "usr/bin/busybox")
            if path.exists()][:1]


# A sparse that knows the C of the newest kernels. Debian 12 and 13 have one that does not; their
# make would say so and go on without. That of the next release is started with its own libc.

SPARSE_SUITES = ("trixie-backports", "forky", "sid")
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
    for suite in SPARSE_SUITES:
        try:
            return unpacked("sparse", "sparse_*", f"sparse in {suite}",
                            [suites_of_main_archive(suite)], "sparse",
                            lambda _, package: [package, "libc6"], sparse_files) / "sparse"
        except Failure as failure:
            say(str(failure))
    raise Unavailable("no suite of Debian has a sparse that is new enough, or none can be "
                      "reached")


def sparse_files(folder):
    """Those of one that is new enough; else Failure."""
    write_program(folder / "sparse", STARTER)
    if not knows_new_words(folder / "sparse"):
        raise Failure(f"{folder.name} does not know __typeof_unqual__, or does not run")
    return folder / "sparse", folder / "usr/bin/sparse"
