# SPDX-License-Identifier: GPL-2.0
"""Boots user-mode Linux with the nbqlock modules and runs a shell command in it."""

import argparse
from pathlib import Path
import re
import sys

from base.building import digest
from base.common import MOST_CPUS, Failure, can_be_written, guest_cpus, positive
from base.setup import setup
from guest.guest import DEFAULT_TIMEOUT, DIED, HUNG, run_guest
from guest.kernels import GUEST, debian_kernel, debian_row, user_mode_kernel
from guest.logs import log_excerpt
from guest.machines import MOST_QEMU_CPUS, QemuMachine, UserModeMachine
from guest.modules import build_modules, build_user, user_sources

VERBS = {"guest": "run a command in user-mode Linux with the modules",
         "debian-guest": "the same in a stock Debian kernel"}
LOADED = ["nbqlock.ko", "nbqlock_stress.ko"]


def parser(description):
    """The options that all guests take, those of tools/nbq debian-guest too."""
    options = argparse.ArgumentParser(
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=f"""The exit status is the command's. If the guest does not end in time, it is
killed and reported, and the status is {HUNG}; if it panics or never comes up, {DIED}.
The guest's shell runs COMMAND; several words are joined by spaces.
Example: %(prog)s --cpus 4 -- 'cat /sys/kernel/debug/nbqlock/total'""")
    options.add_argument("--cpus", type=positive, default=guest_cpus(), metavar="N",
                         help="CPUs of the guest (default: %(default)s, as many as here)")
    options.add_argument("--timeout", type=positive, default=DEFAULT_TIMEOUT,
                         metavar="S", help="seconds until the guest counts as hung "
                         "(default: %(default)s)")
    options.add_argument("--append", action="append", default=[], metavar="ARGS",
                         help="more words for the kernel's command line")
    options.add_argument("--log", metavar="FILE",
                         help="where to write the kernel log (default: build/log/)")
    options.add_argument("--no-modules", action="store_true",
                         help="do not build and load the modules")
    options.add_argument("--build", metavar="FOLDER", type=Path,
                         help="build the modules of FOLDER, which use nbqlock, and put them "
                         "and its *.sh files into the guest, below /root")
    options.add_argument("--file", action="append", default=[], metavar="PATH[:NAME]",
                         help="put a file into the guest, below /root; repeatable")
    options.add_argument("command", nargs="+", metavar="COMMAND")
    return options


def read_files(arguments):
    """{name: (content, mode)} for run_guest."""
    files = {}
    for argument in arguments:
        path, _, name = argument.partition(":")
        try:
            files[name or Path(path).name] = (Path(path).read_bytes(),
                                              Path(path).stat().st_mode & 0o777)
        except OSError as error:
            raise Failure(f"--file {path}: {error.strerror}") from None
    return files


def loaded(kernel, folders=()):
    """The two modules, and those of users' folders, built for a kernel, to be loaded in order."""
    files, load = build_modules(kernel), list(LOADED)
    for folder in folders:
        made = built_modules(kernel, folder)
        if not made:
            raise Failure(f"{folder} makes no module: its Kbuild names none in obj-m")
        files.update(made)
        load += made
    return {"files": files, "load": load}


def built_modules(kernel, folder):
    """The modules of a user's folder: {file name: content}."""
    _, made = build_user(kernel, f"user-{digest(folder.resolve())}", user_sources(folder))
    return made


def built_files(kernel, folder):
    """A user's modules and shell scripts for run_guest: {name: (content, mode)}."""
    made = built_modules(kernel, folder)
    scripts = {path.name: (path.read_bytes(), 0o755) for path in sorted(folder.glob("*.sh"))}
    return {**{name: (content, 0o644) for name, content in made.items()}, **scripts}


def check(options, most_cpus):
    """Refuse what cannot be before anything is installed, built or booted."""
    if options.cpus > most_cpus:
        raise Failure(f"--cpus {options.cpus}: the guest takes at most {most_cpus}")
    read_files(options.file)
    if options.build:
        user_sources(options.build)
    if options.log:
        can_be_written(options.log)


def outcome_of(options, machine, **more):
    """Boot and run the command. more: for run_guest()."""
    files = built_files(machine.kernel, options.build) if options.build else {}
    return run_guest(
        machine, " ".join(options.command), cpus=options.cpus,
        timeout=options.timeout, log=options.log,
        append=[word for words in options.append for word in words.split()],
        modules=None if options.no_modules else loaded(machine.kernel),
        extra={**files, **read_files(options.file)}, **more)


def run(options, machine):
    """Boot, run the command, stream its output. Returns the exit status."""
    outcome = outcome_of(options, machine, sink=sys.stdout.buffer)
    if outcome.problem or outcome.complaints:
        print(log_excerpt(outcome), file=sys.stderr, flush=True)
    return outcome.status


def body():
    options = parser(__doc__).parse_args()
    check(options, MOST_CPUS)
    setup("run", makes=["source", GUEST.row()])
    return run(options, UserModeMachine(user_mode_kernel()))


def debian_guest_body():
    options = parser("Boots a stock Debian kernel in QEMU with the nbqlock modules and runs a "
                     "shell\ncommand in it.")
    options.add_argument("--series", default="6.12", metavar="X.Y",
                         help="series of Debian's kernel (default: %(default)s)")
    chosen = options.parse_args()
    if not re.fullmatch(r"\d+\.\d+", chosen.series):
        options.error(f"--series {chosen.series}: not of the form 6.12")
    check(chosen, MOST_QEMU_CPUS)
    setup("debian-guest", makes=[debian_row(chosen.series)])
    return run(chosen, QemuMachine(debian_kernel(chosen.series)))
