# SPDX-License-Identifier: GPL-2.0
"""Shows what a stalled console does to the CPU that takes its interrupts.

The kernel's virtio console holds its lock until the device has consumed the
output, and its interrupt handler waits for that lock. Two kernels are booted,
the found one and one in which that lock is an nbq_spin (the port beside this
file), with a device that stalls while input comes:

  order  a stall ends when the guest has handled 5 inputs, one by one, or at a
         limit: does the interrupted CPU return before the device does?
  time   stalls have a given length, and input comes every 10 ms: how long does
         the handler take, and how late do threads wake up on other CPUs than
         the writer's?

Documentation/stalled-console.rst has the results.
"""

import argparse
from pathlib import Path

from base.common import can_be_written, columns, commit, cores, positive, say, terminal_columns
from base.setup import setup
from guest.logs import log_excerpt
from measure.bench import exceeding
from measure.bench.figure import STYLES
from studies.console.stall import (CHANGES, CPUS, HVC, INPUTS, PATIENCE_US, SIDES, OrderRun,
                                   TimedRun, kernel_of)

VERBS = {"console": "show what a stalled console does to a CPU"}
LOCKS = {"spinlock_t": "qspinlock", "nbq_spin": "nbq_spin"}	# a side's lock, as it is drawn
HEAD = ("", *LOCKS)


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="""The exit status is 1 if a line is lost, or if with nbqlock a handler does not
return before the device does. The first build of each kernel takes about 5
CPU-minutes.""")
    parser.add_argument("--stalls", type=positive, default=50, metavar="N",
                        help="number of stalls in \"time\" (default: %(default)s)")
    parser.add_argument("--milliseconds", type=positive, default=200, metavar="N",
                        help="length of each of them (default: %(default)s)")
    parser.add_argument("--limit", type=positive, default=2, metavar="S",
                        help="most seconds of a stall in \"order\" (default: %(default)s)")
    parser.add_argument("--figure", type=Path, metavar="FILE",
                        help="draw the times, as .svg or .png; needs gnuplot and scour")
    options = parser.parse_args()
    if options.figure and options.figure.suffix not in (".svg", ".png"):
        parser.error(f"--figure {options.figure}: .svg or .png")
    if options.figure:
        can_be_written(options.figure)
    return options


def made(run, side):
    """Make a run, and say what came of it."""
    run.make(kernel_of(side))
    if run.complaint:
        say(f"{side}: {run.complaint}\n{log_excerpt(run.outcome)}")
    return run


def rank(times, share):
    """The time that this share of the times is below."""
    return sorted(times)[min(len(times) - 1, int(share * len(times)))]


def shown(microseconds):
    return f"{microseconds:.0f} us" if microseconds < 10000 else f"{microseconds / 1000:.0f} ms"


def order_rows(run):
    whole = sum(count == INPUTS for count in run.handled)
    yield "stalls in which the CPU came back 5 times", f"{whole} of {run.stalls}"


def time_rows(run):
    handler = run.handler_us
    yield "calls of the handler", str(len(handler))
    for name, times in (("time in the handler", handler),
                        ("thread of CPU 0 late by", run.late_us(0)),
                        ("thread of CPU 2 late by", run.late_us(2))):
        for words, share in (("median", 0.5), ("99 %", 0.99), ("longest", 1)):
            yield f"{name}, {words}", shown(rank(times, share))
    yield "attempts that timed out", str(run.timeouts)
    yield "lines in, out", f"{run.sent}, {run.output.count(chr(10)) - 1}: all"


def table(sides):
    """The lines of a table; sides: the rows of each."""
    return columns([HEAD, *((own[0][0], *(cell for _, cell in own)) for own in zip(*sides))],
                   width=terminal_columns())


def draw(path, options, runs):
    runs = dict(zip(LOCKS, runs))
    marks = {f"patience {PATIENCE_US} us": PATIENCE_US,
             f"stall {options.milliseconds} ms": 1000 * options.milliseconds}
    panels = [exceeding.Panel(title, {name: exceeding.points(times(run))
                                      for name, run in runs.items()}, marks)
              for title, times in (
                  ("time in the interrupt handler, CPU 0", lambda run: run.handler_us),
                  ("how late a thread of CPU 0 wakes up", lambda run: run.late_us(0)))]
    subtitle = (f"Lock of the console: spinlock_t, or nbq_spin. {options.stalls} stalls of "
                f"{options.milliseconds} ms, input every 10 ms; user-mode Linux, {CPUS} CPUs on "
                f"{cores()}; commit {commit()}.")
    exceeding.draw(path, "A console's device stalls: time in its interrupt handler, and delay of "
                   "threads on that CPU", subtitle, [], panels,
                   {name: STYLES[lock] for name, lock in LOCKS.items()})


def body():
    options = parse_arguments()
    setup("run", *["figures"] * bool(options.figure), makes=["source", HVC.row_of_copy(CHANGES)])
    orders, times = [], []
    for side in SIDES:
        orders.append(made(OrderRun(5, options.limit), side))
        times.append(made(TimedRun(options.stalls, options.milliseconds / 1000), side))
    if any(run.complaint for run in (*orders, *times)):
        return 1
    print("\n".join(table([[*order_rows(order), *time_rows(time)]
                           for order, time in zip(orders, times)])))
    if options.figure:
        draw(options.figure, options, times)
    return 0 if orders[-1].handled == [INPUTS] * orders[-1].stalls else 1
