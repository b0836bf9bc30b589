# SPDX-License-Identifier: GPL-2.0
"""nbq_arena_lock and libarena's arena_spin_lock in a guest: parts, and what is read from them."""

import re

from guest.parts import Part, run_parts
from studies.arena.build import LOCKS, OURS, kernels_test_of, program_of, programs

CPUS = 4
TIMEOUT = 900
AFTER_TIMEOUT = re.compile(r"after (\d+) timeouts, once the holder has released: (\d) of 3")
SPEED = re.compile(r"ns an acquisition: alone ([\d.]+), 2 CPUs ([\d.]+)")
# The allocator of a kernel for QEMU's processor without cmpxchg16b (guest/guest.py) allocates
# for BPF only if it looks for errors.
WORDS = ("slab_debug=F",)


class ArenaPart(Part):
    """One run of a program for one of the locks."""

    def __init__(self, lock, what, program=None):
        super().__init__(f"{lock}: {what}",
                         f"./{program}" if program else f"./{program_of(lock)} {what}")
        self.lock = lock

    @property
    def complaint(self):
        if self.status is None:
            return "it did not come to its end"
        return self.wrong or ("" if self.status == 0 else
                              self.output.strip().rpartition("\n")[2] or "it failed")

    wrong = ""


class AfterTimeout(ArenaPart):
    """Whether attempts are served after others have timed out, once the lock was released."""

    def __init__(self, lock):
        super().__init__(lock, "after-timeout")

    @property
    def served(self):
        """[(timeouts before, attempts served of three)]"""
        return [(int(before), int(served)) for before, served in
                AFTER_TIMEOUT.findall(self.output)]

    @property
    def wrong(self):
        if self.status == 0 and len(self.served) != CPUS - 1:
            return "it has no results"
        # It is to be so of libarena's lock; else there is nothing to compare with.
        wanted = 3 if self.lock == OURS else 0
        return next((f"after {before} timeouts {served} of 3 attempts were served"
                     for before, served in self.served if served != wanted), "")


class Speed(ArenaPart):
    """ns an acquisition takes, on one CPU and on two."""

    def __init__(self, lock, number=1):
        super().__init__(lock, "speed")
        self.name += f" {number}"

    @property
    def ns(self):
        """(alone, on 2 CPUs); None if there is none."""
        found = SPEED.search(self.output)
        return (float(found[1]), float(found[2])) if found else None

    @property
    def wrong(self):
        return "it has no results" if self.status == 0 and not self.ns else ""


def kernels_test(lock):
    """The kernel's own test of arena_spin_lock."""
    return ArenaPart(lock, "selftest", kernels_test_of(lock))


def all_parts(locks=LOCKS, has_irqsave=True):
    """[part]: what is wrong with either lock is in its complaint.

    has_irqsave: whether the kernel lets programs turn interrupts off, as its own test does.
    """
    return [*map(AfterTimeout, locks),
            *(ArenaPart(OURS, what) for what in ("positions", "counter", "stray-writes",
                                                 "no-page", "callback")),
            *(map(kernels_test, locks) if has_irqsave else ()),
            ArenaPart(OURS, "a program of several objects", "linked"),
            ArenaPart(OURS, "the example", "arena_example")]


def run_all(machine, parts, built_for=None):
    """Run them in one guest. built_for: another kernel. Returns the guest's Outcome."""
    extra = {name: (content, 0o755) for name, content in
             programs(built_for or machine.kernel).items()}
    return run_parts(machine, parts, cpus=CPUS, timeout=TIMEOUT, append=WORDS, extra=extra)
