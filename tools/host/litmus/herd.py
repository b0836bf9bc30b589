# SPDX-License-Identifier: GPL-2.0
"""herd7, which runs litmus tests, with the kernel's own memory model.

The model is in the kernel tree that the project builds from. Debian 12 and 13 have no
herd7; that of a newer suite runs from a folder of its own, with that suite's libraries.
"""

import re
import tempfile

from base.common import Unavailable, answer_of, output_of
from guest.debian import loader_in, started_with_own_libraries, suites_of_main_archive, unpacked
from guest.source import get_source

LEAST_VERSION = [7, 58]		# what tools/memory-model/README asks for


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
    found = re.match(r"(\d+)\.(\d+)", output_of(["herd7", "-version"]) or "")
    if found and [int(number) for number in found.groups()] >= LEAST_VERSION:
        return ["herd7"]
    folder = unpacked("herd", "herdtools7_*",
                      f"herd7 {'.'.join(map(str, LEAST_VERSION))} or later",
                      map(suites_of_main_archive, ("forky", "sid")), "herdtools7",
                      lambda apt, package: apt.dependencies(package), herd_files, megabytes=40)
    program, _, library = herd_files(folder)
    return [*started_with_own_libraries(folder, program), "-set-libdir", str(library.parent)]


def herd_files(folder):
    return (folder / "usr/bin/herd7", loader_in(folder),
            folder / "usr/share/herdtools7/herd/stdlib.cat")
