# SPDX-License-Identifier: GPL-2.0
"""A program that is made once of what it is made of."""

from base.building import compiler_identity, digest, locked


def digest_of(*folders):
    """Of the texts of C below folders."""
    return digest(*(part for folder in folders for path in sorted(folder.rglob("*.[chS]"))
                    for part in (path.name, path.read_bytes())))


def built(program, make, *parts):
    """The program. make(its folder) gives it under another name, so that one that runs meanwhile
    stays as it is; it is called if the compiler or any of the parts has changed.
    """
    folder = program.parent
    folder.mkdir(parents=True, exist_ok=True)
    mark, wanted = folder / "identity", digest(compiler_identity(), *parts)
    with locked(folder / "build.lock", folder):
        if program.exists() and mark.exists() and mark.read_text() == wanted:
            return program
        mark.unlink(missing_ok=True)
        make(folder).rename(program)
        mark.write_text(wanted)
    return program
