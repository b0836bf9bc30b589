# SPDX-License-Identifier: GPL-2.0
"""Debian's riscv64 kernel, as far as modules need it to be built: its headers."""

import re

from testbed.common import Unavailable, cache_root, cached, compiler_for_make, \
    compiler_identity, digest, is_sealed, output_of, say
from testbed.debian import apt_offering, natural, only, own_suites, suites_of_main_archive
from testbed.kernels import Kernel, mend_makefile

TOOLS = "riscv64-linux-gnu-"
SERIES = "6.12"
HEADERS = rf"linux-headers-{re.escape(SERIES)}\.\d+[^a-z]*(deb\d+)?-riscv64"
KBUILD = rf"linux-kbuild-{re.escape(SERIES)}\.\d+.*"


def riscv_headers():
    """What modules for riscv64 are built against. Nothing of it can be booted."""
    identity = compiler_identity(TOOLS)
    kept = sorted((folder for folder in (cache_root() / "debian/riscv64").glob("linux-*")
                   if folder.is_dir() and is_sealed(folder)),
                  key=lambda folder: natural(folder.name))
    folder = kept[-1] if kept else fetched_headers()
    release = folder.name.replace("linux-headers-", "", 1)
    options = compiler_for_make(TOOLS)
    # The headers' makefile names the compiler of its own suite.
    if not any(option.startswith("CC=") for option in options):
        options.append(f"CC={TOOLS}gcc")
    return Kernel("riscv64", release, folder / "usr/src" / folder.name, None,
                  [*options, "CONFIG_DEBUG_INFO_BTF_MODULES="],
                  digest(folder, release, identity))


def fetched_headers():
    try:
        apt, names = apt_offering(HEADERS, suites_of_main_archive("trixie"),
                                  architecture="riscv64")
        # Programs of the machine that builds, so of a suite whose libraries it has:
        # of the same series, not always of the same version.
        host = (output_of(["dpkg", "--print-architecture"]) or "amd64").strip()
        programs, kbuilds = apt_offering(KBUILD, own_suites(),
                                         suites_of_main_archive("bookworm-backports"),
                                         suites_of_main_archive("trixie"),
                                         architecture=host)
    except Unavailable as reason:
        raise Unavailable(f"no headers of Debian's kernel {SERIES} for riscv64: {reason}. "
                          "Give a cache filled elsewhere with NBQ_CACHE=FOLDER.") from None
    headers, kbuild = names[-1], kbuilds[-1]
    needs = apt.field(headers, "Depends")
    common = re.search(r"linux-headers-\S+-common\b", needs)
    wanted = re.search(r"linux-kbuild-[^\s,]+", needs)
    if not common or not wanted:
        raise Unavailable(f"{headers} does not name its common and kbuild packages")

    def unpack(folder):
        say(f"fetching {headers} (about 12 MB)")
        apt.unpack([headers, common[0]], folder)
        programs.unpack([kbuild], folder)
        if kbuild != wanted[0]:
            (folder / "usr/lib" / wanted[0]).symlink_to(kbuild)
        makefile = folder / "usr/src" / headers / "Makefile"
        mend_makefile(makefile, folder)
        made = [makefile, makefile.parent / "Module.symvers",
                only(folder, f"usr/lib/{wanted[0]}/scripts/mod/modpost")]
        return [path.relative_to(folder) for path in made]

    return cached(cache_root() / "debian/riscv64" / headers, unpack)
