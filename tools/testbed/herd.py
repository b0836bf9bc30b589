# SPDX-License-Identifier: GPL-2.0
"""herd7, which runs litmus tests, with the kernel's own memory model.

The model is in the kernel tree that the project builds from. Debian 12 and 13 have no
herd7; that of a newer suite runs from a folder of its own, with that suite's libraries.
"""

import re
import tempfile

from testbed.common import Unavailable, answer_of, cache_root, cached, output_of, say
from testbed.debian import (apt_offering, kept_in, loader_in, started_with_own_libraries,
                            suites_of_main_archive, version_in)
from testbed.source import get_source

SUITES = ("forky", "sid")
LEAST_VERSION = [7, 58]		# what tools/memory-model/README asks for
PROGRAM = "usr/bin/herd7"
LIBRARY = "usr/share/herdtools7/herd"


class Herd:
    """A herd7 with a model: what a litmus test may end in."""

    def __init__(self, command, model):
        self.command = command
        self.model = model

    def run(self, text, seconds=None):
        """What herd7 says of the text of a litmus test, and of what it cannot read."""
        with tempfile.NamedTemporaryFile("w", suffix=".litmus") as file:
            file.write(text)
            file.flush()
            text, _ = answer_of([*self.command, "-conf", "linux-kernel.cfg", file.name],
                                cwd=self.model, timeout=seconds)
        return text


def kernel_model():
    """A herd7 with the memory model of the kernel that we build."""
    model = get_source().path / "tools/memory-model"
    if not (model / "linux-kernel.cfg").exists():
        raise Unavailable(f"{model} has no linux-kernel.cfg")
    return Herd(herd_command(), model)


def herd_command():
    """That of a herd7 that is installed, if it knows the model's words; or Debian's."""
    if version_of(["herd7"]) >= LEAST_VERSION:
        return ["herd7"]
    place = cache_root() / "herd"
    kept = kept_in(place, "herdtools7_*")
    if kept:
        return herd_in(kept)
    try:
        apt, names = apt_offering("herdtools7",
                                  *(suites_of_main_archive(suite) for suite in SUITES))
    except Unavailable as reason:
        raise Unavailable(f"no herd7 {'.'.join(map(str, LEAST_VERSION))} or later: "
                          f"{reason}. Install one, or give a cache filled elsewhere with "
                          "NBQ_CACHE=FOLDER.") from None
    return herd_in(unpacked_herd(apt, names[-1], place))


def version_of(command):
    """The version that a herd7 states, in numbers; [] if it does not run."""
    found = re.match(r"(\d+)\.(\d+)", output_of([*command, "-version"]) or "")
    return [int(number) for number in found.groups()] if found else []


def unpacked_herd(apt, package, place):
    version = version_in(apt, package)

    def unpack(folder):
        say(f"fetching {package} {version} (about 40 MB)")
        apt.unpack(apt.dependencies(package), folder)
        return [PROGRAM, loader_in(folder).relative_to(folder), f"{LIBRARY}/stdlib.cat"]

    return cached(place / f"{package}_{version}", unpack)


def herd_in(folder):
    return [*started_with_own_libraries(folder, folder / PROGRAM),
            "-set-libdir", str(folder / LIBRARY)]
