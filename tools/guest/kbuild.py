# SPDX-License-Identifier: GPL-2.0
"""The programs that build modules for a packaged kernel of a newer release than this system.

They were linked with that release's libraries; here they are started with their own copies
of these. Options that only that release's compiler knows are taken back.
"""

import re

from base.common import answer_of, output_of
from guest.debian import loader_in

LIBRARIES = ("libc6", "libelf1t64", "zlib1g", "libzstd1")
ELF = b"\x7fELF"
STARTER = """#!/bin/sh
exec {loader} --library-path {libraries} {program} "$@"
"""
# Debian leaves it out of the package. That the checker does, programs.py has seen.
CHECKER_VALID = """#!/bin/sh
echo 1
"""
# Settings of a kernel that put an option on the compiler's command line, each with it.
OPTIONS = {"CONFIG_CC_HAS_MIN_FUNCTION_ALIGNMENT": "-fmin-function-alignment=16"}


def is_program(path):
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == ELF


def lacks_libraries(program):
    """Whether this system's libraries are missing, or too old for a program."""
    text, _ = answer_of(["ldd", program])
    return "not found" in text


def write_program(path, text):
    path.write_text(text)
    path.chmod(0o755)


def mend_programs(apt, folder):
    """Let the programs of an unpacked linux-kbuild package run here."""
    for scripts in folder.glob("usr/lib/linux-kbuild-*/scripts"):
        if not (scripts / "checker-valid.sh").exists():
            write_program(scripts / "checker-valid.sh", CHECKER_VALID)
    programs = [path for path in sorted(folder.glob("usr/lib/linux-kbuild-*/**/*"))
                if is_program(path) and lacks_libraries(path)]
    if not programs:
        return
    apt.unpack(LIBRARIES, folder)
    loader = loader_in(folder)
    for path in programs:
        program = path.rename(path.with_name(f"{path.name}.program"))
        write_program(path, STARTER.format(loader=loader, libraries=loader.parent,
                                           program=program))


def options_to_take_back(config):
    """Settings as words for make, where this compiler does not know their options."""
    return [f"{name}=" for name, option in OPTIONS.items()
            if re.search(rf"^{name}=y$", config, re.MULTILINE) and
            output_of(["gcc", option, "-E", "-x", "c", "/dev/null"]) is None]


def same_pahole(config):
    """A word for make that lets another pahole pass: no type information is made."""
    return [f"PAHOLE_VERSION={version}"
            for version in re.findall(r"^CONFIG_PAHOLE_VERSION=(\d+)$", config, re.MULTILINE)]
