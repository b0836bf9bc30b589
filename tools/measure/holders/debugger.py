# SPDX-License-Identifier: GPL-2.0
"""drgn of a Debian release, and what it needs of a kernel: its debug information."""

import json
import os
from pathlib import Path
import re

from base.common import Failure, Unavailable, answer_of
from guest.debian import only, suites_of_main_archive, unpacked
from guest.kernels import suites_for

RELEASES = {"12": "bookworm", "13": "trixie"}
DRGN = "python3-drgn"
# Of what it depends on.
WANTED = ("lib", "python3", "zlib1g")
FACTS = Path(__file__).parent / "facts.py"
# A folder of its own, which is no package: the unit tests import none that needs drgn.
HELPERS = Path(__file__).parent / "drgn"
LONGEST = 3600			# seconds: it only ends what hangs


class Drgn:
    """By the number of the release."""

    def __init__(self, release):
        suite = RELEASES[release]
        self.folder = unpacked(
            f"drgn/{suite}", f"{DRGN}_*", f"drgn of Debian {release}",
            [suites_of_main_archive(suite)], DRGN,
            lambda apt, package: [name for name in apt.dependencies(package)
                                  if name.startswith(WANTED)],
            lambda folder: [only(folder, "usr/bin/python3.[0-9]*")], megabytes=15)

    def command(self):
        # Debian 12 has them in lib and in usr/lib.
        loader = only(self.folder, "**/*-linux-gnu/ld-linux-*.so.*")
        libraries = self.folder.glob("**/lib/*-linux-gnu")
        return [loader, "--library-path", ":".join(map(str, libraries)),
                only(self.folder, "usr/bin/python3.[0-9]*"), "-m", "drgn"]

    def environment(self):
        return {**os.environ, "PYTHONHOME": f"{self.folder}/usr", "PYTHONDONTWRITEBYTECODE": "1",
                "PYTHONPATH": f"{self.folder}/usr/lib/python3/dist-packages"}

    def run(self, folder, vmlinux, *arguments):
        """What facts.py says of the vmcore in a folder, in which the modules are, too."""
        words = [word for path in sorted(folder.glob("*.ko")) for word in ("-s", path)]
        words += [word for path in folder.glob("vmcoreinfo") for word in ("--vmcoreinfo", path)]
        return answer_of([*self.command(), "-c", folder / "vmcore", "-s", vmlinux, *words,
                          FACTS, HELPERS, *arguments], env=self.environment(), timeout=LONGEST)[0]

    def facts(self, folder, vmlinux, kind):
        said = self.run(folder, vmlinux, kind)
        last = said.rstrip().rpartition("\n")[2]
        if not last.startswith("{"):
            raise Failure(f"drgn says nothing of the dump:\n{said[-4000:]}")
        return json.loads(last)


def debian_vmlinux(series, kernel):
    """The kernel of a package, with its debug information."""
    name = f"linux-image-{kernel.version}-dbg"
    try:
        folder = unpacked("debug-info", f"{name}_*", f"debug information of Linux {kernel.version}",
                          suites_for(series), re.escape(name), lambda apt, package: [package],
                          vmlinux_in, megabytes=290, wanted="*/boot/vmlinux-*")
    except Unavailable as reason:
        raise Unavailable(f"{reason} If Debian has a newer kernel by now, remove the folder "
                          f"debian/{series} of the cache.") from None
    return vmlinux_in(folder)[0]


def vmlinux_in(folder):
    return [only(folder, "usr/lib/debug/boot/vmlinux-*")]
