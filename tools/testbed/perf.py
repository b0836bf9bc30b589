# SPDX-License-Identifier: GPL-2.0
"""Debian's perf for a guest, with the libraries that it needs."""

import re

from testbed.common import Trouble, Unavailable, answer_of, cache_root, cached, say
from testbed.debian import (apt_offering, kept_in, loader_in, only, suites_of_main_archive,
                            version_in)

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


def unpacked():
    """A folder with the packages, fetched if the cache does not have it."""
    place = cache_root() / "perf"
    kept = kept_in(place, f"{PACKAGE}_*")
    if kept:
        return kept
    try:
        apt, _ = apt_offering(PACKAGE, suites_of_main_archive(SUITE))
    except Unavailable as reason:
        raise Unavailable(f"no perf of Debian's {SUITE}: {reason}") from None
    version = version_in(apt, PACKAGE)

    def unpack(folder):
        say(f"fetching {PACKAGE} {version} and its libraries (about 50 MB)")
        apt.unpack([name for name in apt.dependencies(PACKAGE) if name.startswith(WANTED)],
                   folder)
        return [path.relative_to(folder) for path in (loader_in(folder), program_in(folder))]

    return cached(place / f"{PACKAGE}_{version}", unpack)


def program_in(folder):
    return only(folder, "usr/bin/perf").resolve()


def libraries(listed):
    """{name: file} of what a loader's --list has printed."""
    found = dict(match.groups() for match in map(LIBRARY.match, listed.splitlines()) if match)
    lacking = [name for name, path in found.items() if path == "not found"]
    if lacking:
        raise Trouble(f"Debian's perf lacks {', '.join(lacking)}: remove {cache_root() / 'perf'}, "
                      "so that it is fetched anew")
    return found


def guest_files():
    """{name: (content, mode)} for run_guest()."""
    folder = unpacked()
    loader, program = loader_in(folder), program_in(folder)
    listed, _ = answer_of([loader, "--library-path", loader.parent, "--list", program])
    paths = {"perf": program, "ld.so": loader.resolve(),
             **{f"lib/{name}": path for name, path in libraries(listed).items()}}
    files = {}
    for name, path in paths.items():
        with open(path, "rb") as file:
            files[f"{FOLDER}/{name}"] = (file.read(), 0o755)
    return files
