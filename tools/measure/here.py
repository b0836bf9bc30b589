# SPDX-License-Identifier: GPL-2.0
"""Makes runs on this machine, through the debugfs files of the loaded module."""

import contextlib
import errno
import os
from pathlib import Path
import platform
import signal
import threading

from base.common import INSTALLED, Failure
from base.driver import listed, marked_histograms

FOLDER = Path("/sys/kernel/debug/nbqlock_stress")
ONLINE = Path("/sys/devices/system/cpu/online")
LOCKED_DOWN = ("the kernel is locked down, as under Secure Boot, and refuses writes to debugfs: no "
               "run can start; the locks work (man kernel_lockdown)")
POLL_SECONDS = 0.25		# between two reads of "status"
STOP_SECONDS = 90		# for a run to end that was told to; the driver takes 60


def missing(folder):
    """Why the driver's files are not there, as a sentence."""
    if folder != FOLDER:
        return f"{folder} is no folder of the stress driver: it has no file \"locks\""
    if os.geteuid() != 0:
        return "only root may use the stress driver's files; run this as root"
    if not folder.parent.is_dir() or not os.path.ismount(folder.parent):
        return (f"debugfs is not mounted; try mount -t debugfs debugfs {folder.parent}")
    if INSTALLED:
        return "the module nbqlock_stress is not loaded; modprobe nbqlock_stress first"
    return ("the module nbqlock_stress is not loaded; insmod nbqlock.ko and "
            "nbqlock_stress.ko first, or leave out --here to use a guest")


def read(path):
    try:
        return path.read_text(errors="replace")
    except OSError as error:
        raise Failure(f"cannot read {path}: {error.strerror}") from None


def write(path, value):
    """Write a value to a file of debugfs. OSError if it does not take it."""
    handle = os.open(path, os.O_WRONLY)
    try:
        os.write(handle, f"{value}\n".encode())
    finally:
        os.close(handle)


def cpu_numbers(text):
    """The CPUs of a list such as 0-3,8."""
    numbers = []
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        numbers += range(int(first), int(last or first) + 1)
    return numbers


class Writer(threading.Thread):
    """Writes 1 to "run", which returns when the run is over: an event.

    A signal during join() can make Python believe that the thread has ended.
    """

    def __init__(self, path):
        super().__init__(daemon=True)
        self.path = path
        self.error = None
        self.over = threading.Event()

    def run(self):
        # A signal that came to this thread would end the write, and the run.
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            write(self.path, 1)
        except OSError as error:
            self.error = error
        finally:
            self.over.set()


class HerePlace:
    """This machine, with the module loaded. Parameters are put back at the end."""

    name = "here"
    meaning = "this machine"

    def __init__(self, folder=FOLDER, online=ONLINE):
        self.folder = Path(folder)
        try:
            text = (self.folder / "locks").read_text()
        except OSError:
            raise Failure(missing(self.folder)) from None
        self.types = listed(text)
        self.online = cpu_numbers(read(online))
        self.version = platform.release()
        self.before = {}

    @property
    def most_cpus(self):
        return len(self.online)

    def cpu_list(self, cpus):
        return ",".join(str(number) for number in self.online[:cpus])

    def make(self, runs, cpus, progress):
        """Make all runs. Returns what went wrong, in sentences: nothing, here."""
        try:
            for run in runs:
                progress.begin(run.label, run.seconds)
                self.make_one(run, progress)
                progress.end(run.number("acquisitions_per_second"))
        finally:
            self.put_back()
        return []

    def make_one(self, run, progress):
        for parameter, value in run.settings.items():
            try:
                self.set(parameter, value)
            except OSError as error:
                if error.errno == errno.EPERM:
                    raise Failure(LOCKED_DOWN) from None
                run.lost = (f"the driver refused {parameter}={value} ({error.strerror}; the "
                            "kernel log says what it takes)")
                return
        writer = Writer(self.folder / "run")
        writer.start()
        try:
            while not writer.over.wait(POLL_SECONDS):
                self.poll(progress)
        except KeyboardInterrupt:
            self.stop(writer)
            self.finish(run, writer)
            raise
        self.finish(run, writer)

    def path_of(self, parameter):
        """The file of a parameter, in one of the driver's folders."""
        found = list(self.folder.glob(f"*/{parameter}"))
        if not found:
            raise OSError(errno.ENOENT, "there is no such parameter")
        return found[0]

    def set(self, parameter, value):
        path = self.path_of(parameter)
        if parameter not in self.before:
            self.before[parameter] = path.read_text().strip()
        write(path, value)

    def put_back(self):
        for parameter, value in self.before.items():
            with contextlib.suppress(OSError):
                write(self.path_of(parameter), value)
        self.before = {}

    def poll(self, progress):
        """running elapsed_ms N of N acquisitions N, if a run goes on."""
        words = read(self.folder / "status").split()
        if len(words) == 7 and words[0] == "running":
            progress.going(int(words[2]), int(words[6]))

    def stop(self, writer):
        """End a run early; what it has found is kept."""
        with contextlib.suppress(OSError):
            write(self.folder / "run", 0)
        writer.over.wait(STOP_SECONDS)

    def finish(self, run, writer):
        if not writer.over.is_set():
            run.lost = "the run did not stop"
        elif writer.error:
            run.lost = f"the run did not start ({writer.error.strerror})"
        else:
            run.text = read(self.folder / "result/summary")
            if run.wanted:
                run.text += marked_histograms(read(self.folder / "result/histograms"))
            run.complete = True
