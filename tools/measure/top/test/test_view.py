# SPDX-License-Identifier: GPL-2.0
import argparse
import contextlib
import io
import os
from pathlib import Path
import pty
import select
import signal
import sys
import unittest
from unittest import mock

from base.common import Failure
from base.test import HANGS
from measure.top import command, guest, screen
from measure.top.counts import Histograms
from measure.top.test import samples
from measure.top.view import SORTS, View

TOOLS = Path(__file__).resolve().parents[3]
A, B = "a_lock+0x0/0x8 [drv]", "b_lock+0x0/0x8 [drv]"


def parts(time, count):
    """Of two locks: the first waits more often, the second longer."""
    return {"time": f"{time}", "total": samples.total(timeouts=count, nodes_allocated=5,
                                                      nodes_freed=3),
            "begin": samples.waiters((A, 1), (B, 0)) +
            samples.holders((A, 2, 4 * count), (B, 0, count)),
            "end": samples.results((A, 0, "use_a [drv]", 4 * count, 4000 * count),
                                   (B, -110, "use_b [drv]", count, 50000 * count)) +
            samples.times((A, 10, 4 * count), (B, 16, count))}


def lines(view, before=1, now=3):
    return list(view.lines(Histograms().sample(parts(10, before)),
                           Histograms().sample(parts(12, now))))


class TestView(unittest.TestCase):
    DROPPED = samples.waiters((B, -3))

    def test_rows_are_of_the_interval(self):
        text = "\n".join(lines(View()))
        self.assertIn("2 contended locks in 2.0 s", text)
        self.assertRegex(text, r"a_lock \[drv\] +1 +2 \(100 %\) +8 +8 +0 +0 +1\.0 +<1\.0")
        self.assertRegex(text, r"b_lock \[drv\] +0 +0 \(100 %\) +2 +0 +2 +0 +50\.0 +<65\.5")
        self.assertRegex(text, r"2 +timeout +use_b \[drv\], for b_lock \[drv\]")
        self.assertIn("timeouts 2,", text)
        self.assertIn("queue nodes: 2 in use", text)

    def test_at_80_columns_nothing_is_cut_off(self):
        long = "a_lock_with_a_long_name+0x40/0x80 [a_driver]"
        renamed = [{key: value.replace("a_lock+0x0/0x8 [drv]", long) for key, value in each.items()}
                   for each in (parts(10, 1), parts(12, 300000))]
        before, now = map(Histograms().sample, renamed)
        whole = list(View().lines(before, now))
        narrow = list(View().lines(before, now, width=80))
        self.assertGreater(max(map(len, whole)), 100)
        self.assertLessEqual(max(map(len, narrow)), 80)
        # All words are there, but for the head of the names.
        self.assertEqual(sorted([*" ".join(narrow).split(), "lock"]),
                         sorted(" ".join(whole).split()))
        self.assertIn(next(iter(View().shown(before, now))), narrow)
        # As many lines as there is room for.
        few = list(View().lines(before, now, rows=2, width=80))
        self.assertIn("1 more locks", few)

    def order(self, view):
        return list(view.shown(Histograms().sample(parts(1, 1)),
                               Histograms().sample(parts(2, 3))))

    def test_sorts(self):
        first = {word: self.order(View(word))[0][0] for word in SORTS}
        self.assertEqual(first, {"waiting": "a", "waits": "a", "timeouts": "b",
                                 "deadlocks": "a", "mean": "b", "p99": "b"})

        view = View("p99")
        view.next_sort()
        self.assertEqual(view.sort, next(iter(SORTS)))

    def test_one_lock(self):
        self.assertEqual(self.order(View(lock="b_")), ["b_lock [drv]"])
        sample = [Histograms().sample(parts(time, time)) for time in (1, 2)]
        self.assertIn("1 more locks", list(View().lines(*sample, rows=1)))

    def test_idle_lock_is_left_out_unless_waited_for(self):
        for begun in ({}, {"begin": self.DROPPED, "end": self.DROPPED}):
            same = Histograms().sample({**parts(1, 1), **begun})
            self.assertEqual(list(View().shown(same, same)), [] if begun else ["a_lock [drv]"])

    def test_reset_counters_and_no_counters(self):
        self.assertIn("timeouts (reset)", "\n".join(lines(View(), before=3, now=1)))
        sample = Histograms().sample({**parts(1, 1), "total": ""})
        self.assertIn("debugfs is not mounted", "\n".join(View().lines(sample, sample)))

    def test_begun_waits_that_were_dropped_leave_no_negative_number(self):
        before, now = (Histograms().sample({**parts(time, time), "begin": self.DROPPED,
                                            "end": self.DROPPED}) for time in (1, 2))
        now.locks["b_lock [drv]"].holders[0] += 1
        shown = "\n".join(View().lines(before, now))
        self.assertRegex(shown, r"b_lock \[drv\] +0 +0 \(100 %\) +1 ")
        self.assertNotIn("-3", shown)

    def test_lost_events_are_said(self):
        before, now = (Histograms().sample(parts(time, 1)) for time in (1, 2))
        now.lost = 4
        self.assertIn("4 events are not counted", "\n".join(View().lines(before, now)))
        now.is_part = True
        self.assertIn("no CONFIG_HIST_TRIGGERS", "\n".join(View().lines(before, now)))


