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

# The guest is user-mode Linux, its console's device vhost.py, and load/console_load.c uses the
# console. In a stall the device holds a buffer of output: the writer's CPU polls for it with the
# driver's lock held and interrupts off. Input in a stall raises interrupts, whose handler takes
# the same lock.
#
# What the guest's CPU 0, which takes them, does meanwhile is known by the order of events: the
# load says there that so many handlers have returned, and the device, still in its stall, reads
# that.

import base64
import gzip
from pathlib import Path
import re
import tempfile
import threading
import time

from base.case import LOAD, ONLY_ALL, Case, once, runs_on, step
from base.common import PROJECT, Failure, can_be_written, commit, cores
from base.lines import Lines
from guest.cases import clean_guest
from guest.complaints import complaints
from guest.guest import MOST_STARTS, run_guest
from guest.kernel_copy import built_copy
from guest.kernel_table import TestBed
from guest.kernels import Recipe
from guest.programs import static_program
from measure.bench import exceeding
from measure.bench.figure import STYLES
from studies.console.vhost import Console
from studies.frame import Guest, Values, number, option, study

VERBS = {"console": "show what a stalled console does to a CPU"}
EPILOG = """The exit status is 1 if a line is lost, or if with nbqlock a handler does not
return before the device does. The first build of each kernel takes about 5
CPU-minutes."""
OPTIONS = (
    number("--stalls", 50, "number of stalls in \"time\""),
    number("--milliseconds", 200, "length of each of them"),
    number("--limit", 2, "most seconds of a stall in \"order\"", metavar="S"),
    option("--figure", type=Path, metavar="FILE",
           help="draw the times, as .svg or .png; needs gnuplot and scour"))

STOCK, OURS = "stock", "nbqlock"	# the kernel's own, and ours
LOCKS = {STOCK: "spinlock_t", OURS: "nbq_spin"}
CHANGES = "studies/console"	# its port
# With the driver's lock as it is and an nbq_spin: built from a copy of the tree.
HVC = Recipe("hvc-nbqlock", "um", "linux", "guest", "hvc")
SOURCES = ("drivers/char/virtio_console.c", "drivers/tty/hvc/hvc_console.c",
           "drivers/tty/hvc/hvc_console.h")	# what it changes
PROGRAM = PROJECT / "tools/studies/console/load/console_load.c"
INTERRUPT = "virtio-uml.0-input"
CPUS = 3			# for interrupts, the writer, the reader
LINES_BETWEEN = 50		# of output, before the next stall
INPUTS = 5			# of a stall that ends when they were handled
INPUT_SECONDS = 0.01		# between two inputs of a run that is measured
PATIENCE_US = 250		# HVC_LOCK_PATIENCE of the port
TIMEOUT = 900
SCRIPT = f"""
T=/sys/kernel/tracing
mount -t tracefs tracefs $T || exit 1
echo mono >$T/trace_clock
echo 8192 >$T/buffer_size_kb
echo 1 >$T/events/irq/irq_handler_entry/enable
echo 1 >$T/events/irq/irq_handler_exit/enable
./console_load {INTERRUPT} || exit 1
echo 0 >$T/tracing_on
echo @counters; cat /sys/kernel/debug/nbqlock/total 2>/dev/null
echo @trace
grep -h '^overrun' $T/per_cpu/cpu0/stats
sed -n 's/^.*\\[000\\] [^ ]* *\\([0-9.]*\\): irq_handler_\\(e[a-z]*\\): \\(.*\\)$/\\1 \\2 \\3/p' $T/trace |
	gzip | base64
echo @end
"""
TRACE = re.compile(r"^@trace\noverrun: (\d+)\n(.*?)@end$", re.MULTILINE | re.DOTALL)


# Kernels

@once
def kernel_of(side):
    """The kernel with the port; or without, of the same tree and configuration."""
    return built_copy(HVC, CHANGES, undone=() if side == OURS else SOURCES)


CONSOLE = TestBed("user-mode, console", lambda: kernel_of(OURS))
SIDES = {STOCK: TestBed("user-mode, console, stock", lambda: kernel_of(STOCK)), OURS: CONSOLE}


def refused(options):
    if options.figure and options.figure.suffix not in (".svg", ".png"):
        return f"--figure {options.figure}: .svg or .png"
    if options.figure:
        can_be_written(options.figure)
    return ""


def needs(options):
    return ["run", *["figures"] * bool(options.figure)], ["source", HVC.row_of_copy(CHANGES)]


# Runs

