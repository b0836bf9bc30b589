# SPDX-License-Identifier: GPL-2.0
"""Debian's perf for a guest, with the libraries that it needs."""

import re

from base.common import Failure, answer_of
from guest.debian import loader_in, only, suites_of_main_archive, unpacked

SUITE = "trixie"		# its perf lock contention shows locks by address
PACKAGE = "linux-perf"
# Of what it depends on.
WANTED = ("lib", PACKAGE, "zlib1g")
FOLDER = "debian"		# in the guest, below /root
# In a guest's shell: $PERF, as a command. Its line to the host is a terminal, on which a pager
# would await keys.
SHELL = f"""
PERF="/root/{FOLDER}/ld.so --library-path /root/{FOLDER}/lib /root/{FOLDER}/perf --no-pager"
"""
LIBRARY = re.compile(r"\s*(\S+) => (not found|\S+)")


def perf_files(folder):
    return loader_in(folder), only(folder, "usr/bin/perf").resolve()


def libraries(listed):
    """{name: file} of what a loader's --list has printed."""
    found = dict(match.groups() for match in map(LIBRARY.match, listed.splitlines()) if match)
    lacking = [name for name, path in found.items() if path == "not found"]
    if lacking:
        raise Failure(f"Debian's perf lacks {', '.join(lacking)}: remove the folder perf of "
                      "the cache, so that it is fetched anew")
    return found


def guest_files():
    """{name: (content, mode)} for run_guest()."""
    folder = unpacked("perf", f"{PACKAGE}_*", f"perf of Debian's {SUITE}",
                      [suites_of_main_archive(SUITE)], PACKAGE,
                      lambda apt, package: [name for name in apt.dependencies(package)
                                            if name.startswith(WANTED)],
                      perf_files, megabytes=50)
    loader, program = perf_files(folder)
    listed, _ = answer_of([loader, "--library-path", loader.parent, "--list", program])
    paths = {"perf": program, "ld.so": loader.resolve(),
             **{f"lib/{name}": path for name, path in libraries(listed).items()}}
    files = {}
    for name, path in paths.items():
        with open(path, "rb") as file:
            files[f"{FOLDER}/{name}"] = (file.read(), 0o755)
    return files
