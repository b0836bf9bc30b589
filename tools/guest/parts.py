# SPDX-License-Identifier: GPL-2.0
"""Scripts that one guest runs one after the other, each with its part of output and kernel log."""

import re

from guest.guest import run_guest

BEGIN, END = "nbqlock-part: begin ", "nbqlock-part: end "


class Part:
    """A script, and what came of it."""

    figure = ""			# to show, besides the complaint

    def __init__(self, name, command):
        self.name = name
        self.command = command
        self.output = self.log = ""
        self.begun = False
        self.status = None	# of the script; None until it has ended

    @property
    def complaint(self):
        """What is wrong; or nothing."""
        return "" if self.status == 0 else f"exit status {self.status}"

    @property
    def script(self):
        return (f"echo '{BEGIN}{self.name}' | tee /dev/kmsg\n(\n{self.command}\n)\n"
                f"echo \"{END}{self.name} $?\" | tee /dev/kmsg\n")

    def take(self, outcome):
        """Its part of what came of the guest."""
        self.log, _, _ = part_of(outcome.log, self.name)
        self.output, self.begun, self.status = part_of(outcome.output, self.name)


def part_of(text, name):
    """What a text has of a part, whether that has begun, the status in which it ended."""
    name = re.escape(name)
    found = re.search(rf"{BEGIN}{name}$(.*?)(?:{END}{name} (\d+)$|\Z)", text,
                      re.MULTILINE | re.DOTALL)
    return (found[1], True, found[2] and int(found[2])) if found else ("", False, None)


def run_parts(machine, parts, before="", after="", append=(), **options):
    """Run all in one guest. Returns its Outcome. before, after: shell commands."""
    script = before + "".join(part.script for part in parts) + after
    # All marks get into the log, however soon one follows another.
    outcome = run_guest(machine, script, quiet=True, append=["printk.devkmsg=on", *append],
                        **options)
    for part in parts:
        part.take(outcome)
    return outcome
