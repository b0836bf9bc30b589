# SPDX-License-Identifier: GPL-2.0
"""How far a run is, and how long it will take."""

import time


def duration(seconds):
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


class Progress:
    """Of so many, some at a time; seconds: what one took in an earlier run, or None."""

    def __init__(self, number, at_a_time, seconds=None, clock=time.monotonic):
        self.number = number
        self.at_a_time = at_a_time
        self.before = seconds
        self.clock = clock
        self.started = clock()
        self.done = 0

    @property
    def remaining(self):
        """Seconds; None before anything is known. What was seen counts more and more."""
        left = self.number - self.done
        elapsed = self.clock() - self.started
        if self.done:
            each = elapsed / self.done
            if self.before:
                known = min(self.done, 20) / 20
                each = known * each + (1 - known) * self.before / self.at_a_time
            return left * each
        return self.before and left * self.before / self.at_a_time

    def first_line(self):
        takes = f", about {duration(self.remaining)}" if self.remaining else \
            "; how long it takes shows after the first"
        return f"{self.number} mutants, {self.at_a_time} at a time{takes}"

    def next_line(self):
        self.done += 1
        return f"{self.done} of {self.number}, {duration(self.remaining)} left"
