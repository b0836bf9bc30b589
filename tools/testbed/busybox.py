# SPDX-License-Identifier: GPL-2.0
"""The programs in a guest: one file, busybox, for the guest's processor."""

import os
from pathlib import Path
import platform
import shutil

from testbed.common import Unavailable, cache_root, cached, say
from testbed.debian import (apt_offering, kept_in, own_suites, suites_of_main_archive,
                            version_in)

PACKAGE = "busybox-static"
PROGRAM = "bin/busybox"
# What a processor is called by the kernel, and by Debian.
DEBIANS_NAMES = {"x86_64": "amd64", "aarch64": "arm64", "i386": "i386", "riscv64": "riscv64"}


def busybox(processor=None):
    """The content of a busybox that needs no libraries."""
    if processor and processor != platform.machine():
        return foreign_busybox(DEBIANS_NAMES[processor])
    path = shutil.which("busybox", path=os.environ.get("PATH", "") + ":/bin:/usr/bin")
    if not path:
        raise Unavailable("busybox is not installed; run tools/setup")
    content = Path(path).read_bytes()
    if b"ld-linux" in content[:4096]:
        raise Unavailable(f"{path} is not statically linked; install {PACKAGE}")
    return content


def foreign_busybox(architecture):
    """Debian's, for another architecture: unpacked, never installed."""
    root = cache_root() / "busybox"
    folder = kept_in(root, f"*_{architecture}") or fetched_busybox(root, architecture)
    return program_in(folder).read_bytes()


def program_in(folder):
    """Debian has moved it from bin to usr/bin."""
    return next(path for path in (folder / PROGRAM, folder / "usr" / PROGRAM)
                if path.exists())


def fetched_busybox(root, architecture):
    try:
        # The first of Debian's releases that has riscv64 is trixie.
        apt, _ = apt_offering(PACKAGE, own_suites(),
                              *(suites_of_main_archive(suite)
                                for suite in ("bookworm", "trixie", "forky")),
                              architecture=architecture)
    except Unavailable as reason:
        raise Unavailable(f"no busybox for {architecture}: {reason}") from None
    version = version_in(apt, PACKAGE)

    def unpack(folder):
        say(f"fetching busybox {version} for {architecture} (about 1 MB)")
        apt.unpack([PACKAGE], folder)
        return [program_in(folder).relative_to(folder)]

    return cached(root / f"{version}_{architecture}", unpack)
