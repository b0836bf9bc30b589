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

import argparse
from statistics import median
import subprocess

from base.common import Failure, positive, print_columns, say
from base.setup import setup
from guest.bpf import TOOLS_ROW
from guest.kernels import BPF, built_kernel
from guest.logs import log_excerpt
from guest.machines import QemuMachine
from studies.arena.build import LOCKS, OURS, THEIRS, host_program
from studies.arena.runs import Speed, all_parts, run_all

VERBS = {"arena": "compare the lock for BPF arenas with libarena's"}
PLACES = ("alone", "2 threads")


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="The exit status is 1 if a test does not pass.")
    parser.add_argument("--rounds", type=positive, default=7, metavar="N",
                        help="rounds of each measurement of speed (default: %(default)s)")
    return parser.parse_args()


def guest_speed(machine, rounds):
    """{lock: [(alone, on 2 CPUs)]} in ns, the locks by turns."""
    parts = [Speed(lock, turn) for turn in range(rounds)
             for lock in LOCKS[::-1 if turn % 2 else 1]]
    outcome = run_all(machine, parts)
    wrong = next((part.complaint for part in parts if part.complaint), outcome.problem)
    if wrong:
        raise Failure(f"the speed cannot be measured: {wrong}\n{log_excerpt(outcome)}")
    return {lock: [part.ns for part in parts if part.lock == lock] for lock in LOCKS}


def host_speed(kernel, rounds):
    """As guest_speed(), of the texts compiled for this machine.

    And the acquisitions of two threads by the one that had the lock before, of 100, for each lock.
    """
    done = subprocess.run([host_program(kernel), str(rounds)], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, text=True, check=True)
    found = {(lock, threads): [] for lock in LOCKS for threads in "12"}
    in_a_row = {lock: [] for lock in LOCKS}
    for line in done.stdout.splitlines():
        threads, lock, ns, again = line.split()
        found[lock, threads].append(float(ns))
        if threads == "2":
            in_a_row[lock].append(float(again))
    return ({lock: list(zip(found[lock, "1"], found[lock, "2"])) for lock in LOCKS},
            {lock: median(in_a_row[lock]) for lock in LOCKS})


def speed_rows(name, found):
    """Rows: ns of both, and how many acquisitions ours makes for one of libarena's."""
    for place, threads in enumerate(PLACES):
        ours, theirs = ([ns[place] for ns in found[lock]] for lock in (OURS, THEIRS))
        ratios = sorted(other / own for own, other in zip(ours, theirs))
        yield (name, threads, f"{median(ours):.1f}", f"{median(theirs):.1f}",
               f"{median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})")


def body():
    options = parse_arguments()
    setup("bpf", makes=["source", BPF.row(), TOOLS_ROW])
    kernel = built_kernel(BPF)
    machine = QemuMachine(kernel)
    parts = all_parts()
    outcome = run_all(machine, parts)
    for part in parts:
        print(f"{part.name}: {part.complaint or 'passed'}")
        for before, served in getattr(part, "served", []):
            print(f"  after {before} timeouts: {served} of 3 attempts were served")
    if any(part.complaint for part in parts):
        say(log_excerpt(outcome))
        return 1
    speed, in_a_row = host_speed(kernel, options.rounds)
    rows = [("", "", f"{OURS}, ns", f"{THEIRS}, ns", "speed of ours"),
            *speed_rows("BPF, emulated", guest_speed(machine, options.rounds)),
            *speed_rows("this machine", speed)]
    print_columns(rows, (2, 3, 4))
    print("of 2 threads here, acquisitions of 100 by the one that had the lock before: " +
          ", ".join(f"{lock} {in_a_row[lock]:.0f}" for lock in LOCKS))
    return 0
