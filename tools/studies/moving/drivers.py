# SPDX-License-Identifier: GPL-2.0
"""Moves a lock of a driver to nbq_spin: a Coccinelle script, and what it cannot do."""

import difflib
from pathlib import Path
import re
import shutil
import tempfile

from base.building import compiled_files, compiler_environment, locked, run_logged
from base.common import BUILD, PROJECT, Failure, cores
from guest.kernels import X86_64, Recipe, built_kernel
from studies.moving.coccinelle import run_spatch

SCRIPT = PROJECT / "tools/studies/moving/raw_to_nbq.cocci"
# A tree that single drivers can be compiled in: nothing of it is linked or booted.
DRIVERS = Recipe("drivers", X86_64, "include/generated/autoconf.h", "drivers",
                 target="modules_prepare")
LOCK = re.compile(r"([A-Za-z_]\w*)(?:\.([A-Za-z_]\w*))?")
INCLUDE = re.compile(r"#\s*include\s+<(?!nbqlock/)")
CONDITION = re.compile(r"#\s*(if|endif)")
# What is right for every type of lock.
ANNOTATION = re.compile(r"\b(__must_hold|__acquires|__releases|__guarded_by|lockdep_\w+)\([^()]*\)")


class Lock:
    """STRUCT.FIELD, or the name of a static lock."""

    def __init__(self, text):
        match = LOCK.fullmatch(text)
        if not match:
            raise Failure(f"--lock {text}: neither STRUCT.FIELD, such as pch_gpio.spinlock, nor "
                          "the name of a static lock, such as list_lock")
        self.text = text
        self.first, self.field = match.groups()

    @property
    def definitions(self):
        names = {"S": self.first, "F": self.field, "L": "none"} if self.field else \
            {"S": "none", "F": "none", "L": self.first}
        return [word for name, value in names.items() for word in ("-D", f"{name}={value}")]

    @property
    def mention(self):
        """A line that may be about it."""
        return re.compile(rf"(?:->|\.){self.field}\b(?!\s*=)" if self.field else
                          rf"(?<![\w.>]){self.first}\b")


def text_of(path):
    try:
        return Path(path).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise Failure(f"{path}: {error}") from None


class Conversion:
    """What has become of one file."""

    def __init__(self, path, lock):
        self.path = Path(path)
        self.before = text_of(path)
        self.after = converted(self.path, lock)
        self.sites = sum(line.startswith("+") and "nbq_spin" in line.lower()
                         for line in self.changes)
        if self.sites:
            self.after = with_include(self.after, self.path.suffix == ".h")
        self.left = [(number, line.strip()) for number, line in
                     enumerate(self.after.splitlines(), 1) if is_left(line, lock)]

    @property
    def changes(self):
        return list(difflib.unified_diff(
            self.before.splitlines(keepends=True), self.after.splitlines(keepends=True),
            f"a/{self.path}", f"b/{self.path}"))


def is_left(line, lock):
    """Whether a line uses the lock, or another of that name, as the kernel's."""
    line = ANNOTATION.sub("", line)
    return bool(lock.mention.search(line)) and "nbq_" not in line.lower() and \
        bool(re.search(r"spin|guard\(|&", line)) and not re.match(r"\s*(/?\*|//)", line)


def with_include(text, is_header):
    """A header that only declares a lock needs its type alone."""
    operates = re.search(r"nbq_spin_\w+\(|guard\(nbq_spin", text)
    line = f"#include <nbqlock/{'types' if is_header and not operates else 'nbqlock'}.h>\n"
    if line in text:
        return text
    lines = text.splitlines(keepends=True)
    at = after_includes(lines)
    return "".join([*lines[:at], line, *lines[at:]])


def after_includes(lines):
    """Behind the last #include <...> that depends on no condition; 0 without one."""
    depth = at = 0
    for number, line in enumerate(lines, 1):
        condition = CONDITION.match(line)
        if condition:
            depth += 1 if condition[1] == "if" else -1
        elif INCLUDE.match(line) and not depth:
            at = number
    return at


def converted(path, lock):
    """The text of a file after the script."""
    with tempfile.TemporaryDirectory(prefix="nbqlock-") as folder:
        out = Path(folder) / "out"
        run_spatch(SCRIPT, path, *lock.definitions, "-I", path.parent, "-o", out)
        return out.read_text() if out.exists() else path.read_text()


def convert(lock, paths):
    """The conversions of files that share a lock; Failure if it is in none of them."""
    conversions = [Conversion(path, lock) for path in paths]
    if not any(conversion.sites for conversion in conversions):
        raise Failure(f"there is no raw_spinlock_t or spinlock_t {lock.text} in "
                      f"{', '.join(str(path) for path in paths)}")
    return conversions


def notes(conversions):
    """What a user has to know or do: lines."""
    lines = []
    for one in conversions:
        lines.append(f"{one.path}: {one.sites} sites converted, {len(one.left)} left")
        lines += [f"{one.path}:{number}: not converted, another lock or by hand: {line}"
                  for number, line in one.left]
    return lines


# Drivers of the kernel tree, to try it on

class Driver:
    """A driver of the kernel tree and its lock."""

    def __init__(self, path, lock):
        self.path = Path(path)
        self.lock = lock

    @property
    def name(self):
        return f"{self.path} {self.lock}"

    @property
    def folder(self):
        return f"{self.path.stem}-{self.lock.replace('.', '-')}"


def lay_out(driver, source, copy):
    """Two copies of a driver, one of them converted. Returns its Conversion."""
    folder = copy / driver.folder
    for state in ("before", "after"):
        (folder / state).mkdir(parents=True)
    (folder / "before" / driver.path.name).write_text((source / driver.path).read_text())
    one = convert(Lock(driver.lock), [folder / "before" / driver.path.name])[0]
    (folder / "after" / driver.path.name).write_text(one.after)
    for state in ("before", "after"):
        (folder / state / "Kbuild").write_text(
            f"obj-m := {driver.path.stem}.o\n"
            f"ccflags-y := -I$(srctree)/{driver.path.parent}\n"
            f"include {PROJECT}/nbqlock.mk\n")
    (folder / "Kbuild").write_text("obj-m := before/ after/\n")
    return one


def try_drivers(drivers):
    """Convert drivers, and compile them as they were and converted.

    Yields (driver, its Conversion, {state: whether it compiled}, the build's output).
    """
    kernel = built_kernel(DRIVERS)
    copy = BUILD / "moving"
    log = BUILD / "log/moving.log"
    with locked(BUILD / "moving.lock", copy):
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir(parents=True)
        done = [(driver, lay_out(driver, kernel.source, copy)) for driver in drivers]
        (copy / "Kbuild").write_text("".join(f"obj-m += {driver.folder}/\n"
                                             for driver in drivers))
        objects = {(driver, state): f"{driver.folder}/{state}/{driver.path.stem}.o"
                   for driver in drivers for state in ("before", "after")}
        log.unlink(missing_ok=True)
        run_logged(["make", "-k", "-C", kernel.build_dir, f"M={copy}", f"-j{cores()}",
                    *kernel.make_options, *objects.values()], log, "compiling drivers", check=False,
                   progress=compiled_files(log), env=compiler_environment())
        output = log.read_text(errors="replace")
        for driver, one in done:
            built = {state: (copy / objects[driver, state]).exists()
                     for state in ("before", "after")}
            yield driver, one, built, output
