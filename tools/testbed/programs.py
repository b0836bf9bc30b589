# SPDX-License-Identifier: GPL-2.0
"""Programs for guests, which have no libraries."""

from testbed.common import Trouble, answer_of, cache_root, cached, compiler_identity, digest

COMMAND = ("gcc", "-static", "-O2", "-Wall", "-pthread")


def static_program(source):
    """The content of a program of one file, linked statically; built if the cache lacks it."""
    key = digest(source.read_bytes(), *COMMAND, compiler_identity())

    def build(folder):
        text, status = answer_of([*COMMAND, "-o", folder / source.stem, source])
        if status:
            raise Trouble(f"{' '.join(COMMAND)} {source}: {text}")
        return [source.stem]

    folder = cached(cache_root() / "programs" / f"{source.stem}-{key}", build)
    return (folder / source.stem).read_bytes()
