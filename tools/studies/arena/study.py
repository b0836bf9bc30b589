# SPDX-License-Identifier: GPL-2.0
"""Compares nbq_arena_lock, for BPF arenas, with the arena_spin_lock of libarena.

An x86-64 kernel in QEMU, with 4 CPUs, runs BPF programs on both:

  after-timeout    waiters time out, then the holder releases: is the next
                   attempt served?
  positions        ours: each set of three waiters times out, in both orders
  counter          ours: many attempts; timers' callbacks interrupt and attempt
  stray-writes     ours: random words are written into the lock and its nodes
  no-page          ours: a lock in a page that the arena does not have
  callback         ours: a callback attempts the lock of an interrupted holder
  selftest         the kernel's prog_tests/arena_spin_lock.c, unchanged
  linked, example  ours: of several objects; Documentation/arena-example

Then it measures speed: of the programs in the guest, whose processor is
emulated, and of both locks' sources compiled for this machine.
Documentation/arena.rst has the results.
"""

from statistics import median
import subprocess

from base.case import LOAD, ONLY_ALL, Case, On, runs_on, step
from guest.bpf import TOOLS_ROW
from guest.cases import DEBIAN_6_12, DEBIAN_NEWEST, RQSPINLOCK, clean_guest
from guest.kernels import BPF
from studies.arena.build import (LOCKS, OURS, THEIRS, host_program, kernels_test_of, program_of,
                                 programs, release_off_x86)
from studies.frame import Guest, Load, Values, load_cases, number, ratios, study

VERBS = {"arena": "compare the lock for BPF arenas with libarena's"}
EPILOG = "The exit status is 1 if a test does not pass."
OPTIONS = (number("--rounds", 7, "rounds of each measurement of speed", dest="turns"),)
RIGHT = (2, 3, 4)
SIDES = {"x86-64": RQSPINLOCK}
CPUS = 4
TIMEOUT = 900
# The allocator of a kernel for QEMU's processor without cmpxchg16b (guest/guest.py) allocates
# for BPF only if it looks for errors.
WORDS = ("slab_debug=F",)


def needs(_options):
    return ["bpf"], ["source", BPF.row(), TOOLS_ROW]


# Loads

def load(lock, what, program=None, claims=None):
    """One run of a program for one of the locks."""
    return Load(f"{lock}: {what}", f"./{program}" if program else f"./{program_of(lock)} {what}",
                claims)


def served(values):
    """Attempts of three that were served after 1, 2, 3 timeouts, once the lock was released."""
    return [values[f"served_after.{timeouts}"] for timeouts in range(1, CPUS)]


def after_timeout(lock):
    # It is to be so of libarena's lock; else there is nothing to compare with.
    return load(lock, "after-timeout", claims={
        "all attempts are served": lambda values: served(values) == [3] * 3} if lock == OURS else {
        "no attempt is served": lambda values: served(values) == [0] * 3})


def tests(locks=LOCKS, has_irqsave=True):
    """What is wrong with either lock is in the complaint of one.

    has_irqsave: whether the kernel lets programs turn interrupts off, as its own test does.
    """
    return [*map(after_timeout, locks),
            *(load(OURS, what) for what in ("positions", "counter", "stray-writes", "no-page",
                                            "callback")),
            *(load(lock, "selftest", kernels_test_of(lock)) for lock in locks if has_irqsave),
            load(OURS, "a program of several objects", "linked"),
            load(OURS, "the example", "arena_example")]


def guest_of(machine, loads, built_for=None):
    """built_for: another kernel than that of the machine."""
    return Guest(machine, loads, cpus=CPUS, timeout=TIMEOUT, append=WORDS,
                 extra={name: (content, 0o755) for name, content in
                        programs(built_for or machine.kernel).items()})


def tested(_name, _side, machine, _options):
    return guest_of(machine, tests())


# Speed

def speed(lock, turn):
    one = load(lock, "speed", claims={"it has results": lambda values: values["ns.1"] +
                                      values["ns.2"]})
    one.name += f" {turn}"
    return one


def emulated(_name, _side, machine, options):
    """The locks by turns."""
    return guest_of(machine, [speed(lock, turn) for turn in range(options.turns)
                              for lock in LOCKS[::-1 if turn % 2 else 1]])


class Here:
    """Both locks' texts, compiled for this machine."""

    parts, complaint, outcome = (), "", None

    def __init__(self, _name, _side, machine, options):
        self.command = [host_program(machine.kernel), str(options.turns)]

    def run(self):
        done = subprocess.run(self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              text=True, check=True)
        self.values = Values(done.stdout)
        return self


PARTS = {"tests": tested, "speed": emulated, "speed here": Here}


# Tables

def rows(made, _options):
    test, in_guest, here = (made.guests(part, *SIDES)[0] for part in PARTS)
    yield [("test", "result", "served of 3, after 1, 2, 3 timeouts"),
           *((part.name, "passed", " ".join(map(str, served(part.values)))
              if part.claims else "") for part in test.parts)]
    yield [("", "", f"{OURS}, ns", f"{THEIRS}, ns", "speed of ours"),
           *speed_rows("BPF, emulated", lambda lock, threads: [
               part.values[f"ns.{threads}"] for part in in_guest.parts
               if part.name.startswith(lock)]),
           *speed_rows("this machine",
                       lambda lock, threads: here.values.all(f"{lock}.{threads}.ns"))]
    yield [("of 100 acquisitions, by the one that had the lock before", *LOCKS),
           ("2 threads here", *(f"{median(here.values.all(f'{lock}.2.again')):.0f}"
                                for lock in LOCKS))]


def speed_rows(name, ns_of):
    """Rows: ns of both, and how many acquisitions ours makes for one of libarena's."""
    for threads, words in ((1, "alone"), (2, "2 threads")):
        ours, theirs = (ns_of(lock, threads) for lock in LOCKS)
        yield (name, words, f"{median(ours):.1f}", f"{median(theirs):.1f}", ratios(theirs, ours))


# Cases

# Of what a busy machine may keep from coming up: a CPU that has no core for 250 ms times out.
STARTS = 3


def cases(name, testbed, loads):
    failed, outcomes = loads, []
    while failed and len(outcomes) < STARTS:
        guest = guest_of(testbed.machine(), failed, RQSPINLOCK.find()).run()
        outcomes.append(guest.outcome)
        failed = [each for each in loads if each.complaint]
    guest.parts = loads
    yield from load_cases(name, guest)
    yield clean_guest(name, *outcomes)


@step("arena", ONLY_ALL, LOAD)
@runs_on(RQSPINLOCK, "locks in BPF arenas")
def arena():
    """BPF programs on nbq_arena_lock and on libarena's lock, x86-64 in QEMU; ours on Debian's"""
    yield from cases("arena", RQSPINLOCK, tests())
    text = release_off_x86(RQSPINLOCK.find())
    yield Case("arena: the release is a swap where a store would have no order",
               "xchg32_32(" in text, text)
    # It is for up to 8192 CPUs, which libarena's lock refuses.
    yield On(DEBIAN_NEWEST, "locks in BPF arenas")
    yield from cases("arena, Debian", DEBIAN_NEWEST, tests([OURS]))
    # Debian 13's own.
    yield On(DEBIAN_6_12, "locks in BPF arenas")
    yield from cases("arena, 6.12", DEBIAN_6_12, tests([OURS], has_irqsave=False))


body = study(__name__)
