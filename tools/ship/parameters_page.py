# SPDX-License-Identifier: GPL-2.0
"""The ABI page of the stress driver's parameters, as the rows of parameters_list.h say."""

from itertools import groupby
import textwrap

from base.common import PROJECT
from base.parameter_list import PARAMETERS

PAGE = PROJECT / "Documentation/ABI/testing/debugfs-nbqlock-stress-parameters"
FOLDER = "/sys/kernel/debug/nbqlock_stress"
HEAD = """\
Date:		November 2026
KernelVersion:	nbqlock 0.1
Contact:	the nbqlock developers
Description:
"""


def values_of(parameter, name=""):
    """What it takes, and what it is at first."""
    takes = ", ".join(parameter.words)
    if parameter.most is not None:
        takes = f"{parameter.least} to {parameter.most}" + ", or max" * parameter.takes_max
    initial = "" if parameter.initial is None else f"default {parameter.initial}"
    words = "; ".join(filter(None, (takes, initial)))
    return words and f"{name}{words}."


def entry(parameters):
    """The text on those that share a comment."""
    names = [f"{FOLDER}/{each.folder}/{each.name}" for each in parameters]
    alone = len(parameters) == 1
    values = [values_of(each, "Values: " if alone else f"{each.name}: ") for each in parameters]
    lines = textwrap.wrap(" ".join(values), 80, break_on_hyphens=False)
    text = "\n".join([f"(RW) {parameters[0].help}", *[""] * bool(lines), *lines])
    return "What:\t\t" + "\n\t\t".join(names) + "\n" + HEAD + \
        "".join(f"\t\t{line}".rstrip() + "\n" for line in text.splitlines())


def page():
    return "\n".join(entry(list(rows)) for _, rows in groupby(PARAMETERS, lambda each: each.help))


def stale():
    """Why the page is not the one that the list makes; empty: it is."""
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == page():
        return ""
    return (f"{PAGE.relative_to(PROJECT)} is not what nbqlock/stress/parameters_list.h makes: run "
            "tools/ship/record --write")
