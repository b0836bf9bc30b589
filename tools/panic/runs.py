# SPDX-License-Identifier: GPL-2.0
"""Panics of a stock Debian kernel that stop the holders of locks, and what becomes of the records.

Each guest loads nbqlock and panic_load.ko, which starts a writer for each record, on CPUs 1 to 3,
and panics on CPU 0 after a delay. The dumper that the panic calls appends to each record, or not,
and sends them through the debug console of QEMU.
"""

from dataclasses import dataclass
from pathlib import Path
import errno
import re
import struct
import tempfile

from testbed.common import PROJECT
from testbed.complaints import complaints
from testbed.guest import LOGS, QemuMachine, run_guest
from testbed.kernels import debian_kernel
from testbed.modules import build_user, user_sources

FOLDER = PROJECT / "tools/panic/load"
SERIES = "6.12"
# As the enum in panic_load.c.
WAYS = SKIP, IGNORE, TAKEOVER = "skip", "ignore", "takeover"
CPUS = 1 + len(WAYS)
LONGEST_DELAY_US = 50000
TIMEOUT = 600
LOST, TORN, WHOLE = FATES = "lost", "torn", "whole"

# struct verdict, struct record, struct head; see panic_load.c.
VERDICT = struct.Struct("<IIiiI")
POSITIONS = struct.Struct("<II")
HEAD = struct.Struct("<HH")
OURS = re.compile(r"nbqlock: BUG.*")
MAGIC, RING, FROM_PANIC = 0x3071626e, 1024, 0x8000
SIZE = VERDICT.size + POSITIONS.size + RING


class PanicMachine(QemuMachine):
    """A PC whose debug console is a file."""

    def __init__(self, kernel, path):
        super().__init__(kernel)
        self.path = path

    def command(self, *arguments):
        return [*super().command(*arguments), "-chardev", f"file,id=records,path={self.path}",
                "-device", "isa-debugcon,iobase=0xe9,chardev=records"]


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
    """One guest that panics so long after its writers have begun."""

    def __init__(self, delay_us):
        self.delay_us = delay_us
        self.records = []
        self.outcome = None

    def make(self, kernel, files, log):
        with tempfile.TemporaryDirectory(prefix="nbqlock-") as folder:
            path = Path(folder) / "records"
            self.outcome = run_guest(
                PanicMachine(kernel, path),
                f"insmod /lib/modules/panic_load.ko delay_us={self.delay_us} && sleep 60",
                log=log, quiet=True, cpus=CPUS, timeout=TIMEOUT,
                modules={"files": files, "load": ["nbqlock.ko"]})
            self.records = read_records(path.read_bytes() if path.exists() else b"")
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
    """Many of them, on Debian's kernel."""

    def __init__(self):
        self.kernel = debian_kernel(SERIES)
        self.files, _ = build_user(self.kernel, "panic", user_sources(FOLDER))
        self.runs = []

    def make(self, delay_us):
        LOGS.mkdir(parents=True, exist_ok=True)
        self.runs.append(Panic(delay_us).make(self.kernel, self.files, LOGS / "panic.log"))
        return self.runs[-1]

    def of(self, way):
        return [record for run in self.runs for record in run.records if record.way == way]


def delays(number):
    """So many, spread evenly and each another one, up to the longest."""
    return [LONGEST_DELAY_US * i // number for i in range(number)]
