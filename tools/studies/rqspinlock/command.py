# SPDX-License-Identifier: GPL-2.0
"""Compares rqspinlock, the lock of BPF, with nbqlock's hybrid lock in its place.

Two kernels of one tree are booted in turn, one of them with
CONFIG_NBQ_RQSPINLOCK. Each test has its own guest, since a test may hang:

  AA ABBA ABBCCA  the kernel's bpf_test_rqspinlock, with a timer in hard
                  interrupts instead of NMIs: failures by kind, lengths of waits
  cycle           two queues, built step by step: the waiter in the middle of
                  each has interrupted the head of the other
  map             updates a second of a BPF hash map with one bucket, by 4 CPUs
  selftest        the kernel's selftests of res_spin_lock (only with --x86-64:
                  BPF programs call the lock through the kernel's JIT)

Documentation/rqspinlock.rst explains the results, and what they leave out.
"""

import argparse

from base.common import positive, say
from base.setup import setup
from guest.bpf import TOOLS_ROW
from guest.logs import log_excerpt
from guest.machines import QemuMachine, UserModeMachine
from studies.rqspinlock.runs import LOCKS, Selftest, all_runs, kernels, row_of, run_all
from studies.rqspinlock.table import table

VERBS = {"rqspinlock": "compare rqspinlock with the hybrid in its place"}


def tests(lock, options):
    runs = all_runs(options.milliseconds)
    return [*runs, Selftest(lock)] if options.x86_64 else runs


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="The exit status is 1 if a test of nbqlock's kernel does not pass.")
    parser.add_argument("--rounds", type=positive, default=3, metavar="N",
                        help="how often each test is run on each kernel (default: 3)")
    parser.add_argument("--only", choices=LOCKS,
                        help="only one of the kernels: stock has the kernel's own lock")
    parser.add_argument("--x86-64", action="store_true",
                        help="run x86-64 under QEMU instead of user-mode Linux")
    parser.add_argument("--milliseconds", type=positive, default=3000, metavar="N",
                        help="length of each part of the test \"map\" (default: 3000)")
    parser.add_argument("tests", nargs="*", metavar="TEST", help="run only these tests")
    options = parser.parse_args()
    names = [run.name for run in tests(LOCKS[0], options)]
    unknown = [name for name in options.tests if name not in names]
    if unknown:
        parser.error(f"no such test: {' '.join(unknown)}; there are {' '.join(names)}")
    return options


def made_run(machine, lock, run):
    """Make a run in a guest of its own, and say what came of it."""
    outcome = run_all(machine, [run])
    say(f"  {lock}: {run.name}: {run.complaint or 'passed'}")
    if run.complaint and not run.hung:
        say(log_excerpt(outcome))
    return run


def body():
    options = parse_arguments()
    locks = [options.only] if options.only else LOCKS
    setup("bpf" if options.x86_64 else "run", makes=[
        "source", *(row_of(lock, options.x86_64) for lock in locks),
        *[TOOLS_ROW] * options.x86_64])
    kind = QemuMachine if options.x86_64 else UserModeMachine
    machines = {lock: kind(kernels(lock, options.x86_64)) for lock in locks}
    made = {lock: [] for lock in locks}
    for number in range(options.rounds):
        say(f"round {number + 1} of {options.rounds}")
        for place in range(len(tests(LOCKS[0], options))):
            for lock in locks:
                run = tests(lock, options)[place]
                if not options.tests or run.name in options.tests:
                    made[lock].append(made_run(machines[lock], lock, run))
    print("\n".join(table(made)))
    return 1 if any(run.complaint for run in made.get(LOCKS[1], [])) else 0
