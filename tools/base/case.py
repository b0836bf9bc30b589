# SPDX-License-Identifier: GPL-2.0
"""A case, the verdict of a step on one thing, and what steps have in common."""

import functools
import re

from base.common import PROJECT, Failure


class Extent:
    """Whether the steps that have a longer form run it: with --all or --long."""

    is_long = False


extent = Extent()


class Case:
    """One thing that was tested."""

    def __init__(self, name, passed, detail="", skipped=False):
        self.name = name
        self.status = "skip" if skipped else "ok" if passed else "FAIL"
        self.detail = detail


def once(function):
    """Call a function at most once; it keeps its result, or its failure."""
    @functools.lru_cache(maxsize=None)
    def first(*arguments):
        try:
            return function(*arguments), None
        except Failure as failure:
            return None, failure

    @functools.wraps(function)
    def call(*arguments):
        result, failure = first(*arguments)
        if failure:
            raise failure
        return result
    return call


def claim_cases(name, claims):
    """A case for each (what is claimed, whether it holds, a report)."""
    for claim, holds, report in claims:
        yield Case(f"{name}: {claim}", holds, report)


def done(name, text, status, *wanted):
    """The case that a command succeeded and has printed all that is wanted."""
    lacking = [pattern for pattern in wanted if not re.search(pattern, text, re.MULTILINE)]
    return Case(name, not status and not lacking,
                "".join(f"not said: {pattern}\n" for pattern in lacking) +
                f"status {status}\n{text[-6000:]}")


class On:
    """From a step, between its cases: those that follow are of this row."""

    def __init__(self, testbed, how):
        self.testbed = testbed
        self.how = how


def runs_on(testbed, how):
    """Mark a step: its cases are of this row, until it yields another On."""
    def mark(step):
        step.on = On(testbed, how)
        return step
    return mark


# Of a step: it is run with --all only; it does more with --all; its time is that of guests under
# load, for the most part; it needs only what setup installs for "host".
ONLY_ALL, MORE, LOAD, NO_KERNEL = "only all", "more", "load", "no kernel"
STEPS = {}			# {name: step}, of the modules that were imported
ROW = re.compile(r"^([a-z][\w., -]*?)(?: [*+])? {2,}\S", re.MULTILINE)


def step(name, *marks):
    """Make a function a step of tools/check, which finds it by this line."""
    def note(function):
        function.marks = marks
        STEPS[name] = function
        return function
    return note


def order_of_steps():
    """The names in the table of testing.rst, which gives the order."""
    page = (PROJECT / "Documentation/testing.rst").read_text(encoding="utf-8")
    return [name for row in ROW.findall(page) for name in row.split(", ")]
