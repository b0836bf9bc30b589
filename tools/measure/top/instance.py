# SPDX-License-Identifier: GPL-2.0
"""The trace instance on this machine: made, read, and removed whatever happens."""

import contextlib
import errno
import os
from pathlib import Path
import time

from base.common import INSTALLED, Failure, say
from measure.top.events import BEGIN, END, PREFIX, removal, setup

TRACEFS = Path("/sys/kernel/tracing")
DEBUGFS = Path("/sys/kernel/debug")
MODULE = Path("/sys/module/nbqlock")
PROC = Path("/proc")
INSTEAD = "" if INSTALLED else "; or tools/nbq top --try, for a guest"
BUSY_TRIES, BUSY_SECONDS = 20, 0.1	# to remove an instance that is being read


def read(path):
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


class Instance:
    """A trace instance of this process's own, and what it records of the locks.

    As a context: it is there inside, and is removed at the end, also of another process of
    nbq top that was killed.
    """

    def __init__(self, tracefs=TRACEFS, debugfs=DEBUGFS, module=MODULE, proc=PROC):
        self.tracefs, self.debugfs, self.module, self.proc = tracefs, debugfs, module, proc
        self.folder = tracefs / "instances" / f"{PREFIX}{os.getpid()}"
        self.has_histograms = False

    def check(self):
        """What can be seen to be missing, with what to do."""
        if os.geteuid() != 0:
            raise Failure(f"only root may use the tracepoints; run this as root{INSTEAD}")
        if not (self.tracefs / "events").is_dir():
            raise Failure(f"there is no tracefs at {self.tracefs}; try mount -t tracefs "
                          f"tracefs {self.tracefs}. A kernel without CONFIG_EVENT_TRACING "
                          "has none")
        if not self.module.is_dir():
            raise Failure("the module nbqlock is not loaded; modprobe nbqlock, or insmod "
                          f"nbqlock.ko{INSTEAD}")
        events = self.tracefs / "events/nbqlock"
        if not (events / BEGIN).is_dir():
            raise Failure(f"nbqlock has no tracepoint {BEGIN}: the loaded module is older than "
                          "this tool" if events.is_dir() else
                          "nbqlock has no tracepoints in this kernel "
                          "(no CONFIG_EVENT_TRACING)")

    def __enter__(self):
        self.check()
        self.remove_left_overs()
        try:
            self.make_folder(self.folder)
            self.has_histograms = (self.folder / "events/nbqlock" / END / "hist").exists()
            for file, text in setup(os.getpid(), self.has_histograms):
                self.write(self.folder, file, text)
        except OSError as error:
            self.remove(self.folder)
            raise Failure(f"cannot trace: {error.filename}: {error.strerror}"
                          f"{reason_of(error)}") from None
        except BaseException:
            self.remove(self.folder)
            raise
        return self

    def __exit__(self, *_):
        self.remove(self.folder)

    def remove_left_overs(self):
        """Instances of processes that are no more."""
        for folder in sorted((self.tracefs / "instances").glob(f"{PREFIX}*")):
            process = folder.name.removeprefix(PREFIX)
            if b"nbq" in self.command_of(process):
                continue
            say(f"removing {folder}, which a killed nbq top has left")
            self.remove(folder)

    def command_of(self, process):
        with contextlib.suppress(OSError):
            return (self.proc / process / "cmdline").read_bytes()
        return b""

    def remove(self, folder):
        """Take back all that was switched on. What is not there is no error."""
        if not folder.is_dir():
            return
        has_histograms = (folder / "events/nbqlock" / END / "hist").exists()
        for file, text in removal(folder.name.removeprefix(PREFIX), has_histograms):
            with contextlib.suppress(OSError):
                self.write(folder, file, text)
        for left in reversed(range(BUSY_TRIES)):
            try:
                self.remove_folder(folder)
                return
            except OSError as error:
                if error.errno != errno.EBUSY or not left:
                    say(f"cannot remove {folder} ({error.strerror}): rmdir it")
                    return
                time.sleep(BUSY_SECONDS)

    # What a folder of tests does otherwise than tracefs, which fills and empties its folders.
    make_folder = staticmethod(os.mkdir)
    remove_folder = staticmethod(os.rmdir)

    @staticmethod
    def write(folder, file, text):
        # Not to be made: what is not there, the kernel does not have.
        handle = os.open(folder / file, os.O_WRONLY)
        try:
            os.write(handle, f"{text}\n".encode())
        except OSError as error:
            error.filename = str(folder / file)
            raise
        finally:
            os.close(handle)

    def parts(self):
        """The parts of a sample, as a guest sends them."""
        if not self.folder.is_dir():
            raise Failure(f"{self.folder} is gone: it was removed meanwhile")
        parts = {"time": str(time.monotonic()), "total": read(self.debugfs / "nbqlock/total")}
        if self.has_histograms:
            for name, event in (("begin", BEGIN), ("end", END)):
                parts[name] = read(self.folder / "events/nbqlock" / event / "hist")
            return parts
        self.write(self.folder, "tracing_on", "0")
        parts["trace"] = read(self.folder / "trace")
        parts["lost"] = "".join(map(read, sorted(self.folder.glob("per_cpu/cpu*/stats"))))
        (self.folder / "trace").write_text("")	# opened to be truncated: emptied
        self.write(self.folder, "tracing_on", "1")
        return parts


def reason_of(error):
    if error.errno == errno.EPERM:
        return " (is the kernel locked down?)"
    return " (no memory for the histograms)" if error.errno == errno.ENOMEM else ""
