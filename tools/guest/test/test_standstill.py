# SPDX-License-Identifier: GPL-2.0
"""What ends a guest: no word of it for so long, and no time that it takes altogether."""

from unittest import mock

from base.test import InFolder
from guest import guest

LIMIT = 100			# seconds
MARK = b"nbq-1"


class Line:
    """The clock, and a guest that says something at some times: at each, (output, kernel log)."""

    def __init__(self, log, words):
        self.log, self.words, self.now = log, dict(words), 0

    def monotonic(self):
        return self.now

    def select(self, *_lists):
        """A second passes."""
        self.now += 1
        self.said, in_log = self.words.get(self.now, (b"", ""))
        if in_log:
            self.log.write_text(self.log.read_text() + in_log)
        return [self.said] if self.said else [], [], []

    def read(self, *_of):
        return self.said


class Standstill(InFolder):
    def heard(self, words, silence=None):
        """(how it hung, when it was over, what its command said)."""
        self.write("log", "")
        log = self.folder / "log"
        line, stream = Line(log, words), guest.Stream(MARK.decode(), None)
        with mock.patch.multiple(guest.time, monotonic=line.monotonic), \
                mock.patch.multiple(guest.select, select=line.select), \
                mock.patch.multiple(guest.os, read=line.read):
            hung = guest.listen(0, stream, log, LIMIT, silence)
        return hung, line.now, b"".join(stream.output)

    def test_what_goes_on_may_take_any_time(self):
        each = LIMIT - 1
        for word in ((b"on\n", ""), (b"", "on\n")):
            words = {0: (b"", ""), **{n * each: word for n in range(1, 50)}}
            words[1] = (MARK + b" ready\n", "")
            words[50 * each] = (b"\n" + MARK + b" exit 0\n", "")
            self.assertEqual(self.heard(words)[:2], ("", 50 * each))

    def test_what_says_nothing_hangs(self):
        hung, now, _ = self.heard({1: (MARK + b" ready\n", "")})
        self.assertEqual((hung, now), (f"no word for {LIMIT} s", LIMIT + 1))
        hung, now, output = self.heard({1: (MARK + b" ready\n", ""), 2: (b"a", "")}, silence=7)
        self.assertEqual((hung, now, output), ("no word for 7 s", 9, b"a"))

    def test_kernel_that_complains_for_ever_hangs(self):
        words = {n * 10: (b"", "INFO: rcu_sched self-detected stall on CPU\n")
                 for n in range(1, 10 * LIMIT)}
        self.assertEqual(self.heard(words)[1], LIMIT)
