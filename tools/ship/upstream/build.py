# SPDX-License-Identifier: GPL-2.0
"""Builds what the patches of a series make of a tree, patch by patch; boots the result.

The tree is not touched: the files of the series and folders of links to the rest are kept in
the cache, with the objects, and built incrementally.
"""

import contextlib
import re
import shutil

from base.building import (cache_folder, compiled_files, compiler_environment, compiler_identity,
                           digest, locked, run_logged)
from base.common import BUILD, Failure, cores, say
from guest.kernel_copy import make_shadow
from guest.kernels import Kernel, Recipe, configure, errors_in, require_um_host
from guest.machines import UserModeMachine
from guest.modules import set_files
from guest.parts import run_parts
from ship.upstream.layout import CODE
from ship.upstream.patches import applied
from studies.locktorture.steps import FORMS, Torture

KERNEL = ("series", "um", "linux", "guest", "kunit", "series")
WITHOUT_LOCKS = Recipe(*KERNEL)
SETTINGS = ("CONFIG_NBQLOCK=y", "CONFIG_NBQLOCK_KUNIT_TEST=y")
# All spinlocks of the kernel, with which those suites cannot be: they replace the clock.
SPINLOCKS = ("CONFIG_NBQLOCK=y", "CONFIG_NBQ_SPINLOCKS=y", "CONFIG_NBQ_SPINLOCKS_KUNIT_TEST=y")
SPINLOCK = "kernel/locking/nbq_spinlock.c"
SUITES = ("nbq_deadline", "nbq_pool", "nbq_sockets", "nbq_spin", "nbq_spin_bare",
          "nbq_spin_unless", "nbq_operations", "nbq_deadlocks")
TORTURE = tuple(f"nbq_spin{form}" for form in FORMS)
MODULES = ("torture.ko", "locktorture.ko")
BUILD_TIMEOUT = 7200		# only ends what hangs
TORTURE_TIMEOUT = 1200
WARNING = re.compile(r"\b(?:warning|error):|WARNING:")


class Build:
    """A tree with the patches of a series, and its objects.

    settings: what is set of what the series adds, as soon as the tree knows it.
    """

    def __init__(self, series, settings=SETTINGS):
        require_um_host()
        self.series = series
        self.settings = settings
        self.name = "series" if settings == SETTINGS else "series-spinlocks"
        self.states = applied(series.base, series.patches)
        source = series.source
        key = digest(source.version, source.identity, WITHOUT_LOCKS.settings,
                     compiler_identity(), WITHOUT_LOCKS.options)
        self.folder = cache_folder(self.name) / f"{source.version}-{key}"
        self.tree = self.folder / "tree"
        self.obj = self.folder / "obj"
        self.log = BUILD / f"log/{self.name}.log"
        self.make = ["make", "-C", self.tree, f"O={self.obj}", *WITHOUT_LOCKS.options]

    @contextlib.contextmanager
    def held(self):
        """No other process uses it meanwhile; what one that was killed has left is not used."""
        whole = self.folder / ".whole"
        with locked(f"{self.folder}.lock", self.folder):
            if self.obj.exists() and not whole.exists():
                say(f"{self.folder} was left half-made; making it again")
                shutil.rmtree(self.obj)
            self.obj.mkdir(parents=True, exist_ok=True)
            whole.unlink(missing_ok=True)
            self.log.unlink(missing_ok=True)
            yield
            whole.touch()

    def set_to(self, number):
        """The tree with so many of the patches, counted from 1."""
        texts = self.states[number - 1]
        changed = self.folder / "changed"
        present = {str(path.relative_to(changed)) for path in changed.rglob("*")
                   if path.is_file()}
        set_files(changed, present, {name: text.encode() for name, text in texts.items()})
        make_shadow(self.series.source.path, self.tree,
                    {name: changed / name for name in texts})
        configure(SeriesRecipe(texts, self.settings), self.make, self.obj, self.log)

    def to_build(self):
        """The patches, counted from 1, that change what is compiled."""
        before = {**self.series.base}
        for number, texts in enumerate(self.states, 1):
            changed = {name for name, text in texts.items() if before.get(name) != text}
            before = texts
            if any(name.startswith(("include/", "kernel/")) for name in changed) and \
                    (self.settings != SPINLOCKS or SPINLOCK in texts):
                yield number

    def objects(self, number):
        """What make is to build of what the series adds or changes."""
        own = [name for name in self.states[number - 1]
               if self.settings == SPINLOCKS and name.startswith(SPINLOCK.removesuffix(".c"))]
        return [f"{CODE}/", "kernel/locking/locktorture.o", "kernel/locking/spinlock.o",
                "kernel/locking/spinlock_debug.o",
                *(f"{name.removesuffix('.c')}.o" for name in own)]

    def run_make(self, what, *targets):
        """One run of make. Returns what it has said."""
        begin = self.log.stat().st_size
        status = run_logged([*self.make, f"-j{cores() + 1}", *targets], self.log, what,
                            env=compiler_environment(), check=False, timeout=BUILD_TIMEOUT,
                            progress=compiled_files(self.log))
        # make came to its end by itself: what it has left is whole.
        (self.folder / ".whole").touch()
        if status:
            raise Failure(f"{what}: failed with status {status}; log: {self.log}\n"
                          f"{errors_in(self.log)}")
        with open(self.log, "rb") as log:
            log.seek(begin)
            return log.read().decode(errors="replace")

    def warnings_of(self, number):
        """Build the objects that the series adds or changes. Returns the warnings."""
        self.set_to(number)
        said = self.run_make(f"building patch {number}", "W=1", *self.objects(number))
        return [line for line in said.splitlines() if WARNING.search(line)]

    def kernel(self):
        """The kernel with all patches."""
        self.set_to(len(self.states))
        self.run_make("building the kernel of the series", "all")
        version = self.series.source.version
        kernel = Kernel(f"{self.name}-{version}", version, self.obj, self.obj / "linux",
                        WITHOUT_LOCKS.options, digest(version))
        kernel.source = self.tree
        kernel.modules = {name: next(path for path in self.obj.rglob(name)).read_bytes()
                          for name in MODULES}
        return kernel

    def torture(self, kernel, seconds, cpus):
        """locktorture with each of the operations, in one guest. Returns (runs, Outcome)."""
        runs = [SeriesTorture(name, seconds, **nested) for name in TORTURE
                for nested in ({}, {"nested_locks": 8}) if not nested or "_timed" in name]
        outcome = run_parts(UserModeMachine(kernel), runs, cpus=cpus, timeout=TORTURE_TIMEOUT,
                            modules={"files": kernel.modules, "load": [MODULES[0]]})
        return runs, outcome


class SeriesRecipe(Recipe):
    """The configuration, with what this state of the tree knows of the series."""

    def __init__(self, texts, settings):
        super().__init__(*KERNEL)
        kconfig = "".join(texts.get(name, "")
                          for name in (f"{CODE}/Kconfig", "kernel/Kconfig.locks"))
        self.known = [line for line in settings
                      if f"config {line[len('CONFIG_'):].partition('=')[0]}\n" in kconfig]

    @property
    def settings(self):
        return super().settings + "".join(f"{line}\n" for line in self.known)


class SeriesTorture(Torture):
    """A run of the kernel's own locktorture module."""

    module = "locktorture"
