# SPDX-License-Identifier: GPL-2.0
"""A virtio console whose device stalls: the kernel's driver as it is, and with an nbq_spin.

The guest is user-mode Linux, its console's device vhost.py, and
tools/studies/console/load/console_load.c uses the console. In a stall the device holds a buffer of output:
the writer's CPU polls for it with the driver's lock held and interrupts off. Input in a stall
raises interrupts, whose handler takes the same lock.

What the guest's CPU 0, which takes them, does meanwhile is known by the order of events: the load
says there that so many handlers have returned, and the device, still in its stall, reads that.
"""

import base64
import functools
import gzip
import re
import tempfile
import threading
import time

from base.common import PROJECT, Failure
from base.driver import read_figures
from base.lines import Lines
from guest.complaints import complaints
from guest.guest import MOST_STARTS, run_guest
from guest.kernel_copy import built_copy
from guest.kernels import Recipe
from guest.machines import UserModeMachine
from guest.programs import static_program
from studies.console.vhost import Console

SIDES = ("stock", "nbqlock")	# the kernel's own, and ours
CHANGES = "studies/console"	# its port
# With the driver's lock as it is and an nbq_spin: built from a copy of the tree.
HVC = Recipe("hvc-nbqlock", "um", "linux", "guest", "hvc")
SOURCES = ("drivers/char/virtio_console.c", "drivers/tty/hvc/hvc_console.c",
           "drivers/tty/hvc/hvc_console.h")	# what it changes
LOAD = PROJECT / "tools/studies/console/load/console_load.c"
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
# The load's own lines, and what follows them.
WORDS = re.compile(r"^lines_in=(\d+) lines_out=(\d+) wrong=(\d+)$", re.MULTILINE)
LATE = re.compile(r"^late (\d+) (\d+)$", re.MULTILINE)
TRACE = re.compile(r"^@trace\noverrun: (\d+)\n(.*?)@end$", re.MULTILINE | re.DOTALL)


# What is built

@functools.lru_cache
def kernel_of(side):
    """The kernel with tools/studies/console/port; or without, of the same tree and configuration."""
    return built_copy(HVC, CHANGES, undone=() if side == SIDES[1] else SOURCES)


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


class Run:
    """One boot with stalls.

    Subclasses: stall(), called while the device holds a buffer of output; and what sends input.
    """

    def __init__(self, stalls):
        self.stalls = stalls
        self.stalled = 0	# so many so far
        self.seen = Seen()
        self.sent = 0		# lines of input
        self.output = ""	# of the console
        self.lines = 0		# since the last stall
        self.outcome = None
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

    def make(self, kernel):
        """Boot the kernel, and use its console. A guest that dies early is started anew."""
        for _ in range(MOST_STARTS):
            with tempfile.TemporaryDirectory(prefix="nbqlock-") as folder, \
                    Console(f"{folder}/console", self.consume) as self.device:
                self.outcome = run_guest(
                    UserModeMachine(kernel), SCRIPT, quiet=True, cpus=CPUS, timeout=TIMEOUT,
                    starts=1, sink=self.seen, append=[self.device.word],
                    extra={LOAD.stem: (static_program(LOAD), 0o755)})
            if not self.outcome.died_early:
                break
        return self

    # What came of it

    @property
    def complaint(self):
        """What may be so on neither side; or nothing."""
        if self.outcome.problem or self.outcome.status:
            return self.outcome.problem or f"exit status {self.outcome.status}"
        counts = WORDS.search(self.outcome.output)
        if not counts:
            return "the load has no results"
        lines_in, lines_out, wrong = map(int, counts.groups())
        if wrong or lines_in != self.sent:
            return f"{lines_in} lines of {self.sent} came in, {wrong} of them wrong"
        if self.output != wanted_output(lines_out):
            return "the device has not got the lines that were written, in their order"
        return ""

    @property
    def timeouts(self):
        """How many attempts have timed out; 0 without nbqlock."""
        found = self.outcome.output.partition("@counters\n")[2].partition("@trace")[0]
        return read_figures(found).get("timeouts", 0)


def wanted_output(lines):
    return "".join(f"out {number}\n" for number in range(1, lines + 1)) + f"out end {lines}\n"


class OrderRun(Run):
    """Each stall lasts until the guest has handled INPUTS inputs, one after the other.

    Or until one of them was not handled for so many seconds.
    """

    def __init__(self, stalls, seconds):
        super().__init__(stalls)
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

    def __init__(self, stalls, seconds):
        super().__init__(stalls)
        self.seconds = seconds
        self.done = threading.Event()

    def stall(self):
        time.sleep(self.seconds)

    def ended(self):
        self.done.set()

    def make(self, kernel):
        feeder = threading.Thread(target=self.feed, daemon=True)
        feeder.start()
        try:
            return super().make(kernel)
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
        return [int(late) / 1000 for number, late in LATE.findall(self.outcome.output)
                if int(number) == cpu]


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
