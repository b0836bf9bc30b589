# SPDX-License-Identifier: GPL-2.0
"""Where the view goes: a terminal, which is drawn anew in place, or plain text."""

import os
import select
import shutil
import signal
import sys
import termios
import time
import tty

CLEAR, HOME, REST, LINE_END = "\x1b[2J", "\x1b[H", "\x1b[J", "\x1b[K"
ENTER, LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
BESIDE_ROWS = 16		# lines of the view that are not rows of locks
KEYS = "q quits, s sorts by the next column"


class Quit(Exception):
    """The key q."""


class Plain:
    """A block of text for each interval."""

    rows = columns = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def show(self, lines):
        print("\n".join(lines), end="\n\n", flush=True)

    def keys(self, until):
        """Wait. Yields the keys that are pressed: none."""
        time.sleep(max(0, until - time.monotonic()))
        return ()


class Terminal:
    """The alternate screen; at the end, and while it is stopped (Ctrl-Z), all is as before."""

    def __init__(self):
        self.input = sys.stdin.fileno() if sys.stdin.isatty() else None
        self.before = None
        self.lines = ()

    @property
    def rows(self):
        return max(1, shutil.get_terminal_size().lines - BESIDE_ROWS)

    @property
    def columns(self):
        return shutil.get_terminal_size().columns

    def __enter__(self):
        if self.input is not None:
            self.before = termios.tcgetattr(self.input)
        self.enter()
        return self

    def __exit__(self, *_):
        self.leave()

    def enter(self):
        if self.before:
            tty.setcbreak(self.input)
        self.put(ENTER + CLEAR)
        # Without job control it is ignored, and stays so.
        if signal.getsignal(signal.SIGTSTP) == signal.SIG_DFL:
            signal.signal(signal.SIGTSTP, self.stop)

    def leave(self):
        if signal.getsignal(signal.SIGTSTP) == self.stop:
            signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        self.put(LEAVE)
        if self.before:
            termios.tcsetattr(self.input, termios.TCSADRAIN, self.before)

    def stop(self, *_):
        """Ctrl-Z: hand the terminal back, stop, and draw anew when this goes on."""
        self.leave()
        os.kill(os.getpid(), signal.SIGTSTP)
        self.enter()
        self.show(self.lines)

    @staticmethod
    def put(text):
        # stop() writes, too, and a write cannot begin within another.
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTSTP])
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTSTP])

    def show(self, lines):
        self.lines = lines
        size = shutil.get_terminal_size()
        lines = [*lines, "", KEYS][:size.lines - 1]
        self.put(HOME + "".join(line[:size.columns] + LINE_END + "\r\n" for line in lines) +
                 REST)

    def keys(self, until):
        """Yields the keys that are pressed up to a time."""
        while self.input is not None and (left := until - time.monotonic()) > 0:
            if select.select([self.input], [], [], left)[0]:
                key = os.read(self.input, 1).decode(errors="replace")
                if key in ("", "q", "\x04"):
                    raise Quit
                yield key
        time.sleep(max(0, until - time.monotonic()))


def new_screen():
    return Terminal() if sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb" \
        else Plain()
