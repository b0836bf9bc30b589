# SPDX-License-Identifier: GPL-2.0
"""All stressors of stress-ng's classes, one after the other, on a kernel (guest/loads_of_others.py)."""

import re

from guest import loads_of_others as others
from guest.parts import Part

CLASSES = tuple(others.STRESSORS)
SECONDS = 1			# of each stressor
BY_CHANCE = ("alarm", "fpunch")	# some of their instances fail, with either lock
# As stress-ng sums up, with how many instances of each: "passed: 3: fork (2) get (1)".
SUMMARY = r"^stress-ng: info: +\[\d+\] {}: \d+: (.*)$"
NAME = re.compile(r"([\w-]+) \(\d+\)")


class Programs(Part):
    """The programs are there.

    command: makes it so.
    """

    def __init__(self, command):
        super().__init__("programs", command)


class StressClass(Part):
    """A class: each stressor on all CPUs, what it finds compared (--verify).

    but: stressors that are left out.
    """

    def __init__(self, name, cpus, but=BY_CHANCE):
        super().__init__(f"stress-ng, class {name}", others.in_root(
            f"stress-ng --class {name} --sequential {cpus} --timeout {SECONDS} --verify "
            f"--exclude {','.join(but)}"))

    def named(self, verdict):
        found = re.search(SUMMARY.format(verdict), self.output, re.MULTILINE)
        return set(NAME.findall(found[1])) if found else set()

    @property
    def complaint(self):
        """That a stressor fails is none by itself: see lost()."""
        return "" if self.named("passed") else "no stressor passed"

    @property
    def figure(self):
        return ", ".join(f"{len(self.named(verdict))} {verdict}"
                         for verdict in ("passed", "failed", "skipped"))


def lost(part, own):
    """What passes on the kernel's own spinlocks, and neither passes nor is skipped here.

    A stressor passes if all of its instances do.
    """
    passed, there = (each.named("passed") - each.named("failed") for each in (part, own))
    names = sorted(there - passed - part.named("skipped"))
    return f"{', '.join(names)}: passed on the other kernel" if names else part.complaint