class Seen(Lines):
    """The guest's output as it comes: how many handlers have returned."""

    def __init__(self):
        self.count = 0
        self.changed = threading.Condition()

    def hear(self, line):
        if re.match(r"seen \d+\r?$", line):
            with self.changed:
                self.count = int(line.split()[1])
                self.changed.notify_all()

    def wait_beyond(self, count, seconds):
        """Whether more than so many handlers return in this time."""
        with self.changed:
            return self.changed.wait_for(lambda: self.count > count, seconds)


class Run(Guest):
    """One boot with stalls.

    Subclasses: stall(), called while the device holds a buffer of output; and what sends input.
    """

    def __init__(self, machine, stalls):
        super().__init__(machine, [])
        self.stalls = stalls
        self.stalled = 0	# so many so far
        self.seen = Seen()
        self.sent = 0		# lines of input
        self.output = ""	# of the console
        self.lines = 0		# since the last stall
        self.device = None

    def send_line(self):
        self.sent += self.device.send(f"in {self.sent + 1}\n")

    def end(self):
        """Tell the guest that there is no more input."""
        while not self.device.send(f"end {self.sent}\n"):
            time.sleep(INPUT_SECONDS)

    def consume(self, text):
        """The device has a buffer of output."""
        self.output += text
        self.lines += text.count("\n")
        if self.lines < LINES_BETWEEN or self.stalled == self.stalls:
            return
        self.lines = 0
        self.stall()
        self.stalled += 1
        if self.stalled == self.stalls:
            self.ended()

    def run(self):
        """Boot the kernel, and use its console. A guest that dies early is started anew."""
        for _ in range(MOST_STARTS):
            with tempfile.TemporaryDirectory(prefix="nbqlock-") as folder, \
                    Console(f"{folder}/console", self.consume) as self.device:
                self.outcome = run_guest(
                    self.machine, SCRIPT, quiet=True, cpus=CPUS, timeout=TIMEOUT,
                    starts=1, sink=self.seen, append=[self.device.word],
                    extra={PROGRAM.stem: (static_program(PROGRAM), 0o755)})
            if not self.outcome.died_early:
                break
        return self

    @property
    def values(self):
        return Values(self.outcome.output)

    @property
    def complaint(self):
        """What may be so on neither side; or nothing."""
        if self.outcome.problem or self.outcome.status:
            return self.outcome.problem or f"exit status {self.outcome.status}"
        values = self.values
        if values.get("lines_in") != self.sent or values["wrong"]:
            return f"{values.get('lines_in')} lines of {self.sent} came in, or some are wrong"
        if self.output != wanted_output(values["lines_out"]):
            return "the device has not got the lines that were written, in their order"
        return ""


def wanted_output(lines):
    return "".join(f"out {number}\n" for number in range(1, lines + 1)) + f"out end {lines}\n"


class OrderRun(Run):
    """Each stall lasts until the guest has handled INPUTS inputs, one after the other.

    Or until one of them was not handled for so many seconds.
    """

    def __init__(self, machine, stalls, seconds):
        super().__init__(machine, stalls)
        self.seconds = seconds
        self.handled = []	# inputs of each stall

    def stall(self):
        self.handled.append(0)
        for _ in range(INPUTS):
            before = self.seen.count
            self.send_line()
            if not self.seen.wait_beyond(before, self.seconds):
                break
            self.handled[-1] += 1

    def ended(self):
        self.end()

    @property
    def complaint(self):
        return super().complaint or next(iter(complaints(self.outcome.log)), "")


class TimedRun(Run):
    """Stalls of a length, and input all the time: what it costs the guest's CPUs."""

    def __init__(self, machine, stalls, seconds):
        super().__init__(machine, stalls)
        self.seconds = seconds
        self.done = threading.Event()

    def stall(self):
        time.sleep(self.seconds)

    def ended(self):
        self.done.set()

    def run(self):
        feeder = threading.Thread(target=self.feed, daemon=True)
        feeder.start()
        try:
            return super().run()
        finally:
            self.done.set()

    def feed(self):
        """Send input as long as there are stalls."""
        while not self.lines and not self.done.is_set():
            time.sleep(INPUT_SECONDS)
        while not self.done.wait(INPUT_SECONDS):
            self.send_line()
        if self.stalled == self.stalls:
            self.end()

    @property
    def handler_us(self):
        """How long each call of the input's handler took, in us."""
        found = TRACE.search(self.outcome.output)
        if not found or int(found[1]):
            raise Failure("the guest's trace is not whole" if found else "there is no trace")
        return handler_times(gzip.decompress(base64.b64decode(found[2])).decode())

    def late_us(self, cpu):
        """How long after its time the sleeper of a CPU ran, in us."""
        return [late / 1000 for late in self.values.all(f"late.{cpu}")]


