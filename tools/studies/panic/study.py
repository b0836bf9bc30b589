# SPDX-License-Identifier: GPL-2.0
"""Panics a Debian kernel in QEMU: what becomes of records whose lock is held?

Each panic stops three CPUs that write a record each; most of them hold its lock
then. The panic's kmsg_dumper appends an entry to each record in another way:

  skip      spin_trylock(); if that fails, nothing
  ignore    spin_trylock(); if that fails, the entry without the lock
  takeover  nbq_spin_lock_timeout_info(); on -EOWNERDEAD nbq_spin_takeover()
            and a repair

A record is lost if the entry is missing, torn if an entry in it is
half-written, else whole. Documentation/panic.rst has the results.
"""

# A guest loads nbqlock and panic_load.ko, and is saved. Each panic goes on from there: the module
# starts a writer for each record, on CPUs 1 to 3, and panics on CPU 0 after a delay. The dumper
# that the panic calls appends to each record, or not, and sends them through the debug console of
# QEMU. That also says what the delay is.

import contextlib
import errno
from pathlib import Path
import re
import socket
import struct
import tempfile

from base.case import LOAD, ONLY_ALL, Case, runs_on, step
from base.common import PROJECT, Failure, columns
from guest.cases import DEBIAN_6_12
from guest.complaints import complaints
from guest.guest import run_guest
from guest.kernels import debian_row
from guest.logs import LOGS, log_excerpt
from guest.machines import QemuMachine
from guest.modules import build_user, user_sources
from studies.frame import Guest, Made, Values, rounds, study

VERBS = {"panic": "show what a panic does to a record whose lock is held"}
EPILOG = "The exit status is 1 if a record of \"takeover\" is not whole."
FOLDER = PROJECT / "tools/studies/panic/load"
WAYS = SKIP, IGNORE, TAKEOVER = "skip", "ignore", "takeover"
CPUS = 1 + len(WAYS)
# A delay is a number of steps, from 1 on.
STEP_US, STEPS = 200, 250
TIMEOUT = 600
SAVE = b"!"
LOST, TORN, WHOLE = FATES = "lost", "torn", "whole"
# struct head; see panic_load.c.
HEAD = struct.Struct("<HH")
RING, FROM_PANIC = 1024, 0x8000
DIGITS = 1 + 2 * RING		# of a ring, with an x
OURS = re.compile(r"nbqlock: BUG.*")

SIDES = {"6.12": DEBIAN_6_12}
STOPS = False
OPTIONS = (rounds(100, f"number of panics, each after another delay; at most {STEPS}", "--panics"),)


def needs(_options):
    return ["debian-guest"], [debian_row("6.12")]


def refused(options):
    return f"--panics {options.rounds}: there are {STEPS} delays" if options.rounds > STEPS else ""


# Guests

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


@contextlib.contextmanager
def within(_options):
    """A folder with the saved guest."""
    with tempfile.TemporaryDirectory(prefix="nbqlock-") as folder:
        kernel = DEBIAN_6_12.find()
        files, _ = build_user(kernel, "panic", user_sources(FOLDER))
        machine = PanicMachine(kernel, Path(folder))
        LOGS.mkdir(parents=True, exist_ok=True)
        saved = run_guest(machine, "insmod /lib/modules/panic_load.ko && "
                          f"printf {SAVE.decode()} && sleep 600", quiet=True, cpus=CPUS,
                          log=LOGS / "panic-saved.log", timeout=TIMEOUT,
                          modules={"files": files, "load": ["nbqlock.ko"]}, sink=Saver(machine))
        if saved.complaints or not machine.state.exists():
            raise Failure(f"no guest was saved\n{log_excerpt(saved)}")
        yield Path(folder)


class Panic(Guest):
    """A guest that panics so many steps after its writers have begun."""

    def __init__(self, kernel, folder, steps):
        super().__init__(PanicMachine(kernel, folder, steps), [])
        self.delay_us = STEP_US * steps
        self.records = []

    def run(self):
        self.outcome = run_guest(self.machine, "", log=LOGS / "panic.log", quiet=True, starts=1,
                                 cpus=CPUS, timeout=TIMEOUT)
        self.records = read_records(self.machine.records.read_text())
        return self

    @property
    def figure(self):
        return f"after {self.delay_us} us: " + ", ".join(
            f"{record.way} {record.fate}" for record in self.records)

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


def panic_at(steps, machine, folder):
    return Panic(machine.kernel, folder, steps)


def panic_of_round(_name, _side, machine, options):
    return panic_at(delays(options.rounds)[options.round], machine, options.within)


PARTS = {"panic": panic_of_round}
ONE = ("panic", *SIDES)


def delays(panics):
    """So many, in steps, spread evenly; each another one, up to as many as there are steps."""
    return [1 + STEPS * i // panics for i in range(panics)]


# Records

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


class Record:
    """A record as the dumper has left it.

    first: the result of its first attempt at the lock; last: whether it had the lock in the end.
    """

    def __init__(self, way, values):
        self.way = way
        self.first, self.last = values["first"], values["last"]
        self.entries = entries(values["begin"], values["end"], bytes.fromhex(values["ring"][1:]))

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


def read_records(text):
    """The records that a guest has sent."""
    found = [(way, Values(text).below(way)) for way in WAYS]
    return [Record(way, values) for way, values in found
            if len(values.get("ring", "")) == DIGITS]


def records_of(made, way):
    return [record for guest in made.guests(*ONE) for record in guest.records
            if record.way == way]


def held(made, way):
    return [record for record in records_of(made, way) if record.first]


# Tables

def rows(made, _options):
    """A row for each way."""
    table = [("", "panics", "lock held", *FATES)]
    for way in WAYS:
        records = records_of(made, way)
        fates = [record.fate for record in records]
        table.append((way, str(len(records)), str(len(held(made, way))),
                      *(str(fates.count(fate)) for fate in FATES)))
    return [table]


RIGHT = range(1, 6)


# Claims

def is_whole(made):
    return all(record.fate == WHOLE for record in records_of(made, TAKEOVER))


CLAIMS = {"each record of a takeover is whole": is_whole}
FEW, MOST = 10, 40		# panics: in any case, and until the lock was held in one


@step("panic", ONLY_ALL, LOAD)
@runs_on(DEBIAN_6_12, "panics")
def panic():
    """panics that stop the holder of a lock: with a takeover, no record is lost or torn"""
    made = Made()
    with within(None) as folder:
        for steps in delays(MOST)[::MOST // FEW] + delays(MOST):
            if len(made.guests(*ONE)) >= FEW and held(made, SKIP) and held(made, TAKEOVER):
                break
            made.add(*ONE, panic_at(steps, DEBIAN_6_12.machine(), folder).run())
    wrong = "\n".join(filter(None, (guest.complaint for guest in made.guests(*ONE))))
    shown = "\n".join(columns(*rows(made, None)))
    yield Case("panics: each is as it is to be", not wrong, wrong)
    yield Case("panics: -EOWNERDEAD, and each record of a takeover is whole",
               held(made, TAKEOVER) != [] and is_whole(made), shown)
    yield Case("panics: with spin_trylock(), records are lost",
               held(made, SKIP) != [] and
               all(record.fate != WHOLE for record in held(made, SKIP)), shown)


body = study(__name__)
