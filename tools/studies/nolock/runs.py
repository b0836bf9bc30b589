# SPDX-License-Identifier: GPL-2.0
"""Allocations that may not wait, on a kernel that lets them wait for microseconds, and on another.

alloc_pages_nolock() and kmalloc_nolock() may be called in any context and attempt the locks of the
allocators once. Where all spinlocks are the hybrid (tools/guest/port), they attempt them
with a patience, vm.nolock_patience_us. tools/studies/nolock/load has them attempted in tasks, in hard
interrupts, in NMIs where there are any, and above the holder of zone->lock.
"""

import re

from base.common import PROJECT
from guest.hybrid import HYBRID, STOCK, UML, machine_of
from guest.kernel_tests import Boot, Suites
from guest.kunit import ENABLED
from guest.modules import build_apart
from guest.parts import Part

FOLDER = PROJECT / "tools/studies/nolock/load"
MORE = ("nolock",)		# of configurations
PATIENCE_US = 20
PAGES, OBJECTS = "pages", "objects"
# (a kernel, the patience there in us, or None where there is none)
SIDES = ((STOCK, None), (HYBRID, 0), (HYBRID, PATIENCE_US))
CONTEXTS = ("task", "hardirq", "nmi", "above")
# The per-CPU lists get no longer than they have to be, so that a batch empties them.
SHORT_LISTS = "echo 1000000 >/proc/sys/vm/percpu_pagelist_high_fraction &&\n"
LINE = re.compile(rf"nolock_load: ({'|'.join((*CONTEXTS, 'ordinary', 'held'))}) (.*)$",
                  re.MULTILINE)


def machine(side, testbed=UML):
    """The machine of a kernel."""
    return machine_of(side, testbed, more=MORE)


def files(kernel):
    return build_apart(kernel, "nolock", {path.name: path.read_bytes()
                                          for path in FOLDER.iterdir()})


class Run(Part):
    """One load of nolock_load.ko, and the lines that it printed."""

    def __init__(self, name, patience_us, parameters):
        patience = "" if patience_us is None else \
            f"echo {patience_us} >/proc/sys/vm/nolock_patience_us &&\n"
        super().__init__(f"{name}, patience {patience_us} us" if patience else name,
                         patience + SHORT_LISTS +
                         f"insmod /lib/modules/nolock_load.ko {parameters} && rmmod nolock_load")

    @property
    def results(self):
        """{context, "ordinary" or "held": {name: number}}"""
        found = {}
        for context, words in LINE.findall(self.log):
            words = words.split()
            found[context] = dict(zip(words[::2], map(int, words[1::2])))
        return found


class Load(Run):
    """Attempts in each context, while all CPUs allocate and free as usual."""

    def __init__(self, what, patience_us, milliseconds):
        super().__init__(what, patience_us,
                         f"milliseconds={milliseconds} objects={int(what == OBJECTS)}")

    @property
    def complaint(self):
        if self.status != 0:
            return super().complaint
        if not self.results.get("ordinary", {}).get("operations"):
            return "nothing was allocated as usual"
        scarce = sum(each.get("scarce", 0) for each in self.results.values())
        return f"{scarce} attempts found no memory" if scarce else ""


class Held(Run):
    """An attempt at a lock that another CPU holds until one waits or fails."""

    def __init__(self, patience_us):
        super().__init__("held", patience_us, "held=1")

    @property
    def served(self):
        return bool(self.results["held"]["served"])

    @property
    def complaint(self):
        return super().complaint or ("" if "held" in self.results else "it has no result")


class SlubSuite(Suites):
    """The suite of the slab allocator, at boot. One of its cases is kmalloc_nolock()'s."""

    CASE = "test_kmalloc_kfree_nolock"
    words = (*ENABLED, "kunit.filter_glob=slub_test")

    @property
    def complaint(self):
        passed = [case.name for case in self.cases if case.status == "PASS"]
        return super().complaint or \
            ("" if any(name.endswith(self.CASE) for name in passed) else f"no {self.CASE}")


class NolockBoot(Boot):
    """A boot with such runs. Attempts above the holder are deadlocks, so many as there come."""

    def __init__(self, machine_, side, runs, cpus):
        # Without a compare-and-swap of 16 bytes only caches that are checked have
        # kmalloc_nolock().
        words = ["slab_debug=F"] * any(run.name.startswith(OBJECTS) for run in runs)
        super().__init__(machine_, cpus, runs, side == HYBRID, words)

    @property
    def modules(self):
        return files(self.machine.kernel) | super().modules

    @property
    def wrong_deadlocks(self):
        return ""
