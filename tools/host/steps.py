# SPDX-License-Identifier: GPL-2.0
"""Verification of the shipped code: accesses, litmus tests, all schedules."""

import re
import subprocess

from base.case import MORE, NO_KERNEL, Case, extent, step
from base.common import PROJECT
from host.litmus.accesses import accesses
from host.litmus.herd import kernel_model
from host.litmus.table import ordering_complaints


def told_by(tool, whole, *options, before=""):
    """A case for each line of result of a tool, and one for the tool as a whole."""
    done = subprocess.run([PROJECT / tool, *options], text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    # [text before, word, name, text ...]
    parts = re.split(r"^(ok|not ok) (.+)\n", done.stdout, flags=re.MULTILINE)
    results = list(zip(parts[1::3], parts[2::3], parts[3::3]))
    for word, name, after in results:
        yield Case(before + name, word == "ok", after)
    passed = done.returncode == 0 and bool(results)
    yield Case(whole, passed, "" if passed else done.stdout[-4000:])


@step("ordering", NO_KERNEL)
def ordering():
    """each ordered access has a row in ordering.rst, and each row an access"""
    complaints = ordering_complaints()
    yield Case(f"ordering: {len(accesses(PROJECT))} accesses, each with its row",
               not complaints, "\n".join(complaints))


@step("litmus", NO_KERNEL)
def litmus():
    """litmus tests under the kernel's memory model: herd7"""
    kernel_model()		# or there is no herd7: skip
    yield from told_by("tools/host/litmus/run", "litmus: every test was run")


@step("explorer", MORE, NO_KERNEL)
def explorer():
    """all schedules of small configurations: tools/host/explore"""
    yield from told_by("tools/host/explore/explore",
                       "explorer: every configuration was explored",
                       *([] if extent.is_long else ["--quick"]), before="explorer: ")
