# SPDX-License-Identifier: GPL-2.0
"""Panics of a stock Debian kernel that stop the holders of locks, and what becomes of the records.

A guest loads nbqlock and panic_load.ko, and is saved. Each panic goes on from there: the module
starts a writer for each record, on CPUs 1 to 3, and panics on CPU 0 after a delay. The dumper that
the panic calls appends to each record, or not, and sends them through the debug console of QEMU.
That also says what the delay is.
"""

from dataclasses import dataclass
import errno
from pathlib import Path
import re
import socket
import struct

from base.common import PROJECT, Failure
from guest.complaints import complaints
from guest.guest import run_guest
from guest.kernels import debian_kernel
from guest.logs import LOGS, log_excerpt
from guest.machines import QemuMachine
from guest.modules import build_user, user_sources

FOLDER = PROJECT / "tools/studies/panic/load"
SERIES = "6.12"
# As the enum in panic_load.c.
WAYS = SKIP, IGNORE, TAKEOVER = "skip", "ignore", "takeover"
CPUS = 1 + len(WAYS)
# A delay is a number of steps, from 1 on.
STEP_US, STEPS = 200, 250
TIMEOUT = 600
SAVE = b"!"
LOST, TORN, WHOLE = FATES = "lost", "torn", "whole"

# struct verdict, struct record, struct head; see panic_load.c.
VERDICT = struct.Struct("<IIiiI")
POSITIONS = struct.Struct("<II")
HEAD = struct.Struct("<HH")
OURS = re.compile(r"nbqlock: BUG.*")
MAGIC, RING, FROM_PANIC = 0x3071626e, 1024, 0x8000
SIZE = VERDICT.size + POSITIONS.size + RING


class PanicMachine(QemuMachine):
    """A PC whose debug console is a file, and says how many steps the delay has.

    steps: 0 in the guest that is saved; the others go on from there.
    """

    def __init__(self, kernel, folder, steps=0):
        super().__init__(kernel)
        self.records = folder / "records"
        self.monitor = folder / "monitor"
        self.state = folder / "state"
        self.steps = steps

    def command(self, *arguments):
        return [*super().command(*arguments), "-chardev", f"file,id=records,path={self.records}",
                "-device", f"isa-debugcon,iobase=0xe9,chardev=records,readback={self.steps}",
                *(("-incoming", f"exec:cat {self.state}") if self.steps else
                  ("-monitor", f"unix:{self.monitor},server=on,wait=off"))]


class Saver:
    """Gets the output of a guest, which says SAVE when it is to be saved, and ends then."""

    def __init__(self, machine):
        self.machine = machine

    def write(self, output):
        if output != SAVE:
            return
        with socket.socket(socket.AF_UNIX) as monitor:
            monitor.connect(str(self.machine.monitor))
            monitor.sendall(f'migrate "exec:cat >{self.machine.state}"\nquit\n'.encode())
            while monitor.recv(4096):
                pass

    def flush(self):
        pass


def sum_of(at, length, text):
    """The check of an entry that begins at this place."""
    low, high = (at + length) % 255, at // 255 % 255
    for byte in text:
        low = (low + byte) % 255
        high = (high + low) % 255
    return high << 8 | low


def entries(begin, end, ring):
    """[(whether the panic wrote it, its text)]; None if one is torn, or is none."""
    found, at = [], begin

    def part(place, size):
        return bytes(ring[(place + i) % RING] for i in range(size))

    if end - begin > RING:
        return None
    while at < end:
        length, check = HEAD.unpack(part(at, HEAD.size))
        size = length & ~FROM_PANIC
        text = part(at + HEAD.size, min(size, RING))
        if at + HEAD.size + size > end or sum_of(at, length, text) != check:
            return None
        found.append((bool(length & FROM_PANIC), text.decode(errors="replace")))
        at += HEAD.size + size
    return found


@dataclass
class Record:
    """A record as the dumper has left it.

    first: the result of its first attempt at the lock; last: whether it had the lock in the end.
    """
    way: str
    first: int
    last: int
    waited_us: int
    entries: list

    @property
    def fate(self):
        if self.last and self.way != IGNORE:
            return LOST
        if self.entries is None:
            return TORN
        return WHOLE if self.entries and self.entries[-1][0] else LOST

    @property
    def text(self):
        """The last lines of the log, in a record that is whole."""
        return self.entries[-1][1] if self.fate == WHOLE else ""


def read_records(data):
    """The records that a guest has sent, in their order."""
    found = []
    for place in range(0, len(data) - SIZE + 1, SIZE):
        magic, way, first, last, waited = VERDICT.unpack_from(data, place)
        if magic != MAGIC or way >= len(WAYS):
            return []
        begin, end = POSITIONS.unpack_from(data, place + VERDICT.size)
        ring = data[place + SIZE - RING:place + SIZE]
        found.append(Record(WAYS[way], first, last, waited, entries(begin, end, ring)))
    return found


class Panic:
    """A guest that panics so many steps after its writers have begun."""

    def __init__(self, steps):
        self.steps = steps
        self.delay_us = STEP_US * steps
        self.records = []
        self.outcome = None

    def make(self, kernel, folder, log):
        machine = PanicMachine(kernel, folder, self.steps)
        self.outcome = run_guest(machine, "", log=log, quiet=True, starts=1, cpus=CPUS,
                                 timeout=TIMEOUT)
        self.records = read_records(machine.records.read_bytes())
        return self

    @property
    def complaint(self):
        """What is wrong with the run, whatever became of the records."""
        before, panic, after = self.outcome.log.partition(
            f"Kernel panic - not syncing: panic_load: after {self.delay_us} us")
        if not panic:
            return f"it did not panic: {self.outcome.problem}"
        if [record.way for record in self.records] != list(WAYS):
            return f"{len(self.records)} records were sent"
        for record in self.records:
            if record.text and record.text.splitlines()[-1] not in self.outcome.log:
                return f"the record of {record.way} does not end as the log: {record.text}"
            if record.way == TAKEOVER and record.first not in (0, -errno.EOWNERDEAD):
                return f"the first attempt of {record.way} returned {record.first}"
        return "; ".join([*complaints(before), *OURS.findall(after)])


class Panics:
    """Many of them, on Debian's kernel, from one guest, which is saved in a folder."""

    def __init__(self, folder):
        self.kernel = debian_kernel(SERIES)
        self.folder = Path(folder)
        self.runs = []
        LOGS.mkdir(parents=True, exist_ok=True)
        files, _ = build_user(self.kernel, "panic", user_sources(FOLDER))
        machine = PanicMachine(self.kernel, self.folder)
        saved = run_guest(machine, "insmod /lib/modules/panic_load.ko && "
                          f"printf {SAVE.decode()} && sleep 600", quiet=True, cpus=CPUS,
                          log=LOGS / "panic-saved.log", timeout=TIMEOUT,
                          modules={"files": files, "load": ["nbqlock.ko"]}, sink=Saver(machine))
        if saved.complaints or not machine.state.exists():
            raise Failure(f"no guest was saved\n{log_excerpt(saved)}")

    def make(self, steps):
        self.runs.append(Panic(steps).make(self.kernel, self.folder, LOGS / "panic.log"))
        return self.runs[-1]

    def of(self, way):
        return [record for run in self.runs for record in run.records if record.way == way]


def delays(number):
    """So many, in steps, spread evenly; each another one, up to as many as there are steps."""
    return [1 + STEPS * i // number for i in range(number)]
