# SPDX-License-Identifier: GPL-2.0
"""What all host tools share, also those that are installed: messages, entry, short commands."""

import argparse
import os
from pathlib import Path
import re
import shutil
import signal
import subprocess
import sys
import textwrap

PROJECT = Path(__file__).resolve().parents[2]
BUILD = PROJECT / "build"
# Whether this is the nbq of "make install" or of a package, which has no sources beside it.
INSTALLED = not (PROJECT / "dkms.conf").exists()

MOST_CPUS = 64			# NR_CPUS of guest.config
PROGRESS_SECONDS = 10		# between two lines of a long step


class Failure(Exception):
    """Something that the person at the keyboard has to read: a sentence."""


class Unavailable(Failure):
    """A kernel or a tool cannot be had here: what needs it is skipped."""


def say(text):
    """Tell what is being done. Results go to stdout, this to stderr."""
    print(f"nbqlock: {text}", file=sys.stderr, flush=True)


def text_of_driver(name):
    """A list of the stress driver's sources; an installed nbq has a copy."""
    folder = Path(__file__).resolve().parents[1] if INSTALLED else PROJECT / "nbqlock/stress"
    return (folder / name).read_text(encoding="utf-8")


def positive(text):
    """The value of an option."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a number from 1 on")
    return number


positive.__name__ = "number"


def fit_for_kbuild(folder, what):
    """The folder, if make and the kernel's build take its name for one word; see Makefile."""
    odd = re.search(r"[^\w/.+~@%=,-]", str(folder))
    if odd:
        raise Failure(f"{what} \"{folder}\": the kernel's build does not take the name of a folder "
                      f"with \"{odd[0]}\" in it")
    return folder


# Before the work, what could not be written after it is refused.

def can_be_written(path):
    path = Path(path)
    if path.is_dir():
        raise Failure(f"cannot write {path}: it is a folder")
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK | os.X_OK):
        raise Failure(f"cannot write {path}: {path.parent} is no folder to write to")
    if path.exists() and not os.access(path, os.W_OK):
        raise Failure(f"cannot write {path}: it may not be changed")


def file_to_write(text):
    """The value of an option."""
    try:
        can_be_written(text)
    except Failure as failure:
        raise argparse.ArgumentTypeError(str(failure)) from None
    return Path(text)


def folder_can_be_written(folder):
    """The same of a folder that is yet to be made: the first part that is there decides."""
    folder = Path(folder).absolute()
    there = next(part for part in (folder, *folder.parents) if part.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise Failure(f"cannot write to {folder}: {there} is no folder to write to")


# Tables

def terminal_columns():
    """How wide the terminal is that stdout is; None if it is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def wrapped(text):
    """A paragraph for the terminal, no wider than 100 columns."""
    return textwrap.fill(text, min(100, terminal_columns() or 100), break_on_hyphens=False)


def in_two(text):
    """A text as two lines, as even as they can be."""
    words = text.split(" ")
    halves = [(" ".join(words[:place]), " ".join(words[place:])) for place in range(len(words))]
    return min(halves, key=lambda half: max(map(len, half)))


def fitted(heads, cells, width=None):
    """(widths of columns, [(columns of a part, its lines of heads)]) of a table that fits a width.

    cells: the widest of each column. Where one line of heads is too wide they get two, and where
    that does not do the table comes in parts, each with the first column.
    """
    def total(places, widths):
        return sum(widths[place] for place in places) + 2 * (len(places) - 1)

    every = range(len(heads))
    widths = [max(len(head), cell) for head, cell in zip(heads, cells)]
    if width is None or total(every, widths) <= width:
        return widths, [(every, [heads])]
    lines = [list(line) for line in zip(*map(in_two, heads))]
    widths = [max(map(len, column)) for column in zip(*lines, [" " * cell for cell in cells])]
    parts = [[0]]
    for place in every[1:]:
        if len(parts[-1]) > 1 and total([*parts[-1], place], widths) > width:
            parts.append([0])
        parts[-1].append(place)
    return widths, [(part, [line for line in lines if any(line[place] for place in part)])
                    for part in parts]


def columns(rows, right=(), width=None):
    """The lines of a table of texts, with its heads first; right: columns that end at the right."""
    cells = [max(map(len, column)) for column in zip(*rows[1:])] if rows[1:] else [0] * len(rows[0])
    widths, parts = fitted(rows[0], cells, width)
    lines = []
    for part, heads in parts:
        lines += [""] * bool(lines)
        lines += ["  ".join(row[place].rjust(widths[place]) if place in right else
                            row[place].ljust(widths[place]) for place in part).rstrip()
                  for row in [*heads, *rows[1:]]]
    return lines


def print_columns(rows, right=()):
    print("\n".join(columns(rows, right, terminal_columns())), flush=True)


def cores():
    """CPUs that this process may use."""
    return len(os.sched_getaffinity(0))


def guest_cpus(a_core=1):
    """CPUs for a guest that has so many for each core here."""
    return min(a_core * cores(), MOST_CPUS)


# Programs' entry

# Signals that end a tool: it ends what it has started, and puts a terminal back.
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


def main(body):
    """Run a tool's body: its return value is the exit status."""
    def stop(_number, _frame):
        raise KeyboardInterrupt

    for number in ENDING:
        signal.signal(number, stop)
    try:
        if not INSTALLED:
            fit_for_kbuild(PROJECT, "this folder")
        status = body()
        sys.stdout.flush()
    except KeyboardInterrupt:
        say("stopped")
        status = 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 141
    except Failure as failure:
        say(str(failure))
        status = 2
    sys.exit(status)


# Processes

# Of the lock files that this process holds: descriptors.
HELD = set()
# A make whose parent make is killed may wait for ever for a job that it may start: all have to go.
WHOLE_GROUP = 'trap "kill -KILL 0" TERM; env --default-signal=INT,QUIT "$@" & wait $!'


def ends_with_us(command, group=False):
    """A command as words; it is killed when this process ends, in whatever way.

    group: it leads a process group, which ends with it.
    """
    words = [str(word) for word in command]
    if not shutil.which("setpriv"):
        return words
    if group:
        return ["setpriv", "--pdeathsig", "TERM", "--", "sh", "-c", WHOLE_GROUP, "sh", *words]
    return ["setpriv", "--pdeathsig", "KILL", "--", *words]


def bound(command, group=False):
    """The first arguments for subprocess of a command that writes what this process has locked.

    When a builder is killed (out of memory, kill -9), its children go on writing for a while. They
    inherit the locks, so that the next builder starts after the last of them has ended.
    """
    return {"args": ends_with_us(command, group), "pass_fds": tuple(HELD)}


def output_of(command, **options):
    """A command's standard output; None if it cannot be run or fails."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True, errors="replace", check=True, **options)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout


def answer_of(command, env=None, **options):
    """(what a command says, errors too; its exit status). env: beside this process's own."""
    done = subprocess.run(**bound(command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
                          env={**os.environ, **(env or {})}, **options)
    return done.stdout, done.returncode


def must_not_be(path):
    """Refuse early what write_new() would refuse at the end."""
    path = Path(path)
    if path.exists():
        raise Failure(f"{path} is there already; it is not overwritten")
    can_be_written(path)


def commit():
    """The project's commit, and "-dirty" if its files are not those of it."""
    name = output_of(["git", "-C", str(PROJECT), "rev-parse", "--short=12", "HEAD"])
    if not name:
        return "unknown"
    changes = output_of(["git", "-C", str(PROJECT), "status", "--porcelain"])
    return name.strip() + ("-dirty" if changes else "")