class TestScreens(unittest.TestCase):
    def test_plain_text_off_a_terminal(self):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            with screen.new_screen() as shown:
                watch = command.Watch(argparse.Namespace(sort="waits", lock=None), shown)
                for time in (1, 2, 3):
                    watch.take(parts(time, time))
        self.assertNotIn("\x1b", out.getvalue())
        self.assertEqual(out.getvalue().count("nbq top: "), 2)

    def test_the_view_is_as_wide_as_its_terminal(self):
        shown = mock.Mock(rows=10, columns=50)
        watch = command.Watch(argparse.Namespace(sort="waits", lock=None), shown)
        for time in (1, 2):
            watch.take(parts(time, time))
        lines = shown.show.call_args[0][0]
        self.assertIn("b_lock [drv]", lines)
        self.assertLessEqual(max(map(len, lines)), 50)

    def test_terminal_is_put_back(self):
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        with open(slave, "r+b", buffering=0) as file, \
                mock.patch.object(screen.sys, "stdin", io.TextIOWrapper(file)), \
                contextlib.redirect_stdout(io.StringIO()) as out:
            before = screen.termios.tcgetattr(slave)
            with self.assertRaises(screen.Quit), screen.Terminal() as terminal:
                self.assertNotEqual(screen.termios.tcgetattr(slave), before)
                terminal.show(["one", "two"])
                os.write(master, b"sq")
                keys = terminal.keys(screen.time.monotonic() + HANGS)
                self.assertEqual(next(keys), "s")
                next(keys)
            self.assertEqual(screen.termios.tcgetattr(slave), before)
        self.assertTrue(out.getvalue().startswith(screen.ENTER))
        self.assertTrue(out.getvalue().endswith(screen.LEAVE))


# A shell's part: the job has a process group of its own, in the foreground of the terminal.
SHELL = """
import os, signal, sys
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
job = os.fork()
if not job:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    sys.path.insert(0, sys.argv[1])
    from base.common import main
    from measure.top.screen import Terminal
    from time import monotonic
    def body():
        with Terminal() as terminal:
            while True:
                terminal.show(["the view"])
                # Not for long: a signal just before a wait is handled after it.
                for key in terminal.keys(monotonic() + 1):
                    pass
    main(body)
while True:
    _, status = os.waitpid(job, os.WUNTRACED)
    os.tcsetpgrp(0, os.getpgrp())
    print("ended" if not os.WIFSTOPPED(status) else "stopped", flush=True)
    if not os.WIFSTOPPED(status):
        break
    os.read(0, 1)
    os.tcsetpgrp(0, job)
    os.kill(job, signal.SIGCONT)
"""


class TestSignals(unittest.TestCase):
    def setUp(self):
        self.process, self.terminal = pty.fork()
        if not self.process:
            os.execv(sys.executable, [sys.executable, "-c", SHELL, str(TOOLS)])
        self.addCleanup(os.close, self.terminal)
        self.addCleanup(os.waitpid, self.process, 0)
        self.addCleanup(os.kill, self.process, signal.SIGKILL)
        self.said = ""

    def said_until(self, word):
        """What the terminal has got up to a word."""
        while word not in self.said:
            self.assertTrue(select.select([self.terminal], [], [], HANGS)[0], self.said)
            self.said += os.read(self.terminal, 4096).decode()
        found, _, self.said = self.said.partition(word)
        return found + word

    def has_echo(self):
        return bool(screen.termios.tcgetattr(self.terminal)[3] & screen.termios.ECHO)

    def test_a_stop_hands_the_terminal_back_and_goes_on_with_the_view(self):
        self.said_until(screen.KEYS)
        self.assertFalse(self.has_echo())
        os.write(self.terminal, b"\x1a")		# Ctrl-Z
        self.assertIn(screen.LEAVE, self.said_until("stopped"))
        self.assertTrue(self.has_echo())
        os.write(self.terminal, b"\n")
        again = self.said_until(screen.KEYS)
        self.assertIn(screen.ENTER, again)
        self.assertIn("the view", again)
        self.assertFalse(self.has_echo())
        os.write(self.terminal, b"q")
        self.said_until("ended")
        self.assertTrue(self.has_echo())

    def test_a_signal_that_ends_it_leaves_the_terminal_as_it_was(self):
        self.said_until(screen.KEYS)
        os.write(self.terminal, b"\x1c")		# Ctrl-\\
        self.assertIn(screen.LEAVE, self.said_until("ended"))
        self.assertTrue(self.has_echo())


class TestCommand(unittest.TestCase):
    def options(self, *words):
        parser = argparse.ArgumentParser()
        command.new_parser(parser.add_subparsers(), guest)
        return parser.parse_args(["top", *words])

    def test_try_is_a_guest(self):
        self.assertEqual([self.options(*words).testbed for words in (["--try"], [])],
                         ["debian-6.12", None])

    def test_load_needs_a_guest(self):
        for words in (["--set", "cs_ns=5"], ["--overhead"]):
            with self.assertRaisesRegex(Failure, "--try"):
                command.run(self.options(*words))

    def test_interval_is_bounded(self):
        with contextlib.redirect_stderr(io.StringIO()), self.assertRaises(SystemExit):
            self.options("--interval", "0.01")

    def test_overhead_table(self):
        text = "\n".join(guest.overhead_lines([(1000, 900), (1000, 950), (1000, 990)]))
        self.assertIn("median -5.0 %, from -10.0 to -1.0 %", text)
