# SPDX-License-Identifier: GPL-2.0
"""Builds the project's modules for one kernel, in a copy of the sources.

Several kernels build the same sources, so each has a copy under build/, which
is brought up to date by content: dates say nothing in a fresh clone.
"""

import contextlib
from pathlib import Path
import re
import shutil

from base.building import compiler_environment, digest, locked, run_logged
from base.common import BUILD, PROJECT, Failure, cores, say

SOURCES = ("Kbuild", "nbqlock.mk", "nbqlock", "kunit", "Documentation/example",
           "Documentation/stress-example", "Documentation/tutorial", "tools/module/faults")
SOURCE_SUFFIXES = {".c", ".h", ".S"}
SOURCE_NAMES = {"Kbuild", "Kconfig", "Makefile", "nbqlock.mk", ".kunitconfig"}
MODULES = ("nbqlock/nbqlock.ko", "nbqlock/stress/nbqlock_stress.ko")
SUITES = "kunit/nbqlock_kunit.ko"
# Users of nbqlock that are built apart: {folder: its modules}.
EXAMPLE = "Documentation/example"
LOCK_TYPE = "Documentation/stress-example"
TUTORIAL = "Documentation/tutorial"
FAULTS = "tools/module/faults"
USERS = {EXAMPLE: [f"{EXAMPLE}/nbq_example.ko"], FAULTS: [f"{FAULTS}/nbq_faults.ko"],
         LOCK_TYPE: [f"{LOCK_TYPE}/ticket_timeout.ko"],
         TUTORIAL: [f"{TUTORIAL}/sampler_{step}.ko"
                    for step in ("raw", "timeout", "info", "bounded")]}


KERNEL_MARK = ".kernel"		# in a copy: for which kernel it is
WARNING = re.compile(r"\bwarning:", re.IGNORECASE)
# Of kbuild: its progress; that this is another compiler than the kernel's, which is fine; BTF.
PROGRESS = re.compile(r"  [A-Z]+ |make(\[\d+\])?: (Entering|Leaving)|warning: the compiler differs|"
                      r"  The kernel was built |  You are using:|Skipping BTF|warning: pahole")


def is_source(path):
    return path.is_file() and not path.name.endswith(".mod.c") and \
        (path.suffix in SOURCE_SUFFIXES or path.name in SOURCE_NAMES)


def source_files(root, starts=SOURCES):
    """The project's sources below a folder: {name: content}."""
    found = {}
    for start in starts:
        top = root / start
        paths = [top] if top.is_file() else sorted(top.rglob("*"))
        for path in paths:
            if is_source(path):
                found[str(path.relative_to(root))] = path.read_bytes()
    return found


def set_files(folder, present, wanted):
    """Make the files of these names in a folder others: {name: content}. Returns those that go.

    What has the content already keeps its date.
    """
    gone = present - wanted.keys()
    for name in gone:
        (folder / name).unlink()
    for name, content in wanted.items():
        path = folder / name
        if name not in present or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    return gone


def refresh_copy(copy, identity, wanted=None):
    """Make a copy of the sources current; start anew for another kernel.

    wanted: {name: content} of other sources than the project's.
    """
    mark = copy / KERNEL_MARK
    if not mark.exists() or mark.read_text() != identity:
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir(parents=True)
    set_files(copy, source_files(copy, ["."]).keys(), wanted or source_files(PROJECT))
    mark.write_text(identity)


def make_modules(kernel, folder, log, *options):
    """One kbuild run for an external folder of modules."""
    run_logged(["make", "-C", kernel.build_dir, f"M={folder}", f"-j{cores()}",
                *kernel.make_options, *options, "modules"], log,
               f"building {Path(folder).name} for Linux {kernel.version}",
               env=compiler_environment())


def against(copy):
    """The options for a user of nbqlock, which is built in a copy."""
    return f"NBQLOCK={copy}", f"KBUILD_EXTRA_SYMBOLS={copy}/Module.symvers"


def build_modules(kernel, *users):
    """Build the modules, and these users, for a kernel: {file name: content}."""
    return built(kernel, users=users)


def build_suites(kernel, name="suites", sources=None):
    """The KUnit suites, and the modules with what only they need: {name: content}.

    name: of the copy to build in; sources: as for refresh_copy().
    """
    return built(kernel, name, more=[SUITES], options=["CONFIG_NBQLOCK_KUNIT_TEST=m"],
                 sources=sources)


@contextlib.contextmanager
def held(kernel, *what):
    """The folder of a copy for a kernel, held against other processes; and its log, empty."""
    name = "-".join((kernel.name, *what))
    log = BUILD / "log" / f"modules-{name}.log"
    with locked(BUILD / f"{name}.lock", BUILD / name):
        log.unlink(missing_ok=True)
        yield BUILD / name, log


def built(kernel, *what, users=(), more=(), options=(), sources=None):
    """Build in a copy, with more than the modules: {name: content}."""
    wanted = [*MODULES, *more, *(module for user in users for module in USERS[user])]
    with held(kernel, *what) as (copy, log):
        refresh_copy(copy, kernel.identity, sources)
        make_modules(kernel, copy, log, *options)
        for user in users:
            make_modules(kernel, copy / user, log, *against(copy))
        for module in wanted:
            if not (copy / module).exists():
                raise Failure(f"the build made no {module}; log: {log}")
        return {Path(module).name: (copy / module).read_bytes() for module in wanted}


def user_sources(folder):
    """What a user's folder is built from: {name: content}."""
    if not (folder / "Kbuild").is_file():
        raise Failure(f"{folder} has no Kbuild: name the folder of a module that uses nbqlock, "
                      "such as Documentation/example")
    return {path.name: path.read_bytes() for path in folder.iterdir() if is_source(path)}


def warnings_in(text):
    """What a build has said besides how far it is, if there is a warning in it."""
    said = [line for line in text.splitlines() if line and not PROGRESS.match(line)]
    return "\n".join(said) if any(WARNING.search(line) for line in said) else ""


def show_warnings(copy, log):
    """make would not repeat them: what has warned is compiled anew the next time."""
    said = warnings_in(log.read_text(errors="replace"))
    if said:
        say("the build warns:\n" + said.replace(f"{copy}/", ""))
        (copy / KERNEL_MARK).unlink()


def build_apart(kernel, what, sources, *options):
    """Build modules in a folder of their own for a kernel: {file name: content}.

    what: for the folder's name; sources: {name: content}.
    """
    identity = digest(kernel.identity, *(part for each in sorted(sources.items()) for part in each))
    with held(kernel, what) as (copy, log):
        refresh_copy(copy, identity, sources)
        with locked(kernel.lock, kernel.source) if kernel.lock else contextlib.nullcontext():
            make_modules(kernel, copy, log, *options)
        show_warnings(copy, log)
        return {path.name: path.read_bytes() for path in sorted(copy.glob("*.ko"))}


def build_user(kernel, what, sources):
    """The same of modules that use nbqlock. Returns (the files of both, those of the folder)."""
    files = built(kernel)
    made = build_apart(kernel, what, sources, *against(BUILD / kernel.name))
    return {**files, **made}, made


def checked_build(kernel, *options):
    """Build everything anew with stricter options. Returns the build's output."""
    with held(kernel, "strict") as (copy, log):
        shutil.rmtree(copy, ignore_errors=True)
        refresh_copy(copy, kernel.identity)
        make_modules(kernel, copy, log, *options)
        for user in USERS:
            make_modules(kernel, copy / user, log, *options, *against(copy))
        return log.read_text(errors="replace")
