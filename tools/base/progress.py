# SPDX-License-Identifier: GPL-2.0
"""How far the runs are: a line that is rewritten, or one every ten seconds."""

import shutil
import sys
import time

from base.common import PROGRESS_SECONDS


def spaced(number):
    return f"{number:,.0f}".replace(",", " ")


def counted(number, noun):
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def clock(seconds):
    """Seconds in the usual form: 0:07, 12:34, 1:02:03."""
    seconds = round(seconds)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02}:{seconds:02}"
    return f"{minutes}:{seconds:02}"


class Progress:
    """Counts runs, and shows the progress.

    The time left is what is left of the planned time, at the pace so far:
    starting guests and slow runs are in it. The rate is that of the run that
    is going on, from two looks at it, or else of the last that has ended.
    """

    def __init__(self, stream=None, now=time.monotonic):
        self.stream = stream or sys.stderr
        self.now = now
        self.rewrite = self.stream.isatty()
        self.planned = 0.0	# seconds of all runs
        self.done = 0.0		# of those that have ended
        self.runs = 0
        self.ended = 0
        self.label = ""		# of the run that is going on
        self.length = 0.0	# its planned seconds
        self.words = ""		# the rate, and whose
        self.look = (0, 0)	# ms and acquisitions when the run was looked at last
        self.started = self.last_line = None
        self.begun = None
        self.shown = False

    def plan(self, seconds, runs):
        """More runs are to come, which are meant to take so long."""
        self.planned += seconds
        self.runs += runs
        if self.started is None:
            self.started = self.last_line = self.now()

    def begin(self, label, seconds):
        self.label, self.length = label, seconds
        self.begun = self.now()
        self.look = (0, 0)
        self.show()

    def going(self, elapsed_ms, acquisitions):
        """A look at the run that is going on."""
        then, before = self.look
        if elapsed_ms > then:
            rate = 1000 * (acquisitions - before) / (elapsed_ms - then)
            self.words = self.rated(rate)
            self.look = (elapsed_ms, acquisitions)
        self.show()

    def end(self, rate=None):
        """The run is over; rate: its acquisitions a second, if there is one."""
        self.skip(self.length)
        if rate is not None:
            self.words = self.rated(rate)
        self.show()

    def rated(self, rate):
        # The label last: a narrow terminal cuts it off.
        return f", {spaced(rate)} acq./s ({self.label})"

    def skip(self, seconds):
        """A run that takes no time any more."""
        self.done += seconds
        self.ended += 1
        self.begun = None

    def gone(self):
        return self.now() - self.started if self.started is not None else 0.0

    def left(self):
        """Seconds until the end, as far as can be known."""
        running = self.now() - self.begun if self.begun is not None else 0.0
        before = self.gone() - running
        pace = before / self.done if self.done else 1
        return max(0.0, (self.planned - self.done) * pace -
                   min(running, self.length * pace))

    def text(self):
        return (f"{self.ended} of {counted(self.runs, 'run')}, {clock(self.gone())} gone, "
                f"{clock(self.left())} left{self.words}")

    def show(self):
        if self.rewrite:
            columns = shutil.get_terminal_size().columns
            self.stream.write("\r\x1b[K" + f"nbqlock: {self.text()}"[:columns - 1])
            self.stream.flush()
            self.shown = True
        elif self.last_line is None or self.now() - self.last_line >= PROGRESS_SECONDS:
            self.last_line = self.now()
            print(f"nbqlock: {self.text()}", file=self.stream, flush=True)

    def clear(self):
        """Clear the line for other output."""
        if self.shown:
            self.stream.write("\r\x1b[K")
            self.stream.flush()
            self.shown = False
