# SPDX-License-Identifier: GPL-2.0
"""Runs what Documentation/tutorial.rst says is typed, and compares what it prints.

The page is the source: its commands are read from it, each with the file of its output, which
the page includes.
"""

import argparse
import re
import shlex
import subprocess

from base.common import PROJECT, Failure
from base.setup import setup
from guest import guest_cli
from guest.kernels import GUEST, debian_kernel, debian_row, user_mode_kernel
from guest.machines import QemuMachine, UserModeMachine
from guest.modules import TUTORIAL

VERBS = {"tutorial": "run the commands of the tutorial"}
PAGE = PROJECT / "Documentation/tutorial.rst"
FOLDER = PROJECT / TUTORIAL
# For a build without tools/nbq guest.
UNREAD = {"Makefile"}

COMMAND = re.compile(r"^   \$ (tools/\S+ .*)\n\n\.\. literalinclude:: tutorial/(\S+)$",
                     re.MULTILINE)
TYPED = re.compile(r"^   \$ ", re.MULTILINE)
INCLUDED = re.compile(r"^\.\. literalinclude:: tutorial/(\S+)$", re.MULTILINE)
MACHINES = {"tools/nbq guest": lambda: UserModeMachine(user_mode_kernel()),
            "tools/nbq debian-guest": lambda: QemuMachine(debian_kernel("6.12"))}
NEEDED = {"tools/nbq guest": ("run", lambda: ("source", GUEST.row())),
          "tools/nbq debian-guest": ("debian-guest", lambda: [debian_row("6.12")]),
          "tools/studies/moving/mistakes": ("moving", list)}
TIME = re.compile(r"\[ *\d+\.\d+\] ")	# of the kernel log
FLUSH = re.compile(r"^flush on CPU (\d)\n((?:(?!flush on).*\n)*)", re.MULTILINE)


class Typed:
    """A command of the page, and the file that has its output."""

    def __init__(self, command, file):
        self.command = command
        self.path = FOLDER / file
        self.name = self.path.stem

    @property
    def program(self):
        """The key in NEEDED."""
        for program in NEEDED:
            if self.command.startswith(f"{program} "):
                return program
        raise Failure(f"{PAGE.name} types {self.command}, and only {', '.join(NEEDED)} are run by "
                      "the tests")

    @property
    def in_guest(self):
        return self.program in MACHINES

    def options(self):
        """Those of a program that starts a guest."""
        return guest_cli.parser("").parse_args(shlex.split(self.command)[2:])

    def run(self):
        """Returns (what the terminal shows but for the kernel log, the guest's Outcome or None)."""
        if not self.in_guest:
            return subprocess.run(shlex.split(self.command), cwd=PROJECT, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, check=False).stdout, None
        options = self.options()
        options.build = PROJECT / options.build
        outcome = guest_cli.outcome_of(options, MACHINES[self.program](), quiet=True)
        return shown_of(outcome.output, outcome.problem), outcome


def shown_of(output, problem=None):
    """What a terminal shows of an output, and of what has become of the guest."""
    return TIME.sub("", output + (f"nbqlock: {problem}\n" if problem else ""))


def commands(text):
    """The commands of a page."""
    found = [Typed(*match) for match in COMMAND.findall(text)]
    if len(found) != len(TYPED.findall(text)):
        raise Failure(f"{PAGE.name}: a command is not followed by the file of its output")
    return found


def unread(text, names):
    """Files of the tutorial that its page does not show."""
    return sorted(set(names) - set(INCLUDED.findall(text)) - UNREAD)


def tracked():
    """The files that make the tutorial."""
    return [path.name for path in FOLDER.iterdir()
            if path.suffix in (".c", ".h", ".sh", ".txt") and not path.name.endswith(".mod.c")
            or path.name in ("Kbuild", "Makefile")]


def shape(output):
    """An output without what differs from run to run."""
    output = re.sub(r"\b[0-9a-f]{16}\b", "ADDRESS", output)
    return re.sub(r" +", " ", re.sub(r"(?<!CPU )(?<!error -)\b\d+\b", "N", output))


def figures(output):
    """Of an output with a part for each flush: {CPU: {name: value}}."""
    return {int(cpu): {name: int(value) for name, value in
                       re.findall(r"^(\w+):(\d+)$", part, re.MULTILINE)}
            for cpu, part in FLUSH.findall(output)}


def nothing_lost(flush):
    """Those that came after interrupts was read are in samples, too."""
    return flush["samples"] + flush["late"] >= flush["interrupts"]


# What the page says of an output, besides its shape. Each may have to be seen in another run
# (SEEN), or must hold in every run (ALWAYS).
SEEN = {
    "timeout": lambda output: figures(output)[1]["timeouts"] and figures(output)[0]["deadlocks"],
    "counters": lambda output: not re.search(r" 0$", output, re.MULTILINE),
}
ALWAYS = {
    "timeout": lambda output: not figures(output)[1]["deadlocks"],
    "bounded": lambda output: all(nothing_lost(flush) and not flush["deadlocks"]
                                  for flush in figures(output).values()),
}


def is_as_shown(typed, output, shown):
    """Whether an output is what the page shows, and has what the page says of it."""
    if not typed.in_guest:
        return output == shown
    return shape(output) == shape(shown) and bool(SEEN.get(typed.name, bool)(output))


def breaks_a_promise(typed, output, shown):
    """Whether an output of the right shape denies what holds in every run."""
    return shape(output) == shape(shown) and not ALWAYS.get(typed.name, bool)(output)


# tools/nbq tutorial

def parse_arguments(known):
    parser = argparse.ArgumentParser(
        description="Runs the commands of Documentation/tutorial.rst and prints what they "
        "print.", epilog=f"The commands are {', '.join(known)}.")
    parser.add_argument("--write", action="store_true",
                        help="keep the outputs: the page then shows them")
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help="run only these (default: all)")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in known]
    if unknown:
        parser.error(f"no such command: {' '.join(unknown)}; there are {' '.join(known)}")
    return options


def body():
    known = {typed.name: typed for typed in commands(PAGE.read_text())}
    options = parse_arguments(known)
    programs = {known[name].program for name in options.names or known}
    setup(*(NEEDED[program][0] for program in programs),
          makes=[row for program in programs for row in NEEDED[program][1]()])
    for name in options.names or known:
        typed = known[name]
        print(f"$ {typed.command}", flush=True)
        output, _ = typed.run()
        print(output, flush=True)
        if options.write:
            typed.path.write_text(output)
    return 0