def handler_times(trace):
    """From each entry of the input's handler to the exit that follows it."""
    times, begun = [], None
    for line in trace.splitlines():
        when, what, words = line.split(" ", 2)
        if what == "entry":
            begun = float(when) if INTERRUPT in words else None
        elif begun is not None:
            times.append((float(when) - begun) * 1e6)
            begun = None
    return times


ORDER, TIME = "order", "time"
IN_ORDER = 5			# stalls
PARTS = {ORDER: lambda _name, _side, machine, options:
         OrderRun(machine, IN_ORDER, options.limit),
         TIME: lambda _name, _side, machine, options:
         TimedRun(machine, options.stalls, options.milliseconds / 1000)}


# Table and figure

def rank(times, share):
    """The time that this share of the times is below."""
    return sorted(times)[min(len(times) - 1, int(share * len(times)))]


def shown(microseconds):
    return f"{microseconds:.0f} us" if microseconds < 10000 else f"{microseconds / 1000:.0f} ms"


def side_rows(order, timed):
    whole = sum(count == INPUTS for count in order.handled)
    yield "stalls in which the CPU came back 5 times", f"{whole} of {order.stalls}"
    handler = timed.handler_us
    yield "calls of the handler", str(len(handler))
    for name, times in (("time in the handler", handler),
                        ("thread of CPU 0 late by", timed.late_us(0)),
                        ("thread of CPU 2 late by", timed.late_us(2))):
        for words, share in (("median", 0.5), ("99 %", 0.99), ("longest", 1)):
            yield f"{name}, {words}", shown(rank(times, share))
    yield "attempts that timed out", str(timed.values.get("timeouts", 0))
    yield "lines in, out", f"{timed.sent}, {timed.output.count(chr(10)) - 1}: all"


def rows(made, options):
    runs = {side: [made.guests(part, side)[0] for part in PARTS] for side in SIDES}
    if options.figure:
        draw(options, {side: timed for side, (_, timed) in runs.items()})
    sides = [list(side_rows(*each)) for each in runs.values()]
    return [[("", *LOCKS.values()), *((own[0][0], *(cell for _, cell in own))
                                      for own in zip(*sides))]]


def draw(options, runs):
    marks = {f"patience {PATIENCE_US} us": PATIENCE_US,
             f"stall {options.milliseconds} ms": 1000 * options.milliseconds}
    panels = [exceeding.Panel(title, {LOCKS[side]: exceeding.points(times(run))
                                      for side, run in runs.items()}, marks)
              for title, times in (
                  ("time in the interrupt handler, CPU 0", lambda run: run.handler_us),
                  ("how late a thread of CPU 0 wakes up", lambda run: run.late_us(0)))]
    subtitle = (f"Lock of the console: spinlock_t, or nbq_spin. {options.stalls} stalls of "
                f"{options.milliseconds} ms, input every 10 ms; user-mode Linux, {CPUS} CPUs on "
                f"{cores()}; commit {commit()}.")
    exceeding.draw(options.figure, "A console's device stalls: time in its interrupt handler, and "
                   "delay of threads on that CPU", subtitle, [], panels,
                   {LOCKS[STOCK]: STYLES["qspinlock"], LOCKS[OURS]: STYLES["nbq_spin"]})


# Claims

def comes_back(made):
    return all(run.handled == [INPUTS] * run.stalls for run in made.guests(ORDER, OURS))


CLAIMS = {"nbqlock: in each stall the interrupted CPU handles all inputs": comes_back}
STALLS = 5
# Of a stall in which the CPU comes back: only ends what hangs. Without nbqlock it cannot come
# back, however long the stall takes.
HANG_SECONDS, STALL_SECONDS = 120, 1


@step("console", ONLY_ALL, LOAD)
@runs_on(CONSOLE, "stalled console")
def stalled_console():
    """the virtio console with an nbq_spin: its interrupts return while its device stalls"""
    ours = OrderRun(CONSOLE.machine(), STALLS, HANG_SECONDS).run()
    own = OrderRun(SIDES[STOCK].machine(), 1, STALL_SECONDS).run()
    for side, run in zip(SIDES, (own, ours)):
        yield Case(f"{side}: no line is lost, in or out", not run.complaint,
                   f"{run.complaint}\n{run.outcome.output}")
        yield clean_guest(side, run.outcome)
    yield Case("nbqlock: in each stall the interrupted CPU handles all inputs",
               ours.handled == [INPUTS] * STALLS, str(ours.handled))
    yield Case("nbqlock: each of these handlers has timed out",
               ours.values.get("timeouts", 0) >= STALLS * INPUTS, ours.outcome.output)
    yield Case("stock: the interrupted CPU does not come back in the stall",
               len(own.handled) == 1 and own.handled[0] < INPUTS, str(own.handled))


body = study(__name__)
