# SPDX-License-Identifier: GPL-2.0
"""perf and python3 for a guest: Debian's, with the libraries that they need."""

import subprocess

from testbed.common import Trouble, Unavailable, cache_root, cached, is_sealed, say
from testbed.debian import (apt_offering, loader_in, natural, only, suites_of_main_archive)

SUITE = "trixie"		# its perf lock contention has --lock-addr
PACKAGE = "linux-perf"
PYTHON = "usr/lib/python3.*"
# Of what it depends on: libraries, and a python3 beside them.
WANTED = ("lib", "linux-perf", "zlib1g", "python3")
FOLDER = "debian"		# in the guest, below /root
# In a guest's shell: $PERF and $PYTHON, as commands.
SHELL = f"""
R=/root/{FOLDER}
PERF="$R/ld.so --library-path $R/lib $R/perf"
PYTHON="$R/ld.so --library-path $R/lib $R/python3"
export PYTHONHOME=$R PYTHONDONTWRITEBYTECODE=1
"""


def unpacked():
    """A folder with the packages, fetched if the cache does not have it."""
    place = cache_root() / "perf"
    kept = [folder for folder in place.glob(f"{PACKAGE}_*")
            if folder.is_dir() and is_sealed(folder)]
    if kept:
        return max(kept, key=lambda path: natural(path.name))
    try:
        apt, _ = apt_offering(PACKAGE, suites_of_main_archive(SUITE))
    except Unavailable as reason:
        raise Unavailable(f"no perf of Debian's {SUITE}: {reason}") from None
    version = apt.field(PACKAGE, "Version").replace(":", "_")

    def unpack(folder):
        say(f"fetching {PACKAGE} {version} and its libraries (about 50 MB)")
        apt.unpack([name for name in apt.dependencies(PACKAGE) if name.startswith(WANTED)],
                   folder)
        return [loader_in(folder).relative_to(folder),
                program(folder, "perf").relative_to(folder)]

    return cached(place / f"{PACKAGE}_{version}", unpack)


def program(folder, name):
    return only(folder, f"usr/bin/{name}").resolve()


def libraries(folder, path):
    """{name: file} of the libraries that a program needs."""
    loader = loader_in(folder)
    done = subprocess.run([loader, "--library-path", loader.parent, "--list", path], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    found = {}
    for line in done.stdout.splitlines():
        name, arrow, rest = line.strip().partition(" => ")
        if arrow and rest.startswith("not found"):
            raise Trouble(f"{path} has no {name} in {folder}")
        if arrow:
            found[name] = rest.rpartition(" (")[0]
    return found


def content(path, mode=0o755):
    with open(path, "rb") as file:
        return file.read(), mode


def guest_files():
    """{name: (content, mode)} for run_guest()."""
    folder = unpacked()
    programs = {"perf": program(folder, "perf"), "python3": program(folder, "python3.*[0-9]")}
    files = {f"{FOLDER}/{name}": content(path) for name, path in programs.items()}
    files[f"{FOLDER}/ld.so"] = content(loader_in(folder).resolve())
    for path in programs.values():
        for name, library in libraries(folder, path).items():
            files[f"{FOLDER}/lib/{name}"] = content(library)
    return files
